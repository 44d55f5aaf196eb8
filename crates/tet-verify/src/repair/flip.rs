//! The one bit that makes bytes match their digest again.
//!
//! CRC-32C is linear: what one flipped bit adds to it depends on the bit's distance from the end
//! alone. So the difference of two checksums, led back byte by byte, is met where the bit is. The
//! place is then proven by the other half of the digest.

use tet_codec::{Strength, compare, digest};
use tet_format::Digest;

/// CRC-32C, bits of a byte in the order in which they are sent: lowest first.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// What a byte adds to the checksum when it is the last one.
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

/// A bit of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bit {
    /// The byte it is in.
    pub(crate) byte: usize,
    /// Its number in the byte, from the lowest.
    pub(crate) bit: u8,
}

/// The bit of `bytes` that was flipped, when they have matched `wanted` before that.
pub(crate) fn flipped_bit(bytes: &[u8], wanted: Digest) -> Option<Bit> {
    let found = digest(bytes);
    let bit = bit_of(bytes.len(), found.crc32c ^ wanted.crc32c)?;
    let mut mended = bytes.to_vec();
    *mended.get_mut(bit.byte)? ^= 1 << bit.bit;
    compare(&mended, wanted, Strength::Full).is_none().then_some(bit)
}

/// The only bit of so many bytes that makes this difference.
fn bit_of(len: usize, difference: u32) -> Option<Bit> {
    let mut left = difference;
    for byte in (0..len).rev() {
        // An entry of one bit has one of eight values; few differences pass the first look.
        if let Some(bit) = (0..8_u8).find(|&bit| TABLE[1_usize << bit] == left) {
            return Some(Bit { byte, bit });
        }
        // One zero byte less behind the bit.
        let last = INVERSE[(left >> 24) as usize];
        left = (left ^ TABLE[usize::from(last)]) << 8 | u32::from(last);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_checksum() {
        let crc = |bytes: &[u8]| digest(bytes).crc32c;
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
            let wanted = digest(&bytes[..len]);
            for at in 0..len * 8 {
                let mut bad = bytes[..len].to_vec();
                bad[at / 8] ^= 1 << (at % 8);
                let bit = Bit { byte: at / 8, bit: (at % 8) as u8 };
                assert_eq!(flipped_bit(&bad, wanted), Some(bit));
            }
        }
    }

    #[test]
    fn two_flipped_bits_are_not_taken_for_one() {
        let bytes: Vec<u8> = (0..90).collect();
        let wanted = digest(&bytes);
        for at in 0..bytes.len() * 8 - 9 {
            let mut bad = bytes.clone();
            bad[at / 8] ^= 1 << (at % 8);
            bad[(at + 9) / 8] ^= 1 << ((at + 9) % 8);
            assert_eq!(flipped_bit(&bad, wanted), None);
        }
        assert_eq!(flipped_bit(&bytes, wanted), None);
        assert_eq!(flipped_bit(&[], wanted), None);
    }
}
