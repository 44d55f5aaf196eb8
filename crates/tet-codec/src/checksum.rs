//! Checksums of 32 bits before or behind the bytes, and the algorithms.

use crc_fast::{CrcAlgorithm, checksum};

use crate::crc32c::Crc32c;
use crate::error::{Error, Result};

/// Bytes of a checksum.
pub(crate) const CHECKSUM_LEN: usize = 4;

/// An algorithm that gives 32 bits.
///
/// ```
/// assert_eq!(tet_codec::ChecksumKind::Crc32.compute(b"123456789"), 0xCBF4_3926);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChecksumKind {
    /// Fletcher's, over big-endian words of 16 bits, as HDF5 computes it.
    Fletcher32,
    /// CRC-32C.
    Crc32c,
    /// CRC-32, as in gzip.
    Crc32,
    /// Adler-32, as in zlib.
    Adler32,
}

impl ChecksumKind {
    /// The checksum of bytes.
    ///
    /// ```
    /// use tet_codec::ChecksumKind;
    ///
    /// assert_eq!(ChecksumKind::Crc32c.compute(b"123456789"), 0xE306_9283);
    /// assert_eq!(ChecksumKind::Adler32.compute(b"Wikipedia"), 0x11E6_0398);
    /// ```
    #[must_use]
    pub fn compute(self, bytes: &[u8]) -> u32 {
        match self {
            ChecksumKind::Fletcher32 => fletcher32(bytes),
            ChecksumKind::Crc32c => Crc32c::checksum(bytes),
            ChecksumKind::Crc32 => low_half(checksum(CrcAlgorithm::Crc32IsoHdlc, bytes)),
            ChecksumKind::Adler32 => adler32(bytes),
        }
    }

    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChecksumKind::Fletcher32 => "fletcher32",
            ChecksumKind::Crc32c => "crc32c",
            ChecksumKind::Crc32 => "crc32",
            ChecksumKind::Adler32 => "adler32",
        }
    }

    /// Whether `stored` is the checksum of bytes. HDF5 before 1.6.3 swapped the bytes of each half
    /// of its own on little-endian machines; libhdf5 accepts both.
    #[must_use]
    pub fn is_of(self, bytes: &[u8], stored: [u8; CHECKSUM_LEN]) -> bool {
        let found = self.compute(bytes).to_le_bytes();
        let [a, b, c, d] = stored;
        found == stored || self == ChecksumKind::Fletcher32 && found == [b, a, d, c]
    }
}

/// Where a checksum is stored, as [`Checksummed`] shows.
///
/// ```
/// use tet_codec::{ChecksumKind, ChecksumPlace, Checksummed, Stage};
///
/// let stage = Checksummed::new(ChecksumKind::Adler32, ChecksumPlace::Start);
/// assert_eq!(stage.written_len(10), Some(14));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumPlace {
    /// Before the bytes.
    Start,
    /// Behind the bytes.
    End,
}

/// Checks and removes a checksum of 4 bytes, little-endian.
///
/// ```
/// use tet_codec::{ChecksumKind, ChecksumPlace, Checksummed, Error, Stage};
///
/// let stage = Checksummed::new(ChecksumKind::Crc32c, ChecksumPlace::End);
/// let mut stored = Vec::new();
/// tet_codec::encode::checksum(stage, b"content", &mut stored)?;
/// let mut out = [0; 7];
/// stage.undo_into(&stored, &mut out)?;
/// stored[0] ^= 1;
/// assert_eq!(stage.undo_into(&stored, &mut out), Err(Error::Checksum { codec: "crc32c" }));
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksummed {
    checksum: ChecksumKind,
    place: ChecksumPlace,
}

impl Checksummed {
    /// Bytes with this checksum in this place.
    #[must_use]
    pub const fn new(checksum: ChecksumKind, place: ChecksumPlace) -> Checksummed {
        Checksummed { checksum, place }
    }

    /// The algorithm.
    #[must_use]
    pub const fn kind(self) -> ChecksumKind {
        self.checksum
    }

    /// Where the checksum is.
    #[must_use]
    pub const fn place(self) -> ChecksumPlace {
        self.place
    }

    /// The bytes without their checksum, which must match.
    pub(crate) fn checked(self, stored: &[u8]) -> Result<&[u8]> {
        let split = match self.place {
            ChecksumPlace::Start => stored.split_first_chunk().map(|(sum, bytes)| (bytes, sum)),
            ChecksumPlace::End => stored.split_last_chunk(),
        };
        let codec = self.checksum.name();
        let (bytes, sum) = split.ok_or(Error::Corrupt { codec, reason: "cut short" })?;
        if self.checksum.is_of(bytes, *sum) { Ok(bytes) } else { Err(Error::Checksum { codec }) }
    }
}

/// Words that are added up before a sum is reduced: no sum of 64 bits overflows.
const WORDS: usize = 1 << 20;
const FLETCHER_MODULUS: u64 = 65_535;
const ADLER_MODULUS: u64 = 65_521;

fn fletcher32(bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<2>();
    let (mut one, mut two) = (0, 0);
    for words in words.chunks(WORDS) {
        for word in words {
            one += u64::from(u16::from_le_bytes(*word).swap_bytes());
            two += one;
        }
        (one, two) = (folded(one), folded(two));
    }
    if let [last] = tail {
        one = folded(one + (u64::from(*last) << 8));
        two = folded(two + one);
    }
    low_half(two << 16 | one)
}

/// A sum modulo 65535, where only zero is zero.
fn folded(sum: u64) -> u64 {
    match sum % FLETCHER_MODULUS {
        0 if sum != 0 => FLETCHER_MODULUS,
        rest => rest,
    }
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut one, mut two) = (1, 0);
    for bytes in bytes.chunks(WORDS) {
        for byte in bytes {
            one += u64::from(*byte);
            two += one;
        }
        (one, two) = (one % ADLER_MODULUS, two % ADLER_MODULUS);
    }
    low_half(two << 16 | one)
}

fn low_half(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The algorithm with a reduction after every word.
    fn naive_fletcher32(bytes: &[u8]) -> u32 {
        let (mut one, mut two) = (0_u32, 0_u32);
        let reduced = |sum: u32| (sum & 0xFFFF) + (sum >> 16);
        for word in bytes.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            one = reduced(one + (u32::from(word[0]) << 8 | u32::from(low)));
            two = reduced(two + one);
        }
        reduced(reduced(two)) << 16 | reduced(reduced(one))
    }

    #[test]
    fn known_bytes_have_known_checksums() {
        assert_eq!(ChecksumKind::Crc32.compute(b"123456789"), 0xCBF4_3926);
        assert_eq!(ChecksumKind::Adler32.compute(b""), 1);
        assert_eq!(ChecksumKind::Fletcher32.compute(b"abcde"), naive_fletcher32(b"abcde"));
        assert_eq!(ChecksumKind::Fletcher32.compute(&[0xFF; 4]), 0xFFFF_FFFF);
        assert_eq!(ChecksumKind::Fletcher32.compute(&[]), 0);
        for len in [1_u32, 2, 3, 999, 70_001, 3_000_001] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 / 3) as u8).collect();
            assert_eq!(ChecksumKind::Fletcher32.compute(&bytes), naive_fletcher32(&bytes), "{len}");
        }
    }
}
