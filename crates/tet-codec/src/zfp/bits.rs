//! Reads the bits of a zfp stream: the lowest bit of each byte first.

/// A position in the bits of a stream. Past the end there are zeros.
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Bits<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Bits { bytes, at: 0 }
    }

    /// Whether more bits were read than there are.
    pub(super) const fn is_past_end(&self) -> bool {
        (self.bytes.len() as u64).saturating_mul(8) < self.at
    }

    /// The next bit.
    #[inline]
    pub(super) fn bit(&mut self) -> bool {
        let byte = usize::try_from(self.at / 8).ok().and_then(|at| self.bytes.get(at));
        let bit = byte.is_some_and(|byte| byte >> (self.at % 8) & 1 == 1);
        self.at = self.at.saturating_add(1);
        bit
    }

    /// The next `count` bits as a number, at most 64.
    #[inline]
    pub(super) fn number(&mut self, count: u32) -> u64 {
        let start = usize::try_from(self.at / 8).unwrap_or(usize::MAX);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let mut word = [0; 16];
        let held = rest.get(..rest.len().min(9)).unwrap_or_default();
        word[..held.len()].copy_from_slice(held);
        let word = u128::from_le_bytes(word) >> (self.at % 8);
        self.at = self.at.saturating_add(count.into());
        let mask = (1_u128 << count.min(64)) - 1;
        u64::try_from(word & mask).unwrap_or(0)
    }

    /// Passes over bits.
    pub(super) fn skip(&mut self, count: u64) {
        self.at = self.at.saturating_add(count);
    }
}
