//! The table of containers.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::{left_out, tet, tets};
use crate::{Error, Format, Note, Result};
use tet_container::others::of_suffix;
use tet_container::{Container, Writer};
use tet_query::{Catalog, Dataset};

/// Whether files of a format hold one array, which is named after its file.
pub(crate) fn holds_one(format: Format) -> bool {
    container(format).and_then(|it| it.writer()).is_some_and(|it| !it.can().several)
}

/// Whether several datasets of a file may have one name.
pub(crate) fn has_same_names(format: Format) -> bool {
    container(format).and_then(|it| it.writer()).is_some_and(|it| it.can().same_names)
}

/// Notes of the datasets that share their bytes in their file, and are written each for itself.
///
/// # Errors
/// The file cannot be read again.
pub(crate) fn untied(catalog: &Catalog, datasets: &[&Dataset]) -> Result<Vec<Note>> {
    let of = containers().into_iter().find(|it| it.format().name() == catalog.format());
    of.map_or(Ok(Vec::new()), |it| it.untied(catalog, datasets))
}

/// The containers of this crate. Where files begin with no magic the last row is asked first: Tensogram
/// messages are looked for anywhere in a file.
pub static CONTAINERS: &[&dyn Container] = &[
    &tet::Tet,
    &tets::Tets,
    #[cfg(feature = "ztensor")]
    &tet_ztensor::container::ZTensor,
    #[cfg(feature = "ztensor")]
    &tet_ztensor::container::ONE,
    #[cfg(feature = "ztensor")]
    &tet_ztensor::container::TWO,
    #[cfg(feature = "tensogram")]
    &tet_tensogram::container::Tensogram,
    #[cfg(feature = "hdf5")]
    &tet_hdf5::container::Hdf5,
    #[cfg(feature = "safetensors")]
    &tet_safetensors::SafeTensors,
    #[cfg(feature = "safetensors")]
    &tet_safetensors::Index,
    #[cfg(feature = "torch")]
    &tet_torch::Index,
    #[cfg(feature = "zarr")]
    &tet_zarr::container::Zarr,
    #[cfg(feature = "torch")]
    &tet_torch::Torch,
    #[cfg(feature = "numpy")]
    &tet_numpy::Npz,
    #[cfg(feature = "numpy")]
    &tet_numpy::Npy,
    #[cfg(feature = "netcdf")]
    &tet_netcdf::NetCdf3,
    #[cfg(feature = "gguf")]
    &tet_gguf::Gguf,
    #[cfg(feature = "fits")]
    &tet_fits::Fits,
    &tet_text::Plain,
    &tet_text::Csv,
    &tet_text::Json,
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

/// The container whose files have names that end as `path`; `.tet` where the name has no suffix.
pub(super) fn with_suffix(path: &Path) -> Option<&'static dyn Container> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_bare = path.extension().is_none();
    let len_of = |container: &&'static dyn Container| {
        let fits = |suffix: &&&str| {
            name.strip_suffix(**suffix).is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
                || is_bare && **suffix == "tet"
        };
        // Formats with a writer come before others: `.bin` is raw elements.
        let len = container.suffixes().iter().filter(fits).map(|suffix| suffix.len()).max()?;
        Some((len, container.writer().is_some()))
    };
    // The longest suffix counts: `.safetensors.index.json` is not `.json`.
    let named = containers().into_iter().filter_map(|it| Some((len_of(&it)?, it)));
    named.max_by_key(|(rank, _)| *rank).map(|(_, container)| container)
}

/// Whether files of arrays have names that end like this one.
///
/// # Examples
///
/// ```
/// assert!(tet_convert::has_reader("year.nc".as_ref()) && !tet_convert::has_reader("year.png".as_ref()));
/// ```
#[must_use]
pub fn has_reader(path: &Path) -> bool {
    let named = path.extension().and_then(|_| with_suffix(path));
    named.is_some_and(|it| ![Format::JSON, Format::RAW].contains(&it.format()))
}

/// The container that the name of an output asks for; `.tet` where the name has no suffix.
///
/// # Errors
/// No container that can be written has the suffix.
pub fn writable(path: &Path) -> Result<(Format, &'static dyn Writer)> {
    let found = with_suffix(path);
    if let Some((format, writer)) = found.and_then(|it| Some((it.format(), it.writer()?))) {
        return Ok((format, writer));
    }
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let known = left_out::of_suffix(&name).or_else(|| of_suffix(suffix));
    let path = path.to_path_buf();
    Err(match (found, known) {
        (Some(it), _) => Error::NotWritable { path, format: it.format(), is_read: true },
        (None, Some(format)) => Error::NotWritable { path, format, is_read: false },
        (None, None) => Error::UnknownTarget { path, suffixes: written_suffixes() },
    })
}

/// The usual suffixes of what is written: `.tet, .zt or .csv`.
fn written_suffixes() -> String {
    let written = containers().into_iter().filter(|it| it.writer().is_some());
    let usual = written.flat_map(|it| it.usual_suffixes());
    let mut suffixes: Vec<String> = usual.map(|suffix| format!(".{suffix}")).collect();
    let last = suffixes.pop().unwrap_or_default();
    format!("{} or {last}", suffixes.join(", "))
}
