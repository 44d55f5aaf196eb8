//! A place in a pickle, and the faults of one.

use std::ops::Range;

use tet_format::{ForeignFault, ForeignRule};

use super::super::rule;

pub(crate) type Parsed<T> = Result<T, ForeignFault>;

/// A rule that is broken at this offset of the pickle.
pub(super) fn broken(
    rule: &'static ForeignRule,
    at: usize,
    found: usize,
    wanted: usize,
) -> ForeignFault {
    let of = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    ForeignFault { rule, at: of(at), found: of(found), wanted: of(wanted) }
}

/// The next byte of a pickle.
pub(super) struct Cursor {
    pub(super) at: usize,
    /// Where the bytes of the file end; texts that were decoded are behind them.
    pub(super) end: usize,
}

impl Cursor {
    /// The range of the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8], len: usize) -> Parsed<Range<usize>> {
        let begin = self.at;
        let end = begin.checked_add(len).filter(|end| *end <= self.end.min(bytes.len()));
        let end = end
            .ok_or_else(|| broken(&rule::PICKLE_CUT, begin, self.end, begin.saturating_add(len)))?;
        self.at = end;
        Ok(begin..end)
    }

    /// The next bytes of a number, little-endian, filled up with zeros.
    fn array(&mut self, bytes: &[u8], len: usize) -> Parsed<[u8; 8]> {
        let range = self.take(bytes, len)?;
        let mut out = [0; 8];
        for (out, byte) in out.iter_mut().zip(bytes.get(range).unwrap_or_default()) {
            *out = *byte;
        }
        Ok(out)
    }

    /// An unsigned number of `len` bytes.
    pub(super) fn number(&mut self, bytes: &[u8], len: usize) -> Parsed<u64> {
        self.array(bytes, len).map(u64::from_le_bytes)
    }

    /// The float of a BINFLOAT, which is big-endian.
    pub(super) fn float(&mut self, bytes: &[u8]) -> Parsed<f64> {
        let bits = self.number(bytes, 8)?;
        Ok(f64::from_bits(bits.swap_bytes()))
    }

    /// A range of as many bytes as the number before it says, which has `len` bytes.
    pub(super) fn counted(&mut self, bytes: &[u8], len: usize) -> Parsed<Range<usize>> {
        let count = self.number(bytes, len)?;
        self.take(bytes, usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// A line without its line feed.
    pub(super) fn line(&mut self, bytes: &[u8]) -> Parsed<Range<usize>> {
        let begin = self.at;
        let rest = bytes.get(begin..self.end).unwrap_or_default();
        let Some(len) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(broken(&rule::PICKLE_CUT, begin, self.end, self.end));
        };
        let end = begin.saturating_add(len);
        self.at = end.saturating_add(1);
        Ok(begin..end)
    }
}
