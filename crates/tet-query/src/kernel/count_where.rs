//! Counts of elements that pass a test.

use multiversion::multiversion;

use super::rank::Numeric;
use super::rank::{Ranked, Word};
use super::strip::{SPAN, Strip};
use super::test::{Test, Tester};
use super::{At, Kernel, Known, Lanes, Setup, Verdict};
use crate::error::Result;
use crate::value::{Cells, Values};

/// Lanes that are tested together.
const GROUP: usize = 16;

/// Result that is made of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tally {
    /// The count.
    #[default]
    Count,
    /// Whether there is any.
    Any,
    /// Whether there is none.
    None,
}

/// How many elements of every cell pass [`Setup::test`] and [`Setup::within`].
#[derive(Debug)]
pub(crate) struct CountWhere<T: Ranked> {
    counts: Vec<u64>,
    tester: Tester<T>,
    /// The test of pads.
    pads: Option<Tester<T>>,
    tally: Tally,
    counts_nan: bool,
}

impl<T: Numeric> Kernel<T> for CountWhere<T> {
    const KNOWS: bool = true;

    fn cell_len(_setup: &Setup) -> u64 {
        size_of::<u64>() as u64
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        let test = match (&setup.test, &setup.within) {
            (Some(test), Some(within)) => {
                Test::Both(Box::new(test.clone()), Box::new(within.clone()))
            }
            (Some(test), None) | (None, Some(test)) => test.clone(),
            (None, None) => Test::Ranks(vec![(0, u64::MAX >> (64 - T::Word::BITS))]),
        };
        Self {
            counts: vec![0; cell_count],
            tester: Tester::new(&test),
            pads: setup.test.as_ref().map(Tester::new),
            tally: setup.tally,
            counts_nan: test == Test::Nan && T::DTYPE.is_float(),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.counts[at.cell] += self.tester.count(elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            fold_strip(strip, &self.tester, &mut self.counts[cell..cell + strip.lanes]);
        }
    }

    fn fold_pads(&mut self, cell: usize, pads: &[T]) {
        let count = self.pads.as_ref().map_or(pads.len() as u64, |test| test.count(pads));
        self.counts[cell] += count;
    }

    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        match self.tester.passing(known) {
            None => Verdict::Read,
            Some(0) => Verdict::Skip,
            Some(passed) => {
                self.counts[cell] += passed;
                Verdict::Folded
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.counts[cell] += later.counts[from];
    }

    fn merge(&mut self, later: Self) {
        self.counts.iter_mut().zip(later.counts).for_each(|(to, from)| *to += from);
    }

    fn nan_count(&self) -> Option<u64> {
        self.counts_nan.then(|| self.counts.iter().sum())
    }

    fn finish(self) -> Result<Values> {
        let truths = |is: fn(&u64) -> bool| Cells::Truth(self.counts.iter().map(is).collect());
        Ok(Values::new(match self.tally {
            Tally::Any => truths(|&count| count > 0),
            Tally::None => truths(|&count| count == 0),
            Tally::Count => Cells::Count(self.counts),
        }))
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Numeric>(strip: Strip<'_, T>, tester: &Tester<T>, counts: &mut [u64]) {
    let mut passed = [[T::Word::default(); GROUP]; SPAN / GROUP];
    for (group, passed) in passed.iter_mut().enumerate().take(strip.lanes.div_ceil(GROUP)) {
        for row in 0..strip.rows {
            let flags = tester.flags(&strip.row::<GROUP>(row, group * GROUP, T::zeroed()));
            for i in 0..GROUP {
                passed[i] = passed[i].plus(flags[i]);
            }
        }
    }
    for (count, passed) in counts.iter_mut().zip(passed.as_flattened()) {
        *count += u64::from(passed.small());
    }
}
