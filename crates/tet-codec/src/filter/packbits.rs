//! packbits of numcodecs: booleans as bits, the first one highest, after a byte with the number of
//! bits that are not used.

use crate::error::{Error, Result};
use crate::pipeline::{Room, Stage};
use crate::scratch::{index, resize};

const NAME: &str = "packbits";

/// Undoes packbits.
///
/// ```
/// use tet_codec::{PackBits, Stage};
///
/// let mut out = [0; 3];
/// PackBits.undo_into(&[5, 0b1010_0000], &mut out)?;
/// assert_eq!(out, [1, 0, 1]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackBits;

impl Stage for PackBits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        len.div_ceil(8).checked_add(1)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_sub(1).saturating_mul(8)
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        let unused = stored.first().copied().unwrap_or_default();
        let len = self.decoded_max(stored.len() as u64).saturating_sub(unused.into());
        room.check(NAME, len)?;
        resize(NAME, out, index(len))?;
        self.undo_into(stored, out)
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let damaged = Error::Corrupt { codec: NAME, reason: "the number of bits is invalid" };
        let (unused, bits) = stored.split_first().ok_or(damaged.clone())?;
        if 7 < *unused || bits.is_empty() && *unused != 0 {
            return Err(damaged);
        }
        let len = self.decoded_max(stored.len() as u64).saturating_sub((*unused).into());
        Room::Exact(out.len() as u64).check(NAME, len)?;
        for (places, byte) in out.chunks_mut(8).zip(bits) {
            for (place, shift) in places.iter_mut().zip((0..8).rev()) {
                *place = byte >> shift & 1;
            }
        }
        Ok(())
    }
}
