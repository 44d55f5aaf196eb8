//! From a name to its dataset.
//!
//! One question is answered by going through the names; who asks again and again, of a file of many
//! datasets, is answered by a table that is made once.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Dataset;
use crate::error::{Error, Result};
use crate::suggestion::nearest_word;

/// Datasets of a catalog that is worth a table.
const TABLE_MIN: usize = 64;
/// Questions that are answered without it.
const SCANS_MAX: u32 = 4;

/// The names of a catalog's datasets.
#[derive(Debug, Default)]
pub(super) struct Names {
    asked: AtomicU32,
    table: OnceLock<HashMap<Box<str>, Named>>,
}

/// Who has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    One(usize),
    Several,
}

impl Names {
    /// The dataset of this name, or the one at position N for `#N`.
    pub(super) fn find<'a>(&self, datasets: &'a [Dataset], name: &str) -> Result<&'a Dataset> {
        let number = || name.strip_prefix('#')?.parse::<usize>().ok();
        match self.named(datasets, name) {
            Some(Named::One(at)) => at_position(datasets, at),
            Some(Named::Several) => {
                let all = datasets.iter().filter(|dataset| dataset.name == name);
                let positions = all.map(|dataset| dataset.index).collect();
                return Err(Error::Ambiguous { name: name.to_owned(), positions });
            }
            None => number().and_then(|at| at_position(datasets, at)),
        }
        .ok_or_else(|| {
            let known: Vec<String> = datasets.iter().map(|dataset| dataset.name.clone()).collect();
            let suggestion =
                nearest_word(name, known.iter().map(String::as_str)).map(str::to_owned);
            Error::NoSuchDataset { name: name.to_owned(), known, suggestion }
        })
    }

    /// The only dataset of this name.
    pub(super) fn only<'a>(&self, datasets: &'a [Dataset], name: &str) -> Option<&'a Dataset> {
        match self.named(datasets, name)? {
            Named::One(at) => at_position(datasets, at),
            Named::Several => None,
        }
    }

    fn named(&self, datasets: &[Dataset], name: &str) -> Option<Named> {
        if TABLE_MIN <= datasets.len()
            && SCANS_MAX <= self.asked.fetch_add(1, Ordering::Relaxed).min(SCANS_MAX)
        {
            return self.table.get_or_init(|| table(datasets)).get(name).copied();
        }
        let mut named = datasets.iter().filter(|dataset| dataset.name == name);
        match (named.next(), named.next()) {
            (Some(dataset), None) => Some(Named::One(dataset.index)),
            (Some(_), Some(_)) => Some(Named::Several),
            (None, _) => None,
        }
    }
}

/// The dataset at a position in its file; a catalog may have a part of the datasets of a file.
fn at_position(datasets: &[Dataset], position: usize) -> Option<&Dataset> {
    let is_meant = |dataset: &&Dataset| dataset.index == position;
    datasets.get(position).filter(is_meant).or_else(|| datasets.iter().find(is_meant))
}

fn table(datasets: &[Dataset]) -> HashMap<Box<str>, Named> {
    let mut table = HashMap::with_capacity(datasets.len());
    for dataset in datasets {
        let name = dataset.name.as_str().into();
        table
            .entry(name)
            .and_modify(|it| *it = Named::Several)
            .or_insert(Named::One(dataset.index));
    }
    table
}
