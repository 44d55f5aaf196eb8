//! Decodes a stream interval by interval: options of blocks, then differences into samples.

use super::Aec;
use super::stream::Stream;
use crate::scratch::index;

/// This number of blocks of zeros means all to the end of their segment.
pub(super) const REST_OF_SEGMENT: u32 = 5;
/// Blocks of a segment.
pub(super) const SEGMENT: usize = 64;
/// The largest sum of two samples in one code.
pub(super) const PAIR_SUM_MAX: u32 = 12;

/// Where a stream cannot be decoded.
///
/// ```
/// use tet_codec::{Aec, AecDecoder, AecFault};
///
/// let aec = Aec::new(8, 128, 16, 0).expect("valid parameters");
/// let fault = AecDecoder::new(aec, &[], 0).next(&mut [0; 16]).unwrap_err();
/// assert_eq!(fault, AecFault { at: 0, found: 0, wanted: 16 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream ends or is invalid at byte {at}: {found} of {wanted} samples were decoded")]
pub struct AecFault {
    /// The offset in the bytes of the stream.
    pub at: u64,
    /// The samples of the interval that were decoded.
    pub found: u64,
    /// The samples that were wanted.
    pub wanted: u64,
}

/// Decodes a stream interval by interval, as [`Aec`] shows.
#[derive(Debug)]
pub struct AecDecoder<'a> {
    aec: Aec,
    stream: Stream<'a>,
    /// The samples of the current interval.
    samples: Vec<u32>,
    id_bits: u32,
    block_size: usize,
    /// Samples of a whole interval.
    full: usize,
}

impl<'a> AecDecoder<'a> {
    /// A decoder of the stream that starts at one of the first 8 bits of `bytes`.
    #[must_use]
    pub fn new(aec: Aec, bytes: &'a [u8], first_bit: u64) -> Self {
        let stream = Stream::new(bytes, first_bit);
        let id_bits = id_bits(aec);
        let block_size = index(aec.block_size.into());
        let full = block_size.saturating_mul(index(aec.rsi.into()));
        AecDecoder { aec, stream, samples: Vec::new(), id_bits, block_size, full }
    }

    /// The position in its bytes, in bits.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.stream.position()
    }

    /// Decodes the next interval into exactly `out`, which is at most one interval long.
    ///
    /// # Errors
    ///
    /// Returns an error when the stream ends before, or is invalid.
    pub fn next(&mut self, out: &mut [u8]) -> Result<(), AecFault> {
        let needed = out.len() / index(self.aec.width());
        self.samples.clear();
        // Every interval but the last is whole; the last ends with a whole block.
        self.samples.reserve(needed.next_multiple_of(self.block_size).min(self.full));
        if self.blocks(needed).is_none() {
            let (at, found) = (self.position() / 8, self.samples.len() as u64);
            return Err(AecFault { at, found, wanted: needed as u64 });
        }
        if self.aec.has(Aec::PAD_RSI) {
            self.stream.align();
        }
        self.samples.truncate(needed);
        if self.aec.has(Aec::PREPROCESS) {
            self.undo_differences();
        }
        self.write(out);
        Ok(())
    }

    fn blocks(&mut self, needed: usize) -> Option<()> {
        let last_id = (1_u32 << self.id_bits) - 1;
        // The first block of an interval starts with an unencoded sample.
        let mut reference = usize::from(self.aec.has(Aec::PREPROCESS));
        while self.samples.len() < needed {
            let id = self.stream.take(self.id_bits)?;
            if id == last_id {
                let (stream, bits) = (&mut self.stream, self.aec.bits);
                for sample in places(&mut self.samples, self.block_size) {
                    *sample = stream.take(bits)?;
                }
            } else {
                let is_pairs = id == 0 && self.stream.take(1)? == 1;
                if reference == 1 {
                    self.samples.push(self.stream.take(self.aec.bits)?);
                }
                match (id, is_pairs) {
                    (0, true) => self.pairs(reference)?,
                    (0, false) => self.zero_blocks(reference)?,
                    _ => self.split(self.block_size - reference, id - 1)?,
                }
            }
            reference = 0;
        }
        Some(())
    }

    /// The second extension: two samples in one code. The first code of an interval
    /// includes a sample that is not stored.
    fn pairs(&mut self, reference: usize) -> Option<()> {
        let mut at = reference;
        while at < self.block_size {
            let code = self.stream.zeros()?;
            let sum = (0..=PAIR_SUM_MAX).rev().find(|sum| sum * (sum + 1) / 2 <= code)?;
            let second = code - sum * (sum + 1) / 2;
            if sum < second {
                return None;
            }
            if at.is_multiple_of(2) {
                self.samples.push(sum - second);
                at += 1;
            }
            self.samples.push(second);
            at += 1;
        }
        Some(())
    }

    fn zero_blocks(&mut self, reference: usize) -> Option<()> {
        let stated = self.stream.zeros()?.checked_add(1)?;
        let used = self.samples.len() / self.block_size;
        let count = match stated {
            REST_OF_SEGMENT => {
                let left = index(self.aec.rsi.into()).checked_sub(used)?;
                left.min(SEGMENT - used % SEGMENT)
            }
            ..REST_OF_SEGMENT => index(stated.into()),
            _ => index(stated.into()) - 1,
        };
        let zeros = count.checked_mul(self.block_size)?.checked_sub(reference)?;
        let end = self.samples.len().checked_add(zeros).filter(|end| *end <= self.full)?;
        self.samples.resize(end, 0);
        Some(())
    }

    /// High parts as unary numbers, then the `low_bits` of each.
    fn split(&mut self, count: usize, low_bits: u32) -> Option<()> {
        let (stream, samples) = (&mut self.stream, places(&mut self.samples, count));
        for sample in &mut *samples {
            *sample = stream.zeros()?.checked_shl(low_bits).unwrap_or(0);
        }
        if low_bits != 0 {
            for sample in samples {
                *sample |= stream.take(low_bits)?;
            }
        }
        Some(())
    }

    /// Undoes differences to the previous sample, folded to be non-negative (section 4.2 of the
    /// standard). Values that no encoder writes wrap, as in other decoders.
    fn undo_differences(&mut self) {
        let bits = self.aec.bits;
        let Some((first, rest)) = self.samples.split_first_mut() else { return };
        if self.aec.has(Aec::SIGNED) {
            let sign = 1_u32 << (bits - 1);
            let max = sign - 1;
            let mut last = (*first ^ sign).wrapping_sub(sign);
            for sample in rest {
                let (folded, is_negative) = (*sample, last >> 31 == 1);
                let room = if is_negative {
                    max.wrapping_add(last).wrapping_add(1)
                } else {
                    max.wrapping_sub(last)
                };
                last = if half(folded) <= room {
                    last.wrapping_add(unfold(folded))
                } else if is_negative {
                    folded.wrapping_sub(max).wrapping_sub(1)
                } else {
                    max.wrapping_sub(folded)
                };
                *sample = last;
            }
            return;
        }
        let max = u32::MAX >> (32 - bits);
        let middle = max / 2 + 1;
        let mut last = *first;
        for sample in rest {
            let folded = *sample;
            let mask = if last & middle == 0 { 0 } else { max };
            let near = last.wrapping_add(unfold(folded));
            last = if half(folded) <= mask ^ last { near } else { mask ^ folded };
            *sample = last;
        }
    }

    /// Writes samples as bytes. Widths are 1 to 4.
    fn write(&self, out: &mut [u8]) {
        let is_msb = self.aec.has(Aec::MSB);
        let samples = &self.samples;
        match (self.aec.width, is_msb) {
            (1, _) => each(samples, out, |[a, _, _, _]| [a]),
            (2, false) => each(samples, out, |[a, b, _, _]| [a, b]),
            (2, true) => each(samples, out, |[a, b, _, _]| [b, a]),
            (3, false) => each(samples, out, |[a, b, c, _]| [a, b, c]),
            (3, true) => each(samples, out, |[a, b, c, _]| [c, b, a]),
            (_, false) => each(samples, out, |it| it),
            (_, true) => each(samples, out, |[a, b, c, d]| [d, c, b, a]),
        }
    }
}

/// Adds `count` samples at once: pushing each takes as long as decoding it.
fn places(samples: &mut Vec<u32>, count: usize) -> &mut [u32] {
    let start = samples.len();
    samples.resize(start + count, 0);
    samples.get_mut(start..).unwrap_or_default()
}

/// The number of bits of a block's option id.
pub(super) fn id_bits(aec: Aec) -> u32 {
    match aec.bits {
        17.. => 5,
        9.. => 4,
        ..=2 if aec.has(Aec::RESTRICTED) => 1,
        _ if aec.has(Aec::RESTRICTED) => 2,
        _ => 3,
    }
}

fn half(folded: u32) -> u32 {
    (folded >> 1) + (folded & 1)
}

/// 0, -1, 1, -2, ... in 32-bit arithmetic.
fn unfold(folded: u32) -> u32 {
    (folded >> 1) ^ (folded & 1).wrapping_neg()
}

fn each<const WIDTH: usize>(
    samples: &[u32],
    out: &mut [u8],
    bytes: impl Fn([u8; 4]) -> [u8; WIDTH],
) {
    for (out, sample) in out.as_chunks_mut::<WIDTH>().0.iter_mut().zip(samples) {
        *out = bytes(sample.to_le_bytes());
    }
}
