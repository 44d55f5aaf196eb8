//! The labels of a dataset's axes: its own coordinates, else a coordinate dataset.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::times::TimeUnits;
use super::{CoordinateRole, FloatWidth, LabelLookup, Labels, Moments};
use crate::array::Array;
use crate::budget::{DigestPolicy, Execution};
use crate::catalog::{Catalog, Dataset};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::selection::Hyperslab;
use tet_format::DType;

/// The longest coordinate dataset that is read for its labels, and the longest list of positions that labels make.
pub(crate) const COORDINATES_MAX: u64 = 1 << 24;

/// The labels of one dataset, looked for in its coordinates and then in the catalog.
///
/// A coordinate dataset is read once, however many labels are looked up.
#[derive(Clone, Debug)]
pub struct CatalogLabels {
    catalog: Catalog,
    dataset: Dataset,
    /// For each axis its coordinate dataset.
    coordinates: Vec<Option<Dataset>>,
    how: Execution,
    /// For each axis the labels that were read.
    read: Vec<OnceLock<Option<Labels<'static>>>>,
}

impl CatalogLabels {
    /// The labels of `dataset`, which is one of `catalog`; `how` coordinate datasets are read, but
    /// that they are always compared with their digests: they choose what is read.
    #[must_use]
    pub fn new(catalog: &Catalog, dataset: &Dataset, how: &Execution) -> Self {
        let how = Execution { digests: DigestPolicy::Always, ..how.silent() };
        let axes = dataset.shape().iter().enumerate();
        let coordinates = |(axis, extent): (usize, &u64)| {
            let found = catalog.in_scope(&dataset.name, dataset.dims.get(axis)?)?;
            (found.shape() == [*extent]).then(|| catalog.decoded(found))
        };
        let coordinates: Vec<_> = axes.map(coordinates).collect();
        let read = vec![OnceLock::new(); coordinates.len()];
        let (catalog, dataset) = (catalog.clone(), dataset.clone());
        CatalogLabels { catalog, dataset, coordinates, how, read }
    }

    /// The one-dimensional dataset named after the dimension, of the same extent: in the group of the
    /// dataset, else in the nearest group around it that has one.
    #[must_use]
    pub fn coordinate_dataset(&self, axis: usize) -> Option<&Dataset> {
        self.coordinates.get(axis)?.as_ref()
    }
}

impl LabelLookup for CatalogLabels {
    fn labels(&self, axis: usize) -> Result<Option<Labels<'_>>> {
        let own = self.dataset.coords.get(&axis).filter(|labels| !labels.is_empty());
        if let Some(own) = own.filter(|own| Moments::parse(&own[..1]).is_none()) {
            return Ok(Some(Labels::Text(Cow::Borrowed(own))));
        }
        let Some(slot) = self.read.get(axis) else { return Ok(None) };
        if slot.get().is_none() {
            let labels = match own {
                Some(own) => Some(Labels::Text(own.clone().into()).dated()),
                None => self.read_coordinates(axis)?,
            };
            // Another thread may have been faster, with the same labels.
            slot.set(labels).ok();
        }
        Ok(slot.get().and_then(Option::as_ref).map(Labels::borrowed))
    }

    fn unknown_units(&self, axis: usize) -> Option<String> {
        TimeUnits::unknown(&self.coordinate_dataset(axis)?.attrs)
    }

    fn is_longitude(&self, axis: usize) -> bool {
        let role = self.coordinate_dataset(axis).map(Dataset::coordinate_role);
        role == Some(CoordinateRole::Longitude)
    }

    fn is_latitude(&self, axis: usize) -> bool {
        let is_degrees = |it: &Dataset| {
            it.attrs.contains_key("units") && it.coordinate_role() == CoordinateRole::Latitude
        };
        self.coordinate_dataset(axis).is_some_and(is_degrees)
    }

    fn dims_of(&self, name: &str) -> Option<Vec<String>> {
        let found = self.catalog.in_scope(&self.dataset.name, name);
        found.or_else(|| self.catalog.find(name).ok()).map(|found| found.dims.clone())
    }
}

impl CatalogLabels {
    fn read_coordinates(&self, axis: usize) -> Result<Option<Labels<'static>>> {
        let Some(coordinates) = self.coordinate_dataset(axis) else { return Ok(None) };
        read_labels(coordinates, &Hyperslab::whole(coordinates.shape()), &self.how)
    }
}

/// The selected values of a coordinate dataset as labels; `None` where they cannot be labels.
///
/// # Errors
///
/// They cannot be read, or are more than [`COORDINATES_MAX`].
pub(super) fn read_labels(
    coordinates: &Dataset,
    slab: &Hyperslab,
    how: &Execution,
) -> Result<Option<Labels<'static>>> {
    let coordinates = coordinates.with_exact_times();
    let kind = coordinates.dtype.and_then(Kind::from_dtype);
    if kind.is_none() && !coordinates.is_text() {
        return Ok(None);
    }
    let wanted = slab.element_count().unwrap_or(u64::MAX);
    if COORDINATES_MAX < wanted {
        let what = "labels of one axis";
        return Err(Error::Limit { what, wanted, limit: COORDINATES_MAX });
    }
    let Some(kind) = kind else {
        let texts = coordinates.read_texts(slab, how)?.value;
        return Ok(Some(Labels::Text(texts.into()).dated()));
    };
    let array = coordinates.read(slab, how)?;
    let labels = labels_of(&array, kind);
    Ok(Some(match TimeUnits::from_attrs(&coordinates.attrs) {
        Some(units) => labels.timed(units),
        None => labels,
    }))
}

/// Kinds of labels, by dtype.
#[derive(Clone, Copy)]
enum Kind {
    Integers,
    Floats(FloatWidth),
}

impl Kind {
    fn from_dtype(dtype: DType) -> Option<Kind> {
        Some(match dtype {
            DType::Float16 => Kind::Floats(FloatWidth::Half),
            DType::BFloat16 => Kind::Floats(FloatWidth::Brain),
            DType::Float32 => Kind::Floats(FloatWidth::Single),
            DType::Float64 => Kind::Floats(FloatWidth::Double),
            dtype if dtype.is_integer() => Kind::Integers,
            _ => return None,
        })
    }
}

/// The elements of an array as labels; `None` where they are no real numbers.
pub(super) fn labels_of_array(array: &Array) -> Option<Labels<'static>> {
    Kind::from_dtype(array.dtype()).map(|kind| labels_of(array, kind))
}

fn labels_of(array: &Array, kind: Kind) -> Labels<'static> {
    let scalars = (0..array.len()).filter_map(|at| array.get(at));
    match kind {
        Kind::Integers => Labels::Integers(
            scalars.map(|it| if let Scalar::Int(integer) = it { integer } else { 0 }).collect(),
        ),
        Kind::Floats(width) => {
            let values = scalars.map(|it| it.to_f64().unwrap_or(f64::NAN)).collect();
            Labels::Floats { values, width }
        }
    }
}
