//! Reads a header from front to back, in blocks that grow: no length is believed before its bytes are there.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;

use super::rule;

/// The first block of a header; each further one doubles what is read.
const BLOCK_LEN: u64 = 256 << 10;
/// No header is longer: the numbers of dimensions, variables and attributes follow from its bytes.
pub(super) const HEADER_LEN_MAX: u64 = 256 << 20;

/// Why a header cannot be read.
#[derive(Debug)]
pub(super) enum Stop {
    /// The file cannot be read.
    Io(tet_io::Error),
    /// It breaks a rule.
    Fault(ForeignFault),
}

impl From<tet_io::Error> for Stop {
    fn from(error: tet_io::Error) -> Self {
        Stop::Io(error)
    }
}

pub(super) type Parsed<T> = Result<T, Stop>;

/// A place in a header.
pub(super) struct Cursor<'a> {
    source: &'a Source,
    bytes: Vec<u8>,
    at: usize,
    /// Whether lengths and numbers have 64 bits: CDF-5.
    pub(super) is_wide: bool,
    /// Whether offsets have 64 bits: CDF-2 and CDF-5.
    pub(super) has_wide_offsets: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Cursor { source, bytes: Vec::new(), at: 0, is_wide: false, has_wide_offsets: false }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        u64::try_from(self.at).unwrap_or(u64::MAX)
    }

    /// The next bytes.
    pub(super) fn take(&mut self, len: u64) -> Parsed<&[u8]> {
        let end = self.at().saturating_add(len);
        self.fill(end)?;
        let start = self.at;
        self.at = usize::try_from(end).unwrap_or(usize::MAX);
        Ok(self.bytes.get(start..self.at).unwrap_or_default())
    }

    /// The next bytes, and the zeros that fill the last group of four.
    pub(super) fn take_padded(&mut self, len: u64) -> Parsed<&[u8]> {
        let start = self.at;
        let padded = len.checked_next_multiple_of(4).unwrap_or(u64::MAX);
        self.take(padded)?;
        let end = usize::try_from(len).unwrap_or(usize::MAX).saturating_add(start);
        Ok(self.bytes.get(start..end).unwrap_or_default())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let bytes = self.take(N as u64)?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    /// A tag or type.
    pub(super) fn word(&mut self) -> Parsed<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A length or number, of 32 or 64 bits by the version.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        if !self.is_wide {
            return self.word().map(u64::from);
        }
        let at = self.at();
        let number = self.array().map(u64::from_be_bytes)?;
        if number < 1 << 63 {
            return Ok(number);
        }
        Err(Stop::Fault(ForeignFault { rule: &rule::NUMBER, at, found: number, wanted: 1 << 63 }))
    }

    /// An offset in the file.
    pub(super) fn offset(&mut self) -> Parsed<u64> {
        if self.has_wide_offsets {
            self.array().map(u64::from_be_bytes)
        } else {
            self.word().map(u64::from)
        }
    }

    /// Reads until there are `end` bytes.
    fn fill(&mut self, end: u64) -> Parsed<()> {
        let held = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        if end <= held {
            return Ok(());
        }
        let fault = |rule: &'static ForeignRule, wanted| {
            let fault = ForeignFault { rule, at: self.at(), found: end, wanted };
            Err(Stop::Fault(fault))
        };
        let len = self.source.len();
        if len < end {
            return fault(&rule::HEADER_CUT, len);
        }
        if HEADER_LEN_MAX < end {
            return fault(&rule::LIMIT_HEADER, HEADER_LEN_MAX);
        }
        let wanted = held.saturating_mul(2).max(BLOCK_LEN).max(end).min(len).min(HEADER_LEN_MAX);
        let more = self.source.read_vec(held, wanted.saturating_sub(held))?;
        self.bytes.extend_from_slice(&more);
        Ok(())
    }
}
