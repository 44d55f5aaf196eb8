//! The catalog of an HDF5 file: its datasets, read in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_codec::{ElementLayout, FillValue, Pipeline, Stage, Swapped, Unsupported};
use tet_format::{ForeignFault, Grid, Shape};
use tet_hdf5::{Described, Error as ReadError, Hdf5File, ObjectKind, StoredLayout, StoredObject};
use tet_io::Source;
use tet_query::{AttrText, Catalog, ChunkTable, Dataset, Error as QueryError};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::chunks::{Absent, Chunks, Whole, of_dataset, stages};
use super::dims::{self, Dims, Labeled, is_shown};
use super::element::{self, Element};
use super::{attributes, environment};
use crate::read::opened::Opened;
use crate::read::slabs::{Slabs, grid, grid_of_one, no_bytes, too_deep, unread};
use crate::{Error, Format, Result};

/// The longest texts of all attributes together: this, and four times the length of the file.
const TEXTS_LEN: u64 = 64 << 20;

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source) -> Result<Opened> {
    let damaged = |error: ReadError| match error {
        ReadError::Fault(fault) => {
            Error::Foreign { path: path.to_path_buf(), format: Format::HDF5, fault }
        }
        error => environment(error),
    };
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let file = Hdf5File::open(source).map_err(damaged)?;
    let contents = contents(&file, &mut |it| findings.take(it)).map_err(damaged)?;
    let catalog = catalog(&file, &contents);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, ..Opened::new(Format::HDF5, catalog) })
}

/// The objects of a file and their attributes.
pub(super) struct Contents {
    objects: Vec<StoredObject>,
    /// The datasets, in the same order as those of `objects`.
    datasets: Vec<Labeled>,
    attrs: BTreeMap<String, AttrText>,
    is_netcdf: bool,
}

/// Reads the objects and attributes of a file; what is wrong with them goes to `found`.
pub(super) fn contents(
    file: &Hdf5File,
    found: &mut dyn FnMut(ForeignFound),
) -> tet_hdf5::Result<Contents> {
    let mut note = |fault: ForeignFault, path: Option<String>| {
        let dataset = path.map(|path| (0, path));
        found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
    };
    file.findings().iter().for_each(|fault| note(*fault, None));
    let (objects, faults) = file.objects()?;
    faults.into_iter().for_each(|it| note(it.fault, it.path));
    let paths: BTreeMap<u64, String> =
        objects.iter().map(|object| (object.address, object.path.clone())).collect();
    let (begin, mut room) = (file.work(), TEXTS_LEN.saturating_add(4 * file.source().len()));
    let mut contents =
        Contents { objects, datasets: Vec::new(), attrs: BTreeMap::new(), is_netcdf: false };
    for object in &contents.objects {
        if object.kind == ObjectKind::Datatype {
            continue;
        }
        // Attributes can share their bytes; those of the first objects are read.
        let read = match file.check_work(begin) {
            Err(error) => Err(error),
            Ok(()) if room == 0 => Err(too_long(file, object)),
            Ok(()) => file.attributes(object.address),
        };
        let (list, faults) = match read {
            Ok(read) => read,
            Err(ReadError::Fault(fault)) => (Vec::new(), vec![fault]),
            Err(error) => return Err(error),
        };
        faults.into_iter().for_each(|fault| note(fault, Some(object.path.clone())));
        contents.is_netcdf |=
            list.iter().any(|it| it.name == "_NCProperties" || it.name == "_Netcdf4Dimid");
        let scales = dims::scales(file, &list);
        let values = list.iter().filter(|it| is_shown(&it.name, false));
        let values =
            values.filter_map(|it| Some((it.name.clone(), attributes::value(file, it, &paths)?)));
        let values = values.take_while(|(name, value)| takes_room(&mut room, (name, value)));
        let attrs: BTreeMap<String, AttrText> = values.collect();
        if object.kind == ObjectKind::Dataset {
            let (path, address) = (object.path.clone(), object.address);
            let labeled = Labeled { path, address, rank: 0, attrs, scales };
            contents.datasets.push(labeled);
            continue;
        }
        let of_group = |name: String| match object.path.as_str() {
            "" => name,
            path => format!("{path}/{name}"),
        };
        contents.attrs.extend(attrs.into_iter().map(|(name, value)| (of_group(name), value)));
    }
    Ok(contents)
}

/// Takes the bytes of an attribute off those that there is room for.
fn takes_room(room: &mut u64, (name, value): (&str, &AttrText)) -> bool {
    let len = value.text().len().saturating_add(name.len()) as u64;
    let left = room.checked_sub(len);
    *room = left.unwrap_or(0);
    left.is_some()
}

/// The error of an object whose attributes are not read because those of others are too long.
fn too_long(file: &Hdf5File, object: &StoredObject) -> ReadError {
    let at = file.base().saturating_add(object.address);
    let rule = &tet_hdf5::rule::LIMIT_ATTRIBUTES;
    ReadError::Fault(ForeignFault { rule, at, found: TEXTS_LEN, wanted: TEXTS_LEN })
}

/// The catalog of these objects; other paths of a dataset are parts.
pub(super) fn catalog(file: &Hdf5File, contents: &Contents) -> Catalog {
    let is_netcdf = contents.is_netcdf;
    let described: Vec<_> = contents.datasets.iter().map(|it| file.dataset(it.address)).collect();
    let rank = |it: &tet_hdf5::Result<Described>| it.as_ref().map_or(0, |it| it.space.shape.len());
    let ranked = contents.datasets.iter().zip(&described).map(|(it, described)| Labeled {
        rank: rank(described),
        path: it.path.clone(),
        address: it.address,
        attrs: it.attrs.clone(),
        scales: it.scales.clone(),
    });
    let labeled: Vec<Labeled> = ranked.collect();
    let axes = Dims::new(&labeled, is_netcdf);
    let others: BTreeMap<u64, &Vec<String>> =
        contents.objects.iter().map(|it| (it.address, &it.others)).collect();
    let (mut datasets, mut parts) = (Vec::new(), Vec::new());
    let mut room = TEXTS_LEN.saturating_add(4 * file.source().len());
    for (labeled, described) in labeled.iter().zip(described) {
        if is_netcdf && dims::is_bare(labeled) {
            continue;
        }
        let name = if is_netcdf { dims::netcdf_path(&labeled.path) } else { labeled.path.clone() };
        let attrs = labeled.attrs.iter().filter(|(name, _)| is_shown(name, is_netcdf));
        let attrs = attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
        let read = dataset(file, name, described);
        let mut dims = axes.of(labeled);
        // An array in each element has axes without names.
        let rank = read.shape().len();
        if dims.len() != rank {
            dims = Vec::new();
        }
        let dataset = Dataset { dims, attrs, ..read };
        for other in others.get(&labeled.address).into_iter().copied().flatten() {
            // Each name has the attributes, which can be long.
            if dataset.attrs.iter().all(|(name, value)| takes_room(&mut room, (name, value))) {
                parts.push(Dataset { name: other.clone(), ..dataset.clone() });
            }
        }
        datasets.push(dataset);
    }
    let attrs = contents.attrs.iter().filter(|(name, _)| is_shown(name, is_netcdf));
    let attrs = attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
    let source = file.source().clone();
    Catalog::new(source, Format::HDF5.name(), datasets).with_attrs(attrs).with_parts(parts)
}

/// A dataset, with a fault where it cannot be read.
fn dataset(file: &Hdf5File, name: String, described: tet_hdf5::Result<Described>) -> Dataset {
    let source = file.source().clone();
    let described = match described {
        Ok(described) => described,
        Err(error) => {
            let fault = Some(Arc::new(of_dataset(&name, error)));
            let (grid, chunks) = unread(&[], None);
            return Dataset { fault, ..Dataset::unknown(source, name, "unknown", grid, chunks) };
        }
    };
    let known = element::element(&described.datatype);
    let dtype = known.as_ref().map(|element| element.dtype);
    let dtype_name =
        dtype.map_or_else(|| element::name(&described.datatype), |dtype| dtype.name().to_owned());
    let axes = known.as_ref().map(|element| element.axes.clone()).unwrap_or_default();
    let shape: Vec<u64> = described.space.shape.iter().copied().chain(axes).collect();
    let read = match known {
        _ if described.space.is_null => {
            Err(unsupported(&name, "it has a null dataspace, and no elements"))
        }
        None => Err(QueryError::Opaque { dataset: name.clone(), dtype: dtype_name.clone() }),
        Some(element) => match too_deep(&shape) {
            Some(fault) => Err(fault),
            None => chunks(&name, &described, (&element, &shape)),
        },
    };
    let (fault, (grid, chunks)) = match read {
        Ok(read) => (None, read),
        Err(fault) => (Some(Arc::new(fault)), unread(&shape, None)),
    };
    let unlimited = described.space.max_shape.iter().map(Option::is_none).collect();
    Dataset { dtype, fault, unlimited, ..Dataset::unknown(source, name, dtype_name, grid, chunks) }
}

fn unsupported(name: &str, why: &str) -> QueryError {
    QueryError::Unsupported { why: format!("dataset {name:?} cannot be read: {why}") }
}

type Table = (Grid, Arc<dyn ChunkTable>);

/// Where the elements of a dataset are.
fn chunks(
    name: &str,
    described: &Described,
    (element, shape): (&Element, &[u64]),
) -> std::result::Result<Table, QueryError> {
    let size = element.dtype.size().unwrap_or(1);
    let too_large = || unsupported(name, "its chunks cannot be counted");
    let fill = fill(described, element, size).ok_or_else(too_large)?;
    let layout = ElementLayout::new(size).with_width(element.swapped).ok_or_else(too_large)?;
    match &described.layout {
        StoredLayout::Contiguous(Some(stored)) if let Some(bits) = element.bits => {
            let pipeline = Pipeline::new([Arc::new(bits) as Arc<dyn Stage>], layout);
            let grid = grid_of_one(shape);
            Ok((grid, Arc::new(Whole { stored: *stored, pipeline })))
        }
        StoredLayout::Contiguous(Some(stored)) => {
            let grid = grid(shape, size * 8).ok_or_else(too_large)?;
            let stored = if shape.contains(&0) { no_bytes() } else { *stored };
            let slabs = Slabs::new(grid.clone(), size * 8, stored);
            Ok((grid, Arc::new(slabs.swapped(Swapped::new(element.swapped)))))
        }
        StoredLayout::Contiguous(None) => {
            let grid = grid_of_one(shape);
            let absent = Absent { fill, grid: grid.clone(), element_size: size };
            Ok((grid, Arc::new(absent)))
        }
        StoredLayout::Chunked(index) => {
            let extents = index.shape().iter().chain(&element.axes).copied();
            let chunk_shape: Shape = extents.collect();
            let grid = Grid::padded(Shape::from(shape), chunk_shape).ok_or_else(too_large)?;
            let stages = stages(&described.filters, described.datatype.size.into());
            let refused = |refused: Unsupported| unsupported(name, &refused.to_string());
            let bits = element.bits.map(|bits| Arc::new(bits) as Arc<dyn Stage>);
            let stages = bits.into_iter().chain(stages.map_err(refused)?);
            let chunks = Chunks {
                name: name.to_owned(),
                grid: grid.clone(),
                index: (**index).clone(),
                shape: described.space.shape.clone(),
                has_bits: element.bits.is_some(),
                pipeline: Pipeline::new(stages, layout),
                fill,
            };
            Ok((grid, Arc::new(chunks)))
        }
        StoredLayout::External(parts) => {
            let file = parts.first().map_or("", |part| part.file.as_str());
            Err(unsupported(name, &format!("its elements are in another file, {file:?}")))
        }
        StoredLayout::Virtual => Err(unsupported(name, "it is virtual: parts of other datasets")),
        _ => Err(unsupported(name, "its layout is not supported by this build")),
    }
}

/// The decoder of elements that are not stored.
fn fill(described: &Described, element: &Element, size: u64) -> Option<FillValue> {
    let len = usize::try_from(size).ok()?;
    let mut bytes = match &described.fill {
        // The value of an array in each element is repeated as a whole.
        Some(fill) => fill.clone(),
        None => vec![0; len],
    };
    element.decode(&mut bytes);
    FillValue::new(&bytes)
}
