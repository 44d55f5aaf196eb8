//! The body of a request: bytes, or a part of a file that is read as it is sent.

use std::io::{self, Read};

use tet_format::Span;
use tet_io::Source;

/// The body of a request.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    Bytes(&'a [u8]),
    /// Bytes that are read as they are sent.
    Part(&'a Source, Span),
}

impl Body<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Part(_, span) => span.len(),
        }
    }
}

impl Read for Body<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (source, span) = match self {
            Body::Bytes(bytes) => return bytes.read(out),
            Body::Part(source, span) => (source, span),
        };
        let len = usize::try_from(span.len()).unwrap_or(usize::MAX).min(out.len());
        source.read_exact_at(span.start(), &mut out[..len]).map_err(io::Error::other)?;
        *span = Span::from_range(span.start() + len as u64..span.end()).unwrap_or(Span::EMPTY);
        Ok(len)
    }
}
