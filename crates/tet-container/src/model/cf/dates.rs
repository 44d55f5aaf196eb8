//! Times as dates, for outputs of text.

use std::collections::BTreeMap;

use tet_query::{AttrText, Catalog, Dataset, Execution};

use super::Attrs;
use crate::model::attributes::UNITS_KEY;

/// The attributes that name the bounds of a coordinate, which have its units.
const BOUNDS: [&str; 2] = ["bounds", "climatology"];
/// The attributes that bounds need not have.
const INHERITED: [&str; 2] = [UNITS_KEY, "calendar"];

/// The catalog with dates as texts where the numbers of a dataset are times.
pub fn dated(catalog: Catalog, how: &Execution) -> Catalog {
    let units = units_of_bounds(&catalog);
    let date = |dataset: Dataset| {
        let attrs = units.get(&dataset.index).unwrap_or(&dataset.attrs);
        dataset.as_dates(attrs, how).unwrap_or(dataset)
    };
    let parts = catalog.parts().iter().cloned().map(date).collect();
    catalog.viewed(date).with_parts(parts)
}

/// The units and the calendars of bounds that have none of their own: those of the dataset that they are the bounds of
/// (CF section 7.1).
pub(super) fn units_of_bounds(catalog: &Catalog) -> BTreeMap<usize, Attrs> {
    let mut units = BTreeMap::new();
    for dataset in catalog.datasets().iter().filter(|it| it.attrs.contains_key(UNITS_KEY)) {
        for key in BOUNDS {
            let Some(AttrText::Text(name)) = dataset.attrs.get(key) else { continue };
            let bounds = catalog.in_scope(&dataset.name, name.trim());
            let Some(bounds) = bounds.filter(|it| !it.attrs.contains_key(UNITS_KEY)) else {
                continue;
            };
            let own = INHERITED
                .into_iter()
                .filter_map(|key| Some((key.to_owned(), dataset.attrs.get(key)?.clone())));
            units.entry(bounds.index).or_insert_with(|| own.collect());
        }
    }
    units
}
