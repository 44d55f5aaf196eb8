//! CRC-32C, computed by the faster of two libraries.
//!
//! `crc-fast` uses carry-less multiplication, 64 bytes at a time with AVX-512 and 16 otherwise;
//! `crc32c` uses the SSE 4.2 instruction, three at a time. With AVX-512 the first is twice as fast,
//! without it the second is 1.5 times as fast.

use std::fmt;

use crc_fast::CrcAlgorithm;

/// The name of CRC-32C in `crc-fast`.
const ALGORITHM: CrcAlgorithm = CrcAlgorithm::Crc32Iscsi;

/// The CRC-32C of bytes that arrive piece by piece.
#[derive(Clone)]
pub struct Crc32c(Implementation);

#[derive(Clone)]
enum Implementation {
    Multiplied(Box<crc_fast::Digest>),
    Instructed(u32),
}

impl Crc32c {
    /// The CRC of no bytes.
    #[must_use]
    pub fn new() -> Self {
        if multiplies_wide() { Self::multiplied() } else { Self(Implementation::Instructed(0)) }
    }

    fn multiplied() -> Self {
        Self(Implementation::Multiplied(Box::new(crc_fast::Digest::new(ALGORITHM))))
    }

    /// The CRC of bytes.
    #[must_use]
    pub fn checksum(bytes: &[u8]) -> u32 {
        let mut crc = Self::new();
        crc.update(bytes);
        crc.finish()
    }

    /// Adds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Implementation::Multiplied(crc) => crc.update(bytes),
            Implementation::Instructed(crc) => *crc = crc32c::crc32c_append(*crc, bytes),
        }
    }

    /// The CRC of all bytes.
    #[must_use]
    pub fn finish(&self) -> u32 {
        match &self.0 {
            // The 32-bit CRC is in the low half.
            Implementation::Multiplied(crc) => (crc.finalize() & u64::from(u32::MAX)) as u32,
            Implementation::Instructed(crc) => *crc,
        }
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Crc32c {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Crc32c({:#010x})", self.finish())
    }
}

/// Whether `crc-fast` is the faster library.
fn multiplies_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("vpclmulqdq")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value in the specification of the algorithm.
    #[test]
    fn both_ways_give_the_known_value() {
        for mut crc in [Crc32c::multiplied(), Crc32c(Implementation::Instructed(0))] {
            assert_eq!(crc.finish(), 0);
            crc.update(b"1234");
            crc.update(b"");
            crc.update(b"56789");
            assert_eq!(crc.finish(), 0xe306_9283);
        }
    }

    #[test]
    fn both_ways_agree_at_every_length_and_boundary() {
        let bytes: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        for len in (0..600).chain([1023, 1024, 1025, 4095, 4096, 4097, 4990]) {
            for start in 0..9 {
                let mut ways = [Crc32c::multiplied(), Crc32c(Implementation::Instructed(0))];
                ways.iter_mut().for_each(|crc| crc.update(&bytes[start..start + len]));
                assert_eq!(ways[0].finish(), ways[1].finish(), "{len} bytes from {start}");
            }
        }
    }
}
