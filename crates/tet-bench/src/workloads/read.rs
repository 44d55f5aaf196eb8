//! S1, contiguous slabs, and S2, boxes that cut through tiles.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result};
use tet_format::DType;
use tet_query::{AxisSlice, Hyperslab};

use super::{Measured, all_threads, slab};
use crate::data::{self, CLIPPED, Io, SHAPE, SLAB, TILED};
use crate::limit::{Copy, Scan};
use crate::measure::{Rounds, paired};
use crate::report::{Figure, ReportRow};

fn byte_len(slab: &Hyperslab, element_size: usize) -> usize {
    slab.counts().iter().product::<u64>() as usize * element_size
}

/// Reads into a warm buffer, compared with a copy of as many bytes.
fn into_warm(run: Measured<'_>, path: &Path, io: Io, slab: &Hyperslab) -> Result<Rounds> {
    let catalog = data::catalog(path, io)?;
    let dataset = data::first(&catalog)?;
    let len = byte_len(slab, 4);
    let mut out = vec![1_u8; len];
    let mapped = data::source(path, Io::Mapped)?;
    let view = mapped.view().context("the lease was broken")?;
    let from = &view.whole()[view.whole().len() - len..];
    let mut to = vec![1_u8; len];
    let copy = Copy::fastest(from, &mut to);
    let limit = || {
        copy.run(from, &mut to);
        Ok(())
    };
    let how = all_threads();
    paired(run.rounds, limit, || {
        dataset.read_into(slab, &how, &mut out)?;
        black_box(&out);
        Ok(())
    })
}

/// S1: one contiguous slab.
pub(super) fn slabs(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.array(DType::Float32, "slab", SLAB)?;
    let slab = slab(&[(32, 96, 1), (0, SHAPE[1], 1), (0, SHAPE[2], 1)], &SHAPE)?;
    let mut rows = Vec::new();
    for (io, name, target) in [(Io::Mapped, "mapped", 0.9), (Io::Pread, "pread", 0.6)] {
        let rounds = into_warm(run, &path, io, &slab)?;
        let work = format!("slab of 128 MiB into a warm buffer, {name}");
        rows.push(ReportRow::new("S1", work, "copy", Figure::Ratio, rounds, target));
    }
    let catalog = data::catalog(&path, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let view = catalog.source().view().context("the lease was broken")?;
    let len = byte_len(&slab, 4);
    let from = &view.whole()[view.whole().len() - len..];
    let copy = Copy::fastest(from, &mut vec![0; len]);
    let limit = || {
        let mut to = vec![0; len];
        copy.run(from, &mut to);
        Ok(())
    };
    let how = all_threads();
    let rounds = paired(run.rounds, limit, || {
        black_box(dataset.read(&slab, &how)?);
        Ok(())
    })?;
    let work = "slab of 128 MiB into a new array, mapped";
    rows.push(ReportRow::new("S1", work, "copy", Figure::Ratio, rounds, 0.8));
    Ok(rows)
}

/// S2: boxes out of tiles, step 1, outer steps, inner steps.
pub(super) fn tiles(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let boxes = [
        ("step 1", slab(&[(5, 100, 1), (37, 450, 1), (100, 900, 1)], &SHAPE)?),
        ("outer steps", slab(&[(0, 128, 2), (1, 512, 3), (100, 900, 1)], &SHAPE)?),
        ("inner step 2", slab(&[(5, 100, 1), (37, 450, 1), (100, 900, 2)], &SHAPE)?),
    ];
    let wide = slab(&[(5, 100, 1), (37, 450, 1), (100, 900, 8)], &SHAPE)?;
    let mut rows = Vec::new();
    for (layout, chunk_shape) in [("tiled", TILED), ("clipped", CLIPPED)] {
        let path = run.folder.array(DType::Float32, layout, chunk_shape)?;
        for (name, slab) in &boxes {
            let rounds = into_warm(run, &path, Io::Mapped, slab)?;
            let work = format!("box of float32 {layout}, {name}");
            rows.push(ReportRow::new("S2", work, "copy", Figure::Ratio, rounds, 0.5));
        }
        let rounds = lines(run, &path, &wide)?;
        let work = format!("box of float32 {layout}, inner step 8");
        rows.push(ReportRow::new("S2", work, "scan", Figure::Ratio, rounds, 0.5));
    }
    Ok(rows)
}

/// Reads with a large inner step, compared with a scan of all bytes from the first to the last.
fn lines(run: Measured<'_>, path: &Path, slab: &Hyperslab) -> Result<Rounds> {
    let catalog = data::catalog(path, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let covered: u64 =
        slab.axes().iter().map(|slice: &AxisSlice| slice.stop - slice.start).product();
    let view = catalog.source().view().context("the lease was broken")?;
    let touched = &view.whole()[..covered as usize * 4];
    let scan = Scan::fastest(touched);
    let limit = || {
        scan.run(touched);
        Ok(())
    };
    let mut out = vec![1_u8; byte_len(slab, 4)];
    let how = all_threads();
    paired(run.rounds, limit, || {
        dataset.read_into(slab, &how, &mut out)?;
        black_box(&out);
        Ok(())
    })
}
