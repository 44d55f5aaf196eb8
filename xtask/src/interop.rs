//! Lets the programs of others read what we write, and reads what they write.
//!
//! ```text
//! tet         the reference program, `tetration`, from the registry of Rust
//! ztensor     the packages `ztensor` 0.1.4 and 2.1.2 and `safetensors`, from that of Python
//! tensogram   the package `tensogram`, 0.24.0 and 0.19.0, from the same
//! hdf5        files of `h5py` with `hdf5plugin`, from the same
//! netcdf      files of `netCDF4` and `xarray`, from the same
//! zarr        stores of `zarr`, from the same
//! cf          packed and masked variables, in `xarray`, `cdo` and `ncwa` (Debian: cdo, nco)
//! fits        files of `astropy`, from the same
//! torch       checkpoints as PyTorch writes them, by the pickle of Python
//! wild        files that others wrote: sample files of `iris`, and those of folders that are given
//! ```
//!
//! It needs a registry once and takes minutes, so it is no part of `ci`. What it cannot do fails:
//! nothing is skipped.

mod arrays;
mod sheet;
mod tensogram;
mod tet;
mod ztensor;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::run;

/// The files and programs to check.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The container whose programs are asked
    #[arg(value_enum, default_value_t = Container::Tet)]
    container: Container,
    /// `.tet` files to check beside the fixtures; with wild, folders of files to read
    files: Vec<PathBuf>,
    /// A reference program of `.tet` that is already built
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
    /// Where chance starts; every seed makes other files of those
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many of those
    #[arg(long, default_value_t = 24)]
    count: u64,
    /// With hdf5, netcdf, zarr, fits, torch and wild: damage files so many times, and run a command on each
    #[arg(long, value_name = "N", default_value_t = 0)]
    mutations: u64,
    /// With hdf5, netcdf, zarr, cf, fits, torch and wild: a program that is already built
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Container {
    Tet,
    #[value(name = "ztensor")]
    ZTensor,
    Tensogram,
    Hdf5,
    #[value(name = "netcdf")]
    NetCdf,
    Zarr,
    Cf,
    Fits,
    Torch,
    Wild,
}

/// Asks the programs of a container.
pub(crate) fn run(options: &Options) -> Result<()> {
    let is_for_tet = options.container == Container::Tet;
    let takes_files = is_for_tet || options.container == Container::Wild;
    ensure!(takes_files || options.files.is_empty(), "files are for tet and wild");
    ensure!(is_for_tet || options.reference.is_none(), "the reference is for tet");
    match options.container {
        Container::Tet => tet::run(options),
        Container::ZTensor => ztensor::run(options.seed, options.count),
        Container::Tensogram => tensogram::run(options.seed, options.count),
        Container::Hdf5 => arrays::run("hdf5", options),
        Container::NetCdf => arrays::run("netcdf", options),
        Container::Zarr => arrays::run("zarr", options),
        Container::Cf => arrays::cf(options),
        Container::Fits => arrays::run("fits", options),
        Container::Torch => arrays::run("torch", options),
        Container::Wild => arrays::run("wild", options),
    }
}

/// An empty folder.
fn fresh(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    Ok(folder.to_path_buf())
}

/// Output of a script of the side of Python.
fn script(
    python: &Path,
    script: &str,
    words: &[&str],
    folder: &Path,
    numbers: &[String],
) -> Result<String> {
    let mut command = Command::new(python);
    // Nothing is left beside the scripts.
    command.arg("-B").arg(scripts().join(script)).args(words).arg(folder).args(numbers);
    run::output(&mut command)
}

fn scripts() -> PathBuf {
    run::root().join("xtask/interop")
}

/// The files of a folder with this suffix, at least one.
fn listed(folder: &Path, suffix: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == suffix));
    paths.sort();
    ensure!(!paths.is_empty(), "there is nothing in {}", folder.display());
    Ok(paths)
}
