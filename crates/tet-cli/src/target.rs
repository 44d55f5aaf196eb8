//! Resolves `DATASET[slice]` to a dataset and a part of it.

use std::ops::Deref;

use tet_query::{
    Catalog, Dataset, Execution, Hyperslab, Selected, Selection, SelectionNote, TakenAxes,
};

use crate::exit::{Failure, Result};

/// Something of an open file, or a view of it: of many targets most are borrowed, and small.
#[derive(Clone, Debug)]
pub(crate) enum Lent<'a, T> {
    /// That of the file.
    Borrowed(&'a T),
    /// A view.
    Owned(Box<T>),
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Lent::Borrowed(it) => it,
            Lent::Owned(it) => it,
        }
    }
}

impl<T: Clone> Lent<'_, T> {
    /// The thing itself, cloned where it is borrowed.
    pub(crate) fn into_owned(self) -> T {
        match self {
            Lent::Borrowed(it) => it.clone(),
            Lent::Owned(it) => *it,
        }
    }
}

/// The requested dataset and slice.
#[derive(Clone, Debug)]
pub(crate) struct Target<'a> {
    /// The catalog that the dataset is one of.
    pub(crate) catalog: Lent<'a, Catalog>,
    /// The dataset.
    pub(crate) dataset: Lent<'a, Dataset>,
    /// The part.
    pub(crate) slab: Hyperslab,
    /// Assumptions of the slice.
    pub(crate) notes: Vec<SelectionNote>,
    /// The axes along which positions are taken one by one.
    taken: TakenAxes,
}

impl<'a> Target<'a> {
    /// The whole dataset.
    pub(crate) fn whole(catalog: &'a Catalog, dataset: &'a Dataset) -> Self {
        let (slab, notes) = (Hyperslab::whole(dataset.shape()), Vec::new());
        let (catalog, dataset) = (Lent::Borrowed(catalog), Lent::Borrowed(dataset));
        Target { catalog, dataset, slab, notes, taken: TakenAxes::default() }
    }
}

/// Advice about an output without elements.
pub(crate) const ALLOW_EMPTY: &str = "--allow-empty writes it without elements";

/// Checks that something is selected before it is written.
///
/// # Errors
///
/// The selection is empty, and that is not allowed.
pub(crate) fn check_written<'n>(
    notes: impl IntoIterator<Item = &'n SelectionNote>,
    allow_empty: bool,
) -> Result<()> {
    match notes.into_iter().find(|note| note.is_warning() && !allow_empty) {
        Some(note) => Err(Failure::usage("empty-selection", note.to_string()).hint(ALLOW_EMPTY)),
        None => Ok(()),
    }
}

impl Target<'_> {
    /// This selection in another view of the catalog.
    ///
    /// # Errors
    ///
    /// Longitudes that get other labels cannot be read.
    pub(crate) fn within<'c>(self, catalog: &'c Catalog, how: &Execution) -> Result<Target<'c>> {
        let Target { slab, notes, taken, .. } = self;
        let dataset = catalog.at(self.dataset.index);
        let dataset = dataset.expect("a view has the datasets of its catalog");
        if taken.is_empty() {
            let (catalog, dataset) = (Lent::Borrowed(catalog), Lent::Borrowed(dataset));
            return Ok(Target { catalog, dataset, slab, notes, taken });
        }
        let dataset = Lent::Owned(taken.view(catalog, dataset.clone(), how)?.into());
        let catalog = Lent::Owned(taken.catalog(catalog, how)?.into());
        Ok(Target { catalog, dataset, slab, notes, taken })
    }
}

/// The failure of what takes one dataset, where several match.
pub(crate) fn several(text: String, matching: &[&Dataset]) -> Failure {
    let names = matching.iter().map(|dataset| dataset.name.as_str());
    Failure::usage("several-datasets", text).among(names)
}

/// Resolves a selector, a name or a pattern of names with an optional slice, and `--select`; without a name
/// it is the only dataset of the file. An empty text is a name where a dataset has it.
///
/// # Errors
///
/// No dataset matches, the slice does not exist or cannot be read, or there are two slices.
pub(crate) fn find_all<'a>(
    catalog: &'a Catalog,
    asked: Option<&str>,
    select: Option<&str>,
    how: &Execution,
) -> Result<Vec<Target<'a>>> {
    let is_nameless = asked == Some("") && catalog.has("");
    let asked = asked.unwrap_or_default();
    let (name, bracket) = split(asked, |name| catalog.has(name));
    let datasets = match name {
        "" if !is_nameless => vec![only(catalog)?],
        name => catalog.find_all(name)?,
    };
    let select = match (bracket, select) {
        (Some(_), Some(_)) => {
            let text = format!("{asked:?} has a slice already, and --select sets another one");
            return Err(Failure::usage("two-slices", text).hint("use one of them"));
        }
        (bracket, select) => bracket.or(select),
    };
    let is_one = datasets.len() == 1;
    let target = |dataset: &'a Dataset| {
        // The slice of an unreadable dataset cannot be checked against its shape. Of several, each tells itself why.
        let readable = match tet_convert::is_opaque(dataset) {
            true => Ok(()),
            false => crate::open::check_readable(dataset),
        };
        match readable {
            Err(failure) if is_one => Err(failure),
            Err(_) => Ok(Target::whole(catalog, dataset)),
            Ok(()) => resolve(catalog, dataset, select, how),
        }
    };
    datasets.into_iter().map(target).collect()
}

/// Parses a slice of a dataset; the whole dataset without one.
///
/// # Errors
///
/// The text is not a slice, or does not fit the dataset.
pub(crate) fn resolve<'a>(
    catalog: &'a Catalog,
    dataset: &'a Dataset,
    select: Option<&str>,
    how: &Execution,
) -> Result<Target<'a>> {
    let Some(text) = select else { return Ok(Target::whole(catalog, dataset)) };
    let selection = Selection::parse(text).map_err(tet_query::Error::from)?;
    let selected = selection.select(catalog, dataset, how)?;
    let Selected { slab, notes, taken, .. } = selected;
    let (catalog, dataset) = match taken.is_empty() {
        true => (Lent::Borrowed(catalog), Lent::Borrowed(dataset)),
        false => (Lent::Owned(selected.catalog.into()), Lent::Owned(selected.dataset.into())),
    };
    Ok(Target { catalog, dataset, slab, notes, taken })
}

/// Splits a name from the slice in brackets after it.
///
/// Names may contain brackets, so a split whose name is known has priority.
pub(crate) fn split(asked: &str, is_known: impl Fn(&str) -> bool) -> (&str, Option<&str>) {
    let inner = asked.trim_end().strip_suffix(']');
    let Some(inner) = inner.filter(|_| !is_known(asked)) else { return (asked, None) };
    let splits = || {
        inner.match_indices('[').map(|(at, _)| {
            let (name, slice) = inner.split_at(at);
            (name, slice.strip_prefix('[').unwrap_or(slice))
        })
    };
    // A name may end with a blank, too.
    let trimmed = || splits().map(|(name, slice)| (name.trim_end(), slice));
    let known = splits().chain(trimmed()).find(|(name, _)| is_known(name));
    known.or_else(|| trimmed().next()).map_or((asked, None), |(name, slice)| (name, Some(slice)))
}

/// The only dataset of a file.
fn only(catalog: &Catalog) -> Result<&Dataset> {
    match catalog.datasets() {
        [dataset] => Ok(dataset),
        datasets => {
            let text = format!("the file contains {} datasets: name one", datasets.len());
            let names = datasets.iter().map(|dataset| dataset.name.as_str());
            Err(Failure::usage("no-dataset-named", text).among(names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_split_from_its_name() {
        let known = ["temp", "a[0]", "a[0][1]", "", "b "];
        let cases = [
            ("temp", ("temp", None)),
            ("b [1:3]", ("b ", Some("1:3"))),
            ("temp[0:3, :]", ("temp", Some("0:3, :"))),
            ("temp [0]", ("temp", Some("0"))),
            ("a[0]", ("a[0]", None)),
            ("a[0][1:]", ("a[0]", Some("1:"))),
            ("tmp[0]", ("tmp", Some("0"))),
            ("[::2]", ("", Some("::2"))),
            ("#3[1]", ("#3", Some("1"))),
            ("x]", ("x]", None)),
            ("t[time=\"a[b]\"]", ("t", Some("time=\"a[b]\""))),
        ];
        for (asked, want) in cases {
            assert_eq!(split(asked, |name| known.contains(&name)), want, "{asked}");
        }
    }
}
