//! Works that are compared with other libraries, one run at a time, on files that stay open.
//!
//! ```text
//!   in    check WORK PATH | time WORK PATH        one a line
//!   out   the machine and the seeded files, once; then for each line milliseconds and, after
//!         `check`, the sum of all values of the answer
//! ```
//!
//! The caller runs the same work elsewhere in between, and compares.

mod arrays;
mod messages;
mod reads;
mod weights;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tet_format::DType;
use tet_query::{
    Array, Axis, AxisSlice, Catalog, Execution, Hyperslab, Op, Reduced, Reduction, WindowMode,
};

use self::messages::Messages;
use self::reads::Reads;
use self::weights::Weights;
use crate::data::{self, Folder, Io, TILED};
use crate::report::Machine;
use crate::workloads::windowed;

/// The argument that starts this mode.
pub const FLAG: &str = "--peer";

/// Result of a work.
enum WorkResult {
    Reduced(Box<Reduced>),
    Array(Array),
    Count(usize),
}

impl WorkResult {
    /// The sum of all values.
    fn check(&self) -> f64 {
        match self {
            WorkResult::Reduced(reduced) => {
                (0..reduced.values.len()).filter_map(|at| reduced.values.get(at)?.to_f64()).sum()
            }
            WorkResult::Array(array) => {
                (0..array.len()).filter_map(|at| array.get(at)?.to_f64()).sum()
            }
            WorkResult::Count(count) => *count as f64,
        }
    }
}

/// Answers lines until there are no more; `works` says which works are known, those on `arrays`
/// when it says nothing.
///
/// # Errors
///
/// Returns an error for a line that is no work, and that of the work.
pub fn serve(
    folder: &Folder,
    works: Option<&str>,
    lines: impl BufRead,
    mut say: impl FnMut(&str),
) -> Result<()> {
    match works {
        None => {
            say(&hello(folder)?.to_string());
            let mut open = BTreeMap::new();
            answer(lines, say, |how, work, path| timed_on(&mut open, how, work, path))
        }
        Some("weights") => {
            say(&weights::hello(folder)?.to_string());
            let mut weights = Weights::default();
            answer(lines, say, |_, work, path| weights.run(work, path))
        }
        Some("messages") => {
            say(&messages::hello(folder)?.to_string());
            let mut messages = Messages::default();
            answer(lines, say, |_, work, path| messages.run(work, path))
        }
        Some("reads") => {
            say(&json!({ "machine": Machine::here() }).to_string());
            let mut reads = Reads::default();
            answer(lines, say, |_, work, path| reads.run(work, path))
        }
        Some("arrays") => {
            say(&json!({ "machine": Machine::here() }).to_string());
            answer(lines, say, arrays::run)
        }
        Some(other) => bail!("unknown works {other}"),
    }
}

/// The machine and the arrays.
fn hello(folder: &Folder) -> Result<Value> {
    Ok(json!({
        "machine": Machine::here(),
        "tiled": folder.array(DType::Float32, "tiled", TILED)?,
        "zstd": folder.zstd(DType::Float32, "tiled", TILED)?,
        "tiny": folder.tiny()?,
    }))
}

/// Runs the work of each line.
fn answer(
    lines: impl BufRead,
    mut say: impl FnMut(&str),
    mut run: impl FnMut(&str, &str, &Path) -> Result<(f64, f64)>,
) -> Result<()> {
    for line in lines.lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let (Some(how), Some(work), Some(path)) = (words.next(), words.next(), words.next()) else {
            bail!("a line has three words: {line}");
        };
        let (milliseconds, check) = run(how, work, Path::new(path))?;
        say(&format!("{milliseconds} {check}"));
    }
    Ok(())
}

/// The milliseconds of a work on a file's first dataset, and its check if the line wants it.
fn timed_on(
    open: &mut BTreeMap<PathBuf, Catalog>,
    how: &str,
    work: &str,
    path: &Path,
) -> Result<(f64, f64)> {
    let catalog = match open.entry(path.to_path_buf()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let catalog = data::catalog(entry.key(), Io::Mapped)?;
            entry.insert(catalog)
        }
    };
    let (milliseconds, answer) = timed(|| run(work, catalog))?;
    Ok((milliseconds, if how == "check" { answer.check() } else { f64::NAN }))
}

/// Runs a work; returns its result and its milliseconds.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let answer = work()?;
    Ok((start.elapsed().as_secs_f64() * 1e3, answer))
}

/// Runs a work on the file's first dataset.
fn run(work: &str, catalog: &Catalog) -> Result<WorkResult> {
    let dataset = data::first(catalog)?;
    let shape = dataset.shape();
    let how = Execution {
        result_max: 1 << 34,
        statistics: tet_query::StatisticsPolicy::Never,
        ..Execution::default()
    };
    let whole = Hyperslab::whole(shape);
    let part = |slices: &[(u64, u64, Axis)]| {
        let slice = |&(start, stop, axis)| AxisSlice { start, stop, step: 1, axis };
        let slab = Hyperslab::new(slices.iter().map(slice).collect(), shape);
        slab.context("the slab does not fit")
    };
    let all = |axis: usize| (0, shape[axis], Axis::Kept);
    let (slab, reduction) = match work {
        "element" => {
            let at = |axis: usize| (shape[axis] / 2, shape[axis] / 2 + 1, Axis::Dropped);
            return Ok(WorkResult::Array(
                dataset.read(&part(&[at(0), at(1), at(2)])?, &how)?.value,
            ));
        }
        "sum" => (whole, Reduction::all(Op::Sum)),
        "std" => (whole, Reduction::all(Op::Std)),
        "slab" => {
            let quarter = (shape[0] / 4, shape[0] / 2, Axis::Kept);
            (part(&[quarter, all(1), all(2)])?, Reduction::all(Op::Sum))
        }
        "column" => {
            let at = (shape[2] / 2, shape[2] / 2 + 1, Axis::Kept);
            (part(&[all(0), all(1), at])?, Reduction::all(Op::Sum))
        }
        "mean-0" => (whole, Reduction::along(Op::Mean, [0])),
        "mean-1" => (whole, Reduction::along(Op::Mean, [1])),
        "mean-2" => (whole, Reduction::along(Op::Mean, [2])),
        "group" => (whole, Reduction::along(Op::Sum, [1, 2])),
        "bins" => (whole, windowed(0, 16, WindowMode::Bins, &[])),
        "rolling" => (whole, windowed(0, 9, WindowMode::Rolling, &[])),
        _ => bail!("unknown work {work}"),
    };
    Ok(WorkResult::Reduced(Box::new(dataset.reduce(&slab, &reduction, &how)?.value)))
}
