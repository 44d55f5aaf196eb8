//! A statistics record, decoded for the elements of a chunk; a record that fits no elements is ignored.

use super::known::{Known, KnownChunk};
use super::rank::Ranked;

impl<T: Ranked> Known<T> {
    /// Statistics of a chunk; `None` where they fit no elements.
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
