//! The container: the magic at both ends, and the footer that places the manifest.

use tet_codec::{Strength, compare};
use tet_format::{Digest, Span};
use tet_io::Source;

use super::rule;
use crate::error::{Fault, Result};
use crate::limits::Limits;

/// The length of the magic.
const MAGIC_LEN: u64 = 8;

/// A version of the format whose files hold objects.
///
/// ```
/// use tet_ztensor::objects::Version;
///
/// assert_eq!(Version::from_magic(b"ZTEN1000"), Some(Version::One));
/// assert_eq!(Version::from_magic(b"ZTEN0001"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// 1.0 to 1.2.
    One,
    /// 2.
    Two,
}

impl Version {
    /// The version of a file that starts with these bytes.
    #[must_use]
    pub fn from_magic(head: &[u8]) -> Option<Version> {
        let head = head.first_chunk()?;
        [Version::One, Version::Two].into_iter().find(|version| version.magic() == *head)
    }

    /// The bytes at both ends of a file.
    #[must_use]
    pub const fn magic(self) -> [u8; 8] {
        match self {
            Version::One => *b"ZTEN1000",
            Version::Two => [0x89, b'Z', b'T', b'2', b'\r', b'\n', 0x1A, b'\n'],
        }
    }

    /// Blobs start at multiples of this.
    #[must_use]
    pub const fn align(self) -> u64 {
        match self {
            Version::One => 64,
            Version::Two => 4096,
        }
    }

    /// The length of the footer.
    pub(super) const fn footer_len(self) -> u64 {
        match self {
            Version::One => 16,
            Version::Two => 40,
        }
    }
}

/// Where the manifest is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container {
    pub(super) version: Version,
    /// The manifest; `None` in a file that only holds blobs of another one.
    pub(super) manifest: Option<Span>,
    /// The XXH3 of the manifest, where the footer states it.
    pub(super) hash: Option<u64>,
    /// Where the footer starts: blobs end before it.
    pub(super) data_end: u64,
}

impl Container {
    /// Reads the magic and the footer.
    pub(super) fn read(source: &Source, limits: &Limits) -> Result<Container> {
        let file_len = source.len();
        let head = source.read_vec(0, MAGIC_LEN.min(file_len))?;
        let truncated = |wanted| Fault { rule: &rule::TRUNCATED, at: 0, found: file_len, wanted };
        let Some(head) = head.first_chunk::<8>() else { return Err(truncated(MAGIC_LEN).into()) };
        let Some(version) = Version::from_magic(head) else {
            let [found, wanted] = [*head, Version::Two.magic()].map(u64::from_le_bytes);
            return Err(Fault { rule: &rule::MAGIC, at: 0, found, wanted }.into());
        };
        let footer_len = version.footer_len();
        let data_end = file_len.checked_sub(footer_len).filter(|end| MAGIC_LEN <= *end);
        let Some(data_end) = data_end else {
            return Err(truncated(footer_len.saturating_add(MAGIC_LEN)).into());
        };
        let footer = source.read_vec(data_end, footer_len)?;
        let tail = footer.last_chunk::<8>().copied().unwrap_or_default();
        if tail != version.magic() {
            let [found, wanted] = [tail, version.magic()].map(u64::from_le_bytes);
            let at = file_len.saturating_sub(MAGIC_LEN);
            return Err(Fault { rule: &rule::MAGIC_END, at, found, wanted }.into());
        }
        let container = Container { version, manifest: None, hash: None, data_end };
        let container = match version {
            Version::One => container.place_first(&footer)?,
            Version::Two => container.place_second(&footer)?,
        };
        if let Some(manifest) = container.manifest {
            let (wanted, at) = (limits.index_len_max, manifest.start());
            if wanted < manifest.len() {
                let rule = &rule::LIMIT_MANIFEST;
                return Err(Fault { rule, at, found: manifest.len(), wanted }.into());
            }
        }
        Ok(container)
    }

    /// The manifest of version 1 ends where the footer begins.
    fn place_first(self, footer: &[u8]) -> Result<Container, Fault> {
        let len = word(footer, 0);
        let start = self.data_end.checked_sub(len).filter(|start| MAGIC_LEN <= *start && len != 0);
        let manifest = start.and_then(|start| Span::from_range(start..self.data_end));
        let wanted = self.data_end.saturating_sub(MAGIC_LEN);
        let (rule, at) = (&rule::MANIFEST_BOUNDS, self.data_end);
        let manifest = manifest.ok_or(Fault { rule, at, found: len, wanted })?;
        Ok(Container { manifest: Some(manifest), ..self })
    }

    /// The footer of version 2 has the place of the manifest, or zeros.
    fn place_second(self, footer: &[u8]) -> Result<Container, Fault> {
        let at = |offset: u64| self.data_end.saturating_add(offset);
        let fault = |rule, offset, found, wanted| Fault { rule, at: at(offset), found, wanted };
        let [start, len, hash] = [0, 8, 16].map(|offset| word(footer, offset));
        let version = word(footer, 24) & u64::from(u32::MAX);
        if version != 2 {
            return Err(fault(&rule::VERSION, 24, version, 2));
        }
        if len == 0 {
            return match [start, hash] {
                [0, 0] => Ok(self),
                [0, hash] => Err(fault(&rule::MANIFEST_BOUNDS, 16, hash, 0)),
                [start, _] => Err(fault(&rule::MANIFEST_BOUNDS, 0, start, 0)),
            };
        }
        let align = self.version.align();
        if start < align || !start.is_multiple_of(align) {
            let wanted = (start / align).max(1).saturating_mul(align);
            return Err(fault(&rule::MANIFEST_ALIGNED, 0, start, wanted));
        }
        let manifest = Span::new(start, len).filter(|span| span.end() <= self.data_end);
        let wanted = self.data_end.saturating_sub(start);
        let manifest = manifest.ok_or(fault(&rule::MANIFEST_BOUNDS, 8, len, wanted))?;
        Ok(Container { manifest: Some(manifest), hash: Some(hash), ..self })
    }

    /// Compares the bytes of the manifest with the hash in the footer.
    pub(super) fn check_hash(&self, at: u64, manifest: &[u8]) -> Result<(), Fault> {
        let Some(xxh3) = self.hash else { return Ok(()) };
        match compare(manifest, Digest { crc32c: 0, xxh3 }, Strength::Fast) {
            Some((found, wanted)) => Err(Fault { rule: &rule::MANIFEST_HASH, at, found, wanted }),
            None => Ok(()),
        }
    }
}

/// The number at an offset.
fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    word.copied().map_or(0, u64::from_le_bytes)
}
