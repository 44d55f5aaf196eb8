//! Reads the bytes for a dump in blocks.

use tet_io::Source;

use crate::exit::Result;

/// The length of a block in bytes.
const BLOCK_LEN: u64 = 1 << 16;

/// The block of the file that contains the last requested bytes.
#[derive(Debug)]
pub(super) struct Window<'a> {
    source: &'a Source,
    start: u64,
    block: Vec<u8>,
}

impl<'a> Window<'a> {
    pub(super) fn new(source: &'a Source) -> Window<'a> {
        Window { source, start: 0, block: Vec::new() }
    }

    /// `len` bytes from `at` on; fewer at the end of the file, or past one block.
    pub(super) fn bytes(&mut self, at: u64, len: u64) -> Result<&[u8]> {
        let len = len.min(BLOCK_LEN).min(self.source.len().saturating_sub(at));
        let block_end = self.start.saturating_add(self.block.len() as u64);
        if at < self.start || block_end < at.saturating_add(len) {
            let block_len = BLOCK_LEN.min(self.source.len().saturating_sub(at));
            self.block.resize(usize::try_from(block_len).unwrap_or(0), 0);
            self.start = at;
            if block_len > 0 {
                self.source.read_exact_at(at, &mut self.block)?;
            }
        }
        let from = usize::try_from(at.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let rest = self.block.get(from..).unwrap_or_default();
        Ok(rest.get(..usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or(rest))
    }

    /// The offset of the first byte of `[start, end)` that is not zero; `None` if all are zero.
    pub(super) fn first_nonzero(&mut self, start: u64, end: u64) -> Result<Option<u64>> {
        let mut at = start;
        while at < end {
            let piece = self.bytes(at, end - at)?;
            if piece.is_empty() {
                break;
            }
            if let Some(found) = piece.iter().position(|&byte| byte != 0) {
                return Ok(Some(at + found as u64));
            }
            at += piece.len() as u64;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_of_a_file_is_there() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let source = Source::from_bytes(bytes.clone());
        let mut window = Window::new(&source);
        for (at, len) in [(0, 10), (65_530, 10), (65_536, 70_000), (5, 1), (199_990, 50), (0, 0)] {
            let want = len.min(1 << 16).min(bytes.len() - at);
            let found = window.bytes(at as u64, len as u64).unwrap();
            assert_eq!(found, &bytes[at..at + want], "{len} from {at}");
        }
        assert_eq!(window.bytes(300_000, 5).unwrap(), &[] as &[u8]);
    }

    #[test]
    fn what_is_not_zero_is_found() {
        let mut bytes = vec![0; 150_000];
        bytes[140_000] = 1;
        let source = Source::from_bytes(bytes);
        let mut window = Window::new(&source);
        assert_eq!(window.first_nonzero(10, 150_000).unwrap(), Some(140_000));
        assert_eq!(window.first_nonzero(10, 140_000).unwrap(), None);
        assert_eq!(window.first_nonzero(140_001, 999_999).unwrap(), None);
    }
}
