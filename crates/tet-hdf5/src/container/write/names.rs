//! A path for each dataset: groups, and a name that the file can have.

use std::collections::BTreeMap;

use super::Flavor;
use super::scope::parent;
use tet_container::write::netcdf::names::legal;
use tet_container::{Error, Note, Result};

/// A name as the file has it: the part between two slashes.
pub(in super::super) fn name(part: &str, flavor: Flavor) -> String {
    match flavor {
        Flavor::NetCdf => legal(part),
        Flavor::Hdf5 if ["", ".", ".."].contains(&part) => format!("_{part}"),
        Flavor::Hdf5 => part.replace('\0', "_"),
    }
}

/// A path for each dataset, none of them twice, and none where a group is.
///
/// # Errors
/// Two datasets would have one path, or a dataset would be in another.
pub(super) fn paths<'n>(
    names: impl Iterator<Item = &'n str>,
    flavor: Flavor,
    notes: &mut Vec<Note>,
) -> Result<Vec<String>> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut groups: BTreeMap<String, &str> = BTreeMap::new();
    let mut paths = Vec::new();
    for from in names {
        let parts: Vec<String> = from.split('/').map(|part| name(part, flavor)).collect();
        let path = parts.join("/");
        let collision = |first: &str, member: &str| {
            let (first, second) = (first.to_owned(), from.to_owned());
            Err(Error::Collision { first, second, member: member.to_owned() })
        };
        if let Some(first) = taken.insert(path.clone(), from).or(groups.get(&path).copied()) {
            return collision(first, &path);
        }
        let mut group = parent(&path);
        while !group.is_empty() {
            if let Some(first) = taken.get(group) {
                return collision(first, group);
            }
            groups.insert(group.to_owned(), from);
            group = parent(group);
        }
        if path != from {
            notes.push(Note::Renamed { from: from.to_owned(), to: path.clone() });
        }
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_only_where_they_must() {
        for same in ["temp", "a/b c/d.e", "2m", "gr\u{fc}n", "..a"] {
            let mut notes = Vec::new();
            let found = paths([same].into_iter(), Flavor::Hdf5, &mut notes).expect("a path");
            assert_eq!((found, notes), (vec![same.to_owned()], Vec::new()));
        }
        for (from, hdf5, netcdf) in [
            ("", "_", "_"),
            ("/a", "_/a", "_/a"),
            ("a/", "a/_", "a/_"),
            ("a/../b", "a/_../b", "a/_../b"),
            ("a\0", "a_", "a_"),
            ("-x/y ", "-x/y ", "_-x/y_"),
        ] {
            for (flavor, wanted) in [(Flavor::Hdf5, hdf5), (Flavor::NetCdf, netcdf)] {
                let mut notes = Vec::new();
                let found = paths([from].into_iter(), flavor, &mut notes).expect("a path");
                assert_eq!(
                    (found, notes.len()),
                    (vec![wanted.to_owned()], usize::from(from != wanted))
                );
            }
        }
    }

    #[test]
    fn no_two_objects_have_one_path() {
        for names in [["a", "a/b"], ["a/b", "a"], ["x\0", "x_"], ["a/b/c", "a/b"]] {
            let found = paths(names.into_iter(), Flavor::Hdf5, &mut Vec::new());
            assert!(matches!(found, Err(Error::Collision { .. })), "{names:?}: {found:?}");
        }
        assert!(paths(["a/b", "a/c", "b"].into_iter(), Flavor::Hdf5, &mut Vec::new()).is_ok());
    }
}
