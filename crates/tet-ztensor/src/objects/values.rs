//! Checks the values of elements while they are read.

use tet_format::ForeignRule;

use super::object::{ManifestObject, ObjectLayout};
use super::part::ObjectPart;
use super::rule;

/// Requirements on the bytes of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Values {
    Any,
    /// 0 or 1.
    Bools,
    /// Two elements a byte, of which the last is not used: its half byte is zero.
    OddNibbles,
}

impl Values {
    /// Requirements on the bytes of a part.
    pub(super) fn for_part(object: &ManifestObject, part: &ObjectPart) -> Values {
        let count = match object.layout {
            ObjectLayout::Dense => object.element_count(),
            _ => None,
        };
        match part.element.map(|element| element.name) {
            Some("bool") => Values::Bools,
            Some("float4_e2m1fn") if count.is_some_and(|count| !count.is_multiple_of(2)) => {
                Values::OddNibbles
            }
            _ => Values::Any,
        }
    }
}

/// The first wrong value: its byte, counted from the first decoded one, and the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) rule: &'static ForeignRule,
    pub(super) at: u64,
    pub(super) found: u64,
    pub(super) wanted: u64,
}

/// Searches for the first wrong value.
pub(super) struct Search {
    values: Values,
    done: u64,
    last: u8,
    wrong: Option<Wrong>,
}

impl Search {
    pub(super) const fn new(values: Values) -> Self {
        Search { values, done: 0, last: 0, wrong: None }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if self.values == Values::Bools && self.wrong.is_none() {
            let wrong = (self.done..).zip(bytes).find(|(_, byte)| **byte > 1);
            self.wrong = wrong.map(|(at, byte)| {
                let (rule, found) = (&rule::BOOL_BYTE, u64::from(*byte));
                Wrong { rule, at, found, wanted: 1 }
            });
        }
        self.done = self.done.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    /// The result after all bytes.
    pub(super) fn finish(&self) -> Option<Wrong> {
        let is_used = self.last >> 4 != 0;
        let nibble = || {
            let (rule, at) = (&rule::NIBBLE, self.done.saturating_sub(1));
            Wrong { rule, at, found: u64::from(self.last >> 4), wanted: 0 }
        };
        let has_odd = self.values == Values::OddNibbles && is_used && self.done != 0;
        self.wrong.or_else(|| has_odd.then(nibble))
    }
}
