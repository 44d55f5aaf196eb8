//! R1, reductions of everything, and R3, means along axes.

use std::path::Path;

use anyhow::{Context, Result};
use tet_format::DType;
use tet_query::{Op, Reduction};

use super::mapped::{MappedCatalog, reduce, reduce_with};
use super::{LAYOUTS, Measured, file_len, without_digests};
use crate::data::{self, Io, TILED};
use crate::limit::{self, Scan};
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// Element types that are measured.
pub(super) const DTYPES: [DType; 4] = [DType::Float32, DType::Int16, DType::Int64, DType::Float64];
/// `count` reads nothing and is measured apart.
pub(super) const OPS: [Op; 4] = [Op::Sum, Op::Mean, Op::Min, Op::Max];

/// R1: all reductions over all elements, slab and tiled, on kept and fresh maps and by reads.
pub(super) fn whole(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    for dtype in DTYPES {
        for (layout, chunk_shape) in LAYOUTS {
            let path = run.folder.array(dtype, layout, chunk_shape)?;
            let name = format!("{} {layout}", dtype.name());
            rows.extend(kept(run, &path, &name)?);
            if dtype == DType::Float32 {
                rows.extend(fresh(run, &path, &name)?);
                rows.extend(by_reads(run, &path, &name)?);
            }
        }
    }
    Ok(rows)
}

fn kept(run: Measured<'_>, path: &Path, name: &str) -> Result<Vec<ReportRow>> {
    let kept = MappedCatalog::open(path)?;
    let row = |op: Op| {
        let rounds = kept.beside_scan(run, &Reduction::all(op))?;
        let work = format!("{} of {name}, kept map", op.name());
        Ok(ReportRow::new("R1", work, "scan", Figure::Ratio, rounds, 0.85))
    };
    OPS.into_iter().map(row).collect()
}

fn fresh(run: Measured<'_>, path: &Path, name: &str) -> Result<Vec<ReportRow>> {
    let scan = Scan::fastest(data::source(path, Io::Mapped)?.view().context("no view")?.whole());
    let row = |op: Op| {
        let reduction = Reduction::all(op);
        let limit = || {
            let source = data::source(path, Io::Mapped)?;
            scan.run(source.view().context("the lease was broken")?.whole());
            Ok(())
        };
        let work = || reduce(&data::catalog(path, Io::Mapped)?, &reduction);
        let rounds = paired(run.rounds, limit, work)?;
        let work = format!("{} of {name}, fresh map", op.name());
        Ok(ReportRow::new("R1", work, "scan", Figure::Ratio, rounds, 0.65))
    };
    [Op::Sum, Op::Min].into_iter().map(row).collect()
}

fn by_reads(run: Measured<'_>, path: &Path, name: &str) -> Result<Vec<ReportRow>> {
    let catalog = data::catalog(path, Io::Pread)?;
    let file = std::fs::File::open(path)?;
    let len = file_len(path)?;
    let row = |op: Op| {
        let reduction = Reduction::all(op);
        let how = without_digests();
        let work = || reduce_with(&catalog, &reduction, &how);
        let rounds = paired(run.rounds, || limit::read(&file, len), work)?;
        let work = format!("{} of {name}, pread", op.name());
        Ok(ReportRow::new("R1", work, "read", Figure::Ratio, rounds, 0.75))
    };
    [Op::Sum, Op::Min].into_iter().map(row).collect()
}

/// R3: the mean along each axis and each two axes.
pub(super) fn axes(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.array(DType::Float32, "tiled", TILED)?;
    let kept = MappedCatalog::open(&path)?;
    let sets: [&[usize]; 6] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]];
    let row = |axes: &[usize]| {
        let rounds = kept.beside_scan(run, &Reduction::along(Op::Mean, axes))?;
        let work = format!("mean of float32 tiled along {axes:?}");
        Ok(ReportRow::new("R3", work, "scan", Figure::Ratio, rounds, 0.6))
    };
    sets.into_iter().map(row).collect()
}
