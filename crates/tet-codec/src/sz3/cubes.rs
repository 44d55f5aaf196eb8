//! Blocks of arrays of three axes in the layout of 3.1.7, which has its own way of storing their planes.

use super::blocks::{set, sum};
use super::bytes::Bytes;
use super::fault::{corrupt, unsupported};
use super::head::Head;
use super::huffman::Symbols;
use super::lorenzo::Lorenzo;
use super::number::Value;
use super::quantizer::{Quantizer, Residuals};
use super::shape::{Coord, RANK_MAX, Shape, each};
use crate::error::Result;
use crate::scratch::index;

/// Coefficients of a plane: three slopes and a value.
const COEFFICIENTS: usize = 4;
/// The symbol of a coefficient that is that of the last plane.
const COEFFICIENT_RADIUS: i32 = 32768;

/// The choices of a block.
const REGRESSION: i32 = 1;
const LORENZO_OF_TWO: i32 = 2;

/// The parameters at the start.
#[derive(Clone, Debug)]
struct Parameters {
    block_len: u32,
    /// How many axes Lorenzo uses.
    prediction_rank: i32,
    value_bound: f32,
    slope_bound: f32,
    plane_count: u64,
}

impl Parameters {
    /// Reads the parameters; `mean_len` is the length of an element.
    fn read(bytes: &mut Bytes<'_>, mean_len: u64) -> Result<Parameters> {
        let (block_len, prediction_rank) = (bytes.u32()?, bytes.i32()?);
        // Three flags, a gap, the width of the edge and a capacity, all of which decoding does not need.
        bytes.take(3 + 1 + 4 + 4)?;
        let (value_bound, slope_bound) = (bytes.f32()?, bytes.f32()?);
        // Three floats, a flag and a gap; then the bound of the elements, which their quantizer has too.
        bytes.take(12 + 1 + 3)?;
        bytes.f64()?;
        if bytes.flag()? {
            return Err(unsupported("blocks that are predicted by their mean"));
        }
        bytes.take(mean_len)?;
        if block_len == 0 {
            return Err(corrupt("a block has no elements"));
        }
        let plane_count = bytes.u64()?;
        Ok(Parameters { block_len, prediction_rank, value_bound, slope_bound, plane_count })
    }
}

/// The planes of the blocks that chose one.
#[derive(Clone, Debug)]
struct Planes<'a> {
    stored: Bytes<'a>,
    symbols: Symbols<'a>,
    bounds: [f32; COEFFICIENTS],
    plane: [f32; COEFFICIENTS],
}

impl<'a> Planes<'a> {
    fn read(parameters: &Parameters, bytes: &mut Bytes<'a>) -> Result<Planes<'a>> {
        let stored_count = bytes.u64()?;
        let damaged = corrupt("the number of coefficients is too large");
        let stored_len = stored_count.checked_mul(4).ok_or(damaged.clone())?;
        let stored = Bytes::new(bytes.take(stored_len)?);
        let count = parameters.plane_count.checked_mul(COEFFICIENTS as u64).ok_or(damaged)?;
        let symbols = Symbols::read(bytes, count)?;
        let (slope, value) = (parameters.slope_bound, parameters.value_bound);
        Ok(Planes {
            stored,
            symbols,
            bounds: [slope, slope, slope, value],
            plane: [0.0; COEFFICIENTS],
        })
    }

    fn advance(&mut self) -> Result<()> {
        for (coefficient, bound) in self.plane.iter_mut().zip(self.bounds) {
            let symbol = self.symbols.next()?;
            *coefficient = match symbol {
                0 => self.stored.f32()?,
                _ => {
                    let count = symbol.wrapping_sub(COEFFICIENT_RADIUS).wrapping_mul(2);
                    coefficient.plus_bounds(count, bound.into())
                }
            };
        }
        Ok(())
    }

    fn predict<T: Value>(&self, origin: &Coord, place: &Coord) -> T {
        let [x, y, z, value] = self.plane;
        // Distances are less than the extent of a block.
        let inside = |axis: usize| (place[axis] - origin[axis]) as f32;
        T::of_f64((x * inside(1) + y * inside(2) + z * inside(3) + value).into())
    }
}

/// Decodes all elements.
pub(super) fn decode<T: Value>(
    head: &Head<'_>,
    bytes: &mut Bytes<'_>,
    data: &mut [T],
) -> Result<()> {
    let shape = &head.shape;
    let parameters = Parameters::read(bytes, T::SIZE as u64)?;
    let block_len = u64::from(parameters.block_len);
    let along = shape.extents().iter().map(|extent| (*extent as u64).div_ceil(block_len));
    let mut choices = Symbols::read(bytes, along.product())?;
    let mut planes = match parameters.plane_count {
        0 => None,
        _ => Some(Planes::read(&parameters, bytes)?),
    };
    let quantizer = Quantizer::read::<T>(bytes)?;
    let mut residuals = Residuals::read_symbols(quantizer, head, bytes)?;
    let (first, second) = lorenzo(shape, parameters.prediction_rank);

    shape.blocks(index(block_len), |origin, extents| {
        let choice = choices.next()?;
        let end = sum(origin, extents);
        if choice == REGRESSION {
            let planes =
                planes.as_mut().ok_or(corrupt("there are fewer coefficients than needed"))?;
            planes.advance()?;
            return each(origin, &end, &[1; RANK_MAX], |place| {
                set(data, shape.at(place), residuals.next(planes.predict(origin, place))?)
            });
        }
        let lorenzo = if choice == LORENZO_OF_TWO { &second } else { &first };
        each(origin, &end, &[1; RANK_MAX], |place| {
            let predicted = lorenzo.predict(data, shape, place);
            set(data, shape.at(place), residuals.next(predicted)?)
        })
    })?;
    residuals.finish()
}

/// Both orders along this number of axes.
fn lorenzo(shape: &Shape, rank: i32) -> (Lorenzo, Lorenzo) {
    match rank {
        3 => (Lorenzo::first(shape, &[1, 2, 3]), Lorenzo::second(shape, &[1, 2, 3])),
        // Of two axes, the middle one is left out.
        2 => (Lorenzo::first(shape, &[1, 3]), Lorenzo::second(shape, &[3, 1])),
        _ => (Lorenzo::first(shape, &[3]), Lorenzo::second(shape, &[3])),
    }
}
