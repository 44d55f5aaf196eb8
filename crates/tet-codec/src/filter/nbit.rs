//! n-bit: HDF5 filter 5. Only the significant bits of each number are stored, one after the other,
//! the highest first.
//!
//! ```text
//!   values: | their count | nothing to undo? | elements | type |
//!   type:   | 1, size, order, precision, offset |      a number
//!           | 2, size, type of an element |            an array
//!           | 3, size, members, (offset, type) ... |   a compound
//!           | 4, size |                                bytes as they are
//! ```

use crate::aec::Stream;
use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::scratch::index;

const NAME: &str = "nbit";
const ATOMIC: u32 = 1;
const ARRAY: u32 = 2;
const COMPOUND: u32 = 3;
const BYTES: u32 = 4;
/// The deepest type.
const DEPTH_MAX: usize = 32;

/// Undoes n-bit.
///
/// ```
/// use tet_codec::{NBit, Stage};
///
/// // Two little-endian numbers of 2 bytes, of which 4 bits from bit 8 on are stored.
/// let stage = NBit::new(&[8, 0, 2, 1, 2, 0, 4, 8]).expect("valid values");
/// let mut out = [0; 4];
/// stage.undo_into(&[0x12], &mut out)?;
/// assert_eq!(out, [0, 1, 0, 2]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NBit {
    count: u64,
    size: usize,
    /// The bits of an element. Without a type, the bytes are stored as they are.
    bits: u64,
    part: Option<NbitType>,
}

/// A type, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum NbitType {
    NumberType { size: usize, order: Order, precision: usize, offset: usize },
    Bytes { size: usize },
    Array { size: usize, of: Box<NbitType> },
    Compound { size: usize, members: Vec<(usize, NbitType)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    Little,
    Big,
}

impl NBit {
    /// The filter with the values of a file. `None` when they describe no type.
    #[must_use]
    pub fn new(values: &[u32]) -> Option<NBit> {
        let [count, is_plain, elements, parameters @ ..] = values else { return None };
        if usize::try_from(*count).ok()? != values.len() {
            return None;
        }
        let count = u64::from(*elements);
        if *is_plain != 0 {
            return Some(NBit { count, size: 0, bits: 0, part: None });
        }
        let (mut rest, mut bits) = (parameters, 0);
        let part = NbitType::read(&mut rest, usize::MAX, DEPTH_MAX)?;
        bits += part.bits()?;
        let size = part.size();
        Some(NBit { count, size, bits, part: Some(part) })
    }
}

fn next(values: &mut &[u32]) -> Option<usize> {
    let (first, rest) = values.split_first()?;
    *values = rest;
    usize::try_from(*first).ok()
}

impl NbitType {
    /// Reads a type of at most `room` bytes.
    fn read(values: &mut &[u32], room: usize, depth: usize) -> Option<NbitType> {
        let depth = depth.checked_sub(1)?;
        let (class, after) = values.split_first()?;
        *values = after;
        let size = next(values).filter(|size| (1..=room).contains(size))?;
        match *class {
            ATOMIC => {
                let order = match next(values)? {
                    0 => Order::Little,
                    1 => Order::Big,
                    _ => return None,
                };
                let (precision, offset) = (next(values)?, next(values)?);
                let end = precision.checked_add(offset)?;
                let is_sound = precision != 0 && end <= size.checked_mul(8)?;
                is_sound.then_some(NbitType::NumberType { size, order, precision, offset })
            }
            ARRAY => {
                let of = Box::new(NbitType::read(values, size, depth)?);
                size.is_multiple_of(of.size()).then_some(NbitType::Array { size, of })
            }
            COMPOUND => {
                let count = next(values)?;
                // Every part has bits, so that the work is bounded by the stored bytes.
                let count = Some(count).filter(|it| *it != 0 && *it <= values.len())?;
                let mut members = Vec::with_capacity(count);
                for _ in 0..count {
                    let at = next(values)?;
                    members.push((at, NbitType::read(values, size.checked_sub(at)?, depth)?));
                }
                Some(NbitType::Compound { size, members })
            }
            BYTES => Some(NbitType::Bytes { size }),
            _ => None,
        }
    }

    const fn size(&self) -> usize {
        match self {
            NbitType::NumberType { size, .. }
            | NbitType::Bytes { size }
            | NbitType::Array { size, .. }
            | NbitType::Compound { size, .. } => *size,
        }
    }

    /// The stored bits.
    fn bits(&self) -> Option<u64> {
        match self {
            NbitType::NumberType { precision, .. } => Some(*precision as u64),
            NbitType::Bytes { size } => (*size as u64).checked_mul(8),
            NbitType::Array { size, of } => of.bits()?.checked_mul((size / of.size()) as u64),
            NbitType::Compound { members, .. } => {
                members.iter().try_fold(0_u64, |sum, (_, part)| sum.checked_add(part.bits()?))
            }
        }
    }

    /// Decodes one element into `out`, which has its size.
    fn undo(&self, stream: &mut Stream<'_>, out: &mut [u8]) -> Option<()> {
        match self {
            NbitType::NumberType { size, order, precision, offset } => {
                number(stream, out, *size, *order, *precision, *offset)
            }
            NbitType::Bytes { .. } => {
                out.iter_mut().try_for_each(|byte| stream.take(8).map(|bits| *byte = low(bits)))
            }
            NbitType::Array { of, .. } => {
                out.chunks_exact_mut(of.size()).try_for_each(|out| of.undo(stream, out))
            }
            NbitType::Compound { members, .. } => members.iter().try_for_each(|(at, part)| {
                part.undo(stream, out.get_mut(*at..)?.get_mut(..part.size())?)
            }),
        }
    }
}

/// Decodes the bits of a number, byte by byte from its highest one.
fn number(
    stream: &mut Stream<'_>,
    out: &mut [u8],
    size: usize,
    order: Order,
    precision: usize,
    offset: usize,
) -> Option<()> {
    let end = precision + offset;
    for at in (offset / 8..end.div_ceil(8)).rev() {
        let high = end.saturating_sub(at * 8).min(8);
        let from = offset.saturating_sub(at * 8);
        let bits = stream.take(u32::try_from(high - from).ok()?)?;
        let place = match order {
            Order::Little => at,
            Order::Big => size - 1 - at,
        };
        *out.get_mut(place)? = low(bits << from);
    }
    Some(())
}

fn low(bits: u32) -> u8 {
    bits.to_le_bytes()[0]
}

impl Compressor for NBit {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn max(&self, stored_len: u64) -> u64 {
        if self.part.is_none() {
            return stored_len;
        }
        let most = self.count.saturating_mul(self.size as u64);
        let bits = stored_len.saturating_mul(8);
        bits.checked_div(self.bits)
            .map_or(most, |held| most.min(held.saturating_mul(self.size as u64)))
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let long = Error::TooLong { codec: NAME, decoded_len };
        let Some(part) = &self.part else {
            out.get_mut(..stored.len()).ok_or(long)?.copy_from_slice(stored);
            return Ok(stored.len());
        };
        let len = index(self.count.saturating_mul(self.size as u64));
        let out = out.get_mut(..len).ok_or(long)?;
        out.fill(0);
        let mut stream = Stream::new(stored, 0);
        let mut elements = out.chunks_exact_mut(self.size.max(1));
        let done = elements.try_for_each(|element| part.undo(&mut stream, element));
        done.ok_or(Error::Corrupt { codec: NAME, reason: "cut short" })?;
        Ok(len)
    }
}
