//! The datasets that belong to another one: those that its attributes name, by the conventions of CF and UGRID, and the
//! coordinates of its axes.
//!
//! ```text
//!   grid_mapping = "crs"   coordinates = "lat lon"   bounds = "time_bnds"   cell_measures = "area: areacella"
//! ```

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{AttrText, Catalog, Dataset};

use crate::Note;

/// The attribute of coordinates that are not those of an axis.
pub const COORDINATES_KEY: &str = "coordinates";
/// The attribute of the dataset that has the bounds of the cells of a coordinate.
pub const BOUNDS_KEY: &str = "bounds";

/// How an attribute names datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By a list of names: one of them may go.
    Names,
    /// By a word with a colon in front of each name: one pair may go.
    Pairs,
    /// All names, but for words with a colon, are needed.
    Whole,
}

/// The attributes that name datasets.
const FORMS: [(&str, Form); 15] = [
    ("ancillary_variables", Form::Names),
    (BOUNDS_KEY, Form::Whole),
    ("cell_measures", Form::Pairs),
    ("climatology", Form::Whole),
    (COORDINATES_KEY, Form::Names),
    ("edge_node_connectivity", Form::Whole),
    ("face_node_connectivity", Form::Whole),
    ("formula_terms", Form::Whole),
    ("geometry", Form::Whole),
    ("grid_mapping", Form::Whole),
    ("interior_ring", Form::Whole),
    ("mesh", Form::Whole),
    ("node_coordinates", Form::Whole),
    ("node_count", Form::Whole),
    ("part_node_count", Form::Whole),
];

/// The names of an attribute that name datasets, each a word.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.strip_suffix(':').map_or(word, |_| ""))
        .filter(|word| !word.is_empty())
}

/// The attributes of a dataset that name others, with their text.
pub(super) fn naming(
    attrs: &BTreeMap<String, AttrText>,
) -> impl Iterator<Item = (&'static str, Form, &str)> {
    FORMS.into_iter().filter_map(|(key, form)| match attrs.get(key)? {
        AttrText::Text(text) => Some((key, form, text.as_str())),
        _ => None,
    })
}

/// The datasets that the attributes of a dataset name, each once.
pub fn named_by<'c>(catalog: &'c Catalog, dataset: &Dataset) -> Vec<&'c Dataset> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::from([dataset.index]));
    for (_, _, text) in naming(&dataset.attrs) {
        let datasets = names(text).filter_map(|name| catalog.in_scope(&dataset.name, name));
        found.extend(datasets.filter(|it| seen.insert(it.index)));
    }
    found
}

/// The positions of these datasets and of all that belong to them.
pub fn with_associated<'c>(
    catalog: &'c Catalog,
    datasets: impl IntoIterator<Item = &'c Dataset>,
) -> BTreeSet<usize> {
    let mut next: Vec<&Dataset> = datasets.into_iter().collect();
    let mut taken: BTreeSet<usize> = next.iter().map(|it| it.index).collect();
    while let Some(dataset) = next.pop() {
        let coordinates = dataset.dims.iter().zip(dataset.shape());
        let coordinates = coordinates.filter_map(|(dim, extent)| {
            catalog.in_scope(&dataset.name, dim).filter(|it| it.shape() == [*extent])
        });
        for found in coordinates.chain(named_by(catalog, dataset)) {
            if taken.insert(found.index) {
                next.push(found);
            }
        }
    }
    taken
}

/// Takes out of the attributes of a dataset the names of those that do not go along with it. Names that the catalog does
/// not have stay: they may be those of other files. Returns the note of what was taken out.
pub fn prune(
    catalog: &Catalog,
    dataset: &mut Dataset,
    goes: impl Fn(&Dataset) -> bool,
) -> Option<Note> {
    let is_left = |name: &str| catalog.in_scope(&dataset.name, name).is_some_and(|it| !goes(it));
    let (mut pruned, mut left) = (Vec::new(), BTreeSet::new());
    for (key, form, text) in naming(&dataset.attrs) {
        let gone: BTreeSet<&str> = names(text).filter(|name| is_left(name)).collect();
        if gone.is_empty() {
            continue;
        }
        pruned.push((key, without(text, form, &gone)));
        left.extend(gone.into_iter().map(str::to_owned));
    }
    let mut attrs = Vec::new();
    for (key, rest) in pruned {
        attrs.push(key.to_owned());
        match rest {
            Some(rest) => dataset.attrs.insert(key.to_owned(), AttrText::Text(rest)),
            None => dataset.attrs.remove(key),
        };
    }
    let (dataset, names) = (dataset.name.clone(), left.into_iter().collect());
    (!attrs.is_empty()).then_some(Note::NamesLeftOut { dataset, attrs, names })
}

/// An attribute without some names; `None` where nothing of it is left that means anything.
fn without(text: &str, form: Form, gone: &BTreeSet<&str>) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let rest: Vec<&str> = match form {
        Form::Whole => Vec::new(),
        Form::Names => words.into_iter().filter(|word| !gone.contains(word)).collect(),
        Form::Pairs => {
            let pairs = words.chunk_by(|before, _| before.ends_with(':'));
            pairs
                .filter(|pair| !pair.iter().any(|word| gone.contains(word)))
                .flatten()
                .copied()
                .collect()
        }
    };
    (!rest.is_empty()).then(|| rest.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_where_their_attribute_means_something_without_them() {
        let gone = BTreeSet::from(["lat", "area"]);
        for (form, text, wanted) in [
            (Form::Names, "lat lon height", Some("lon height")),
            (Form::Names, "lat", None),
            (Form::Pairs, "area: area volume: volcello", Some("volume: volcello")),
            (Form::Pairs, "area: area", None),
            (Form::Whole, "crs: lat lon", None),
        ] {
            assert_eq!(without(text, form, &gone).as_deref(), wanted, "{text}");
        }
        assert_eq!(names("a: var1 ps: ps").collect::<Vec<_>>(), ["var1", "ps"]);
    }
}
