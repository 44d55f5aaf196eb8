//! The table of containers.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::traits::{Container, Writer};
use super::{hdf5, netcdf3, npy, npz, plain, safetensors, tensogram, tet, ztensor};
use crate::{Error, Format, Result};

/// The containers of this crate. Where files begin with no magic the last row is asked first: Tensogram
/// messages are looked for anywhere in a file.
pub static CONTAINERS: &[&dyn Container] = &[
    &tet::Tet,
    &ztensor::ZTensor,
    &tensogram::Tensogram,
    &hdf5::Hdf5,
    &safetensors::SafeTensors,
    &safetensors::Index,
    &npz::Npz,
    &npy::Npy,
    &netcdf3::NetCdf3,
    &plain::RAW,
    &plain::CSV,
];

/// Those of other crates.
static REGISTERED: RwLock<Vec<&'static dyn Container>> = RwLock::new(Vec::new());

/// Adds a container of another crate, for the whole process: from now on its files are opened, checked
/// and written as those of [`CONTAINERS`].
pub fn register(container: &'static dyn Container) {
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).push(container);
}

/// All containers: those of this crate, and those that were registered.
#[must_use]
pub fn containers() -> Vec<&'static dyn Container> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    CONTAINERS.iter().chain(registered.iter()).copied().collect()
}

/// The container of a format; `None` for a format that is known and not read.
#[must_use]
pub fn container(format: Format) -> Option<&'static dyn Container> {
    containers().into_iter().find(|container| container.format() == format)
}

/// The container that the name of an output asks for; `.tet` where the name has no suffix.
///
/// # Errors
/// No container that can be written has the suffix.
pub fn writable(path: &Path) -> Result<(Format, &'static dyn Writer)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_bare = path.extension().is_none();
    let len_of = |container: &&'static dyn Container| {
        let fits = |suffix: &&&str| {
            name.strip_suffix(**suffix).is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
                || is_bare && **suffix == "tet"
        };
        container.suffixes().iter().filter(fits).map(|suffix| suffix.len()).max()
    };
    // The longest suffix counts: `.safetensors.index.json` is not `.json`.
    let named = containers().into_iter().filter_map(|it| Some((len_of(&it)?, it)));
    let found = named.max_by_key(|(len, _)| *len).map(|(_, container)| container);
    let writer = found.and_then(|it| Some((it.format(), it.writer()?)));
    writer.ok_or_else(|| Error::UnknownTarget { path: path.to_path_buf() })
}
