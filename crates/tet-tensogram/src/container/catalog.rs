//! The catalog of a Tensogram file: the objects of all messages, read in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::{
    ByteOrder, Descriptor, DescriptorStage, Error as Theirs, Fault, Limits, Metadata, ObjectAt,
    Pairs, RESERVED_KEY, Region, TensogramFile, Value, rule,
};
use tet_codec::Swapped;
use tet_format::{DType, ForeignRule, Shape};
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::error::of_file;
use super::keys::{NAME_KEY, given, is_name, name, name_of, unescaped};
use super::lost::{Lost, unread_dataset};
use super::parts::{Masks, Parts};
use super::seal;
use tet_container::model::attributes::shape_text;
use tet_container::model::axes::{take_coords, take_dims};
use tet_container::model::item::attr;
use tet_container::model::logical::{DTYPE_KEY, SHAPE_KEY};
use tet_container::read::opened::{FileRegion, Opened};
use tet_container::read::slabs::{Slabs, grid, grid_of_one, too_deep};
use tet_container::{Format, Result};

/// Objects of one file, at most: each takes memory.
pub(crate) const OBJECTS_MAX: usize = 1 << 21;

/// Opens the file at `path`; with `only`, for that position alone where its message leads to it.
pub(crate) fn open(path: &Path, source: Source, only: Option<usize>) -> Result<Opened> {
    let file = TensogramFile::open(source.clone(), &Limits::default());
    let file = file.map_err(|error| of_file(path, error))?;
    if let Some(only) = only
        && let Some(opened) = of_one(&file, only).map_err(|error| of_file(path, error))?
    {
        return Ok(opened);
    }
    let options = VerifyOptions::default();
    let mut notes = Vec::new();
    let mut findings = ForeignFindings::new(&options);
    let mut report = |fault| findings.take(found(fault));
    let mut lost = Lost::default();
    let (mut datasets, mut about, mut regions) = (Vec::new(), BTreeMap::new(), Vec::new());
    lost.between(&file).map_err(|error| of_file(path, error))?;
    for number in 0..file.len() {
        let (mut metadata, mut objects) = (Metadata::default(), Vec::new());
        let span = file.span(number).map_err(|error| of_file(path, error))?;
        lost.before(span, datasets.len());
        let mut unwalked = |fault| {
            report(fault);
            lost.message((number, span), fault, datasets.len());
        };
        let walked =
            or_report(file.message(number), &mut unwalked).map_err(|it| of_file(path, it))?;
        if let Some(walked) = walked {
            let read = Metadata::from_message(file.source(), &walked, file.limits());
            let read = or_report(read, &mut report).map_err(|it| of_file(path, it))?;
            let has_lost = lost.within((number, span), (&file, &walked), &read, datasets.len());
            if !has_lost.map_err(|error| of_file(path, error))? {
                metadata = read.unwrap_or_default();
            }
            lost.hidden((number, span), &walked, &metadata);
            // Where nothing is lost, the order of its frames may break a rule.
            walked.fault().filter(|_| walked.is_whole()).copied().into_iter().for_each(&mut report);
            if !walked.is_empty() {
                objects = file.objects(number).map_err(|error| of_file(path, error))?;
            }
        }
        for object in objects {
            if OBJECTS_MAX <= datasets.len() {
                let (what, limit) = ("objects of one file", OBJECTS_MAX as u64);
                return Err(tet_query::Error::Limit { what, wanted: limit + 1, limit }.into());
            }
            let position = datasets.len();
            let by_number = lost.name((object.message, span), object.number, object.frame.at());
            let dataset = dataset(&file, &object, (&metadata, by_number), position, &mut notes);
            datasets.push(dataset.map_err(|error| of_file(path, error))?);
        }
        if file.len() == 1 {
            about = file_attrs(&metadata);
        }
        lost.after(&datasets);
        regions.push(FileRegion { name: "message", span, holds: format!("message {number}") });
    }
    let uncounted = lost.list(file.source(), &mut datasets, &mut report);
    let mut catalog = Catalog::new(source, Format::TENSOGRAM.name(), datasets).with_attrs(about);
    if let Some((count, fault)) = uncounted {
        let cause = tet_query::Error::Foreign { dataset: format!("#{count}"), fault };
        catalog = catalog.with_positions(count, Arc::new(cause));
    }
    notes.into_iter().for_each(|note| findings.take(note));
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions, ..Opened::new(Format::TENSOGRAM, catalog) })
}

/// One object of a message of many.
fn of_one(file: &TensogramFile, number: usize) -> Result<Option<Opened>, Theirs> {
    if file.len() != 1 || !file.gaps().is_empty() {
        return Ok(None);
    }
    let Some((object, metadata)) = file.object_by_header(0, number)? else { return Ok(None) };
    // A name may look like a position.
    let is_name = |entry: &Pairs| name_of(entry).is_some_and(|name| name.starts_with('#'));
    if metadata.base.iter().any(is_name) {
        return Ok(None);
    }
    let (by_number, mut notes) = (name(&metadata, 0, number), Vec::new());
    let dataset = dataset(file, &object, (&metadata, by_number), number, &mut notes)?;
    let source = file.source().clone();
    let catalog = Catalog::new(source, Format::TENSOGRAM.name(), vec![dataset])
        .with_attrs(file_attrs(&metadata));
    // It keeps its position among those that are left out.
    let catalog = catalog.viewed(|dataset| Dataset { index: number, ..dataset });
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    notes.into_iter().for_each(|note| findings.take(note));
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Some(Opened { findings, ..Opened::new(Format::TENSOGRAM, catalog) }))
}

/// Elements are read in an order that their descriptor does not say.
const ASSUMED: [&ForeignRule; 2] = [&rule::NOTE_STRIDES, &rule::NOTE_BYTE_ORDER];

/// What is worth knowing of one dataset.
fn note_on(dataset: &Dataset, fault: Fault) -> ForeignFound {
    let named = Some((dataset.index as u64, dataset.name.clone()));
    ForeignFound { fault, field: "descriptor", len: 0, dataset: named }
}

/// A fault that costs a part of the file.
fn found(fault: Fault) -> ForeignFound {
    ForeignFound { fault, field: "message", len: 0, dataset: None }
}

/// What is there of a part of the file; what it breaks is reported.
fn or_report<T>(
    part: Result<T, Theirs>,
    report: &mut dyn FnMut(Fault),
) -> Result<Option<T>, Theirs> {
    match part {
        Ok(part) => Ok(Some(part)),
        Err(Theirs::Format(fault)) => {
            report(fault);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The metadata of an object or a message, as attributes, but for what the library stores.
fn attrs(pairs: &[(String, Value)]) -> BTreeMap<String, AttrText> {
    let ours = pairs.iter().filter(|(key, _)| key != RESERVED_KEY);
    ours.map(|(key, value)| (key.clone(), attr(value.clone()))).collect()
}

/// The attributes of a file of one message.
fn file_attrs(metadata: &Metadata) -> BTreeMap<String, AttrText> {
    let attrs = attrs(&metadata.extra).into_iter();
    attrs.map(|(key, value)| (unescaped(key), value)).collect()
}

fn dataset(
    file: &TensogramFile,
    object: &ObjectAt,
    (metadata, by_number): (&Metadata, String),
    index: usize,
    notes: &mut Vec<ForeignFound>,
) -> Result<Dataset, Theirs> {
    let nothing = Pairs::new();
    let entry = metadata.base.get(object.number).unwrap_or(&nothing);
    let name = given(metadata, object.number).unwrap_or(by_number);
    let mut attrs = attrs(entry);
    if is_name(attrs.get(NAME_KEY)) {
        attrs.remove(NAME_KEY);
    }
    let described = match file.read_descriptor(object) {
        Ok(bytes) => Descriptor::read(&bytes, object.descriptor.start(), file.limits()),
        Err(error) => Err(error),
    };
    let mut dataset = unread_dataset(file.source(), index, name);
    match described {
        Ok(descriptor) => store(&mut dataset, &descriptor, object, file, notes)?,
        Err(error) => {
            dataset.fault = Some(Arc::new(fault_of(&dataset, error)?));
            dataset.has_shape = false;
        }
    }
    dataset.dims = take_dims(&mut attrs, dataset.shape().len());
    dataset.coords = take_coords(&mut attrs, &dataset.dims, dataset.grid.shape());
    dataset.attrs.extend(attrs.into_iter().map(|(key, value)| (unescaped(key), value)));
    Ok(dataset)
}

/// Says how the elements of a dataset are stored.
fn store(
    dataset: &mut Dataset,
    descriptor: &Descriptor,
    object: &ObjectAt,
    file: &TensogramFile,
    notes: &mut Vec<ForeignFound>,
) -> Result<(), Theirs> {
    let assumed = descriptor.faults().iter().filter(|fault| ASSUMED.contains(&fault.rule));
    notes.extend(assumed.map(|fault| note_on(dataset, *fault)));
    dataset.dtype_name = descriptor.dtype_word().to_owned();
    dataset.dtype = descriptor.dtype();
    let mut shape = descriptor.shape().to_vec();
    if dataset.dtype == Some(DType::Bitmask) {
        // Nothing computes with single bits: they are read as the bytes that hold them.
        dataset.dtype = Some(DType::UInt8);
        dataset.attrs.insert(SHAPE_KEY.to_owned(), shape_text(&shape));
        let name = std::mem::replace(&mut dataset.dtype_name, DType::UInt8.name().to_owned());
        dataset.attrs.insert(DTYPE_KEY.to_owned(), AttrText::Text(name));
        shape = vec![descriptor.element_count().unwrap_or_default().div_ceil(8)];
    }
    dataset.fault = too_deep(&shape).map(Arc::new);
    if dataset.fault.is_some() {
        return Ok(());
    }
    dataset.grid = grid_of_one(&shape);
    let (at, len) = (object.region.start(), object.region.len());
    let region = Region::new(descriptor, at, len, file.limits());
    let region = match region {
        Ok(region) => region,
        Err(error) => {
            dataset.fault = Some(Arc::new(fault_of(dataset, error)?));
            return Ok(());
        }
    };
    notes.extend(region.notes().iter().map(|fault| note_on(dataset, *fault)));
    let size = dataset.dtype.and_then(DType::size).unwrap_or(1);
    let is_plain = DescriptorStage::ALL.iter().all(|&stage| descriptor.stage(stage) == "none");
    if is_plain && !region.has_masks() && descriptor.dtype() != Some(DType::Bitmask) {
        let Some(grid) = grid(&shape, size.saturating_mul(8)) else { return Ok(()) };
        let slabs = Slabs::new(grid.clone(), size.saturating_mul(8), object.region)
            .sealed(seal::sealed(object));
        let parts =
            if matches!(dataset.dtype_name.as_str(), "complex64" | "complex128") { 2 } else { 1 };
        let swapped = Swapped::new(size / parts);
        let swapped = swapped.filter(|_| descriptor.byte_order() == ByteOrder::Big);
        dataset.chunks = Arc::new(slabs.swapped(swapped));
        dataset.grid = grid;
        return Ok(());
    }
    let (dataset_name, source) = (dataset.name.clone(), file.source().clone());
    let masks = Masks { dataset: dataset_name, source, reading: Mutex::default() };
    let parts = Parts::new(&shape, size, object.region, region, masks, seal::sealed(object));
    (dataset.grid, dataset.chunks) = (parts.grid().clone(), Arc::new(parts));
    Ok(())
}

/// Why a dataset cannot be read, if that is what the error is.
fn fault_of(dataset: &Dataset, error: Theirs) -> Result<tet_query::Error, Theirs> {
    let name = dataset.name.clone();
    match error {
        Theirs::NotBuilt { codec, .. } => {
            let chunk: Shape = dataset.shape().iter().map(|_| 0).collect();
            Ok(tet_query::Error::UnknownCodec { dataset: name, chunk, codec: codec.into() })
        }
        Theirs::Format(fault) => Ok(tet_query::Error::Foreign { dataset: name, fault }),
        other => Err(other),
    }
}
