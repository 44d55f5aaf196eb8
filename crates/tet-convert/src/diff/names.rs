//! Which dataset of one file is compared with which of another.

use std::collections::BTreeMap;

use tet_query::{AttrText, Catalog, CatalogDiff, Dataset, Error as QueryError, Pattern};

use super::with_members;
use tet_container::model::attributes::is_metadata;
use tet_container::{Error, Result};

/// The names that datasets of a first file have in a second one, where these are others.
///
/// # Examples
///
/// ```
/// use tet_convert::NameMap;
/// use tet_query::Catalog;
///
/// let none = Catalog::new(tet_io::Source::from_bytes(Vec::new()), "none", Vec::new());
/// let names = NameMap::new(&none, &[])?;
/// assert_eq!(names.second("temp"), "temp");
/// assert!(NameMap::new(&none, &[("module.*".into(), "*".into())]).is_err());
/// # Ok::<(), tet_convert::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    second: BTreeMap<String, String>,
    first: BTreeMap<String, String>,
}

impl NameMap {
    /// The map of rules, each a name or a pattern of the first file and the name in the second one: each `*` of it is
    /// replaced by what the wildcard in its place stands for. Members of structures follow their structure. Of rules that
    /// match one dataset the last counts.
    ///
    /// # Errors
    ///
    /// A rule matches no dataset, has another number of `*` than its pattern, or two datasets would have one name.
    pub fn new(left: &Catalog, rules: &[(String, String)]) -> Result<NameMap> {
        let mut map = NameMap::default();
        for (from, to) in rules {
            let pattern = Pattern::parse(from).filter(|_| !left.has(from));
            for dataset in left.find_all(from)? {
                let renamed = match &pattern {
                    Some(pattern) => pattern.renamed(&dataset.name, to),
                    None => Some(to.clone()),
                };
                let renamed = renamed.ok_or_else(|| {
                    let what =
                        format!("{to:?} needs as many * as {from:?}, for what they stand for");
                    Error::Names(what)
                })?;
                map.add(dataset, &renamed);
            }
        }
        map.check(left)?;
        Ok(map)
    }

    /// The map of one dataset to one of another name.
    #[must_use]
    pub fn of_pair(left: &Dataset, right: &Dataset) -> NameMap {
        let mut map = NameMap::default();
        map.add(left, &right.name);
        map.first = map.second.iter().map(|(from, to)| (to.clone(), from.clone())).collect();
        map
    }

    /// The name in the second file of a dataset of the first one.
    #[must_use]
    pub fn second<'n>(&'n self, first: &'n str) -> &'n str {
        self.second.get(first).map_or(first, String::as_str)
    }

    /// The name in the first file of a dataset of the second one; `None` where no dataset of the first one can have it,
    /// because that of this name is compared with another.
    #[must_use]
    pub fn first<'n>(&'n self, second: &'n str) -> Option<&'n str> {
        let mapped = self.first.get(second).map(String::as_str);
        mapped.or_else(|| (!self.second.contains_key(second)).then_some(second))
    }

    /// Pairs datasets of both files, and compares the attributes of the files.
    #[must_use]
    pub fn pairs(
        &self,
        [left, right]: [Vec<Dataset>; 2],
        attrs: [&BTreeMap<String, AttrText>; 2],
    ) -> CatalogDiff {
        let as_second = |dataset: Dataset| {
            let name = self.second(&dataset.name).to_owned();
            Dataset { name, ..dataset }
        };
        let left = left.into_iter().map(as_second).collect();
        let mut found = CatalogDiff::compare([left, right], attrs);
        let firsts = found.both.iter_mut().map(|[left, _]| left).chain(&mut found.only[0]);
        for dataset in firsts {
            if let Some(name) = self.first.get(&dataset.name) {
                dataset.name.clone_from(name);
            }
        }
        found
    }

    fn add(&mut self, dataset: &Dataset, to: &str) {
        let from = dataset.name.as_str();
        if let Some(QueryError::Compound { members, .. }) = dataset.why() {
            let rests = members.iter().filter_map(|name| Some((name, name.strip_prefix(from)?)));
            let renamed = rests.map(|(name, rest)| (name.clone(), format!("{to}{rest}")));
            self.second.extend(renamed);
        }
        self.second.insert(from.to_owned(), to.to_owned());
    }

    /// Fills the way back, which has one name for each.
    fn check(&mut self, left: &Catalog) -> Result<()> {
        self.second.retain(|from, to| from != to);
        let listed = left.datasets().iter().filter(|dataset| !is_metadata(dataset));
        for Dataset { name, .. } in with_members(left, listed) {
            let second = self.second(&name).to_owned();
            let Some(other) = self.first.insert(second.clone(), name.clone()) else { continue };
            if other != name {
                let what = format!(
                    "datasets {other:?} and {name:?} of the first file would both be compared with {second:?}"
                );
                return Err(Error::Names(what));
            }
        }
        self.first.retain(|to, from| to != from);
        Ok(())
    }
}
