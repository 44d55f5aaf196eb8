//! The bytes of a header, from front to back, in blocks that grow: no length is believed before its bytes are there.

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;

/// The first block of a header; each further one doubles what is read.
const BLOCK_LEN: u64 = 256 << 10;

/// Why a header cannot be read.
#[derive(Debug)]
pub enum HeaderError {
    /// The file cannot be read.
    Io(tet_io::Error),
    /// It breaks a rule.
    Fault(ForeignFault),
}

impl From<tet_io::Error> for HeaderError {
    fn from(error: tet_io::Error) -> Self {
        HeaderError::Io(error)
    }
}

/// A part of a header, or why it cannot be read.
pub type Parsed<T> = Result<T, HeaderError>;

/// A header, or the rule that it breaks.
///
/// # Errors
/// The file cannot be read.
pub fn judged<T>(parsed: Parsed<T>) -> crate::Result<Result<T, ForeignFault>> {
    match parsed {
        Ok(header) => Ok(Ok(header)),
        Err(HeaderError::Fault(fault)) => Ok(Err(fault)),
        Err(HeaderError::Io(error)) => Err(error.into()),
    }
}

/// The bounds of a header, and the rules that it breaks beyond them.
#[derive(Clone, Copy, Debug)]
pub struct HeaderBounds {
    /// Bytes of a header, at most: what it holds in memory follows from its bytes.
    pub len_max: u64,
    /// The rule of a file that ends within its header.
    pub cut: &'static ForeignRule,
    /// The rule of a longer header.
    pub limit: &'static ForeignRule,
}

/// The bytes of a header, and how many of them are taken.
#[derive(Debug)]
pub struct HeaderBytes<'a> {
    source: &'a Source,
    bounds: HeaderBounds,
    bytes: Vec<u8>,
    at: usize,
}

impl<'a> HeaderBytes<'a> {
    /// None is taken.
    #[must_use]
    pub fn new(source: &'a Source, bounds: HeaderBounds) -> Self {
        HeaderBytes { source, bounds, bytes: Vec::new(), at: 0 }
    }

    /// The offset of the next byte.
    #[must_use]
    pub fn at(&self) -> u64 {
        u64::try_from(self.at).unwrap_or(u64::MAX)
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// The file ends before, the header is too long, or the file cannot be read.
    pub fn take(&mut self, len: u64) -> Parsed<&[u8]> {
        let end = self.at().saturating_add(len);
        self.fill(end)?;
        let start = self.at;
        self.at = usize::try_from(end).unwrap_or(usize::MAX);
        Ok(self.bytes.get(start..self.at).unwrap_or_default())
    }

    /// Takes the next `N` bytes.
    ///
    /// # Errors
    /// As [`HeaderBytes::take`].
    pub fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let bytes = self.take(u64::try_from(N).unwrap_or(u64::MAX))?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    /// Reads until there are `end` bytes.
    fn fill(&mut self, end: u64) -> Parsed<()> {
        let held = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        if end <= held {
            return Ok(());
        }
        let HeaderBounds { len_max, cut, limit } = self.bounds;
        let fault = |rule, wanted| {
            Err(HeaderError::Fault(ForeignFault { rule, at: self.at(), found: end, wanted }))
        };
        let len = self.source.len();
        if len < end {
            return fault(cut, len);
        }
        if len_max < end {
            return fault(limit, len_max);
        }
        let wanted = held.saturating_mul(2).max(BLOCK_LEN).max(end).min(len).min(len_max);
        let more = self.source.read_vec(held, wanted.saturating_sub(held))?;
        self.bytes.extend_from_slice(&more);
        Ok(())
    }
}
