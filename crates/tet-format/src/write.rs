//! Writes a file: declaration -> layout -> bytes (format section 7).
//!
//! The declaration determines the head of the file and the number of rows, so payloads can be
//! streamed after space for the head. Index and superblock are last: until then there is no magic.

mod cursor;
mod declaration;
mod error;
#[cfg(feature = "std")]
mod file;
mod layout;

pub use crate::layout::Align;
pub use cursor::{ChunkAt, Chunks};
pub use declaration::{DatasetSpec, Declaration, ZeroExtents};
pub use error::WriteError;
#[cfg(feature = "std")]
pub use file::{FileWriter, FooterParts};
pub use layout::Layout;
