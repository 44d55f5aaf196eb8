//! HDF5, NetCDF, Zarr and FITS files of the packages `h5py`, `netCDF4`, `zarr` and `astropy`, PyTorch checkpoints, and what is
//! in them.
//!
//! ```text
//! FAMILY_files.py   seed -> files, and their true values, as truth.py describes
//! cf_means.py       packed and masked variables: statistics equal to those of other programs
//! selected.py       random selections by every command: elements and labels equal to those of xarray
//! decoded.py        packed, masked and raw values by every command to every output, equal to those of xarray
//! judge.py          every number dataset: the same bits, whole and in boxes, or refused by name
//! mutate.py         damaged files: a documented exit status, within 512 MiB and 5 seconds
//! written_hdf5.py   what `tet` writes as HDF5 and NetCDF-4: the same in other programs, and back
//! written_files.py  what `tet` writes as classic NetCDF
//! written_zarr.py   what `tet` writes as Zarr: the same in zarr-python and xarray, and back
//! edited_files.py   what `tet edit` edits: the same in the programs that made the files, which go on with them
//! ```
//!
//! The scripts are in `xtask/interop/arrays`, their environment and the files under
//! `target/interop/arrays`. Refusals that are expected are listed in `expected.py`, with a reason.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Options, fresh, scripts};
use crate::{python, run};

/// Writes the files of a family and compares what is read with their true values.
pub(super) fn run(family: &str, options: &Options) -> Result<()> {
    let (folder, program) = (folder(), program(options)?);
    let script = scripts_of(&folder)?;
    let files = fresh(&folder.join(family))?;
    let (seed, mutations) = (options.seed.to_string(), options.mutations.to_string());
    let mut generate = script(&format!("{family}_files.py"));
    run::output(generate.arg(&files).arg(&seed).args(&options.files))?;
    let mut judge = script("judge.py");
    judge.arg(family).arg(&files).arg(&program);
    run::check(judge.args(["--seed", &seed, "--mutations", &mutations]))?;
    let written = match family {
        "hdf5" => "written_hdf5",
        "netcdf" => "written_files",
        "zarr" => "written_zarr",
        _ => return Ok(()),
    };
    let mut command = script(&format!("{written}.py"));
    command.arg(folder.join(written)).arg(&program);
    run::check(command.args(["--seed", &seed]))?;
    let mut edited = script("edited_files.py");
    run::check(edited.arg(family).arg(folder.join("edited")).arg(&program))
}

/// Compares packed and masked variables, and selections, with those of other programs.
pub(super) fn cf(options: &Options) -> Result<()> {
    let (folder, program) = (folder(), program(options)?);
    let mut means = scripts_of(&folder)?("cf_means.py");
    let seed = options.seed.to_string();
    means.arg(fresh(&folder.join("cf"))?).arg(&program);
    run::check(means.args(["--seed", &seed]))?;
    for name in ["selected", "decoded"] {
        let mut script = scripts_of(&folder)?(&format!("{name}.py"));
        run::check(script.arg(folder.join(name)).arg(&program).args(["--seed", &seed]))?;
    }
    Ok(())
}

fn folder() -> PathBuf {
    run::target().join("interop/arrays")
}

fn program(options: &Options) -> Result<PathBuf> {
    match &options.program {
        Some(path) => Ok(path.clone()),
        None => run::program(),
    }
}

/// Commands that run a script, in an environment below this folder.
fn scripts_of(folder: &Path) -> Result<impl Fn(&str) -> Command> {
    let scripts = scripts().join("arrays");
    let python = python::environment(&folder.join("venv"), &scripts.join("requirements.txt"))?;
    Ok(move |name: &str| {
        let mut command = Command::new(&python);
        // Nothing is left beside the scripts.
        command.arg("-B").arg(scripts.join(name));
        command
    })
}
