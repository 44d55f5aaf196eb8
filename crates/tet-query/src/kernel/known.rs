//! What statistics tell of the elements of a chunk, and what becomes of the chunk then.

use tet_format::ChunkStatistics;

use super::rank::Ranked;

/// What becomes of a chunk of which statistics are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It must be read.
    Read,
    /// None of its elements matters, whichever are selected and whatever cells they are in.
    Skip,
    /// All of its elements together were folded into the cell.
    Folded,
}

/// A chunk of which statistics are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownChunk {
    /// How many elements it has.
    pub count: u64,
    pub statistics: ChunkStatistics,
}

/// The same for elements of one type.
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

impl<T: Ranked> Known<T> {
    /// What is known of a chunk; `None` for statistics that no elements have.
    pub(super) fn new(chunk: &KnownChunk) -> Option<Self> {
        let KnownChunk { count, statistics } = *chunk;
        let is_float = T::DTYPE.is_float();
        let (nan_count, inf_count) =
            if is_float { (statistics.nan_count(), statistics.inf_count()) } else { (0, 0) };
        let value_count = count.checked_sub(nan_count)?;
        let ends = if value_count == 0 {
            None
        } else {
            Some((element::<T>(statistics.min)?, element::<T>(statistics.max)?))
        };
        let is_ordered = ends.is_none_or(|(least, greatest)| {
            let (first, last) = T::VALUES;
            first <= least.rank() && least.rank() <= greatest.rank() && greatest.rank() <= last
        });
        let sum = if is_float { 0 } else { statistics.sum() };
        let is_sum = is_float
            || ends.is_none_or(|(least, greatest)| {
                let times = |end: T| {
                    let value = i128::from(end.rank()) - i128::from(T::TOP);
                    value.checked_mul(count.into())
                };
                let bounds = times(least).zip(times(greatest));
                bounds.is_some_and(|(low, high)| low <= sum && sum <= high)
            });
        let known = Known { count, ends, nan_count, inf_count, sum };
        (is_ordered && is_sum && inf_count <= value_count).then_some(known)
    }
}

/// The element whose bytes are the first ones of a number, and zeros after them.
fn element<T: Ranked>(number: u64) -> Option<T> {
    let bytes = number.to_le_bytes();
    let (element, rest) = bytes.split_at(size_of::<T>());
    rest.iter().all(|&byte| byte == 0).then(|| bytemuck::pod_read_unaligned(element))
}
