//! The sparse tensors of a file, as far as it describes them: those of a sparse layout, and those that
//! were written as dense parts which name each other (`docs/spec/ztensor.md`, section 9).

use std::collections::HashMap;

use tet_format::ForeignRule;
use tet_query::{AttrText, Catalog, Dataset};
use tet_sparse::parts::of_places;
use tet_sparse::rule;

pub use tet_sparse::parts::{FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY, VALUES};

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
    pub storage: SparseStorage,
}

/// How a sparse tensor is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparseStorage {
    /// As one tensor, which is a dataset of all elements; its parts are found by name.
    Native,
    /// As its parts, which are datasets like others.
    Split,
}

impl SparseStorage {
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
    let split = found(catalog.datasets(), SparseStorage::Split);
    let native = found(catalog.parts(), SparseStorage::Native);
    split.into_iter().chain(native).map(|(tensor, _)| tensor).collect()
}

/// The parts that name tensors, by the name and by what they are.
pub type Parts<'c> = HashMap<(&'c str, &'c str), &'c Dataset>;

/// The tensors whose parts are all among the datasets and fit, with their parts.
fn found(datasets: &[Dataset], storage: SparseStorage) -> Vec<(SparseTensor, Vec<&Dataset>)> {
    let parts = parts(datasets.iter());
    let values = datasets.iter().filter(|it| text(it, PART_KEY) == Some(VALUES));
    values.filter_map(|values| tensor(&parts, values, storage)?.ok()).collect()
}

/// The datasets that are parts of sparse tensors, by the name of the tensor and of the part.
pub fn parts<'c>(datasets: impl Iterator<Item = &'c Dataset>) -> Parts<'c> {
    let named = |it: &'c Dataset| Some(((text(it, OF_KEY)?, text(it, PART_KEY)?), it));
    datasets.filter_map(named).collect()
}

/// An attribute that is text.
pub fn text<'c>(dataset: &'c Dataset, key: &str) -> Option<&'c str> {
    match dataset.attrs.get(key) {
        Some(AttrText::Text(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// A tensor and its parts, or the rule that they break.
pub type Fitted<'c> = std::result::Result<(SparseTensor, Vec<&'c Dataset>), &'static ForeignRule>;

/// The tensor of which a dataset is the values; `None` where parts are missing.
pub fn tensor<'c>(
    parts: &Parts<'c>,
    values: &'c Dataset,
    storage: SparseStorage,
) -> Option<Fitted<'c>> {
    let name = text(values, OF_KEY)?;
    let format = match text(values, FORMAT_KEY) {
        Some("csr") => "csr",
        Some("coo") => "coo",
        _ => return Some(Err(&rule::PART_FIT)),
    };
    let names: &[&str] = if format == "csr" { &["indptr", "indices"] } else { &["coords"] };
    let mut datasets = Vec::with_capacity(3);
    for part in names {
        datasets.push(*parts.get(&(name, *part))?);
    }
    let fitted = fit(values, format, &datasets).ok_or(&rule::PART_FIT);
    datasets.push(values);
    Some(fitted.map(|(shape, value_count)| {
        let names = datasets.iter().map(|it| it.name.clone()).collect();
        let name = name.to_owned();
        (SparseTensor { name, format, shape, value_count, parts: names, storage }, datasets)
    }))
}

/// The extents of the tensor and the count of its values, if its places have the shapes for them.
fn fit(values: &Dataset, format: &str, places: &[&Dataset]) -> Option<(Vec<u64>, u64)> {
    let Some(AttrText::Json(shape)) = values.attrs.get(SHAPE_KEY) else { return None };
    let shape: Vec<u64> = serde_json::from_str(shape).ok()?;
    let &value_count = values.shape().first()?;
    let wanted = of_places(format, &shape, value_count)?;
    let fits = places.iter().zip(wanted).all(|(place, (_, wanted))| place.shape() == wanted);
    (fits && values.shape().len() == 1).then_some((shape, value_count))
}
