//! Where formats meet: open any container, and write its arrays as any other.
//!
//! The format of a file follows from its content, never from its name. Nothing here holds a whole
//! array in memory: arrays are read and written in blocks of the outer axis.

#![forbid(unsafe_code)]

mod append;
pub mod chunking;
mod concat;
mod container;
mod convert;
mod diff;
mod edit;
mod error;
mod format;
mod merge;
mod model;
mod open;
mod read;
mod refs;
mod repack;
mod repair;
mod result;
mod stack;
mod verify;
mod write;

pub mod export {
    //! From a lazy array, an array in memory or whole datasets to `.npy`, `.npz`, `.safetensors`, raw
    //! elements or text.
    //!
    //! A lazy array is read in blocks of the outer axes and written as they come, so memory stays
    //! bounded by the execution's budget. Files appear complete or not at all.

    /// `.npy` files.
    pub mod npy {
        pub use crate::write::npy::header;
    }

    pub use crate::container::npz::write_npz_file;
    pub use crate::container::safetensors::{
        SHARD_LEN, Sharded, index_path, write_safetensors_file, write_shards,
    };
    pub use crate::write::array::{
        Encoding, write_array, write_lazy, write_lazy_file, write_texts, write_texts_file,
    };
    pub use crate::write::file::{Compression, ExportOptions};
}

pub use append::{AxisAppend, append};
pub use container::tets::parts::{
    SeriesPart, UnusedFile, remove_unused_parts, series_parts, unused_parts,
};
pub use container::{
    CONTAINERS, Capabilities, Container, Head, Input, Output, Writer, container, containers,
    has_reader, reading_advice, register, sniff, writable, writing_advice,
};
pub use container::{
    CheckedRegion, ChecksumField, ChecksumOrder, Repairer, StoredChecksum, TakeRegion,
};
pub use container::{
    EditKind, EditMode, EditOptions, Editor, FileEdit, NpyFault, Rewrite, RewriteOptions,
    Rewritten, StorageChange,
};
pub use convert::{
    Combining, ConvertInput, chosen, concat, convert, convert_combined, convert_merged,
    convert_source,
};
pub use diff::{NameMap, catalog_diff, contents, differing_decoding, only_pair, with_members};
pub use edit::report::{DatasetChange, EditReport};
pub use edit::{
    check_edits, datasets_named, edit, kept_by, redims, relabels, renames, with_followers,
};
pub use error::{Error, Result};
pub use format::Format;
pub use model::attribute_types::AttrTypes;
pub use model::attributes::{SCALAR_KEY, is_scalar};
pub use model::cf::{Decoding, ValidRange, ValueChoice, decoded};
pub use model::logical::{as_bytes, as_counted, byte_len, is_dequantized, is_opaque};
pub use model::notes::Note;
pub use model::retyped::with_dtype;
pub use model::sparse::{SparseStorage, SparseTensor, sparse_tensors};
pub use open::{document_in, document_of, open, open_document, open_source};
pub use read::damage::{DamagedChunks, damaged_chunks};
pub use read::opened::{FileRegion, Io, OpenOptions, Opened};
pub use read::positions::chunk_positions;
pub use read::slabs::Slabs;
pub use read::zip::ZipFault;
pub use refs::{
    EdgeChoice, ReferenceSet, RefsAddress, RefsOptions, RefsReport, StoredChunks,
    publish_references, references, stored_chunks, write_references,
};
pub use repack::{Repack, StorageRule, repack};
pub use repair::{
    BitEdit, DIGEST_LEN_MAX, FlipBit, FlippedByte, RepairOptions, RepairPlan, SEARCH_WORK_MAX,
    SUM_LEN_MAX, Unrepaired, UnrepairedCause, folder_refusal, plan_repair,
};
pub use result::{ResultCatalog, ResultOptions, WritePolicy, reduced_array, window_label};
pub use tet_zarr::{ZarrCompression, ZarrFormat};
pub use verify::{foreign_rules, part_of, verify};
pub use write::array::Written;
pub use write::conversion::{
    Conflict, Conversion, ConvertOptions, DamageChoice, DenseOutput, Filter, Hdf5Codec,
    Hdf5Options, SparseOutput, TensogramOptions, UnsupportedChoice,
};
pub use write::label_range::LabelRange;
pub use write::options::{
    Attribute, AxisLabels, DimNames, ImportOptions, ImportReport, Imported, LabelSource, Origin,
    TextLayout,
};
pub use write::storage::{AxisChunk, ChunkChoice, ChunkRule, CodecRule, DTypeRule, PayloadCodec};
pub use write::zarr::{ChunkSum, ShardChoice, ZarrOptions};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
