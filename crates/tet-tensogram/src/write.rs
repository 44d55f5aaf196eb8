//! Writes messages (section 8): complete ones, and ones whose tensors arrive one after the other.
//!
//! ```text
//!   whole     preamble | metadata, index, hashes | tensor ... | [hashes] | postamble
//!   headed    the same without footer: tensors first, then the header, into reserved space
//!   stream    preamble | metadata | [preceder] tensor ... | metadata, hashes, index | postamble
//! ```

mod frames;
mod headed;
mod header;
mod metadata;
mod options;
mod out;
mod plain;
mod stream;
mod whole;

pub use headed::{HeadedTensor, HeadedWriter};
pub(crate) use header::Header;
pub(crate) use metadata::metadata_bytes;
pub use options::{HashChoice, ListPlace, VersionKey, WriteOptions};
pub use plain::PlainElements;
pub use stream::{StreamWriter, TensorWriter};
pub use whole::{RegionSource, Tensor, encode_message, write_message};

#[cfg(test)]
mod tests;
