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
    /// The place of the only one in the list.
    One(usize),
    Several,
}

impl Names {
    /// The dataset of this name, or the one at position N for `#N`; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Ambiguous`] for a name that several have.
    pub(super) fn find<'a>(
        &self,
        datasets: &'a [Dataset],
        name: &str,
    ) -> Result<Option<&'a Dataset>> {
        let number = || name.strip_prefix('#')?.parse::<usize>().ok();
        match self.named(datasets, name) {
            Some(Named::One(at)) => Ok(datasets.get(at)),
            Some(Named::Several) => {
                let all = datasets.iter().filter(|dataset| dataset.name == name);
                let positions = all.map(|dataset| dataset.index).collect();
                Err(Error::Ambiguous { name: name.to_owned(), positions })
            }
            None => Ok(number().and_then(|at| at_position(datasets, at))),
        }
    }

    /// Whether a dataset has this name, or there is one at position N for `#N`.
    pub(super) fn has(&self, datasets: &[Dataset], name: &str) -> bool {
        let number = || name.strip_prefix('#')?.parse::<usize>().ok();
        let is_position = || number().is_some_and(|at| at_position(datasets, at).is_some());
        self.named(datasets, name).is_some() || is_position()
    }

    /// The only dataset of this name.
    pub(super) fn only<'a>(&self, datasets: &'a [Dataset], name: &str) -> Option<&'a Dataset> {
        match self.named(datasets, name)? {
            Named::One(at) => datasets.get(at),
            Named::Several => None,
        }
    }

    fn named(&self, datasets: &[Dataset], name: &str) -> Option<Named> {
        if TABLE_MIN <= datasets.len()
            && SCANS_MAX <= self.asked.fetch_add(1, Ordering::Relaxed).min(SCANS_MAX)
        {
            return self.table.get_or_init(|| table(datasets)).get(name).copied();
        }
        let mut named = datasets.iter().zip(0..).filter(|(dataset, _)| dataset.name == name);
        match (named.next(), named.next()) {
            (Some((_, at)), None) => Some(Named::One(at)),
            (Some(_), Some(_)) => Some(Named::Several),
            (None, _) => None,
        }
    }
}

/// The error for a name that none of these datasets has, nor their parts.
pub(super) fn missing(datasets: &[Dataset], parts: &[Dataset], name: &str) -> Error {
    let known: Vec<String> = datasets.iter().map(|dataset| dataset.name.clone()).collect();
    let words = datasets.iter().chain(parts).map(|dataset| dataset.name.as_str());
    // A name that several parts have is none.
    let suggestion = nearest_word(name, words.filter(|word| *word != name)).map(str::to_owned);
    Error::NoSuchDataset { name: name.to_owned(), known, suggestion }
}

/// The dataset at a position in its file; a catalog may have a part of the datasets of a file, in their order.
fn at_position(datasets: &[Dataset], position: usize) -> Option<&Dataset> {
    let at = datasets.binary_search_by_key(&position, |dataset| dataset.index).ok()?;
    datasets.get(at)
}

fn table(datasets: &[Dataset]) -> HashMap<Box<str>, Named> {
    let mut table = HashMap::with_capacity(datasets.len());
    for (dataset, at) in datasets.iter().zip(0..) {
        let name = dataset.name.as_str().into();
        table.entry(name).and_modify(|it| *it = Named::Several).or_insert(Named::One(at));
    }
    table
}
