//! Hands over to `tet-bench`, built for speed: its program for the ratios, criterion for the rest.

use anyhow::Result;

use crate::run;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One group of workloads, such as R1, or `micro` for criterion's; all when left out
    name: Option<String>,
    /// Further arguments for the benchmark program
    #[arg(last = true)]
    rest: Vec<String>,
}

/// The name of criterion's benchmarks.
const MICRO: &str = "micro";

/// Builds and runs what was asked for.
pub(crate) fn run(options: &Options) -> Result<()> {
    let name = options.name.as_deref();
    if name.is_none_or(|name| name == MICRO) {
        run::check(run::cargo().args(["bench", "--locked", "-p", "tet-bench", "--benches"]))?;
    }
    if name == Some(MICRO) {
        return Ok(());
    }
    let mut command = run::cargo();
    command.args(["run", "--release", "--locked", "-p", "tet-bench", "--"]);
    command.args(name).args(&options.rest);
    run::check(&mut command)
}
