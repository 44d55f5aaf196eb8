//! How the datasets of two files and their metadata differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tet_io::Kind;

use super::element_diff::ElementDiff;
use super::tolerance::Tolerance;
use crate::align::{Alignment, LabelAlignment};
use crate::answer::WithIntegrity;
use crate::budget::Execution;
use crate::catalog::{AttrText, Catalog, Dataset};
use crate::error::{Error, Result};
use crate::selection::Hyperslab;

/// Differences between two files, except for elements. The storage of chunks is not compared.
///
/// # Examples
///
/// ```
/// use tet_query::{Catalog, CatalogDiff, DatasetDiff, Execution, Hyperslab, MetadataDiff, Tolerance};
///
/// fn shapes_differ(left: &Catalog, right: &Catalog) -> tet_query::Result<bool> {
///     let datasets = [left, right].map(|it| it.datasets().to_vec());
///     for [a, b] in &CatalogDiff::compare(datasets, [left.attrs(), right.attrs()]).both {
///         let slabs = [a, b].map(|dataset| Hyperslab::whole(dataset.shape()));
///         let (tolerance, how) = (Tolerance::default(), Execution::default());
///         let datasets = [(left, a), (right, b)];
///         let found = DatasetDiff::compare(datasets, [&slabs[0], &slabs[1]], Some(&tolerance), &how)?;
///         if found.metadata.iter().any(|it| matches!(it, MetadataDiff::Shape(_))) {
///             return Ok(true);
///         }
///     }
///     Ok(false)
/// }
///
/// let source = tet_io::Source::from_bytes(Vec::new());
/// let none = Catalog::new(source, "none", Vec::new());
/// assert!(!shapes_differ(&none, &none)?);
/// # Ok::<(), tet_query::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CatalogDiff {
    /// The datasets that only the first file has, and those that only the second one has, in file order.
    pub only: [Vec<Dataset>; 2],
    /// The datasets that both have, as they are in each, in the order of the first.
    pub both: Vec<[Dataset; 2]>,
    /// The attributes of the files that differ, with their values.
    pub attrs: Vec<(String, [Option<AttrText>; 2])>,
}

/// One thing that differs between two datasets of one name, but for elements.
///
/// # Examples
///
/// ```
/// use tet_query::MetadataDiff;
///
/// let grown = MetadataDiff::Shape([vec![3, 4], vec![5, 4]]);
/// assert_ne!(grown, MetadataDiff::Shape([vec![5, 4], vec![3, 4]]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataDiff {
    /// The names of their dtypes.
    DType([String; 2]),
    /// Their extents.
    Shape([Vec<u64>; 2]),
    /// The names of their axes.
    Dims([Vec<String>; 2]),
    /// The labels of an axis.
    Labels {
        /// Which.
        axis: usize,
        /// The difference of their labels.
        labels: LabelAlignment,
    },
    /// An attribute.
    Attr {
        /// Its name.
        name: String,
        /// Its values.
        values: [Option<AttrText>; 2],
    },
}

/// Differences between two datasets of one name.
///
/// # Examples
///
/// ```
/// use tet_query::DatasetDiff;
///
/// let same = DatasetDiff { metadata: Vec::new(), elements: None, fault: None };
/// assert!(same.is_same());
/// ```
#[derive(Debug)]
pub struct DatasetDiff {
    /// Differences of metadata.
    pub metadata: Vec<MetadataDiff>,
    /// Differences of elements; `None` where they were not compared: without a tolerance, with selections of
    /// different shapes, for structures, whose members are compared as datasets of their own, or where `fault` is
    /// set.
    pub elements: Option<WithIntegrity<ElementDiff>>,
    /// Why the elements cannot be compared.
    pub fault: Option<Error>,
}

impl DatasetDiff {
    /// Compares two datasets: their metadata, and the elements of a selection of each where a tolerance is given.
    ///
    /// # Errors
    ///
    /// Labels cannot be read, a file changed or cannot be read, or the caller canceled. What is wrong with the elements
    /// of one dataset is its `fault`.
    pub fn compare(
        datasets: [(&Catalog, &Dataset); 2],
        slabs: [&Hyperslab; 2],
        tolerance: Option<&Tolerance>,
        how: &Execution,
    ) -> Result<DatasetDiff> {
        let mut metadata = MetadataDiff::compare(datasets, how)?;
        let [(_, left), (_, right)] = datasets;
        MetadataDiff::keep_selected(&mut metadata, [(left, slabs[0]), (right, slabs[1])]);
        let mut found = DatasetDiff { metadata, elements: None, fault: None };
        let is_alike = slabs[0].kept_shape() == slabs[1].kept_shape();
        let is_structure =
            |dataset: &Dataset| matches!(dataset.why(), Some(Error::Compound { .. }));
        let are_values = is_alike && !(is_structure(left) && is_structure(right));
        let Some(tolerance) = tolerance.filter(|_| are_values) else { return Ok(found) };
        match left.diff(slabs[0], right, slabs[1], tolerance, how) {
            Ok(elements) => found.elements = Some(elements),
            Err(Error::Canceled) => return Err(Error::Canceled),
            Err(error) if error.kind() == Kind::Io => return Err(error),
            Err(error) => found.fault = Some(error),
        }
        Ok(found)
    }

    /// Why the elements cannot be compared, for a report that names the dataset.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        self.fault.as_ref().map(|fault| match fault {
            Error::Incomparable { why, .. } => why.clone(),
            Error::Unreadable { cause, .. } => cause.to_string(),
            fault => fault.to_string(),
        })
    }

    /// Whether nothing differs, and elements that were to be compared were.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.fault.is_none() && !self.differs()
    }

    /// Whether something is known to differ: elements that were not compared do not.
    #[must_use]
    pub fn differs(&self) -> bool {
        let differs = |elements: &WithIntegrity<ElementDiff>| elements.differing > 0;
        !self.metadata.is_empty() || self.elements.as_ref().is_some_and(differs)
    }
}

impl CatalogDiff {
    /// Compares names of datasets and attributes of files. Of datasets that share a name the first of each is
    /// compared, then the second of each, and so on.
    #[must_use]
    pub fn compare(
        [left, right]: [Vec<Dataset>; 2],
        [left_attrs, right_attrs]: [&BTreeMap<String, AttrText>; 2],
    ) -> CatalogDiff {
        let mut found =
            CatalogDiff { attrs: differing(left_attrs, right_attrs), ..CatalogDiff::default() };
        let mut by_name: HashMap<String, Vec<Dataset>> = HashMap::new();
        for dataset in right.iter().rev() {
            by_name.entry(dataset.name.clone()).or_default().push(dataset.clone());
        }
        for dataset in left {
            match by_name.get_mut(&dataset.name).and_then(Vec::pop) {
                Some(other) => found.both.push([dataset, other]),
                None => found.only[0].push(dataset),
            }
        }
        let rest: BTreeSet<usize> = by_name.values().flatten().map(|it| it.index).collect();
        found.only[1] = right.into_iter().filter(|it| rest.contains(&it.index)).collect();
        found
    }
}

impl MetadataDiff {
    /// Compares the metadata of two datasets. Labels that come from a dataset of coordinates in both files are
    /// compared where that dataset is.
    ///
    /// # Errors
    ///
    /// The labels cannot be read.
    pub fn compare(
        [left, right]: [(&Catalog, &Dataset); 2],
        how: &Execution,
    ) -> Result<Vec<MetadataDiff>> {
        let ((catalog, left), (other_catalog, right)) = (left, right);
        let mut found = Vec::new();
        if left.dtype_name != right.dtype_name {
            found.push(MetadataDiff::DType([left, right].map(|it| it.dtype_name.clone())));
        }
        let are_known = left.has_shape && right.has_shape;
        if are_known && left.shape() != right.shape() {
            found.push(MetadataDiff::Shape([left, right].map(|it| it.shape().to_vec())));
        }
        if left.dims != right.dims {
            found.push(MetadataDiff::Dims([left, right].map(|it| it.dims.clone())));
        }
        let labeled: BTreeSet<usize> =
            left.coords.keys().chain(right.coords.keys()).copied().collect();
        let axes =
            labeled.into_iter().filter(|&axis| axis < left.grid.rank().min(right.grid.rank()));
        let pairs: Vec<[usize; 2]> = axes.map(|axis| [axis, axis]).collect();
        let aligned = Alignment::compare([(catalog, left), (other_catalog, right)], &pairs, how)?;
        let axes = aligned.axes.into_iter().filter(|it| !it.labels.agree());
        found.extend(axes.map(|it| MetadataDiff::Labels { axis: it.axes[0], labels: it.labels }));
        let attrs = differing(&left.attrs, &right.attrs).into_iter();
        found.extend(attrs.map(|(name, values)| MetadataDiff::Attr { name, values }));
        Ok(found)
    }
}

impl MetadataDiff {
    /// Keeps what is of the selections, where these are not of all: their shapes, and the labels of their positions.
    fn keep_selected(found: &mut Vec<MetadataDiff>, parts: [(&Dataset, &Hyperslab); 2]) {
        let is_whole =
            |(dataset, slab): (&Dataset, &Hyperslab)| *slab == Hyperslab::whole(dataset.shape());
        if parts.into_iter().all(is_whole) {
            return;
        }
        let shapes = parts.map(|(_, slab)| slab.kept_shape().to_vec());
        found.retain_mut(|it| match it {
            MetadataDiff::Shape(whole) => {
                whole.clone_from(&shapes);
                shapes[0] != shapes[1]
            }
            MetadataDiff::Labels { axis, .. } => {
                let [left, right] =
                    parts.map(|(dataset, slab)| selected_labels(dataset, slab, *axis));
                left != right
            }
            _ => true,
        });
    }
}

/// The labels that a dataset has of the selected positions of an axis.
fn selected_labels<'d>(
    dataset: &'d Dataset,
    slab: &Hyperslab,
    axis: usize,
) -> Option<Vec<&'d String>> {
    let (labels, slice) = (dataset.coords.get(&axis)?, slab.axes().get(axis)?);
    let positions = (0..slice.count()).map(|nth| slice.start + nth * slice.step);
    let label = |at: u64| usize::try_from(at).ok().and_then(|at| labels.get(at));
    Some(positions.filter_map(label).collect())
}

/// The attributes that differ, by name.
fn differing(
    left: &BTreeMap<String, AttrText>,
    right: &BTreeMap<String, AttrText>,
) -> Vec<(String, [Option<AttrText>; 2])> {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let pairs = names.into_iter().map(|name| (name, [left.get(name), right.get(name)]));
    let differing = pairs.filter(|(_, [left, right])| !is_same_value(*left, *right));
    differing
        .map(|(name, values)| (name.clone(), values.map(Option::<&AttrText>::cloned)))
        .collect()
}

/// Whether two attributes have the same value, or both are missing.
fn is_same_value(left: Option<&AttrText>, right: Option<&AttrText>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left.is_same(right),
        _ => left.is_none() && right.is_none(),
    }
}
