//! The sink of the rules: what is found is kept, up to so many of one rule, and the rest counted.

use std::collections::BTreeMap;

use tet_format::{ForeignRule, Severity};

use super::report::{Finding, Omitted};

/// Takes everything that is found. Its memory does not grow with the number of that.
#[derive(Debug)]
pub(super) struct Collector {
    found: Vec<Finding>,
    counts: BTreeMap<&'static str, (&'static ForeignRule, u64)>,
    kept_max: u64,
}

impl Collector {
    pub(super) fn new(kept_max: usize) -> Self {
        Collector { found: Vec::new(), counts: BTreeMap::new(), kept_max: kept_max as u64 }
    }

    pub(super) fn push(&mut self, finding: Finding) {
        let rule = finding.fault.rule;
        let (_, count) = self.counts.entry(rule.id).or_insert((rule, 0));
        if *count < self.kept_max {
            self.found.push(finding);
        }
        *count = count.saturating_add(1);
    }

    /// A rule that is broken, if one is: that which comes first in their order.
    pub(super) fn first_error(&self) -> Option<&'static ForeignRule> {
        let mut rules = self.counts.values().map(|(rule, _)| *rule);
        rules.find(|rule| rule.severity == Severity::Error)
    }

    /// What was kept, in the order of the file, and what was not.
    pub(super) fn into_parts(mut self) -> (Vec<Finding>, Vec<Omitted>) {
        self.found.sort_by_key(|finding| finding.fault.at);
        let kept_max = self.kept_max;
        let left = self.counts.into_values();
        let left = left.map(|(rule, count)| (rule, count.saturating_sub(kept_max)));
        let left = left.filter(|(_, count)| *count != 0);
        (self.found, left.map(|(rule, count)| Omitted { rule, count }).collect())
    }
}
