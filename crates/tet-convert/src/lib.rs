//! Where formats meet: open any container, and write its arrays as any other.
//!
//! The format of a file follows from its content, never from its name. Nothing here holds a whole
//! array in memory: arrays are read and written in blocks of the outer axis.

#![forbid(unsafe_code)]

mod attributes;
mod carry;
pub mod chunking;
mod container;
mod conversion;
mod error;
pub mod export;
mod format;
mod item;
mod joined;
mod labels;
mod loss;
mod npy;
mod npz;
mod open;
mod opened;
mod options;
mod result;
mod safetensors;
mod slabs;
mod sparse;
mod spool;
mod tensogram;
mod verify;
mod ztensor;

pub use carry::logical::{as_bytes, as_counted, is_opaque};
pub use carry::{AppendPlace, append_ztensor, chosen, convert};
pub use container::{
    CONTAINERS, Capabilities, Container, Head, Input, Output, Writer, container, containers,
    register, sniff, writable,
};
pub use conversion::{
    Conversion, ConvertOptions, DenseCarry, Filter, SparseCarry, TensogramOptions,
};
pub use error::{Error, Result};
pub use export::Written;
pub use format::Format;
pub use item::{field_of_text, json_of_field};
pub use loss::Note;
pub use npy::{NpyFault, Texts};
pub use npz::NpzFault;
pub use open::{open, open_source};
pub use opened::{FileRegion, Io, OpenOptions, Opened};
pub use options::{
    Attribute, AxisLabels, ChunkChoice, DimNames, ImportOptions, ImportReport, Imported,
    LabelSource, Origin,
};
pub use result::{
    ResultOptions, ResultTarget, WritePolicy, reduced_array, write_reduced, write_result,
};
pub use slabs::Slabs;
pub use sparse::{SparseKept, SparseTensor, sparse_tensors};
pub use verify::{foreign_rules, verify};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
