//! Predicts the elements of a block by a plane: a slope for each axis and the value of the first element.

use super::bytes::Bytes;
use super::fault::corrupt;
use super::head::{Generation, Head};
use super::huffman::Symbols;
use super::number::Value;
use super::quantizer::Quantizer;
use super::shape::{Coord, RANK_MAX};
use crate::error::Result;

/// Source of the coefficients of all blocks.
#[derive(Clone, Debug)]
struct Source<'a> {
    of_values: Quantizer<'a>,
    of_slopes: Quantizer<'a>,
    symbols: Symbols<'a>,
}

/// The plane of the current block.
#[derive(Clone, Debug)]
pub(super) struct Regression<'a, T> {
    source: Option<Source<'a>>,
    slopes: [T; RANK_MAX],
    value: T,
}

impl<'a, T: Value> Regression<'a, T> {
    pub(super) fn read(head: &Head<'_>, bytes: &mut Bytes<'a>) -> Result<Self> {
        if head.generation == Generation::Bare {
            bytes.u8()?;
        }
        let count = bytes.u64()?;
        let source = match count {
            0 => None,
            _ => {
                let of_values = Quantizer::read::<T>(bytes)?;
                let of_slopes = Quantizer::read::<T>(bytes)?;
                Some(Source { of_values, of_slopes, symbols: Symbols::read(bytes, count)? })
            }
        };
        Ok(Regression { source, slopes: [T::default(); RANK_MAX], value: T::default() })
    }

    /// Reads the plane of the next block, as its difference from that of the last one.
    pub(super) fn advance(&mut self, head: &Head<'_>) -> Result<()> {
        let source = self.source.as_mut();
        let source = source.ok_or(corrupt("there are fewer coefficients than needed"))?;
        for axis in head.shape.axes() {
            self.slopes[axis] =
                source.of_slopes.value(self.slopes[axis], source.symbols.next()?)?;
        }
        self.value = source.of_values.value(self.value, source.symbols.next()?)?;
        Ok(())
    }

    /// Predicts the element at a place inside the block.
    pub(super) fn predict(&self, head: &Head<'_>, inside: &Coord) -> T {
        let axes = head.shape.axes();
        let sum =
            axes.fold(T::default(), |sum, axis| sum.plus_slope(self.slopes[axis], inside[axis]));
        sum.plus(1, self.value)
    }
}
