//! Files are changed by writing new ones (section 10): tensor frames are copied as they lie, what
//! speaks of them is written anew.
//!
//! ```text
//!   TensogramFile -> Rows, Filter     which messages and objects are meant
//!                 -> Draft            what a message is to become: metadata, tensors as they lie
//!                 -> Image            a new file before it is written   save, append_in_place
//! ```
//!
//! A payload is never decoded, and its hash goes with it. Under the target's name is the old file or
//! the new one, nothing else; [`Image::append_in_place`] alone writes into a file as it stands.

mod draft;
mod filter;
mod image;
mod key;
mod lay;
mod provenance;
mod row;
mod template;
mod verbs;

pub(crate) use draft::Carried;
pub use draft::{Clash, Draft};
pub use filter::{Filter, split_outside};
pub use image::Image;
pub use key::{Key, text_of};
pub(crate) use lay::{Site, lay};
pub use provenance::Provenance;
pub use row::{Row, Rows};
pub use template::Template;
pub use verbs::{Assignment, check_sound, copy, merge, reshuffle, set, split};

#[cfg(test)]
mod tests;
