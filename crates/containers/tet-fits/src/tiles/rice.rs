//! RICE_1: blocks of differences of neighbors, each with its own number of low bits (section 10.4.1 of the standard).
//!
//! ```text
//!   first pixel | code, differences | code, differences | ...      big-endian bits, without gaps
//!   code 0: all zero; code fs + 1: zeros and a one for the high bits, then fs low bits; the last code: all bits
//! ```

use tet_codec::{Error, Result};

use super::bits::Bits;

const NAME: &str = "RICE_1";

/// How pixels of one, two or four bytes are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rice {
    /// Pixels of a block.
    pub(super) block: u32,
    /// Bytes of a pixel.
    pub(super) width: u32,
}

impl Rice {
    /// The parameters that the header states; `None` where they are none of the standard.
    pub(super) fn new(block: i64, width: i64) -> Option<Rice> {
        let block = u32::try_from(block).ok().filter(|block| (1..=256).contains(block))?;
        let width = u32::try_from(width).ok().filter(|width| [1, 2, 4].contains(width))?;
        Some(Rice { block, width })
    }

    /// Bits of the code of a block, and the number of low bits that means that all bits are there.
    const fn code(self) -> (u32, u32) {
        match self.width {
            1 => (3, 6),
            2 => (4, 14),
            _ => (5, 25),
        }
    }

    /// The most pixels of `stored_len` bytes.
    pub(super) fn count_max(self, stored_len: u64) -> u64 {
        let blocks = stored_len.saturating_mul(8) / u64::from(self.code().0);
        blocks.saturating_mul(u64::from(self.block))
    }

    /// The little-endian pixels of a tile of `count` pixels.
    pub(super) fn decode(self, stored: &[u8], count: usize) -> Result<Vec<u8>> {
        let width = crate::tiles::index(u64::from(self.width));
        let block = crate::tiles::index(u64::from(self.block));
        let mut out = Vec::new();
        let len = count.checked_mul(width).ok_or(Error::Memory { codec: NAME })?;
        out.try_reserve_exact(len).map_err(|_| Error::Memory { codec: NAME })?;
        let mut bits = Bits::new(stored);
        let mut last = bits.take(8 * self.width).ok_or(CUT_SHORT)?;
        let (code_len, code_all) = self.code();
        while out.len() < len {
            let rest = (len - out.len()) / width;
            let code = bits.take(code_len).ok_or(CUT_SHORT)?;
            for _ in 0..rest.min(block) {
                let mapped = match code.checked_sub(1) {
                    None => 0,
                    Some(low) if low < code_all => high(&mut bits, low)?,
                    Some(low) if low == code_all => bits.take(8 * self.width).ok_or(CUT_SHORT)?,
                    Some(_) => return Err(corrupt("a block has no such code")),
                };
                // Even numbers are positive differences, odd ones negative.
                let difference = if mapped & 1 == 1 { !(mapped >> 1) } else { mapped >> 1 };
                last = last.wrapping_add(difference);
                out.extend(last.to_le_bytes().iter().take(width));
            }
        }
        Ok(out)
    }
}

const CUT_SHORT: Error = corrupt("cut short");

const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

/// A number of which the high bits are a count of zeros and the `low` others follow.
fn high(bits: &mut Bits<'_>, low: u32) -> Result<u32> {
    let zeros = u32::try_from(bits.zeros().ok_or(CUT_SHORT)?).ok();
    let high = zeros.filter(|zeros| *zeros <= u32::MAX >> low);
    let high = high.ok_or(corrupt("a difference is too large"))?;
    Ok((high << low) | bits.take(low).ok_or(CUT_SHORT)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        let rice = Rice::new(4, 1).unwrap();
        // The first pixel, 7; a block of zeros; one of 1 low bit: 0, +1, -1, +2; one of all bits.
        let bits = ["00000111", "000", "010", "10", "010", "11", "0010", "111", "00000011"];
        let mut text = bits.concat();
        text.push_str(&"0".repeat(8 - text.len() % 8));
        let bytes: Vec<u8> = text
            .as_bytes()
            .chunks(8)
            .map(|byte| u8::from_str_radix(str::from_utf8(byte).unwrap(), 2).unwrap())
            .collect();
        assert_eq!(rice.decode(&bytes, 9).unwrap(), [7, 7, 7, 7, 7, 8, 7, 9, 7]);
        for len in 0..bytes.len() - 1 {
            assert!(rice.decode(&bytes[..len], 9).is_err(), "{len}");
        }
    }

    #[test]
    fn other_parameters_are_refused() {
        assert!(Rice::new(32, 8).is_none() && Rice::new(0, 4).is_none());
        assert!(Rice::new(257, 4).is_none() && Rice::new(-1, 4).is_none());
        // A code of 26 low bits is none of four bytes.
        let stored = [0, 0, 0, 0, 27 << 3, 0xff, 0xff, 0xff, 0xff];
        assert!(Rice::new(32, 4).unwrap().decode(&stored, 1).is_err());
    }

    #[test]
    fn long_runs_of_zeros_end() {
        let rice = Rice::new(32, 4).unwrap();
        let stored = [&[0, 0, 0, 0, 0b0000_1000][..], &[0; 9000]].concat();
        assert!(rice.decode(&stored, 1).is_err());
    }
}
