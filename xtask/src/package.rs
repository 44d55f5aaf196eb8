//! The Python package: built as a wheel, installed into an environment below `target/`, and tested there.
//!
//! Making the environment needs the network once. The wheel is built as `cargo build` does, without optimizing it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{python, run};

/// The oldest Python that the package runs on.
const PYTHON_MIN: (u32, u32) = (3, 11);

/// Why the package cannot be tested on this machine; `None` where it can.
pub(crate) fn missing() -> Option<String> {
    let (major, minor) = PYTHON_MIN;
    match python::version() {
        None => Some(format!("there is no python3, and it takes {major}.{minor} or newer")),
        Some(found) if found < PYTHON_MIN => {
            Some(format!("python3 is {}.{}, and it takes {major}.{minor}", found.0, found.1))
        }
        Some(_) => None,
    }
}

/// The parts of the package to test.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Options {
    /// The module for PyTorch, whose packages are 3 GB
    #[arg(long)]
    torch: bool,

    /// References as zarrita.js reads them, with node and npm
    #[arg(long, conflicts_with = "torch")]
    node: bool,
}

/// Tests all but the module for PyTorch, and without node.
pub(crate) fn run() -> Result<()> {
    test(Options { torch: false, node: false })
}

/// Builds, installs and tests the package.
pub(crate) fn test(options: Options) -> Result<()> {
    if let Some(what) = missing() {
        bail!("{what}");
    }
    let folder = run::target().join("python");
    let (venv, tests) = match options {
        Options { torch: true, .. } => ("venv-torch", "tests/pytorch"),
        Options { node: true, .. } => ("venv", "tests/node"),
        _ => ("venv", "tests"),
    };
    let of_venv = if options.torch { tests } else { "tests" };
    let requirements = sources().join(of_venv).join("requirements.txt");
    let python = python::environment(&folder.join(venv), &requirements)?;
    install(&python, &folder.join("wheels"), "dev")?;
    types(&python)?;
    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", tests]).current_dir(sources());
    if options.node {
        pytest.env("TET_NODE", node_packages(&folder.join("node"))?);
    } else {
        pytest.env("TET_HOSTILE", hostile_files(&folder.join("hostile"))?);
    }
    if tests == "tests" {
        // Two at a time: many wait for servers, and for processes that they kill.
        pytest.args([
            "--ignore=tests/pytorch",
            "--ignore=tests/node",
            "--numprocesses=2",
            "--dist=loadfile",
        ]);
    }
    run::check(&mut pytest).context("tests of the Python package fail")
}

/// Writes the files that break rules.
fn hostile_files(folder: &Path) -> Result<PathBuf> {
    run::check(Command::new(run::tested("threads", "hostile-files")?).arg(folder))?;
    Ok(folder.to_path_buf())
}

/// Installs the packages of node, beside the script that uses them.
fn node_packages(folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for name in ["package.json", "package-lock.json", "read.mjs"] {
        std::fs::copy(sources().join("tests/node").join(name), folder.join(name))?;
    }
    run::check(
        Command::new("npm").args(["ci", "--silent", "--ignore-scripts"]).current_dir(folder),
    )?;
    Ok(folder.to_path_buf())
}

/// The stubs are those of the module, and the package has the types that it states.
fn types(python: &Path) -> Result<()> {
    let cache = run::target().join("python/mypy");
    let mut stubs = Command::new(python);
    stubs.args(["-m", "mypy.stubtest", "tetfile._tetfile"]);
    run::check(stubs.current_dir(sources()).env("MYPY_CACHE_DIR", &cache))?;
    let mut package = Command::new(python);
    package.args(["-m", "mypy", "-p", "tetfile"]);
    run::check(package.current_dir(sources()).env("MYPY_CACHE_DIR", &cache))
}

/// Builds the wheel into an empty folder and installs it.
pub(crate) fn install(python: &Path, folder: &Path, profile: &str) -> Result<()> {
    let wheel = wheel(python, folder, profile)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let anew = ["--force-reinstall", "--no-deps", "--no-index"];
    run::check(Command::new(python).args(install).args(anew).arg(&wheel))
}

/// Builds the wheel into an empty folder and gives its path.
pub(crate) fn wheel(python: &Path, folder: &Path, profile: &str) -> Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    let maturin = python.with_file_name("maturin");
    let mut build = Command::new(maturin);
    build.args(["build", "--quiet", "--locked", "--profile", profile, "--interpreter"]);
    build.arg(python).arg("--target-dir").arg(run::target()).arg("--out").arg(folder);
    run::check(build.current_dir(sources())).context("the wheel cannot be built")?;
    let wheels: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let [wheel] = &wheels[..] else { bail!("{} wheels were built", wheels.len()) };
    ensure!(wheel.extension().is_some_and(|it| it == "whl"), "{} is no wheel", wheel.display());
    Ok(wheel.clone())
}

fn sources() -> PathBuf {
    run::root().join("crates/tet-python")
}
