//! A file before its elements are written: objects and their attributes.

use std::collections::BTreeSet;

use crate::write::{
    DraftAttribute, DraftDataset, DraftGroup, DraftLayout, DraftType, DraftValue, Hdf5Draft,
};
use tet_file::AttrValue;
use tet_format::DType;
use tet_query::{AttrText, Dataset, LazyArray};

use super::attributes::{attribute, written};
use super::axes::{Axes, axes, other_path};
use super::layout::{Cut, layout};
use super::scope::{Dim, leaf};
use super::types::{Types, named_of};
use super::{Flavor, View, names};
use tet_container::Note;
use tet_container::Result;
use tet_container::model::attributes::{self, FILL_KEY, SCALAR_KEY};
use tet_container::model::flags;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::netcdf::labels::Coordinates;
use tet_container::write::stream::shape_of;
use tet_container::write::{fill, groups};

/// How the NetCDF library names a dimension without a variable; its length follows.
const BARE_DIMENSION: &str = "This is a netCDF dimension but not a netCDF variable. ";
/// By which the NetCDF library knows its files.
const PROPERTIES: &str = concat!("version=2,tet=", env!("CARGO_PKG_VERSION"));

/// A file before its elements are written.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) draft: Hdf5Draft,
    /// Where the elements of each dataset come from.
    pub(super) elements: Vec<Elements>,
}

/// Where the elements of a dataset come from.
#[derive(Debug)]
pub(super) enum Elements {
    /// The array of this number.
    Array(usize),
    /// Little-endian bytes.
    Bytes(Vec<u8>),
    /// Labels that are texts.
    Labels(Vec<String>),
    /// The texts of the dataset of this number.
    Texts(usize),
    /// There are none.
    Absent,
}

/// The arrays, dimensions and options of which datasets are made.
struct Parts<'p> {
    arrays: &'p [LazyArray],
    views: &'p [View],
    paths: &'p [String],
    axes: &'p Axes<'p>,
    options: &'p ConvertOptions,
    flavor: Flavor,
    /// The number of the dataset that is the scale of each dimension.
    scales: Vec<Option<usize>>,
    /// The arrays that are the coordinates of dimensions.
    coordinates: BTreeSet<usize>,
    /// The paths of all dimensions.
    dim_paths: BTreeSet<&'p str>,
}

/// Plans the file.
///
/// # Errors
/// Two datasets would have one path, or the format cannot hold one.
pub(super) fn prepare(
    conversion: &mut Conversion<'_>,
    views: &[View],
    arrays: &[LazyArray],
    options: &ConvertOptions,
    flavor: Flavor,
) -> Result<Plan> {
    let notes = &mut conversion.notes;
    let paths = names::paths(arrays.iter().map(|it| it.dataset().name.as_str()), flavor, notes)?;
    let axes = axes(arrays, &paths, flavor, notes);
    let (mut datasets, mut elements) = (Vec::new(), Vec::new());
    let mut scales: Vec<Option<usize>> = vec![None; axes.dims.len()];
    let labeled: BTreeSet<usize> = axes.labels.iter().map(|labels| labels.dim).collect();
    for (number, dim) in axes.dims.iter().enumerate() {
        let has_variable = dim.coordinates.is_some() || labeled.contains(&number);
        if flavor == Flavor::NetCdf && !has_variable {
            set(&mut scales, number, datasets.len());
            datasets.push(bare(number, dim));
            elements.push(Elements::Absent);
        }
    }
    for labels in &axes.labels {
        let Some(dim) = axes.dims.get(labels.dim) else { continue };
        set(&mut scales, labels.dim, datasets.len());
        let (datatype, values) = match &labels.values {
            Coordinates::Numbers(dtype, bytes) => {
                (DraftType::Number(*dtype), Elements::Bytes(bytes.clone()))
            }
            Coordinates::Texts => (DraftType::Text, Elements::Labels(labels.texts.to_vec())),
        };
        datasets.push(of_labels(labels.dim, dim, datatype, flavor));
        elements.push(values);
    }
    let first_array = datasets.len();
    for (number, dim) in axes.dims.iter().enumerate() {
        if let Some(array) = dim.coordinates {
            set(&mut scales, number, first_array + array);
        }
    }
    let (paths, axes) = (&paths[..], &axes);
    let coordinates = axes.dims.iter().filter_map(|dim| dim.coordinates).collect();
    let dim_paths = axes.dims.iter().map(|dim| dim.path.as_str()).collect();
    let parts =
        Parts { arrays, views, paths, axes, options, flavor, scales, coordinates, dim_paths };
    let mut types = Types::new(paths, flavor);
    for (number, view) in views.iter().enumerate() {
        let texts = conversion.datasets.get(number).filter(|_| view.datatype == DraftType::Text);
        let mut dataset = parts.dataset(number, texts.copied(), notes)?;
        dataset.enumeration = named_of(view).map(|of| types.number(&dataset.path, of));
        datasets.push(dataset);
        elements.push(texts.map_or(Elements::Array(number), |_| Elements::Texts(number)));
    }
    let (attributes, groups) = about(conversion, paths, flavor);
    let draft = Hdf5Draft { datasets, attributes, groups, types: types.list };
    Ok(Plan { draft, elements })
}

fn set(scales: &mut [Option<usize>], dim: usize, dataset: usize) {
    if let Some(scale) = scales.get_mut(dim) {
        *scale = Some(dataset);
    }
}

/// A dimension without a variable.
fn bare(number: usize, dim: &Dim) -> DraftDataset {
    let layout = match dim.is_unlimited {
        true => chunked(&[1]),
        false => DraftLayout::Contiguous(None),
    };
    DraftDataset {
        unlimited: vec![dim.is_unlimited],
        scale: Some(format!("{BARE_DIMENSION}{:10}", dim.extent)),
        attributes: vec![dimension_number(number)],
        ..DraftDataset::new(&dim.path, DraftType::Dimension, &[dim.extent], layout)
    }
}

/// Labels as the coordinates of their dimension.
fn of_labels(number: usize, dim: &Dim, datatype: DraftType, flavor: Flavor) -> DraftDataset {
    let is_unlimited = dim.is_unlimited && flavor == Flavor::NetCdf;
    let layout = match is_unlimited {
        true => chunked(&[dim.extent.max(1)]),
        false => DraftLayout::Contiguous(None),
    };
    let attributes = match flavor {
        Flavor::NetCdf => vec![dimension_number(number)],
        Flavor::Hdf5 => Vec::new(),
    };
    DraftDataset {
        unlimited: vec![is_unlimited],
        scale: Some(leaf(&dim.path).to_owned()),
        attributes,
        ..DraftDataset::new(&dim.path, datatype, &[dim.extent], layout)
    }
}

fn chunked(chunk_shape: &[u64]) -> DraftLayout {
    let (filters, chunks) = (Vec::new(), Vec::new());
    DraftLayout::Chunked { chunk_shape: chunk_shape.to_vec(), filters, chunks }
}

/// The number of a dimension, by which the NetCDF library orders them.
fn dimension_number(number: usize) -> DraftAttribute {
    let bytes = i32::try_from(number).unwrap_or(i32::MAX).to_le_bytes().to_vec();
    let value = DraftValue::Numbers { dtype: DType::Int32, bytes, is_list: false };
    attribute("_Netcdf4Dimid", value)
}

impl Parts<'_> {
    /// The dataset that an array becomes, or a dataset of text.
    fn dataset(
        &self,
        at: usize,
        texts: Option<&Dataset>,
        notes: &mut Vec<Note>,
    ) -> Result<DraftDataset> {
        let (lazy, view) = (&self.arrays[at], &self.views[at]);
        let shape = shape_of(lazy);
        let dims = &self.axes.numbers[at];
        let is_growing = |axis: usize| match (self.flavor, dims.get(axis).copied().flatten()) {
            (Flavor::NetCdf, Some(dim)) => self.axes.dims[dim].is_unlimited,
            _ => lazy.dataset().unlimited.get(axis) == Some(&true),
        };
        let unlimited: Vec<bool> = (0..shape.rank()).map(is_growing).collect();
        let cut = Cut { inner: view.inner, unlimited: &unlimited, texts };
        let layout = layout(lazy, &cut, self.options)?;
        let is_scale = self.is_scale(at);
        let mut attributes = self.attributes(at, notes);
        let fill = self.fill(lazy.dataset(), view, &attributes);
        let mut path = self.paths[at].clone();
        let mut scales: Vec<Option<usize>> =
            dims.iter().map(|dim| dim.and_then(|dim| self.scales[dim])).collect();
        let mut scale = None;
        if is_scale {
            scales.clear();
            scale = Some(self.scale_name(at));
        }
        if self.flavor == Flavor::NetCdf {
            let numbers = dims.iter().flatten().copied();
            if is_scale {
                attributes.insert(0, dimension_number(dims[0].unwrap_or(0)));
            } else if self.dim_paths.contains(path.as_str()) {
                path = other_path(&path);
            }
            if is_scale && 1 < dims.len() {
                let bytes = numbers.flat_map(|it| i32::try_from(it).unwrap_or(0).to_le_bytes());
                let (dtype, bytes) = (DType::Int32, bytes.collect());
                let value = DraftValue::Numbers { dtype, bytes, is_list: true };
                attributes.insert(1, attribute("_Netcdf4Coordinates", value));
            }
        } else if !is_scale && scales.iter().any(Option::is_none) {
            attributes.extend(self.dimension_labels(lazy));
        }
        let new = DraftDataset::new(&path, view.datatype, shape.as_slice(), layout);
        Ok(DraftDataset { unlimited, fill, attributes, scales, scale, ..new })
    }

    /// Whether an array is the coordinates of a dimension.
    fn is_scale(&self, at: usize) -> bool {
        self.coordinates.contains(&at)
    }

    /// The name that a scale has.
    fn scale_name(&self, at: usize) -> String {
        let own = self.arrays[at].dataset().attrs.get("NAME");
        match own {
            Some(AttrText::Text(name)) if self.flavor == Flavor::Hdf5 => name.clone(),
            _ => leaf(&self.paths[at]).to_owned(),
        }
    }

    /// The names of axes, of which not all have a scale.
    fn dimension_labels(&self, lazy: &LazyArray) -> Option<DraftAttribute> {
        let dims = &lazy.dataset().dims;
        let is_whole = !dims.is_empty() && dims.len() == shape_of(lazy).rank();
        is_whole.then(|| attribute("DIMENSION_LABELS", DraftValue::Texts(dims.clone())))
    }

    /// The attributes of an array, with those that the caller gives.
    fn attributes(&self, at: usize, notes: &mut Vec<Note>) -> Vec<DraftAttribute> {
        let (lazy, view) = (&self.arrays[at], &self.views[at]);
        let (dataset, rank) = (lazy.dataset(), shape_of(lazy).rank());
        let mut attrs = dataset.attrs.clone();
        attrs.remove(SCALAR_KEY);
        if let Some(of) = named_of(view) {
            flags::remove(&mut attrs, of);
        }
        let is_class = |attr: &AttrText| attr.text() == "DIMENSION_SCALE";
        if self.flavor == Flavor::NetCdf && attrs.get("CLASS").is_some_and(is_class)
            || self.is_scale(at)
        {
            // The file has its own attributes of scales.
            ["CLASS", "NAME"].iter().for_each(|key| drop(attrs.remove(*key)));
        }
        if !dataset.dims.is_empty() {
            attrs.remove("DIMENSION_LABELS");
        }
        for (key, value) in attributes::given(&dataset.name, rank, &self.options.tet).attrs {
            let value = match value {
                AttrValue::Text(text) => AttrText::Text(text),
                AttrValue::Json(json) => AttrText::Json(json),
            };
            attrs.insert(key, value);
        }
        let dtype = (view.datatype != DraftType::Text).then_some(view.dtype);
        written(&dataset.name, attrs.iter(), dtype, self.flavor, notes)
    }

    /// The element of what is not stored: the fill value of the input, or of the attribute, which are one in NetCDF.
    fn fill(
        &self,
        dataset: &Dataset,
        view: &View,
        attributes: &[DraftAttribute],
    ) -> Option<Vec<u8>> {
        let own = fill::own(dataset, view.dtype, &self.options.tet).map(<[u8]>::to_vec);
        let own = own.filter(|_| view.datatype != DraftType::Text);
        let given = attributes.iter().find_map(|it| match &it.value {
            DraftValue::Numbers { dtype, bytes, .. } if it.name == FILL_KEY => {
                let is_one = dtype.size() == u64::try_from(bytes.len()).ok();
                (*dtype == view.dtype && is_one).then(|| bytes.clone())
            }
            _ => None,
        });
        match self.flavor {
            Flavor::Hdf5 => own.or(given),
            Flavor::NetCdf => given.or(own).or_else(|| default_fill(view)),
        }
    }
}

/// The fill values of the NetCDF library.
fn default_fill(view: &View) -> Option<Vec<u8>> {
    Some(match view.dtype {
        _ if view.datatype == DraftType::Text => return None,
        _ if view.datatype == DraftType::Char => vec![0],
        DType::Int8 => (-127_i8).to_le_bytes().to_vec(),
        DType::Int16 => (-32_767_i16).to_le_bytes().to_vec(),
        DType::Int32 => (-2_147_483_647_i32).to_le_bytes().to_vec(),
        DType::Int64 => (-9_223_372_036_854_775_806_i64).to_le_bytes().to_vec(),
        DType::UInt8 => vec![255],
        DType::UInt16 => u16::MAX.to_le_bytes().to_vec(),
        DType::UInt32 => u32::MAX.to_le_bytes().to_vec(),
        DType::UInt64 => (u64::MAX - 1).to_le_bytes().to_vec(),
        // 15 * 2^119.
        DType::Float32 => 0x7cf0_0000_u32.to_le_bytes().to_vec(),
        DType::Float64 => 0x479e_0000_0000_0000_u64.to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The attributes of the file, and of groups, whose names begin with the path of the group.
fn about(
    conversion: &mut Conversion<'_>,
    paths: &[String],
    flavor: Flavor,
) -> (Vec<DraftAttribute>, Vec<DraftGroup>) {
    let by_group = groups::of_groups(conversion.catalog, paths, |_| true);
    let (mut root, mut others) = (Vec::new(), Vec::new());
    if flavor == Flavor::NetCdf {
        root.push(attribute("_NCProperties", DraftValue::Text(PROPERTIES.to_owned())));
    }
    for (path, attrs) in by_group {
        let attributes = written(path, attrs.iter(), None, flavor, &mut conversion.notes);
        match path {
            "" => root.extend(attributes),
            path => others.push(DraftGroup { path: path.to_owned(), attributes }),
        }
    }
    (root, others)
}
