//! Edits files by writing new ones (section 10): tensor frames are copied unchanged, metadata is
//! written anew.
//!
//! ```text
//!   TensogramFile -> Draft            the new message: metadata, copied tensor frames
//!                 -> Image            a new file before it is written   save
//! ```
//!
//! A payload is never decoded; its hash is copied with it. The target path holds the old or the new
//! file at any time.

mod draft;
mod image;
mod key;
mod lay;

pub use draft::{Draft, check_sound};
pub use image::Image;
pub use key::Key;

#[cfg(test)]
mod tests;
