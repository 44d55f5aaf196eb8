//! Dimension names: dimension scales, and how NetCDF-4 uses them.
//!
//! The conventions are those of the HDF5 Dimension Scale Specification and of the NetCDF-4 file format
//! (NetCDF Users Guide, appendix C).

use std::collections::BTreeMap;

use crate::{Class, Hdf5File, StoredAttribute};
use tet_format::ForeignFault;
use tet_query::AttrText;

use super::attributes::address_of;
use tet_container::model::axes::dim_names;

/// Attributes by which the NetCDF library keeps its own books.
const HIDDEN: [&str; 9] = [
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_NCProperties",
    "_nc3_strict",
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "DIMENSION_LABELS",
];

/// Those that are shown of no file: references that dimension names stand for.
const REFERENCES: [&str; 2] = ["DIMENSION_LIST", "REFERENCE_LIST"];

/// How the NetCDF library marks a dimension without a variable.
pub(super) const BARE_DIMENSION: &str = "This is a netCDF dimension but not a netCDF variable";

/// The prefix that the library gives to the name of a variable that has the name of a dimension and is not its
/// coordinates.
const NOT_COORDINATES: &str = "_nc4_non_coord_";

/// The attribute with the name of a dimension scale.
pub(super) const SCALE_NAME: &str = "NAME";

/// The attribute with the scales of each axis.
pub(super) const DIMENSION_LIST: &str = "DIMENSION_LIST";

/// A dataset with what its attributes say of its axes.
#[derive(Clone, Debug)]
pub(super) struct Labeled {
    pub(super) path: String,
    pub(super) address: u64,
    pub(super) rank: usize,
    pub(super) attrs: BTreeMap<String, AttrText>,
    /// The first scale of each axis, by its address.
    pub(super) scales: Vec<Vec<u64>>,
    /// Why nothing else is known of it.
    pub(super) fault: Option<ForeignFault>,
}

impl Labeled {
    /// An object of which the path alone is known.
    pub(super) fn unreadable(path: &str, address: u64, fault: ForeignFault) -> Labeled {
        let (path, fault) = (path.to_owned(), Some(fault));
        Labeled { path, address, rank: 0, attrs: BTreeMap::new(), scales: Vec::new(), fault }
    }
}

/// Whether an attribute is shown.
pub(super) fn is_shown(name: &str, is_netcdf: bool) -> bool {
    !if is_netcdf { HIDDEN.contains(&name) } else { REFERENCES.contains(&name) }
}

/// The most axes whose scales are read, and as many as a dataset has.
const AXES_MAX: usize = 32;

/// The first scale of each axis, by its address, and why one cannot be read.
#[derive(Default)]
pub(super) struct Scales {
    pub(super) addresses: Vec<Vec<u64>>,
    pub(super) fault: Option<ForeignFault>,
}

/// The first scale that the attribute `DIMENSION_LIST` names for each axis.
pub(super) fn scales(file: &Hdf5File, attributes: &[StoredAttribute]) -> Scales {
    let mut scales = Scales::default();
    let Some(list) = attributes.iter().find(|it| it.name == DIMENSION_LIST) else {
        return scales;
    };
    let Class::List(base) = &list.datatype.class else { return scales };
    let size = usize::try_from(list.datatype.size).unwrap_or(usize::MAX);
    let width = usize::try_from(base.size).unwrap_or(usize::MAX);
    for element in list.bytes.chunks_exact(size).take(AXES_MAX) {
        let bytes = file.list(element, base.size).unwrap_or_else(|error| {
            if let crate::Error::Fault(fault) = error {
                scales.fault.get_or_insert(fault);
            }
            Vec::new()
        });
        scales.addresses.push(bytes.chunks_exact(width).take(1).map(address_of).collect());
    }
    scales
}

/// The axes of all datasets of a file.
pub(super) struct Dims<'a> {
    is_netcdf: bool,
    by_address: BTreeMap<u64, &'a Labeled>,
    by_number: BTreeMap<String, &'a Labeled>,
}

impl<'a> Dims<'a> {
    pub(super) fn new(datasets: &'a [Labeled], is_netcdf: bool) -> Dims<'a> {
        let datasets = datasets.iter().filter(|it| it.fault.is_none());
        let by_address = datasets.clone().map(|it| (it.address, it)).collect();
        let numbered = datasets.filter_map(|it| Some((number(it)?, it)));
        Dims { is_netcdf, by_address, by_number: numbered.collect() }
    }

    /// The names of the axes of a dataset; none where no axis has one.
    pub(super) fn axis_names(&self, dataset: &Labeled) -> Vec<String> {
        if dataset.rank == 0 {
            return Vec::new();
        }
        let named = self.coordinates(dataset).filter(|names| names.len() == dataset.rank);
        if let Some(names) = named {
            return names;
        }
        let names = self.by_scales(dataset);
        if names == [None] && is_scale(dataset) {
            return vec![self.name(dataset)];
        }
        dim_names(&names)
    }

    /// The scale of each axis, or its label, where it has one.
    fn by_scales(&self, dataset: &Labeled) -> Vec<Option<String>> {
        let labels = labels(dataset);
        let scale = |axis: usize| self.by_address.get(dataset.scales.get(axis)?.first()?).copied();
        let name = |axis: usize| {
            let label = || labels.get(axis).cloned();
            let name = scale(axis).map(|it| self.name(it)).or_else(label);
            name.filter(|name| !name.is_empty())
        };
        (0..dataset.rank).map(name).collect()
    }

    /// The axes of a coordinate variable of several, which NetCDF lists by number.
    fn coordinates(&self, dataset: &Labeled) -> Option<Vec<String>> {
        let list = dataset.attrs.get("_Netcdf4Coordinates").filter(|_| self.is_netcdf)?.json()?;
        let numbers: Vec<i64> = serde_json::from_str(list)
            .or_else(|_| serde_json::from_str(list).map(|number| vec![number]))
            .ok()?;
        let named = |number: &i64| self.by_number.get(&number.to_string()).map(|it| self.name(it));
        numbers.iter().map(named).collect()
    }

    /// The name of a dimension: the last part of the path of its scale.
    fn name(&self, scale: &Labeled) -> String {
        let name = scale.path.rsplit('/').next().unwrap_or_default();
        let plain = name.strip_prefix(NOT_COORDINATES).filter(|_| self.is_netcdf);
        plain.unwrap_or(name).to_owned()
    }
}

/// The attribute of the labels of axes, as HDF5 names it.
pub(super) const LABELS: &str = "DIMENSION_LABELS";

/// The labels of the axes of a dataset.
fn labels(dataset: &Labeled) -> Vec<String> {
    match dataset.attrs.get(LABELS) {
        // A list of one text is that text.
        Some(AttrText::Text(label)) => vec![label.clone()],
        Some(labels) => {
            labels.json().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default()
        }
        None => Vec::new(),
    }
}

/// Whether the names of the axes tell what an attribute does: that the dataset is the scale of its axis, or their labels.
pub(super) fn is_told(dataset: &Labeled, name: &str, dims: &[String]) -> bool {
    let leaf = dataset.path.rsplit('/').next().unwrap_or_default();
    let is_scale = is_scale(dataset) && dims == [leaf];
    match name {
        LABELS => !dims.is_empty() && labels(dataset) == dims,
        "CLASS" => is_scale,
        "NAME" => is_scale && text(dataset, "NAME") == Some(leaf),
        _ => false,
    }
}

/// Whether a dataset is the scale of an axis.
pub(super) fn is_scale(dataset: &Labeled) -> bool {
    text(dataset, "CLASS") == Some("DIMENSION_SCALE")
}

/// Whether a dataset is a dimension scale with this name, which is its own.
pub(super) fn is_named_scale(dataset: &Labeled, leaf: &str) -> bool {
    is_scale(dataset) && text(dataset, SCALE_NAME) == Some(leaf)
}

fn number(dataset: &Labeled) -> Option<String> {
    text(dataset, "CLASS").filter(|class| *class == "DIMENSION_SCALE")?;
    dataset.attrs.get("_Netcdf4Dimid")?.json().map(str::to_owned)
}

fn text<'a>(dataset: &'a Labeled, name: &str) -> Option<&'a str> {
    match dataset.attrs.get(name)? {
        AttrText::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether a dataset of a NetCDF file is only a dimension.
pub(super) fn is_bare(dataset: &Labeled) -> bool {
    text(dataset, "NAME").is_some_and(|name| name.starts_with(BARE_DIMENSION))
}

/// The path of a dataset as NetCDF knows it.
pub(super) fn netcdf_path(path: &str) -> String {
    let (parent, name) = path.rsplit_once('/').map_or(("", path), |(parent, name)| (parent, name));
    match name.strip_prefix(NOT_COORDINATES) {
        Some(name) if parent.is_empty() => name.to_owned(),
        Some(name) => format!("{parent}/{name}"),
        None => path.to_owned(),
    }
}
