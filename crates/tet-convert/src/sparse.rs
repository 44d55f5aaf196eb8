//! The sparse tensors of a file, as far as it says of them: those of a sparse layout, and those that
//! were written as dense parts which name each other (`docs/spec/ztensor.md`, section 9).

use std::collections::HashMap;
use std::sync::Arc;

use tet_format::{DType, ForeignRule, Span};
use tet_query::{AttrText, Catalog, Dataset, Execution, Hyperslab};
use tet_ztensor::parts::{VALUES, of_places};
use tet_ztensor::{DTYPES, Places, Scattered, Sparse, rule};

use crate::carry::logical;
use crate::ztensor::{Bands, Stored};
use crate::{Error, Result};

pub(crate) use tet_ztensor::parts::{FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY};

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
    let split = found(catalog.datasets(), SparseKept::Split);
    let native = found(catalog.parts(), SparseKept::Native);
    split.into_iter().chain(native).map(|(told, _)| told).collect()
}

/// The parts that name tensors, by the name and by what they are.
type Parts<'c> = HashMap<(&'c str, &'c str), &'c Dataset>;

/// The tensors whose parts are all among the datasets and fit, with their parts.
fn found(datasets: &[Dataset], kept: SparseKept) -> Vec<(SparseTensor, Vec<&Dataset>)> {
    let parts = parts(datasets.iter());
    let values = datasets.iter().filter(|it| text(it, PART_KEY) == Some(VALUES));
    values.filter_map(|values| tensor(&parts, values, kept)?.ok()).collect()
}

fn parts<'c>(datasets: impl Iterator<Item = &'c Dataset>) -> Parts<'c> {
    let named = |it: &'c Dataset| Some(((text(it, OF_KEY)?, text(it, PART_KEY)?), it));
    datasets.filter_map(named).collect()
}

fn text<'c>(dataset: &'c Dataset, key: &str) -> Option<&'c str> {
    match dataset.attrs.get(key) {
        Some(AttrText::Text(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// A tensor and its parts, or the rule that they break.
type Fitted<'c> = std::result::Result<(SparseTensor, Vec<&'c Dataset>), &'static ForeignRule>;

/// The tensor of which a dataset is the values; `None` where parts are missing.
fn tensor<'c>(parts: &Parts<'c>, values: &'c Dataset, kept: SparseKept) -> Option<Fitted<'c>> {
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
        (SparseTensor { name, format, shape, value_count, parts: names, kept }, datasets)
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

/// A sparse tensor that was made of its parts again.
#[derive(Debug)]
pub(crate) struct Joined {
    /// All its elements. Its position is that of no dataset of the file.
    pub(crate) dataset: Dataset,
    /// Those that are stored.
    pub(crate) stored: Arc<Scattered>,
    /// The positions of its parts.
    parts: Vec<usize>,
}

impl Joined {
    /// Whether a dataset is one of its parts.
    pub(crate) fn has(&self, dataset: &Dataset) -> bool {
        self.parts.contains(&dataset.index)
    }
}

/// The sparse tensors whose parts are all among `datasets`, put together.
///
/// # Errors
/// Parts do not fit together, memory may not hold them, or they cannot be read.
pub(crate) fn joined(datasets: &[&Dataset], how: &Execution) -> Result<Vec<Joined>> {
    let parts = parts(datasets.iter().copied());
    let values = datasets.iter().filter(|it| text(it, PART_KEY) == Some(VALUES));
    let mut all = Vec::new();
    let mut held = 0_u64;
    for values in values {
        let Some(fitted) = tensor(&parts, values, SparseKept::Split) else { continue };
        let name = text(values, OF_KEY).unwrap_or_default();
        let broken = |rule| Error::Parts { dataset: name.to_owned(), rule };
        let (told, parts) = fitted.map_err(broken)?;
        let lens = parts.iter().map(|it| logical::byte_len(it));
        held = lens.fold(held, u64::saturating_add);
        // Bytes and the numbers made of them are held at once.
        let (wanted, budget) = (held.saturating_mul(2), how.memory_budget);
        if budget < wanted {
            return Err(tet_query::Error::Budget { wanted, budget }.into());
        }
        let kept = logical::kept(values, "ztensor", |dtype| DTYPES.contains(&dtype))?;
        // Values of several numbers each are none of a sparse tensor.
        if kept.view.shape() == values.shape() {
            let position = usize::MAX - all.len();
            all.push(join(&told, &parts, kept.view, position, how)?.map_err(broken)?);
        }
    }
    Ok(all)
}

fn join(
    told: &SparseTensor,
    parts: &[&Dataset],
    values: Dataset,
    position: usize,
    how: &Execution,
) -> Result<std::result::Result<Joined, &'static ForeignRule>> {
    let read = |dataset: &Dataset| -> Result<Vec<u8>> {
        let slab = Hyperslab::whole(dataset.shape());
        Ok(dataset.read(&slab, how)?.bytes().to_vec())
    };
    let words = |at: usize| -> Result<Option<Vec<u64>>> {
        let Some(dataset) = parts.get(at).filter(|it| it.dtype == Some(DType::UInt64)) else {
            return Ok(None);
        };
        let bytes = read(dataset)?;
        Ok(Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()))
    };
    let places = match told.format {
        "csr" => words(0)?.zip(words(1)?).map(|(indptr, indices)| Places::Csr { indptr, indices }),
        _ => words(0)?.map(|coords| Places::Coo { coords }),
    };
    let facts = places.zip(values.dtype).and_then(|(places, dtype)| {
        let size = dtype.size()?;
        let count = tet_format::Shape::from(&*told.shape).element_count()?;
        let is_small = count.checked_mul(size).is_some_and(|len| len < 1 << 63);
        is_small.then_some((places, dtype, size))
    });
    let Some((places, dtype, size)) = facts else { return Ok(Err(&rule::PART_FIT)) };
    let sparse = match Sparse::of_parts(told.shape.clone(), size, places, read(&values)?) {
        Ok(sparse) => sparse,
        Err(rule) => return Ok(Err(rule)),
    };
    let stored = Arc::new(Scattered::new(sparse));
    let nowhere = Span::new(0, 0).expect("no bytes fit anywhere");
    let of = Arc::new(Stored::Held(Arc::clone(&stored)));
    let bands = Bands::new((&told.shape, size), nowhere, &of, u64::MAX, None);
    let mut attrs = values.attrs;
    [OF_KEY, PART_KEY, FORMAT_KEY, SHAPE_KEY].iter().for_each(|key| drop(attrs.remove(*key)));
    let (source, grid) = (values.source, bands.grid().clone());
    let dataset = Dataset {
        index: position,
        attrs,
        ..Dataset::new(source, &told.name, dtype, grid, Arc::new(bands))
    };
    Ok(Ok(Joined { dataset, stored, parts: parts.iter().map(|it| it.index).collect() }))
}
