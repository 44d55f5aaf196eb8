//! Edits of NetCDF classic files: a new header in front of the data, which is copied.
//!
//! ```text
//!   header (new) | zeros up to the data, or the data further back | data
//!   header (new) | data of the variables that stay, where others are removed
//! ```

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

mod dropped;
mod header;

use std::collections::{BTreeMap, BTreeSet};

use tet_format::Span;
use tet_io::{Image, Output};

use self::dropped::NewData;
use self::header::Rewriting;
use super::header::read;
use super::{NetCdf3, catalog};
use tet_container::EditKind;
use tet_container::edited::{self, unfit};
use tet_container::model::attribute_types::AttrTypes;
use tet_container::read::header::HeaderError;
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::netcdf::names::legal;
use tet_container::{EditOptions, Editor, FileEdit};
use tet_container::{Error, Format, Result};

impl Editor for NetCdf3 {
    fn can(&self) -> &'static [EditKind] {
        use EditKind::{Attr, Dims, Drop, FileAttr, Rename};
        &[Rename, Drop, Attr, FileAttr, Dims]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let changes = changes(opened, edits)?;
        let foreign =
            |fault| Error::Foreign { path: path_of(source), format: Format::NETCDF3, fault };
        let header = match Rewriting::new(source, &changes).header() {
            Ok(header) => header?,
            Err(HeaderError::Io(error)) => return Err(error.into()),
            Err(HeaderError::Fault(fault)) => return Err(foreign(fault)),
        };
        let image = if changes.dropped.is_empty() {
            let header = header.moved()?;
            let mut image = Image::default();
            image.append(header.bytes);
            image.resize(header.data_to);
            image.append_span(source, Span::from_range(header.data_from..source.len()));
            image
        } else {
            let old = read(source, &mut |_| {})?.map_err(foreign)?;
            let data = NewData::new(&old, &changes.dropped, source, header.len())?;
            let header = header.placed(&data.begins)?;
            data.image(header, source)
        };
        let new = catalog::open(&path_of(source), image.to_source())?.catalog;
        edited::check(opened, edits, new, AttrTypes::Classic)?;
        let publisher = output.begin(source, &options.publish)?;
        publisher.commit_image(&image, source, &options.progress)
    }
}

/// Changes of a header.
#[derive(Debug, Default)]
struct Changes<'e> {
    /// The new names of variables, by their positions.
    names: BTreeMap<usize, &'e str>,
    /// The positions of variables that are removed.
    dropped: BTreeSet<usize>,
    /// The new names of dimensions, by the old ones.
    dims: BTreeMap<String, String>,
    /// Attributes of variables, and of the file; with the types of the variables.
    attrs: BTreeMap<Option<usize>, Vec<Change<'e>>>,
}

/// An attribute that is set or removed.
#[derive(Debug)]
struct Change<'e> {
    key: &'e str,
    value: Option<&'e tet_query::AttrText>,
    of: Option<tet_format::DType>,
}

fn changes<'e>(opened: &Opened, edits: &'e [FileEdit]) -> Result<Changes<'e>> {
    let datasets = opened.catalog.datasets();
    let mut changes = Changes::default();
    for edit in edits {
        match edit {
            FileEdit::Rename { dataset, to } => {
                is_legal(to)?;
                changes.names.insert(*dataset, to);
            }
            FileEdit::Drop { dataset } => drop(changes.dropped.insert(*dataset)),
            FileEdit::Attr { dataset, key, value } => {
                is_legal(key)?;
                let of = dataset.and_then(|at| datasets.get(at)?.dtype);
                let change = Change { key, value: value.as_ref(), of };
                changes.attrs.entry(*dataset).or_default().push(change);
            }
            _ => {}
        }
    }
    changes.dims = dims(opened, edits)?;
    Ok(changes)
}

fn is_legal(name: &str) -> Result<()> {
    let legal = legal(name);
    if legal == name {
        return Ok(());
    }
    Err(unfit(format!("{name:?} is no name of NetCDF: {legal:?} is one")))
}

/// The new names of dimensions: all variables of a file share them.
fn dims(opened: &Opened, edits: &[FileEdit]) -> Result<BTreeMap<String, String>> {
    let mut new: BTreeMap<usize, &Vec<String>> = BTreeMap::new();
    for edit in edits {
        if let FileEdit::Dims { dataset, names } = edit {
            new.insert(*dataset, names);
        }
    }
    let (mut renamed, mut all) = (BTreeMap::new(), Vec::new());
    for dataset in opened.catalog.datasets() {
        let names = new.get(&dataset.index).copied().unwrap_or(&dataset.dims);
        if names.len() != dataset.dims.len() {
            return Err(unfit("the dimensions of NetCDF have names"));
        }
        all.extend(dataset.dims.iter().cloned().zip(names.iter().cloned()));
    }
    for (old, name) in &all {
        if old != name {
            is_legal(name)?;
            renamed.insert(old.clone(), name.clone());
        }
    }
    for (old, name) in &all {
        if renamed.get(old).unwrap_or(old) != name {
            return Err(unfit(format!(
                "the dimension {old} is shared by variables of the file: rename it for all of them"
            )));
        }
    }
    Ok(renamed)
}
