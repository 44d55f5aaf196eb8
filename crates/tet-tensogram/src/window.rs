//! A small part of the file in memory, so that neighboring structures need only one read.

use tet_io::Source;

use crate::error::Result;

/// The bytes read around a header or a tail: the tail of a frame, padding, the next header.
pub(crate) const NEAR_LEN: u64 = 256;

/// The bytes of a source that were read last.
#[derive(Debug)]
pub(crate) struct Window<'s> {
    source: &'s Source,
    at: u64,
    bytes: Vec<u8>,
    /// The read-ahead for consecutive small structures; it grows with their number.
    ahead: u64,
}

impl<'s> Window<'s> {
    pub(crate) const fn new(source: &'s Source) -> Self {
        Window { source, at: 0, bytes: Vec::new(), ahead: NEAR_LEN }
    }

    pub(crate) const fn source(&self) -> &'s Source {
        self.source
    }

    /// Whether bytes are already in memory.
    pub(crate) fn holds(&self, at: u64, len: u64) -> bool {
        let held_end = self.at.saturating_add(self.bytes.len() as u64);
        self.at <= at && at.saturating_add(len) <= held_end
    }

    /// The `len` bytes from `at` on, or fewer at the end of the file; reads `ahead` bytes if they
    /// are not in memory.
    pub(crate) fn get(&mut self, at: u64, len: u64, ahead: u64) -> Result<&[u8]> {
        let file_len = self.source.len();
        let end = at.saturating_add(len).min(file_len);
        if end <= at {
            return Ok(&[]);
        }
        let held_end = self.at.saturating_add(self.bytes.len() as u64);
        if at < self.at || held_end < end {
            let read_end = at.saturating_add(ahead.max(len)).min(file_len);
            let read_len = usize::try_from(read_end - at).unwrap_or(usize::MAX);
            self.bytes.resize(read_len, 0);
            self.at = at;
            let read = self.source.read_exact_at(at, &mut self.bytes);
            if let Err(error) = read {
                self.bytes.clear();
                return Err(error.into());
            }
        }
        let start = usize::try_from(at - self.at).unwrap_or(usize::MAX);
        let len = usize::try_from(end - at).unwrap_or(usize::MAX);
        Ok(self.bytes.get(start..).and_then(|bytes| bytes.get(..len)).unwrap_or_default())
    }

    /// All bytes in memory from `at` on: at least `len` bytes, except at the end of the file.
    pub(crate) fn held(&mut self, at: u64, len: u64, ahead: u64) -> Result<&[u8]> {
        self.get(at, len, ahead)?;
        let start = at.checked_sub(self.at).and_then(|start| usize::try_from(start).ok());
        Ok(start.and_then(|start| self.bytes.get(start..)).unwrap_or_default())
    }

    /// A few bytes near the next read.
    pub(crate) fn near(&mut self, at: u64, len: u64) -> Result<&[u8]> {
        if !self.holds(at, len) {
            let end = self.at.saturating_add(self.bytes.len() as u64);
            let follows = self.at <= at && at <= end.saturating_add(NEAR_LEN) && end != 0;
            self.ahead = if follows { (self.ahead * 2).min(FOLLOWING_LEN_MAX) } else { NEAR_LEN };
        }
        self.get(at, len, self.ahead)
    }

    /// The offset of the first nonzero byte of a range, searched in growing pieces.
    pub(crate) fn first_odd(&mut self, start: u64, end: u64) -> Result<Option<u64>> {
        let (mut at, mut ahead) = (start, NEAR_LEN);
        while at < end {
            // Search what is in memory before reading more.
            let bytes = self.held(at, 1, ahead.min(end - at))?;
            let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
            let bytes = bytes.get(..len).unwrap_or_default();
            if let Some(skip) = bytes.iter().position(|byte| *byte != 0) {
                return Ok(Some(at.saturating_add(skip as u64)));
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            at = at.saturating_add(bytes.len() as u64);
            ahead = (ahead * 2).min(AHEAD_LEN_MAX);
        }
        Ok(None)
    }
}

/// The longest read of nearby bytes.
const FOLLOWING_LEN_MAX: u64 = 64 << 10;
/// The longest read.
pub(crate) const AHEAD_LEN_MAX: u64 = 1 << 20;
