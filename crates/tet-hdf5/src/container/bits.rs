//! Integers of which some bits count: the others are padding.

use tet_codec::{Result, Room, Stage};

/// Makes integers of all their bits out of those that count, as the HDF5 library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    /// Bytes of an integer.
    pub(super) width: usize,
    pub(super) is_big: bool,
    pub(super) is_signed: bool,
    /// The lowest bit that counts, and how many do.
    pub(super) offset: u16,
    pub(super) precision: u16,
}

impl Bits {
    /// Extends every integer in its place.
    pub(super) fn extend(self, bytes: &mut [u8]) {
        for bytes in bytes.chunks_exact_mut(self.width) {
            if self.is_big {
                bytes.reverse();
            }
            let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
            let above = 64 - u32::from(self.precision);
            let top = (number >> self.offset) << above;
            let extended = if self.is_signed {
                (top.cast_signed() >> above).cast_unsigned()
            } else {
                top >> above
            };
            for (to, from) in bytes.iter_mut().zip(extended.to_le_bytes()) {
                *to = from;
            }
            if self.is_big {
                bytes.reverse();
            }
        }
    }
}

impl Stage for Bits {
    fn name(&self) -> &'static str {
        "bits"
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        Some(len)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        room.check(self.name(), stored.len() as u64)?;
        out.clear();
        out.extend_from_slice(stored);
        self.extend(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_above_and_below_are_left_out() {
        let bits = Bits { width: 2, is_big: false, is_signed: true, offset: 3, precision: 9 };
        let mut bytes = [0xf8, 0xff, 0x0f, 0xf0, 0x08, 0xf8];
        bits.extend(&mut bytes);
        assert_eq!(bytes, [0xff, 0xff, 1, 0, 1, 0xff]);
        let bits = Bits { width: 2, is_big: true, is_signed: false, offset: 0, precision: 12 };
        let mut bytes = [0xff, 0xfe];
        bits.extend(&mut bytes);
        assert_eq!(bytes, [0x0f, 0xfe]);
    }
}
