//! A name for each variable.

use std::collections::BTreeMap;

use tet_container::write::netcdf::names::legal;
use tet_container::{Error, Note, Result};

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
    fn two_datasets_never_have_one_name() {
        let mut notes = Vec::new();
        let names = of_datasets(["a", "b/c"].into_iter(), &mut notes).expect("names");
        assert_eq!((names, notes.len()), (vec!["a".to_owned(), "b_c".to_owned()], 1));
        assert!(of_datasets(["b_c", "b/c"].into_iter(), &mut notes).is_err());
    }
}
