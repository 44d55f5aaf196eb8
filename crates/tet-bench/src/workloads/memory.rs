//! W3, M1, Z6 and T6: how much memory of its own a process takes, watched from inside a child process.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tet_file::CodecChoice;
use tet_format::DType;
use tet_io::Publish;
use tet_query::{Execution, Hyperslab, Op, Reduction};
use tet_ztensor::{Declaration, EncodingChoice, WriteOptions};

use super::{CHILD, Measured, all_threads};
use crate::data::{self, Io};
use crate::measure::Rounds;
use crate::report::{Figure, ReportRow};

/// Shape of the dataset that W3 writes, in chunks of 4 MiB.
const WRITE_SHAPE: [u64; 2] = [256, 1 << 20];
const WRITE_CHUNK: [u64; 2] = [1, 1 << 20];
/// Memory budget of a median: an eighth of the elements and less.
const MEDIAN_BUDGET: u64 = 1 << 25;
/// Memory limit of a writer of tensors: 16 MB.
const TENSORS_MIB: f64 = 16e6 / 1_048_576.0;
/// Address space besides the map: libraries, stacks and arenas of two threads.
const ADDRESS_KIB: u64 = 512 * 1024;

/// The anonymous memory of this process in KiB.
fn anonymous_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let value = line.and_then(|line| line.split_whitespace().nth(1));
    value.and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// The most anonymous memory, over that at the start, while `work` runs; in KiB.
fn watched(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let before = anonymous_kib();
    let done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Acquire) {
                most = most.max(anonymous_kib());
                std::thread::sleep(Duration::from_micros(500));
            }
            most
        });
        let outcome = work();
        done.store(true, Ordering::Release);
        let most = watcher.join().unwrap_or(0);
        outcome.map(|()| most)
    })?;
    Ok(most.saturating_sub(before))
}

/// Runs in the child: one work, then its memory through `say`.
///
/// # Errors
///
/// Returns the work's error, or one about unknown arguments.
pub fn child(args: &[String], say: impl FnOnce(&str)) -> Result<()> {
    let [work, path] = args else { bail!("a child takes a work and a path") };
    let path = Path::new(path);
    // Those whose elements they are hold them.
    let mut piece = Vec::new();
    data::fill_elements(DType::Float32, 7, 1 << 20, &mut piece);
    let kib = watched(|| match work.as_str() {
        "reduce-mapped" => reduce(path, Io::Mapped),
        "reduce-pread" => reduce(path, Io::Pread),
        "median" => median(path),
        "write-raw" => write(path, CodecChoice::Raw),
        "write-zstd" => write(path, CodecChoice::Zstd { level: 1 }),
        "tensors-raw" => write_tensors(path, EncodingChoice::Raw, &piece),
        "message" => super::messages::reduce(path),
        "tensors-zstd" => write_tensors(path, EncodingChoice::zstd(), &piece),
        other => bail!("unknown work {other}"),
    })?;
    say(&kib.to_string());
    Ok(())
}

fn reduce(path: &Path, io: Io) -> Result<()> {
    let catalog = data::catalog(path, io)?;
    let dataset = data::first(&catalog)?;
    for op in [Op::Sum, Op::Mean, Op::Min, Op::Max] {
        let slab = Hyperslab::whole(dataset.shape());
        dataset.reduce(&slab, &Reduction::all(op), &all_threads())?;
    }
    Ok(())
}

fn median(path: &Path) -> Result<()> {
    let catalog = data::catalog(path, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let how = Execution { memory_budget: MEDIAN_BUDGET, ..all_threads() };
    let slab = Hyperslab::whole(dataset.shape());
    dataset.reduce(&slab, &Reduction::all(Op::Median), &how)?;
    Ok(())
}

fn write(path: &Path, codec: CodecChoice) -> Result<()> {
    let spec = data::spec("x", DType::Float32, &WRITE_SHAPE, &WRITE_CHUNK);
    data::write(path, vec![spec], &data::replacing(codec))
}

/// Writes 512 MiB as tensors of 4 MiB, and as much as one tensor, piece by piece.
fn write_tensors(path: &Path, encoding: EncodingChoice, piece: &[u8]) -> Result<()> {
    let (options, publish) =
        (WriteOptions { encoding, ..WriteOptions::default() }, Publish::default());
    tet_ztensor::publish(path, &options, &publish, |writer| -> tet_ztensor::Result<()> {
        for (at, piece_count) in (0..128).map(|at| (at, 4)).chain([(128, 512)]) {
            let shape = [piece_count, piece.len() as u64 / 4];
            let declaration = Declaration::new(format!("x{at}"), DType::Float32, shape);
            let mut tensor = writer.tensor(declaration)?;
            (0..piece_count).try_for_each(|_| tensor.write(piece))?;
            tensor.finish()?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Starts a child under a limit of its address space, in KiB, and gives its memory in MiB.
fn spawn(work: &str, path: &Path, address_kib: u64) -> Result<Rounds> {
    let this = std::env::current_exe()?;
    let script = format!("ulimit -v {address_kib} && exec \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(this)
        .args([CHILD, work])
        .arg(path)
        .output()
        .context("sh")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let kib: f64 =
        printed.trim().parse().with_context(|| format!("{work} printed: {}", printed.trim()))?;
    Ok(Rounds::once(kib / 1024.0))
}

/// The memory of a median of all elements, and the budget it has for that, in MiB.
pub(super) fn ordering(path: &Path) -> Result<(Rounds, f64)> {
    let map_kib = super::file_len(path)?.div_ceil(1024);
    let rounds = spawn("median", path, ADDRESS_KIB + map_kib)?;
    Ok((rounds, MEDIAN_BUDGET as f64 / f64::from(1 << 20)))
}

/// M1: reductions of a 2 GiB file.
pub(super) fn reducing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.large()?;
    let map_kib = super::file_len(&path)?.div_ceil(1024);
    let mapped = spawn("reduce-mapped", &path, ADDRESS_KIB + map_kib)?;
    let pread = spawn("reduce-pread", &path, ADDRESS_KIB)?;
    let row = |work, rounds| ReportRow::new("M1", work, "", Figure::Mebibytes, rounds, 64.0);
    Ok(vec![row("reductions of 2 GiB, mapped", mapped), row("reductions of 2 GiB, pread", pread)])
}

/// W3: writing 1 GiB.
pub(super) fn writing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let chunk_mib = (WRITE_CHUNK[1] * 4) as f64 / f64::from(1 << 20);
    let target = 64.0 + chunk_mib * rayon::current_num_threads() as f64;
    let works = [("write-raw", "writing 1 GiB, raw"), ("write-zstd", "writing 1 GiB, zstd")];
    let row = |(work, label)| written(run, "W3", work, label, target);
    works.into_iter().map(row).collect()
}

/// Z6: writing 1 GiB of tensors.
pub(super) fn writing_tensors(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let works = [
        ("tensors-raw", "writing 1 GiB of tensors, raw"),
        ("tensors-zstd", "writing 1 GiB of tensors, zstd"),
    ];
    let row = |(work, label)| written(run, "Z6", work, label, TENSORS_MIB);
    works.into_iter().map(row).collect()
}

/// T6: a reduction of 1 GiB of packed doubles in zstd, which are decoded in parts.
pub(super) fn reducing_packed(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = super::messages::large(run.folder)?;
    let map_kib = super::file_len(&path)?.div_ceil(1024);
    let rounds = spawn("message", &path, ADDRESS_KIB + map_kib)?;
    let work = "sum of 1 GiB in 16 bits, zstd, mapped";
    Ok(vec![ReportRow::new("T6", work, "", Figure::Mebibytes, rounds, 64.0)])
}

/// The memory of a child that writes a file.
fn written(
    run: Measured<'_>,
    id: &'static str,
    work: &str,
    label: &str,
    target: f64,
) -> Result<ReportRow> {
    let path = run.folder.scratch("written");
    let rounds = spawn(work, &path, ADDRESS_KIB);
    let _ = std::fs::remove_file(&path);
    Ok(ReportRow::new(id, label, "", Figure::Mebibytes, rounds?, target))
}
