//! Smallest and largest elements, by integer keys that order floats totally: -0.0 below 0.0.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::BitOr;

use half::{bf16, f16};
use multiversion::multiversion;

use super::strip::{SPAN, Strip};
use super::{At, Folded, Kernel, Known, Lanes, Setup, Share, Verdict};
use crate::element::Element;
use crate::error::Result;
use crate::op::NanPolicy;
use crate::value::Values;

/// Elements looked at together.
const BLOCK: usize = 4096;

/// An element with a key that orders it.
pub(crate) trait Ordered: Element {
    /// Ordered like the elements.
    type Key: Copy + Ord + Debug + Send + BitOr<Output = Self::Key> + 'static;
    /// No bit set; the key type's smallest and largest.
    const ZERO: Self::Key;
    const LEAST: Self::Key;
    const GREATEST: Self::Key;
    /// The value that replaces every NaN; any value for types without NaN.
    const NAN: Self;
    fn key(self) -> Self::Key;
    fn from_key(key: Self::Key) -> Self;
    /// All bits set for a NaN, none otherwise.
    fn nan_mask(self) -> Self::Key;
    /// The best key of a block, or `None` when there is a NaN.
    fn best<E: End>(block: &[Self]) -> Option<Self::Key>;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Ordered for $type {
            type Key = $type;
            const ZERO: $type = 0;
            const LEAST: $type = <$type>::MIN;
            const GREATEST: $type = <$type>::MAX;
            const NAN: $type = 0;
            #[inline(always)]
            fn key(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_key(key: $type) -> $type {
                key
            }
            #[inline(always)]
            fn nan_mask(self) -> $type {
                0
            }
            fn best<E: End>(block: &[$type]) -> Option<$type> {
                Some(best_of_integers::<$type, E>(block))
            }
        }
    )+};
}

macro_rules! floats {
    ($($type:ty => $key:ty, $bits:ty, $nan:expr, $best:ident, $lanes:literal;)+) => {$(
        impl Ordered for $type {
            type Key = $key;
            const ZERO: $key = 0;
            const LEAST: $key = <$key>::MIN;
            const GREATEST: $key = <$key>::MAX;
            const NAN: $type = $nan;
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                bits ^ (bits >> (<$key>::BITS - 1)) & <$key>::MAX
            }
            #[inline(always)]
            fn from_key(key: $key) -> $type {
                Self::from_bits((key ^ (key >> (<$key>::BITS - 1)) & <$key>::MAX) as $bits)
            }
            #[inline(always)]
            fn nan_mask(self) -> $key {
                let infinite = <$type>::INFINITY.to_bits() as $key;
                if self.to_bits() as $key & <$key>::MAX > infinite { -1 } else { 0 }
            }
            // As many lanes as registers hold; the result does not depend on it.
            fn best<E: End>(block: &[$type]) -> Option<$key> {
                $best::<$type, E, $lanes>(block)
            }
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);
floats! {
    f16 => i16, u16, f16::NAN, best_of_lanes, 64;
    bf16 => i16, u16, bf16::NAN, best_of_lanes, 64;
    f32 => i32, u32, f32::NAN, best_of_values, 32;
    f64 => i64, u64, f64::NAN, best_of_values, 16;
}

/// Which end is looked for.
pub(crate) trait End: Debug + Send + 'static {
    fn pick<K: Ord>(a: K, b: K) -> K;
    /// The one nearer to the end; the second when neither is.
    fn pick_value<V: PartialOrd>(a: V, b: V) -> V;
    /// The infinity that every value is picked over.
    const FAR: f32;
    /// Key that every other one beats.
    fn worst<T: Ordered>() -> T::Key;
}

/// The small end.
#[derive(Debug)]
pub(crate) struct Least;

impl End for Least {
    #[inline(always)]
    fn pick<K: Ord>(a: K, b: K) -> K {
        a.min(b)
    }
    #[inline(always)]
    fn pick_value<V: PartialOrd>(a: V, b: V) -> V {
        if a < b { a } else { b }
    }
    const FAR: f32 = f32::INFINITY;
    #[inline(always)]
    fn worst<T: Ordered>() -> T::Key {
        T::GREATEST
    }
}

/// The large end.
#[derive(Debug)]
pub(crate) struct Greatest;

impl End for Greatest {
    #[inline(always)]
    fn pick<K: Ord>(a: K, b: K) -> K {
        a.max(b)
    }
    #[inline(always)]
    fn pick_value<V: PartialOrd>(a: V, b: V) -> V {
        if a > b { a } else { b }
    }
    const FAR: f32 = f32::NEG_INFINITY;
    #[inline(always)]
    fn worst<T: Ordered>() -> T::Key {
        T::LEAST
    }
}

/// The smallest element of every cell; null where there is none.
pub(crate) type Min<T> = Extremum<T, Least>;
/// The largest element of every cell; null where there is none.
pub(crate) type Max<T> = Extremum<T, Greatest>;

/// One end of every cell.
#[derive(Debug)]
pub(crate) struct Extremum<T: Ordered, E> {
    keys: Vec<T::Key>,
    folded: Folded,
    nans: NanCounts,
    nan: NanPolicy,
    end: PhantomData<E>,
}

impl<T: Ordered, E: End> Kernel<T> for Extremum<T, E> {
    const KNOWS: bool = true;
    const CAN_SKIP: bool = true;

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            keys: vec![E::worst::<T>(); cell_count],
            folded: Folded::new(cell_count),
            nans: NanCounts::default(),
            nan: setup.nan,
            end: PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let cell = at.cell;
        self.folded.add(cell, 1, elements.len() as u64);
        for block in elements.chunks(BLOCK) {
            let best = T::best::<E>(block).unwrap_or_else(|| {
                let (best, nan_count) = best_skipping::<T, E>(block);
                self.nans.add(cell, self.keys.len(), nan_count);
                best
            });
            self.keys[cell] = E::pick(self.keys[cell], best);
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.folded.add(at.cell, lanes.count, lanes.rows as u64);
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            let keys = &mut self.keys[cell..cell + strip.lanes];
            if !fold_strip::<T, E>(strip, keys) {
                fold_strip_skipping::<T, E>(strip, keys);
                for lane in 0..strip.lanes {
                    let is_nan = |element: &T| element.nan_mask() != T::ZERO;
                    let nan_count = strip.column(lane).filter(is_nan).count();
                    self.nans.add(cell + lane, self.keys.len(), nan_count as u64);
                }
            }
        }
    }

    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        self.folded.add(cell, 1, known.count);
        self.nans.add(cell, self.keys.len(), known.nan_count);
        if let Some(best) = known.best::<E>() {
            self.keys[cell] = E::pick(self.keys[cell], best);
        }
        Verdict::Folded
    }

    fn note_bound(&mut self, cell: usize, known: &Known<T>, share: Share) {
        if let Some(bound) = known.bound::<E>(share) {
            self.keys[cell] = E::pick(self.keys[cell], bound);
        }
    }

    // Of equal elements one that was folded is enough. One whose bound was noted is not: its chunk may be outdone too.
    fn can_skip(&self, cell: usize, known: &Known<T>) -> bool {
        let held = self.keys[cell];
        let is_folded = self.nans.count(cell) < self.folded.counts()[cell];
        let is_outdone = |best| E::pick(best, held) == held && (is_folded || best != held);
        known.nan_count == 0 && known.best::<E>().is_none_or(is_outdone)
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.keys[cell] = E::pick(self.keys[cell], later.keys[from]);
        self.folded.take(cell, &later.folded, from);
        self.nans.add(cell, self.keys.len(), later.nans.count(from));
    }

    fn merge(&mut self, later: Self) {
        self.keys.iter_mut().zip(later.keys).for_each(|(to, from)| *to = E::pick(*to, from));
        self.folded.merge(&later.folded);
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        T::DTYPE.is_float().then_some(self.nans.sum)
    }

    fn finish(self) -> Result<Values> {
        let cells = self.folded.counts().iter().zip(&self.keys).enumerate();
        let cells = cells.map(|(cell, (&count, &key))| match (self.nans.count(cell), self.nan) {
            (nan_count, NanPolicy::Propagate) if nan_count > 0 => Some(T::NAN),
            (nan_count, _) => (count > nan_count).then(|| T::from_key(key)),
        });
        Ok(super::elements(cells.collect()))
    }
}

impl<T: Ordered> Known<T> {
    /// The key of the element at this end, of those that are not NaN.
    pub(super) fn best<E: End>(&self) -> Option<T::Key> {
        self.ends.map(|(least, greatest)| E::pick(least.key(), greatest.key()))
    }

    /// The key that the best element of a share of the chunk has at least.
    pub(super) fn bound<E: End>(&self, share: Share) -> Option<T::Key> {
        let (least, greatest) = self.ends?;
        let best = E::pick(least.key(), greatest.key());
        match share {
            Share::All => Some(best),
            Share::Some if self.nan_count != 0 => None,
            Share::Some if best == least.key() => Some(greatest.key()),
            Share::Some => Some(least.key()),
        }
    }
}

/// NaN per cell; no memory until there is one.
#[derive(Debug, Default)]
pub(super) struct NanCounts {
    counts: Vec<u64>,
    pub(super) sum: u64,
}

impl NanCounts {
    pub(super) fn add(&mut self, cell: usize, cell_count: usize, nan_count: u64) {
        if nan_count == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.counts = vec![0; cell_count];
        }
        self.counts[cell] += nan_count;
        self.sum += nan_count;
    }

    pub(super) fn count(&self, cell: usize) -> u64 {
        self.counts.get(cell).copied().unwrap_or(0)
    }

    pub(super) fn merge(&mut self, later: Self) {
        if self.counts.is_empty() {
            *self = later;
            return;
        }
        self.sum += later.sum;
        self.counts.iter_mut().zip(later.counts).for_each(|(to, from)| *to += from);
    }
}

/// The best key of a block of float32 or float64, or `None` when there is a NaN.
///
/// Comparing values is faster than making keys, but takes both zeros for one: where a zero is best,
/// keys decide.
fn best_of_values<T: Ordered + From<f32> + PartialOrd, E: End, const N: usize>(
    block: &[T],
) -> Option<T::Key> {
    let value = best_value::<T, E, N>(block)?;
    if value == T::zeroed() { best_of_lanes::<T, E, N>(block) } else { Some(value.key()) }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn best_value<T: Ordered + From<f32> + PartialOrd, E: End, const N: usize>(
    block: &[T],
) -> Option<T> {
    let mut values = [T::from(E::FAR); N];
    let mut nans = [T::ZERO; N];
    let (rows, tail) = block.as_chunks::<N>();
    for row in rows {
        for i in 0..N {
            values[i] = E::pick_value(row[i], values[i]);
            nans[i] = nans[i] | row[i].nan_mask();
        }
    }
    for (i, &element) in tail.iter().enumerate() {
        values[i] = E::pick_value(element, values[i]);
        nans[i] = nans[i] | element.nan_mask();
    }
    let nan = nans.into_iter().fold(T::ZERO, BitOr::bitor);
    (nan == T::ZERO).then(|| values.into_iter().fold(T::from(E::FAR), E::pick_value))
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn best_of_integers<T: Ordered, E: End>(block: &[T]) -> T::Key {
    let mut best = E::worst::<T>();
    for element in block {
        best = E::pick(best, element.key());
    }
    best
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn best_of_lanes<T: Ordered, E: End, const N: usize>(block: &[T]) -> Option<T::Key> {
    let mut keys = [E::worst::<T>(); N];
    let mut nans = [T::ZERO; N];
    let (rows, tail) = block.as_chunks::<N>();
    for row in rows {
        for i in 0..N {
            keys[i] = E::pick(keys[i], row[i].key());
            nans[i] = nans[i] | row[i].nan_mask();
        }
    }
    for (i, element) in tail.iter().enumerate() {
        keys[i] = E::pick(keys[i], element.key());
        nans[i] = nans[i] | element.nan_mask();
    }
    let nan = nans.into_iter().fold(T::ZERO, BitOr::bitor);
    (nan == T::ZERO).then(|| keys.into_iter().fold(E::worst::<T>(), E::pick))
}

/// The best key of a block without its NaN, and how many those are.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn best_skipping<T: Ordered, E: End>(block: &[T]) -> (T::Key, u64) {
    const N: usize = 16;
    let mut keys = [E::worst::<T>(); N];
    let mut nan_counts = [0_u32; N];
    for row in block.chunks(N) {
        for (i, element) in row.iter().enumerate() {
            let nan = element.nan_mask() != T::ZERO;
            let key = if nan { E::worst::<T>() } else { element.key() };
            keys[i] = E::pick(keys[i], key);
            nan_counts[i] += u32::from(nan);
        }
    }
    let nan_count = nan_counts.into_iter().map(u64::from).sum();
    (keys.into_iter().fold(E::worst::<T>(), E::pick), nan_count)
}

/// How many elements are NaN.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn count_nan<T: Ordered>(elements: &[T]) -> u64 {
    let mut nan_count = 0;
    for block in elements.chunks(BLOCK) {
        let mut block_count = 0_u32;
        for element in block {
            block_count += u32::from(element.nan_mask() != T::ZERO);
        }
        nan_count += u64::from(block_count);
    }
    nan_count
}

/// Picks from a strip, or changes nothing when there is a NaN.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn fold_strip<T: Ordered, E: End>(strip: Strip<'_, T>, keys: &mut [T::Key]) -> bool {
    const N: usize = 16;
    let mut next = [[E::worst::<T>(); N]; SPAN / N];
    let mut nans = [T::ZERO; N];
    for (group, best) in next.iter_mut().enumerate().take(strip.lanes.div_ceil(N)) {
        for row in 0..strip.rows {
            let row = strip.row::<N>(row, group * N, T::zeroed());
            for i in 0..N {
                best[i] = E::pick(best[i], row[i].key());
                nans[i] = nans[i] | row[i].nan_mask();
            }
        }
    }
    let nan = nans.into_iter().fold(T::ZERO, BitOr::bitor);
    if nan == T::ZERO {
        keys.iter_mut().zip(next.as_flattened()).for_each(|(to, from)| *to = E::pick(*to, *from));
    }
    nan == T::ZERO
}

/// Picks from a strip what is not NaN.
fn fold_strip_skipping<T: Ordered, E: End>(strip: Strip<'_, T>, keys: &mut [T::Key]) {
    for (lane, key) in keys.iter_mut().enumerate() {
        for element in strip.column(lane).filter(|element| element.nan_mask() == T::ZERO) {
            *key = E::pick(*key, element.key());
        }
    }
}
