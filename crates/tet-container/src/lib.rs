//! Containers of arrays: the traits of a reader, a writer, an editor and a repairer, and the code that they share.
//!
//! ```text
//!   Container  format, suffixes, magics -> open: Opened, verify: Report
//!     Writer     a Conversion, ConvertOptions -> a new file
//!     Editor     edits, rewrites -> the file with other metadata, or some datasets anew
//!   model      logical types, decoding by CF attributes, attributes, axes, sparse tensors, notes
//!   read       chunks as slabs or pieces, zip members, losses, spools
//!   write      options, blocks of elements in order, chunk shapes, labels, new files
//! ```
//!
//! Nothing here knows a container of its own; `tet-convert` has the list of all.

#![forbid(unsafe_code)]

mod axes_fields;
mod bound;
pub mod chunking;
mod edit_kind;
pub mod edited;
mod editor;
pub mod entry;
mod error;
mod format;
pub mod model;
mod npy_fault;
pub mod others;
pub mod read;
mod repairer;
mod rewrite;
mod stored_checksum;
mod traits;
pub mod write;

pub use axes_fields::{AxesField, axes_fields};
pub use bound::{Bound, BoundUnit};
pub use edit_kind::EditKind;
pub use editor::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
pub use error::{ContainerFault, Error, FaultCause, is_of_system};
pub use format::Format;
pub use model::attribute_types::AttrTypes;
pub use model::attributes::{SCALAR_KEY, is_scalar};
pub use model::cf::{Decoding, ValidRange, ValueChoice, decoded};
pub use model::logical::{as_bytes, as_counted, byte_len, is_dequantized, is_opaque};
pub use model::notes::Note;
pub use model::retyped::with_dtype;
pub use model::sparse::{SparseStorage, SparseTensor, sparse_tensors};
pub use npy_fault::{HEADER_LEN_MAX as NPY_HEADER_LEN_MAX, NpyFault};
pub use others::{reading_advice, writing_advice};
pub use read::damage::{DamagedChunks, damaged_chunks};
pub use read::opened::{FileRegion, Io, OpenOptions, Opened};
pub use read::positions::chunk_positions;
pub use read::slabs::Slabs;
pub use read::zip::ZipFault;
pub use repairer::{CheckedRegion, ChecksumField, ChecksumOrder, Repairer, TakeRegion};
pub use rewrite::{Rewrite, Rewritten, check_unchanged};
pub use stored_checksum::StoredChecksum;
pub use traits::{Capabilities, Container, Head, Input, Output, Writer};
pub use write::array::Written;
pub use write::conversion::{
    Conflict, Conversion, ConvertOptions, DamageChoice, DenseOutput, SparseOutput,
    UnsupportedChoice,
};
pub use write::label_range::LabelRange;
pub use write::no_codec::no_codec;
pub use write::options::{
    Attribute, AxisLabels, DimNames, ImportOptions, ImportReport, Imported, LabelSource, Origin,
    TextLayout,
};
pub use write::storage::{
    AxisChunk, Checksum, ChunkChoice, ChunkRule, CodecRule, DTypeRule, Filter, LeveledCodec, Masks,
    Packing, PayloadCodec, ShardChoice, SparseLayout, Storage,
};
pub use write::write_option::WriteOption;

/// The result of functions that open, read or write a container.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
