//! scale-offset: HDF5 filter 6. Numbers less their minimum, in as few bits as the largest takes;
//! floating-point numbers are scaled by a power of ten and rounded before.
//!
//! ```text
//!   values: | kind | factor | elements | class | size | signed? | order | fill value? | its bytes |
//!   stored: | bits, u32 | 8 | minimum | 8 bytes | numbers from byte 21, the highest bit first |
//! ```
//!
//! A number whose bits are all ones is the fill value, if there is one.

use crate::aec::Stream;
use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::scratch::index;

const NAME: &str = "scaleoffset";
const HEADER_LEN: usize = 21;
const MINIMUM_AT: usize = 5;
/// Kinds of scaling, and classes of numbers.
const DECIMAL: u32 = 0;
const INTEGER: u32 = 2;

/// Undoes scale-offset.
///
/// ```
/// use tet_codec::{ScaleOffset, Stage};
///
/// // Four numbers of 1 byte, stored in 2 bits each, with a minimum of 10.
/// let stage = ScaleOffset::new(&[2, 0, 4, 0, 1, 0, 0, 0]).expect("valid values");
/// let mut stored = vec![2, 0, 0, 0, 8, 10];
/// stored.resize(21, 0);
/// stored.push(0b00_01_10_11);
/// let mut out = [0; 4];
/// stage.undo_into(&stored, &mut out)?;
/// assert_eq!(out, [10, 11, 12, 13]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleOffset {
    kind: Kind,
    count: u64,
    size: Size,
    is_big: bool,
    /// The bits of the fill value.
    fill: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Integer,
    /// The decimal digits that were kept.
    Decimal(i16),
    /// The bytes are stored as they are.
    Plain,
}

/// The bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Size {
    One,
    Two,
    Four,
    Eight,
}

impl ScaleOffset {
    /// The filter with the values of a file. `None` when they describe no numbers that can be
    /// restored.
    #[must_use]
    pub fn new(values: &[u32]) -> Option<ScaleOffset> {
        let [kind, factor, count, class, size, _signed, order, has_fill, fill @ ..] = values else {
            return None;
        };
        let (size, bits) = match *size {
            1 => (Size::One, 8),
            2 => (Size::Two, 16),
            4 => (Size::Four, 32),
            8 => (Size::Eight, 64),
            _ => return None,
        };
        let kind = match (*kind, *class) {
            (INTEGER, 0) if *factor == bits => Kind::Plain,
            (INTEGER, 0) => Kind::Integer,
            (DECIMAL, 1) if matches!(size, Size::Four | Size::Eight) => {
                Kind::Decimal(i16::try_from(factor.cast_signed()).ok()?)
            }
            _ => return None,
        };
        let word = |at: usize| fill.get(at).copied().map_or(0, u64::from);
        let mask = u64::MAX >> (64 - bits);
        let fill = match *has_fill {
            0 => None,
            1 if !fill.is_empty() => Some((word(0) | word(1) << 32) & mask),
            _ => return None,
        };
        let is_big = match *order {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(ScaleOffset { kind, count: (*count).into(), size, is_big, fill })
    }

    const fn width(&self) -> usize {
        match self.size {
            Size::One => 1,
            Size::Two => 2,
            Size::Four => 4,
            Size::Eight => 8,
        }
    }

    /// The bits of the number that is stored as `number` in `bits` bits.
    fn restored(&self, number: u64, bits: u32, minimum: u64) -> u64 {
        let ones = 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        if let Some(fill) = self.fill
            && number == ones
        {
            return fill;
        }
        match (self.kind, self.size) {
            (Kind::Decimal(digits), Size::Four) => {
                let minimum = f32::from_bits(low_half(minimum));
                let number = low_half(number).cast_signed() as f32;
                let value = number / 10_f32.powf(f32::from(digits)) + minimum;
                value.to_bits().into()
            }
            (Kind::Decimal(digits), _) => {
                let number = number.cast_signed() as f64;
                let value = number / 10_f64.powf(f64::from(digits)) + f64::from_bits(minimum);
                value.to_bits()
            }
            _ => number.wrapping_add(minimum),
        }
    }

    fn numbers(&self, stored: &[u8], bits: u32, minimum: u64, out: &mut [u8]) -> Option<()> {
        let width = self.width();
        let mut stream = Stream::new(stored.get(HEADER_LEN..)?, 0);
        for place in out.chunks_exact_mut(width) {
            let high = stream.take(bits.saturating_sub(32))?;
            let number = u64::from(high) << 32 | u64::from(stream.take(bits.min(32))?);
            let bytes = self.restored(number, bits, minimum).to_le_bytes();
            place.copy_from_slice(bytes.get(..width)?);
            if self.is_big {
                place.reverse();
            }
        }
        Some(())
    }
}

/// The lower half of a number, as `long as int` in C.
fn low_half(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

impl Compressor for ScaleOffset {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn max(&self, stored_len: u64) -> u64 {
        match self.kind {
            Kind::Plain => stored_len,
            _ if stored_len < HEADER_LEN as u64 => 0,
            _ => self.count.saturating_mul(self.width() as u64),
        }
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let long = Error::TooLong { codec: NAME, decoded_len };
        let cut = Error::Corrupt { codec: NAME, reason: "cut short" };
        if self.kind == Kind::Plain {
            out.get_mut(..stored.len()).ok_or(long)?.copy_from_slice(stored);
            return Ok(stored.len());
        }
        let len = index(self.count.saturating_mul(self.width() as u64));
        let out = out.get_mut(..len).ok_or(long)?;
        let (bits, _) = stored.split_first_chunk().ok_or(cut.clone())?;
        let bits = u32::from_le_bytes(*bits);
        let minimum_len = usize::from(*stored.get(4).ok_or(cut.clone())?).min(8);
        let minimum = stored.get(MINIMUM_AT..MINIMUM_AT + minimum_len).ok_or(cut.clone())?;
        let minimum = minimum.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let full = u32::try_from(self.width() * 8).unwrap_or(u32::MAX);
        if full < bits {
            return Err(Error::Corrupt { codec: NAME, reason: "numbers have too many bits" });
        }
        if bits == full {
            let bytes = stored.get(HEADER_LEN..).and_then(|rest| rest.get(..len));
            out.copy_from_slice(bytes.ok_or(cut)?);
            if self.is_big {
                out.chunks_exact_mut(self.width()).for_each(<[u8]>::reverse);
            }
            return Ok(len);
        }
        self.numbers(stored, bits, minimum, out).ok_or(cut)?;
        Ok(len)
    }
}
