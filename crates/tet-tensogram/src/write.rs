//! Writing messages (section 8): whole ones, and such whose tensors come one after the other.
//!
//! ```text
//!   whole     preamble | metadata, index, hashes | tensor ... | [hashes] | postamble
//!   headed    the same without footer: tensors first, and then the header, into its room
//!   stream    preamble | metadata | [preceder] tensor ... | metadata, hashes, index | postamble
//! ```

mod frames;
mod headed;
mod header;
mod options;
mod out;
mod plain;
mod said;
mod stream;
mod whole;

pub use headed::{HeadedTensor, HeadedWriter};
pub(crate) use header::Header;
pub use options::{HashChoice, ListPlace, VersionKey, WriteOptions};
pub use plain::PlainElements;
pub(crate) use said::metadata_bytes;
pub use stream::{StreamWriter, TensorWriter};
pub use whole::{RegionSource, Tensor, encode_message, write_message};

#[cfg(test)]
mod tests;
