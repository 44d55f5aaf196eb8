//! lz4 blocks in two framings: HDF5 filter 32004, and numcodecs `lz4`.
//!
//! ```text
//!   numcodecs: | decoded length, u32 little-endian | block |
//!   HDF5:      | decoded length, u64 big-endian | block length, u32 | block | block | ...
//!              block: | stored length, u32 big-endian | bytes, as they are if nothing is saved |
//! ```

use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::scratch::index;

const NAME: &str = "lz4";
/// The most bytes that one byte of a block decodes to.
const RATIO_MAX: u64 = 255;

/// Undoes lz4.
///
/// ```
/// use tet_codec::{Lz4, Stage};
///
/// let mut out = [0; 3];
/// Lz4::Numcodecs.undo_into(b"\x03\0\0\0\x30abc", &mut out)?;
/// assert_eq!(&out, b"abc");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lz4 {
    /// The framing of HDF5 filter 32004.
    Hdf5,
    /// The framing of numcodecs.
    Numcodecs,
}

impl Compressor for Lz4 {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn numcodecs_codec(&self) -> Option<NumcodecsCodec> {
        (*self == Lz4::Numcodecs).then(|| NumcodecsCodec::named("lz4"))
    }

    fn max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        match self {
            Lz4::Hdf5 => blocks(stored, out),
            Lz4::Numcodecs => {
                let (len, stored) = stored.split_first_chunk().ok_or(CUT)?;
                let place = place(out, u32::from_le_bytes(*len).into())?;
                block(stored, place)?;
                Ok(place.len())
            }
        }
    }
}

const CUT: Error = Error::Corrupt { codec: NAME, reason: "cut short" };

/// The start of `out` that has the stated length.
fn place(out: &mut [u8], len: u64) -> Result<&mut [u8]> {
    let decoded_len = out.len() as u64;
    out.get_mut(..index(len)).ok_or(Error::TooLong { codec: NAME, decoded_len })
}

/// Decodes one block into exactly `out`.
pub(crate) fn block(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match lz4_flex::block::decompress_into(stored, out) {
        Ok(len) if len == out.len() => Ok(()),
        Ok(_) => Err(Error::Corrupt { codec: NAME, reason: "a block is too short" }),
        Err(_) => Err(Error::Corrupt { codec: NAME, reason: "a block is invalid" }),
    }
}

fn blocks(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let (len, rest) = stored.split_first_chunk().ok_or(CUT)?;
    let (block_len, mut rest) = rest.split_first_chunk().ok_or(CUT)?;
    let place = place(out, u64::from_le_bytes(*len).swap_bytes())?;
    let block_len = index(u32::from_le_bytes(*block_len).swap_bytes().into());
    if block_len == 0 && !place.is_empty() {
        return Err(Error::Corrupt { codec: NAME, reason: "blocks have no length" });
    }
    for out in place.chunks_mut(block_len.max(1)) {
        let (len, after) = rest.split_first_chunk().ok_or(CUT)?;
        let len = index(u32::from_le_bytes(*len).swap_bytes().into());
        let (bytes, after) = after.split_at_checked(len).ok_or(CUT)?;
        if len == out.len() {
            out.copy_from_slice(bytes);
        } else {
            block(bytes, out)?;
        }
        rest = after;
    }
    Ok(place.len())
}
