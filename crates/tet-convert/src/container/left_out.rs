//! The formats of families that a build is without: their files are refused by name, with the feature to enable.

use tet_io::Source;

use crate::Format;

/// A format that other builds read.
struct LeftOut {
    format: Format,
    /// The bytes that such files begin with; none where the name alone tells.
    magics: &'static [&'static [u8]],
    /// How names of such files end, without the dot.
    suffixes: &'static [&'static str],
    /// The documents of which a folder has one that is of this kind.
    documents: &'static [&'static str],
    /// How to have a build that reads it.
    advice: &'static str,
}

/// A row of [`LEFT_OUT`], of the family that a feature brings.
#[allow(unused_macros, reason = "a build with all families leaves none out")]
macro_rules! left_out {
    ($feature:literal, $format:ident, $magics:expr, $suffixes:expr) => {
        left_out!($feature, $format, $magics, $suffixes, &[])
    };
    ($feature:literal, $format:ident, $magics:expr, $suffixes:expr, $documents:expr) => {
        LeftOut {
            format: Format::$format,
            magics: $magics,
            suffixes: $suffixes,
            documents: $documents,
            advice: concat!("this build is without it: enable the feature `", $feature, "` of tet"),
        }
    };
}

/// The first row that fits counts. A zip archive is one of NumPy unless its name says otherwise.
#[rustfmt::skip]
static LEFT_OUT: &[LeftOut] = &[
    #[cfg(not(feature = "ztensor"))]
    left_out!("ztensor", ZTENSOR, &[b"ZTEN"], &["zt"]),
    #[cfg(not(feature = "tensogram"))]
    left_out!("tensogram", TENSOGRAM, &[b"TENSOGRM"], &["tgm"]),
    #[cfg(not(feature = "hdf5"))]
    left_out!("hdf5", HDF5, &[b"\x89HDF\r\n\x1a\n"], &["h5", "hdf5", "he5", "nc4", "nc"]),
    #[cfg(not(feature = "safetensors"))]
    left_out!("safetensors", SAFETENSORS, &[], &["safetensors"]),
    #[cfg(not(feature = "zarr"))]
    left_out!("zarr", ZARR, &[], &["zarr", "zarr.zip"], &["zarr.json", ".zgroup", ".zarray", ".zmetadata"]),
    #[cfg(not(feature = "torch"))]
    left_out!("torch", TORCH, &[b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."], &["pt", "pth"]),
    #[cfg(not(feature = "numpy"))]
    left_out!("numpy", NPZ, &[b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06"], &["npz"]),
    #[cfg(not(feature = "numpy"))]
    left_out!("numpy", NPY, &[b"\x93NUMPY"], &["npy"]),
    #[cfg(not(feature = "netcdf"))]
    left_out!("netcdf", NETCDF3, &[b"CDF\x01", b"CDF\x02", b"CDF\x05"], &["nc3", "cdf"]),
    #[cfg(not(feature = "gguf"))]
    left_out!("gguf", GGUF, &[b"GGUF"], &["gguf"]),
    #[cfg(not(feature = "fits"))]
    left_out!("fits", FITS, &[b"SIMPLE  ="], &["fits", "fit", "fts", "fits.fz"]),
];

/// The format of a zip archive, by its name; one of NumPy where the name says nothing.
pub(super) fn of_archive(source: &Source, head: &[u8]) -> Option<Format> {
    if !head.starts_with(b"PK") {
        return None;
    }
    of_suffix(name_of(source)).or_else(|| of_bytes(head))
}

/// The format of a file that begins with these bytes, or is known by its name alone.
pub(super) fn of_file(source: &Source, head: &[u8]) -> Option<Format> {
    let name = name_of(source);
    let is_named = |row: &&LeftOut| {
        row.documents.contains(&name) || row.magics.is_empty() && row.has_suffix(name)
    };
    let named = || Some(LEFT_OUT.iter().find(is_named)?.format);
    of_archive(source, head).or_else(|| of_bytes(head)).or_else(named)
}

fn name_of(source: &Source) -> &str {
    let name = source.path().and_then(|path| path.file_name()).and_then(|name| name.to_str());
    name.unwrap_or_default()
}

fn of_bytes(head: &[u8]) -> Option<Format> {
    let begins = |row: &&LeftOut| row.magics.iter().any(|magic| head.starts_with(magic));
    Some(LEFT_OUT.iter().find(begins)?.format)
}

/// The format whose files have names that end like this one.
pub(super) fn of_suffix(name: &str) -> Option<Format> {
    Some(LEFT_OUT.iter().find(|row| row.has_suffix(name))?.format)
}

/// The documents by which folders of such formats are known.
pub(crate) fn documents() -> impl Iterator<Item = &'static str> {
    LEFT_OUT.iter().flat_map(|row| row.documents).copied()
}

/// How to have a build that reads the format; `None` where it is not one that builds may be without.
fn advice(format: Format) -> Option<&'static str> {
    Some(LEFT_OUT.iter().find(|row| row.format == format)?.advice)
}

/// How to make a file that is read of one of a format that is not, or what to build; `None` if no way is known.
#[must_use]
pub fn reading_advice(format: Format) -> Option<&'static str> {
    advice(format).or_else(|| tet_container::reading_advice(format))
}

/// How to make a file of a format that is not written.
#[must_use]
pub fn writing_advice(format: Format) -> &'static str {
    advice(format).unwrap_or_else(|| tet_container::writing_advice(format))
}

impl LeftOut {
    fn has_suffix(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let has =
            |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|stem| stem.ends_with('.'));
        self.suffixes.iter().any(has)
    }
}
