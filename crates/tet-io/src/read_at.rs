//! Readers of the caller, and what requests to them cost.

use std::io;

use tet_format::Span;

use crate::writers::Writers;

/// Bytes that many threads can read at any offset at the same time.
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// Returns an error when some of them cannot be read.
    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Fills every part with the bytes from its offset on, as one request: sources with a high
    /// latency request all parts at once.
    ///
    /// # Errors
    ///
    /// Returns an error when some of them cannot be read.
    fn read_ranges(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        parts.iter_mut().try_for_each(|(offset, out)| self.read_exact_at(*offset, out))
    }

    /// Its name in errors, such as a URL.
    fn name(&self) -> &str {
        "(reader)"
    }

    /// The version of the bytes, such as an ETag; `None` if there is none. Results are refused if
    /// it changed after the source was created.
    ///
    /// # Errors
    ///
    /// Returns an error when the version cannot be read.
    fn version(&self) -> io::Result<Option<String>> {
        Ok(None)
    }

    /// Whether each read fails unless its bytes are of the version that was there first.
    fn is_pinned(&self) -> bool {
        false
    }

    /// Who may change the bytes without changing the version: nobody where reads are pinned to it.
    fn writers(&self) -> Writers {
        if self.is_pinned() { Writers::Absent } else { Writers::Unknown }
    }

    /// Cost of its requests, by which reads are planned.
    fn access(&self) -> Access {
        Access::LOCAL
    }

    /// The number of requests that reading these bytes would take: those in memory take none.
    fn request_count(&self, span: Span) -> u64 {
        u64::from(!span.is_empty())
    }
}

/// Cost of requests to a source. Plans follow it; results do not depend on it.
///
/// ```
/// use tet_io::{Access, Source};
///
/// assert_eq!(Source::from_bytes(*b"abc").access(), Access::LOCAL);
/// assert!(!Access::LOCAL.is_remote());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Requests that are worth making at the same time; 1 for a local file.
    pub depth: usize,
    /// The widest gap, in bytes, that costs less than another request.
    pub gap_max: u64,
    /// The longest read, in bytes, that is one request.
    pub request_len: u64,
}

impl Access {
    /// A file of this machine, or bytes in memory.
    pub const LOCAL: Access = Access { depth: 1, gap_max: 16 << 10, request_len: 1 << 20 };

    /// A file of a server: another request takes about as long as the widest gap that is read through.
    pub const SERVER: Access = Access { depth: 8, gap_max: 1 << 20, request_len: 4 << 20 };

    /// Whether requests take so long that several are made at the same time, or few long ones.
    ///
    /// ```
    /// use tet_io::Access;
    ///
    /// assert!(Access { depth: 1, ..Access::SERVER }.is_remote());
    /// ```
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        1 < self.depth || Access::LOCAL.request_len < self.request_len
    }
}
