//! Hands over to `tet-bench`, built for speed: its program for the ratios, criterion for the rest.

mod page;
mod peers;

use std::path::PathBuf;

use anyhow::Result;

use crate::run;

/// The workloads to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One group of workloads, such as R1, `micro` for criterion's, `peers`, `weights`, `messages`, `arrays`,
    /// `edits` and `python` for other libraries; all groups when left out
    name: Option<String>,
    /// Measure nothing; write the tables of docs/performance.md from what was measured last
    #[arg(long, conflicts_with = "name")]
    page: bool,
    /// Further arguments for the benchmark program
    #[arg(last = true)]
    rest: Vec<String>,
}

/// The name of criterion's benchmarks.
const MICRO: &str = "micro";
/// The name of the comparison with other libraries.
const PEERS: &str = "peers";
/// The name of the comparison with other libraries for tensors.
const WEIGHTS: &str = "weights";
/// The name of the comparison with the wheel for messages.
const MESSAGES: &str = "messages";
/// The name of the comparison with libraries for HDF5, NetCDF and Zarr.
const ARRAYS: &str = "arrays";
/// The name of the comparison of edits with other programs.
const EDITS: &str = "edits";

/// The name of the comparison of the Python package with others.
const PYTHON: &str = "python";

/// Builds and runs what was asked for.
pub(crate) fn run(options: &Options) -> Result<()> {
    let name = options.name.as_deref();
    if options.page {
        return page::write();
    }
    if name == Some(PEERS) {
        return peers::run(&options.rest);
    }
    if name == Some(WEIGHTS) {
        return peers::run_weights(&options.rest);
    }
    if name == Some(MESSAGES) {
        return peers::run_messages(&options.rest);
    }
    if name == Some(ARRAYS) {
        return peers::run_arrays(&options.rest);
    }
    if name == Some(EDITS) {
        return peers::run_edits(&options.rest);
    }
    if name == Some(PYTHON) {
        return peers::run_python(&options.rest);
    }
    if name == Some(MICRO) {
        return run::check(run::cargo().args([
            "bench",
            "--profile",
            "dist",
            "--locked",
            "-p",
            "tet-bench",
            "--benches",
        ]));
    }
    let mut command = run::cargo();
    command.args(["run", "--profile", "dist", "--locked", "-p", "tet-bench", "--"]);
    command.args(name).args(&options.rest);
    run::check(&mut command)
}

/// Where the figures of a run are stored.
fn stored(name: &str) -> PathBuf {
    run::target().join("bench").join(format!("{name}.json"))
}
