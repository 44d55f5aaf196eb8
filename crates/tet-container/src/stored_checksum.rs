//! The checksums of containers, and the flipped bit that each of them leads to.

use sha2::{Digest, Sha256};
use tet_codec::{Bit, ChecksumKind, Deflate, Digester, Room, Stage, Strength, flipped_bits};

/// The modulus of the sum of FITS.
const WORD_MODULUS: u64 = u32::MAX as u64;

/// The checksum that stored bytes should have.
///
/// # Examples
///
/// ```
/// use tet_codec::{Bit, ChecksumKind};
/// use tet_container::StoredChecksum;
///
/// let checksum = StoredChecksum::Sum(ChecksumKind::Crc32, 0xCBF4_3926);
/// assert!(checksum.is_of(b"123456789"));
/// assert_eq!(checksum.solved(b"123456788"), Some(vec![Bit { byte: 8, bit: 0 }]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredChecksum {
    /// A checksum of 32 bits.
    Sum(ChecksumKind, u32),
    /// The ones' complement sum of FITS, of big-endian words of 32 bits.
    WordSum(u32),
    /// XXH3 of 64 bits.
    Xxh3(u64),
    /// SHA-256.
    Sha256([u8; 32]),
    /// The CRC-32 of the bytes that raw deflate made the stored ones of.
    Deflated {
        /// The CRC-32.
        crc32: u32,
        /// The number of bytes before compression.
        len: u64,
    },
}

impl StoredChecksum {
    /// Whether it is that of bytes.
    #[must_use]
    pub fn is_of(self, bytes: &[u8]) -> bool {
        match self {
            StoredChecksum::Sum(kind, wanted) => kind.is_of(bytes, wanted.to_le_bytes()),
            StoredChecksum::WordSum(wanted) => word_sum(bytes) == u64::from(wanted) % WORD_MODULUS,
            StoredChecksum::Xxh3(wanted) => digest_xxh3(bytes) == wanted,
            StoredChecksum::Sha256(wanted) => Sha256::digest(bytes)[..] == wanted,
            StoredChecksum::Deflated { crc32, len } => {
                let mut out = Vec::new();
                let inflated = Deflate::raw().undo(bytes, Room::Exact(len), &mut out);
                inflated.is_ok() && ChecksumKind::Crc32.compute(&out) == crc32
            }
        }
    }

    /// The bits of which each, flipped alone, makes bytes match; `None` for a checksum that is not linear, of which
    /// each bit has to be tried. Of a sum of words only two of many are returned.
    #[must_use]
    pub fn solved(self, bytes: &[u8]) -> Option<Vec<Bit>> {
        match self {
            // Of old HDF5 files the bytes of each half are swapped.
            StoredChecksum::Sum(kind @ ChecksumKind::Fletcher32, wanted) => {
                let [a, b, c, d] = wanted.to_le_bytes();
                let swapped = u32::from_le_bytes([b, a, d, c]);
                let mut bits = flipped_bits(kind, bytes, wanted);
                bits.extend(flipped_bits(kind, bytes, swapped));
                bits.dedup();
                Some(bits)
            }
            StoredChecksum::Sum(kind, wanted) => Some(flipped_bits(kind, bytes, wanted)),
            StoredChecksum::WordSum(wanted) => Some(word_bits(bytes, wanted)),
            _ => None,
        }
    }

    /// The checksum of bytes and the wanted one, lowest byte first, where they are stored as numbers.
    pub fn numbers(self, bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        match self {
            StoredChecksum::Sum(kind, wanted) => {
                Some((kind.compute(bytes).to_le_bytes().to_vec(), wanted.to_le_bytes().to_vec()))
            }
            StoredChecksum::Xxh3(wanted) => {
                Some((digest_xxh3(bytes).to_le_bytes().to_vec(), wanted.to_le_bytes().to_vec()))
            }
            _ => None,
        }
    }

    /// Bytes that are processed to compare `len` stored ones.
    pub fn cost(self, len: u64) -> u64 {
        match self {
            StoredChecksum::Deflated { len: inflated, .. } => len.saturating_add(inflated),
            _ => len,
        }
    }
}

fn digest_xxh3(bytes: &[u8]) -> u64 {
    let mut digester = Digester::new(Strength::Fast);
    digester.update(bytes);
    digester.finish().xxh3
}

/// The big-endian words of bytes; those that fill no word do not count.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word).swap_bytes())
}

fn word_sum(bytes: &[u8]) -> u64 {
    words(bytes).fold(0, |sum, word| (sum + u64::from(word)) % WORD_MODULUS)
}

/// Bits that make the sum the wanted one: the sum tells which bit of a word has changed and how, and not of which word.
fn word_bits(bytes: &[u8], wanted: u32) -> Vec<Bit> {
    let wanted = u64::from(wanted) % WORD_MODULUS;
    let difference = (wanted + WORD_MODULUS - word_sum(bytes)) % WORD_MODULUS;
    let mut bits = Vec::new();
    for bit in 0..32_u8 {
        let power = 1_u64 << bit;
        let is_set = difference == power;
        if !is_set && difference != WORD_MODULUS - power {
            continue;
        }
        let may_flip = |word: u32| (word >> bit & 1 == 0) == is_set;
        let places = (0_usize..).zip(words(bytes)).filter(|(_, word)| may_flip(*word));
        bits.extend(places.take(2).map(|(at, _)| Bit {
            byte: at.saturating_mul(4).saturating_add(usize::from(3 - bit / 8)),
            bit: bit % 8,
        }));
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_words_leads_to_a_bit_that_no_other_word_can_have_lost() {
        let bytes: Vec<u8> = (0..64_u8).collect();
        let sum = u32::try_from(word_sum(&bytes)).unwrap();
        let checksum = StoredChecksum::WordSum(sum);
        assert!(checksum.is_of(&bytes) && checksum.solved(&bytes) == Some(Vec::new()));
        for at in 0..bytes.len() * 8 {
            let (byte, bit) = (at / 8, (at % 8) as u8);
            let mut bad = bytes.clone();
            bad[byte] ^= 1 << bit;
            assert!(!checksum.is_of(&bad));
            let found = checksum.solved(&bad).unwrap();
            // All bytes are below 64: only one has a high bit then.
            match bit {
                6.. => assert_eq!(found, [Bit { byte, bit }]),
                _ => assert!(!found.is_empty()),
            }
            for bit in found {
                let mut other = bad.clone();
                other[bit.byte] ^= 1 << bit.bit;
                assert!(checksum.is_of(&other));
            }
        }
    }
}
