//! The dimensions of a file by the groups that they are in: a dataset sees those of its group and of the
//! groups around it, the nearest one first.

use std::collections::{BTreeMap, BTreeSet};

use super::Flavor;

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dim {
    /// The group that it is in, and its name.
    pub(super) path: String,
    pub(super) extent: u64,
    /// Whether it can grow.
    pub(super) is_unlimited: bool,
    /// The number of the array that is its coordinates.
    pub(super) coordinates: Option<usize>,
}

/// The dimensions of a file.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) dims: Vec<Dim>,
    /// The conventions that names follow.
    pub(super) flavor: Flavor,
    numbers: BTreeMap<String, usize>,
    groups: BTreeSet<String>,
}

impl Scope {
    /// No dimensions yet, in the groups that the paths of datasets are made of.
    pub(super) fn new<'p>(paths: impl Iterator<Item = &'p str>, flavor: Flavor) -> Scope {
        let (dims, numbers, groups) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        let mut scope = Scope { dims, flavor, numbers, groups };
        for path in paths {
            let mut group = parent(path);
            while !group.is_empty() {
                scope.groups.insert(group.to_owned());
                group = parent(group);
            }
        }
        scope
    }

    /// Makes a dimension that is not there.
    pub(super) fn define(&mut self, path: &str, extent: u64) -> usize {
        let number = self.dims.len();
        self.numbers.insert(path.to_owned(), number);
        let path = path.to_owned();
        self.dims.push(Dim { path, extent, is_unlimited: false, coordinates: None });
        number
    }

    /// The number of the dimension of this path.
    pub(super) fn at(&self, path: &str) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// The number of the dimension of this name and extent that a dataset in `group` sees. One that is not
    /// there is made in the group. Where the name is taken in the group, the extent becomes a part of it.
    pub(super) fn number(&mut self, group: &str, name: &str, extent: u64) -> usize {
        let mut name = name.to_owned();
        loop {
            if let Some(number) = self.seen(group, &name, extent) {
                return number;
            }
            let path = join(group, &name);
            if !self.numbers.contains_key(&path) && !self.groups.contains(&path) {
                return self.define(&path, extent);
            }
            name = format!("{name}_{extent}");
        }
    }

    /// The nearest dimension of this name, if it has the extent.
    fn seen(&self, group: &str, name: &str, extent: u64) -> Option<usize> {
        let mut group = group;
        loop {
            if let Some(number) = self.at(&join(group, name)) {
                let fits = self.dims.get(number).is_some_and(|dim| dim.extent == extent);
                return Some(number).filter(|_| fits);
            }
            if group.is_empty() {
                return None;
            }
            group = parent(group);
        }
    }
}

/// The group that an object is in; the root is empty.
pub(in super::super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last part of a path.
pub(in super::super) fn leaf(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, leaf)| leaf)
}

/// The path of an object in a group.
pub(in super::super) fn join(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_dimension_counts() {
        let mut scope = Scope::new(["g/h/a", "b"].into_iter(), Flavor::Hdf5);
        let path = |scope: &mut Scope, group, name, extent| {
            let number = scope.number(group, name, extent);
            scope.dims[number].path.clone()
        };
        assert_eq!(path(&mut scope, "", "x", 3), "x");
        assert_eq!(path(&mut scope, "g/h", "x", 3), "x", "it is seen from within");
        assert_eq!(path(&mut scope, "g/h", "x", 4), "g/h/x", "another one in the group");
        assert_eq!(path(&mut scope, "g/h", "x", 3), "g/h/x_3", "the other one hides it");
        assert_eq!(path(&mut scope, "g", "x", 3), "x");
        assert_eq!(path(&mut scope, "", "x", 5), "x_5");
        assert_eq!(path(&mut scope, "", "x", 5), "x_5");
        assert_eq!(path(&mut scope, "", "g", 2), "g_2", "a group has the name");
        assert_eq!(path(&mut scope, "g", "t", 2), "g/t");
        assert_eq!(path(&mut scope, "", "t", 2), "t", "it is not seen from outside");
        assert_eq!((parent("a/b/c"), leaf("a/b/c"), parent("a"), leaf("a")), ("a/b", "c", "", "a"));
    }
}
