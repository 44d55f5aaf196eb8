//! References: where the stored chunks of files are, for readers of Zarr, which read them in place.
//!
//! ```text
//!   datasets -> Planner: chunks at (file, offset, length), or bytes of few elements
//!            -> draft of the writer of Zarr: paths, axes, attributes, fill values
//!            -> ReferenceSet -> a document of kerchunk, version 1
//! ```
//!
//! Several files are concatenated along an axis before (`joined.rs`): their chunks are in one grid.

mod address;
mod chunks;
mod document;
mod draft;
mod edges;
mod joined;
mod options;
mod pieces;
mod plan;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_io::publish::commit_all;
use tet_io::{Publish, Publisher};
use tet_query::Catalog;
use tet_zarr::ZarrFormat;

pub use self::address::RefsAddress;
pub use self::chunks::StoredChunks;
pub use self::document::ReferenceSet;
pub use self::edges::EdgeChoice;
pub use self::options::{RefsOptions, RefsReport};
pub use self::pieces::stored_chunks;

use self::address::AddressBook;
use self::draft::drafted;
use self::edges::{Edges, Sidecar};
use self::joined::JoinedParts;
use self::plan::{Planned, Planner};
use crate::convert::conversion;
use crate::merge::FileDataset;
use crate::open::{OpenedFile, of_several, open};
use crate::{Error, Note, Result};
use tet_container::write::conversion::{Conversion, ConvertOptions, UnsupportedChoice};
use tet_container::write::file::Counted;
use tet_container::write::storage::PayloadCodec;
use tet_zarr::container::{self as zarr, ZARR_2, ZARR_3};

/// Name of the document in messages.
const ENCODING: &str = "a document of references";

/// References to the chunks of files that are open; several are one along the axis [`RefsOptions::concat`].
///
/// # Errors
/// [`Error::NoReferences`], or [`Error::Several`] of them, for datasets that readers of Zarr cannot read in place; files do
/// not fit each other; elements that are copied cannot be read; [`EdgeChoice::Sidecar`], which is for
/// [`write_references`]; [`Error::NoDatasets`] without files.
pub fn references(files: &[OpenedFile<'_>], options: &RefsOptions) -> Result<ReferenceSet> {
    let edges = match options.edges {
        EdgeChoice::Refused => Edges::Refused,
        EdgeChoice::Inline => Edges::Inline(0),
        EdgeChoice::Sidecar => {
            let what = "edge chunks go to a file beside a document that is written".to_owned();
            return Err(Error::Refs { what });
        }
    };
    let (set, _) = made(files, options, edges)?;
    check_unchanged(files)?;
    Ok(set)
}

/// Writes references to the chunks of files as a document of kerchunk; several files are one along the axis
/// [`RefsOptions::concat`]. Filled edge chunks are written beside it, to a file whose name ends in `.edges`.
///
/// # Errors
/// As [`references`]; a file cannot be opened; the output exists, is an input, or cannot be written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{RefsOptions, write_references};
///
/// let months = ["may.nc".into(), "june.nc".into()];
/// let options = RefsOptions { concat: Some("time".to_owned()), ..RefsOptions::default() };
/// write_references(&months, "spring.json".as_ref(), &options)?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn write_references(
    files: &[PathBuf],
    output: &Path,
    options: &RefsOptions,
) -> Result<RefsReport> {
    let opened = files.iter().map(|path| {
        let opened = open(path, &options.open);
        let opened = if files.len() == 1 { opened } else { of_several(path, opened) };
        Ok((path.as_path(), opened?))
    });
    let opened = opened.collect::<Result<Vec<_>>>()?;
    Ok(publish_references(&OpenedFile::all(&opened), output, options)?.1)
}

/// Writes references to files that are open; the references are returned too.
///
/// # Errors
/// As [`write_references`].
pub fn publish_references(
    files: &[OpenedFile<'_>],
    output: &Path,
    options: &RefsOptions,
) -> Result<(ReferenceSet, RefsReport)> {
    let inputs = catalogs(files).flat_map(Catalog::stamps).collect();
    let publish =
        Publish { force: options.overwrite, sync: options.sync, inputs, ..Publish::default() };
    let mut publisher = Publisher::begin(output, &publish)?;
    let edges = match options.edges {
        EdgeChoice::Refused => Edges::Refused,
        EdgeChoice::Inline => Edges::Inline(0),
        EdgeChoice::Sidecar => {
            let path = sidecar_path(output)?;
            let file = Publisher::begin(&path, &publish)?;
            Edges::Sidecar(Box::new(Sidecar { file, path, len: 0 }))
        }
    };
    let (set, edges) = made(files, options, edges)?;
    let mut out = Counted { out: BufWriter::new(publisher.file()), len: 0 };
    let written = set.write(&mut out).and_then(|()| out.flush());
    let output_len = out.len;
    drop(out);
    written.map_err(|error| Error::Io(publisher.write_fault(error)))?;
    check_unchanged(files)?;
    let (stored_count, inlined_count) = set.chunk_counts();
    let (array_count, notes) = (set.array_count(), set.notes().to_vec());
    let mut report =
        RefsReport { array_count, stored_count, inlined_count, output_len, sidecar: None, notes };
    match edges {
        Edges::Sidecar(sidecar) if sidecar.len != 0 => {
            commit_all(vec![sidecar.file.settle()?], Some(publisher.settle()?))?;
            report.sidecar = Some((sidecar.path, sidecar.len));
        }
        _ => publisher.commit()?,
    }
    Ok((set, report))
}

fn catalogs<'c>(files: &[OpenedFile<'c>]) -> impl Iterator<Item = &'c Catalog> {
    files.iter().map(|file| &file.opened.catalog)
}

/// Compares all files with those that were opened, once for all elements and places that were read.
fn check_unchanged(files: &[OpenedFile<'_>]) -> Result<()> {
    Ok(catalogs(files).try_for_each(Catalog::check_unchanged)?)
}

/// The path of the file of edge chunks, absolute.
fn sidecar_path(output: &Path) -> Result<PathBuf> {
    if tet_io::is_url(output) {
        return Err(tet_io::Error::UrlOutput { path: output.to_path_buf() }.into());
    }
    let mut name = output.as_os_str().to_owned();
    name.push(".edges");
    let path = std::path::absolute(PathBuf::from(name));
    path.map_err(|error| tet_io::Error::io(tet_io::Operation::Create, output, error).into())
}

/// The references, and what became of the edge chunks.
fn made(
    files: &[OpenedFile<'_>],
    options: &RefsOptions,
    edges: Edges,
) -> Result<(ReferenceSet, Edges)> {
    let first = files.first().ok_or(Error::NoDatasets { encoding: ENCODING })?;
    let convert = &convert_options(options);
    let mut conversion = conversion(first.opened, &[], zarr::capabilities(), convert)?;
    if options.include.is_empty() && options.unsupported != UnsupportedChoice::Skipped {
        files.iter().try_for_each(|it| it.opened.check_complete())?;
    }
    conversion.notes.extend(files.iter().flat_map(|it| it.opened.warning_notes()));
    let joined = match &options.concat {
        Some(axis) => {
            joined::of_files(files, axis, &asked(&conversion, options), &options.execution)?
        }
        None if files.len() == 1 => Vec::new(),
        None => {
            let what = "several files need an axis along which they are one".to_owned();
            return Err(Error::Refs { what });
        }
    };
    let execution = &options.execution;
    let mut planner = Planner { inline_len: options.inline_len, edges, execution };
    let planned = planned(&mut planner, first.path, &mut conversion, &joined, options)?;
    let edges = planner.edges;
    let sidecar = match &edges {
        Edges::Sidecar(sidecar) => Some(sidecar.path.as_path()),
        _ => None,
    };
    let paths = files.iter().map(|file| file.path);
    let mut book = AddressBook::new(&options.address, paths.chain(sidecar));
    let set = drafted(conversion, planned, &mut book, convert)?;
    Ok((set, edges))
}

/// The datasets that may grow, where not all may.
fn asked(of: &Conversion<'_>, options: &RefsOptions) -> Vec<String> {
    let is_asked = !options.include.is_empty() || !options.exclude.is_empty();
    let datasets = of.datasets.iter().filter(|_| is_asked);
    datasets.map(|dataset| format!("#{}", dataset.index)).collect()
}

/// The options of the writer of Zarr.
fn convert_options(options: &RefsOptions) -> ConvertOptions {
    let mut convert = ConvertOptions::default();
    convert.tet.include.clone_from(&options.include);
    convert.tet.exclude.clone_from(&options.exclude);
    let variant = match options.format {
        ZarrFormat::V2 => ZARR_2,
        ZarrFormat::V3 => ZARR_3,
    };
    convert.storage.variant = Some(variant.to_owned());
    convert.storage.codec = Some(PayloadCodec::Raw);
    convert.execution = options.execution.clone();
    convert
}

/// Plans of each dataset; those that cannot have references are left out with notes, if that is requested.
///
/// # Errors
/// Datasets cannot have references and are not left out, or nothing else is there.
fn planned<'c>(
    planner: &mut Planner<'_>,
    path: &'c Path,
    conversion: &mut Conversion<'c>,
    joined: &[JoinedParts<'c>],
    options: &RefsOptions,
) -> Result<Vec<Planned>> {
    let (mut planned, mut faults) = (Vec::new(), Vec::new());
    for &dataset in &conversion.datasets {
        planner.progress().check()?;
        if let Some(cause) = &dataset.fault {
            let (dataset, cause) = (dataset.name.clone(), Arc::clone(cause));
            faults.push((dataset.clone(), tet_query::Error::Unreadable { dataset, cause }.into()));
            continue;
        }
        let grown = joined
            .iter()
            .find(|it| it.parts.first().is_some_and(|part| part.dataset.index == dataset.index));
        let plan = match grown {
            Some(grown) => planner.plan(grown, true),
            None => {
                let parts = vec![FileDataset { path, dataset }];
                planner.plan(&JoinedParts { axis: 0, parts }, false)
            }
        };
        match plan {
            Ok(plan) => planned.push(plan),
            Err(error @ (Error::NoReferences { .. } | Error::Clipped { .. })) => {
                faults.push((dataset.name.clone(), error));
            }
            Err(error) => return Err(error),
        }
    }
    let is_skipped = options.unsupported == UnsupportedChoice::Skipped && !planned.is_empty();
    if faults.is_empty() || is_skipped {
        let note =
            |(dataset, error): (String, Error)| Note::Skipped { dataset, why: error.to_string() };
        conversion.notes.extend(faults.into_iter().map(note));
        return Ok(planned);
    }
    let mut faults: Vec<Error> = faults.into_iter().map(|(_, error)| error).collect();
    Err(match faults.pop() {
        Some(error) if faults.is_empty() => error,
        last => {
            faults.extend(last);
            Error::Several { encoding: ENCODING, faults }
        }
    })
}
