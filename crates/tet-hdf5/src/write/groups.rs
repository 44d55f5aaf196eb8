//! The groups of a new file, made of the paths of its objects.

use std::collections::BTreeMap;

use super::{DraftFault, Hdf5Draft};

/// A name is at most this long.
const NAME_LEN_MAX: usize = 32_768;

/// Target of a link in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Child {
    /// The group of this number.
    Group(usize),
    /// The dataset of this number.
    Dataset(usize),
    /// The named type of this number.
    Type(usize),
}

/// A group: names and what they lead to, in the order of their creation.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) links: Vec<(String, Child)>,
    numbers: BTreeMap<String, Child>,
}

/// The groups of a file, the root first.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// For each group of the draft the number of the group that has its attributes.
    pub(super) numbers: Vec<usize>,
}

impl Groups {
    /// The groups that the paths of datasets are made of, and those that have attributes.
    ///
    /// # Errors
    ///
    /// Returns a path that cannot be, or that two objects have.
    pub(super) fn from_draft(draft: &Hdf5Draft) -> Result<Groups, DraftFault> {
        let mut groups = Groups { list: vec![Group::default()], numbers: Vec::new() };
        // The NetCDF library knows a type once it has read it, and reads objects in the order of their links.
        for (number, of) in draft.types.iter().enumerate() {
            if let Some(path) = &of.path {
                groups.add_object(path, Child::Type(number))?;
            }
        }
        for (number, dataset) in draft.datasets.iter().enumerate() {
            groups.add_object(&dataset.path, Child::Dataset(number))?;
        }
        for group in &draft.groups {
            let parts = parts(&group.path)?;
            let number = groups.group(&parts)?;
            groups.numbers.push(number);
        }
        Ok(groups)
    }

    fn add_object(&mut self, path: &str, child: Child) -> Result<(), DraftFault> {
        let mut parts = parts(path)?;
        let name = parts.pop().unwrap_or_default();
        let at = self.group(&parts)?;
        if self.add(at, name, child) {
            return Ok(());
        }
        Err(DraftFault::TwoObjects { path: path.to_owned() })
    }

    /// The number of the group at this path, made where it is not there.
    fn group(&mut self, parts: &[&str]) -> Result<usize, DraftFault> {
        let mut at = 0;
        for (depth, part) in parts.iter().enumerate() {
            let found = self.list.get(at).and_then(|group| group.numbers.get(*part)).copied();
            at = match found {
                Some(Child::Group(next)) => next,
                Some(Child::Dataset(_) | Child::Type(_)) => {
                    let path = parts.get(..=depth).unwrap_or_default().join("/");
                    return Err(DraftFault::TwoObjects { path });
                }
                None => {
                    let next = self.list.len();
                    self.list.push(Group::default());
                    self.add(at, part, Child::Group(next));
                    next
                }
            };
        }
        Ok(at)
    }

    /// Adds a link, unless there is one of this name.
    fn add(&mut self, at: usize, name: &str, child: Child) -> bool {
        let Some(group) = self.list.get_mut(at) else { return false };
        if group.numbers.contains_key(name) {
            return false;
        }
        group.numbers.insert(name.to_owned(), child);
        group.links.push((name.to_owned(), child));
        true
    }
}

/// The names that a path is made of.
fn parts(path: &str) -> Result<Vec<&str>, DraftFault> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_name = |part: &&str| {
        !["", ".", ".."].contains(part) && part.len() <= NAME_LEN_MAX && !part.contains('\0')
    };
    if !parts.iter().all(is_name) {
        return Err(DraftFault::Path { path: path.to_owned() });
    }
    Ok(parts)
}
