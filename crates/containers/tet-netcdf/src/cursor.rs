//! Numbers of a header, from front to back.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use tet_container::read::header::{HeaderBounds, HeaderBytes, HeaderError, Parsed};
use tet_format::ForeignFault;
use tet_io::Source;

use super::rule;

/// No header is longer: the numbers of dimensions, variables and attributes follow from its bytes.
pub(crate) const HEADER_LEN_MAX: u64 = 256 << 20;

/// The bounds of a header.
const BOUNDS: HeaderBounds =
    HeaderBounds { len_max: HEADER_LEN_MAX, cut: &rule::HEADER_CUT, limit: &rule::LIMIT_HEADER };

/// A place in a header.
pub(super) struct Cursor<'a> {
    bytes: HeaderBytes<'a>,
    /// Whether lengths and numbers have 64 bits: CDF-5.
    pub(super) is_wide: bool,
    /// Whether offsets have 64 bits: CDF-2 and CDF-5.
    pub(super) has_wide_offsets: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let bytes = HeaderBytes::new(source, BOUNDS);
        Cursor { bytes, is_wide: false, has_wide_offsets: false }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.bytes.at()
    }

    /// The next bytes.
    pub(super) fn take(&mut self, len: u64) -> Parsed<&[u8]> {
        self.bytes.take(len)
    }

    /// The next bytes, and the zeros that fill the last group of four.
    pub(super) fn take_padded(&mut self, len: u64) -> Parsed<&[u8]> {
        let padded = self.bytes.take(len.checked_next_multiple_of(4).unwrap_or(u64::MAX))?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(padded.get(..len).unwrap_or_default())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        self.bytes.array()
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
        Err(HeaderError::Fault(ForeignFault {
            rule: &rule::NUMBER,
            at,
            found: number,
            wanted: 1 << 63,
        }))
    }

    /// An offset in the file.
    pub(super) fn offset(&mut self) -> Parsed<u64> {
        if self.has_wide_offsets {
            self.array().map(u64::from_be_bytes)
        } else {
            self.word().map(u64::from)
        }
    }
}
