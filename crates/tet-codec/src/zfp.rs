//! zfp: blocks of 4 elements along each of 1 to 4 dimensions, transformed and cut to their leading bit planes.
//!
//! The format is that of zfp 0.5 to 1.0 (codec version 5), as its paper and documentation describe it: Lindstrom,
//! "Fixed-rate compressed floating-point arrays" (2014), and the pages "Algorithm" and "Bit streams". A stream that
//! ends too early is an error; no bits take a reader past its end.

mod bits;
mod block;
mod mode;
mod number;
mod order;

use bits::Bits;
use block::{LEN_MAX, narrow, wide};

use crate::error::{Error, Result};

pub use mode::ZfpMode;
pub use number::ZfpNumber;

const NAME: &str = "zfp";

/// The most axes.
pub const ZFP_RANK_MAX: usize = 4;

/// The array of a stream, and how it was written.
///
/// ```
/// use tet_codec::{ZfpArray, ZfpMode, ZfpNumber};
///
/// let mode = ZfpMode::fixed_precision(64);
/// let array = ZfpArray::new(ZfpNumber::Int32, &[2, 3], mode).unwrap();
/// assert_eq!(array.byte_len(), Some(24));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZfpArray {
    number: ZfpNumber,
    /// The extents, slowest first.
    shape: Vec<u64>,
    mode: ZfpMode,
}

impl ZfpArray {
    /// An array of 1 to 4 axes, slowest first.
    #[must_use]
    pub fn new(number: ZfpNumber, shape: &[u64], mode: ZfpMode) -> Option<ZfpArray> {
        let is_possible = (1..=ZFP_RANK_MAX).contains(&shape.len());
        is_possible.then(|| ZfpArray { number, shape: shape.to_vec(), mode })
    }

    /// The array that the header of a stream describes, and the length of the header in bits.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Corrupt`] when there is no such header.
    pub fn of_header(stream: &[u8]) -> Result<(ZfpArray, u64)> {
        let corrupt = |reason| Error::Corrupt { codec: NAME, reason };
        let mut bits = Bits::new(stream);
        if bits.number(24) != u64::from(u32::from_le_bytes(*b"zfp\0")) || bits.number(8) != 5 {
            return Err(corrupt("the header does not start with zfp and the version 5"));
        }
        let meta = bits.number(52);
        let number = match meta & 3 {
            0 => ZfpNumber::Int32,
            1 => ZfpNumber::Int64,
            2 => ZfpNumber::Float32,
            _ => ZfpNumber::Float64,
        };
        let rank = (meta >> 2 & 3) + 1;
        let width = 48 / rank;
        // The fastest axis is in the lowest bits.
        let extents =
            (0..rank).rev().map(|axis| (meta >> (4 + axis * width) & ((1 << width) - 1)) + 1);
        let shape: Vec<u64> = extents.collect();
        let mut mode = bits.number(12);
        let mut len = 32 + 52 + 12;
        if mode == 0xFFF {
            mode |= bits.number(52) << 12;
            len += 52;
        }
        if bits.is_past_end() {
            return Err(corrupt("the header is cut short"));
        }
        let mode = ZfpMode::of_header(mode).ok_or(corrupt("the header states no mode"))?;
        Ok((ZfpArray { number, shape, mode }, len))
    }

    /// The type of the elements.
    #[must_use]
    pub const fn number(&self) -> ZfpNumber {
        self.number
    }

    /// The extents, slowest first.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The length of all elements in bytes; `None` if it does not fit in 64 bits.
    #[must_use]
    pub fn byte_len(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.number.size(), |len, extent| len.checked_mul(*extent))
    }

    /// The most bytes that a stream of `stored_len` bytes can decode to: a block has at least one bit.
    #[must_use]
    pub fn decoded_max(&self, stored_len: u64) -> u64 {
        let block_len = self.number.size() << (2 * self.shape.len());
        stored_len.saturating_mul(8).saturating_mul(block_len)
    }

    /// Decodes a stream, from its bit `start` on, into exactly `out`, as little-endian numbers.
    ///
    /// # Errors
    ///
    /// Returns an error when the stream is too short, or `out` is not as long as the elements.
    pub fn decode(&self, stream: &[u8], start: u64, out: &mut [u8]) -> Result<()> {
        let (stored_len, decoded_len) = (stream.len() as u64, out.len() as u64);
        if self.byte_len() != Some(decoded_len) || self.decoded_max(stored_len) < decoded_len {
            return Err(Error::Lengths { codec: NAME, stored_len, decoded_len });
        }
        let mut bits = Bits::new(stream);
        bits.skip(start);
        let Self { number, shape, mode } = self;
        let (mode, rank) = (*mode, shape.len());
        let count = 1 << (2 * rank);
        match number {
            ZfpNumber::Int32 => self.blocks(&mut bits, out, [0; LEN_MAX], |bits, block| {
                narrow::integers(bits, mode, rank, &mut block[..count]);
            }),
            ZfpNumber::Int64 => self.blocks(&mut bits, out, [0; LEN_MAX], |bits, block| {
                wide::integers(bits, mode, rank, &mut block[..count]);
            }),
            ZfpNumber::Float32 => self.blocks(&mut bits, out, [0.0; LEN_MAX], |bits, block| {
                narrow::floats(bits, mode, rank, &mut block[..count]);
            }),
            ZfpNumber::Float64 => self.blocks(&mut bits, out, [0.0; LEN_MAX], |bits, block| {
                wide::floats(bits, mode, rank, &mut block[..count]);
            }),
        }
    }

    /// Decodes block after block, and copies what is inside the array.
    fn blocks<T: Little>(
        &self,
        bits: &mut Bits<'_>,
        out: &mut [u8],
        mut block: [T; LEN_MAX],
        mut decode: impl FnMut(&mut Bits<'_>, &mut [T; LEN_MAX]),
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let rank = self.shape.len();
        let mut origin = vec![0_u64; rank];
        loop {
            decode(bits, &mut block);
            if bits.is_past_end() {
                return Err(Error::Corrupt { codec: NAME, reason: "the stream is cut short" });
            }
            self.put(&origin, &block, out);
            // The fastest axis, which is the last, advances first.
            let mut axis = rank;
            loop {
                let Some(before) = axis.checked_sub(1) else { return Ok(()) };
                axis = before;
                origin[axis] += 4;
                if origin[axis] < self.shape[axis] {
                    break;
                }
                origin[axis] = 0;
            }
        }
    }

    /// Copies the elements of a block that are inside the array.
    fn put<T: Little>(&self, origin: &[u64], block: &[T], out: &mut [u8]) {
        let rank = self.shape.len();
        let size = usize::try_from(self.number.size()).unwrap_or(8);
        for (at, value) in block.iter().enumerate().take(1 << (2 * rank)) {
            let mut place = Some(0_u64);
            for (axis, (start, extent)) in origin.iter().zip(&self.shape).enumerate() {
                let step = at >> (2 * (rank - 1 - axis)) & 3;
                let coordinate = start + step as u64;
                let is_inside = coordinate < *extent;
                place = place.filter(|_| is_inside).map(|place| place * extent + coordinate);
            }
            let place = place.and_then(|place| usize::try_from(place).ok()?.checked_mul(size));
            let Some(place) = place else { continue };
            if let Some(element) = out.get_mut(place..place.saturating_add(size)) {
                value.write(element);
            }
        }
    }
}

/// A number that has bytes.
trait Little: Copy {
    fn write(self, out: &mut [u8]);
}

macro_rules! little {
    ($($number:ty)*) => {
        $(impl Little for $number {
            fn write(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

little!(i32 i64 f32 f64);

#[cfg(test)]
mod tests;
