//! Paths that a hierarchy has: no part is empty, a step upward or a document, and no array is a group.

use std::collections::{BTreeMap, BTreeSet};

use tet_container::{Error, Note, Result};

/// Names of documents, which no node has.
pub(super) const DOCUMENTS: [&str; 5] =
    [".zattrs", ".zarray", ".zgroup", "zarr.json", ".zmetadata"];

/// A part of a path as a hierarchy has it.
fn legal_part(part: &str) -> String {
    if matches!(part, "" | "." | "..") {
        return "_".repeat(part.len().max(1));
    }
    let is_bad = |c: char| c.is_control() || matches!(c, '/' | '\\');
    let legal: String = part.chars().map(|c| if is_bad(c) { '_' } else { c }).collect();
    if DOCUMENTS.contains(&part) { format!("_{legal}") } else { legal }
}

/// A path as a hierarchy has it; `/` are groups.
pub(in super::super) fn legal(name: &str) -> String {
    name.split('/').map(legal_part).collect::<Vec<_>>().join("/")
}

/// The group that a path is in: with a `/` at its end, empty for the root.
pub(super) fn group_of(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default()
}

/// A path for each dataset, none of them twice and none below another.
///
/// # Errors
/// Two datasets would have one path.
pub(super) fn of_datasets<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    notes: &mut Vec<Note>,
) -> Result<Vec<String>> {
    let all: BTreeSet<String> = names.clone().map(legal).collect();
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut paths = Vec::new();
    for name in names {
        let mut path = legal(name);
        // An array has no nodes below it: what would be there is next to it.
        let is_below = |at: &usize| path.get(..*at).is_some_and(|above| all.contains(above));
        let below = path.match_indices('/').map(|(at, _)| at).find(is_below);
        if let Some((above, rest)) = below.and_then(|at| path.split_at_checked(at)) {
            path = format!("{above}{}", rest.replace('/', "_"));
        }
        if let Some(first) = taken.insert(path.clone(), name) {
            let (first, second) = (first.to_owned(), name.to_owned());
            return Err(Error::Collision { first, second, member: path });
        }
        if path != name {
            notes.push(Note::Renamed { from: name.to_owned(), to: path.clone() });
        }
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_change_only_where_they_must() {
        for same in ["temp", "g/temp", "t2-m (K)", "a.b", "gr\u{fc}n", ".x", "__x__", "0", "c/0"] {
            assert_eq!(legal(same), same);
        }
        for (name, wanted) in [
            ("", "_"),
            ("/a", "_/a"),
            ("a//b", "a/_/b"),
            ("../a", "__/a"),
            ("a/./b/", "a/_/b/_"),
            ("a\\b\0", "a_b_"),
            ("g/zarr.json", "g/_zarr.json"),
            (".zgroup/x", "_.zgroup/x"),
        ] {
            assert_eq!(legal(name), wanted, "{name:?}");
        }
    }

    #[test]
    fn no_dataset_is_below_another() {
        let mut notes = Vec::new();
        let names = ["a", "a/b/c", "d/e", "d/e/f"];
        let paths = of_datasets(names.into_iter(), &mut notes).expect("paths");
        assert_eq!((paths.join(" ").as_str(), notes.len()), ("a a_b_c d/e d/e_f", 2));
        assert!(of_datasets(["a_b", "a", "a/b"].into_iter(), &mut notes).is_err());
        assert_eq!((group_of("a/b/c"), group_of("a")), ("a/b/", ""));
    }
}
