//! The chunks of a lazy array, for the writer of `.tet` files.

use std::path::Path;

use tet_file::write::{ChunkAt, Writer};
use tet_format::write::DatasetSpec;
use tet_io::Progress;
use tet_query::{Execution, LazyArray};

use crate::Result;
use tet_container::write::bands::Bands;

/// The chunks of a lazy array as the dataset that `spec` declares has them; scratch files are in this folder.
pub(crate) fn bands<'l>(
    lazy: &'l LazyArray,
    spec: &DatasetSpec,
    how: &Execution,
    scratch: Option<&Path>,
) -> Result<Bands<'l>> {
    // Bands are parts, none of which is the whole.
    let reading = how.silent();
    lazy.check_seal(&reading)?;
    Bands::new(lazy, spec.chunk_shape.clone(), spec.dtype, &reading, scratch)
}

/// Writes chunks as dataset `id`.
pub(crate) fn write(
    mut bands: Bands<'_>,
    id: usize,
    writer: &mut Writer,
    progress: &Progress,
) -> Result<()> {
    // The writer hands on an error of ours as a box; it is kept here as it was.
    let mut fault = None;
    let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
        bands.fill(chunk.coord, chunk.extents, out).map_err(|error| {
            fault = Some(error);
            "the input failed".into()
        })
    };
    let written = writer.write_dataset(id, fill, progress);
    match fault {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}
