//! Finds the one bit that makes bytes match their digest again.
//!
//! The CRC-32C determines which bit it may be; the other half of the digest proves it.

use tet_codec::{Strength, compare, digest};
use tet_format::Digest;

pub(crate) use tet_codec::Bit;

/// The flipped bit of `bytes`, if one flip makes them match `wanted`.
pub(crate) fn flipped_bit(bytes: &[u8], wanted: Digest) -> Option<Bit> {
    let found = digest(bytes);
    let bit = tet_codec::flipped_bit(bytes.len(), found.crc32c ^ wanted.crc32c)?;
    let mut repaired = bytes.to_vec();
    *repaired.get_mut(bit.byte)? ^= 1 << bit.bit;
    compare(&repaired, wanted, Strength::Full).is_none().then_some(bit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
