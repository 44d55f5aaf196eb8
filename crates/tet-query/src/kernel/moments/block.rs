//! Count, mean and squared distances of a block of one cell.

use multiversion::multiversion;

use super::distance::Distant;
use super::part::Part;
use crate::element::LANES;
use crate::kernel::special::{Float, Found};
use crate::kernel::sum::add_lanes;

/// Elements measured from one pivot.
pub(super) const BLOCK: usize = 1024;
/// A block whose squares are mostly those of the pivot's distance from the mean is measured again.
const CANCELED_MAX: f64 = 15.0 / 16.0;

/// Measures a block; `None` when something in it is not finite, or its squares are not.
pub(super) fn measure<V: Distant>(block: &[V]) -> Option<Part<1>> {
    let (&first, &last) = (block.first()?, block.last()?);
    let count = block.len() as f64;
    let mut pivot = first.between(last);
    let mut sums = Sums::of(block, pivot);
    if sums.cancel(count) {
        pivot = V::moved(pivot, sums.distance / count);
        sums = Sums::of(block, pivot);
    }
    let (high, low) = V::mean(pivot, sums.distance / count);
    sums.square.is_finite().then(|| sums.part(count, high, low))
}

/// Measures what is finite in a block and notes what is not.
#[cold]
pub(super) fn measure_known<V>(block: &[V], found: &mut Found) -> Part<1>
where
    V: Float + Distant<Pivot = f64> + Into<f64>,
{
    let mut room = [0.0; BLOCK];
    let room = &mut room[..block.len()];
    let odd_count = stand_in(block, 0.0, room, found);
    let count = (block.len() - odd_count) as f64;
    let mut known = block.iter().filter(|value| value.is_known());
    let Some(&first) = known.next() else { return Part::EMPTY };
    let last = known.next_back().copied().unwrap_or(first);
    // The pivot stands in for what is not finite: no distance from itself.
    let mut pivot = first.between(last);
    stand_in(block, pivot, room, &mut Found::default());
    let mut sums = Sums::of(room, pivot);
    if sums.cancel(count) {
        pivot += sums.distance / count;
        stand_in(block, pivot, room, &mut Found::default());
        sums = Sums::of(room, pivot);
    }
    let (high, low) = V::mean(pivot, sums.distance / count);
    sums.part(count, high, low)
}

/// Copies a block with `value` for what is not finite, which is noted; gives how many those are.
#[multiversion(targets("x86_64+avx+avx2"))]
fn stand_in<V: Float + Into<f64>>(
    block: &[V],
    value: f64,
    room: &mut [f64],
    found: &mut Found,
) -> usize {
    let (mut nan_count, mut odd_count, mut infinite) = (0_u32, 0_u32, 0);
    for (to, &from) in room.iter_mut().zip(block) {
        let (nan, infinity) = from.look();
        let odd = nan || infinity != 0;
        nan_count += u32::from(nan);
        odd_count += u32::from(odd);
        infinite |= infinity;
        *to = if odd { value } else { from.into() };
    }
    found.add(u64::from(nan_count), infinite);
    odd_count as usize
}

/// Sums over a block of distances from a pivot.
#[derive(Clone, Copy, Debug)]
struct Sums {
    distance: f64,
    square: f64,
}

impl Sums {
    #[inline]
    fn of<V: Distant>(block: &[V], pivot: V::Pivot) -> Self {
        let mut distances = [0.0; LANES];
        let mut squares = [0.0; LANES];
        let (rows, tail) = block.as_chunks::<LANES>();
        if !rows.is_empty() {
            add_rows(&mut distances, &mut squares, rows, pivot);
        }
        for (i, value) in tail.iter().enumerate() {
            let distance = value.minus(pivot);
            distances[i] += distance;
            squares[i] += distance * distance;
        }
        Self { distance: add_lanes(distances), square: add_lanes(squares) }
    }

    /// What of the squares belongs to the distance between pivot and mean.
    fn excess(self, count: f64) -> f64 {
        self.distance * (self.distance / count)
    }

    fn cancel(self, count: f64) -> bool {
        self.square.is_finite() && self.excess(count) > self.square * CANCELED_MAX
    }

    fn part(self, count: f64, high: f64, low: f64) -> Part<1> {
        let m2 = self.square - self.excess(count);
        // Past the largest float, and no NaN.
        let m2 = if self.square < f64::INFINITY { m2.max(0.0) } else { f64::INFINITY };
        Part { counts: [count], highs: [high], lows: [low], m2s: [m2] }
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<V: Distant>(
    distances: &mut [f64; LANES],
    squares: &mut [f64; LANES],
    rows: &[[V; LANES]],
    pivot: V::Pivot,
) {
    let (mut distance_lanes, mut square_lanes) = (*distances, *squares);
    for row in rows {
        for i in 0..LANES {
            let distance = row[i].minus(pivot);
            distance_lanes[i] += distance;
            square_lanes[i] += distance * distance;
        }
    }
    (*distances, *squares) = (distance_lanes, square_lanes);
}
