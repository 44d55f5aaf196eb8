//! Reads of the array `x` as the Python package does them, on files that stay open: what its figures are compared with.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tet_convert::{OpenOptions, Opened, open};
use tet_query::{Axis, AxisSlice, Dataset, Execution, Hyperslab, Op, Reduction};

/// How long a work is done again.
const ROUND: Duration = Duration::from_millis(20);

/// The files that were opened, and the memory of whole reads.
#[derive(Default)]
pub(super) struct Reads {
    open: BTreeMap<PathBuf, Opened>,
    memory: Vec<u8>,
}

impl Reads {
    /// The milliseconds of the shortest of several calls.
    pub(super) fn run(&mut self, work: &str, path: &Path) -> Result<(f64, f64)> {
        if !self.open.contains_key(path) {
            self.open.insert(path.to_path_buf(), open(path, &OpenOptions::default())?);
        }
        let Reads { open: files, memory } = self;
        let opened = files.get(path).context("the file was opened")?;
        let mut shortest = f64::INFINITY;
        let begun = Instant::now();
        loop {
            let start = Instant::now();
            call(work, path, opened, memory)?;
            shortest = shortest.min(start.elapsed().as_secs_f64() * 1e3);
            if ROUND < begun.elapsed() {
                return Ok((shortest, f64::NAN));
            }
        }
    }
}

/// One call.
fn call(work: &str, path: &Path, opened: &Opened, memory: &mut Vec<u8>) -> Result<()> {
    match work {
        "open" | "many-open" => {
            black_box(open(path, &OpenOptions::default())?);
        }
        "open-element" => {
            let opened = open(path, &OpenOptions::default())?;
            read("element", opened.catalog.find("x")?, memory)?;
        }
        "many" => {
            let opened = open(path, &OpenOptions::default())?;
            let names = opened.catalog.datasets().iter().map(|it| it.name.clone());
            black_box(names.collect::<Vec<_>>());
        }
        _ => read(work, opened.catalog.find("x")?, memory)?,
    }
    Ok(())
}

fn read(work: &str, dataset: &Dataset, memory: &mut Vec<u8>) -> Result<()> {
    let how = Execution::default();
    let all = |axis: usize| AxisSlice::whole(dataset.shape()[axis]);
    let at = |index| AxisSlice { start: index, stop: index + 1, step: 1, axis: Axis::Dropped };
    let part = |start, stop| AxisSlice { start, stop, step: 1, axis: Axis::Kept };
    let slices = match work {
        "element" => [at(70), at(300), at(500)],
        "box" => [part(10, 110), part(200, 300), part(450, 550)],
        "slab" => [at(17), all(1), all(2)],
        "series" => [all(0), at(300), at(500)],
        _ => [all(0), all(1), all(2)],
    };
    let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).context("the part does not fit")?;
    let reduction = match work {
        "read-into" => {
            let len = dataset.shape().iter().product::<u64>() * 4;
            memory.resize(usize::try_from(len)?, 0);
            dataset.read_into(&slab, &how, memory)?;
            return Ok(());
        }
        "element" | "box" | "slab" | "series" | "read" => {
            black_box(dataset.read(&slab, &how)?);
            return Ok(());
        }
        "sum" => Reduction::all(Op::Sum),
        "mean-0" => Reduction::along(Op::Mean, [0]),
        "mean-12" => Reduction::along(Op::Mean, [1, 2]),
        _ => bail!("unknown work {work}"),
    };
    black_box(dataset.reduce(&slab, &reduction, &how)?);
    Ok(())
}
