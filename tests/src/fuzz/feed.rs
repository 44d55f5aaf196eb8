//! Bytes that become choices.

/// Bytes taken one after the other; zeros when there are no more.
pub(super) struct Feed<'a>(pub(super) &'a [u8]);

impl Feed<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// One of two bytes.
    pub(super) fn wide(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    /// Up to three extents below five.
    pub(super) fn extents(&mut self, rank: usize) -> Vec<u64> {
        (0..rank).map(|_| 1 + self.below(4) as u64).collect()
    }
}
