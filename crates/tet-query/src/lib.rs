//! Plan, read and reduce selections of chunked tensor files, in place.
//!
//! The modules below stand in the order the bytes go through them:
//!
//! ```text
//!   catalog   name -> dataset, chunk -> place in the file
//!   selection request -> hyperslab (start, stop, step per axis)
//!   plan      hyperslab x grid -> chunk reads          coalesce  spans of tasks -> runs
//!   fetch     runs -> stored bytes                     decode    stored -> elements
//!   scatter   elements -> array                        kernel    elements -> state -> value
//! ```
//!
//! A container joins at the catalog; nothing below learns which one it was.
//! Runs depend on catalog, selection, question and budget, not on threads: what is printed is read.

#![forbid(unsafe_code)]

mod error;

mod axis;
mod pattern;
mod scalar;
mod suggestion;

mod catalog;
mod selection;

mod labels;

mod plan;

mod coalesce;

mod budget;
mod tuning;

mod cost;

mod buffer;
mod copy;

mod fetch;

mod decode;
mod element;

mod scatter;

mod array;

mod op;

mod interpolation;

mod reduction;

mod value;

mod kernel;

mod reduce;

mod transform;

mod answer;

mod lazy;
mod taken;

mod texts;

mod fill;

mod align;

mod diff;

// The oracle is not part of the crate; here its exact sums are compared with.
#[cfg(test)]
#[path = "../../../tests/src/naive/exact.rs"]
#[allow(unreachable_pub, dead_code, reason = "public, and used, where it lives")]
mod exact_sum;

#[cfg(test)]
mod testing;

pub use align::{Alignment, AxisAlignment, LabelAlignment};
pub use answer::{Session, WithIntegrity};
pub use array::Array;
pub use axis::{AxisRef, axis_text};
pub use budget::{DigestPolicy, Execution, StatisticsPolicy, THREADS_MAX};
pub use catalog::{
    AttrText, ByteBlocks, Catalog, ChunkPlace, ChunkTable, Dataset, Decoder, Enumeration,
    FixedText, Meaning, NumberTexts, ReadRange, Seal, SealDigester, Sealed, StoredCompression,
    TextChunks, TextElements, Texts, rescaled,
};
pub use coalesce::Coalesce;
pub use cost::{Cost, Passes};
pub use diff::{
    CatalogDiff, DatasetDiff, DiffBlock, DiffNorms, DiffValue, DifferingElement, ElementDiff,
    MetadataDiff, Tolerance,
};
pub use element::{Element, nearest_bf16, nearest_f16};
pub use error::{Error, Result};
pub use fill::fill_of;
pub use interpolation::Between;
pub use labels::*;
pub use lazy::{Blocks, Choice, Computed, Elements, LazyArray};
pub use op::{NanPolicy, Op};
pub use pattern::Pattern;
pub use plan::{CHUNKS_MAX, ChunkRead, ReadPlan, StatisticsUse, plan};
pub use reduction::{
    Axes, AxisGroups, AxisPicks, Compare, Filter, Number, Params, Reduction, Window, WindowAlign,
    WindowMode,
};
pub use scalar::Scalar;
pub use selection::{
    AXES_MAX, Axis, AxisPositions, AxisSelection, AxisSlice, Hyperslab, Position, Selected,
    Selection, SelectionError, SelectionFault, SelectionForm, SelectionNote, Stop, TakenAxes,
    find_axis, unknown_label,
};
pub use suggestion::nearest_word;
pub use tet_codec::NumcodecsPipeline;
pub use tet_format::Integrity;
pub use tet_io::Kind;
pub use transform::{Method, Transform};
pub use tuning::Tuning;
pub use value::{Along, Cells, Details, Reduced, Values};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
