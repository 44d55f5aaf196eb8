//! Predicts an element from those before it: exactly what a polynomial along each axis would continue with.

use super::number::Value;
use super::shape::{Coord, RANK_MAX, Shape};

/// An element before, and how often it is taken.
#[derive(Clone, Copy, Debug)]
struct Term {
    factor: i32,
    back: Coord,
    /// How many elements it is before.
    distance: usize,
}

/// The elements before that make up a prediction, in the order of their sum.
#[derive(Clone, Debug)]
pub(super) struct Lorenzo {
    terms: Vec<Term>,
    reach: usize,
}

/// The factors along one axis, of which the first is that of the element itself.
const FIRST: &[i32] = &[1, -1];
const SECOND: &[i32] = &[1, -2, 1];

impl Lorenzo {
    /// From the elements one before, along these axes; the last axis varies fastest in the sum.
    pub(super) fn first(shape: &Shape, axes: &[usize]) -> Lorenzo {
        let mut lorenzo = Self::new(shape, axes, FIRST);
        if axes.len() == 3 {
            // Three axes are summed by how many of them an element is before along.
            lorenzo.terms.sort_by_key(|term| term.back.iter().sum::<usize>());
        }
        lorenzo
    }

    /// From the elements one and two before.
    pub(super) fn second(shape: &Shape, axes: &[usize]) -> Lorenzo {
        Self::new(shape, axes, SECOND)
    }

    /// Predicts 0.
    pub(super) const fn nothing() -> Lorenzo {
        Lorenzo { terms: Vec::new(), reach: 0 }
    }

    fn new(shape: &Shape, axes: &[usize], factors: &[i32]) -> Lorenzo {
        let mut terms = vec![Term { factor: -1, back: [0; RANK_MAX], distance: 0 }];
        for axis in axes {
            let before = terms.into_iter();
            terms = before
                .flat_map(|term| {
                    factors.iter().enumerate().map(move |(step, factor)| {
                        let mut term = term;
                        term.factor *= factor;
                        term.back[*axis] = step;
                        term
                    })
                })
                .collect();
        }
        // The first is the element itself.
        terms.remove(0);
        for term in &mut terms {
            term.distance = shape.at(&term.back);
        }
        Lorenzo { terms, reach: factors.len() - 1 }
    }

    /// Predicts the element at `place`. Elements before the array are 0.
    pub(super) fn predict<T: Value>(&self, data: &[T], shape: &Shape, place: &Coord) -> T {
        let at = shape.at(place);
        let is_inner = place[shape.axes()].iter().all(|coordinate| self.reach <= *coordinate);
        let mut sum = T::default();
        for (number, term) in self.terms.iter().enumerate() {
            let is_inside = is_inner
                || place.iter().zip(&term.back).all(|(coordinate, back)| back <= coordinate);
            let value = if is_inside {
                let before = at.checked_sub(term.distance).and_then(|at| data.get(at));
                before.copied().unwrap_or_default()
            } else {
                T::default()
            };
            sum = if number == 0 {
                T::default().plus(term.factor, value)
            } else {
                sum.plus(term.factor, value)
            };
        }
        sum
    }
}
