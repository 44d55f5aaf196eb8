//! Names that differ only in numbers, as one pattern: `layers.{0..31}.q_proj.weight`.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Longer runs of digits are no numbers of layers.
const DIGITS_MAX: usize = 9;

/// A name by its place, and its numbers.
type Member = (usize, Vec<u64>);

/// Common parts of the names of a group: the texts between their numbers, and the facts of their datasets.
type Alike<'a, F> = (Vec<&'a str>, &'a F);

/// Datasets that are listed in one row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Their pattern; the name of a single one.
    pub(super) name: String,
    /// Their places among the names, rising.
    pub(super) members: Vec<usize>,
}

/// A name in pieces: texts, with a number between each two.
struct Pieces<'a> {
    texts: Vec<&'a str>,
    numbers: Vec<u64>,
}

impl<'a> Pieces<'a> {
    /// The pieces of a name; a name with characters of patterns is one text.
    fn new(name: &'a str) -> Pieces<'a> {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        let (mut start, mut at) = (0, 0);
        let is_plain = !name.contains(['*', '?', '{']);
        while is_plain && at < name.len() {
            let rest = &name[at..];
            let other = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let digits = &rest[..other];
            // Numbers with leading zeros are texts: a pattern would name other datasets too.
            let is_number =
                digits.len() <= DIGITS_MAX && (digits == "0" || !digits.starts_with('0'));
            if let (true, Ok(number)) = (is_number, digits.parse()) {
                texts.push(&name[start..at]);
                numbers.push(number);
                start = at + other;
            }
            at += other.max(rest.chars().next().map_or(1, char::len_utf8));
        }
        texts.push(&name[start..]);
        Pieces { texts, numbers }
    }
}

/// Puts names of the same texts, and with the same `facts`, together where their numbers make up whole ranges.
pub(super) fn families<F: Hash + Eq>(names: &[(&str, F)]) -> Vec<Family> {
    let mut groups: HashMap<Alike<'_, F>, Vec<Member>> = HashMap::new();
    for (place, (name, facts)) in names.iter().enumerate() {
        let Pieces { texts, numbers } = Pieces::new(name);
        groups.entry((texts, facts)).or_default().push((place, numbers));
    }
    let mut families: Vec<Family> = Vec::new();
    for ((texts, _), members) in groups {
        for part in parts(members) {
            let name = pattern(&texts, &ranges(&part));
            let members = part.into_iter().map(|(place, _)| place).collect();
            families.push(Family { name, members });
        }
    }
    families.sort_by_key(|family| family.members.first().copied());
    families
}

/// Cuts a group into parts whose numbers are all combinations of ranges.
fn parts(members: Vec<Member>) -> Vec<Vec<Member>> {
    if is_product(&members) {
        return vec![members];
    }
    let slots = members.first().map_or(0, |(_, numbers)| numbers.len());
    let cuts = (0..slots).map(|slot| runs(&members, slot));
    let alone = || members.iter().map(|it| vec![it.clone()]).collect();
    cuts.min_by_key(Vec::len).unwrap_or_else(alone)
}

/// Cuts a group into runs of one number; the others are the same in each.
fn runs(members: &[Member], slot: usize) -> Vec<Vec<Member>> {
    let apart = |member| {
        let (_, numbers): &Member = member;
        let mut others = numbers.clone();
        let number = others.remove(slot);
        (others, number, member)
    };
    let mut sorted: Vec<(Vec<u64>, u64, &Member)> = members.iter().map(apart).collect();
    sorted.sort();
    let mut runs: Vec<Vec<Member>> = Vec::new();
    let mut before: Option<(Vec<u64>, u64)> = None;
    for (others, number, member) in sorted {
        let follows = before.is_some_and(|(same, last)| same == others && last + 1 == number);
        match runs.last_mut() {
            Some(run) if follows => run.push(member.clone()),
            _ => runs.push(vec![member.clone()]),
        }
        before = Some((others, number));
    }
    runs.iter_mut().for_each(|run| run.sort());
    runs
}

/// The range of each number of a group.
fn ranges(members: &[Member]) -> Vec<(u64, u64)> {
    let slots = members.first().map_or(0, |(_, numbers)| numbers.len());
    let values = |slot: usize| members.iter().map(move |(_, numbers)| numbers[slot]);
    (0..slots)
        .map(|slot| (values(slot).min().unwrap_or(0), values(slot).max().unwrap_or(0)))
        .collect()
}

/// Whether the numbers of a group are all combinations of ranges, each once.
fn is_product(members: &[Member]) -> bool {
    let all: u64 = ranges(members)
        .iter()
        .map(|(least, greatest)| greatest - least + 1)
        .fold(1, u64::saturating_mul);
    let distinct: HashSet<&Vec<u64>> = members.iter().map(|(_, numbers)| numbers).collect();
    distinct.len() == members.len() && u64::try_from(members.len()) == Ok(all)
}

fn pattern(texts: &[&str], ranges: &[(u64, u64)]) -> String {
    let mut name = String::new();
    for (at, text) in texts.iter().enumerate() {
        name.push_str(text);
        match ranges.get(at) {
            Some((least, greatest)) if least == greatest => name.push_str(&least.to_string()),
            Some((least, greatest)) => name.push_str(&format!("{{{least}..{greatest}}}")),
            None => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use tet_query::Pattern;

    use super::*;

    fn folded(names: &[&str]) -> Vec<String> {
        let named: Vec<(&str, ())> = names.iter().map(|name| (*name, ())).collect();
        let families = families(&named);
        // A pattern names its members and no other.
        for family in families.iter().filter(|family| 1 < family.members.len()) {
            let pattern = Pattern::parse(&family.name).unwrap();
            let matching = (0..names.len()).filter(|&at| pattern.matches(names[at]));
            assert_eq!(matching.collect::<Vec<_>>(), family.members, "{}", family.name);
        }
        let mut all: Vec<usize> = families.iter().flat_map(|it| it.members.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..names.len()).collect::<Vec<_>>());
        families.into_iter().map(|family| family.name).collect()
    }

    #[test]
    fn numbers_in_a_row_are_a_range() {
        let layers = ["emb", "h.0.q", "h.0.k", "h.1.q", "h.1.k", "h.10.q", "h.2.q", "out"];
        assert_eq!(folded(&layers), ["emb", "h.{0..2}.q", "h.{0..1}.k", "h.10.q", "out"]);
        let experts = ["l.0.e.0.w1", "l.0.e.1.w1", "l.1.e.0.w1", "l.1.e.1.w1"];
        assert_eq!(folded(&experts), ["l.{0..1}.e.{0..1}.w1"]);
        let ragged = ["l.0.e.0", "l.0.e.1", "l.1.e.0", "l.2.e.0"];
        assert_eq!(folded(&ragged), ["l.{0..2}.e.0", "l.0.e.1"]);
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for names in [
            &["a", "b"][..],
            &["a.00", "a.01"],
            &["a0", "a0"],
            &["x{1}", "x{2}", "y*1", "y*2"],
            &["12345678901", "12345678902"],
            &[""],
        ] {
            assert_eq!(folded(names), names, "{names:?}");
        }
        assert_eq!(folded(&["\u{e4}1\u{e4}", "\u{e4}2\u{e4}"]), ["\u{e4}{1..2}\u{e4}"]);
    }

    #[test]
    fn datasets_of_other_facts_are_listed_apart() {
        let named = [("h.0", 1), ("h.1", 2), ("h.2", 1)];
        let names = families(&named).into_iter().map(|family| family.name);
        assert_eq!(names.collect::<Vec<_>>(), ["h.0", "h.1", "h.2"]);
    }
}
