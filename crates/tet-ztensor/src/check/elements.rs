//! Checks the values of elements while they are decoded.

use tet_format::ForeignRule;

use super::parts::Role;
use crate::rule;
use crate::words::ByteOrder;

/// The length in bytes of a position number.
const WORD: usize = 8;

/// Requirements on the elements.
pub(super) enum Elements {
    Any,
    /// Bytes that must be 0 or 1.
    Bools,
    Places(Numbers),
}

/// The first invalid element: its byte, counted from the first, and the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd {
    pub(super) rule: &'static ForeignRule,
    pub(super) at: u64,
    pub(super) found: u64,
    pub(super) wanted: u64,
}

/// The numbers of a part of a sparse tensor.
pub(super) struct Numbers {
    role: Role,
    byte_order: ByteOrder,
    /// The start of a number that continues in the next piece.
    held: Vec<u8>,
    count: u64,
    before: u64,
}

/// Searches for the first invalid element.
pub(super) struct Search {
    elements: Elements,
    done: u64,
    odd: Option<Odd>,
}

impl Search {
    pub(super) const fn new(elements: Elements) -> Self {
        Search { elements, done: 0, odd: None }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if self.odd.is_none() {
            self.odd =
                match &mut self.elements {
                    Elements::Any => None,
                    Elements::Bools => {
                        (self.done..).zip(bytes).find(|(_, byte)| **byte > 1).map(|(at, byte)| {
                            Odd { rule: &rule::BOOL_BYTE, at, found: (*byte).into(), wanted: 1 }
                        })
                    }
                    Elements::Places(numbers) => numbers.update(bytes),
                };
        }
        self.done = self.done.saturating_add(bytes.len() as u64);
    }

    /// The result after all elements.
    pub(super) fn finish(self) -> Option<Odd> {
        self.odd.or(match &self.elements {
            Elements::Places(numbers) => numbers.finish(),
            Elements::Any | Elements::Bools => None,
        })
    }
}

impl Numbers {
    pub(super) const fn new(role: Role, byte_order: ByteOrder) -> Self {
        Numbers { role, byte_order, held: Vec::new(), count: 0, before: 0 }
    }

    fn update(&mut self, mut bytes: &[u8]) -> Option<Odd> {
        if !self.held.is_empty() {
            let missing = WORD.saturating_sub(self.held.len()).min(bytes.len());
            let (first, rest) = bytes.split_at(missing);
            self.held.extend_from_slice(first);
            bytes = rest;
            let word: [u8; WORD] = self.held.as_slice().try_into().ok()?;
            self.held.clear();
            if let Some(odd) = self.number(word) {
                return Some(odd);
            }
        }
        let (words, rest) = bytes.as_chunks::<WORD>();
        let odd = words.iter().find_map(|word| self.number(*word));
        self.held.extend_from_slice(rest);
        odd
    }

    fn number(&mut self, word: [u8; WORD]) -> Option<Odd> {
        let number = match self.byte_order {
            ByteOrder::Little => u64::from_le_bytes(word),
            ByteOrder::Big => u64::from_le_bytes(word).swap_bytes(),
        };
        let at = self.count;
        self.count = self.count.saturating_add(1);
        let before = std::mem::replace(&mut self.before, number);
        match &self.role {
            Role::Indptr(_) if at == 0 && number != 0 => self.odd(&rule::PART_INDPTR, number, 0),
            Role::Indptr(_) if number < before => self.odd(&rule::PART_INDPTR, number, before),
            Role::Indptr(_) => None,
            Role::Within(extents) => {
                let axis = at.checked_rem(extents.len() as u64).unwrap_or(0);
                let extent = usize::try_from(axis).ok().and_then(|axis| extents.get(axis));
                let extent = extent.copied().unwrap_or(0);
                if number < extent { None } else { self.odd(&rule::PART_RANGE, number, extent) }
            }
        }
    }

    fn finish(&self) -> Option<Odd> {
        match self.role {
            Role::Indptr(last) if self.count != 0 && self.before != last => {
                self.odd(&rule::PART_INDPTR, self.before, last)
            }
            _ => None,
        }
    }

    /// A finding for the last number.
    fn odd(&self, rule: &'static ForeignRule, found: u64, wanted: u64) -> Option<Odd> {
        let at = self.count.saturating_sub(1).saturating_mul(WORD as u64);
        Some(Odd { rule, at, found, wanted })
    }
}
