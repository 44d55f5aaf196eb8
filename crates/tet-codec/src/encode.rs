//! Filters as they are written: bytes to bytes, each undone by the stage of the same name.
//!
//! ```
//! let (mut planes, mut stored) = (Vec::new(), Vec::new());
//! tet_codec::encode::shuffle(&[1, 11, 2, 12], 2, &mut planes)?;
//! assert_eq!(planes, [1, 2, 11, 12]);
//! tet_codec::encode::deflate(&planes, 6, &mut stored)?;
//! # Ok::<(), tet_codec::Error>(())
//! ```

use crc_fast::CrcAlgorithm;
use flate2::{Compress, Compression, FlushCompress, Status};

use crate::checksum::{ChecksumPlace, Checksummed};
use crate::error::{Error, Result};
use crate::scratch::{index, resize};

/// The levels of deflate.
const LEVEL_MAX: u32 = 9;
const DEFLATE: &str = "deflate";
/// A member without name and time, by an unknown system.
const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

/// Adds the checksum of the bytes, in the place where `stage` expects it.
///
/// # Errors
///
/// Returns [`Error::Memory`] when there is no memory for the result.
pub fn checksum(stage: Checksummed, decoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (checksum, place) = (stage.kind(), stage.place());
    let sum = checksum.compute(decoded).to_le_bytes();
    let (first, last) = match place {
        ChecksumPlace::Start => (&sum[..], decoded),
        ChecksumPlace::End => (decoded, &sum[..]),
    };
    resize(checksum.name(), out, first.len().saturating_add(last.len()))?;
    let (start, end) = out.split_at_mut(first.len());
    start.copy_from_slice(first);
    end.copy_from_slice(last);
    Ok(())
}

/// Shuffles elements of `element_size` bytes; what is no whole element is copied to the end.
///
/// # Errors
///
/// Returns [`Error::Memory`] when there is no memory for the result.
pub fn shuffle(decoded: &[u8], element_size: u64, out: &mut Vec<u8>) -> Result<()> {
    resize("shuffle", out, decoded.len())?;
    let size = element_size.max(1);
    let whole = decoded.len() - decoded.len().checked_rem(index(size)).unwrap_or_default();
    let ((elements, tail), (planes, rest)) = (decoded.split_at(whole), out.split_at_mut(whole));
    crate::shuffle::forward(elements, size, planes);
    rest.copy_from_slice(tail);
    Ok(())
}

/// Compresses bytes to a zlib stream, with a level of 0 to 9.
///
/// # Errors
///
/// Returns [`Error::Level`] for another level, and [`Error::Memory`].
pub fn deflate(decoded: &[u8], level: u32, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    stream(decoded, level, Framing::Zlib, out)
}

/// Compresses bytes to a gzip member, with a level of 0 to 9.
///
/// # Errors
///
/// Returns [`Error::Level`] for another level, and [`Error::Memory`].
pub fn gzip(decoded: &[u8], level: u32, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    out.extend(GZIP_HEADER);
    stream(decoded, level, Framing::None, out)?;
    let crc = crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, decoded);
    // Both numbers are of 32 bits; the length is stored modulo 2^32.
    for number in [crc, decoded.len() as u64] {
        out.extend(number.to_le_bytes().first_chunk::<4>().copied().unwrap_or_default());
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    None,
    Zlib,
}

/// Appends a stream of deflate.
fn stream(decoded: &[u8], level: u32, framing: Framing, out: &mut Vec<u8>) -> Result<()> {
    if LEVEL_MAX < level {
        let level = i32::try_from(level).unwrap_or(i32::MAX);
        return Err(Error::Level { codec: DEFLATE, level, min: 0, max: 9 });
    }
    let mut context = Compress::new(Compression::new(level), framing == Framing::Zlib);
    // Blocks that cannot be compressed are stored, with 5 bytes for each.
    let bound = decoded.len() + decoded.len() / 1000 + 64;
    loop {
        let more = bound.saturating_sub(out.len()).max(4096);
        out.try_reserve(more).map_err(|_| Error::Memory { codec: DEFLATE })?;
        let rest = decoded.get(index(context.total_in())..).unwrap_or_default();
        let status = context.compress_vec(rest, out, FlushCompress::Finish);
        match status.map_err(|_| Error::Memory { codec: DEFLATE })? {
            Status::StreamEnd => return Ok(()),
            Status::Ok | Status::BufError => {}
        }
    }
}
