//! The sink of the rules: what is found is kept, up to so many of one rule, and the rest counted.

use std::collections::BTreeMap;

use tet_format::ForeignRule;

use super::report::Omitted;
use crate::error::Fault;
use crate::rule;

/// A fault or a note, as it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) fault: Fault,
    /// The tensor it is about.
    pub(super) position: Option<usize>,
    /// The key of the field it is about.
    pub(super) field: &'static str,
}

/// Takes everything that is found. Its memory does not grow with the number of that.
#[derive(Debug)]
pub(super) struct Collector {
    found: Vec<Found>,
    counts: BTreeMap<&'static ForeignRule, u64>,
    kept_max: u64,
}

impl Collector {
    pub(super) fn new(kept_max: usize) -> Self {
        Collector { found: Vec::new(), counts: BTreeMap::new(), kept_max: kept_max as u64 }
    }

    pub(super) fn push(&mut self, found: Found) {
        let count = self.counts.entry(found.fault.rule).or_default();
        if *count < self.kept_max {
            self.found.push(found);
        }
        *count = count.saturating_add(1);
    }

    /// What was kept, and what was not, rule by rule.
    pub(super) fn into_parts(self) -> (Vec<Found>, Vec<Omitted>) {
        let left = rule::ALL.iter().filter_map(|&rule| {
            let count = self.counts.get(rule)?.saturating_sub(self.kept_max);
            (count != 0).then_some(Omitted { rule, count })
        });
        (self.found, left.collect())
    }
}
