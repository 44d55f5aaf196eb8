//! What an element is tested for: by filters, and by the operations that count.

use super::state::Numeric;
use crate::reduction::{Compare, Filter, Number};

/// A yes or no about an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Whether it passes a filter.
    Filter(Filter),
    /// Whether it is the fill value; NaN when that is NaN.
    Fill(Number),
    /// Whether it is NaN.
    Nan,
    /// Whether it is infinite.
    Infinite,
}

/// A test of elements of one type.
#[derive(Clone, Debug)]
pub(crate) struct Tester<T> {
    test: Test,
    elements: std::marker::PhantomData<T>,
}

impl<T: Numeric> Tester<T> {
    pub(crate) fn new(test: &Test) -> Self {
        Tester { test: test.clone(), elements: std::marker::PhantomData }
    }

    /// Whether an element passes.
    pub(crate) fn passes(&self, element: T) -> bool {
        let value = element.to_number().to_f64();
        match &self.test {
            Test::Nan => value.is_nan(),
            Test::Infinite => value.is_infinite(),
            Test::Fill(fill) => value == fill.to_f64() || value.is_nan() && fill.to_f64().is_nan(),
            Test::Filter(filter) => filter.tests.iter().all(|(compare, number)| match compare {
                Compare::Eq => value == number.to_f64(),
                Compare::Ne => value != number.to_f64(),
                Compare::Lt => value < number.to_f64(),
                Compare::Le => value <= number.to_f64(),
                Compare::Gt => value > number.to_f64(),
                Compare::Ge => value >= number.to_f64(),
            }),
        }
    }

    /// Moves the elements that pass to the front of `room`; gives how many they are.
    pub(crate) fn sift(&self, elements: &[T], room: &mut [T]) -> usize {
        let mut passed = 0;
        for &element in elements {
            room[passed] = element;
            passed += usize::from(self.passes(element));
        }
        passed
    }

    /// How many elements pass.
    pub(crate) fn count(&self, elements: &[T]) -> u64 {
        elements.iter().filter(|&&element| self.passes(element)).count() as u64
    }
}
