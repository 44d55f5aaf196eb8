//! Numbers and strings of a header, from front to back.

#![allow(clippy::big_endian_bytes, reason = "GGUF files of big-endian machines exist")]

use tet_container::entry::ByteOrder;
use tet_container::read::header::{HeaderBounds, HeaderBytes, Parsed};
use tet_io::Source;

use super::rule;

/// No header is longer: what it holds in memory follows from its bytes.
pub(crate) const HEADER_LEN_MAX: u64 = 256 << 20;

/// The bounds of a header.
const BOUNDS: HeaderBounds =
    HeaderBounds { len_max: HEADER_LEN_MAX, cut: &rule::HEADER_CUT, limit: &rule::LIMIT_HEADER };

/// A place in a header.
pub(super) struct Cursor<'a> {
    bytes: HeaderBytes<'a>,
    pub(super) order: ByteOrder,
    /// Whether lengths and counts have 32 bits: version 1.
    pub(super) is_narrow: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let bytes = HeaderBytes::new(source, BOUNDS);
        Cursor { bytes, order: ByteOrder::Little, is_narrow: false }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.bytes.at()
    }

    /// The next bytes.
    pub(super) fn take(&mut self, len: u64) -> Parsed<&[u8]> {
        self.bytes.take(len)
    }

    /// A number of 32 bits.
    pub(super) fn word(&mut self) -> Parsed<u32> {
        let (order, bytes) = (self.order, self.bytes.array()?);
        Ok(match order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// A number of 64 bits.
    pub(super) fn long(&mut self) -> Parsed<u64> {
        let (order, bytes) = (self.order, self.bytes.array()?);
        Ok(match order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// A length or count, of 32 bits in version 1 and of 64 bits in the others.
    pub(super) fn number(&mut self) -> Parsed<u64> {
        if self.is_narrow { self.word().map(u64::from) } else { self.long() }
    }

    /// The bytes of a string.
    pub(super) fn text(&mut self) -> Parsed<&[u8]> {
        let len = self.number()?;
        self.take(len)
    }
}
