//! Custom fields as attributes.

use std::collections::BTreeMap;

use tet_query::{AttrText, Dataset};
use tet_ztensor::{Error as Theirs, METADATA_NAME, Tensor, ZTensorFile};

use crate::item::attr;
use crate::labels::axis;

/// The custom field that has the dimension names, a list of text.
pub(crate) const DIMS_KEY: &str = "dims";
/// The custom field that has the coordinate labels: a map from axes, by name or number, to lists of text.
pub(crate) const COORDS_KEY: &str = "coords";

/// The attributes of the file, whose tensors have become these datasets.
pub(super) fn of_file(file: &ZTensorFile, datasets: &[Dataset]) -> BTreeMap<String, AttrText> {
    // Names are gone through once: a table of them costs more than it saves.
    let mut named = datasets.iter().filter(|dataset| dataset.name == METADATA_NAME);
    let only = named.next().filter(|_| named.next().is_none());
    let tensor = only.and_then(|dataset| file.tensor(dataset.index)).filter(is_of_file);
    // What keeps them from being decoded is told of the tensor.
    tensor.and_then(|tensor| of_tensor(&tensor).ok()).unwrap_or_default()
}

/// Whether a tensor holds nothing but what is said of the file.
pub(super) fn is_of_file(tensor: &Tensor<'_>) -> bool {
    tensor.name() == METADATA_NAME && tensor.shape() == [0]
}

/// The attributes of a tensor.
///
/// # Errors
/// Its fields hold too much to be decoded.
pub(super) fn of_tensor(tensor: &Tensor<'_>) -> Result<BTreeMap<String, AttrText>, Theirs> {
    let fields = tensor.custom()?;
    Ok(fields.into_iter().map(|(key, value)| (unescaped(&key).to_owned(), attr(value))).collect())
}

/// Keys that the format has for itself.
const RESERVED: [&str; 10] = [
    "name",
    "offset",
    "size",
    "dtype",
    "layout",
    "shape",
    "encoding",
    "data_endianness",
    "checksum",
    "sparse_format",
];
/// What stands before such a key when it is that of an attribute.
const ESCAPE: &str = "attr:";

/// The key of the custom field of an attribute.
pub(crate) fn escaped(key: &str) -> String {
    let is_taken = RESERVED.contains(&key) || key.starts_with(ESCAPE);
    if is_taken { format!("{ESCAPE}{key}") } else { key.to_owned() }
}

fn unescaped(key: &str) -> &str {
    let meant = key.strip_prefix(ESCAPE);
    meant.filter(|key| RESERVED.contains(key) || key.starts_with(ESCAPE)).unwrap_or(key)
}

/// Takes the dimension names out of the attributes, if there is one for each axis.
pub(crate) fn take_dims(attrs: &mut BTreeMap<String, AttrText>, rank: usize) -> Vec<String> {
    let Some(AttrText::Json(text)) = attrs.get(DIMS_KEY) else { return Vec::new() };
    let dims: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    if dims.len() != rank {
        return Vec::new();
    }
    attrs.remove(DIMS_KEY);
    dims
}

/// Takes the coordinate labels out of the attributes, if they fit the shape.
pub(crate) fn take_coords(
    attrs: &mut BTreeMap<String, AttrText>,
    dims: &[String],
    shape: &[u64],
) -> BTreeMap<usize, Vec<String>> {
    let Some(AttrText::Json(text)) = attrs.get(COORDS_KEY) else { return BTreeMap::new() };
    let named: BTreeMap<String, Vec<String>> = serde_json::from_str(text).unwrap_or_default();
    let count = named.len();
    let numbered = named.into_iter().filter_map(|(key, labels)| {
        // An axis is meant by its name, or else by its number.
        Some((axis(&key, dims, shape.len())?, labels))
    });
    let coords: BTreeMap<usize, Vec<String>> = numbered.collect();
    let fits = |(&axis, labels): (&usize, &Vec<String>)| {
        shape.get(axis).is_some_and(|&extent| u64::try_from(labels.len()) == Ok(extent))
    };
    if coords.is_empty() || coords.len() != count || !coords.iter().all(fits) {
        return BTreeMap::new();
    }
    attrs.remove(COORDS_KEY);
    coords
}
