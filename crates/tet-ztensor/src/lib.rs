//! zTensor 0.1.0 files: read, write, edit and verify.
//!
//! ```text
//!   magic | padding, blob | padding, blob | ... | index: a CBOR array of maps | its length, 8 bytes
//! ```
//!
//! The modules are in the order of `docs/spec/ztensor.md`. A file is read from its end: footer,
//! index, and then the requested tensors. A damaged or unknown entry affects only its own tensor.
//! [`objects`] reads the files of versions 1 and 2, which have another structure.

#![forbid(unsafe_code)]

mod error;
mod limits;
pub mod rule;

#[cfg(feature = "container")]
pub mod container;

mod footer;

mod index;
mod names;

mod entry;
mod tensor;
mod words;

mod checksum;
mod frames;

mod sparse;

mod open;
mod stored;

mod read;

mod check;

mod write;

pub mod edit;

pub mod objects;

pub use check::{DECODED, VerifyOptions, verify};
pub use checksum::{Checksum, Comparison};
pub use error::{Error, Fault, NAME_TAKEN, Result, zstd_rule};
pub use footer::{
    ALIGN, FILE_LEN_MIN, FOOTER_LEN, MAGIC, MAGIC_LEN, RANK_MAX, index_span, is_ztensor,
};
pub use frames::{Frame, Frames, SeekTable};
pub use index::Index;
pub use limits::Limits;
pub use open::ZTensorFile;
pub use read::TensorView;
pub use stored::Check;
pub use tensor::Tensor;
pub use tet_cbor::Value;
pub use tet_format::Severity;
pub use tet_io::{Kind, Progress};
pub use tet_report::{Finding, Level, Report};
pub use tet_sparse::{Places, Sparse};
pub use words::{ByteOrder, DTYPES, Encoding, Layout, dtype};
pub use write::{
    Align, ChecksumChoice, Declaration, Dialect, EncodingChoice, METADATA_NAME, SparseChoice,
    TensorWriter, WriteOptions, Writer, Written, publish,
};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
