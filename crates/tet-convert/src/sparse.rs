//! The sparse tensors of a file, as far as it says of them: those of a sparse layout, and those that
//! were written as dense parts which name each other (`docs/ztensor.md`, section 9).

use tet_query::{AttrText, Catalog, Dataset};

/// The attribute that names the tensor of which a dataset is a part.
pub(crate) const OF_KEY: &str = "sparse_of";
/// The attribute that says which part it is.
pub(crate) const PART_KEY: &str = "sparse_part";
/// The attribute of the values that says how places are stored.
pub(crate) const FORMAT_KEY: &str = "sparse_format";
/// The attribute of the values that has the extents of all elements.
pub(crate) const SHAPE_KEY: &str = "sparse_shape";

/// A sparse tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseTensor {
    /// Its name.
    pub name: String,
    /// `csr` or `coo`.
    pub format: &'static str,
    /// The extents, stored or not.
    pub shape: Vec<u64>,
    /// How many elements are stored.
    pub value_count: u64,
    /// The names of its parts, which are datasets: places first, values last.
    pub parts: Vec<String>,
    /// Whether it is a dataset itself, with all its elements.
    pub kept: SparseKept,
}

/// How a sparse tensor is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparseKept {
    /// As one tensor, which is a dataset of all elements; its parts are found by name.
    Native,
    /// As its parts, which are datasets like others.
    Split,
}

impl SparseKept {
    /// The word of `--sparse`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Split => "split",
        }
    }
}

/// The sparse tensors of a file, in the order of their values.
#[must_use]
pub fn sparse_tensors(catalog: &Catalog) -> Vec<SparseTensor> {
    let split = catalog.datasets().iter().map(|it| (it, SparseKept::Split));
    let native = catalog.parts().iter().map(|it| (it, SparseKept::Native));
    split.chain(native).filter_map(|(values, kept)| tensor(catalog, values, kept)).collect()
}

/// The tensor of which a dataset is the values, if all parts are there and fit.
fn tensor(catalog: &Catalog, values: &Dataset, kept: SparseKept) -> Option<SparseTensor> {
    let text = |key: &str| match values.attrs.get(key) {
        Some(AttrText::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let name = text(OF_KEY).filter(|_| text(PART_KEY) == Some("values"))?;
    let (format, places): (_, &[&str]) = match text(FORMAT_KEY)? {
        "csr" => ("csr", &["indptr", "indices"]),
        "coo" => ("coo", &["coords"]),
        _ => return None,
    };
    let Some(AttrText::Json(shape)) = values.attrs.get(SHAPE_KEY) else { return None };
    let shape: Vec<u64> = serde_json::from_str(shape).ok()?;
    let [value_count] = *values.shape() else { return None };
    let mut parts: Vec<String> = places.iter().map(|part| format!("{name}.{part}")).collect();
    let fits = |part: &str| match (part, shape.as_slice()) {
        ("indptr", [rows, _]) => Some(vec![rows.checked_add(1)?]),
        ("indices", _) => Some(vec![value_count]),
        ("coords", shape) => Some(vec![value_count, u64::try_from(shape.len()).ok()?]),
        _ => None,
    };
    for (part, place) in parts.iter().zip(places) {
        let dataset = catalog.find(part).ok()?;
        if Some(dataset.shape()) != fits(place).as_deref() {
            return None;
        }
    }
    parts.push(values.name.clone());
    Some(SparseTensor { name: name.to_owned(), format, shape, value_count, parts, kept })
}
