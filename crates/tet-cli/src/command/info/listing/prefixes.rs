//! Datasets summed up by the first parts of their names: the parameters of each layer of a model.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::natural;
use crate::args::SortName;

/// A dataset summed up.
pub(super) struct Summand<'a> {
    pub(super) name: &'a str,
    pub(super) elements: Option<u64>,
    pub(super) len: Option<u64>,
}

/// Datasets with a common prefix; a sum is `None` where that of one of them is not known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrefixSum {
    /// The name of a single dataset, or the prefix of several as a pattern.
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) elements: Option<u64>,
    pub(super) len: Option<u64>,
}

/// The sums by the first `depth` parts of names, which are between `.` or `/`.
pub(super) fn sums<'a>(
    datasets: impl Iterator<Item = Summand<'a>>,
    depth: usize,
    sort: SortName,
) -> Vec<PrefixSum> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut sums: Vec<PrefixSum> = Vec::new();
    for Summand { name, elements, len } in datasets {
        let prefix = prefix(name, depth);
        let place = *places.entry(prefix).or_insert(sums.len());
        if place == sums.len() {
            sums.push(PrefixSum { name: name.to_owned(), count: 1, elements, len });
            continue;
        }
        if let Some(sum) = sums.get_mut(place) {
            let added = |one: Option<u64>, two: Option<u64>| one?.checked_add(two?);
            sum.count += 1;
            if prefix != name {
                sum.name = format!("{prefix}*");
            }
            sum.elements = added(sum.elements, elements);
            sum.len = added(sum.len, len);
        }
    }
    match sort {
        SortName::File => {}
        SortName::Name => sums.sort_by(|a, b| natural(&a.name, &b.name)),
        SortName::Size => sums.sort_by_key(|sum| Reverse(sum.len)),
    }
    sums
}

/// The first parts of a name, with the separator behind them; all of a name that has no more.
fn prefix(name: &str, depth: usize) -> &str {
    let mut ends = name.match_indices(['.', '/']).map(|(at, _)| at + 1);
    match depth.checked_sub(1).and_then(|at| ends.nth(at)) {
        Some(end) if end < name.len() => &name[..end],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(names: &[(&str, Option<u64>)], depth: usize, sort: SortName) -> Vec<String> {
        let summands = names.iter().map(|&(name, len)| Summand { name, elements: len, len });
        let line = |sum: PrefixSum| format!("{} {} {:?}", sum.name, sum.count, sum.elements);
        sums(summands, depth, sort).into_iter().map(line).collect()
    }

    #[test]
    fn datasets_are_summed_up_by_the_first_parts_of_their_names() {
        let names = [
            ("h.10.q.w", Some(4)),
            ("h.2.q.w", Some(4)),
            ("h.2.k", Some(3)),
            ("head", Some(9)),
            ("h/2", None),
            ("h/3", Some(1)),
            ("end.", Some(u64::MAX)),
        ];
        assert_eq!(
            summed(&names, 2, SortName::Name),
            [
                "end. 1 Some(18446744073709551615)",
                "h.2.* 2 Some(7)",
                "h.10.q.w 1 Some(4)",
                "h/2 1 None",
                "h/3 1 Some(1)",
                "head 1 Some(9)"
            ]
        );
        assert_eq!(
            summed(&names, 1, SortName::File),
            ["h.* 3 Some(11)", "head 1 Some(9)", "h/* 2 None", "end. 1 Some(18446744073709551615)"]
        );
        assert_eq!(summed(&names, 1, SortName::Size)[0], "end. 1 Some(18446744073709551615)");
        let long = [("a.b", Some(u64::MAX)), ("a.c", Some(1))];
        assert_eq!(summed(&long, 1, SortName::File), ["a.* 2 None"]);
    }
}
