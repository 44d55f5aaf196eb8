//! Checksums (section 5.2): of the stored bytes of a blob, as text in the entry.

use std::fmt;

use sha2::{Digest, Sha256};
use tet_codec::{Crc32c, Digester, Strength};

/// The expected checksum of the stored bytes of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// `crc32c:0x` and up to 8 hexadecimal digits.
    Crc32c(u32),
    /// `sha256:` and 64 hexadecimal digits.
    Sha256([u8; 32]),
    /// `xxh3:` and 16 hexadecimal digits, in version 2 alone.
    Xxh3(u64),
    /// An unknown algorithm: the bytes cannot be checked.
    Unknown,
}

impl Checksum {
    /// The checksum in a text; `None` if it is malformed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("crc32c", _) => crc32c(text.as_bytes()),
            ("sha256", digits) => {
                let is_form = digits.len() == 64 && is_hex(digits);
                is_form.then(|| digest(digits)).flatten().map(Checksum::Sha256)
            }
            ("", _) => None,
            _ => Some(Checksum::Unknown),
        }
    }

    /// The checksum in bytes; `None` if it is malformed or not text.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        // Nearly all have this form, which is always text.
        crc32c(bytes).or_else(|| Self::parse(std::str::from_utf8(bytes).ok()?))
    }

    /// The crc32c of bytes.
    #[must_use]
    pub fn crc32c(bytes: &[u8]) -> Self {
        Checksum::Crc32c(Crc32c::checksum(bytes))
    }

    /// The sha256 of bytes.
    #[must_use]
    pub fn sha256(bytes: &[u8]) -> Self {
        Checksum::Sha256(Sha256::digest(bytes).into())
    }

    /// Whether bytes can be compared with it.
    #[must_use]
    pub const fn is_known(self) -> bool {
        !matches!(self, Checksum::Unknown)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checksum::Crc32c(number) => write!(f, "crc32c:0x{number:08X}"),
            Checksum::Sha256(digest) => {
                f.write_str("sha256:")?;
                digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Checksum::Xxh3(number) => write!(f, "xxh3:{number:016x}"),
            Checksum::Unknown => f.write_str("unknown"),
        }
    }
}

/// Compares bytes that arrive piece by piece with their expected checksum.
#[derive(Clone)]
pub struct Comparison {
    wanted: Checksum,
    state: Hasher,
}

#[derive(Clone)]
enum Hasher {
    Crc32c(Crc32c),
    Sha256(Sha256),
    Xxh3(Box<Digester>),
    Unknown,
}

impl fmt::Debug for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparison").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl Comparison {
    /// A comparison before the first byte.
    #[must_use]
    pub fn new(wanted: Checksum) -> Self {
        let state = match wanted {
            Checksum::Crc32c(_) => Hasher::Crc32c(Crc32c::new()),
            Checksum::Sha256(_) => Hasher::Sha256(Sha256::new()),
            Checksum::Xxh3(_) => Hasher::Xxh3(Box::new(Digester::new(Strength::Fast))),
            Checksum::Unknown => Hasher::Unknown,
        };
        Comparison { wanted, state }
    }

    /// Adds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            Hasher::Crc32c(digest) => digest.update(bytes),
            Hasher::Sha256(digest) => digest.update(bytes),
            Hasher::Xxh3(digest) => digest.update(bytes),
            Hasher::Unknown => {}
        }
    }

    /// The checksum of all bytes.
    #[must_use]
    pub fn found(self) -> Checksum {
        match self.state {
            Hasher::Crc32c(digest) => Checksum::Crc32c(digest.finish()),
            Hasher::Sha256(digest) => Checksum::Sha256(digest.finalize().into()),
            Hasher::Xxh3(digest) => Checksum::Xxh3(digest.finish().xxh3),
            Hasher::Unknown => Checksum::Unknown,
        }
    }

    /// How the bytes differ from the expected checksum, if they do: found and wanted as numbers;
    /// for SHA-256 the first 8 bytes that differ.
    #[must_use]
    pub fn differs(self) -> Option<(u64, u64)> {
        let wanted = self.wanted;
        match (self.found(), wanted) {
            (Checksum::Crc32c(found), Checksum::Crc32c(wanted)) => {
                (found != wanted).then_some((found.into(), wanted.into()))
            }
            (Checksum::Xxh3(found), Checksum::Xxh3(wanted)) => {
                (found != wanted).then_some((found, wanted))
            }
            (Checksum::Sha256(found), Checksum::Sha256(wanted)) => {
                let words = found.as_chunks().0.iter().zip(wanted.as_chunks().0);
                let mut words =
                    words.map(|(a, b)| (u64::from_le_bytes(*a), u64::from_le_bytes(*b)));
                words.find(|(found, wanted)| found != wanted)
            }
            _ => None,
        }
    }
}

/// Parses a CRC-32C.
fn crc32c(text: &[u8]) -> Option<Checksum> {
    let digits = text.strip_prefix(b"crc32c:0x")?;
    let is_form = (1..=8).contains(&digits.len());
    let digit = |number: u32, digit: &u8| Some(number << 4 | char::from(*digit).to_digit(16)?);
    digits.iter().try_fold(0, digit).filter(|_| is_form).map(Checksum::Crc32c)
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn digest(digits: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}
