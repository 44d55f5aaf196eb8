//! Copies a span from file to file inside the kernel: shares blocks if the file system can, and
//! preserves holes of the source.

use std::fs::File;

use tet_format::Span;

/// Shorter spans are faster to read and write.
#[cfg(target_os = "linux")]
const COPY_LEN_MIN: u64 = 1 << 16;

#[cfg(not(target_os = "linux"))]
pub(super) fn copy(_from: &File, _span: Span, _to: &mut File) -> u64 {
    0
}

/// Copies as much of `span` as the kernel can. Returns the number of bytes from its start.
#[cfg(target_os = "linux")]
pub(super) fn copy(from: &File, span: Span, to: &mut File) -> u64 {
    let mut at = span.start();
    // A file that was truncated meanwhile would look like one that ends with a hole.
    let is_whole = from.metadata().is_ok_and(|metadata| span.end() <= metadata.len());
    if span.len() < COPY_LEN_MIN || !is_whole {
        return 0;
    }
    // Past the end of the new file everything is a hole; before it there may be bytes.
    let keeps_holes = is_at_end(to);
    while at < span.end() {
        let Some(piece) = next_piece(from, at, span.end()) else { break };
        if keeps_holes {
            match skip(to, piece.data - at) {
                Some(skipped) => at += skipped,
                None => break,
            }
        }
        let end = piece.end;
        while at < end {
            match copy_some(from, at, to, end - at) {
                Some(copied) => at += copied,
                None => return at - span.start(),
            }
        }
    }
    at - span.start()
}

/// A hole, which may be empty, and the bytes after it.
#[cfg(target_os = "linux")]
struct Piece {
    /// The end of the hole. After the last bytes it is one byte before the end of the span: writing
    /// that byte sets the length of the new file.
    data: u64,
    end: u64,
}

#[cfg(target_os = "linux")]
fn next_piece(from: &File, at: u64, end: u64) -> Option<Piece> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let data = match seek(from, SeekFrom::Data(at)) {
        Ok(data) => data,
        Err(Errno::NXIO) => end,
        Err(_) => return None,
    };
    if end <= data {
        return Some(Piece { data: end - 1, end });
    }
    let hole = seek(from, SeekFrom::Hole(data)).ok()?;
    // A concurrent writer may make the two results inconsistent.
    (at <= data && data < hole).then(|| Piece { data, end: hole.min(end) })
}

#[cfg(target_os = "linux")]
fn is_at_end(to: &mut File) -> bool {
    use std::io::Seek;
    let len = to.metadata().map(|metadata| metadata.len());
    matches!((len, to.stream_position()), (Ok(len), Ok(position)) if len <= position)
}

#[cfg(target_os = "linux")]
fn skip(to: &mut File, len: u64) -> Option<u64> {
    use std::io::{Seek, SeekFrom};
    to.seek(SeekFrom::Current(i64::try_from(len).ok()?)).ok()?;
    Some(len)
}

/// One call, repeated if a signal interrupts it; `None` if the kernel cannot continue.
#[cfg(target_os = "linux")]
fn copy_some(from: &File, at: u64, to: &File, len: u64) -> Option<u64> {
    use rustix::io::Errno;
    const CALL_LEN_MAX: u64 = 1 << 30;
    let len = usize::try_from(len.min(CALL_LEN_MAX)).ok()?;
    loop {
        let mut offset = at;
        match rustix::fs::copy_file_range(from, Some(&mut offset), to, None, len) {
            Ok(0) => return None,
            Ok(copied) => return Some(copied as u64),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}
