//! Files are changed by writing new ones (section 10): blobs that stay are copied, the index is
//! written anew.
//!
//! ```text
//!   Draft::open   rename, remove, set, unset, compact   save, save_with
//!   old file      what the new index will say           copied blobs, appended tensors, index
//! ```
//!
//! An entry is carried over byte for byte but for what is changed in it, so that one of a newer
//! kind stays what it is. Under the target's name is the old file or the new one, nothing else;
//! [`append_in_place`] alone writes into a file as it stands, and says what that costs.

mod append;
mod draft;
mod fields;
mod place;

pub use append::append_in_place;
pub use draft::Draft;
pub use tet_io::Output;

#[cfg(test)]
mod tests;
