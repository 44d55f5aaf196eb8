//! The catalog of an HDF5 file: its datasets, read in place.

use std::collections::BTreeMap;
use std::path::Path;

use tet_format::ForeignFault;
use tet_hdf5::{Described, Error as ReadError, Hdf5File, ObjectKind, StoredObject};
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::dims::{self, Dims, Labeled, is_shown};
use super::{attributes, dataset, empty, environment};
use crate::model::flags;
use crate::read::opened::Opened;
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

/// The attribute of the names of axes without a scale.
const LABELS_KEY: &str = "DIMENSION_LABELS";

/// Whether an attribute is the list of these names.
fn is_list(attr: &AttrText, names: &[String]) -> bool {
    let list = attr.json().and_then(|json| serde_json::from_str::<Vec<String>>(json).ok());
    list.as_deref().or(Some(&[attr.text().to_owned()])) == Some(names)
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
        let mut attrs: BTreeMap<String, AttrText> =
            attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
        let dims = axes.of(labeled);
        if attrs.get(LABELS_KEY).is_some_and(|labels| is_list(labels, &dims)) {
            // They are the names of the axes.
            attrs.remove(LABELS_KEY);
        }
        let read = dataset::read(file, name, described, (dims, is_netcdf));
        let mut dataset = empty::matrix(Dataset { attrs, ..read.whole });
        flags::add(&mut dataset);
        for other in others.get(&labeled.address).into_iter().copied().flatten() {
            // Each name has the attributes, which can be long.
            if dataset.attrs.iter().all(|(name, value)| takes_room(&mut room, (name, value))) {
                parts.push(Dataset { name: other.clone(), ..dataset.clone() });
            }
        }
        datasets.push(dataset);
        parts.extend(read.parts);
    }
    let attrs = contents.attrs.iter().filter(|(name, _)| is_shown(name, is_netcdf));
    let attrs = attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
    let source = file.source().clone();
    Catalog::new(source, Format::HDF5.name(), datasets).with_attrs(attrs).with_parts(parts)
}
