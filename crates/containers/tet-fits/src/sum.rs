//! The ones' complement sum of the checksum convention: 32-bit big-endian words, the carry added at the low end.

#![allow(clippy::big_endian_bytes, reason = "the words of the sum are big-endian")]

use tet_format::{ForeignFault, Span};
use tet_query::{Seal, SealDigester};

use super::rule;

/// A sum of bytes that come in pieces of any length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    total: u64,
    /// The first bytes of a word that is not complete.
    rest: [u8; 4],
    rest_len: usize,
}

impl Sum {
    /// Adds the next bytes.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while self.rest_len != 0
            && let Some((first, others)) = bytes.split_first()
        {
            bytes = others;
            self.push(*first);
        }
        let (words, others) = bytes.as_chunks::<4>();
        // Each part adds less than 2^62.
        for part in words.chunks(1 << 30) {
            let sum: u64 = part.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
            self.add(sum);
        }
        others.iter().for_each(|&byte| self.push(byte));
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.rest.get_mut(self.rest_len) {
            *place = byte;
        }
        self.rest_len += 1;
        if self.rest_len == 4 {
            self.add(u64::from(u32::from_be_bytes(self.rest)));
            self.rest_len = 0;
        }
    }

    fn add(&mut self, sum: u64) {
        self.total = folded(self.total) + folded(sum);
    }

    /// The sum; bytes that fill no word do not count.
    pub(super) fn value(&self) -> u32 {
        u32::try_from(folded(self.total)).unwrap_or(u32::MAX)
    }

    /// The sum of two stretches, each of whole words.
    pub(super) fn with(self, other: Sum) -> Sum {
        Sum { total: folded(self.total) + folded(other.total), ..Sum::default() }
    }
}

/// The carry added at the low end, until there is none.
fn folded(mut sum: u64) -> u64 {
    while u64::from(u32::MAX) < sum {
        sum = (sum & u64::from(u32::MAX)) + (sum >> 32);
    }
    sum
}

/// Whether two sums are the same: zero has two forms.
pub(super) fn is_same(one: u32, other: u32) -> bool {
    let plain = |sum: u32| if sum == u32::MAX { 0 } else { sum };
    plain(one) == plain(other)
}

/// The sum of the data of a unit, which its header states.
pub(super) struct DataSum {
    pub(super) span: Span,
    pub(super) wanted: u32,
}

impl Seal for DataSum {
    fn span(&self) -> Span {
        self.span
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(Compared { sum: Sum::default(), seal: self })
    }
}

struct Compared<'a> {
    sum: Sum,
    seal: &'a DataSum,
}

impl SealDigester for Compared<'_> {
    fn update(&mut self, bytes: &[u8]) {
        self.sum.update(bytes);
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = (self.sum.value(), self.seal.wanted);
        let (at, rule) = (self.seal.span.start(), &rule::DATA_SUM);
        let fault = ForeignFault { rule, at, found: found.into(), wanted: wanted.into() };
        (!is_same(found, wanted)).then_some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carry_is_added_and_pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..4000_u32).map(|at| (at * 37 % 256) as u8 | 0x80).collect();
        let mut naive = 0_u64;
        for word in bytes.chunks(4) {
            naive += u64::from(u32::from_be_bytes(word.try_into().unwrap()));
            naive = (naive & 0xffff_ffff) + (naive >> 32);
        }
        for len in [1, 2, 3, 4, 5, 7, 64, 4000] {
            let mut sum = Sum::default();
            bytes.chunks(len).for_each(|piece| sum.update(piece));
            assert_eq!(u64::from(sum.value()), naive, "pieces of {len}");
        }
        let halves = bytes.split_at(2000);
        let of = |bytes: &[u8]| {
            let mut sum = Sum::default();
            sum.update(bytes);
            sum
        };
        assert_eq!(u64::from(of(halves.0).with(of(halves.1)).value()), naive);
        assert!(is_same(0, u32::MAX) && !is_same(0, 1));
    }
}
