//! Hands over to the binary of `tet-bench`, built for speed.

use anyhow::Result;

use crate::run;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One group of workloads, such as R1; all when left out
    name: Option<String>,
    /// Further arguments for the benchmark program
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Builds and runs the benchmark program.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = run::cargo();
    command.args(["run", "--release", "--locked", "-p", "tet-bench", "--"]);
    command.args(&options.name).args(&options.rest);
    run::check(&mut command)
}
