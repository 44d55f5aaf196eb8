//! Decodes a stream interval by interval: options of blocks, then differences into samples.

use super::stream::Stream;
use super::{MSB, PAD_RSI, PREPROCESS, RESTRICTED, SIGNED, Szip, index};
use crate::error::Fault;
use crate::rule;

/// This number of blocks of zeros means all to the end of their segment.
pub(super) const REST_OF_SEGMENT: u32 = 5;
/// Blocks of a segment.
pub(super) const SEGMENT: usize = 64;
/// The largest sum of two samples in one code.
pub(super) const PAIR_SUM_MAX: u32 = 12;

/// Decodes a stream interval by interval.
#[derive(Debug)]
pub(super) struct Intervals<'a, 's> {
    szip: &'s Szip,
    stream: Stream<'a>,
    /// The file offset of the stream.
    at: u64,
    /// The samples of the current interval.
    samples: Vec<u32>,
    id_bits: u32,
    block_size: usize,
    /// Samples of a whole interval.
    full: usize,
}

impl<'a, 's> Intervals<'a, 's> {
    pub(super) fn new(szip: &'s Szip, stream: Stream<'a>, at: u64) -> Self {
        let id_bits = id_bits(szip);
        let block_size = index(szip.block_size.into());
        let full = block_size.saturating_mul(index(szip.rsi.into()));
        Intervals { szip, stream, at, samples: Vec::new(), id_bits, block_size, full }
    }

    /// The position in its bytes, in bits.
    pub(super) fn position(&self) -> u64 {
        self.stream.position()
    }

    /// Decodes the next interval into exactly `out`, which is at most one interval long.
    pub(super) fn next(&mut self, out: &mut [u8]) -> Result<(), Fault> {
        let needed = out.len() / index(self.szip.width).max(1);
        self.samples.clear();
        // Every interval but the last is whole; the last ends with a whole block.
        self.samples.reserve(needed.next_multiple_of(self.block_size).min(self.full));
        if self.blocks(needed).is_none() {
            let at = self.at.saturating_add(self.position() / 8);
            let (rule, found) = (&rule::SZIP_STREAM, self.samples.len() as u64);
            return Err(Fault { rule, at, found, wanted: needed as u64 });
        }
        if self.szip.flags & PAD_RSI != 0 {
            self.stream.align();
        }
        self.samples.truncate(needed);
        if self.szip.flags & PREPROCESS != 0 {
            self.undo_differences();
        }
        self.write(out);
        Ok(())
    }

    fn blocks(&mut self, needed: usize) -> Option<()> {
        let last_id = (1_u32 << self.id_bits) - 1;
        // The first block of an interval starts with an unencoded sample.
        let mut reference = usize::from(self.szip.flags & PREPROCESS != 0);
        while self.samples.len() < needed {
            let id = self.stream.take(self.id_bits)?;
            if id == last_id {
                let (stream, bits) = (&mut self.stream, self.szip.bits);
                for sample in places(&mut self.samples, self.block_size) {
                    *sample = stream.take(bits)?;
                }
            } else {
                let is_pairs = id == 0 && self.stream.take(1)? == 1;
                if reference == 1 {
                    self.samples.push(self.stream.take(self.szip.bits)?);
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
                let left = index(self.szip.rsi.into()).checked_sub(used)?;
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
        let bits = self.szip.bits;
        let Some((first, rest)) = self.samples.split_first_mut() else { return };
        if self.szip.flags & SIGNED != 0 {
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
        let is_msb = self.szip.flags & MSB != 0;
        let samples = &self.samples;
        match (self.szip.width, is_msb) {
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
pub(super) fn id_bits(szip: &Szip) -> u32 {
    match szip.bits {
        17.. => 5,
        9.. => 4,
        ..=2 if szip.flags & RESTRICTED != 0 => 1,
        _ if szip.flags & RESTRICTED != 0 => 2,
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
