//! Exact products of integers: a magnitude of 128 bits with a sign.
//!
//! A magnitude that is not 0 never shrinks, so one that no longer fits can only become 0.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernel::{At, Kernel, Lanes, Setup, integers};
use crate::op::Op;
use crate::value::Values;

/// The product of some integers.
#[derive(Clone, Copy, Debug)]
struct Factor {
    /// `None` past 128 bits.
    magnitude: Option<u128>,
    negative: bool,
}

impl Factor {
    const ONE: Self = Self { magnitude: Some(1), negative: false };
    const ZERO: Self = Self { magnitude: Some(0), negative: false };

    fn is_zero(self) -> bool {
        self.magnitude == Some(0)
    }

    fn times(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let magnitude = match (self.magnitude, other.magnitude) {
            (Some(a), Some(b)) => a.checked_mul(b),
            _ => None,
        };
        Self { magnitude, negative: self.negative != other.negative }
    }

    /// The product with every element of a run.
    fn times_all<T: Element + Into<i128>>(self, run: &[T]) -> Self {
        let mut product = self;
        for (nth, &element) in run.iter().enumerate() {
            if product.is_zero() {
                break;
            }
            if product.magnitude.is_none() {
                // Whether a 0 comes is all that is left to know.
                let zero = run[nth..].contains(&T::zeroed());
                return if zero { Self::ZERO } else { product };
            }
            let value: i128 = element.into();
            let magnitude = Some(value.unsigned_abs());
            product = product.times(Self { magnitude, negative: value < 0 });
        }
        product
    }

    fn value(self) -> Option<i128> {
        let magnitude = self.magnitude?;
        let sign = if self.negative { -1 } else { 1 };
        match i128::try_from(magnitude) {
            Ok(magnitude) => Some(sign * magnitude),
            // One more fits below 0 than above.
            Err(_) => (self.negative && magnitude == 1 << 127).then_some(i128::MIN),
        }
    }
}

/// Exact products.
#[derive(Debug)]
pub(crate) struct IntegerProduct(Vec<Factor>);

impl<T: Element + Into<i128>> Kernel<T> for IntegerProduct {
    fn cell_len(_setup: &Setup) -> u64 {
        size_of::<Factor>() as u64
    }

    fn new(cell_count: usize, _setup: &Setup) -> Self {
        Self(vec![Factor::ONE; cell_count])
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.0[at.cell] = self.0[at.cell].times_all(elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        let cells = &mut self.0[at.cell..at.cell + lanes.count];
        for row in lanes.rows(elements) {
            for (cell, element) in cells.iter_mut().zip(row.chunks(1)) {
                *cell = cell.times_all(element);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.0[cell] = self.0[cell].times(later.0[from]);
    }

    fn merge(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(to, from)| *to = to.times(from));
    }

    fn finish(self) -> Result<Values> {
        let product = |factor: Factor| factor.value();
        let cells: Option<Vec<i128>> = self.0.into_iter().map(product).collect();
        let op = Op::Product.name();
        cells.map(integers).ok_or(Error::Overflow { op })
    }
}
