//! Works on the array `x` of files of other formats, which are opened anew for each, as the libraries
//! of those formats do them.

use std::path::Path;

use anyhow::{Context, Result, bail};
use tet_convert::{OpenOptions, open};
use tet_query::{Axis, AxisSlice, Catalog, Execution, Hyperslab, Op, Reduction};

use super::{WorkResult, timed};

/// The milliseconds of a work with the opening of its file, and its check if the line wants it.
pub(super) fn run(how: &str, work: &str, path: &Path) -> Result<(f64, f64)> {
    let (milliseconds, answer) = timed(|| {
        let opened = open(path, &OpenOptions::default())?;
        answer(work, &opened.catalog)
    })?;
    // Means of libraries are in float32.
    let is_checked = how == "check" && !work.starts_with("mean");
    Ok((milliseconds, if is_checked { answer.check() } else { f64::NAN }))
}

fn answer(work: &str, catalog: &Catalog) -> Result<WorkResult> {
    if work == "list" {
        let listed = catalog.datasets().iter().map(|it| (&it.name, it.shape(), it.dtype));
        return Ok(WorkResult::Count(std::hint::black_box(listed.collect::<Vec<_>>()).len()));
    }
    let dataset = catalog.find("x")?;
    let how = Execution {
        result_max: 1 << 34,
        statistics: tet_query::StatisticsPolicy::Never,
        ..Execution::default()
    };
    let all = |axis: usize| AxisSlice {
        start: 0,
        stop: dataset.shape()[axis],
        step: 1,
        axis: Axis::Kept,
    };
    let at = |index| AxisSlice { start: index, stop: index + 1, step: 1, axis: Axis::Dropped };
    let part = |start, stop| AxisSlice { start, stop, step: 1, axis: Axis::Kept };
    let slices = match work {
        "element" => [at(32), at(512), at(512)],
        "column" => [all(0), at(512), at(512)],
        "box" => [part(10, 20), part(100, 400), part(300, 700)],
        _ => [all(0), all(1), all(2)],
    };
    let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).context("the part does not fit")?;
    let reduction = match work {
        "element" | "column" | "box" => {
            return Ok(WorkResult::Array(dataset.read(&slab, &how)?.value));
        }
        "sum" => Reduction::all(Op::Sum),
        "mean-0" => Reduction::along(Op::Mean, [0]),
        "mean-1" => Reduction::along(Op::Mean, [1]),
        "mean-2" => Reduction::along(Op::Mean, [2]),
        _ => bail!("unknown work {work}"),
    };
    Ok(WorkResult::Reduced(Box::new(dataset.reduce(&slab, &reduction, &how)?.value)))
}
