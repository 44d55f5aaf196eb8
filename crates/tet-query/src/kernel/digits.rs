//! Selection by rank over many passes: how often each next digit of a rank occurs, then the few
//! ranks that are left.
//!
//! ```text
//!   pass 1   all ranks, 65,536 counters          |..............|..............|
//!   pass 2   those of the wanted counter         .....|.|.|.|.|.................
//!   last     the ranks themselves                ........123....................
//! ```

use multiversion::multiversion;

use super::extrema::NanCounts;
use super::rank::Numeric;
use super::rank::Ranked;
use super::test::{Test, Tester};
use super::{At, Kernel, Lanes, Setup};
use crate::error::Result;
use crate::value::{Cells, Values};

/// Elements that are looked at together.
const BLOCK: usize = 1024;

/// Digits to count in one pass over the elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Ranks that are counted, in order, apart from each other.
    pub(crate) spans: Vec<Span>,
    /// How many elements they have, when that is known.
    pub(crate) expected: u64,
}

/// Neighboring ranks that share a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The logarithm of how many ranks share a counter.
    pub(crate) shift: u32,
}

impl Span {
    /// How many counters it has.
    pub(crate) const fn counters(self) -> usize {
        ((self.last - self.first) >> self.shift) as usize + 1
    }
}

impl Pass {
    /// How many counters all spans have.
    pub(crate) fn counters(&self) -> usize {
        self.spans.iter().map(|span| span.counters()).sum()
    }

    fn test(&self) -> Test {
        Test::Ranks(self.spans.iter().map(|span| (span.first, span.last)).collect())
    }
}

/// The counters of the spans of [`Setup::digits`], then the least and the greatest rank that was
/// counted (the other way round when none was), for every cell.
///
/// A cell takes [`Kernel::cell_len`] bytes, and as long as that many elements take to merge: a task
/// should fold no fewer.
#[derive(Debug)]
pub(crate) struct Digits<T: Ranked> {
    spans: Vec<Span>,
    counters: usize,
    tester: Tester<T>,
    room: Vec<T>,
    /// Counted since the last time they were added to `counts`.
    recent: Vec<u32>,
    recent_count: u64,
    /// Empty until `recent` could overflow.
    counts: Vec<u64>,
    ends: Vec<(u64, u64)>,
    nans: NanCounts,
    /// Whether nothing but NaN is passed over.
    counts_nan: bool,
}

impl<T: Numeric> Digits<T> {
    /// Makes room for as many more elements.
    fn reserve(&mut self, count: u64) {
        self.recent_count = self.recent_count.saturating_add(count);
        if self.recent_count > u64::from(u32::MAX) {
            self.settle();
            self.recent_count = count;
        }
    }

    fn settle(&mut self) {
        self.counts.resize(self.recent.len(), 0);
        for (count, recent) in self.counts.iter_mut().zip(&mut self.recent) {
            *count += u64::from(std::mem::take(recent));
        }
        self.recent_count = 0;
    }

    fn fold_block(&mut self, cell: usize, block: &[T]) {
        let picked = self.tester.pick(block, &mut self.room);
        if self.counts_nan {
            let nan_count = (block.len() - picked.len()) as u64;
            self.nans.add(cell, self.ends.len(), nan_count);
        }
        if picked.is_empty() {
            return;
        }
        let (least, greatest) = ends_of(picked);
        let ends = &mut self.ends[cell];
        *ends = (ends.0.min(least), ends.1.max(greatest));
        let counters = &mut self.recent[cell * self.counters..][..self.counters];
        match self.spans.as_slice() {
            [span] => count_digits(picked, least, greatest, *span, counters),
            spans => count_digits_of(picked, spans, counters),
        }
    }
}

impl<T: Numeric> Kernel<T> for Digits<T> {
    fn width(setup: &Setup) -> usize {
        setup.digits.counters() + 2
    }

    fn cell_len(setup: &Setup) -> u64 {
        (Self::width(setup) * size_of::<u32>()) as u64
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        let spans = setup.digits.spans.clone();
        let counters = setup.digits.counters();
        let all = matches!(spans[..], [span] if (span.first, span.last) == T::VALUES);
        Self {
            spans,
            counters,
            tester: Tester::new(&setup.digits.test()),
            room: vec![T::zeroed(); BLOCK],
            recent: vec![0; cell_count * counters],
            recent_count: 0,
            counts: Vec::new(),
            ends: vec![(u64::MAX, 0); cell_count],
            nans: NanCounts::default(),
            counts_nan: all && T::DTYPE.is_float(),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.reserve(elements.len() as u64);
        elements.chunks(BLOCK).for_each(|block| self.fold_block(at.cell, block));
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.reserve((lanes.count * lanes.rows) as u64);
        for row in lanes.rows(elements) {
            for (lane, element) in row.iter().enumerate() {
                self.fold_block(at.cell + lane, std::slice::from_ref(element));
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.reserve(later.recent_count);
        let counters = self.counters;
        let (to, from_all) = (cell * counters, from * counters);
        let recent = &mut self.recent[to..to + counters];
        recent.iter_mut().zip(&later.recent[from_all..]).for_each(|(to, from)| *to += from);
        if !later.counts.is_empty() {
            self.settle();
            let counts = &mut self.counts[to..to + counters];
            counts.iter_mut().zip(&later.counts[from_all..]).for_each(|(to, from)| *to += from);
        }
        let (least, greatest) = later.ends[from];
        self.ends[cell] = (self.ends[cell].0.min(least), self.ends[cell].1.max(greatest));
        self.nans.add(cell, self.ends.len(), later.nans.count(from));
    }

    fn merge(&mut self, later: Self) {
        self.reserve(later.recent_count);
        self.recent.iter_mut().zip(&later.recent).for_each(|(to, from)| *to += from);
        if !later.counts.is_empty() {
            self.settle();
            self.counts.iter_mut().zip(&later.counts).for_each(|(to, from)| *to += from);
        }
        for (to, from) in self.ends.iter_mut().zip(&later.ends) {
            *to = (to.0.min(from.0), to.1.max(from.1));
        }
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        self.counts_nan.then_some(self.nans.sum)
    }

    fn finish(mut self) -> Result<Values> {
        self.settle();
        let mut values = Vec::with_capacity(self.counts.len() + 2 * self.ends.len());
        for (cell, (least, greatest)) in self.ends.iter().enumerate() {
            values.extend_from_slice(&self.counts[cell * self.counters..][..self.counters]);
            values.extend([*least, *greatest]);
        }
        Ok(Values::new(Cells::Count(values)))
    }
}

/// The least and the greatest rank of some elements.
#[multiversion(targets("x86_64+avx+avx2"))]
fn ends_of<T: Ranked>(elements: &[T]) -> (u64, u64) {
    let (mut least, mut greatest) = (T::GREATEST, T::LEAST);
    for element in elements {
        least = least.min(element.key());
        greatest = greatest.max(element.key());
    }
    (T::from_key(least).rank(), T::from_key(greatest).rank())
}

/// Counts elements that lie in one span, from the least rank to the greatest.
fn count_digits<T: Ranked>(
    elements: &[T],
    least: u64,
    greatest: u64,
    span: Span,
    counters: &mut [u32],
) {
    let digit = |rank: u64| ((rank - span.first) >> span.shift) as usize;
    if digit(least) == digit(greatest) {
        counters[digit(least)] += elements.len() as u32;
        return;
    }
    for element in elements {
        let digit = (element.rank().wrapping_sub(span.first) >> span.shift) as usize;
        counters[digit] += 1;
    }
}

/// Counts elements, each in one of some spans.
fn count_digits_of<T: Ranked>(elements: &[T], spans: &[Span], counters: &mut [u32]) {
    let mut bases = Vec::with_capacity(spans.len());
    let mut base = 0;
    for span in spans {
        bases.push(base);
        base += span.counters();
    }
    for element in elements {
        let rank = element.rank();
        let nth = spans.partition_point(|span| span.last < rank);
        counters[bases[nth] + ((rank - spans[nth].first) >> spans[nth].shift) as usize] += 1;
    }
}

/// The ranks that lie in the spans of [`Setup::digits`], in any order; as many for every cell as
/// are expected.
#[derive(Debug)]
pub(crate) struct Candidates<T: Ranked> {
    expected: usize,
    tester: Tester<T>,
    room: Vec<T>,
    ranks: Vec<Vec<u64>>,
}

impl<T: Numeric> Kernel<T> for Candidates<T> {
    fn width(setup: &Setup) -> usize {
        usize::try_from(setup.digits.expected).unwrap_or(usize::MAX)
    }

    fn cell_len(setup: &Setup) -> u64 {
        setup.digits.expected.saturating_mul(size_of::<u64>() as u64)
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            expected: Self::width(setup),
            tester: Tester::new(&setup.digits.test()),
            room: vec![T::zeroed(); BLOCK],
            ranks: vec![Vec::new(); cell_count],
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let picked = self.tester.sift(block, &mut self.room);
            let ranks = self.room[..picked].iter().map(|element| element.rank());
            self.ranks[at.cell].extend(ranks);
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for row in lanes.rows(elements) {
            for (lane, &element) in row.iter().enumerate() {
                if self.tester.passes(element) {
                    self.ranks[at.cell + lane].push(element.rank());
                }
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.ranks[cell].extend_from_slice(&later.ranks[from]);
    }

    fn merge(&mut self, later: Self) {
        self.ranks.iter_mut().zip(later.ranks).for_each(|(to, from)| to.extend(from));
    }

    fn finish(self) -> Result<Values> {
        let mut values = Vec::with_capacity(self.ranks.len() * self.expected);
        for mut ranks in self.ranks {
            // Another number than was counted before: the elements have changed in between, which
            // the reader of the ranks sees by what does not belong there.
            ranks.resize(self.expected, u64::MAX);
            values.extend(ranks);
        }
        Ok(Values::new(Cells::Count(values)))
    }
}
