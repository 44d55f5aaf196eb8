//! A `.npy` file read in place: one dataset of raw chunks, one after the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_format::{DType, Grid, Shape, Span, planted};
use tet_io::Source;
use tet_query::{AttrText, Catalog, ChunkTable, Dataset};

use super::columns::Columns;
use super::slabs::Slabs;
use crate::import::{ElementOrder, FILL_KEY, Header, NOT_A_TIME, SourceReader, UNITS_KEY};
use crate::sniff::Format;
use crate::{Error, Result, chunking};

/// The catalog of a `.npy` file.
pub(super) fn catalog(path: &Path, source: Source) -> Result<Catalog> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let header = Header::read(&mut SourceReader::buffered(&source, 0))
        .and_then(|header| header.check_len(source.len()).map(|()| header))
        .map_err(|fault| Error::Array { array: name.clone(), fault })?;
    let refused = |why| Error::NotInPlace { path: path.to_path_buf(), why };
    let dtype = DType::from_name(header.descr.name)
        .ok_or_else(|| refused("its dtype is none of a .tet file"))?;
    let stored = header.elements_len;
    let stored = Span::new(header.header_len, stored).ok_or_else(|| refused("it has no end"))?;
    let chunks = if is_turned(&header) { columns(&header, stored) } else { rows(&header, stored) };
    let (grid, chunks) = chunks.ok_or_else(|| refused("its shape is none of a .tet file"))?;
    let dataset = Dataset {
        source: None,
        index: 0,
        name,
        dtype: Some(dtype),
        dtype_name: dtype.name().to_owned(),
        grid,
        dims: Vec::new(),
        coords: BTreeMap::new(),
        attrs: attrs(&header),
        fault: None,
        chunks,
    };
    Ok(Catalog::new(source, Format::Npy.name(), vec![dataset]))
}

/// What integers that are times count.
fn attrs(header: &Header) -> BTreeMap<String, AttrText> {
    let units = header.descr.units.into_iter();
    let attrs = units.flat_map(|units| [(UNITS_KEY, units), (FILL_KEY, NOT_A_TIME)]);
    attrs.map(|(key, value)| (key.to_owned(), AttrText::Text(value.to_owned()))).collect()
}

type Chunks = (Grid, Arc<dyn ChunkTable>);

/// The chunks of elements that lie as `.tet` would store them.
fn rows(header: &Header, stored: Span) -> Option<Chunks> {
    let size = u64::try_from(header.descr.size).unwrap_or(u64::MAX);
    let chunk_shape = chunking::auto(&header.shape, size);
    let grid = Grid::new(Shape::from(&*header.shape), Shape::from(chunk_shape))?;
    let mut slabs = Slabs::new(grid.clone(), size.saturating_mul(8), stored);
    if let Some(swapped) = header.descr.swapped() {
        slabs = slabs.decoded_by(Arc::new(swapped));
    }
    Some((grid, Arc::new(slabs)))
}

/// The chunks of elements whose columns lie one after the other.
fn columns(header: &Header, stored: Span) -> Option<Chunks> {
    let size = u64::try_from(header.descr.size).unwrap_or(u64::MAX);
    let columns = Columns::new(&header.shape, size, stored, header.descr.swapped());
    columns.map(|(grid, columns)| (grid, Arc::new(columns) as Arc<dyn ChunkTable>))
}

/// Whether the elements lie in column order (Fortran order).
fn is_turned(header: &Header) -> bool {
    // Along one axis both orders are the same.
    let is_line = header.shape.iter().filter(|&&extent| extent != 1).count() <= 1;
    header.order == ElementOrder::ColumnMajor && !is_line && !planted::is("column_order")
}
