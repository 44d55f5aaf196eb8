//! Counts of a comparison of elements.

use super::change::BoxSums;
use super::element_diff::{DiffValue, DifferingElement, ElementDiff};
use crate::scalar::Scalar;
use crate::selection::Hyperslab;

/// The sum of what boxes found; the order in which they are added does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) differing: u64,
    pub(super) nan_count: u64,
    pub(super) skipped: u64,
    /// Those that differ, and of which no difference is added up.
    pub(super) unmeasured: u64,
    /// Of one box.
    pub(super) sums: BoxSums,
    pub(super) max_rel: Option<f64>,
    /// The pair of the lowest place.
    pub(super) first: Option<DifferingPair>,
    /// The lowest of the pairs of the largest difference.
    pub(super) worst: Option<(Distance, DifferingPair)>,
}

/// A pair that differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct DifferingPair {
    /// Its number, row-major.
    pub(super) linear: u64,
    pub(super) values: [Scalar; 2],
}

/// How far two elements are apart; integers are never compared with floats.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Distance {
    Int(u128),
    Float(f64),
}

impl Distance {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a limit is at least 0, and what it cuts off is no step of an integer"
    )]
    pub(super) fn is_at_most(self, limit: f64) -> bool {
        match self {
            Distance::Int(int) => int <= limit as u128,
            Distance::Float(float) => float <= limit,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a relative difference is a double")]
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Distance::Int(int) => int as f64,
            Distance::Float(float) => float,
        }
    }
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        self.differing += other.differing;
        self.nan_count += other.nan_count;
        self.skipped += other.skipped;
        self.unmeasured += other.unmeasured;
        self.max_rel = self.max_rel.into_iter().chain(other.max_rel).reduce(f64::max);
        self.take_first(other.first);
        self.take_worst(other.worst);
    }

    pub(super) fn take_first(&mut self, place: Option<DifferingPair>) {
        let places = self.first.into_iter().chain(place);
        self.first = places.min_by_key(|place| place.linear);
    }

    pub(super) fn take_worst(&mut self, found: Option<(Distance, DifferingPair)>) {
        let Some(found) = found else { return };
        let is_worse = self.worst.is_none_or(|worst| {
            found.0 > worst.0 || (found.0 == worst.0 && found.1.linear < worst.1.linear)
        });
        if is_worse {
            self.worst = Some(found);
        }
    }

    /// The answer on the elements of a selection.
    pub(super) fn answer(self, slab: &Hyperslab) -> ElementDiff {
        let shown = |place: DifferingPair| DifferingElement {
            position: position_in(place.linear, slab),
            values: place.values.map(DiffValue::Number),
        };
        let scalar = |distance| match distance {
            Distance::Int(int) => Scalar::Int(i128::try_from(int).unwrap_or(i128::MAX)),
            Distance::Float(float) => Scalar::Float64(float),
        };
        ElementDiff {
            count: slab.element_count().unwrap_or(u64::MAX),
            differing: self.differing,
            nan_count: self.nan_count,
            skipped: self.skipped,
            max_abs: self.worst.map(|(distance, _)| scalar(distance)),
            max_rel: self.max_rel,
            first: self.first.map(shown),
            worst: self.worst.map(|(_, place)| shown(place)),
            change: None,
            block: None,
        }
    }
}

/// The position in its dataset of an element of a selection, row-major.
pub(super) fn position_in(linear: u64, slab: &Hyperslab) -> Vec<u64> {
    let mut rest = linear;
    let mut position: Vec<u64> = slab.axes().iter().map(|axis| axis.start).collect();
    for (at, axis) in position.iter_mut().zip(slab.axes()).rev() {
        let count = axis.count().max(1);
        *at = axis.start + rest % count * axis.step;
        rest /= count;
    }
    position
}
