//! Custom fields as attributes.

use std::collections::BTreeMap;

use crate::{Error as Theirs, METADATA_NAME, Tensor, ZTensorFile};
use tet_query::{AttrText, Dataset};

use tet_container::model::item::attr;

/// The attributes of the file, whose tensors have become these datasets.
pub(super) fn of_file(file: &ZTensorFile, datasets: &[Dataset]) -> BTreeMap<String, AttrText> {
    // Names are gone through once: a table of them costs more than it saves.
    let mut named = datasets.iter().filter(|dataset| dataset.name == METADATA_NAME);
    let only = named.next().filter(|_| named.next().is_none());
    let tensor = only.and_then(|dataset| file.tensor(dataset.index)).filter(is_of_file);
    // The fault that keeps them from being decoded is reported for the tensor.
    tensor.and_then(|tensor| of_tensor(&tensor).ok()).unwrap_or_default()
}

/// Whether a tensor holds nothing but metadata of the file.
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
/// The prefix of such a key when it is that of an attribute.
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
