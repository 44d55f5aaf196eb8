//! A kernel whose types are forgotten, so that what drives it is compiled once, and the filter that
//! may stand before it.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::extrema::Ordered;
use super::rank::{Numeric, Ranked};
use super::test::Tester;
use super::{At, Kernel, Known, KnownChunk, Lanes, Runs, Scatter, Setup, Share, Verdict};
use crate::error::Result;
use crate::reduction::Number;
use crate::value::Values;

/// Elements that a filter looks at together.
const BLOCK: usize = 1024;
/// Rows of lanes that a filter turns into columns.
const COLUMN: usize = 64;
/// Fewer rows than this are folded element by element.
const COLUMN_MIN: usize = 16;

/// The states of some cells, of whatever kernel and element type.
pub(crate) trait KernelState: Send {
    /// As [`Kernel::fold_runs`]; the bytes are aligned for the elements.
    fn fold_runs(&mut self, at: At, runs: Runs, bytes: &[u8]);
    /// As [`Kernel::fold_lanes`]; the bytes are aligned for the elements.
    fn fold_lanes(&mut self, at: At, lanes: Lanes, bytes: &[u8]);
    /// As [`Kernel::fold_scattered`]; the bytes are aligned for the elements.
    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, bytes: &[u8]);
    /// Folds copies of a number into one cell, without the filter.
    fn fold_copies(&mut self, cell: usize, number: Number, count: u64);
    /// As [`Kernel::fold_known`], for what passes the filter.
    fn fold_known(&mut self, cell: usize, chunk: &KnownChunk) -> Verdict;
    /// As [`Kernel::note_bound`], if all elements pass the filter.
    fn note_bound(&mut self, cell: usize, chunk: &KnownChunk, share: Share);
    /// As [`Kernel::can_skip`], for whatever passes the filter.
    fn can_skip(&self, cell: usize, chunk: &KnownChunk) -> bool;
    /// As [`Kernel::take_lanes`]; `later` comes from the same maker.
    fn take(&mut self, cell: usize, later: &dyn KernelState, from: usize, count: usize);
    /// As [`Kernel::merge`]; `later` comes from the same maker.
    fn merge(&mut self, later: Box<dyn KernelState>);
    /// As [`Kernel::nan_count`].
    fn nan_count(&self) -> Option<u64>;
    /// As [`Kernel::finish`].
    fn finish(self: Box<Self>) -> Result<Values>;
    /// The state, to find its type again.
    fn as_any(&self) -> &dyn Any;
    /// Converts the boxed state, to find its type again.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Makes the states of one reduction.
#[derive(Clone)]
pub(crate) struct Maker {
    make: fn(usize, &Setup, Option<&super::Test>) -> Box<dyn KernelState>,
    setup: Arc<Setup>,
    filter: Option<Arc<super::Test>>,
    /// Whether positions along the folded axes matter.
    pub(crate) indexed: bool,
    /// Whether a state holds on to all elements.
    pub(crate) keeps: bool,
    /// Whether statistics may tell what elements do.
    pub(crate) knows: bool,
    /// Whether statistics may tell that chunks are outdone by others.
    pub(crate) can_skip: bool,
    /// Values to a cell.
    pub(crate) width: usize,
    /// Bytes of the state of one cell, about.
    pub(crate) cell_len: u64,
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker").field("setup", &self.setup).finish_non_exhaustive()
    }
}

impl Maker {
    /// The maker of a kernel's states; only elements that pass `filter` reach it.
    pub(super) fn for_kernel<T: Numeric, K: Kernel<T>>(
        setup: Setup,
        filter: Option<super::Test>,
    ) -> Maker {
        Maker {
            make: |cell_count, setup, filter| {
                let kernel = K::new(cell_count, setup);
                let filter = filter.map(|test| Sifter {
                    tester: Tester::new(test),
                    indexed: K::INDEXED,
                    room: vec![T::zeroed(); BLOCK],
                });
                Box::new(Of::<T, K> { kernel, filter, elements: PhantomData })
            },
            indexed: K::INDEXED,
            keeps: K::KEEPS,
            knows: K::KNOWS || filter.is_some(),
            can_skip: K::CAN_SKIP,
            width: K::width(&setup),
            cell_len: K::cell_len(&setup),
            setup: Arc::new(setup),
            filter: filter.map(Arc::new),
        }
    }

    /// Whether elements pass a filter first.
    pub(crate) fn filters(&self) -> bool {
        self.filter.is_some()
    }

    /// States of nothing, one per cell.
    pub(crate) fn make(&self, cell_count: usize) -> Box<dyn KernelState> {
        (self.make)(cell_count, &self.setup, self.filter.as_deref())
    }
}

/// A kernel and the filter before it.
struct Of<T: Ranked, K> {
    kernel: K,
    filter: Option<Sifter<T>>,
    elements: PhantomData<fn(T)>,
}

impl<T: Numeric, K: Kernel<T>> KernelState for Of<T, K> {
    fn fold_runs(&mut self, at: At, runs: Runs, bytes: &[u8]) {
        let elements = elements(bytes);
        match &mut self.filter {
            None => self.kernel.fold_runs(at, runs, elements),
            Some(sifter) => sifter.fold_runs(&mut self.kernel, at, runs, elements),
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, bytes: &[u8]) {
        let elements = elements(bytes);
        match &mut self.filter {
            None => self.kernel.fold_lanes(at, lanes, elements),
            Some(sifter) => sifter.fold_lanes(&mut self.kernel, at, lanes, elements),
        }
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, bytes: &[u8]) {
        let elements: &[T] = elements(bytes);
        let Some(sifter) = &self.filter else {
            return self.kernel.fold_scattered(at, scatter, elements);
        };
        for (at, element) in scatter.targets(at) {
            if sifter.tester.passes(elements[element]) {
                self.kernel.fold_run(at, &elements[element..=element]);
            }
        }
    }

    fn fold_copies(&mut self, cell: usize, number: Number, count: u64) {
        let copies = [T::from_number(number); COLUMN];
        let mut left = count;
        while left > 0 {
            let some = usize::try_from(left).unwrap_or(COLUMN).min(COLUMN);
            self.kernel.fold_pads(cell, &copies[..some]);
            left -= some as u64;
        }
    }

    fn fold_known(&mut self, cell: usize, chunk: &KnownChunk) -> Verdict {
        let Some(known) = Known::new(chunk) else { return Verdict::Read };
        let passing = self.filter.as_ref().map(|sifter| sifter.tester.passing(&known));
        match passing {
            Some(Some(0)) => Verdict::Skip,
            Some(passed) if passed != Some(known.count) => Verdict::Read,
            _ => self.kernel.fold_known(cell, &known),
        }
    }

    fn note_bound(&mut self, cell: usize, chunk: &KnownChunk, share: Share) {
        let Some(known) = Known::new(chunk) else { return };
        let all_pass = |sifter: &Sifter<T>| sifter.tester.passing(&known) == Some(known.count);
        if self.filter.as_ref().is_none_or(all_pass) {
            self.kernel.note_bound(cell, &known, share);
        }
    }

    fn can_skip(&self, cell: usize, chunk: &KnownChunk) -> bool {
        Known::new(chunk).is_some_and(|known| self.kernel.can_skip(cell, &known))
    }

    fn take(&mut self, cell: usize, later: &dyn KernelState, from: usize, count: usize) {
        let later = later.as_any().downcast_ref::<Self>().expect("one maker made both");
        self.kernel.take_lanes(cell, &later.kernel, from, count);
    }

    fn merge(&mut self, later: Box<dyn KernelState>) {
        let later = later.into_any().downcast::<Self>().expect("one maker made both");
        self.kernel.merge(later.kernel);
    }

    fn nan_count(&self) -> Option<u64> {
        self.kernel.nan_count()
    }

    fn finish(self: Box<Self>) -> Result<Values> {
        self.kernel.finish()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn elements<T: Ordered>(bytes: &[u8]) -> &[T] {
    bytemuck::try_cast_slice(bytes).expect("the fetcher aligns what it brings")
}

/// Lets the elements through that pass a test.
struct Sifter<T: Ranked> {
    tester: Tester<T>,
    /// Whether positions along the folded axes matter.
    indexed: bool,
    room: Vec<T>,
}

/// Folding that is the same code for the filters of all kernels.
trait Fold<T> {
    /// As [`Kernel::fold_run`].
    fn fold_run(&mut self, at: At, elements: &[T]);
    /// As [`Kernel::fold_lanes`].
    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]);
    /// As [`Kernel::fold_scattered`].
    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]);
}

impl<T: Numeric, K: Kernel<T>> Fold<T> for K {
    fn fold_run(&mut self, at: At, elements: &[T]) {
        Kernel::fold_run(self, at, elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        Kernel::fold_lanes(self, at, lanes, elements);
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]) {
        Kernel::fold_scattered(self, at, scatter, elements);
    }
}

impl<T: Numeric> Sifter<T> {
    fn fold_runs(&mut self, kernel: &mut dyn Fold<T>, at: At, runs: Runs, elements: &[T]) {
        for nth in 0..runs.count {
            let at = runs.at(at, nth);
            self.fold_run(kernel, at, &elements[nth * runs.distance..][..runs.len]);
        }
    }

    fn fold_run(&mut self, kernel: &mut dyn Fold<T>, at: At, elements: &[T]) {
        if self.indexed {
            return self.fold_stretches(kernel, at, elements);
        }
        for block in elements.chunks(BLOCK) {
            let passed = self.tester.sift(block, &mut self.room);
            if passed > 0 {
                kernel.fold_run(at, &self.room[..passed]);
            }
        }
    }

    /// Folds whole stretches, so that positions count on.
    fn fold_stretches(&self, kernel: &mut dyn Fold<T>, at: At, elements: &[T]) {
        let mut start = 0;
        for stretch in elements.chunk_by(|&a, &b| self.tester.passes(a) == self.tester.passes(b)) {
            if self.tester.passes(stretch[0]) {
                kernel.fold_run(At { index: at.index + start, ..at }, stretch);
            }
            start += stretch.len() as u64;
        }
    }

    fn fold_lanes(&mut self, kernel: &mut dyn Fold<T>, at: At, lanes: Lanes, elements: &[T]) {
        if lanes.rows < COLUMN_MIN {
            for (row, elements) in (0..).zip(lanes.rows(elements)) {
                let index = at.index + row * lanes.index;
                self.fold_row(kernel, At { index, ..at }, elements);
            }
        } else {
            self.fold_columns(kernel, at, lanes, elements);
        }
    }

    /// Folds what is left of a row, each element into its own cell.
    fn fold_row(&mut self, kernel: &mut dyn Fold<T>, at: At, elements: &[T]) {
        let mut cells = [0; BLOCK];
        for (block, first) in elements.chunks(BLOCK).zip((at.cell..).step_by(BLOCK)) {
            let at = At { cell: first, ..at };
            let wanted = self.tester.count(block);
            if wanted == block.len() as u64 {
                let lanes = Lanes { count: block.len(), rows: 1, distance: 0, index: 0 };
                kernel.fold_lanes(at, lanes, block);
            } else if wanted > 0 {
                let mut passed = 0;
                for (cell, &element) in (0..).zip(block) {
                    (cells[passed], self.room[passed]) = (cell, element);
                    passed += usize::from(self.tester.passes(element));
                }
                let scatter = Scatter { cells: &cells[..passed], stride: 1, distance: 1, index: 0 };
                kernel.fold_scattered(at, scatter, &self.room[..passed]);
            }
        }
    }

    /// Turns lanes into columns: what is left of one is a run.
    fn fold_columns(&mut self, kernel: &mut dyn Fold<T>, at: At, lanes: Lanes, elements: &[T]) {
        let column = if self.indexed { 1 } else { COLUMN };
        for first in (0..lanes.rows).step_by(column) {
            let rows = first..lanes.rows.min(first + column);
            let index = at.index + first as u64 * lanes.index;
            for lane in 0..lanes.count {
                let mut passed = 0;
                for row in rows.clone() {
                    let element = elements[row * lanes.distance + lane];
                    self.room[passed] = element;
                    passed += usize::from(self.tester.passes(element));
                }
                if passed > 0 {
                    let at = At { cell: at.cell + lane, index };
                    kernel.fold_run(at, &self.room[..passed]);
                }
            }
        }
    }
}
