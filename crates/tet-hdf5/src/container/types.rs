//! Committed datatypes: objects that are a type with a name. Datasets of the type have all of it but the name, and a type
//! that no dataset has is not listed.

use std::collections::HashSet;

use crate::{Class, Datatype, Described, Hdf5File, ObjectKind, StoredFault, StoredObject, rule};
use tet_format::ForeignFault;

use tet_container::Note;

/// The committed datatypes of a file: their paths, and the bytes where their headers begin.
pub(super) struct Types {
    /// Those that datasets have.
    had: Vec<(String, u64)>,
    /// The others.
    unlisted: Vec<(String, u64)>,
}

impl Types {
    /// Those of a file with these objects and datasets.
    pub(super) fn new<'d>(
        file: &Hdf5File,
        objects: &[StoredObject],
        datasets: impl Iterator<Item = &'d Described>,
    ) -> Types {
        let types: Vec<_> = objects.iter().filter(|it| it.kind == ObjectKind::Datatype).collect();
        let mut seen = HashSet::new();
        if !types.is_empty() {
            datasets.for_each(|it| add(&it.datatype, &mut seen));
        }
        let is_had =
            |it: &&StoredObject| file.datatype(it.address).is_ok_and(|it| seen.contains(&it));
        let (had, unlisted): (Vec<_>, Vec<_>) = types.into_iter().partition(is_had);
        let begin = |it: &StoredObject| (it.path.clone(), file.base().saturating_add(it.address));
        let places = |types: Vec<&StoredObject>| types.into_iter().map(begin).collect();
        Types { had: places(had), unlisted: places(unlisted) }
    }

    /// The notes on datatypes that no dataset has, and on names of datatypes, which a copy lacks.
    pub(super) fn notes(self) -> impl Iterator<Item = Note> {
        let names = |types: Vec<(String, u64)>| types.into_iter().map(|(path, _)| path).collect();
        let (had, unlisted): (Vec<String>, Vec<String>) = (names(self.had), names(self.unlisted));
        let what = "datatypes that no dataset has";
        let count = unlisted.len();
        let unlisted = (count != 0).then_some(Note::NotListed { what, names: unlisted, count });
        let had = (!had.is_empty()).then_some(Note::TypeNames { names: had });
        unlisted.into_iter().chain(had)
    }

    /// The findings of a check on those that are not listed.
    pub(super) fn findings(&self) -> impl Iterator<Item = StoredFault> {
        self.unlisted.iter().map(|(path, at)| {
            let fault = ForeignFault { rule: &rule::COMMITTED, at: *at, found: 0, wanted: 0 };
            StoredFault { fault, path: Some(path.clone()), attribute: None }
        })
    }
}

/// Adds a type and those that it is made of.
fn add<'d>(datatype: &'d Datatype, seen: &mut HashSet<&'d Datatype>) {
    if !seen.insert(datatype) {
        return;
    }
    match &datatype.class {
        Class::Compound(members) => members.iter().for_each(|it| add(&it.datatype, seen)),
        Class::Enum { base, .. }
        | Class::List(base)
        | Class::Array { base, .. }
        | Class::Complex(base) => add(base, seen),
        _ => {}
    }
}
