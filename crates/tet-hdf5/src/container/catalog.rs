//! The catalog of an HDF5 file: its datasets, read in place.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{
    Class, Described, Error as ReadError, Hdf5File, ObjectKind, StoredAttribute, StoredFault,
    StoredObject,
};
use tet_format::ForeignFault;
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Severity, VerifyOptions};

use super::chunks::of_dataset;
use super::dims::{self, DIMENSION_LIST, Dims, Labeled, is_shown};
use super::types::Types;
use super::{attributes, dataset, empty, environment};
use tet_container::model::flags;
use tet_container::read::opened::Opened;
use tet_container::{Error, Format, Note, Result};

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
    let contents = contents(&file, &mut |it| take(&mut findings, it)).map_err(damaged)?;
    let Listed { catalog, mut notes, types } = catalog(&file, &contents);
    notes.extend(types.notes());
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, notes, ..Opened::new(Format::HDF5, catalog) })
}

/// Adds a finding of `tet-hdf5`.
pub(super) fn take(findings: &mut ForeignFindings<'_>, it: StoredFault) {
    let (fault, field) = (it.fault, it.fault.rule.region);
    let dataset = it.path.map(|path| (0, path));
    findings.take_attribute(it.attribute, ForeignFound { fault, field, len: 0, dataset });
}

/// The objects of a file and their attributes.
pub(super) struct Contents {
    objects: Vec<StoredObject>,
    /// The datasets, in the same order as those of `objects`.
    datasets: Vec<Labeled>,
    attrs: BTreeMap<String, AttrText>,
    is_netcdf: bool,
}

impl Contents {
    /// Whether the NetCDF library made the file.
    pub(super) fn is_netcdf(&self) -> bool {
        self.is_netcdf
    }

    /// The objects, those that are datasets with what their attributes say.
    pub(super) fn of_objects(&self) -> impl Iterator<Item = (&StoredObject, Option<&Labeled>)> {
        let mut datasets = self.datasets.iter();
        self.objects.iter().map(move |object| {
            let is_listed = matches!(object.kind, ObjectKind::Dataset | ObjectKind::Unreadable(_));
            (object, if is_listed { datasets.next() } else { None })
        })
    }
}

/// Reads the objects and attributes of a file; what is wrong with the file and the attributes goes to `found`. Objects
/// that cannot be read are datasets.
pub(super) fn contents(
    file: &Hdf5File,
    found: &mut dyn FnMut(StoredFault),
) -> crate::Result<Contents> {
    let of_file = |fault: &ForeignFault| StoredFault { fault: *fault, path: None, attribute: None };
    file.findings().iter().map(of_file).for_each(&mut *found);
    let (objects, faults) = file.objects()?;
    let is_alias = |it: &StoredFault| it.fault.rule.id == crate::rule::GROUP_ALIAS.id;
    faults.into_iter().filter(is_alias).for_each(&mut *found);
    let paths: BTreeMap<u64, String> =
        objects.iter().map(|object| (object.address, object.path.clone())).collect();
    let (begin, mut room) = (file.work(), TEXTS_LEN.saturating_add(4 * file.source().len()));
    let mut contents =
        Contents { objects, datasets: Vec::new(), attrs: BTreeMap::new(), is_netcdf: false };
    for object in &contents.objects {
        match object.kind {
            ObjectKind::Unreadable(fault) => {
                contents.datasets.push(Labeled::unreadable(&object.path, object.address, fault));
                continue;
            }
            ObjectKind::Dataset | ObjectKind::Group | ObjectKind::Datatype => {}
        }
        // Attributes can share their bytes; those of the first objects are read.
        let read = match file.check_work(begin) {
            Err(error) => Err(error),
            Ok(()) if room == 0 => Err(ReadError::Fault(limit(file, object.address))),
            Ok(()) => file.attributes(object.address),
        };
        let (list, faults) = match read {
            Ok(read) => read,
            Err(ReadError::Fault(fault)) => (Vec::new(), vec![of_file(&fault)]),
            Err(error) => return Err(error),
        };
        let mut note =
            |it: StoredFault| found(StoredFault { path: Some(object.path.clone()), ..it });
        faults.into_iter().for_each(&mut note);
        contents.is_netcdf |=
            list.iter().any(|it| it.name == "_NCProperties" || it.name == "_Netcdf4Dimid");
        let scales = dims::scales(file, &list);
        let mut attrs = BTreeMap::new();
        for it in list.iter().filter(|it| is_shown(&it.name, false)) {
            let fault = match attributes::value(file, it, &paths) {
                Some(value) if takes_room(&mut room, &it.name, &value) => {
                    attrs.insert(it.name.clone(), value);
                    continue;
                }
                Some(_) => limit(file, object.address),
                None => value_fault(file, it)?,
            };
            note(StoredFault { attribute: Some(it.name.clone()), ..of_file(&fault) });
        }
        for (fault, name) in scales.fault.into_iter().map(|fault| (fault, DIMENSION_LIST)) {
            note(StoredFault { attribute: Some(name.to_owned()), ..of_file(&fault) });
        }
        if object.kind == ObjectKind::Dataset {
            let (path, address) = (object.path.clone(), object.address);
            let (scales, fault) = (scales.addresses, None);
            let labeled = Labeled { path, address, rank: 0, attrs, scales, fault };
            contents.datasets.push(labeled);
            continue;
        }
        // A committed datatype has attributes as a group has.
        let of_group = |name: String| match object.path.as_str() {
            "" => name,
            path => format!("{path}/{name}"),
        };
        contents.attrs.extend(attrs.into_iter().map(|(name, value)| (of_group(name), value)));
    }
    Ok(contents)
}

/// Takes the bytes of an attribute off those that there is room for.
fn takes_room(room: &mut u64, name: &str, value: &AttrText) -> bool {
    let len = value.text().len().saturating_add(name.len()) as u64;
    let left = room.checked_sub(len);
    *room = left.unwrap_or(0);
    left.is_some()
}

/// The fault of an object whose attributes are not read because those of others are too long.
fn limit(file: &Hdf5File, address: u64) -> ForeignFault {
    let at = file.base().saturating_add(address);
    let rule = &crate::rule::LIMIT_ATTRIBUTES;
    ForeignFault { rule, at, found: TEXTS_LEN, wanted: TEXTS_LEN }
}

/// Why the values of an attribute cannot be read: the bytes elsewhere that they refer to are damaged, or there are too
/// many of them.
fn value_fault(file: &Hdf5File, attribute: &StoredAttribute) -> crate::Result<ForeignFault> {
    let StoredAttribute { datatype, bytes, at, .. } = attribute;
    let size = usize::try_from(datatype.size).unwrap_or(usize::MAX).max(1);
    let of_texts = file.texts(datatype, bytes, attributes::TEXT_LEN_MAX).err();
    let of_lists = match &datatype.class {
        Class::List(base) => {
            bytes.chunks_exact(size).find_map(|bytes| file.list(bytes, base.size).err())
        }
        _ => None,
    };
    match of_texts.or(of_lists) {
        Some(ReadError::Fault(fault)) => Ok(fault),
        Some(error) => Err(error),
        None => {
            let rule = &crate::rule::LIMIT_VALUES;
            Ok(ForeignFault { rule, at: *at, found: 0, wanted: 0 })
        }
    }
}

/// The catalog of a file, and the names that it lacks.
pub(super) struct Listed {
    pub(super) catalog: Catalog,
    /// On datasets that have several names.
    notes: Vec<Note>,
    pub(super) types: Types,
}

/// The catalog of these objects, each under all of its names.
pub(super) fn catalog(file: &Hdf5File, contents: &Contents) -> Listed {
    let is_netcdf = contents.is_netcdf;
    let described = |it: &Labeled| match it.fault {
        Some(fault) => Err(ReadError::Fault(fault)),
        None => file.dataset(it.address),
    };
    let described: Vec<_> = contents.datasets.iter().map(described).collect();
    let types = Types::new(file, &contents.objects, described.iter().flatten());
    let rank = |it: &crate::Result<Described>| it.as_ref().map_or(0, |it| it.space.shape.len());
    let ranked = contents.datasets.iter().zip(&described);
    let ranked = ranked.map(|(it, described)| Labeled { rank: rank(described), ..it.clone() });
    let labeled: Vec<Labeled> = ranked.collect();
    let axes = Dims::new(&labeled, is_netcdf);
    let of_others = contents.objects.iter().filter(|it| !it.others.is_empty());
    let others: BTreeMap<u64, &Vec<String>> =
        of_others.map(|it| (it.address, &it.others)).collect();
    let (mut datasets, mut parts, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut room = TEXTS_LEN.saturating_add(4 * file.source().len());
    for (labeled, described) in labeled.iter().zip(described) {
        if is_netcdf && dims::is_bare(labeled) {
            continue;
        }
        let name = if is_netcdf { dims::netcdf_path(&labeled.path) } else { labeled.path.clone() };
        let described = match described {
            Ok(described) => described,
            Err(error) => {
                datasets.push(Dataset {
                    attrs: shown(labeled, is_netcdf, &[]),
                    ..unreadable(file, name, error)
                });
                continue;
            }
        };
        let dims = axes.axis_names(labeled);
        let others = others.get(&labeled.address).filter(|_| labeled.fault.is_none());
        let others = others.into_iter().copied().flatten();
        for (name, is_first) in
            std::iter::once((name, true)).chain(others.map(|it| (it.clone(), false)))
        {
            // Each name has the attributes, which can be long.
            let has_room =
                labeled.attrs.iter().all(|(name, value)| takes_room(&mut room, name, value));
            if !is_first && !has_room {
                let error = ReadError::Fault(limit(file, labeled.address));
                datasets.push(unreadable(file, name, error));
                continue;
            }
            if !is_first {
                let (dataset, of) = (name.clone(), labeled.path.clone());
                notes.push(Note::Untied { dataset, of });
            }
            let room = dataset::MEMBERS_MAX.saturating_sub(parts.len());
            let stored = dataset::Stored { file, described: &described, dims: &dims, is_netcdf };
            let read = stored.read(name, room);
            let attrs = shown(labeled, is_netcdf, &dims);
            let mut dataset = empty::matrix(Dataset { attrs, ..read.whole });
            flags::add(&mut dataset);
            datasets.push(dataset);
            parts.extend(read.parts);
        }
    }
    let attrs = contents.attrs.iter().filter(|(name, _)| is_shown(name, is_netcdf));
    let attrs = attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
    let source = file.source().clone();
    let catalog = Catalog::new(source, Format::HDF5.name(), datasets);
    let catalog = catalog.with_attrs(attrs).with_parts(parts);
    Listed { catalog, notes, types }
}

/// The attributes of a dataset that are shown. Those that name its axes are none besides.
fn shown(labeled: &Labeled, is_netcdf: bool, dims: &[String]) -> BTreeMap<String, AttrText> {
    let attrs = labeled.attrs.iter().filter(|(name, _)| is_shown(name, is_netcdf));
    let attrs = attrs.filter(|(name, _)| !dims::is_told(labeled, name, dims));
    attrs.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A dataset that cannot be read: the file is damaged, or this build does not follow a link or read so much.
fn unreadable(file: &Hdf5File, name: String, error: ReadError) -> Dataset {
    let cause = match error {
        ReadError::Fault(fault) if fault.rule.severity != Severity::Error => {
            let why = format!("dataset {name:?} cannot be read: {fault}");
            tet_query::Error::Unsupported { why }
        }
        error => of_dataset(&name, error),
    };
    Dataset::unreadable(file.source().clone(), name, cause)
}
