//! Finds the single bit that explains why bytes do not match their checksum of 32 bits.
//!
//! The checksums are linear, so the difference of two of them determines the bit, and no bit is
//! tried:
//!
//! ```text
//!   CRC                    the effect of a bit depends on its distance from the end alone: the
//!                          difference is stepped back byte by byte until it is that of one bit
//!   Fletcher-32, Adler-32  one sum changes by 2^bit, the other by 2^bit times the distance from the end
//! ```

use crate::checksum::ChecksumKind;
use crate::crc32c::Crc32c;

/// A bit in some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// The index of its byte.
    pub byte: usize,
    /// Its number in the byte, from the lowest.
    pub bit: u8,
}

/// The steps of a CRC, whose bits are in transmission order: lowest first.
struct Steps {
    /// The effect of a byte on the checksum if it is the last one.
    table: [u32; 256],
    /// The byte whose entry in the table has this top byte.
    inverse: [u8; 256],
}

static CRC32C: Steps = Steps::new(0x82F6_3B78);
static CRC32: Steps = Steps::new(0xEDB8_8320);

impl Steps {
    const fn new(polynomial: u32) -> Steps {
        let (mut table, mut inverse) = ([0; 256], [0; 256]);
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ polynomial } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            inverse[(crc >> 24) as usize] = byte as u8;
            byte += 1;
        }
        Steps { table, inverse }
    }

    /// The only bit of `len` bytes whose flip changes the checksum by `difference`.
    fn flipped_bit(&self, len: usize, difference: u32) -> Option<Bit> {
        let mut left = difference;
        for byte in (0..len).rev() {
            // The effect of one bit has one of eight values, so most differences fail this check.
            if let Some(bit) = (0..8_u8).find(|&bit| self.table[1_usize << bit] == left) {
                return Some(Bit { byte, bit });
            }
            // Removes one zero byte after the bit.
            let last = self.inverse[(left >> 24) as usize];
            left = (left ^ self.table[usize::from(last)]) << 8 | u32::from(last);
        }
        None
    }
}

/// The only bit of `len` bytes whose flip changes their CRC-32C by `difference`, the exclusive or of
/// the checksums before and after.
///
/// Within 2^28 bytes no two bits have the same effect. Other damage matches some bit by chance with
/// a probability of 8 * `len` / 2^32.
#[must_use]
pub fn flipped_bit(len: usize, difference: u32) -> Option<Bit> {
    CRC32C.flipped_bit(len, difference)
}

/// The bits of which each, flipped alone, makes bytes match their checksum; none if they match
/// already.
///
/// Of a CRC there is at most one within 2^28 bytes, of Fletcher-32 and Adler-32 within 2^16 words
/// or bytes.
///
/// ```
/// use tet_codec::{Bit, ChecksumKind, flipped_bits};
///
/// let wanted = ChecksumKind::Fletcher32.compute(b"some bytes");
/// let found = flipped_bits(ChecksumKind::Fletcher32, b"some\0bytes", wanted);
/// assert_eq!(found, [Bit { byte: 4, bit: 5 }]);
/// ```
#[must_use]
pub fn flipped_bits(kind: ChecksumKind, bytes: &[u8], wanted: u32) -> Vec<Bit> {
    match kind {
        ChecksumKind::Crc32c => {
            Vec::from_iter(flipped_bit(bytes.len(), Crc32c::checksum(bytes) ^ wanted))
        }
        ChecksumKind::Crc32 => {
            Vec::from_iter(CRC32.flipped_bit(bytes.len(), kind.compute(bytes) ^ wanted))
        }
        ChecksumKind::Fletcher32 => {
            let words = bytes.chunks(2).map(|word| {
                let low = word.get(1).copied().unwrap_or(0);
                u32::from(word.first().copied().unwrap_or(0)) << 8 | u32::from(low)
            });
            let sums = Sums { modulus: 65_535, width: 16, found: kind.compute(bytes), wanted };
            let bits = sums.flipped(words.collect());
            // The high byte of a word comes first; of an odd number of bytes the last has none below.
            let bits = bits.into_iter().map(|(word, bit)| Bit {
                byte: word.saturating_mul(2).saturating_add(usize::from(bit < 8)),
                bit: bit % 8,
            });
            bits.filter(|bit| bit.byte < bytes.len()).collect()
        }
        ChecksumKind::Adler32 => {
            let sums = Sums { modulus: 65_521, width: 8, found: kind.compute(bytes), wanted };
            let bits = sums.flipped(bytes.iter().map(|byte| u32::from(*byte)).collect());
            bits.into_iter().map(|(byte, bit)| Bit { byte, bit }).collect()
        }
    }
}

/// Two sums of words: of all, in the low half, and of these sums, in the high half.
struct Sums {
    modulus: u64,
    /// Bits of a word.
    width: u8,
    found: u32,
    wanted: u32,
}

impl Sums {
    /// The words, and their bits, that make the sums the wanted ones.
    fn flipped(&self, words: Vec<u32>) -> Vec<(usize, u8)> {
        let half = |sum: u32| u64::from(sum & 0xFFFF);
        let differs = |wanted: u64, found: u64| {
            (wanted % self.modulus + self.modulus - found % self.modulus) % self.modulus
        };
        let low = differs(half(self.wanted), half(self.found));
        let high = differs(half(self.wanted >> 16), half(self.found >> 16));
        let mut bits = Vec::new();
        let (mut power, mut inverse) = (1_u64, 1_u64);
        for bit in 0..self.width {
            // A bit that is set adds its power, one that is cleared takes it.
            let is_set = low == power;
            if is_set || low == self.modulus - power {
                let factor = if is_set { inverse } else { self.modulus - inverse };
                let places = self.at_distance(words.len(), high * factor % self.modulus);
                let may_flip = |at: &usize| {
                    words.get(*at).is_some_and(|word| (word >> bit & 1 == 0) == is_set)
                };
                bits.extend(places.filter(may_flip).map(|at| (at, bit)));
            }
            power = power * 2 % self.modulus;
            inverse = inverse * self.modulus.div_ceil(2) % self.modulus;
        }
        bits
    }

    /// The words at a distance from the end, which is known modulo the modulus.
    fn at_distance(&self, count: usize, distance: u64) -> impl Iterator<Item = usize> + use<> {
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let first = if distance == 0 { self.modulus } else { distance };
        (index(first)..=count).step_by(index(self.modulus)).map(move |distance| count - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ChecksumKind; 4] = [
        ChecksumKind::Fletcher32,
        ChecksumKind::Crc32c,
        ChecksumKind::Crc32,
        ChecksumKind::Adler32,
    ];

    #[test]
    fn the_table_is_that_of_the_checksum() {
        for (kind, steps) in [(ChecksumKind::Crc32c, &CRC32C), (ChecksumKind::Crc32, &CRC32)] {
            let (crc, table) = (|bytes: &[u8]| kind.compute(bytes), &steps.table);
            assert_eq!(crc(&[0x55]) ^ crc(&[0x54]), table[1]);
            assert_eq!(
                crc(&[0x80, 0]) ^ crc(&[0, 0]),
                table[(table[0x80] & 0xff) as usize] ^ table[0x80] >> 8
            );
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let bytes: Vec<u8> = (0..700_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for kind in ALL {
            for len in [1, 2, 3, 64, 699, 700] {
                let wanted = kind.compute(&bytes[..len]);
                for at in 0..len * 8 {
                    let mut bad = bytes[..len].to_vec();
                    bad[at / 8] ^= 1 << (at % 8);
                    let bit = Bit { byte: at / 8, bit: (at % 8) as u8 };
                    assert_eq!(flipped_bits(kind, &bad, wanted), [bit], "{kind:?}");
                }
                assert_eq!(flipped_bits(kind, &bytes[..len], wanted), []);
            }
        }
    }

    /// A bit that is flipped back makes the bytes match, whatever the damage was.
    #[test]
    fn what_is_found_matches() {
        let bytes: Vec<u8> = (0..40_u32).map(|at| (at * 37) as u8).collect();
        for kind in ALL {
            let (wanted, mut taken) = (kind.compute(&bytes), 0);
            for (one, other) in (0..320_usize).flat_map(|one| (0..one).map(move |it| (one, it))) {
                let mut bad = bytes.clone();
                bad[one / 8] ^= 1 << (one % 8);
                bad[other / 8] ^= 1 << (other % 8);
                for bit in flipped_bits(kind, &bad, wanted) {
                    let mut other = bad.clone();
                    other[bit.byte] ^= 1 << bit.bit;
                    assert_eq!(kind.compute(&other), wanted, "{kind:?}");
                    taken += 1;
                }
            }
            let is_crc = matches!(kind, ChecksumKind::Crc32c | ChecksumKind::Crc32);
            // A CRC tells two flipped bits from one; of the sums up to one of twenty looks like another one.
            assert!(taken <= if is_crc { 0 } else { 320 * 319 / 2 / 20 }, "{kind:?}: {taken}");
        }
    }

    /// Of more words than the modulus the distance is known modulo that: the bits that can have been
    /// flipped decide.
    #[test]
    fn the_sums_of_many_words_match_several_bits() {
        let kind = ChecksumKind::Fletcher32;
        let (zeros, mut other) = (vec![0; 300_000], vec![0; 300_000]);
        other[1001] = 4;
        let bit = Bit { byte: 1001, bit: 2 };
        assert_eq!(flipped_bits(kind, &other, kind.compute(&zeros)), [bit]);
        let several = flipped_bits(kind, &zeros, kind.compute(&other));
        assert_eq!(several.len(), 3);
        assert!(several.contains(&bit));
    }
}
