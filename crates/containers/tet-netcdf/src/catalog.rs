//! The catalog of a NetCDF classic file: its variables, read in place.

use std::path::Path;
use std::sync::Arc;

use tet_codec::Swapped;
use tet_format::{Grid, Span};
use tet_io::Source;
use tet_query::{Catalog, ChunkTable, Dataset, FixedText};
use tet_verify::{ForeignFindings, ForeignSeen, VerifyOptions};

use super::header::{self, Header, Variable};
use super::records::{Parts, Records};
use super::value::Type;
use tet_container::read::opened::{FileRegion, Opened};
use tet_container::read::slabs::{Slabs, grid, no_bytes, too_deep, unread};
use tet_container::{Error, Format, Result};

/// Opens the file at `path`.
pub(crate) fn open(path: &Path, source: Source) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let header = header::read(&source, &mut |found| findings.take(found))?;
    let mut header = header.map_err(|fault| Error::Foreign {
        path: path.to_path_buf(),
        format: Format::NETCDF3,
        fault,
    })?;
    let variables = std::mem::take(&mut header.variables);
    let (mut datasets, mut parts) = (Vec::new(), Vec::new());
    for variable in variables {
        let is_char = variable.stored == Some(Type::Char);
        let read = dataset(variable, &header, &source);
        if !is_char || read.fault.is_some() {
            datasets.push(read);
            continue;
        }
        let bytes = with_length(read);
        datasets.push(Dataset::of_texts(bytes.clone(), Arc::new(FixedText::Bytes)));
        parts.push(Dataset { name: format!("{}.bytes", bytes.name), ..bytes });
    }
    let region = |name, span: Option<Span>, holds| Some(FileRegion { name, span: span?, holds });
    let regions = [
        region("header", Span::new(0, header.len), String::new()),
        region("data", Span::from_range(header.len..source.len()), "elements".to_owned()),
    ];
    let catalog = Catalog::new(source, Format::NETCDF3.name(), datasets)
        .with_attrs(header.attrs)
        .with_parts(parts);
    let findings = findings.report(&ForeignSeen::default()).findings;
    let regions = regions.into_iter().flatten().collect();
    Ok(Opened { findings, regions, ..Opened::new(Format::NETCDF3, catalog) })
}

/// The characters of a variable; those of one without axes along one.
fn with_length(bytes: Dataset) -> Dataset {
    let grid = match bytes.shape() {
        [] => bytes.grid.reshaped([1].into(), [1].into()),
        _ => None,
    };
    let grid = grid.unwrap_or_else(|| bytes.grid.clone());
    Dataset { grid, ..bytes }
}

fn dataset(variable: Variable, header: &Header, source: &Source) -> Dataset {
    let (stored, shape) = (variable.stored, &variable.shape);
    let dtype_name = stored.map_or("unknown", |stored| stored.name());
    let broken = |fault| tet_query::Error::Foreign { dataset: variable.name.clone(), fault };
    let fault = too_deep(shape).or_else(|| variable.fault.map(broken));
    let chunks = if fault.is_none() { chunks(&variable, header) } else { None };
    let (grid, chunks) = chunks.unwrap_or_else(|| unread(shape, None));
    let dims = variable.dims.iter().filter_map(|&number| {
        let dim = header.dims.get(usize::try_from(number).ok()?)?;
        Some(dim.name.clone())
    });
    let dims: Vec<String> = dims.collect();
    Dataset {
        dtype: stored.map(|stored| stored.dtype()),
        dims: if dims.len() == shape.len() { dims } else { Vec::new() },
        // Records are along the first axis.
        unlimited: vec![variable.is_record],
        attrs: variable.attrs,
        fault: fault.map(Arc::new),
        ..Dataset::unknown(source.clone(), variable.name, dtype_name, grid, chunks)
    }
}

/// Where the elements of a sound variable are.
fn chunks(variable: &Variable, header: &Header) -> Option<(Grid, Arc<dyn ChunkTable>)> {
    let shape = &variable.shape;
    let element_size = variable.stored?.size();
    let is_empty = shape.contains(&0);
    let end = header.end_of(variable)?;
    let stored = if is_empty { no_bytes() } else { Span::from_range(variable.begin..end)? };
    let distance = header.record_len.filter(|_| variable.is_record).unwrap_or_default();
    if !is_empty && variable.is_record && distance != variable.part_len {
        let parts = Parts { len: variable.part_len, distance, element_size };
        let records = Records::new(shape, stored, parts)?;
        return Some((records.grid().clone(), Arc::new(records)));
    }
    let grid = grid(shape, element_size.checked_mul(8)?)?;
    let slabs = Slabs::new(grid.clone(), element_size.checked_mul(8)?, stored);
    Some((grid, Arc::new(slabs.swapped(Swapped::new(element_size)))))
}
