//! Finds tensors by name; the table is built on the first lookup.

use std::hash::{BuildHasher, RandomState};

const NONE: u32 = u32::MAX;

/// A hash table of names; the names themselves are in the index.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// A power of two, at most half full.
    slots: Vec<Slot>,
    /// For each position the next one of the same name; empty if no name is repeated.
    twins: Vec<u32>,
    hasher: RandomState,
}

/// The first position of a name, and a part of its hash, to avoid most comparisons.
#[derive(Clone, Copy, Debug)]
struct Slot {
    tag: u32,
    first: u32,
}

impl Names {
    /// The table of `count` names; `name` returns the name at a position.
    pub(crate) fn new<'a>(count: usize, name: impl Fn(usize) -> &'a [u8]) -> Self {
        let slot_count = count.saturating_mul(2).next_power_of_two();
        let free = Slot { tag: 0, first: NONE };
        let (slots, hasher) = (vec![free; slot_count], RandomState::new());
        let mut names = Names { slots, twins: Vec::new(), hasher };
        for (at, position) in (0..count).zip(0_u32..) {
            let (slot, tag) = names.slot(name(at), &name);
            match names.slots.get_mut(slot) {
                Some(slot) if slot.first == NONE => *slot = Slot { tag, first: position },
                Some(Slot { first, .. }) => {
                    let first = *first;
                    names.twins.resize(count, NONE);
                    // Inserted after the first one, so that many equal names take no longer than
                    // one.
                    let next = names.twin(first);
                    names.set_twin(position, next);
                    names.set_twin(first, position);
                }
                None => {}
            }
        }
        names
    }

    /// The positions of a name, in order.
    pub(crate) fn find<'a>(&self, wanted: &[u8], name: impl Fn(usize) -> &'a [u8]) -> Vec<usize> {
        let mut found = Vec::new();
        let slot = self.slots.get(self.slot(wanted, &name).0);
        let mut position = slot.map_or(NONE, |slot| slot.first);
        while position != NONE {
            found.extend(usize::try_from(position));
            position = self.twin(position);
        }
        found.sort_unstable();
        found
    }

    /// The slot of a name, or the free one for it; and its tag.
    fn slot<'a>(&self, wanted: &[u8], name: &impl Fn(usize) -> &'a [u8]) -> (usize, u32) {
        let mask = (self.slots.len() as u64).wrapping_sub(1);
        let hash = self.hasher.hash_one(wanted);
        let tag = u32::try_from(hash >> 32).unwrap_or(0);
        let mut slot = hash & mask;
        loop {
            let at = usize::try_from(slot).unwrap_or(0);
            let Some(held) = self.slots.get(at).filter(|held| held.first != NONE) else {
                return (at, tag);
            };
            let first = usize::try_from(held.first);
            if held.tag == tag && first.is_ok_and(|first| name(first) == wanted) {
                return (at, tag);
            }
            slot = slot.wrapping_add(1) & mask;
        }
    }

    fn twin(&self, position: u32) -> u32 {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        self.twins.get(at).copied().unwrap_or(NONE)
    }

    fn set_twin(&mut self, position: u32, next: u32) {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        if let Some(twin) = self.twins.get_mut(at) {
            *twin = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_twins_in_order() {
        for count in [0, 1, 2, 3, 1000] {
            let listed: Vec<String> = (0..count).map(|at| format!("n{}", at % 600)).collect();
            let name = |at: usize| listed[at].as_bytes();
            let names = Names::new(count, name);
            for wanted in (0..700).map(|at| format!("n{at}")) {
                let all: Vec<usize> = (0..count).filter(|at| listed[*at] == wanted).collect();
                assert_eq!(names.find(wanted.as_bytes(), name), all);
            }
        }
    }

    #[test]
    fn one_name_for_all_is_no_burden() {
        let names = Names::new(200_000, |_| b"same");
        assert_eq!(names.find(b"same", |_| b"same").len(), 200_000);
    }
}
