//! Builds of the command with some families of formats alone: what each compiles, and that it reads the files of its
//! families and refuses all others by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::{run, scale};

/// A build: its name, the features, and the suffixes of the samples that it reads besides those that every build does.
struct Build {
    name: &'static str,
    features: &'static str,
    reads: &'static [&'static str],
}

const BUILDS: [Build; 4] = [
    Build { name: "all", features: "all", reads: &SUFFIXES },
    Build { name: "safetensors", features: "safetensors", reads: &["safetensors"] },
    Build { name: "NetCDF and HDF5", features: "netcdf,hdf5", reads: &["nc", "nc3", "h5"] },
    Build { name: ".tet", features: "", reads: &[] },
];

/// The samples of families that a build may leave out, and the feature that brings each.
const FEATURES: [(&str, &str); 13] = [
    ("fits", "fits"),
    ("gguf", "gguf"),
    ("h5", "hdf5"),
    ("nc", "hdf5"),
    ("nc3", "netcdf"),
    ("npy", "numpy"),
    ("npz", "numpy"),
    ("pt", "torch"),
    ("safetensors", "safetensors"),
    ("tgm", "tensogram"),
    ("zarr", "zarr"),
    ("zarr.zip", "zarr"),
    ("zt", "ztensor"),
];
const SUFFIXES: [&str; 13] = {
    let mut suffixes = [""; 13];
    let mut at = 0;
    while at < suffixes.len() {
        suffixes[at] = FEATURES[at].0;
        at += 1;
    }
    suffixes
};
/// The samples that every build reads.
const ALWAYS: [&str; 3] = ["tet", "tets", "csv"];

/// Exit codes of the command.
const DONE: i32 = 0;
const UNSUPPORTED: i32 = 6;

#[derive(Default, clap::Args)]
pub(crate) struct Options {
    /// Build with optimization, for the sizes and times of what people build
    #[arg(long)]
    release: bool,
}

/// Makes the builds, tries each, and prints a table.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = run::target().join("families");
    let samples = folder.join("samples");
    println!("{:16}{:>10}{:>10}{:>10}", "build", "packages", "seconds", "MB");
    for build in &BUILDS {
        let begin = Instant::now();
        let program = made(build, options.release, &folder)?;
        let seconds = begin.elapsed().as_secs_f64();
        if build.name == "all" {
            make_samples(&program, &samples)?;
        }
        check(build, &program, &samples).with_context(|| format!("the build of {}", build.name))?;
        #[allow(clippy::cast_precision_loss, reason = "it is printed")]
        let size = fs::metadata(&program)?.len() as f64 / 1e6;
        println!("{:16}{:10}{seconds:10.1}{size:10.1}", build.name, package_count(build)?);
    }
    Ok(())
}

/// Builds the command with the features of a build alone.
fn made(build: &Build, is_release: bool, folder: &Path) -> Result<PathBuf> {
    if build.name == "all" && !is_release {
        return run::tested("transcripts", "tet");
    }
    // Times are those from nothing; without them the builds share what they have in common.
    let name = if is_release { build.name.replace(' ', "-") } else { "build".to_owned() };
    let target = folder.join(name);
    let mut cargo = run::cargo();
    cargo.args(["build", "--quiet", "--locked", "-p", "tet-cli", "--no-default-features"]);
    cargo.args(["--features", build.features, "--target-dir"]).arg(&target);
    if is_release {
        cargo.arg("--release");
    } else {
        // It is built for a few small files.
        cargo.envs([("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")]);
    }
    run::check(&mut cargo)?;
    Ok(target.join(if is_release { "release/tet" } else { "debug/tet" }))
}

/// The packages that a build compiles.
fn package_count(build: &Build) -> Result<usize> {
    let mut cargo = run::cargo();
    cargo.args(["tree", "--locked", "-p", "tet-cli", "--no-default-features", "--prefix", "none"]);
    cargo.args(["--edges", "normal,build", "--features", build.features]);
    let text = run::output(&mut cargo)?;
    let mut names: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|it| !it.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names.len())
}

/// Writes a small file of each format, with the program that has all of them.
fn make_samples(program: &Path, folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("x.safetensors"), scale::tensors(1))?;
    for suffix in SUFFIXES.iter().chain(&ALWAYS) {
        let path = folder.join(format!("x.{suffix}"));
        match *suffix {
            "safetensors" => {}
            "pt" => fs::write(path, scale::checkpoint(1)?)?,
            "gguf" => fs::write(path, scale::gguf(1))?,
            "fits" => fs::write(path, image())?,
            _ => {
                let input = folder.join("x.safetensors");
                run::check(Command::new(program).args(["convert", "-q"]).args([input, path]))?;
            }
        }
    }
    Ok(())
}

/// The bytes of a FITS file of one pixel.
fn image() -> Vec<u8> {
    let cards = [("SIMPLE", "T"), ("BITPIX", "8"), ("NAXIS", "1"), ("NAXIS1", "1")];
    let cards = cards.map(|(key, value)| format!("{:80}", format!("{key:8}= {value:>20}")));
    let header = format!("{:2880}", cards.concat() + "END");
    let mut bytes = header.into_bytes();
    bytes.resize(2 * 2880, 0);
    bytes
}

/// Checks that a build reads its samples, and names the format and the feature of all others.
fn check(build: &Build, program: &Path, samples: &Path) -> Result<()> {
    let run = |args: &[&str]| -> Result<Output> {
        Ok(Command::new(program).args(args).current_dir(samples).output()?)
    };
    for suffix in ALWAYS.iter().chain(build.reads) {
        for command in ["info", "stats", "verify"] {
            let output = run(&[command, &format!("x.{suffix}")])?;
            let error = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.code() == Some(DONE), "{command} x.{suffix}: {error}");
        }
    }
    for (suffix, feature) in FEATURES.iter().filter(|(suffix, _)| !build.reads.contains(suffix)) {
        let input = format!("x.{suffix}");
        for args in [&["info", &input][..], &["convert", &input, "y.tet"], &["verify", &input]] {
            let output = run(args)?;
            let error = String::from_utf8_lossy(&output.stderr);
            let is_named = error.contains(&format!("enable the feature `{feature}`"));
            ensure!(output.status.code() == Some(UNSUPPORTED) && is_named, "{args:?}: {error}");
        }
    }
    if build.name != "all" {
        let output = run(&["info", "https://localhost/x.tet"])?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(UNSUPPORTED) && error.contains("`net`"), "{error}");
    }
    Ok(())
}
