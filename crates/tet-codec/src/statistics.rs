//! Statistics of the elements of a chunk (format section 6.3).
//!
//! Elements are compared by integer keys that order floats totally: -0.0 before 0.0. So the least and the greatest
//! element come out bit by bit, and do not depend on how the elements are cut.

use multiversion::multiversion;
use tet_format::{ChunkStatistics, DType, Digest};

use crate::digest::{Digester, PIECE_LEN, Strength};

/// Elements that are looked at together: no counter of a lane overflows.
const BLOCK: usize = 4096;

/// Floats that are compared side by side, which the compiler makes vectors of.
const LANES: usize = 32;

/// The statistics of elements of a dtype of `.tet`; `None` for other dtypes.
///
/// Bytes after the last whole element do not count.
///
/// ```
/// use tet_codec::statistics;
/// use tet_format::DType;
///
/// let elements = [3_i16, -2, 7].map(i16::to_le_bytes).concat();
/// let found = statistics(DType::Int16, &elements).expect("a dtype of .tet");
/// assert_eq!((found.min, found.max, found.sum()), (0xfffe, 7, 8));
/// ```
#[must_use]
pub fn statistics(dtype: DType, elements: &[u8]) -> Option<ChunkStatistics> {
    let mut counter = StatisticsCounter::new(dtype)?;
    counter.update(elements);
    Some(counter.finish())
}

/// The digest of elements, and their statistics where a dtype of `.tet` is given: both from one pass over memory.
///
/// ```
/// use tet_codec::{digest, digest_and_statistics, statistics};
/// use tet_format::DType;
///
/// let elements = [3_i16, -2, 7].map(i16::to_le_bytes).concat();
/// let found = digest_and_statistics(&elements, Some(DType::Int16));
/// assert_eq!(found, (digest(&elements), statistics(DType::Int16, &elements)));
/// assert_eq!(digest_and_statistics(&elements, None), (digest(&elements), None));
/// ```
#[must_use]
pub fn digest_and_statistics(
    elements: &[u8],
    dtype: Option<DType>,
) -> (Digest, Option<ChunkStatistics>) {
    let mut digester = Digester::new(Strength::Full);
    let mut counter = dtype.and_then(StatisticsCounter::new);
    for piece in elements.chunks(PIECE_LEN) {
        digester.update(piece);
        if let Some(counter) = &mut counter {
            counter.update(piece);
        }
    }
    (digester.finish(), counter.map(|counter| counter.finish()))
}

/// The statistics of elements that arrive piece by piece.
///
/// ```
/// use tet_codec::{StatisticsCounter, statistics};
/// use tet_format::DType;
///
/// let elements = [0.5_f64, -0.0].map(f64::to_le_bytes).concat();
/// let mut counter = StatisticsCounter::new(DType::Float64).expect("a dtype of .tet");
/// counter.update(&elements[..3]);
/// counter.update(&elements[3..]);
/// assert_eq!(Some(counter.finish()), statistics(DType::Float64, &elements));
/// ```
#[derive(Clone, Debug)]
pub struct StatisticsCounter {
    size: usize,
    fold: Fold,
    finish: Finish,
    found: RunningStatistics,
    /// The first bytes of an element that is not complete.
    part: [u8; 8],
    part_len: usize,
}

/// Adds whole elements to what was found.
type Fold = fn(&mut RunningStatistics, &[u8]);
/// Makes a record of what was found.
type Finish = fn(&RunningStatistics) -> ChunkStatistics;

/// Running statistics; keys are widened to 64 bits.
#[derive(Clone, Copy, Debug)]
struct RunningStatistics {
    least: i128,
    greatest: i128,
    sum: i128,
    nan_count: u64,
    inf_count: u64,
}

impl StatisticsCounter {
    /// A counter of no elements; `None` for a dtype that `.tet` does not have.
    #[must_use]
    pub fn new(dtype: DType) -> Option<Self> {
        let (fold, finish): (Fold, Finish) = match dtype {
            DType::UInt8 => (u8::fold, u8::finish),
            DType::UInt16 => (u16::fold, u16::finish),
            DType::UInt32 => (u32::fold, u32::finish),
            DType::UInt64 => (u64::fold, u64::finish),
            DType::Int16 => (i16::fold, i16::finish),
            DType::Int32 => (i32::fold, i32::finish),
            DType::Int64 => (i64::fold, i64::finish),
            DType::Float16 => (Half::fold, Half::finish),
            DType::Float32 => (f32::fold, f32::finish),
            DType::Float64 => (f64::fold, f64::finish),
            _ => return None,
        };
        let size = usize::try_from(dtype.size()?).ok()?;
        let found = RunningStatistics {
            least: i128::MAX,
            greatest: i128::MIN,
            sum: 0,
            nan_count: 0,
            inf_count: 0,
        };
        Some(StatisticsCounter { size, fold, finish, found, part: [0; 8], part_len: 0 })
    }

    /// Adds more bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        if self.part_len != 0 {
            let (more, rest) = bytes.split_at(bytes.len().min(self.size - self.part_len));
            self.part[self.part_len..][..more.len()].copy_from_slice(more);
            self.part_len += more.len();
            bytes = rest;
            if self.part_len < self.size {
                return;
            }
            (self.fold)(&mut self.found, &self.part[..self.size]);
        }
        let whole = bytes.len() - bytes.len() % self.size;
        (self.fold)(&mut self.found, &bytes[..whole]);
        self.part_len = bytes.len() - whole;
        self.part[..self.part_len].copy_from_slice(&bytes[whole..]);
    }

    /// The statistics of all whole elements.
    #[must_use]
    pub fn finish(&self) -> ChunkStatistics {
        if self.found.greatest < self.found.least {
            let totals = [self.found.nan_count, self.found.inf_count];
            return ChunkStatistics { min: 0, max: 0, totals };
        }
        (self.finish)(&self.found)
    }
}

/// float16, which the standard library does not have.
struct Half;

trait Counted {
    /// Adds whole elements.
    fn fold(found: &mut RunningStatistics, bytes: &[u8]);
    /// The statistics of at least one element that is not NaN.
    fn finish(found: &RunningStatistics) -> ChunkStatistics;
}

macro_rules! integers {
    ($($type:ty, $unsigned:ty, $block:ident, $lanes:literal, $sum:ty: $low:expr, $high:expr;)+) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless,
                clippy::unnecessary_cast, clippy::cast_possible_wrap, reason = "bits, not numbers")]
        impl Counted for $type {
            fn fold(found: &mut RunningStatistics, bytes: &[u8]) {
                for block in bytes.as_chunks::<{ size_of::<$type>() }>().0.chunks(BLOCK) {
                    let (least, greatest, [low, high]) = $block(block);
                    found.least = found.least.min(least.into());
                    found.greatest = found.greatest.max(greatest.into());
                    found.sum += (i128::from(high) << 32) + i128::from(low);
                }
            }

            fn finish(found: &RunningStatistics) -> ChunkStatistics {
                let bits = |key: i128| key as $type as $unsigned as u64;
                let totals = ChunkStatistics::totals_of(found.sum);
                ChunkStatistics { min: bits(found.least), max: bits(found.greatest), totals }
            }
        }

        /// The least and the greatest element, and the sums of low and of high halves.
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast, clippy::cast_possible_wrap,
                clippy::cast_possible_truncation, clippy::redundant_closure_call,
                reason = "one text for all widths")]
        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx+avx2"))]
        fn $block(block: &[[u8; size_of::<$type>()]]) -> ($type, $type, [i64; 2]) {
            let mut least = [<$type>::MAX; $lanes];
            let mut greatest = [<$type>::MIN; $lanes];
            let (mut lows, mut highs) = ([0 as $sum; $lanes], [0 as $sum; $lanes]);
            let mut rest = [0_i64; 2];
            let (rows, tail) = block.as_chunks::<$lanes>();
            for row in rows {
                for i in 0..$lanes {
                    let element = <$type>::from_le_bytes(row[i]);
                    least[i] = if element < least[i] { element } else { least[i] };
                    greatest[i] = if element > greatest[i] { element } else { greatest[i] };
                    lows[i] += ($low)(element);
                    highs[i] += ($high)(element);
                }
            }
            for &bytes in tail {
                let element = <$type>::from_le_bytes(bytes);
                (least[0], greatest[0]) = (least[0].min(element), greatest[0].max(element));
                rest[0] += i64::from(($low)(element));
                rest[1] += i64::from(($high)(element));
            }
            (
                least.into_iter().fold(<$type>::MAX, Ord::min),
                greatest.into_iter().fold(<$type>::MIN, Ord::max),
                [(lows, rest[0]), (highs, rest[1])]
                    .map(|(lanes, rest)| rest + lanes.into_iter().map(|sum| sum as i64).sum::<i64>()),
            )
        }
    )+};
}

integers! {
    u8, u8, block_u8, 32, u16: u16::from, |_| 0;
    u16, u16, block_u16, 32, u32: u32::from, |_| 0;
    u32, u32, block_u32, 32, i64: i64::from, |_| 0;
    i16, u16, block_i16, 32, i32: i32::from, |_| 0;
    i32, u32, block_i32, 32, i64: i64::from, |_| 0;
    u64, u64, block_u64, 16, i64: |it: u64| (it & 0xffff_ffff) as i64, |it: u64| (it >> 32) as i64;
    i64, u64, block_i64, 16, i64: |it: i64| it & 0xffff_ffff, |it: i64| it >> 32;
}

macro_rules! floats {
    ($($type:ty, $key:ty, $unsigned:ty, $infinity:literal, $block:ident, $finite:ident;)+) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless,
                clippy::unnecessary_cast, clippy::cast_possible_wrap, reason = "bits, not numbers")]
        impl Counted for $type {
            fn fold(found: &mut RunningStatistics, bytes: &[u8]) {
                for block in bytes.as_chunks::<{ size_of::<$key>() }>().0.chunks(BLOCK) {
                    // A chunk with one NaN or infinity mostly has more of them.
                    let was_finite = found.nan_count == 0 && found.inf_count == 0;
                    let finite = if was_finite { $finite(block) } else { None };
                    let (least, greatest, [nan_count, inf_count]) =
                        finite.unwrap_or_else(|| $block(block));
                    found.nan_count += nan_count;
                    found.inf_count += inf_count;
                    // Of a block of NaN alone they are the other way round.
                    if least <= greatest {
                        found.least = found.least.min(least.into());
                        found.greatest = found.greatest.max(greatest.into());
                    }
                }
            }

            fn finish(found: &RunningStatistics) -> ChunkStatistics {
                let bits = |key: i128| {
                    let key = key as $key;
                    (key ^ (key >> (<$key>::BITS - 1)) & <$key>::MAX) as $unsigned as u64
                };
                let totals = [found.nan_count, found.inf_count];
                ChunkStatistics { min: bits(found.least), max: bits(found.greatest), totals }
            }
        }

        /// The least and the greatest key of elements that are all finite; `None` for others.
        ///
        /// Three comparisons for each element. As integers without a sign, negative floats are above all others and
        /// rise with their magnitude; as integers with a sign, they are below all others and rise with it too. So the
        /// greatest without a sign is the least float if any is negative, and the least with a sign is the one that
        /// is nearest to zero if all are.
        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx+avx2"))]
        fn $finite(block: &[[u8; size_of::<$key>()]]) -> Option<($key, $key, [u64; 2])> {
            let (mut least, mut greatest) = ([<$key>::MAX; LANES], [<$key>::MIN; LANES]);
            let mut unsigned = [<$unsigned>::MIN; LANES];
            let (rows, tail) = block.as_chunks::<LANES>();
            for row in rows {
                for i in 0..LANES {
                    let bits = <$key>::from_le_bytes(row[i]);
                    least[i] = if bits < least[i] { bits } else { least[i] };
                    greatest[i] = if bits > greatest[i] { bits } else { greatest[i] };
                    let bits = bits.cast_unsigned();
                    unsigned[i] = if bits > unsigned[i] { bits } else { unsigned[i] };
                }
            }
            for &bytes in tail {
                let bits = <$key>::from_le_bytes(bytes);
                (least[0], greatest[0]) = (least[0].min(bits), greatest[0].max(bits));
                unsigned[0] = unsigned[0].max(bits.cast_unsigned());
            }
            let least = least.into_iter().fold(<$key>::MAX, Ord::min);
            let greatest = greatest.into_iter().fold(<$key>::MIN, Ord::max);
            let unsigned = unsigned.into_iter().fold(0, Ord::max).cast_signed();
            let least_bits = if unsigned < 0 { unsigned } else { least };
            let greatest_bits = if greatest < 0 { least } else { greatest };
            let finite = |bits: $key| bits & <$key>::MAX < $infinity;
            let key = |bits: $key| if bits < 0 { bits ^ <$key>::MAX } else { bits };
            (finite(least_bits) && finite(greatest_bits))
                .then(|| (key(least_bits), key(greatest_bits), [0; 2]))
        }

        /// The least and the greatest key without NaN, and how many are NaN and infinite.
        #[allow(clippy::cast_lossless, clippy::cast_sign_loss, reason = "one text for all widths")]
        #[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx+avx2"))]
        fn $block(block: &[[u8; size_of::<$key>()]]) -> ($key, $key, [u64; 2]) {
            const INFINITY: $key = $infinity;
            let mut least = [<$key>::MAX; LANES];
            let mut greatest = [<$key>::MIN; LANES];
            let (mut nans, mut infs) = ([0 as $key; LANES], [0 as $key; LANES]);
            let (rows, tail) = block.as_chunks::<LANES>();
            for row in rows {
                for i in 0..LANES {
                    let bits = <$key>::from_le_bytes(row[i]);
                    let magnitude = bits & <$key>::MAX;
                    let key = bits ^ (bits >> (<$key>::BITS - 1)) & <$key>::MAX;
                    // Masks of all bits, or none.
                    let nan = if magnitude > INFINITY { -1 } else { 0 };
                    let inf = if magnitude == INFINITY { -1 } else { 0 };
                    let (low, high) = (key & !nan | <$key>::MAX & nan, key & !nan | <$key>::MIN & nan);
                    least[i] = if low < least[i] { low } else { least[i] };
                    greatest[i] = if high > greatest[i] { high } else { greatest[i] };
                    nans[i] -= nan;
                    infs[i] -= inf;
                }
            }
            for &bytes in tail {
                let bits = <$key>::from_le_bytes(bytes);
                let magnitude = bits & <$key>::MAX;
                let key = bits ^ (bits >> (<$key>::BITS - 1)) & <$key>::MAX;
                if magnitude <= INFINITY {
                    (least[0], greatest[0]) = (least[0].min(key), greatest[0].max(key));
                }
                nans[0] += (magnitude > INFINITY) as $key;
                infs[0] += (magnitude == INFINITY) as $key;
            }
            (
                least.into_iter().fold(<$key>::MAX, Ord::min),
                greatest.into_iter().fold(<$key>::MIN, Ord::max),
                [nans, infs].map(|lanes| lanes.into_iter().map(|count| count as u64).sum()),
            )
        }
    )+};
}

floats! {
    Half, i16, u16, 0x7c00, block_f16, finite_f16;
    f32, i32, u32, 0x7f80_0000, block_f32, finite_f32;
    f64, i64, u64, 0x7ff0_0000_0000_0000, block_f64, finite_f64;
}

#[cfg(test)]
mod tests;
