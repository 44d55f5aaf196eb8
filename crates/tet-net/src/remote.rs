//! The bytes of a file on a server.
//!
//! ```text
//!   open   two requests at the same time: the first 256 KiB, the last 64 KiB where the index of a
//!          format is there; both are kept
//!   read   what is in memory; small reads by blocks of 64 KiB, which are kept for a while; longer ones
//!          on demand, in requests of 4 MiB, several at the same time
//! ```
//!
//! The version of the file is that of the first answer. Every request asks for it, and every answer is
//! compared with it, so that no two versions are ever mixed.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tet_format::Span;
use tet_io::{Access, Error, Operation, ReadAt, Result, at_once};

use crate::blocks::{BLOCK_LEN, Blocks};
use crate::ranges::{FileVersion, RangeAnswer, RangeSource, Wanted};
use crate::retry;
use crate::settings::Settings;

/// Bytes at the beginning that are read when a file is opened.
const HEAD_LEN: u64 = 256 << 10;
/// Bytes at its end.
const TAIL_LEN: u64 = 64 << 10;
/// The longest range of one request.
const REQUEST_LEN: u64 = Access::SERVER.request_len;

/// Suffixes of formats whose index is at the end of a file.
const WITH_INDEX_LAST: [&str; 9] = ["tet", "zt", "tgm", "zip", "npz", "pt", "pth", "ckpt", "bin"];

/// A file on a server: a [`ReadAt`] by range requests.
///
/// ```
/// use tet_net::{RangeAnswer, RangeFailure, RangeSource, Remote, Settings, FileVersion, Wanted};
/// use tet_io::ReadAt;
///
/// #[derive(Debug)]
/// struct Memory(Vec<u8>);
///
/// impl RangeSource for Memory {
///     fn name(&self) -> &str {
///         "memory"
///     }
///
///     fn get(&self, wanted: Wanted, _: Option<&FileVersion>, out: &mut Vec<u8>) -> Result<RangeAnswer, RangeFailure> {
///         let (offset, len) = wanted.within(self.0.len() as u64);
///         out.extend_from_slice(&self.0[offset as usize..][..len as usize]);
///         Ok(RangeAnswer { offset, version: FileVersion { len: self.0.len() as u64, ..FileVersion::default() } })
///     }
/// }
///
/// let remote = Remote::open(Box::new(Memory(vec![7; 1 << 20])), &Settings::default())?;
/// let mut out = [0; 3];
/// remote.read_exact_at(1_000_000, &mut out)?;
/// assert_eq!(out, [7; 3]);
/// assert_eq!(remote.requests(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Remote {
    ranges: Box<dyn RangeSource>,
    settings: Settings,
    version: FileVersion,
    /// Windows read when the file was opened, by offset.
    windows: Vec<(u64, Vec<u8>)>,
    blocks: Mutex<Blocks>,
    requests: AtomicU64,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.ranges).finish()
    }
}

/// A range that is read with one request, and its place.
type Request<'a> = (u64, &'a mut [u8]);

impl Remote {
    /// Opens the file of `ranges`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the server does not answer with the two windows, and
    /// [`Error::Changed`] when they are of two versions.
    pub fn open(ranges: Box<dyn RangeSource>, settings: &Settings) -> Result<Self> {
        let requests = AtomicU64::new(0);
        let get =
            |wanted: Wanted, pinned: Option<&FileVersion>| -> Result<(RangeAnswer, Vec<u8>)> {
                let mut bytes = Vec::new();
                requests.fetch_add(1, Ordering::Relaxed);
                let answer = retry::get(&*ranges, wanted, pinned, &mut bytes, settings)?;
                Ok((answer, bytes))
            };
        let has_tail = has_index_last(ranges.name());
        let (head, tail) = std::thread::scope(|scope| {
            let tail = has_tail.then(|| {
                let thread = std::thread::Builder::new();
                thread.spawn_scoped(scope, || get(Wanted::Last { len: TAIL_LEN }, None)).ok()
            });
            let head = get(Wanted::From { offset: 0, len: HEAD_LEN }, None);
            let tail = tail.flatten().and_then(|thread| thread.join().ok());
            (head, tail)
        });
        let (head, bytes) = head?;
        let version = head.version;
        let mut windows = vec![(0, bytes)];
        // A server may have no ranges from the end: that window is then read when it is needed.
        if let Some(Ok((tail, bytes))) = tail {
            if tail.version.text() != version.text() || tail.version.len != version.len {
                return Err(Error::Changed { path: ranges.name().into() });
            }
            windows.push((tail.offset, bytes));
        }
        let (blocks, settings) = (Mutex::default(), settings.clone());
        Ok(Remote { ranges, settings, version, windows, blocks, requests })
    }

    /// The number of requests so far, without those that were repeated.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of the first bytes of a range a window has.
    fn first_held(&self, offset: u64, len: u64) -> u64 {
        let held = |(start, bytes): &(u64, Vec<u8>)| {
            let skip = offset.checked_sub(*start)?;
            Some((bytes.len() as u64).saturating_sub(skip).min(len))
        };
        self.windows.iter().filter_map(held).max().unwrap_or(0)
    }

    /// How many of the last bytes of a range a window has.
    fn last_held(&self, range: &Range<u64>) -> u64 {
        let held = |(start, bytes): &(u64, Vec<u8>)| {
            let end = start + bytes.len() as u64;
            (range.end <= end).then(|| range.end - range.start.max(*start).min(range.end))
        };
        self.windows.iter().filter_map(held).max().unwrap_or(0)
    }

    /// The bytes of a range that no window has: what is held of it is at its ends.
    fn missing(&self, offset: u64, len: u64) -> Range<u64> {
        let start = offset + self.first_held(offset, len);
        let end = offset + len;
        start..end - self.last_held(&(start..end))
    }

    /// Copies bytes of the windows.
    fn copy_held(&self, offset: u64, out: &mut [u8]) {
        let end = offset + out.len() as u64;
        for (start, bytes) in &self.windows {
            let common = offset.max(*start)..end.min(start + bytes.len() as u64);
            if common.is_empty() {
                continue;
            }
            let index = |at: u64, base: u64| usize::try_from(at - base).unwrap_or(usize::MAX);
            let from = index(common.start, *start)..index(common.end, *start);
            let to = index(common.start, offset)..index(common.end, offset);
            if let (Some(from), Some(to)) = (bytes.get(from), out.get_mut(to)) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Copies what the windows have into `out`, and gives what is left to be read.
    fn left<'a>(&self, offset: u64, out: &'a mut [u8]) -> io::Result<Option<Request<'a>>> {
        let len = out.len() as u64;
        let end = offset.checked_add(len).filter(|&end| end <= self.version.len);
        end.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.copy_held(offset, out);
        let missing = self.missing(offset, len);
        let index = |at: u64| usize::try_from(at - offset).unwrap_or(usize::MAX);
        let rest = out.get_mut(index(missing.start)..index(missing.end));
        Ok(rest.filter(|rest| !rest.is_empty()).map(|rest| (missing.start, rest)))
    }

    /// Reads a small range through the blocks that have it.
    fn read_small(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        let (first, last) = (offset / BLOCK_LEN, end.div_ceil(BLOCK_LEN));
        let mut held = Vec::new();
        {
            let mut blocks = self.blocks();
            held.extend((first..last).map_while(|number| blocks.get(number)));
        }
        let start = first * BLOCK_LEN;
        let bytes = if (held.len() as u64) < last - first {
            let end = last.saturating_mul(BLOCK_LEN).min(self.version.len);
            let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
            self.request(start, &mut bytes)?;
            self.blocks().put(first, &bytes);
            bytes
        } else {
            held.iter().flat_map(|block| block.iter().copied()).collect()
        };
        let at = usize::try_from(offset - start).unwrap_or(usize::MAX);
        let bytes = bytes.get(at..).and_then(|bytes| bytes.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// Makes one request.
    fn request(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let wanted = Wanted::From { offset, len: out.len() as u64 };
        let mut bytes = Vec::new();
        let answer =
            retry::get(&*self.ranges, wanted, Some(&self.version), &mut bytes, &self.settings);
        let answer = answer.map_err(io::Error::other)?;
        if answer.offset != offset || bytes.len() != out.len() {
            let path = self.ranges.name().as_ref();
            let text = "the answer is another range than was asked for";
            return Err(io::Error::other(Error::io(Operation::Read, path, io::Error::other(text))));
        }
        out.copy_from_slice(&bytes);
        Ok(())
    }

    /// Makes requests, several at the same time; the error is that of the first that fails.
    fn request_all(&self, requests: Vec<Request<'_>>) -> io::Result<()> {
        let len = usize::try_from(REQUEST_LEN).unwrap_or(usize::MAX);
        let pieces = requests.into_iter().flat_map(|(offset, out)| {
            out.chunks_mut(len).zip((offset..).step_by(len)).map(|(out, at)| (at, out))
        });
        let pieces: Vec<_> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
        at_once(pieces.len(), self.settings.depth, |nth| {
            let piece = pieces.get(nth);
            let piece =
                piece.and_then(|it| it.lock().unwrap_or_else(PoisonError::into_inner).take());
            piece.map_or(Ok(()), |(offset, out)| self.request(offset, out))
        })?;
        Ok(())
    }
}

impl ReadAt for Remote {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match self.left(offset, out)? {
            None => Ok(()),
            Some((offset, out)) if (out.len() as u64) < BLOCK_LEN => self.read_small(offset, out),
            Some(rest) => self.request_all(vec![rest]),
        }
    }

    fn read_ranges(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let mut requests = Vec::with_capacity(parts.len());
        for (offset, out) in parts {
            requests.extend(self.left(*offset, out)?);
        }
        self.request_all(requests)
    }

    fn name(&self) -> &str {
        self.ranges.name()
    }

    fn version(&self) -> io::Result<Option<String>> {
        // Every answer is compared with it.
        Ok(self.version.text())
    }

    fn is_pinned(&self) -> bool {
        self.version.text().is_some()
    }

    fn access(&self) -> Access {
        Access { depth: self.settings.depth, ..Access::SERVER }
    }

    fn request_count(&self, span: Span) -> u64 {
        let missing = self.missing(span.start(), span.len());
        missing.end.saturating_sub(missing.start).div_ceil(REQUEST_LEN)
    }
}

/// Whether the end of a file of this name is worth a request when it is opened.
fn has_index_last(name: &str) -> bool {
    let suffix = name.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    suffix.is_some_and(|(_, suffix)| {
        WITH_INDEX_LAST.iter().any(|known| suffix.eq_ignore_ascii_case(known))
    })
}
