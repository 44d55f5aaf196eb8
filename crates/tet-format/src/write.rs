//! Writing a file: declaration -> layout -> bytes (format section 7).
//!
//! What is declared fixes the head of the file and the number of rows, so payloads can be streamed
//! behind a reserved head. Index and superblock come last: until then the file has no magic.

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
