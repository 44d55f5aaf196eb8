//! Reads a bit stream, the highest bit of each byte first.

/// Bits that are buffered at a time.
const WORD_BITS: u32 = u64::BITS;

/// A position in a bit stream.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    bytes: &'a [u8],
    /// The next byte that is not buffered completely.
    at: usize,
    /// The buffered bits, the next one highest. Below them are bits of the byte at `at`, or zeros.
    word: u64,
    held: u32,
}

impl<'a> Stream<'a> {
    /// Starts at one of the first 8 bits.
    pub(crate) fn new(bytes: &'a [u8], bit: u64) -> Self {
        let mut stream = Stream { bytes, at: 0, word: 0, held: 0 };
        let _ = stream.take(u32::try_from(bit).unwrap_or_default());
        stream
    }

    /// The position, in bits.
    pub(crate) fn position(&self) -> u64 {
        (self.at as u64).saturating_mul(8).saturating_sub(self.held.into())
    }

    #[inline]
    fn fill(&mut self) {
        let ahead = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        if let Some(ahead) = ahead {
            // Bits that do not fit are read again the next time, with the same value.
            self.word |= u64::from_le_bytes(*ahead).swap_bytes() >> self.held;
            let bytes = (WORD_BITS - 1 - self.held) / 8;
            self.at += bytes as usize;
            self.held += bytes * 8;
            return;
        }
        while self.held <= WORD_BITS - 8 {
            let Some(byte) = self.bytes.get(self.at) else { return };
            self.word |= u64::from(*byte) << (WORD_BITS - 8 - self.held);
            self.at += 1;
            self.held += 8;
        }
    }

    /// The next bits as a number, of up to 32.
    #[inline]
    pub(crate) fn take(&mut self, count: u32) -> Option<u32> {
        if count == 0 {
            return Some(0);
        }
        if self.held < count {
            self.fill();
            if self.held < count {
                return None;
            }
        }
        let number = self.word >> (WORD_BITS - count);
        self.word <<= count;
        self.held -= count;
        u32::try_from(number).ok()
    }

    /// The number of zeros before the next one; skips the one, too.
    #[inline]
    pub(crate) fn zeros(&mut self) -> Option<u32> {
        let mut count = 0_u32;
        loop {
            let zeros = self.word.leading_zeros();
            if zeros < self.held {
                // Two shifts, since the count may be all 64 bits.
                self.word = self.word << zeros << 1;
                self.held -= zeros + 1;
                return count.checked_add(zeros);
            }
            count = count.checked_add(self.held)?;
            self.word = self.word.checked_shl(self.held).unwrap_or(0);
            self.held = 0;
            self.fill();
            if self.held == 0 {
                return None;
            }
        }
    }

    /// Skips to the next whole byte.
    pub(crate) fn align(&mut self) {
        let over = self.held % 8;
        let _ = self.take(over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_one_after_the_other() {
        let bytes: Vec<u8> = (0..40_u32).map(|at| (at * 37 % 251) as u8).collect();
        let bit = |at: u64| bytes[(at / 8) as usize] >> (7 - at % 8) & 1;
        for first in 0..8 {
            for count in 1..=32 {
                let mut stream = Stream::new(&bytes, first);
                let mut at = first;
                while at + u64::from(count) <= 320 {
                    let wanted =
                        (0..u64::from(count)).fold(0, |sum, it| sum << 1 | u32::from(bit(at + it)));
                    assert_eq!(stream.position(), at);
                    assert_eq!(stream.take(count), Some(wanted), "{first} {count} {at}");
                    at += u64::from(count);
                }
                assert_eq!(stream.take(count), None);
            }
        }
    }

    #[test]
    fn zeros_are_counted_across_words() {
        for zeros in 0..200_usize {
            let mut bytes = vec![0; zeros / 8];
            bytes.push(0x80 >> (zeros % 8));
            bytes.push(0);
            let mut stream = Stream::new(&bytes, 0);
            assert_eq!(stream.zeros(), Some(zeros as u32));
            assert_eq!(stream.position(), zeros as u64 + 1);
            assert_eq!(stream.zeros(), None);
        }
    }
}
