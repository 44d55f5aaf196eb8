//! A dataset, or a part of one, and what is asked of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tet_convert::Opened;
use tet_format::DType;
use tet_query::{
    Array, AttrText, AxisRef, Element, Error as QueryError, Execution, Hyperslab, Op, Reduced,
    Reduction, Selected, Selection, SelectionError, SelectionNote, WithIntegrity, find_axis,
};

use crate::error::Result;

/// A dataset, or the part of it that was selected.
#[derive(Clone, Debug)]
pub struct Dataset {
    opened: Arc<Opened>,
    dataset: tet_query::Dataset,
    slab: Hyperslab,
    notes: Vec<SelectionNote>,
    how: Execution,
}

impl Dataset {
    pub(crate) fn new(opened: Arc<Opened>, dataset: &tet_query::Dataset) -> Self {
        let (dataset, how) = (dataset.clone(), Execution::default());
        let slab = Hyperslab::whole(dataset.shape());
        Dataset { opened, slab, dataset, notes: Vec::new(), how }
    }

    /// Its name, as the file has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.dataset.name
    }

    /// The type of its elements, when it is known here.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        self.dataset.dtype
    }

    /// The name of the type, supported or not.
    #[must_use]
    pub fn dtype_name(&self) -> &str {
        &self.dataset.dtype_name
    }

    /// The extents of what is selected, without the axes of which one position is.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.slab.kept_shape().to_vec()
    }

    /// The names of the axes of the whole dataset, or none.
    #[must_use]
    pub fn dims(&self) -> &[String] {
        &self.dataset.dims
    }

    /// Its attributes.
    #[must_use]
    pub fn attrs(&self) -> &BTreeMap<String, AttrText> {
        &self.dataset.attrs
    }

    /// The part of the whole dataset that a selection in text means: positions, ranges, lists, names of axes and
    /// labels, such as `time.season=JJA, lat=0:10`.
    ///
    /// # Errors
    ///
    /// The text is no selection, or names an axis or a label that is not there.
    pub fn select(&self, text: &str) -> Result<Dataset> {
        let selection = Selection::parse(text).map_err(QueryError::from)?;
        let catalog = &self.opened.catalog;
        let whole = catalog.at(self.dataset.index).unwrap_or(&self.dataset);
        let Selected { dataset, slab, notes, .. } = selection.select(catalog, whole, &self.how)?;
        Ok(Dataset { dataset, slab, notes, ..self.clone() })
    }

    /// Assumptions of the selection: the nearest label instead of the requested one, longitudes after full turns, a
    /// range without positions.
    #[must_use]
    pub fn notes(&self) -> &[SelectionNote] {
        &self.notes
    }

    /// Sets other bounds on threads and memory, or another policy of checksums, for its reads.
    #[must_use]
    pub fn with(self, how: Execution) -> Dataset {
        Dataset { how, ..self }
    }

    /// The selected elements, row-major.
    ///
    /// # Errors
    ///
    /// The dataset is not of type `T`; a chunk is damaged; the file changed; the array is too large.
    pub fn read<T: Element>(&self) -> Result<WithIntegrity<Vec<T>>> {
        Ok(self.dataset.read_as(&self.slab, &self.how)?)
    }

    /// The selected elements as an array of whichever type they are.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`], but for the type.
    pub fn array(&self) -> Result<WithIntegrity<Array>> {
        Ok(self.dataset.read(&self.slab, &self.how)?)
    }

    /// One value of all selected elements, such as their mean.
    ///
    /// # Errors
    ///
    /// The operation is not defined for the type; a chunk cannot be read.
    pub fn all(&self, op: Op) -> Result<WithIntegrity<Reduced>> {
        self.reduce(&Reduction::all(op))
    }

    /// A value along these axes, for each position of the others; axes are named, or counted from 0.
    ///
    /// # Errors
    ///
    /// There is no such axis, and as [`Dataset::all`].
    pub fn along(&self, op: Op, axes: &[&str]) -> Result<WithIntegrity<Reduced>> {
        let (dims, rank) = (self.dims(), self.dataset.shape().len());
        let find = |axis: &&str| find_axis(&AxisRef::from(*axis), dims, rank);
        let axes: std::result::Result<Vec<usize>, _> = axes.iter().map(find).collect();
        let axes = axes.map_err(|fault| QueryError::from(SelectionError { entry: None, fault }))?;
        self.reduce(&Reduction::along(op, axes))
    }

    /// Any reduction: with filters, groups, windows, another treatment of NaN.
    ///
    /// # Errors
    ///
    /// As [`Dataset::all`].
    pub fn reduce(&self, reduction: &Reduction) -> Result<WithIntegrity<Reduced>> {
        Ok(self.dataset.reduce(&self.slab, reduction, &self.how)?)
    }
}
