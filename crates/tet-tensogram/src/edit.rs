//! Edits files by writing new ones (section 10): tensor frames are copied unchanged, metadata is
//! written anew.
//!
//! ```text
//!   TensogramFile -> Rows, Filter     which messages and objects are selected
//!                 -> Draft            the new message: metadata, copied tensor frames
//!                 -> Image            a new file before it is written   save, append_in_place
//! ```
//!
//! A payload is never decoded; its hash is copied with it. The target path holds the old or the new
//! file at any time. Only [`Image::append_in_place`] writes into an existing file.

mod draft;
mod filter;
mod image;
mod key;
mod lay;
mod provenance;
mod row;
mod template;
mod verbs;

pub(crate) use draft::TensorCopy;
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
