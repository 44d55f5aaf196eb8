//! A1, sums of files of other formats, A2, means along axes of them, and A3, writing them.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tet_convert::{ChunkChoice, ConvertOptions, Io, OpenOptions, PayloadCodec, convert, open};
use tet_format::DType;
use tet_io::Overwrite;
use tet_query::{ChunkPlace, Dataset, Execution, Hyperslab, Op, Reduction};

use super::{Measured, all_threads, file_len};
use crate::data::SLAB;
use crate::limit::{self, Scan};
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// How elements are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// As they are.
    Raw,
    /// Shuffled and deflated.
    Deflate,
    /// As zstd frames.
    Zstd,
}

/// Files with compressed chunks of which both the places and the bytes are in one file.
const PACKED: [(&str, Stored); 6] = [
    ("h5", Stored::Deflate),
    ("nc", Stored::Deflate),
    ("zarr.zip", Stored::Deflate),
    ("h5", Stored::Zstd),
    ("nc", Stored::Zstd),
    ("zarr.zip", Stored::Zstd),
];

/// Files of raw elements.
const RAW: [&str; 6] = ["h5", "nc", "nc3", "zarr.zip", "zarr", "npy"];

/// A file of the same elements in another format, made when it is not there.
fn made(run: Measured<'_>, suffix: &str, stored: Stored) -> Result<PathBuf> {
    let from = match stored {
        Stored::Raw => run.folder.array(DType::Float32, "slab", SLAB)?,
        Stored::Deflate | Stored::Zstd => run.folder.zstd(DType::Float32, "slab", SLAB)?,
    };
    let name = match stored {
        Stored::Raw => "raw",
        Stored::Deflate => "deflate",
        Stored::Zstd => "zstd",
    };
    let path = run.folder.scratch(&format!("float32-{name}.{suffix}"));
    if !path.exists() {
        convert(&from, &path, &how(suffix, stored))?;
    }
    Ok(path)
}

fn how(suffix: &str, stored: Stored) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.overwrite = Overwrite::Replace;
    if matches!(suffix, "h5" | "nc" | "zarr" | "zarr.zip") {
        options.tet.chunks = ChunkChoice::Shape(SLAB.to_vec()).into();
    }
    options.storage.codec = Some(match stored {
        Stored::Raw => PayloadCodec::Raw,
        Stored::Deflate => PayloadCodec::Gzip,
        Stored::Zstd => PayloadCodec::Zstd,
    });
    if matches!(stored, Stored::Deflate) {
        options.storage.level = Some(4);
    }
    options
}

/// An open file of one array, and how it is asked.
struct Opened {
    dataset: Dataset,
    how: Execution,
}

impl Opened {
    fn open(path: &Path, io: Io) -> Result<Opened> {
        let mut options = OpenOptions::default();
        options.io = io;
        let opened = open(path, &options).with_context(|| path.display().to_string())?;
        let mut datasets = opened.catalog.datasets().iter();
        let dataset = datasets.find(|it| it.shape().len() == 3).context("the file has no array")?;
        Ok(Opened { dataset: dataset.clone(), how: all_threads() })
    }

    fn reduce(&self, reduction: &Reduction) -> Result<()> {
        let slab = Hyperslab::whole(self.dataset.shape());
        black_box(self.dataset.reduce(&slab, reduction, &self.how)?);
        Ok(())
    }

    fn places(&self) -> Result<Vec<ChunkPlace>> {
        let count = self.dataset.grid.chunk_count();
        let mut places = Vec::new();
        self.dataset.chunks.locate(&(0..count).collect::<Vec<_>>(), &mut places)?;
        Ok(places)
    }
}

/// A1: the sum of all elements, raw and compressed.
pub(super) fn sums(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    let sum = Reduction::all(Op::Sum);
    for suffix in RAW {
        let path = made(run, suffix, Stored::Raw)?;
        if path.is_file() {
            let opened = Opened::open(&path, Io::Mmap)?;
            let view = opened.dataset.source.view().context("the lease was broken")?;
            let scan = Scan::fastest(view.whole());
            let limit = || {
                scan.run(view.whole());
                Ok(())
            };
            let rounds = paired(run.rounds, limit, || opened.reduce(&sum))?;
            let work = format!("sum of .{suffix}, raw, kept map");
            rows.push(ReportRow::new("A1", work, "scan", Figure::Ratio, rounds, 0.85));
        }
        // A folder is as long as its file in a zip archive.
        let archive =
            if path.is_file() { path.clone() } else { made(run, "zarr.zip", Stored::Raw)? };
        let (file, len) = (std::fs::File::open(&archive)?, file_len(&archive)?);
        let opened = Opened::open(&path, Io::Pread)?;
        let rounds = paired(run.rounds, || limit::read(&file, len), || opened.reduce(&sum))?;
        let work = format!("sum of .{suffix}, raw, pread");
        rows.push(ReportRow::new("A1", work, "read", Figure::Ratio, rounds, 0.75));
    }
    for (suffix, stored) in PACKED {
        rows.push(packed(run, suffix, stored)?);
    }
    Ok(rows)
}

fn packed(run: Measured<'_>, suffix: &str, stored: Stored) -> Result<ReportRow> {
    let path = made(run, suffix, stored)?;
    let opened = Opened::open(&path, Io::Pread)?;
    let file = std::fs::read(&path)?;
    let chunk = |place: &ChunkPlace| {
        let (start, end) = (place.stored.start() as usize, place.stored.end() as usize);
        let bytes = file.get(start..end).ok_or_else(|| anyhow!("a chunk is not in the file"))?;
        Ok((bytes, place.decoded_len as usize))
    };
    let chunks = opened.places()?.iter().map(chunk).collect::<Result<Vec<_>>>()?;
    let sum = Reduction::all(Op::Sum);
    let is_gzip = suffix == "zarr.zip";
    let (name, limit): (_, &dyn Fn() -> Result<()>) = match stored {
        Stored::Zstd => ("unzstd", &|| limit::decompress(&chunks)),
        _ => ("inflate", &|| limit::inflate(&chunks, is_gzip)),
    };
    let rounds = paired(run.rounds, limit, || opened.reduce(&sum))?;
    let filters = match (stored, is_gzip) {
        (Stored::Zstd, _) => "zstd",
        (_, true) => "gzip",
        (_, false) => "shuffle + deflate",
    };
    let work = format!("sum of .{suffix}, {filters}");
    Ok(ReportRow::new("A1", work, name, Figure::Ratio, rounds, 0.9))
}

/// A2: the mean along each axis of raw elements.
pub(super) fn means(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    for suffix in ["h5", "nc3", "zarr.zip"] {
        let opened = Opened::open(&made(run, suffix, Stored::Raw)?, Io::Mmap)?;
        let view = opened.dataset.source.view().context("the lease was broken")?;
        let scan = Scan::fastest(view.whole());
        for axis in 0..3 {
            let limit = || {
                scan.run(view.whole());
                Ok(())
            };
            let mean = Reduction::along(Op::Mean, [axis]);
            let rounds = paired(run.rounds, limit, || opened.reduce(&mean))?;
            let work = format!("mean of .{suffix} along [{axis}]");
            rows.push(ReportRow::new("A2", work, "scan", Figure::Ratio, rounds, 0.6));
        }
    }
    Ok(rows)
}

/// A3: 256 MiB out of a raw `.tet` file, synced.
pub(super) fn writing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let from = run.folder.array(DType::Float32, "slab", SLAB)?;
    let bytes = std::fs::read(&from)?;
    let plain = run.folder.scratch("a3.bin");
    let limit = || {
        let _ = std::fs::remove_file(&plain);
        limit::write(&plain, [&bytes[..]])
    };
    let mut rows = Vec::new();
    for suffix in ["h5", "nc", "nc3", "zarr.zip", "zarr"] {
        let path = run.folder.scratch(&format!("a3.{suffix}"));
        let options = how(suffix, Stored::Raw);
        let work = || {
            convert(&from, &path, &options)?;
            Ok(())
        };
        let rounds = paired(run.rounds, limit, work)?;
        let _ = (std::fs::remove_file(&path), std::fs::remove_dir_all(&path));
        let work = format!("256 MiB of .tet to .{suffix}, raw, synced");
        rows.push(ReportRow::new("A3", work, "write", Figure::Ratio, rounds, 0.9));
    }
    std::fs::remove_file(&plain)?;
    Ok(rows)
}
