//! The files that a person downloads: an archive of the command, a wheel, the packages of the crates, and checksums.
//!
//! The archive and the wheel are then installed into empty folders and used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{package, python, run};

/// The profile and the parts of a release.
#[derive(clap::Args)]
#[command(
    after_help = "Files go to target/release-files/. With `--profile dist` the builds take about 15 minutes on two \
    cores; `--profile dev` shows in less time that all steps work. The packages of crates are made without compiling \
    them again (`--no-verify`), which would take an hour."
)]
pub(crate) struct Options {
    /// Build the command and the wheel with this profile
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,

    /// Leave out the wheel, which takes Python 3.11 and its registry once
    #[arg(long)]
    no_wheel: bool,
}

/// Makes all files, installs them, and prints their sizes.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = run::target().join("release-files");
    empty(&folder)?;
    let program = program(&options.profile)?;
    let archive = archive(&program, &folder)?;
    crates(&folder)?;
    if !options.no_wheel {
        wheel(&folder, &options.profile)?;
    }
    checksums(&folder)?;
    try_archive(&archive)?;
    print_sizes(&folder)
}

/// Builds the command and returns its path.
fn program(profile: &str) -> Result<PathBuf> {
    run::check(run::cargo().args(["build", "--locked", "-p", "tet-cli", "--profile", profile]))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(run::target().join(folder).join("tet"))
}

/// Writes the archive: the command, man pages, completions, licenses.
fn archive(program: &Path, folder: &Path) -> Result<PathBuf> {
    let target = run::output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let name = format!("tet-{}-{}", env!("CARGO_PKG_VERSION"), target.trim());
    let staged = run::target().join("release-staged").join(&name);
    empty(&staged)?;
    fs::copy(program, staged.join("tet"))?;
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        fs::copy(run::root().join(file), staged.join(file))?;
    }
    run::check(Command::new(program).arg("man").arg(staged.join("man")))?;
    let completions = staged.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in ["bash", "zsh", "fish"] {
        let script = run::output(Command::new(program).args(["completions", shell]))?;
        fs::write(completions.join(format!("tet.{shell}")), script)?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    let parent = staged.parent().context("a folder below another")?;
    run::check(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(parent).arg(&name))?;
    Ok(archive)
}

/// Packs the crates that are published.
fn crates(folder: &Path) -> Result<()> {
    let metadata = run::output(run::cargo().args(["metadata", "--no-deps", "--format-version=1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    // `publish` is an empty list where a crate is not published.
    let names = packages.iter().filter(|it| it["publish"].is_null());
    let names: Vec<&str> = names.filter_map(|it| it["name"].as_str()).collect();
    let packed = run::target().join("release-crates");
    let flags = ["--no-verify", "--allow-dirty", "--offline", "--exclude-lockfile", "--quiet"];
    let mut command = run::cargo();
    command.arg("package").args(flags).arg("--target-dir").arg(&packed);
    run::check(command.args(names.iter().flat_map(|name| ["-p", name])))?;
    for name in names {
        let file = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        fs::copy(packed.join("package").join(&file), folder.join(&file))?;
    }
    Ok(())
}

/// Builds the wheel, installs it into an environment of its own, and reads a file with it.
fn wheel(folder: &Path, profile: &str) -> Result<()> {
    let work = run::target().join("python");
    let requirements = run::root().join("crates/tet-python/tests/requirements.txt");
    let python = python::environment(&work.join("venv"), &requirements)?;
    let wheel = package::wheel(&python, &work.join("wheels-release"), profile)?;
    fs::copy(&wheel, folder.join(wheel.file_name().context("a wheel has a name")?))?;
    let site = run::target().join("release-installed/wheel");
    empty(&site)?;
    let install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target"];
    run::check(Command::new(&python).args(install).arg(&site).arg(&wheel))?;
    let code = "import numpy, tetfile; numpy.save('x.npy', numpy.arange(6)); \
        assert tetfile.open('x.npy')['x'].sum() == 15; print('wheel: tetfile reads a file')";
    let mut python = Command::new(python);
    run::check(python.args(["-c", code]).env("PYTHONPATH", &site).current_dir(&site))
}

/// Writes SHA256SUMS, in the form that `sha256sum --check` reads.
fn checksums(folder: &Path) -> Result<()> {
    let names = names(folder)?;
    let sums = run::output(Command::new("sha256sum").args(&names).current_dir(folder))?;
    fs::write(folder.join("SHA256SUMS"), sums)?;
    Ok(())
}

/// Unpacks the archive into an empty folder and runs the demo of the command in it.
fn try_archive(archive: &Path) -> Result<()> {
    let folder = run::target().join("release-installed/archive");
    empty(&folder)?;
    let strip = "--strip-components=1";
    run::check(Command::new("tar").args(["-x", strip, "-C"]).arg(&folder).arg("-f").arg(archive))?;
    let shown = run::output(Command::new(folder.join("tet")).arg("demo").current_dir(&folder))?;
    ensure!(shown.contains("temp"), "the demo prints no dataset:\n{shown}");
    println!("archive: `tet demo` runs");
    Ok(())
}

/// Prints each file with its size.
fn print_sizes(folder: &Path) -> Result<()> {
    for name in names(folder)? {
        let len = fs::metadata(folder.join(&name))?.len();
        println!("{:>10.2} MB  {name}", len as f64 / 1e6);
    }
    println!("in {}", folder.display());
    Ok(())
}

/// The names of the files of a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder)?;
    let mut names: Vec<String> = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Makes a folder, without the files of an earlier run.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}
