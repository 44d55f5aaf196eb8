//! D1, what digests cost those who read, and V1, a check of every byte.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Catalog, DigestPolicy, Execution, Op, Reduction};
use tet_verify::{Integrity, Level, VerifyOptions};

use super::mapped::reduce_with;
use super::{LAYOUTS, Measured, all_threads, file_len};
use crate::data::{self, Io, TILED};
use crate::limit::{self, DigestSum, Scan};
use crate::measure::{Rounds, paired};
use crate::report::{Figure, ReportRow};

/// The sum of all elements under a policy.
fn sum(catalog: &Catalog, digests: DigestPolicy) -> Result<()> {
    let how = Execution { digests, ..all_threads() };
    reduce_with(catalog, &Reduction::all(Op::Sum), &how)
}

/// The catalog of a file that has digests.
fn catalog(path: &Path, io: Io) -> Result<Catalog> {
    let catalog = data::catalog(path, io)?;
    let has_digests = data::first(&catalog)?.chunks.has_digests();
    ensure!(has_digests, "{} is of the time before digests: remove it", path.display());
    Ok(catalog)
}

/// D1: sums of raw chunks, mapped and by reads, and of zstd chunks.
pub(super) fn reading(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    for (layout, chunk_shape) in LAYOUTS {
        let path = run.folder.array(DType::Float32, layout, chunk_shape)?;
        rows.extend(mapped(run, &path, layout)?);
        rows.push(by_reads(run, &path, layout)?);
    }
    let path = run.folder.zstd(DType::Float32, "tiled", TILED)?;
    let rounds = beside_none(run, &catalog(&path, Io::Mapped)?)?;
    let work = "sum of float32 tiled, zstd, auto";
    rows.push(ReportRow::new("D1", work, "bare", Figure::Ratio, rounds, 0.95));
    Ok(rows)
}

/// The sum under `auto`, compared with the same without digests.
fn beside_none(run: Measured<'_>, catalog: &Catalog) -> Result<Rounds> {
    let limit = || sum(catalog, DigestPolicy::Never);
    paired(run.rounds, limit, || sum(catalog, DigestPolicy::Auto))
}

fn mapped(run: Measured<'_>, path: &Path, layout: &str) -> Result<Vec<ReportRow>> {
    let catalog = catalog(path, Io::Mapped)?;
    let view = catalog.source().view().context("the lease was broken")?;
    let (both, scan) = (DigestSum::fastest(view.whole()), Scan::fastest(view.whole()));
    let row = |digests, limit: (&'static str, &dyn Fn()), target| {
        let run_limit = || {
            limit.1();
            Ok(())
        };
        let rounds = paired(run.rounds, run_limit, || sum(&catalog, digests))?;
        let policy = format!("{digests:?}").to_lowercase();
        let work = format!("sum of float32 {layout}, kept map, {policy}");
        anyhow::Ok(ReportRow::new("D1", work, limit.0, Figure::Ratio, rounds, target))
    };
    let both = || {
        both.run(view.whole());
    };
    let scan = || {
        scan.run(view.whole());
    };
    Ok(vec![
        row(DigestPolicy::Auto, ("crc+sum", &both), 0.9)?,
        row(DigestPolicy::Always, ("scan", &scan), 0.4)?,
        row(DigestPolicy::Never, ("scan", &scan), 0.85)?,
    ])
}

fn by_reads(run: Measured<'_>, path: &Path, layout: &str) -> Result<ReportRow> {
    let catalog = catalog(path, Io::Pread)?;
    let (file, len) = (File::open(path)?, file_len(path)?);
    let work = || sum(&catalog, DigestPolicy::Auto);
    let rounds = paired(run.rounds, || limit::read(&file, len), work)?;
    let work = format!("sum of float32 {layout}, pread, auto");
    Ok(ReportRow::new("D1", work, "read", Figure::Ratio, rounds, 0.6))
}

/// V1: every payload compared with its digest.
pub(super) fn verifying(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let row = |(layout, chunk_shape)| {
        let path = run.folder.array(DType::Float32, layout, chunk_shape)?;
        let (file, len) = (File::open(&path)?, file_len(&path)?);
        let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
        let work = || {
            let report = tet_verify::verify(&Source::open(&path)?, &options)?;
            ensure!(report.integrity == Integrity::Verified, "{}", path.display());
            Ok(())
        };
        let rounds = paired(run.rounds, || limit::read(&file, len), work)?;
        let work = format!("verify --deep of float32 {layout}");
        Ok(ReportRow::new("V1", work, "read", Figure::Ratio, rounds, 0.6))
    };
    LAYOUTS.into_iter().map(row).collect()
}
