//! Z1, writing zTensor files, Z2, reading all of one, Z3, verifying, Z4, opening and finding, and
//! Z5, zstd.

use std::fs::File;
use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tet_convert::{OpenOptions, Opened};
use tet_io::Source;
use tet_io::publish::Sync;
use tet_query::{Catalog, Hyperslab, Op, Reduction};
use tet_ztensor::{
    Check, ChecksumChoice, EncodingChoice, Level, Limits, VerifyOptions, WriteOptions, ZTensorFile,
};

use super::{Measured, all_threads, file_len};
use crate::data::{self, Io};
use crate::limit::{self, Scan};
use crate::measure::{paired, times};
use crate::model::{self, Weight};
use crate::report::{Figure, ReportRow};

/// The level of zstd that is usual for weights.
const LEVEL: i32 = 1;
/// The file whose tensors are looked for.
const NAME_COUNT: u64 = 100_000;

/// Opens a file.
pub(crate) fn open(path: &Path, io: Io) -> Result<ZTensorFile> {
    Ok(ZTensorFile::open(data::source(path, io)?, &Limits::default())?)
}

/// Opens a file as every container is opened.
fn opened(path: &Path, io: tet_convert::Io) -> Result<Opened> {
    let mut options = OpenOptions::default();
    options.io = io;
    Ok(tet_convert::open(path, &options)?)
}

/// The exclusive or of all elements of all tensors, where they are.
pub(crate) fn scan_views(file: &ZTensorFile, scan: &Scan) -> Result<u64> {
    let mut all = 0;
    for tensor in file.tensors() {
        all ^= scan.run(&file.view(tensor)?.context("a tensor cannot be seen where it is")?);
    }
    Ok(black_box(all))
}

/// Sums up each dataset.
fn sums(catalog: &Catalog) -> Result<()> {
    let (sum, how) = (Reduction::all(Op::Sum), all_threads());
    for dataset in catalog.datasets() {
        black_box(dataset.reduce(&Hyperslab::whole(dataset.shape()), &sum, &how)?);
    }
    Ok(())
}

/// Compares every blob with its checksum.
pub(crate) fn verify(source: &Source) -> Result<()> {
    let options = VerifyOptions {
        level: Level::Checksums,
        memory_budget: 1 << 30,
        ..VerifyOptions::default()
    };
    let report = tet_ztensor::verify(source, &options)?;
    ensure!(report.is_ok() && report.unverified_count == 0, "the file is not verified");
    Ok(())
}

/// Z1: tensors from memory, and out of a file of another format, into a durable file.
pub(super) fn writing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let weights = model::weights(1);
    let (path, plain) = (run.folder.scratch("z1.zt"), run.folder.scratch("z1.bin"));
    let limit = || {
        let _ = std::fs::remove_file(&plain);
        limit::write(&plain, weights.iter().map(|weight| &weight.elements[..]))
    };
    let write = || {
        let _ = std::fs::remove_file(&path);
        model::write(&path, &weights, &WriteOptions::default(), Sync::Full)
    };
    let rounds = paired(run.rounds, limit, write);
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(&plain));
    let work = "1 GiB raw with crc32c, synced";
    Ok(vec![ReportRow::new("Z1", work, "write", Figure::Ratio, rounds?, 0.9)])
}

/// Z2: every byte of every tensor, on a kept map.
pub(super) fn reading(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = model::file(run.folder, ChecksumChoice::Crc32c)?;
    let file = open(&path, Io::Mapped)?;
    let catalog = opened(&path, tet_convert::Io::Mmap)?.catalog;
    let view = file.source().view().context("the lease was broken")?;
    let scan = Scan::fastest(view.whole());
    let limit = || {
        scan.run(view.whole());
        Ok(())
    };
    let seen = paired(run.rounds, limit, || scan_views(&file, &scan).map(drop))?;
    let summed = paired(run.rounds, limit, || sums(&catalog))?;
    let row = |work, rounds| ReportRow::new("Z2", work, "scan", Figure::Ratio, rounds, 0.85);
    Ok(vec![
        row("1 GiB scanned by views of its tensors", seen),
        row("1 GiB summed up, tensor by tensor, as a catalog", summed),
    ])
}

/// Z3: all blobs against their checksums.
pub(super) fn verifying(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = model::file(run.folder, ChecksumChoice::Crc32c)?;
    let file = open(&path, Io::Mapped)?;
    let scan = Scan::fastest(file.source().view().context("the lease was broken")?.whole());
    let limit = || scan_views(&file, &scan).map(drop);
    let mapped = paired(run.rounds, limit, || verify(file.source()))?;
    let (plain, len) = (File::open(&path)?, file_len(&path)?);
    let work = || verify(&Source::open(&path)?);
    let read = paired(run.rounds, || limit::read(&plain, len), work)?;

    let file = open(&model::file(run.folder, ChecksumChoice::Sha256)?, Io::Mapped)?;
    let views = file.tensors().map(|tensor| file.view(tensor)?.context("no view"));
    let views = views.collect::<Result<Vec<_>>>()?;
    let blobs: Vec<&[u8]> = views.iter().map(|view| &view[..]).collect();
    let limit = || {
        limit::sha256(&blobs);
        Ok(())
    };
    let sha256 = paired(run.rounds, limit, || verify(file.source()))?;
    let row = |work, limit, rounds, target| {
        ReportRow::new("Z3", work, limit, Figure::Ratio, rounds, target)
    };
    Ok(vec![
        row("verify 1 GiB by crc32c, mapped", "views", mapped, 0.75),
        row("verify 1 GiB by crc32c, pread", "read", read, 0.75),
        row("verify 1 GiB by sha256, mapped", "sha256", sha256, 0.9),
    ])
}

/// Z4: opening, and finding a tensor by its name.
pub(super) fn finding(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    let mut row = |work: String, rounds, target| {
        rows.push(ReportRow::new("Z4", work, "", Figure::Microseconds, rounds, target));
    };
    for (count, shown, target) in [(10_000, "10,000", 2e3), (NAME_COUNT, "100,000", 25e3)] {
        let path = model::many(run.folder, count)?;
        let bare = times(run.rounds, || open(&path, Io::Pread).map(drop))?;
        let listed = times(run.rounds, || opened(&path, tet_convert::Io::Pread).map(drop))?;
        row(format!("open {shown} tensors"), bare, target);
        row(format!("open {shown} tensors as a catalog"), listed, target);
    }
    let path = model::many(run.folder, NAME_COUNT)?;
    let names: Vec<String> =
        (0..NAME_COUNT).map(|at| model::name(at * 77_777 % NAME_COUNT)).collect();
    let fresh = || (0..=run.rounds).map(|_| open(&path, Io::Pread)).collect::<Result<Vec<_>>>();
    let find = |file: &ZTensorFile, name: &String| Ok(black_box(file.find(name)?.position()));
    let files = fresh()?;
    let mut next = files.iter();
    let first =
        times(run.rounds, || find(next.next().context("a file a round")?, &names[0]).map(drop))?;
    row("the first lookup, which makes the table of names".to_owned(), first, 0.0);
    let later =
        times(run.rounds, || names.iter().try_for_each(|it| find(&files[0], it).map(drop)))?;
    row("a later lookup".to_owned(), later.each(NAME_COUNT as f64), 1.0);
    let files = fresh()?;
    let mut next = files.iter();
    let all = times(run.rounds, || {
        let file = next.next().context("a file a round")?;
        names.iter().try_for_each(|it| find(file, it).map(drop))
    })?;
    row(
        "one of 100,000 lookups, the table among them".to_owned(),
        all.each(NAME_COUNT as f64),
        1.0,
    );
    let catalog = opened(&path, tet_convert::Io::Pread)?.catalog;
    let later = times(run.rounds, || {
        for name in &names {
            black_box(catalog.find(name)?);
        }
        Ok(())
    })?;
    row("a later lookup in the catalog".to_owned(), later.each(NAME_COUNT as f64), 1.0);
    Ok(rows)
}

/// Z5: zstd, both ways.
pub(super) fn packing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let weights = model::weights(4);
    let path = run.folder.scratch("z5.zt");
    let encoding = EncodingChoice::Zstd { level: LEVEL };
    let options = WriteOptions { encoding, ..WriteOptions::default() };
    let write = || model::write(&path, &weights, &options, Sync::None);
    write()?;
    let rows = both_ways(run, &path, &weights, write);
    let _ = std::fs::remove_file(&path);
    rows
}

fn both_ways(
    run: Measured<'_>,
    path: &Path,
    weights: &[Weight],
    write: impl FnMut() -> Result<()>,
) -> Result<Vec<ReportRow>> {
    let file = open(path, Io::Mapped)?;
    let view = file.source().view().context("the lease was broken")?;
    let (mut chunks, mut frames) = (Vec::new(), Vec::new());
    for (tensor, weight) in file.tensors().zip(weights) {
        for frame in file.frames(tensor)?.context("a blob is one frame")?.list() {
            let [start, end] = [frame.decoded.start, frame.decoded.end].map(|at| at as usize);
            chunks.push(&weight.elements[start..end]);
            let [first, last] = [frame.stored.start(), frame.stored.end()].map(|at| at as usize);
            frames.push((&view.whole()[first..last], end - start));
        }
    }
    let catalog = opened(path, tet_convert::Io::Mmap)?.catalog;
    let mut out = vec![1; weights.iter().map(|it| it.elements.len()).max().unwrap_or(0)];
    let unpacked = paired(
        run.rounds,
        || limit::decompress(&frames),
        || {
            for (tensor, weight) in file.tensors().zip(weights) {
                file.read_into(tensor, &mut out[..weight.elements.len()], Check::Always)?;
            }
            Ok(())
        },
    )?;
    let summed = paired(run.rounds, || limit::decompress(&frames), || sums(&catalog))?;
    // The file that is mapped stays: a new one takes its name.
    let limit = || {
        limit::compress(&chunks, LEVEL);
        Ok(())
    };
    let packed = paired(run.rounds, limit, write)?;
    let row = |work, limit, rounds| ReportRow::new("Z5", work, limit, Figure::Ratio, rounds, 0.9);
    Ok(vec![
        row("256 MiB as zstd level 1", "zstd", packed),
        row("256 MiB out of zstd, into a warm buffer", "unzstd", unpacked),
        row("256 MiB out of zstd, summed up, as a catalog", "unzstd", summed),
    ])
}
