//! Finds the single bit that explains the difference of two CRC-32C checksums.
//!
//! CRC-32C is linear: the effect of a flipped bit depends only on its distance from the end. So the
//! difference of two checksums is stepped back byte by byte until it matches a single bit.

/// CRC-32C with the bits of a byte in transmission order: lowest first.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The effect of a byte on the checksum if it is the last one.
const TABLE: [u32; 256] = table();

/// The byte whose entry in [`TABLE`] has this top byte.
const INVERSE: [u8; 256] = inverse();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

const fn inverse() -> [u8; 256] {
    let mut inverse = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        inverse[(TABLE[byte] >> 24) as usize] = byte as u8;
        byte += 1;
    }
    inverse
}

/// A bit in some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// The index of its byte.
    pub byte: usize,
    /// Its number in the byte, from the lowest.
    pub bit: u8,
}

/// The only bit of `len` bytes whose flip changes their CRC-32C by `difference`, the exclusive or of
/// the checksums before and after.
///
/// Within 2^28 bytes no two bits have the same effect. Other damage matches some bit by chance with
/// a probability of 8 * `len` / 2^32.
#[must_use]
pub fn flipped_bit(len: usize, difference: u32) -> Option<Bit> {
    let mut left = difference;
    for byte in (0..len).rev() {
        // The effect of one bit has one of eight values, so most differences fail this check.
        if let Some(bit) = (0..8_u8).find(|&bit| TABLE[1_usize << bit] == left) {
            return Some(Bit { byte, bit });
        }
        // Removes one zero byte after the bit.
        let last = INVERSE[(left >> 24) as usize];
        left = (left ^ TABLE[usize::from(last)]) << 8 | u32::from(last);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Crc32c;

    #[test]
    fn the_table_is_that_of_the_checksum() {
        let crc = Crc32c::checksum;
        assert_eq!(crc(&[0x55]) ^ crc(&[0x54]), TABLE[1]);
        assert_eq!(
            crc(&[0x80, 0]) ^ crc(&[0, 0]),
            TABLE[(TABLE[0x80] & 0xff) as usize] ^ TABLE[0x80] >> 8
        );
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let bytes: Vec<u8> = (0..700_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for len in [1, 2, 3, 64, 700] {
            let crc = Crc32c::checksum(&bytes[..len]);
            for at in 0..len * 8 {
                let mut bad = bytes[..len].to_vec();
                bad[at / 8] ^= 1 << (at % 8);
                let bit = Bit { byte: at / 8, bit: (at % 8) as u8 };
                assert_eq!(flipped_bit(len, crc ^ Crc32c::checksum(&bad)), Some(bit));
            }
        }
    }
}
