//! shuffle: HDF5 filter 2 and numcodecs `shuffle`.

use crate::error::Result;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::pipeline::{Room, Stage};
use crate::scratch::{index, resize};
use crate::shuffle;

const NAME: &str = "shuffle";

/// Undoes shuffle: all first bytes of the elements, then all second bytes. What is no whole element
/// is stored unchanged at the end.
///
/// ```
/// use tet_codec::{Shuffle, Stage};
///
/// let mut out = [0; 5];
/// Shuffle::new(2).undo_into(&[1, 2, 11, 12, 9], &mut out)?;
/// assert_eq!(out, [1, 11, 2, 12, 9]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    element_size: u64,
}

impl Shuffle {
    /// Shuffled elements of this many bytes. With 0 or 1 nothing is undone.
    #[must_use]
    pub const fn new(element_size: u64) -> Shuffle {
        Shuffle { element_size }
    }
}

impl Stage for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn numcodecs(&self) -> Option<NumcodecsCodec> {
        let setting = Some(("elementsize", self.element_size.max(1)));
        Some(NumcodecsCodec { id: NAME, setting })
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        Some(len)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        room.check(NAME, stored.len() as u64)?;
        resize(NAME, out, stored.len())?;
        self.undo_into(stored, out)
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        Room::Exact(out.len() as u64).check(NAME, stored.len() as u64)?;
        let tail_len = stored.len().checked_rem(index(self.element_size)).unwrap_or_default();
        let whole = stored.len() - tail_len;
        let ((planes, tail), (elements, rest)) = (stored.split_at(whole), out.split_at_mut(whole));
        rest.copy_from_slice(tail);
        if self.element_size <= 1 {
            elements.copy_from_slice(planes);
        } else {
            shuffle::inverse(planes, self.element_size, elements);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;
    use crate::error::Error;

    #[test]
    fn what_was_shuffled_comes_back() {
        for size in [0_u64, 1, 2, 3, 4, 7, 8, 12, 16, 5000] {
            for len in [0_usize, 1, 5, 8, 4096, 4099, 9001] {
                let bytes: Vec<u8> = (0..len).map(|at| (at * 31 + at / 256) as u8).collect();
                let mut stored = Vec::new();
                encode::shuffle(&bytes, size, &mut stored).unwrap();
                let count = (len as u64).checked_div(size).unwrap_or(0) as usize;
                if size > 1 && count > 1 {
                    assert_eq!(stored[1], bytes[size as usize], "{size} {len}");
                }
                let mut out = vec![0xee; len];
                Shuffle::new(size).undo_into(&stored, &mut out).unwrap();
                assert!(out == bytes, "{size} {len}");
                Shuffle::new(size).undo(&stored, Room::AtMost(9001), &mut out).unwrap();
                assert!(out == bytes, "{size} {len}");
            }
        }
    }

    #[test]
    fn another_length_is_an_error() {
        let short = Error::TooShort { codec: NAME, found: 2, decoded_len: 4 };
        assert_eq!(Shuffle::new(2).undo_into(&[0; 2], &mut [0; 4]), Err(short));
        let long = Error::TooLong { codec: NAME, decoded_len: 3 };
        assert_eq!(Shuffle::new(2).undo(&[0; 4], Room::AtMost(3), &mut Vec::new()), Err(long));
    }
}
