//! The array of a `.npy` file as a dataset, read in place.

use std::path::Path;
use std::sync::Arc;

use tet_codec::Swapped;
use tet_format::{DType, Grid, Shape, Span};
use tet_io::Source;
use tet_query::{Catalog, ChunkTable, Dataset};

use super::columns::Columns;
use super::descr::Descr;
use super::header::{ElementOrder, Elements, Header};
use super::members::{Stored, times};
use super::place::Place;
use super::structure::{FieldKind, Structure};
use tet_container::NpyFault;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::read::slabs::{Slabs, too_deep, unread};
use tet_container::read::spool::SourceReader;
use tet_container::{Error, Format, Note, Result, chunking};

/// The most fields of structures of all arrays of a file: headers of many fields may be compressed to few bytes.
pub(crate) const FIELDS_MAX: usize = 1 << 20;

/// Opens the file at `path`: one dataset, named after the file.
pub(crate) fn open(path: &Path, source: Source, options: &OpenOptions) -> Result<Opened> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let header = Header::read(&mut SourceReader::new(&source, 0))
        .and_then(|header| header.check_len(source.len()).map(|()| header))
        .map_err(|fault| Error::Array { array: name.clone(), fault })?;
    let notes = notes(&name, &header);
    let place = Place { source: source.clone(), at: 0, seal: None };
    let (whole, parts) = dataset(name, &header, place, options);
    let catalog = Catalog::new(source, Format::NPY.name(), vec![whole]);
    let catalog = catalog.with_parts(parts);
    Ok(Opened { notes, ..Opened::new(Format::NPY, catalog) })
}

/// The array as a dataset, and the bytes of texts and the fields of structures as parts of it; the header's lengths were
/// checked.
pub fn dataset(
    name: String,
    header: &Header,
    place: Place,
    options: &OpenOptions,
) -> (Dataset, Vec<Dataset>) {
    let (dtype, swapped, kind) = match &header.elements {
        Elements::Structures(fields) => return structures(name, header, fields, place),
        Elements::Numbers(descr) => (descr.dtype, descr.swapped(), None),
        Elements::Texts(text) => (DType::UInt8, None, Some(*text)),
    };
    let shape: Vec<u64> = header.shape.iter().copied().chain(kind.map(|it| it.size)).collect();
    let source = place.source.clone();
    let start = place.at.saturating_add(header.header_len);
    let stored = Span::new(start, header.elements_len);
    // Texts in column-major order are not turned around.
    let is_odd = kind.is_some() && is_turned(header);
    let stored = stored.filter(|_| too_deep(&shape).is_none() && !is_odd);
    let chunks = stored.and_then(|stored| match is_turned(header) {
        true => columns(header, stored, swapped, place, options),
        false => rows(&shape, dtype, stored, swapped, place),
    });
    let fault = chunks.is_none().then(|| {
        let limit = tet_query::Error::Limit {
            what: "bytes of an array",
            wanted: u64::MAX,
            limit: i64::MAX.unsigned_abs(),
        };
        let odd = || tet_query::Error::Unsupported {
            why: format!("{name:?} cannot be read: it has texts in column-major order"),
        };
        let odd = is_odd.then(odd).unwrap_or(limit);
        Arc::new(too_deep(&shape).unwrap_or(odd))
    });
    let (source, grid, chunks) = chunks.unwrap_or_else(|| {
        let (grid, chunks) = unread(&shape, None);
        (source, grid, chunks)
    });
    let units = if let Elements::Numbers(descr) = header.elements { descr.units } else { None };
    let attrs = times(units);
    let read = Dataset { attrs, fault, ..Dataset::new(source, name, dtype, grid, chunks) };
    let Some(text) = kind else { return (read, Vec::new()) };
    let texts = Dataset::of_texts(read.clone(), Arc::new(text.kind));
    let part = Dataset { name: format!("{}.bytes", read.name), ..read };
    let parts = texts.is_text().then_some(part).into_iter().collect();
    (texts, parts)
}

/// An array that cannot be read, and why.
pub fn unreadable(name: String, fault: &NpyFault, place: Place) -> Dataset {
    let (dtype_name, shape) = match fault {
        NpyFault::Dtype { name, shape, .. } => (name.clone(), shape.as_slice()),
        _ => ("?".to_owned(), &[][..]),
    };
    let why = fault.to_string();
    let why = match fault {
        NpyFault::Dtype { .. } | NpyFault::Descr { .. } | NpyFault::Version { .. } => {
            tet_query::Error::Unsupported { why }
        }
        _ => tet_query::Error::Malformed { why },
    };
    let (grid, chunks) = unread(shape, place.seal);
    let has_shape = matches!(fault, NpyFault::Dtype { .. });
    let fault = Some(Arc::new(why));
    Dataset { fault, has_shape, ..Dataset::unknown(place.source, name, dtype_name, grid, chunks) }
}

/// Structures, and their fields.
fn structures(
    name: String,
    header: &Header,
    structure: &Structure,
    place: Place,
) -> (Dataset, Vec<Dataset>) {
    let start = place.at.saturating_add(header.header_len);
    let span = Span::new(start, header.elements_len).filter(|_| !is_turned(header));
    let Some(span) = span else {
        let why = format!("{name:?} cannot be read: it has structures in column-major order");
        let (grid, chunks) = unread(&header.shape, place.seal);
        let of = structure.type_name();
        let whole = Dataset::unknown(place.source, name, of, grid, chunks);
        let fault = Some(Arc::new(tet_query::Error::Unsupported { why }));
        return (Dataset { fault, ..whole }, Vec::new());
    };
    let (source, sealed) = (place.source, place.seal.map(Arc::new));
    let stored = Stored { source, shape: &header.shape, span, size: structure.size, sealed };
    stored.read(name, structure)
}

/// Structures of a file that has more fields than are read.
pub(crate) fn without_fields(name: String, header: &Header, place: Place) -> Dataset {
    let why = format!("{name:?} cannot be read: the structures of this file have too many fields");
    let (grid, chunks) = unread(&header.shape, place.seal);
    let whole = Dataset::unknown(place.source, name, "compound", grid, chunks);
    Dataset { fault: Some(Arc::new(tet_query::Error::Unsupported { why })), ..whole }
}

/// Which integers are times.
pub fn notes(name: &str, header: &Header) -> Vec<Note> {
    let mut notes = Vec::new();
    match &header.elements {
        Elements::Numbers(descr) => note(name.to_owned(), *descr, &mut notes),
        Elements::Structures(structure) => note_fields(name, structure, &mut notes),
        Elements::Texts(_) => {}
    }
    notes
}

fn note_fields(name: &str, structure: &Structure, notes: &mut Vec<Note>) {
    for field in &structure.fields {
        let name = format!("{name}.{}", field.name);
        match &field.kind {
            FieldKind::Number(descr) => note(name, *descr, notes),
            FieldKind::Structure(inner) if field.axes.is_empty() => {
                note_fields(&name, inner, notes);
            }
            _ => {}
        }
    }
}

fn note(dataset: String, descr: Descr, notes: &mut Vec<Note>) {
    let units = descr.units.map(str::to_owned);
    notes.extend(units.map(|units| Note::Times { dataset, units }));
}

/// Where chunks are, how they cover the array, and their table.
type Chunks = (Source, Grid, Arc<dyn ChunkTable>);

/// The chunks of elements in row-major order.
fn rows(
    shape: &[u64],
    dtype: DType,
    stored: Span,
    swapped: Option<Swapped>,
    place: Place,
) -> Option<Chunks> {
    let size = dtype.size().unwrap_or(1);
    let chunk_shape = chunking::auto(shape, size);
    let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape))?;
    let slabs = Slabs::new(grid.clone(), size.saturating_mul(8), stored);
    let slabs = slabs.swapped(swapped).sealed(place.seal);
    Some((place.source, grid, Arc::new(slabs)))
}

/// The chunks of elements in column-major order.
fn columns(
    header: &Header,
    stored: Span,
    swapped: Option<Swapped>,
    place: Place,
    options: &OpenOptions,
) -> Option<Chunks> {
    let Elements::Numbers(descr) = header.elements else { return None };
    let size = u64::try_from(descr.size).unwrap_or(u64::MAX);
    let columns = Columns::new(&header.shape, size, stored, swapped, place)?;
    let columns = if options.in_order { columns.in_rows(options) } else { columns };
    Some((columns.source().clone(), columns.grid().clone(), Arc::new(columns)))
}

/// Whether the elements are in column-major order (Fortran order).
fn is_turned(header: &Header) -> bool {
    // Along one axis both orders are the same.
    let is_line = header.shape.iter().filter(|&&extent| extent != 1).count() <= 1;
    header.order == ElementOrder::ColumnMajor && !is_line
}
