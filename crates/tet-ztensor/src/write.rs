//! New files (section 9), in one pass over the elements and in bounded memory.
//!
//! ```text
//!   Writer::new   tensor -> TensorWriter: write ... finish   ...   finish
//!   magic         padding, blob                                    index, its length
//! ```
//!
//! A blob is written as its elements arrive, and its checksum is computed meanwhile; its entry
//! stays in memory until the index is written. Memory: one batch of frames, and the index.

mod options;

mod declaration;
mod entry;

mod frames;
mod out;
mod passing;

mod tensor;
mod writer;

mod publish;
mod sparse;

pub(crate) use declaration::check_name;
pub use declaration::{Declaration, METADATA_NAME};
pub use options::{Align, ChecksumChoice, Dialect, EncodingChoice, SparseChoice, WriteOptions};
pub use publish::publish;
pub use tensor::TensorWriter;
pub(crate) use writer::Resumed;
pub use writer::{Writer, Written};

#[cfg(test)]
mod tests;
