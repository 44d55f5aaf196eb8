//! A selection of one dataset of a catalog, also where positions are taken one by one.
//!
//! ```text
//!   positions at equal distances   -> a hyperslab of the dataset
//!   others, and turned longitudes  -> a hyperslab of a dataset that has only those, in a catalog in which all datasets
//!                                     along the same dimension have only those: coordinates, bounds, neighbors
//! ```

use std::collections::BTreeMap;

use super::{Axis, AxisPositions, AxisSlice, Hyperslab, Selection, SelectionNote};
use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset};
use crate::error::{Error, Result};
use crate::labels::CatalogLabels;
use crate::taken::{TakenAxis, coordinates_turned, taken};

/// A selection of one dataset of a catalog.
///
/// # Examples
///
/// ```no_run
/// # fn example(catalog: &tet_query::Catalog) -> tet_query::Result<()> {
/// use tet_query::{Execution, Selection};
///
/// let how = Execution::default();
/// let summer = Selection::parse("time.season=JJA, lon=-60:60")?;
/// let found = summer.select(catalog, catalog.find("tas")?, &how)?;
/// let values = found.dataset.read(&found.slab, &how)?.value;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Selected {
    /// The catalog that the dataset is one of.
    pub catalog: Catalog,
    /// The dataset, which has only the positions that are taken one by one.
    pub dataset: Dataset,
    /// The selected part of it.
    pub slab: Hyperslab,
    /// The labels of its axes.
    pub labels: CatalogLabels,
    /// Assumptions made.
    pub notes: Vec<SelectionNote>,
    /// The axes along which positions are taken one by one.
    pub taken: TakenAxes,
    /// The positions along each axis of the dataset as it was.
    pub positions: Vec<AxisPositions>,
}

impl Selection {
    /// Resolves the selection for `dataset`, which is one of `catalog`; coordinates are read as `how` says.
    ///
    /// # Errors
    ///
    /// A selection that does not fit the dataset: the axis, its extent and the request. Labels that have to be
    /// read may fail as any read may.
    pub fn select(
        &self,
        catalog: &Catalog,
        dataset: &Dataset,
        how: &Execution,
    ) -> Result<Selected> {
        let labels = CatalogLabels::new(catalog, dataset, how);
        let positions = self.positions(dataset.shape(), &dataset.dims, &labels)?;
        let notes = self.notes(dataset, &labels, &positions)?;
        let mut taken = TakenAxes::default();
        let slab = taken.add(catalog, dataset, &positions)?;
        if taken.is_empty() {
            let (catalog, dataset) = (catalog.clone(), dataset.clone());
            return Ok(Selected { catalog, dataset, slab, labels, notes, taken, positions });
        }
        let dataset = taken.view(catalog, dataset.clone(), how)?;
        let catalog = taken.catalog(catalog, how)?;
        let labels = CatalogLabels::new(&catalog, &dataset, how);
        Ok(Selected { catalog, dataset, slab, labels, notes, taken, positions })
    }
}

/// An axis that datasets share: the name of a dimension, the dataset of its coordinates, the extent.
pub(crate) type Shared = (String, Option<usize>, u64);

/// The axes of a catalog along which positions are taken one by one.
///
/// Datasets share an axis that has one name, one dataset of coordinates and one extent.
///
/// # Examples
///
/// ```
/// assert!(tet_query::TakenAxes::default().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct TakenAxes {
    shared: BTreeMap<Shared, TakenAxis>,
    /// Those without a name, by dataset and axis.
    own: BTreeMap<(usize, usize), TakenAxis>,
}

impl TakenAxes {
    /// Whether there are none: catalogs and datasets stay what they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.own.is_empty()
    }

    /// Adds the axes of `dataset` along which `positions` are no slices. Returns what is selected of the dataset
    /// once these are taken.
    ///
    /// # Errors
    ///
    /// The slices do not fit the dataset.
    pub fn add(
        &mut self,
        catalog: &Catalog,
        dataset: &Dataset,
        positions: &[AxisPositions],
    ) -> Result<Hyperslab> {
        let mut extents = dataset.shape().to_vec();
        let mut slices = Vec::with_capacity(positions.len());
        for (axis, positions) in positions.iter().enumerate() {
            let (positions, turns) = match positions {
                AxisPositions::Slice(slice) => {
                    slices.push(*slice);
                    continue;
                }
                AxisPositions::Each { positions, turns } => (positions.clone(), turns.clone()),
            };
            let count = positions.len() as u64;
            slices.push(AxisSlice { axis: Axis::Kept, ..AxisSlice::whole(count) });
            extents[axis] = count;
            let taken = TakenAxis { positions, turns };
            match shared(catalog, dataset, axis) {
                Some(key) => self.shared.insert(key, taken),
                None => self.own.insert((dataset.index, axis), taken),
            };
        }
        Hyperslab::new(slices, &extents).ok_or_else(|| Error::misfit(dataset))
    }

    /// A dataset of the catalog that has only the taken positions.
    ///
    /// # Errors
    ///
    /// Longitudes that get other labels cannot be read.
    pub fn view(&self, catalog: &Catalog, dataset: Dataset, how: &Execution) -> Result<Dataset> {
        let axes = (0..dataset.shape().len()).filter_map(|axis| {
            let key = self.may_share(&dataset, axis).then(|| shared(catalog, &dataset, axis));
            let key = key.flatten();
            let found = key.and_then(|key| self.shared.get(&key));
            Some((axis, found.or_else(|| self.own.get(&(dataset.index, axis)))?))
        });
        let axes: Vec<(usize, &TakenAxis)> = axes.collect();
        if axes.is_empty() {
            return Ok(dataset);
        }
        let turned = axes.iter().find(|(axis, _)| self.is_turned(catalog, &dataset, *axis));
        match turned {
            Some(&(axis, turned)) => {
                coordinates_turned(taken(catalog.decoded(&dataset), &axes, how), axis, turned, how)
            }
            None => Ok(taken(dataset, &axes, how)),
        }
    }

    /// Whether positions are taken of an axis of this name; without a look at the catalog, which may be large.
    fn may_share(&self, dataset: &Dataset, axis: usize) -> bool {
        let Some(name) = dataset.dims.get(axis) else { return false };
        let mut of_name = self.shared.range((name.clone(), None, 0)..);
        of_name.next().is_some_and(|((first, ..), _)| first == name)
    }

    /// The catalog in which the datasets have only the taken positions.
    ///
    /// # Errors
    ///
    /// As [`TakenAxes::view`].
    pub fn catalog(&self, catalog: &Catalog, how: &Execution) -> Result<Catalog> {
        let mut error = None;
        let mut view = |dataset: Dataset| {
            self.view(catalog, dataset.clone(), how).unwrap_or_else(|fault| {
                error.get_or_insert(fault);
                dataset
            })
        };
        let viewed = catalog.clone().viewed(&mut view);
        let parts: Vec<Dataset> = catalog.parts().iter().cloned().map(&mut view).collect();
        match error {
            Some(error) => Err(error),
            None if parts.is_empty() => Ok(viewed),
            None => Ok(viewed.with_parts(parts)),
        }
    }

    /// Whether a dataset is that of the coordinates of an axis whose longitudes are turned, or of their bounds.
    fn is_turned(&self, catalog: &Catalog, dataset: &Dataset, axis: usize) -> bool {
        let Some(key) = shared(catalog, dataset, axis) else { return false };
        let is_turned = self.shared.get(&key).is_some_and(TakenAxis::is_turned);
        let Some(coordinates) = key.1.filter(|_| is_turned).and_then(|it| catalog.at(it)) else {
            return false;
        };
        let bounds = || coordinates.attrs.get("bounds").map(|it| it.text());
        let is_bounds = || {
            let found = bounds().and_then(|name| catalog.in_scope(&coordinates.name, name));
            found.is_some_and(|found| found.index == dataset.index)
        };
        coordinates.index == dataset.index || is_bounds()
    }
}

/// The axis that a dataset shares with others; `None` where it has no name.
pub(crate) fn shared(catalog: &Catalog, dataset: &Dataset, axis: usize) -> Option<Shared> {
    let (name, extent) = (dataset.dims.get(axis)?, *dataset.shape().get(axis)?);
    let coordinates = catalog.in_scope(&dataset.name, name);
    let coordinates = coordinates.filter(|found| found.shape() == [extent]);
    Some((name.clone(), coordinates.map(|found| found.index), extent))
}
