//! The positions of one axis that a selection takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Axis, AxisSlice};
use crate::labels::Turned;

/// The positions of one axis that a selection takes.
///
/// # Examples
///
/// ```
/// use tet_query::{AxisPositions, NoLabels, Selection};
///
/// let rows = Selection::parse("[0, 1, 4]")?.positions(&[9], &[], &NoLabels)?;
/// assert!(matches!(&rows[..], [AxisPositions::Each { positions, .. }] if **positions == [0, 1, 4]));
/// # Ok::<(), tet_query::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisPositions {
    /// Positions at equal distances, upwards.
    Slice(AxisSlice),
    /// Positions in any order, also several times.
    Each {
        /// The positions.
        positions: Arc<[u64]>,
        /// For each the full turns to add to its label, a longitude in degrees; none at all where all labels stay
        /// what they are.
        turns: Arc<[i64]>,
    },
}

impl From<AxisSlice> for AxisPositions {
    fn from(slice: AxisSlice) -> Self {
        AxisPositions::Slice(slice)
    }
}

impl AxisPositions {
    /// These positions, their labels turned by as much; without turns a slice where they are one.
    pub(super) fn each(positions: Vec<u64>, turns: Vec<i64>) -> AxisPositions {
        match even(&positions).filter(|_| turns.iter().all(|turns| *turns == 0)) {
            Some(slice) => AxisPositions::Slice(slice),
            None => AxisPositions::Each { positions: positions.into(), turns: turns.into() },
        }
    }

    /// Every `step`-th of the positions of runs, one behind the other.
    pub(super) fn of_runs(runs: &[Turned], step: u64) -> AxisPositions {
        let bound = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
        if let [Turned { turns: 0, positions }] = runs {
            let (start, stop) = (bound(positions.start), bound(positions.end));
            return AxisSlice { start, stop, step, axis: Axis::Kept }.into();
        }
        let all =
            runs.iter().flat_map(|run| run.positions.clone().map(|at| (bound(at), run.turns)));
        let step = usize::try_from(step).unwrap_or(usize::MAX).max(1);
        let (positions, turns) = all.step_by(step).unzip();
        AxisPositions::each(positions, turns)
    }

    /// Those that are among others, in the order that they have here.
    pub(super) fn among(&self, others: &AxisPositions) -> AxisPositions {
        let others: BTreeSet<u64> = others.iter().collect();
        let turns = match self {
            AxisPositions::Each { turns, .. } => &turns[..],
            AxisPositions::Slice(_) => &[],
        };
        let kept = self.iter().enumerate().filter(|(_, at)| others.contains(at));
        let (positions, kept_turns): (Vec<u64>, Vec<i64>) =
            kept.map(|(nth, at)| (at, turns.get(nth).copied().unwrap_or(0))).unzip();
        AxisPositions::each(positions, kept_turns)
    }

    /// The positions, one after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        let (slice, each) = match self {
            AxisPositions::Slice(slice) => (Some(*slice), &[][..]),
            AxisPositions::Each { positions, .. } => (None, &positions[..]),
        };
        let of_slice = slice.into_iter().flat_map(|slice| {
            (0..slice.count()).map(move |nth| slice.start.saturating_add(nth * slice.step))
        });
        of_slice.chain(each.iter().copied())
    }

    /// The positions as a slice, whatever their labels become; `None` where they are at no equal distances.
    #[must_use]
    pub fn slice(&self) -> Option<AxisSlice> {
        match self {
            AxisPositions::Slice(slice) => Some(*slice),
            AxisPositions::Each { positions, .. } => even(positions),
        }
    }

    /// All positions from the first to the last in the file.
    #[must_use]
    pub fn around(&self) -> AxisSlice {
        match self {
            AxisPositions::Slice(slice) => *slice,
            AxisPositions::Each { positions, .. } => {
                let (first, last) = (positions.iter().min(), positions.iter().max());
                let (start, stop) = (first.copied().unwrap_or(0), last.map_or(0, |last| last + 1));
                AxisSlice { start, stop, step: 1, axis: Axis::Kept }
            }
        }
    }

    /// How many positions there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            AxisPositions::Slice(slice) => usize::try_from(slice.count()).unwrap_or(usize::MAX),
            AxisPositions::Each { positions, .. } => positions.len(),
        }
    }
}

/// Positions as a slice, if they are at equal distances, upwards.
fn even(positions: &[u64]) -> Option<AxisSlice> {
    let (start, stop) = match positions {
        [] => (0, 0),
        [first, .., last] => (*first, last.checked_add(1)?),
        [one] => (*one, one.checked_add(1)?),
    };
    let step = match positions {
        [first, second, ..] => second.checked_sub(*first).filter(|step| 0 < *step)?,
        _ => 1,
    };
    let is_even = |pair: &[u64]| pair[0].checked_add(step) == Some(pair[1]);
    let slice = AxisSlice { start, stop, step, axis: Axis::Kept };
    positions.windows(2).all(is_even).then_some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_positions_are_a_slice() {
        for (positions, wanted) in [
            (&[][..], Some((0, 0, 1))),
            (&[7], Some((7, 8, 1))),
            (&[2, 3, 4], Some((2, 5, 1))),
            (&[1, 4, 7], Some((1, 8, 3))),
            (&[4, 1], None),
            (&[1, 1], None),
            (&[1, 2, 4], None),
        ] {
            let slice = even(positions).map(|it| (it.start, it.stop, it.step));
            assert_eq!(slice, wanted, "{positions:?}");
        }
    }

    #[test]
    fn steps_go_over_the_ends_of_runs() {
        let run = |turns, positions| Turned { turns, positions };
        let runs = [run(-1, 8..10), run(0, 0..3)];
        let each = |positions: &[u64], turns: &[i64]| AxisPositions::Each {
            positions: positions.into(),
            turns: turns.into(),
        };
        assert_eq!(AxisPositions::of_runs(&runs, 1), each(&[8, 9, 0, 1, 2], &[-1, -1, 0, 0, 0]));
        assert_eq!(AxisPositions::of_runs(&runs, 2), each(&[8, 0, 2], &[-1, 0, 0]));
        assert_eq!(AxisPositions::of_runs(&runs[..1], 1), each(&[8, 9], &[-1, -1]));
        let slice = AxisSlice { start: 0, stop: 3, step: 2, axis: Axis::Kept };
        assert_eq!(AxisPositions::of_runs(&runs[1..], 2), slice.into());
        assert_eq!(AxisPositions::of_runs(&[], 1).count(), 0);
        let odd = AxisSlice { start: 1, stop: 10, step: 2, axis: Axis::Kept };
        assert_eq!(AxisPositions::of_runs(&runs, 1).among(&odd.into()), each(&[9, 1], &[-1, 0]));
    }
}
