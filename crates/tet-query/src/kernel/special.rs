//! NaN and infinities, counted apart from the finite sums, cell by cell.
//!
//! Sums add finite elements only. What was not finite is written down here and decides the result
//! at the end as plain IEEE addition would, so no NaN can come out of a compensation.

use multiversion::multiversion;

use super::strip::SPAN;
use crate::op::NanPolicy;

const POSITIVE: u32 = 1;
const NEGATIVE: u32 = 2;

/// A float that may not be finite.
pub(super) trait Float: Copy {
    const ZERO: Self;
    /// Whether it is NaN, and which infinity it is (0 for none).
    fn look(self) -> (bool, u32);
}

macro_rules! float {
    ($($type:ty),+) => {$(
        impl Float for $type {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn look(self) -> (bool, u32) {
                let positive = if self == <$type>::INFINITY { POSITIVE } else { 0 };
                let negative = if self == <$type>::NEG_INFINITY { NEGATIVE } else { 0 };
                (self.is_nan(), positive | negative)
            }
        }
    )+};
}

float!(f32, f64);

/// Counts of the NaN and the signs of the infinities of one cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NonFinite {
    nan_count: u64,
    infinite: u32,
}

/// A filter for non-finite elements on their way into a sum.
pub(super) trait Sieve {
    /// The row, whose first element belongs to `lane`, as it may be added.
    fn pass<F: Float, const N: usize>(&mut self, lane: usize, row: [F; N]) -> [F; N];
}

/// Lets all pass: the elements were finite if the sum is.
pub(super) struct Open;

impl Sieve for Open {
    #[inline(always)]
    fn pass<F: Float, const N: usize>(&mut self, _lane: usize, row: [F; N]) -> [F; N] {
        row
    }
}

impl NonFinite {
    /// Adds what was seen in more elements.
    pub(super) fn add(&mut self, nan_count: u64, infinite: u32) {
        self.nan_count += nan_count;
        self.infinite |= infinite;
    }

    /// The elements with zeros for what is not finite, which is noted; there is `room` for them.
    pub(super) fn sift<'a, F: Float>(&mut self, elements: &[F], room: &'a mut [F]) -> &'a [F] {
        sift(self, elements, &mut room[..elements.len()]);
        &room[..elements.len()]
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn sift<F: Float>(noted: &mut NonFinite, elements: &[F], room: &mut [F]) {
    let mut nan_count = 0;
    let mut found = 0;
    for (to, &value) in room.iter_mut().zip(elements) {
        let (nan, infinite) = value.look();
        nan_count += u32::from(nan);
        found |= infinite;
        *to = if nan || infinite != 0 { F::ZERO } else { value };
    }
    noted.nan_count += u64::from(nan_count);
    noted.infinite |= found;
}

/// Counts of NaN and signs of infinities, lane by lane of a strip.
#[derive(Debug)]
pub(super) struct LaneNonFinite {
    nan_counts: [u32; SPAN],
    infinite: [u32; SPAN],
}

impl LaneNonFinite {
    pub(super) const fn new() -> Self {
        Self { nan_counts: [0; SPAN], infinite: [0; SPAN] }
    }

    fn lane(&self, lane: usize) -> NonFinite {
        NonFinite { nan_count: u64::from(self.nan_counts[lane]), infinite: self.infinite[lane] }
    }
}

impl Sieve for LaneNonFinite {
    /// The row with zeros for what is not finite, which is noted lane by lane.
    #[inline(always)]
    fn pass<F: Float, const N: usize>(&mut self, lane: usize, mut row: [F; N]) -> [F; N] {
        let nan_counts = &mut self.nan_counts[lane..lane + N];
        let infinities = &mut self.infinite[lane..lane + N];
        for i in 0..N {
            let (nan, infinite) = row[i].look();
            nan_counts[i] += u32::from(nan);
            infinities[i] |= infinite;
            row[i] = if nan || infinite != 0 { F::ZERO } else { row[i] };
        }
        row
    }
}

/// Counts of NaN and signs of infinities, cell by cell; allocated on the first.
#[derive(Debug)]
pub(super) struct Specials {
    cell_count: usize,
    nan: NanPolicy,
    nan_counts: Vec<u64>,
    infinite: Vec<u32>,
    nan_count: u64,
}

impl Specials {
    pub(super) const fn new(cell_count: usize, nan: NanPolicy) -> Self {
        Self { cell_count, nan, nan_counts: Vec::new(), infinite: Vec::new(), nan_count: 0 }
    }

    /// Whether nothing was found in any cell.
    pub(super) const fn is_empty(&self) -> bool {
        self.nan_counts.is_empty()
    }

    /// Writes down what was found in one cell.
    pub(super) fn note(&mut self, cell: usize, found: NonFinite) {
        if found.nan_count == 0 && found.infinite == 0 {
            return;
        }
        if self.nan_counts.is_empty() {
            self.nan_counts = vec![0; self.cell_count];
            self.infinite = vec![0; self.cell_count];
        }
        self.nan_counts[cell] += found.nan_count;
        self.infinite[cell] |= found.infinite;
        self.nan_count += found.nan_count;
    }

    /// Writes down what was found in neighboring cells.
    pub(super) fn note_lanes(&mut self, first_cell: usize, lanes: usize, found: &LaneNonFinite) {
        (0..lanes).for_each(|lane| self.note(first_cell + lane, found.lane(lane)));
    }

    /// Adds what a cell of a later part found.
    pub(super) fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.take_lanes(cell, later, from, 1);
    }

    /// Adds what neighboring cells of a later part found.
    pub(super) fn take_lanes(&mut self, cell: usize, later: &Self, from: usize, count: usize) {
        if later.is_empty() {
            return;
        }
        for nth in 0..count {
            let (nan_count, infinite) = (later.nan_counts[from + nth], later.infinite[from + nth]);
            self.note(cell + nth, NonFinite { nan_count, infinite });
        }
    }

    /// Adds what a later part found.
    pub(super) fn merge(&mut self, later: Self) {
        if self.nan_counts.is_empty() {
            *self = later;
            return;
        }
        self.nan_count += later.nan_count;
        self.nan_counts.iter_mut().zip(later.nan_counts).for_each(|(to, from)| *to += from);
        self.infinite.iter_mut().zip(later.infinite).for_each(|(to, from)| *to |= from);
    }

    /// All NaN of all cells.
    pub(super) const fn nan_count(&self) -> u64 {
        self.nan_count
    }

    /// The NaN of one cell.
    pub(super) fn nan_count_of(&self, cell: usize) -> u64 {
        self.nan_counts.get(cell).copied().unwrap_or(0)
    }

    /// Whether a NaN decides about a cell.
    pub(super) fn spoils(&self, cell: usize) -> bool {
        self.nan == NanPolicy::Propagate && self.nan_count_of(cell) > 0
    }

    /// Whether a cell met an infinity.
    pub(super) fn has_infinity(&self, cell: usize) -> bool {
        self.infinite.get(cell).is_some_and(|&infinite| infinite != 0)
    }

    /// The sum of a cell, from the sum of its finite elements.
    pub(super) fn resolve(&self, cell: usize, finite: f64) -> f64 {
        if self.nan_counts.is_empty() {
            return finite;
        }
        let spoiled = self.nan_counts[cell] > 0 && self.nan == NanPolicy::Propagate;
        match self.infinite[cell] {
            _ if spoiled => f64::NAN,
            0 => finite,
            POSITIVE => f64::INFINITY,
            NEGATIVE => f64::NEG_INFINITY,
            _ => f64::NAN,
        }
    }
}
