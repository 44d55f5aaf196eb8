//! The CRC-32C of bytes that are read in pieces, in any order and by several threads.
//!
//! A CRC is linear: the CRC of a whole is the XOR of the CRCs of its pieces, each multiplied by `x`
//! to the number of bits after it, modulo the polynomial of the CRC. So several readers may digest
//! pieces of one chunk; their sums are added and compared once all bytes were read.
//! (`crc32_combine` of zlib is the same multiplication.)

use crate::crc32c::Crc32c;

/// The polynomial of CRC-32C, lowest power in the highest bit.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// One, as a polynomial.
const ONE: u32 = 1 << 31;

/// `x` to the power 8 * 2^k: the factor of a CRC that is followed by 2^k bytes.
const POWERS: [u32; 64] = powers();

const fn powers() -> [u32; 64] {
    let mut powers = [ONE >> 8; 64];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = product(powers[at - 1], powers[at - 1]);
        at += 1;
    }
    powers
}

/// The product of two polynomials modulo the one of the CRC.
const fn product(a: u32, mut b: u32) -> u32 {
    let mut sum = 0;
    let mut bit = 32;
    while bit != 0 {
        bit -= 1;
        if a >> bit & 1 == 1 {
            sum ^= b;
        }
        b = if b & 1 == 1 { b >> 1 ^ POLYNOMIAL } else { b >> 1 };
    }
    sum
}

/// The factor of the CRC of some bytes that are followed by `len` bytes.
fn factor(mut len: u64) -> u32 {
    let mut factor = ONE;
    for power in POWERS {
        if len == 0 {
            break;
        }
        if len & 1 == 1 {
            factor = product(power, factor);
        }
        len >>= 1;
    }
    factor
}

/// The partial CRC of a chunk of `len` bytes after some of its bytes were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PieceSum {
    /// The CRC of the bytes read so far, at their positions.
    pub crc: u32,
    /// The number of bytes read.
    pub seen: u64,
}

impl PieceSum {
    /// Adds the sum of other bytes of the same chunk.
    pub fn add(&mut self, other: PieceSum) {
        self.crc ^= other.crc;
        self.seen = self.seen.saturating_add(other.seen);
    }
}

/// Digests pieces of one chunk, fastest in the order of their positions.
///
/// ```
/// let chunk = b"123456789";
/// let mut first = tet_codec::Pieces::new(9);
/// first.add(6, &chunk[6..]);
/// let mut second = tet_codec::Pieces::new(9);
/// second.add(0, &chunk[..4]);
/// second.add(4, &chunk[4..6]);
/// let mut sum = first.finish();
/// sum.add(second.finish());
/// assert_eq!((sum.crc, sum.seen), (0xe306_9283, 9));
/// ```
#[derive(Clone, Debug)]
pub struct Pieces {
    len: u64,
    done: PieceSum,
    /// The sum of the runs before `at`, as if the chunk ended there.
    sum: u32,
    at: u64,
    /// The CRC of contiguous bytes that end at `end`.
    run: Option<Crc32c>,
    end: u64,
    /// The last distance and its factor, for rows at regular distances.
    last: (u64, u32),
}

impl Pieces {
    /// Digests pieces of a chunk of `len` bytes.
    #[must_use]
    pub fn new(len: u64) -> Self {
        let done = PieceSum::default();
        Pieces { len, done, sum: 0, at: 0, run: None, end: 0, last: (0, ONE) }
    }

    /// Adds the bytes at `start` of the chunk. No byte may be added twice.
    pub fn add(&mut self, start: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.run.is_none() || start != self.end {
            self.end_run();
            if start < self.at {
                self.sum = self.shifted(self.sum, self.len.saturating_sub(self.at));
                self.done.crc ^= std::mem::take(&mut self.sum);
                self.at = 0;
            }
            self.end = start;
        }
        self.run.get_or_insert_default().update(bytes);
        let len = bytes.len() as u64;
        self.end = self.end.saturating_add(len);
        self.done.seen = self.done.seen.saturating_add(len);
    }

    /// The sum of all added bytes.
    #[must_use]
    pub fn finish(mut self) -> PieceSum {
        self.end_run();
        let crc = self.shifted(self.sum, self.len.saturating_sub(self.at));
        self.done.add(PieceSum { crc, seen: 0 });
        self.done
    }

    /// Combines the contiguous bytes with those before them.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let before = self.shifted(self.sum, self.end.saturating_sub(self.at));
        self.sum = before ^ run.finish();
        self.at = self.end;
    }

    /// A sum that is followed by `len` more bytes.
    fn shifted(&mut self, sum: u32, len: u64) -> u32 {
        if sum == 0 {
            return 0;
        }
        if self.last.0 != len {
            self.last = (len, factor(len));
        }
        product(sum, self.last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(len: u32) -> Vec<u8> {
        (0..len).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect()
    }

    /// Every split of twelve bytes into three pieces, in every order, by one or three threads.
    #[test]
    fn pieces_in_any_order_make_the_crc_of_the_whole() {
        let chunk = bytes(12);
        let whole = PieceSum { crc: Crc32c::checksum(&chunk), seen: 12 };
        for first in 0..=12 {
            for second in first..=12 {
                let cuts = [(0, first), (first, second), (second, 12)];
                for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let mut one = Pieces::new(12);
                    let mut three = PieceSum::default();
                    for (start, end) in order.map(|at| cuts[at]) {
                        one.add(start as u64, &chunk[start..end]);
                        let mut each = Pieces::new(12);
                        each.add(start as u64, &chunk[start..end]);
                        three.add(each.finish());
                    }
                    assert_eq!(one.finish(), whole, "{cuts:?} {order:?}");
                    assert_eq!(three, whole, "{cuts:?} {order:?}");
                }
            }
        }
    }

    #[test]
    fn even_rows_of_a_large_chunk_make_its_crc() {
        let chunk = bytes(3_000_000);
        let whole = PieceSum { crc: Crc32c::checksum(&chunk), seen: 3_000_000 };
        for row in [1000, 4096, 700_000] {
            let mut sum = PieceSum::default();
            // Two threads: one takes even rows, the other odd ones.
            for nth in 0..2 {
                let mut pieces = Pieces::new(3_000_000);
                for (_, row) in chunk.chunks(row).enumerate().filter(|(at, _)| at % 2 == nth) {
                    let start = row.as_ptr().addr() - chunk.as_ptr().addr();
                    pieces.add(start as u64, row);
                }
                sum.add(pieces.finish());
            }
            assert_eq!(sum, whole, "rows of {row}");
        }
    }

    /// The power is also right for more than 2^32 bytes: it is the product of smaller powers.
    #[test]
    fn a_factor_is_the_product_of_the_factors_of_its_parts() {
        for (a, b) in [(1, 1), (5, 1000), (1 << 33, 12345), (u64::MAX >> 4, 77)] {
            assert_eq!(product(factor(a), factor(b)), factor(a + b));
        }
        let zeros = vec![0; 70_000];
        let mut crc = Crc32c::new();
        crc.update(b"abc");
        let alone = crc.finish();
        crc.update(&zeros);
        assert_eq!(product(alone, factor(70_000)) ^ Crc32c::checksum(&zeros), crc.finish());
    }
}
