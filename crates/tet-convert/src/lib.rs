//! Where formats meet: open any container, and write its arrays as any other.
//!
//! The format of a file follows from its content, never from its name. Nothing here holds a whole
//! array in memory: arrays are read and written in blocks of the outer axis.

#![forbid(unsafe_code)]

mod append;
mod concat;
mod container;
mod convert;
mod diff;
mod edit;
mod merge;
mod open;
mod refs;
mod repack;
mod repair;
mod result;
mod stack;
mod verify;

pub mod export {
    //! From a lazy array, an array in memory or whole datasets to `.npy`, `.npz`, `.safetensors`, raw
    //! elements or text.
    //!
    //! A lazy array is read in blocks of the outer axes and written as they come, so memory stays
    //! bounded by the execution's budget. Files appear complete or not at all.

    /// `.npy` files.
    pub mod npy {
        pub use tet_container::write::npy::header;
    }

    pub use tet_container::write::array::{
        Encoding, write_array, write_lazy, write_lazy_file, write_texts, write_texts_file,
    };
    pub use tet_container::write::file::{Compression, ExportOptions};
    #[cfg(feature = "numpy")]
    pub use tet_numpy::write_npz_file;
    #[cfg(feature = "safetensors")]
    pub use tet_safetensors::{SHARD_LEN, Sharded, write_safetensors_file, write_shards};
}

pub use append::{AxisAppend, append};
pub use container::tets::parts::{
    SeriesPart, UnusedFile, remove_unused_parts, series_parts, unused_parts,
};
pub use container::{CONTAINERS, container, containers, has_reader, register, sniff, writable};
pub use convert::{
    Combining, ConvertInput, chosen, concat, convert, convert_combined, convert_merged,
    convert_source,
};
pub use diff::{NameMap, catalog_diff, contents, differing_decoding, only_pair, with_members};
pub use edit::report::{DatasetChange, EditReport};
pub use edit::{
    check_edits, datasets_named, edit, kept_by, redims, relabels, renames, with_followers,
};
pub use open::{document_in, document_of, open, open_document, open_source};
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
pub use tet_container::{
    AttrTypes, Attribute, AxisChunk, AxisLabels, Bound, BoundUnit, Capabilities, CheckedRegion,
    Checksum, ChecksumField, ChecksumOrder, ChunkChoice, ChunkRule, CodecRule, Conflict, Container,
    ContainerFault, Conversion, ConvertOptions, DTypeRule, DamageChoice, DamagedChunks, Decoding,
    DenseOutput, DimNames, EditKind, EditMode, EditOptions, Editor, Error, FaultCause, FileEdit,
    FileRegion, Filter, Format, Head, ImportOptions, ImportReport, Imported, Input, Io, LabelRange,
    LabelSource, LeveledCodec, Masks, Note, NpyFault, OpenOptions, Opened, Origin, Output, Packing,
    PayloadCodec, Repairer, Result, Rewrite, RewriteOptions, Rewritten, SCALAR_KEY, ShardChoice,
    Slabs, SparseLayout, SparseOutput, SparseStorage, SparseTensor, Storage, StoredChecksum,
    TakeRegion, TextLayout, UnsupportedChoice, ValidRange, ValueChoice, WriteOption, Writer,
    Written, ZipFault, as_bytes, as_counted, byte_len, chunk_positions, chunking, damaged_chunks,
    decoded, is_dequantized, is_opaque, is_scalar, reading_advice, sparse_tensors, with_dtype,
    writing_advice,
};
pub use tet_zarr::ZarrFormat;
pub use verify::{foreign_rules, part_of, verify};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
