//! One request for a range of bytes, and what comes back.

use std::fmt;
use std::io;
use std::time::Duration;

/// A source of ranges of one file: a server, or a test. [`Remote`](crate::Remote) has an
/// example of one in memory.
///
/// ```
/// use tet_net::{Http, RangeSource, Settings};
///
/// let url = "https://host/a.tet".parse()?;
/// let source: Box<dyn RangeSource> = Box::new(Http::new(url, "a".into(), &Settings::default()));
/// assert_eq!(source.name(), "a");
/// # Ok::<(), url::ParseError>(())
/// ```
pub trait RangeSource: Send + Sync + fmt::Debug {
    /// The name of the file in messages, without secrets.
    fn name(&self) -> &str;

    /// Appends the bytes of a range to `out`, with one request.
    ///
    /// # Errors
    ///
    /// Returns an error when not exactly these bytes, of the version `pinned`, come back.
    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure>;
}

/// A range of a file; a file that ends earlier has fewer bytes of it.
///
/// ```
/// use tet_net::Wanted;
///
/// assert_eq!(Wanted::Last { len: 4 }.within(10), (6, 4));
/// assert_eq!(Wanted::From { offset: 8, len: 4 }.within(10), (8, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// From an offset on.
    From {
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// The end of the file.
    Last {
        /// The number of bytes.
        len: u64,
    },
}

impl Wanted {
    /// The most bytes that an answer has.
    #[must_use]
    pub const fn len(self) -> u64 {
        match self {
            Wanted::From { len, .. } | Wanted::Last { len } => len,
        }
    }

    /// Whether no bytes are wanted.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Where the range is in a file of `file_len` bytes: offset and length.
    #[must_use]
    pub fn within(self, file_len: u64) -> (u64, u64) {
        match self {
            Wanted::From { offset, len } => (offset, len.min(file_len.saturating_sub(offset))),
            Wanted::Last { len } => (file_len.saturating_sub(len), len.min(file_len)),
        }
    }
}

/// Range, length and version in a response to a range request.
///
/// ```
/// use tet_net::{FileVersion, RangeAnswer};
///
/// let version = FileVersion { len: 10, ..FileVersion::default() };
/// assert_eq!(RangeAnswer { offset: 6, version }.version.text(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeAnswer {
    /// The offset of the first byte.
    pub offset: u64,
    /// The version of the file, with its length.
    pub version: FileVersion,
}

/// Which version of a file the bytes of an answer are of.
///
/// ```
/// use tet_net::FileVersion;
///
/// let version = FileVersion { len: 10, etag: Some("\"a\"".into()), ..FileVersion::default() };
/// assert_eq!(version.strong_etag(), Some("\"a\""));
/// let weak = FileVersion { etag: Some("W/\"a\"".into()), ..version };
/// assert_eq!(weak.strong_etag(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileVersion {
    /// The length of the file.
    pub len: u64,
    /// The ETag, as the server writes it.
    pub etag: Option<String>,
    /// The time of the last change, as the server writes it.
    pub modified: Option<String>,
    /// The generation of an object of Google, which is another one each time that it is written.
    pub generation: Option<String>,
}

/// Prefix of the generation in the text of a version.
const GENERATION: &str = " generation ";

impl FileVersion {
    /// The ETag, where a request can require exactly this version by it.
    #[must_use]
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| etag.starts_with('"'))
    }

    /// The ETag of a version as one text, if it is a strong one.
    pub(crate) fn etag_of(text: &str) -> Option<&str> {
        let end = text.rfind('"').filter(|end| 0 < *end && text.starts_with('"'))?;
        text.get(..=end)
    }

    /// The generation of a version as one text, if it has one.
    pub(crate) fn generation_of(text: &str) -> Option<&str> {
        let (_, generation) = text.rsplit_once(GENERATION)?;
        generation.bytes().all(|byte| byte.is_ascii_digit()).then_some(generation)
    }

    /// The version as one text; `None` where nothing but the length is known.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let text = self.etag.as_ref().or(self.modified.as_ref())?;
        let generation = self.generation.iter().flat_map(|it| [GENERATION, it]);
        Some(format!("{text} {}{}", self.len, generation.collect::<String>()))
    }
}

/// Why a request failed.
///
/// ```
/// use tet_net::RangeFailure;
///
/// let failure = RangeFailure::Final(std::io::Error::other("the server answers with status 418"));
/// assert!(matches!(failure, RangeFailure::Final(error) if error.to_string().contains("418")));
/// ```
#[derive(Debug)]
pub enum RangeFailure {
    /// A retry may succeed; the server may state the delay.
    Later {
        /// The error.
        error: io::Error,
        /// How long to wait at least.
        after: Option<Duration>,
    },
    /// A retry fails again.
    Final(io::Error),
    /// The file is no longer the one that was opened.
    Changed,
    /// The bucket is in another region.
    Region(String),
}

impl RangeFailure {
    /// A failure that a later request may not have.
    pub(crate) fn later(error: io::Error) -> Self {
        RangeFailure::Later { error, after: None }
    }

    /// A copy of the failure, for another request.
    pub(crate) fn copy(&self) -> Self {
        let copy = |error: &io::Error| io::Error::new(error.kind(), error.to_string());
        match self {
            RangeFailure::Later { error, after } => {
                RangeFailure::Later { error: copy(error), after: *after }
            }
            RangeFailure::Final(error) => RangeFailure::Final(copy(error)),
            RangeFailure::Changed => RangeFailure::Changed,
            RangeFailure::Region(region) => RangeFailure::Region(region.clone()),
        }
    }

    /// A failure for good, in words.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        RangeFailure::Final(io::Error::other(text.into()))
    }

    /// A request that the server does not allow.
    pub(crate) fn denied(status: u16) -> Self {
        let text = format!("the server refuses access (status {status})");
        RangeFailure::Final(io::Error::new(io::ErrorKind::PermissionDenied, text))
    }
}
