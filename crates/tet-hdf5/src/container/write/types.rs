//! The enumerations of a new file. NetCDF-4 wants them as objects with names, and HDF5 has them in the datasets.

use std::collections::{BTreeMap, BTreeSet};

use crate::write::DraftEnum;
use tet_query::Enumeration;

use super::scope::leaf;
use super::{Flavor, View};

/// The type of the integers of an enumeration, and its members.
type EnumKey = (&'static str, Vec<(String, Vec<u8>)>);

/// The enumerations of a file.
#[derive(Debug)]
pub(super) struct Types {
    pub(super) list: Vec<DraftEnum>,
    /// The numbers of those that are there, by the type of their integers and their members.
    numbers: BTreeMap<EnumKey, usize>,
    taken: BTreeSet<String>,
    flavor: Flavor,
}

/// The names of the elements of a dataset, if these are stored as the integers that have them.
pub(super) fn named_of(view: &View) -> Option<&Enumeration> {
    view.dataset.enumeration.as_deref().filter(|it| it.dtype == view.dtype && it.is_writable())
}

impl Types {
    /// None yet, in a file whose datasets have these paths.
    pub(super) fn new(paths: &[String], flavor: Flavor) -> Types {
        let names = paths.iter().flat_map(|path| path.split('/'));
        let taken = names.map(str::to_owned).collect();
        Types { list: Vec::new(), numbers: BTreeMap::new(), taken, flavor }
    }

    /// The number of the enumeration of the dataset at `path`: one for all that have the members.
    pub(super) fn number(&mut self, path: &str, of: &Enumeration) -> usize {
        let key = (of.dtype.name(), of.members.clone());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.list.len();
        let mut name = format!("{}_t", leaf(path));
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        let path = (self.flavor == Flavor::NetCdf).then_some(name);
        self.list.push(DraftEnum { path, dtype: of.dtype, members: of.members.clone() });
        self.numbers.insert(key, number);
        number
    }
}
