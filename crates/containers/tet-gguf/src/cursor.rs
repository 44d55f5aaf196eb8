//! Reads a header from front to back, in blocks that grow: no length is believed before its bytes are there.

#![allow(clippy::big_endian_bytes, reason = "GGUF files of big-endian machines exist")]

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;

use super::rule;
use tet_container::entry::ByteOrder;

/// The first block of a header; each further one doubles what is read.
const BLOCK_LEN: u64 = 256 << 10;
/// No header is longer: what it holds in memory follows from its bytes.
const HEADER_LEN_MAX: u64 = 256 << 20;

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
    pub(super) order: ByteOrder,
    /// Whether lengths and counts have 32 bits: version 1.
    pub(super) is_narrow: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let (bytes, at) = (Vec::new(), 0);
        Cursor { source, bytes, at, order: ByteOrder::Little, is_narrow: false }
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

    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let bytes = self.take(u64::try_from(N).unwrap_or(u64::MAX))?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    /// A number of 32 bits.
    pub(super) fn word(&mut self) -> Parsed<u32> {
        let (order, bytes) = (self.order, self.array()?);
        Ok(match order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// A number of 64 bits.
    pub(super) fn long(&mut self) -> Parsed<u64> {
        let (order, bytes) = (self.order, self.array()?);
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

    /// Reads until there are `end` bytes.
    fn fill(&mut self, end: u64) -> Parsed<()> {
        let held = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        if end <= held {
            return Ok(());
        }
        let fault = |rule: &'static ForeignRule, wanted| {
            Err(Stop::Fault(ForeignFault { rule, at: self.at(), found: end, wanted }))
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
