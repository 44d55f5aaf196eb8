//! S3 and S4, little of a large file; P1 and P2, plans; O1, opening.

use std::collections::BTreeSet;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use tet_format::DType;
use tet_io::{ReadAt, Source};
use tet_query::{Axis, AxisSlice, Coalesce, Execution, Hyperslab, Op, Reduction, plan};

use super::{Measured, all_threads, file_len, slab};
use crate::data::{self, Io, ROW_COUNT, ROW_ELEMENTS, SHAPE, TILED};
use crate::measure::{Rounds, times};
use crate::report::{Figure, ReportRow};

const PAGE_LEN: u64 = 4096;
/// Elements of the file with the long index.
const ROW_SHAPE: [u64; 1] = [ROW_COUNT * ROW_ELEMENTS];

/// 64 elements from the middle of the file with the long index, not on a chunk's boundary.
fn middle() -> Result<Hyperslab> {
    let start = ROW_SHAPE[0] / 2 + 5;
    slab(&[(start, start + 64, 1)], &ROW_SHAPE)
}

fn read_middle(source: Source) -> Result<()> {
    let catalog = data::catalog_of(source)?;
    let dataset = data::first(&catalog)?;
    black_box(dataset.read(&middle()?, &all_threads())?);
    Ok(())
}

/// A file that writes down which pages were read.
#[derive(Debug)]
struct Counted {
    file: File,
    len: u64,
    pages: Mutex<BTreeSet<u64>>,
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        let pages = offset / PAGE_LEN..end.div_ceil(PAGE_LEN);
        self.pages.lock().unwrap_or_else(|poison| poison.into_inner()).extend(pages);
        self.file.read_exact_at(out, offset)
    }
}

/// S3: 64 elements out of a file of 1,000,000 rows, opening included.
pub(super) fn window(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.rows()?;
    let mut rows = Vec::new();
    for (io, name) in [(Io::Mapped, "mapped"), (Io::Pread, "pread")] {
        let rounds = times(run.rounds, || read_middle(data::source(&path, io)?))?;
        let work = format!("open 1,000,000 rows and read 64 elements, {name}");
        rows.push(ReportRow::new("S3", work, "", Figure::Microseconds, rounds, 200.0));
    }
    let counted = Arc::new(Counted {
        file: File::open(&path)?,
        len: file_len(&path)?,
        pages: Mutex::default(),
    });
    read_middle(Source::from_reader(counted.clone()))?;
    let touched = counted.pages.lock().unwrap_or_else(|poison| poison.into_inner()).len();
    let work = "pages touched by it, of all regions";
    let rounds = Rounds::once(touched as f64);
    rows.push(ReportRow::new("S3", work, "", Figure::Count, rounds, 10.0));
    Ok(rows)
}

/// S4: one point, 10,000 times through an open file.
pub(super) fn points(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    const POINTS: u64 = 10_000;
    let path = run.folder.array(DType::Float32, "tiled", TILED)?;
    let mut rows = Vec::new();
    for (io, name) in [(Io::Mapped, "mapped"), (Io::Pread, "pread")] {
        let catalog = data::catalog(&path, io)?;
        let dataset = data::first(&catalog)?;
        let how = all_threads();
        let slabs: Option<Vec<Hyperslab>> = (0..POINTS)
            .map(|i| {
                let at = |i: u64, extent: u64| {
                    let start = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % extent;
                    AxisSlice { start, stop: start + 1, step: 1, axis: Axis::Dropped }
                };
                let axes = SHAPE.iter().zip(0..).map(|(&extent, axis)| at(i * 3 + axis, extent));
                Hyperslab::new(axes.collect(), &SHAPE)
            })
            .collect();
        let slabs = slabs.unwrap_or_default();
        let all = times(run.rounds, || {
            let session = dataset.session();
            for slab in &slabs {
                black_box(session.read(slab, &how)?);
            }
            Ok(session.finish()?)
        })?;
        let rounds = all.each(POINTS as f64);
        let work = format!("one point through an open file, {name}");
        rows.push(ReportRow::new("S4", work, "", Figure::Microseconds, rounds, 2.0));
    }
    Ok(rows)
}

/// P1: plans that touch all, and few, of 1,000,000 chunks.
pub(super) fn plans(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let catalog = data::catalog(&run.folder.rows()?, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let time = |count: u64| {
        let from = (ROW_COUNT - count) / 2 * ROW_ELEMENTS;
        let slab = slab(&[(from, from + count * ROW_ELEMENTS, 1)], &ROW_SHAPE)?;
        times(run.rounds, || {
            black_box(plan(dataset, &slab, Coalesce::DEFAULT)?);
            Ok(())
        })
    };
    let row = |count: u64, target: f64| {
        let work = format!("plan {count} of {ROW_COUNT} chunks");
        Ok(ReportRow::new("P1", work, "", Figure::Microseconds, time(count)?, target))
    };
    // O(touched): a hundredth of the chunks in a hundredth of the time.
    vec![(ROW_COUNT, 200_000.0), (ROW_COUNT / 100, 2_000.0), (100, 100.0)]
        .into_iter()
        .map(|(count, target)| row(count, target))
        .collect()
}

/// P2: the runs of a full scan of a packed file leave nothing out between its first byte and its
/// last: one that begins where another ended does not count.
pub(super) fn runs(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.array(DType::Float32, "tiled", TILED)?;
    let catalog = data::catalog(&path, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let (slab, sum) = (Hyperslab::whole(&SHAPE), Reduction::all(Op::Sum));
    let mut runs = Vec::new();
    let visit = &mut |run| runs.push(run);
    dataset.reduce_runs(&slab, &sum, &Execution::default(), visit)?;
    runs.sort_unstable();
    let gaps = runs.windows(2).filter(|pair| pair[0].span.end() != pair[1].span.start()).count();
    let rounds = Rounds::once(1.0 + gaps as f64);
    Ok(vec![ReportRow::new("P2", "runs of a full scan", "", Figure::Count, rounds, 1.0)])
}

/// O1: opening and listing.
pub(super) fn opens(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let files =
        [("10,000 datasets", run.folder.datasets()?), ("1,000,000 rows", run.folder.rows()?)];
    let row = |(name, path): &(&str, std::path::PathBuf)| {
        let rounds = times(run.rounds, || {
            let catalog = data::catalog(path, Io::Pread)?;
            let name_len: usize = catalog.datasets().iter().map(|d| d.name.len()).sum();
            black_box(name_len);
            Ok(())
        })?;
        let work = format!("open and list {name}");
        Ok(ReportRow::new("O1", work, "", Figure::Microseconds, rounds, 5000.0))
    };
    files.iter().map(row).collect()
}
