//! R4, reductions of everything out of zstd chunks.

use anyhow::{Context, Result, anyhow};
use tet_format::DType;
use tet_query::{Catalog, ChunkPlace, Execution, Op, Reduction};

use super::mapped::reduce_with;
use super::reduce::{DTYPES, OPS};
use super::{LAYOUTS, Measured, all_threads, without_digests};
use crate::data::{self, Io};
use crate::limit;
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// Where the chunks of the first dataset lie.
fn places(catalog: &Catalog) -> Result<Vec<ChunkPlace>> {
    let dataset = data::first(catalog)?;
    let count = dataset.grid.chunk_count();
    let mut places = Vec::new();
    dataset.chunks.locate(&(0..count).collect::<Vec<_>>(), &mut places)?;
    Ok(places)
}

/// The frames in `file`, each with the length it decodes to.
fn frames<'a>(file: &'a [u8], places: &[ChunkPlace]) -> Result<Vec<(&'a [u8], usize)>> {
    let frame = |place: &ChunkPlace| {
        let (start, end) = (place.stored.start() as usize, place.stored.end() as usize);
        let bytes = file.get(start..end).ok_or_else(|| anyhow!("a chunk is not in the file"))?;
        Ok((bytes, place.decoded_len as usize))
    };
    places.iter().map(frame).collect()
}

/// R4: what R1 measures, of float32; of the others the sum of tiles, since decoding takes long.
pub(super) fn whole(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    for dtype in DTYPES {
        let is_first = dtype == DType::Float32;
        let layouts = if is_first { &LAYOUTS[..] } else { &LAYOUTS[1..] };
        let ops = if is_first { &OPS[..] } else { &[Op::Sum] };
        for &(layout, chunk_shape) in layouts {
            let path = run.folder.zstd(dtype, layout, chunk_shape)?;
            let catalog = data::catalog(&path, Io::Mapped)?;
            let view = catalog.source().view().context("the lease was broken")?;
            let frames = frames(view.whole(), &places(&catalog)?)?;
            let mut row = |op: Op, how: Execution, policy, target| {
                let reduction = Reduction::all(op);
                let work = || reduce_with(&catalog, &reduction, &how);
                let rounds = paired(run.rounds, || limit::decompress(&frames), work)?;
                let work = format!("{} of {} {layout}, zstd{policy}", op.name(), dtype.name());
                rows.push(ReportRow::new("R4", work, "unzstd", Figure::Ratio, rounds, target));
                anyhow::Ok(())
            };
            for &op in ops {
                row(op, without_digests(), "", 0.92)?;
            }
            row(Op::Sum, all_threads(), ", digests auto", 0.88)?;
        }
    }
    Ok(rows)
}
