//! Encodes samples: for each block the option that takes the fewest bits.
//!
//! The reference implementation's other decoder (not libaec) rejects pairs in the first block of an
//! interval, so none are written there.

use super::Aec;
use super::interval::{PAIR_SUM_MAX, REST_OF_SEGMENT, SEGMENT, id_bits};
use crate::scratch::index;

/// Encodes bytes into a stream, interval by interval, as [`Aec`] shows. Padding of intervals and
/// restricted codes are not written.
#[derive(Debug)]
pub struct AecEncoder {
    aec: Aec,
    id_bits: u32,
    bits: Bits,
    offsets: Vec<u64>,
    samples: Vec<u32>,
}

impl AecEncoder {
    /// An encoder without samples.
    #[must_use]
    pub fn new(aec: Aec) -> Self {
        let (bits, id_bits) = (Bits::default(), id_bits(aec));
        AecEncoder { aec, id_bits, bits, offsets: Vec::new(), samples: Vec::new() }
    }

    /// Encodes whole intervals; only the last of all may be shorter.
    pub fn push(&mut self, bytes: &[u8]) {
        let block_size = index(self.aec.block_size.into());
        let mut samples = std::mem::take(&mut self.samples);
        for interval in bytes.chunks(index(self.aec.interval_len())) {
            self.offsets.push(self.bits.position());
            samples.clear();
            let aec = self.aec;
            samples.extend(interval.chunks_exact(index(aec.width())).map(|it| aec.sample(it)));
            // The last block is padded with the samples that take the fewest bits.
            let last = samples.last().copied().unwrap_or_default();
            samples.resize(samples.len().next_multiple_of(block_size), last);
            let reference = aec.has(Aec::PREPROCESS).then(|| aec.differences(&mut samples));
            self.interval(&samples, block_size, reference);
        }
        self.samples = samples;
    }

    /// Removes the finished bytes of the stream.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        self.bits.taken = self.bits.taken.saturating_add(self.bits.bytes.len() as u64);
        std::mem::take(&mut self.bits.bytes)
    }

    /// The rest of the stream, and the offsets of its intervals.
    #[must_use]
    pub fn finish(self) -> (Vec<u8>, Vec<u64>) {
        (self.bits.finish(), self.offsets)
    }
}

impl Aec {
    fn sample(&self, bytes: &[u8]) -> u32 {
        let number = |number: u32, byte: &u8| number << 8 | u32::from(*byte);
        if self.has(Aec::MSB) {
            bytes.iter().fold(0, number)
        } else {
            bytes.iter().rev().fold(0, number)
        }
    }

    /// Replaces samples by folded differences to the one before, the first by 0; returns the first.
    fn differences(&self, samples: &mut [u32]) -> u32 {
        let sign = 1_i64 << (self.bits - 1);
        let (min, max) = match self.has(Aec::SIGNED) {
            false => (0, 2 * sign - 1),
            true => (-sign, sign - 1),
        };
        let signed = |sample: u32| {
            let sample = i64::from(sample);
            if sample <= max { sample } else { sample - 2 * sign }
        };
        let Some(first) = samples.first().copied() else { return 0 };
        let mut last = signed(first);
        for sample in samples {
            let value = signed(*sample);
            let (difference, room) = (value - last, (last - min).min(max - last));
            let folded = if room < difference.abs() {
                if last - min <= max - last { value - min } else { max - value }
            } else if difference < 0 {
                -2 * difference - 1
            } else {
                2 * difference
            };
            // All of these are between 0 and 2^bits.
            *sample = u32::try_from(folded).unwrap_or_default();
            last = value;
        }
        first
    }
}

impl AecEncoder {
    fn interval(&mut self, samples: &[u32], block_size: usize, reference: Option<u32>) {
        let count = samples.len() / block_size;
        let (mut zeros, mut zeros_reference) = (0, None);
        for (number, block) in samples.chunks_exact(block_size).enumerate() {
            let reference = reference.filter(|_| number == 0);
            if block.iter().all(|sample| *sample == 0) {
                zeros_reference = if zeros == 0 { reference } else { zeros_reference };
                zeros += 1;
                if number + 1 == count || (number + 1).is_multiple_of(SEGMENT) {
                    self.zeros(std::mem::take(&mut zeros), zeros_reference, Rest::OfSegment);
                }
                continue;
            }
            if zeros != 0 {
                self.zeros(std::mem::take(&mut zeros), zeros_reference, Rest::Follows);
            }
            self.block(block, reference);
        }
    }

    fn zeros(&mut self, count: u32, reference: Option<u32>, rest: Rest) {
        self.bits.push(0, self.id_bits + 1);
        self.reference(reference);
        let code = match rest {
            Rest::OfSegment if REST_OF_SEGMENT <= count => REST_OF_SEGMENT - 1,
            _ if REST_OF_SEGMENT <= count => count,
            _ => count - 1,
        };
        self.bits.zeros(code);
    }

    fn reference(&mut self, reference: Option<u32>) {
        if let Some(sample) = reference {
            self.bits.push(sample, self.aec.bits);
        }
    }

    fn block(&mut self, block: &[u32], reference: Option<u32>) {
        let bits = u64::from(self.aec.bits);
        let coded = block.get(usize::from(reference.is_some())..).unwrap_or_default();
        let (low_bits, split_len) = self.best_split(coded);
        let reference_len = reference.map_or(0, |_| bits);
        let split_len = split_len.saturating_add(reference_len);
        let plain_len = bits * block.len() as u64;
        let pairs_len = pairs_len(block).filter(|_| reference.is_none());
        if pairs_len.is_some_and(|len| len < split_len.min(plain_len)) {
            self.bits.push(1, self.id_bits + 1);
            for [first, second] in block.as_chunks::<2>().0 {
                self.bits.zeros(pair_code(*first, *second).unwrap_or_default());
            }
        } else if split_len < plain_len {
            self.bits.push(low_bits + 1, self.id_bits);
            self.reference(reference);
            coded.iter().for_each(|sample| self.bits.zeros(sample >> low_bits));
            if low_bits != 0 {
                coded.iter().for_each(|sample| self.bits.push(*sample, low_bits));
            }
        } else {
            self.bits.push((1 << self.id_bits) - 1, self.id_bits);
            let first = reference.or(block.first().copied());
            self.reference(first);
            block.iter().skip(1).for_each(|sample| self.bits.push(*sample, self.aec.bits));
        }
    }

    /// The split that takes the fewest bits: it is near the mean.
    fn best_split(&self, samples: &[u32]) -> (u32, u64) {
        let Some(low_bits_max) = (1_u32 << self.id_bits).checked_sub(3) else {
            return (0, u64::MAX);
        };
        let sum: u64 = samples.iter().map(|sample| u64::from(*sample)).sum();
        let mean = sum / (samples.len() as u64).max(1);
        let middle = (mean + 1).ilog2().min(low_bits_max);
        let near = middle.saturating_sub(2)..=(middle + 1).min(low_bits_max);
        let len = |low_bits: u32| {
            let high: u64 = samples.iter().map(|sample| u64::from(sample >> low_bits)).sum();
            high + samples.len() as u64 * u64::from(low_bits + 1)
        };
        let best = near.map(|low_bits| (len(low_bits), low_bits)).min();
        best.map_or((0, u64::MAX), |(len, low_bits)| (low_bits, len))
    }
}

/// Blocks after a run of zeros.
enum Rest {
    OfSegment,
    Follows,
}

fn pair_code(first: u32, second: u32) -> Option<u32> {
    let sum = first.checked_add(second).filter(|sum| *sum <= PAIR_SUM_MAX)?;
    Some(sum * (sum + 1) / 2 + second)
}

/// The bits of a block encoded in pairs, with the bit for this option.
fn pairs_len(block: &[u32]) -> Option<u64> {
    let pairs = block.as_chunks::<2>().0.iter();
    let len = |[first, second]: &[u32; 2]| Some(u64::from(pair_code(*first, *second)?) + 1);
    pairs.map(len).sum::<Option<u64>>().map(|len| len + 1)
}

/// A bit writer, the highest bit of each byte first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    /// The bytes that were already removed.
    taken: u64,
    word: u64,
    /// Less than 8.
    held: u32,
}

impl Bits {
    fn position(&self) -> u64 {
        (self.taken + self.bytes.len() as u64) * 8 + u64::from(self.held)
    }

    /// Appends the lowest `count` bits, of up to 32.
    fn push(&mut self, number: u32, count: u32) {
        let mask = (1_u64 << count) - 1;
        self.word = self.word << count | u64::from(number) & mask;
        self.held += count;
        while 8 <= self.held {
            self.held -= 8;
            self.bytes.push((self.word >> self.held).to_le_bytes()[0]);
        }
    }

    /// Appends `count` zeros and a one.
    fn zeros(&mut self, mut count: u32) {
        while 31 < count {
            self.push(0, 31);
            count -= 31;
        }
        self.push(1, count + 1);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.held != 0 {
            self.push(0, 8 - self.held);
        }
        self.bytes
    }
}
