//! Names and labels of axes as fields of the metadata of a dataset, in containers that have no other place for them.

use std::collections::BTreeMap;

use tet_cbor::Value;
use tet_query::{Catalog, Dataset};

use crate::FileEdit;
use crate::Result;
use crate::model::axes::{COORDS_KEY, DIMS_KEY, coords_field, dims_field};

/// A field of the metadata of a dataset, by the position of this one, and its new value; `None` removes it.
pub type AxesField = (usize, &'static str, Option<Value>);

/// The fields of the datasets whose axes get other names or labels; `stored` gives a dataset the axes that it is stored
/// with.
///
/// # Errors
/// As `stored`.
pub fn axes_fields(
    catalog: &Catalog,
    edits: &[FileEdit],
    stored: impl Fn(Dataset) -> Result<Dataset>,
) -> Result<Vec<AxesField>> {
    let mut changed: BTreeMap<usize, Dataset> = BTreeMap::new();
    for edit in edits {
        let (FileEdit::Dims { dataset: at, .. } | FileEdit::Labels { dataset: at, .. }) = edit
        else {
            continue;
        };
        let Some(old) = catalog.datasets().get(*at) else { continue };
        let dataset = changed.entry(*at).or_insert_with(|| old.clone());
        match edit {
            FileEdit::Dims { names, .. } => dataset.dims.clone_from(names),
            FileEdit::Labels { axis, labels: Some(labels), .. } => {
                dataset.coords.insert(*axis, labels.clone());
            }
            FileEdit::Labels { axis, labels: None, .. } => drop(dataset.coords.remove(axis)),
            _ => {}
        }
    }
    let mut fields = Vec::new();
    for (at, dataset) in changed {
        let dataset = stored(dataset)?;
        let dims = (!dataset.dims.is_empty()).then(|| dims_field(&dataset.dims));
        let coords = (!dataset.coords.is_empty()).then(|| coords_field(&dataset));
        fields.extend([(at, DIMS_KEY, dims), (at, COORDS_KEY, coords)]);
    }
    Ok(fields)
}
