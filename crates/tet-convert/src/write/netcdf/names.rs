//! Names that the format has: the rules for names of the NetCDF classic format specification.

use std::collections::BTreeMap;

use crate::{Error, Note, Result};

/// A name as the format has it: no `/`, no control character, no space at the end; the first character is a
/// letter, a digit, `_` or one that is not ASCII.
pub(super) fn legal(name: &str) -> String {
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    let trimmed = name.trim_end_matches(' ').len();
    let mut legal = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let is_bad = c == '/' || c.is_control() || trimmed <= at;
        let c = if is_bad { '_' } else { c };
        if at == 0 && !is_first(c) {
            legal.push('_');
        }
        legal.push(c);
    }
    if legal.is_empty() { "_".to_owned() } else { legal }
}

/// A name for each dataset, none of them twice.
///
/// # Errors
/// Two datasets would have one name.
pub(super) fn of_datasets<'n>(
    names: impl Iterator<Item = &'n str>,
    notes: &mut Vec<Note>,
) -> Result<Vec<String>> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut legals = Vec::new();
    for name in names {
        let legal = legal(name);
        if let Some(first) = taken.insert(legal.clone(), name) {
            let (first, second) = (first.to_owned(), name.to_owned());
            return Err(Error::Collision { first, second, member: legal });
        }
        if legal != name {
            notes.push(Note::Renamed { from: name.to_owned(), to: legal.clone() });
        }
        legals.push(legal);
    }
    Ok(legals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_only_where_they_must() {
        for same in ["temp", "t2-m (K)", "_x", "2m", "gr\u{fc}n", "a.b", "x@y"] {
            assert_eq!(legal(same), same);
        }
        for (name, wanted) in [
            ("", "_"),
            ("a/b", "a_b"),
            ("/a", "_a"),
            (".zarr", "_.zarr"),
            ("a ", "a_"),
            ("a\0\u{1b}", "a__"),
            ("-x", "_-x"),
            (" ", "_"),
        ] {
            assert_eq!(legal(name), wanted, "{name:?}");
        }
    }

    #[test]
    fn two_datasets_never_have_one_name() {
        let mut notes = Vec::new();
        let names = of_datasets(["a", "b/c"].into_iter(), &mut notes).expect("names");
        assert_eq!((names, notes.len()), (vec!["a".to_owned(), "b_c".to_owned()], 1));
        assert!(of_datasets(["b_c", "b/c"].into_iter(), &mut notes).is_err());
    }
}
