//! New files (section 9), in one pass over the elements and in bounded memory.
//!
//! ```text
//!   Writer::new   tensor -> TensorWriter: write ... finish   ...   finish
//!   magic         padding, blob                                    index, its length
//! ```
//!
//! A blob is written as its elements come, digested on the way; what is said of it waits in memory
//! for the index at the end. Memory is that of one batch of frames and of the index.

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
