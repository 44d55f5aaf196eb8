//! Bits of the codecs: the highest of each byte first, without gaps.

pub(super) struct Bits<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// Bits that were taken from bytes and are not used yet; the others are zero.
    held: u64,
    held_len: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes: bytes.iter(), held: 0, held_len: 0 }
    }

    /// Holds one more byte.
    fn fill(&mut self) -> Option<()> {
        self.held = (self.held << 8) | u64::from(*self.bytes.next()?);
        self.held_len += 8;
        Some(())
    }

    /// Removes bits that are held.
    fn drop_first(&mut self, len: u32) {
        self.held_len -= len;
        self.held &= (1 << self.held_len) - 1;
    }

    /// The next `len` bits, 32 at most; `None` at the end.
    pub(super) fn take(&mut self, len: u32) -> Option<u32> {
        while self.held_len < len {
            self.fill()?;
        }
        let taken = self.held >> (self.held_len - len);
        self.drop_first(len);
        u32::try_from(taken).ok()
    }

    /// The next `len` bits, 32 at most, which are not used by this. Behind the end there are zeros.
    pub(super) fn peek(&mut self, len: u32) -> u32 {
        while self.held_len < len && self.fill().is_some() {}
        let bits = match self.held_len.checked_sub(len) {
            Some(rest) => self.held >> rest,
            None => self.held << (len - self.held_len),
        };
        u32::try_from(bits).unwrap_or(u32::MAX)
    }

    /// How many zeros come before the next one; the one is used, too.
    pub(super) fn zeros(&mut self) -> Option<u64> {
        let mut zeros = 0_u64;
        while self.held == 0 {
            zeros = zeros.saturating_add(u64::from(self.held_len));
            self.held_len = 0;
            self.fill()?;
        }
        let used = u64::BITS - self.held.leading_zeros();
        zeros = zeros.saturating_add(u64::from(self.held_len - used));
        self.drop_first(self.held_len - used + 1);
        Some(zeros)
    }

    /// Goes on at the begin of a byte.
    pub(super) fn align(&mut self) {
        self.drop_first(self.held_len % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_bytes() {
        let mut bits = Bits::new(&[0b1010_0000, 0b0001_1111, 0xab]);
        assert_eq!((bits.peek(12), bits.take(3)), (0b1010_0000_0001, Some(0b101)));
        assert_eq!((bits.zeros(), bits.take(2)), (Some(8), Some(0b11)));
        assert_eq!(bits.peek(8), 0b1110_1010);
        bits.align();
        assert_eq!((bits.peek(12), bits.take(12), bits.take(8)), (0xab0, None, Some(0xab)));
        bits.align();
        assert_eq!((bits.take(0), bits.take(1), bits.zeros()), (Some(0), None, None));
    }
}
