//! The errors of predictions as multiples of twice a bound, and the values that no prediction came near.

use std::slice::ChunksExact;

use super::bytes::Bytes;
use super::fault::{corrupt, unsupported};
use super::head::{Generation, Head};
use super::huffman::{Symbols, Tree};
use super::number::Value;
use crate::error::Result;

/// The bound, the symbol of no error, and the values that are stored.
#[derive(Clone, Debug)]
pub(super) struct Quantizer<'a> {
    bound: f64,
    radius: i32,
    stored: ChunksExact<'a, u8>,
}

impl<'a> Quantizer<'a> {
    /// Reads a quantizer of values of type `T`.
    pub(super) fn read<T: Value>(bytes: &mut Bytes<'a>) -> Result<Self> {
        if bytes.u8()? != 2 {
            return Err(unsupported("a quantizer other than the linear one"));
        }
        let (bound, radius, count) = (bytes.f64()?, bytes.i32()?, bytes.u64()?);
        let len = count.checked_mul(T::SIZE as u64).ok_or(corrupt("the stream is cut short"))?;
        Ok(Quantizer { bound, radius, stored: bytes.take(len)?.chunks_exact(T::SIZE) })
    }

    pub(super) const fn bound(&self) -> f64 {
        self.bound
    }

    pub(super) const fn set_bound(&mut self, bound: f64) {
        self.bound = bound;
    }

    /// The value of a symbol: 0 is a stored value, any other the distance from what was predicted.
    pub(super) fn value<T: Value>(&mut self, predicted: T, symbol: i32) -> Result<T> {
        if symbol == 0 {
            return self.stored();
        }
        let count = symbol.wrapping_sub(self.radius).wrapping_mul(2);
        Ok(predicted.plus_bounds(count, self.bound))
    }

    /// The next stored value.
    pub(super) fn stored<T: Value>(&mut self) -> Result<T> {
        self.stored.next().map(T::read).ok_or(corrupt("there are fewer stored values than needed"))
    }
}

/// The values of an array, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Residuals<'a> {
    pub(super) quantizer: Quantizer<'a>,
    symbols: Symbols<'a>,
}

impl<'a> Residuals<'a> {
    /// Reads a quantizer of values of type `T`, and a symbol for each element.
    pub(super) fn read<T: Value>(head: &Head<'_>, bytes: &mut Bytes<'a>) -> Result<Self> {
        let quantizer = Quantizer::read::<T>(bytes)?;
        Self::read_symbols(quantizer, head, bytes)
    }

    /// Reads a symbol for each element.
    pub(super) fn read_symbols(
        quantizer: Quantizer<'a>,
        head: &Head<'_>,
        bytes: &mut Bytes<'a>,
    ) -> Result<Self> {
        let tree = Tree::read(bytes)?;
        let count = head.shape.count();
        if head.generation == Generation::Headed && bytes.u64()? != count {
            return Err(corrupt("the number of symbols is not that of the elements"));
        }
        Ok(Residuals { quantizer, symbols: Symbols::read_bits(tree, bytes, count)? })
    }

    /// The next value.
    pub(super) fn next<T: Value>(&mut self, predicted: T) -> Result<T> {
        let symbol = self.symbols.next()?;
        self.quantizer.value(predicted, symbol)
    }

    /// The next value, which is stored, with its symbol.
    pub(super) fn stored<T: Value>(&mut self) -> Result<T> {
        self.symbols.next()?;
        self.quantizer.stored()
    }

    /// Checks that every element was read.
    pub(super) fn finish(&self) -> Result<()> {
        match self.symbols.left() {
            0 => Ok(()),
            _ => Err(corrupt("there are more symbols than needed")),
        }
    }
}
