//! lzf: HDF5 filter 32000, which h5py registers.
//!
//! ```text
//!   000nnnnn                n + 1 bytes follow
//!   lllddddd [l] d          l + 2 bytes from d + 1 bytes back; l of 7 has one more byte added
//! ```

use crate::error::{Error, Result};
use crate::filter::Compressor;

const NAME: &str = "lzf";
/// A match of 3 bytes decodes to at most 264.
const RATIO_MAX: u64 = 88;
const LITERALS: u8 = 32;

/// Undoes lzf.
///
/// ```
/// use tet_codec::{Lzf, Stage};
///
/// let mut out = [0; 6];
/// Lzf.undo_into(&[1, b'a', b'b', 0b010_00000, 1], &mut out)?;
/// assert_eq!(&out, b"ababab");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lzf;

impl Compressor for Lzf {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let (room, mut at, mut rest) = (out.len(), 0, stored);
        while let Some((token, after)) = rest.split_first() {
            let (len, after) = if *token < LITERALS {
                let len = usize::from(*token) + 1;
                let (bytes, after) = after.split_at_checked(len).ok_or(CUT)?;
                let place = out.get_mut(at..at + len).ok_or(long(room))?;
                place.copy_from_slice(bytes);
                (len, after)
            } else {
                let (len, distance, after) = matched(*token, after).ok_or(CUT)?;
                if room < at + len {
                    return Err(long(room));
                }
                repeat(out, at, len, distance)
                    .ok_or(Error::Corrupt { codec: NAME, reason: "a match starts too early" })?;
                (len, after)
            };
            at += len;
            rest = after;
        }
        Ok(at)
    }
}

const CUT: Error = Error::Corrupt { codec: NAME, reason: "cut short" };

fn long(len: usize) -> Error {
    Error::TooLong { codec: NAME, decoded_len: len as u64 }
}

/// The length and the distance of a match, and the bytes behind it.
fn matched(token: u8, rest: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (mut len, mut rest) = (usize::from(token >> 5), rest);
    if len == 7 {
        let (more, after) = rest.split_first()?;
        len += usize::from(*more);
        rest = after;
    }
    let (low, rest) = rest.split_first()?;
    let distance = usize::from(token & (LITERALS - 1)) << 8 | usize::from(*low);
    Some((len + 2, distance + 1, rest))
}

/// Copies `len` earlier bytes to `at`; a match may overlap itself.
pub(crate) fn repeat(out: &mut [u8], at: usize, len: usize, distance: usize) -> Option<()> {
    let start = at.checked_sub(distance)?;
    let (before, rest) = out.split_at_mut_checked(at)?;
    let target = rest.get_mut(..len)?;
    let source = before.get(start..)?;
    if len <= distance {
        target.copy_from_slice(source.get(..len)?);
        return Some(());
    }
    if let [byte] = source {
        target.fill(*byte);
        return Some(());
    }
    for piece in target.chunks_mut(distance) {
        piece.copy_from_slice(source.get(..piece.len())?);
    }
    Some(())
}
