//! Sources for tests: bytes in memory, one that lists what is read, one that is mostly nothing.

use std::io;
use std::sync::Mutex;

use tet_format::Span;
use tet_io::{ReadAt, Writers};

/// A file's bytes in memory, read by position alone: no view of them is given.
#[derive(Debug)]
pub struct Bytes(pub Vec<u8>);

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let bytes = self.0.get(start..).and_then(|rest| rest.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn writers(&self) -> Writers {
        Writers::Absent
    }
}

/// Lists what is read through it.
#[derive(Debug)]
pub struct Meter<R> {
    inner: R,
    reads: Mutex<Vec<Span>>,
}

impl<R: ReadAt> Meter<R> {
    /// A meter at zero.
    pub fn new(inner: R) -> Self {
        Self { inner, reads: Mutex::default() }
    }

    /// The reads since the last `reset`, in their order.
    pub fn reads(&self) -> Vec<Span> {
        self.reads.lock().unwrap().clone()
    }

    /// Bytes read since the last `reset`.
    pub fn read_len(&self) -> u64 {
        self.reads.lock().unwrap().iter().map(|read| read.len()).sum()
    }

    /// Reads since the last `reset`.
    pub fn read_count(&self) -> u64 {
        self.reads.lock().unwrap().len() as u64
    }

    /// Back to zero.
    pub fn reset(&self) {
        self.reads.lock().unwrap().clear();
    }
}

impl<R: ReadAt> ReadAt for Meter<R> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.reads.lock().unwrap().push(Span::new(offset, out.len() as u64).unwrap());
        self.inner.read_exact_at(offset, out)
    }
}

/// A long source whose first bytes are given and whose other bytes follow from their offset.
///
/// The byte at offset `o` past the head is the low byte of `o / 4 * 2654435761 >> (o % 4 * 8)`:
/// any stretch can be made without the others.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// The bytes that are given.
    pub head: Vec<u8>,
    /// The whole length.
    pub len: u64,
}

impl Synthetic {
    /// The byte at `offset`, past the head.
    #[must_use]
    pub fn byte(offset: u64) -> u8 {
        let word = (offset / 4).wrapping_mul(2_654_435_761);
        (word >> (offset % 4 * 8)) as u8
    }
}

impl ReadAt for Synthetic {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (at, byte) in (offset..).zip(out) {
            *byte = match usize::try_from(at).ok().and_then(|at| self.head.get(at)) {
                Some(&given) => given,
                None => Self::byte(at),
            };
        }
        Ok(())
    }
}
