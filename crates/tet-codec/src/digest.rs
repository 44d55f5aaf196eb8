//! Digests of bytes (format section 6.2): CRC-32C and XXH3.

use std::fmt;

use tet_format::Digest;
use twox_hash::XxHash3_64;

use crate::crc32c::Crc32c;

/// The bytes that are digested twice while they are in the nearest caches.
pub(crate) const PIECE_LEN: usize = 64 << 10;

/// Which parts of a digest are compared.
///
/// ```
/// use tet_codec::{Strength, compare, digest};
///
/// assert_eq!(compare(b"bytes", digest(b"bytes"), Strength::Full), None);
/// assert!(compare(b"bites", digest(b"bytes"), Strength::Fast).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// Only XXH3: a change is missed with a probability of 2^-64.
    Fast,
    /// Both halves: a change of up to 32 consecutive bits is never missed.
    Full,
}

/// The digest of bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    let mut digester = Digester::new(Strength::Full);
    digester.update(bytes);
    digester.finish()
}

/// Compares bytes with their expected digest. Returns the found and wanted numbers if they differ.
#[must_use]
pub fn compare(bytes: &[u8], wanted: Digest, strength: Strength) -> Option<(u64, u64)> {
    match strength {
        Strength::Fast => {
            let xxh3 = XxHash3_64::oneshot(bytes);
            (xxh3 != wanted.xxh3).then_some((xxh3, wanted.xxh3))
        }
        Strength::Full => digest(bytes).differs(wanted),
    }
}

/// The digest of bytes that arrive piece by piece.
///
/// ```
/// use tet_codec::{Digester, Strength, digest};
///
/// let mut digester = Digester::new(Strength::Full);
/// digester.update(b"by");
/// digester.update(b"tes");
/// assert_eq!(digester.finish(), digest(b"bytes"));
/// ```
#[derive(Clone)]
pub struct Digester {
    crc32c: Option<Crc32c>,
    xxh3: XxHash3_64,
}

impl Digester {
    /// A digester without bytes.
    #[must_use]
    pub fn new(strength: Strength) -> Self {
        let crc32c = (strength == Strength::Full).then(Crc32c::new);
        Digester { crc32c, xxh3: XxHash3_64::new() }
    }

    /// Adds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE_LEN) {
            if let Some(crc32c) = &mut self.crc32c {
                crc32c.update(piece);
            }
            std::hash::Hasher::write(&mut self.xxh3, piece);
        }
    }

    /// The digest of all bytes; without its CRC-32C if the strength is `Fast`.
    #[must_use]
    pub fn finish(&self) -> Digest {
        let crc32c = self.crc32c.as_ref().map_or(0, Crc32c::finish);
        Digest { crc32c, xxh3: std::hash::Hasher::finish(&self.xxh3) }
    }

    /// Compares the added bytes with their expected digest.
    #[must_use]
    pub fn compare(&self, wanted: Digest) -> Option<(u64, u64)> {
        let found = self.finish();
        let crc32c = self.crc32c.as_ref().map_or(wanted.crc32c, |_| found.crc32c);
        Digest { crc32c, ..found }.differs(wanted)
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Digester").field(&self.finish()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values in the specifications of the algorithms.
    #[test]
    fn known_bytes_have_known_digests() {
        assert_eq!(digest(b"123456789").crc32c, 0xe306_9283);
        assert_eq!(digest(b"").xxh3, 0x2d06_8005_38d3_94c2);
        assert_eq!(digest(b"").crc32c, 0);
    }

    #[test]
    fn pieces_make_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        let whole = digest(&bytes);
        for piece in [1000, 65_536, 70_001, 199_999] {
            for strength in [Strength::Fast, Strength::Full] {
                let mut digester = Digester::new(strength);
                bytes.chunks(piece).for_each(|piece| digester.update(piece));
                assert_eq!(digester.compare(whole), None);
                assert_eq!(compare(&bytes, whole, strength), None);
            }
        }
    }

    #[test]
    fn a_changed_bit_differs_in_both_halves() {
        let mut bytes = vec![7; 300];
        let whole = digest(&bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let found = digest(&bytes);
            assert!(found.crc32c != whole.crc32c && found.xxh3 != whole.xxh3, "bit {bit}");
            assert!(compare(&bytes, whole, Strength::Fast).is_some());
            assert!(compare(&bytes, whole, Strength::Full).is_some());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let crc_alone = Digest { xxh3: whole.xxh3, crc32c: !whole.crc32c };
        assert_eq!(compare(&bytes, crc_alone, Strength::Fast), None);
        assert!(compare(&bytes, crc_alone, Strength::Full).is_some());
    }
}
