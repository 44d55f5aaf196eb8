//! A `.npy` file read in place: one dataset of raw chunks, one after the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_codec::{Decode, Raw};
use tet_format::{DType, Grid, Shape, Span, planted};
use tet_io::Source;
use tet_query::{Catalog, ChunkPlace, ChunkTable, Dataset};

use crate::import::{ByteOrder, ElementOrder, Header, SourceReader};
use crate::sniff::Format;
use crate::{Error, Result, chunking};

/// The catalog of a `.npy` file whose elements lie as `.tet` would store them.
pub(super) fn catalog(path: &Path, source: Source) -> Result<Catalog> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let header = Header::read(&mut SourceReader::buffered(&source, 0))
        .and_then(|header| header.check_len(source.len()).map(|()| header))
        .map_err(|fault| Error::Array { array: name.clone(), fault })?;
    let refused = |why| Error::NotInPlace { path: path.to_path_buf(), why };
    if let Some(why) = turned(&header) {
        return Err(refused(why));
    }
    let dtype = DType::from_name(header.descr.name)
        .ok_or_else(|| refused("its dtype is none of a .tet file"))?;
    let element_size = u64::try_from(header.descr.size).unwrap_or(u64::MAX);
    let chunk_shape = chunking::auto(&header.shape, element_size);
    let grid = Grid::new(Shape::from(header.shape), Shape::from(chunk_shape))
        .ok_or_else(|| refused("its shape is none of a .tet file"))?;
    let slabs = Slabs {
        grid: grid.clone(),
        element_size,
        offset: header.header_len,
        codecs: [Arc::new(Raw)],
    };
    let dataset = Dataset {
        index: 0,
        name,
        dtype: Some(dtype),
        dtype_name: dtype.name().to_owned(),
        grid,
        dims: Vec::new(),
        coords: BTreeMap::new(),
        attrs: BTreeMap::new(),
        fault: None,
        chunks: Arc::new(slabs),
    };
    Ok(Catalog::new(source, Format::Npy.name(), vec![dataset]))
}

/// What keeps the elements from being read where they lie, if anything does.
fn turned(header: &Header) -> Option<&'static str> {
    // Along one axis both orders are the same.
    let is_line = header.shape.iter().filter(|&&extent| extent != 1).count() <= 1;
    let is_turned = header.order == ElementOrder::ColumnMajor && !is_line;
    let by_column = is_turned && !planted::is("column_order");
    match (header.descr.order, by_column) {
        (ByteOrder::Little, false) => None,
        (ByteOrder::Big, false) => Some("its numbers are big-endian"),
        (ByteOrder::Little, true) => Some("its elements lie in column order (Fortran order)"),
        (ByteOrder::Big, true) => {
            Some("its numbers are big-endian and lie in column order (Fortran order)")
        }
    }
}

/// Chunks that are slabs of one row-major array, and so follow one another without a gap.
struct Slabs {
    grid: Grid,
    element_size: u64,
    offset: u64,
    codecs: [Arc<dyn Decode>; 1],
}

impl ChunkTable for Slabs {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let mut coord = vec![0; self.grid.rank()];
        for &linear in linear {
            self.grid.coord(linear, &mut coord);
            // The whole array is inside the file, so no position in it wraps.
            let shape_and_chunk = self.grid.shape().iter().zip(self.grid.chunk_shape().iter());
            let first = coord
                .iter()
                .zip(shape_and_chunk)
                .fold(0, |at, (coord, (extent, chunk))| at * extent + coord * chunk);
            let count = self.grid.chunk_elements(&coord).unwrap_or(0);
            let decoded_len = count * self.element_size;
            let offset = self.offset + first * self.element_size;
            let stored = Span::new(offset, decoded_len).ok_or(tet_query::Error::Limit {
                what: "file offset",
                wanted: u64::MAX,
                limit: u64::MAX,
            })?;
            out.push(ChunkPlace { stored, decoded_len, codec: 0, row: 0 });
        }
        Ok(())
    }

    fn codecs(&self) -> &[Arc<dyn Decode>] {
        &self.codecs
    }
}
