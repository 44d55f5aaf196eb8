//! The axes of an array for outputs of text: a name and the labels of each.

use tet_query::{Catalog, CatalogLabels, Dataset, Execution, LabelLookup, Labels};

use crate::Result;
use crate::model::axes::dim_names;

/// Labels of more positions are not read: positions are written.
const COUNT_MAX: u64 = 1 << 24;

/// One axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledAxis {
    /// Its name, `dim_N` where it has none.
    pub name: String,
    /// Positions of the axis.
    pub extent: u64,
    /// One label for each position, where it has some.
    pub labels: Option<Vec<String>>,
    /// Whether these are numbers of a dataset.
    pub has_numbers: bool,
    /// Whether the array itself has the labels, or nothing is known of its only axis.
    pub is_own: bool,
}

/// The axes of a dataset of a catalog.
///
/// # Errors
/// Labels cannot be read.
pub fn of(catalog: &Catalog, dataset: &Dataset, how: &Execution) -> Result<Vec<LabeledAxis>> {
    let found = CatalogLabels::new(catalog, dataset, how);
    let names: Vec<Option<String>> =
        (0..dataset.shape().len()).map(|axis| dataset.dims.get(axis).cloned()).collect();
    let mut named = dim_names(&names);
    if named.is_empty() {
        named = (0..names.len()).map(|axis| format!("dim_{axis}")).collect();
    }
    let axes = named.into_iter().zip(dataset.shape()).enumerate();
    axes.map(|(axis, (name, &extent))| {
        let labels = if COUNT_MAX < extent { None } else { found.labels(axis)? };
        let is_plain = names == [None] && labels.is_none();
        let is_own = found.coordinate_dataset(axis).is_some_and(|it| it.index == dataset.index);
        let is_own = is_own || is_plain;
        let labels = labels.filter(|_| !is_own);
        let has_numbers = labels.as_ref().is_some_and(|it| !it.is_text());
        let text = |labels: Labels<'_>| (0..labels.len()).map_while(|at| labels.text(at)).collect();
        Ok(LabeledAxis { name, extent, labels: labels.map(text), has_numbers, is_own })
    })
    .collect()
}
