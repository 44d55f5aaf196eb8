//! Bytes of a source in place, without a copy.

use std::ops::{Deref, Range};

use tet_format::Span;

use crate::source::Source;

/// Bytes of a source in memory, or of a mapping that the caller guarantees, without a copy.
///
/// They keep their source alive. Leased mappings have none: they end when a writer opens the file.
///
/// ```
/// use tet_format::Span;
/// use tet_io::Source;
///
/// let source = Source::from_bytes(*b"header and payload");
/// let payload = source.bytes(Span::new(11, 7).unwrap()).unwrap();
/// drop(source);
/// assert_eq!(&payload[..], b"payload");
/// ```
#[derive(Clone, Debug)]
pub struct Bytes {
    source: Source,
    range: Range<usize>,
}

impl Source {
    /// These bytes in place; `None` if they must be read, or are past the end of the file.
    #[must_use]
    pub fn bytes(&self, span: Span) -> Option<Bytes> {
        let (start, end) = (span.start().try_into().ok()?, span.end().try_into().ok()?);
        self.pinned()?.get(start..end)?;
        Some(Bytes { source: self.clone(), range: start..end })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all = self.source.pinned().unwrap_or_default();
        all.get(self.range.clone()).unwrap_or_default()
    }
}
