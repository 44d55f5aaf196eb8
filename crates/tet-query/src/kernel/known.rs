//! Decisions about chunks by their statistics, without reading them.

use tet_format::ChunkStatistics;

/// Decision about a chunk by its statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It must be read.
    Read,
    /// None of its elements matters, whichever are selected and whatever cells they are in.
    Skip,
    /// All of its elements together were folded into the cell.
    Folded,
}

/// A chunk with statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownChunk {
    /// How many elements it has.
    pub count: u64,
    pub statistics: ChunkStatistics,
}

/// Which elements of a chunk a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of them.
    All,
    /// Some of them, whichever.
    Some,
}

/// Statistics of a chunk, for elements of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<T> {
    /// How many elements there are.
    pub count: u64,
    /// The least and the greatest that is not NaN, where there is any.
    pub ends: Option<(T, T)>,
    pub nan_count: u64,
    pub inf_count: u64,
    /// The sum of integers.
    pub sum: i128,
}
