//! A suite of `tests/`, by its name.

use anyhow::Result;

use crate::run;

/// Runs suites, each a test program and a part of the names of its tests. Some run the command.
pub(crate) fn run(suites: &[(&str, &str)]) -> Result<()> {
    run::program()?;
    for (program, word) in suites {
        let args = ["test", "--locked", "-p", "tet-tests", "--test", program, "--"];
        run::check(run::cargo().args(args).args([word, "--nocapture"]))?;
    }
    Ok(())
}

/// Changes every byte and every field of small files of all containers, and looks for datasets that are gone.
pub(crate) fn vanish() -> Result<()> {
    let mut test = run::cargo();
    test.args([
        "test",
        "--locked",
        "-p",
        "tet-tests",
        "--test",
        "world",
        "vanish::",
        "--",
        "--nocapture",
    ]);
    run::check(test.env("TET_VANISH_ALL", "1"))
}
