//! Formats that are recognized and neither read nor written, and what to do about such files.

use crate::Format;

/// A format that is recognized.
#[derive(Debug)]
struct Other {
    format: Format,
    /// Offsets, and the bytes that are there in such files: one of them suffices.
    magics: &'static [(usize, &'static [u8])],
    /// How names of such files end, without the dot.
    suffixes: &'static [&'static str],
    /// How to make a file of it that is read.
    read: &'static str,
    /// How to make such a file of one that is written; empty where it is the usual way.
    write: &'static str,
}

/// Bytes that hold every magic.
pub const OTHER_HEAD_LEN: u64 = 8 + 512;

const TABLE_READ: &str = "save its columns as CSV with DuckDB or pandas";
const IMAGE_READ: &str =
    "save its pixels with Pillow and NumPy: numpy.save(\"x.npy\", Image.open(FILE))";
const TABLE_WRITE: &str = "write a .csv or .npz, then use DuckDB or pandas";
const IMAGE_WRITE: &str =
    "write a .npy, then use Pillow: Image.fromarray(numpy.load(FILE)).save(OUT)";
const UNPACK: &str = "unpack it, then open what it contains";
const PACK: &str = "write the file without compression, then compress it";
const RASTER_WRITE: &str =
    "write a .npy, then use rasterio or GDAL, which also need its coordinates";
const GRID_WRITE: &str =
    "write a .npz, then use a library of the format, such as xarray or eccodes";

const MATLAB_READ: &str =
    "save its arrays with SciPy: numpy.savez(\"x.npz\", **scipy.io.loadmat(FILE))";
const MATLAB_WRITE: &str = "write a .npz, then use scipy.io.savemat";
const PICKLE_READ: &str =
    "load it in Python if you trust it, and save its arrays with numpy.save or numpy.savez";
const PICKLE_WRITE: &str = "write a .npy or .npz, then load it in Python";

/// A row of [`OTHERS`].
const fn other(
    (name, title): (&'static str, &'static str),
    magics: &'static [(usize, &'static [u8])],
    suffixes: &'static [&'static str],
    read: &'static str,
    write: &'static str,
) -> Other {
    Other { format: Format::new(name, title), magics, suffixes, read, write }
}

const POINTER_WRITE: &str = "write the file, then add it with git";

/// The file by which a folder of a format that is not read is known: that of `torch.distributed.checkpoint`.
pub const OTHER_DOCUMENT: &str = ".metadata";

/// The first row that fits counts.
#[rustfmt::skip]
static OTHERS: &[Other] = &[
    other(("grib", "a GRIB file"), &[(0, b"GRIB")], &["grib", "grib1", "grib2", "grb", "grb2"],
        "convert it to NetCDF: cdo -f nc copy FILE OUT.nc, or grib_to_netcdf -o OUT.nc FILE", GRID_WRITE),
    other(("bufr", "a BUFR file"), &[(0, b"BUFR")], &["bufr"],
        "save its values with eccodes and NumPy", GRID_WRITE),
    other(("tiff", "a TIFF or GeoTIFF image"),
        &[(0, b"II*\0"), (0, b"MM\0*"), (0, b"II+\0"), (0, b"MM\0+")], &["tif", "tiff"],
        "convert it to NetCDF: gdal_translate -of netCDF FILE OUT.nc", RASTER_WRITE),
    other(("parquet", "a Parquet file"), &[(0, b"PAR1"), (0, b"PARE")], &["parquet", "pq"],
        TABLE_READ, TABLE_WRITE),
    other(("arrow", "an Arrow IPC or Feather file"), &[(0, b"ARROW1"), (0, b"FEA1")],
        &["arrow", "feather", "arrows", "ipc"], TABLE_READ, TABLE_WRITE),
    other(("sqlite", "an SQLite database"), &[(0, b"SQLite format 3\0")],
        &["sqlite", "sqlite3", "db"], TABLE_READ, TABLE_WRITE),
    other(("matlab5", "a MATLAB 5 file"), &[(0, b"MATLAB 5.0 MAT-file")], &["mat"],
        MATLAB_READ, MATLAB_WRITE),
    other(("hdf4", "an HDF4 file"), &[(0, b"\x0e\x03\x13\x01")], &["hdf", "hdf4"],
        "convert it to NetCDF: gdal_translate -of netCDF, or ncl_convert2nc FILE", GRID_WRITE),
    other(("pickle", "a Python pickle"),
        &[(0, b"\x80\x02"), (0, b"\x80\x03"), (0, b"\x80\x04"), (0, b"\x80\x05")],
        &["pkl", "pickle", "joblib"], PICKLE_READ, PICKLE_WRITE),
    other(("png", "a PNG image"), &[(0, b"\x89PNG\r\n\x1a\n")], &["png"], IMAGE_READ, IMAGE_WRITE),
    other(("jpeg", "a JPEG image"), &[(0, b"\xff\xd8\xff")], &["jpg", "jpeg"], IMAGE_READ, IMAGE_WRITE),
    other(("gif", "a GIF image"), &[(0, b"GIF8")], &["gif"], IMAGE_READ, IMAGE_WRITE),
    other(("webp", "a WebP image"), &[(8, b"WEBP")], &["webp"], IMAGE_READ, IMAGE_WRITE),
    other(("bmp", "a BMP image"), &[], &["bmp"], IMAGE_READ, IMAGE_WRITE),
    other(("jpeg2000", "a JPEG 2000 image"),
        &[(0, b"\0\0\0\x0cjP  \r\n\x87\n"), (0, b"\xff\x4f\xff\x51")], &["jp2", "j2k", "jpx"],
        "convert it to NetCDF: gdal_translate -of netCDF FILE OUT.nc", RASTER_WRITE),
    other(("zstd", "a zstd stream"), &[(0, b"\x28\xb5\x2f\xfd")], &["zst"], UNPACK, PACK),
    other(("gzip", "a gzip stream"), &[(0, b"\x1f\x8b\x08")], &["gz", "tgz"], UNPACK, PACK),
    other(("xz", "an xz stream"), &[(0, b"\xfd7zXZ\0")], &["xz"], UNPACK, PACK),
    other(("bzip2", "a bzip2 stream"), &[(0, b"BZh")], &["bz2"], UNPACK, PACK),
    other(("lz4", "an LZ4 stream"), &[(0, b"\x04\x22\x4d\x18")], &["lz4"], UNPACK, PACK),
    other(("7z", "a 7z archive"), &[(0, b"7z\xbc\xaf\x27\x1c")], &["7z"], UNPACK, PACK),
    other(("torch-tar", "a PyTorch checkpoint of before version 0.1.10 (tar)"), &[(0, b"sys_info\0")], &[],
        "load it with torch.load of PyTorch, and save it again with torch.save", ""),
    other(("tar", "a tar archive"), &[(257, b"ustar")], &["tar"], UNPACK,
        "write the files, then archive them with tar"),
    other(("asdf", "an ASDF file"), &[(0, b"#ASDF")], &["asdf"],
        "save its arrays with the asdf package and NumPy", ""),
    other(("dicom", "a DICOM file"), &[(128, b"DICM")], &["dcm"],
        "save its pixels with pydicom and NumPy", ""),
    other(("git-lfs", "a pointer of Git LFS, in place of the file"),
        &[(0, b"version https://git-lfs.github.com/spec/"), (0, b"version https://hawser.github.com/spec/")], &[],
        "fetch the file: git lfs pull", POINTER_WRITE),
    other(("git-annex", "a pointer of git-annex, in place of the file"), &[(0, b"/annex/objects/")], &[],
        "fetch the file: git annex get FILE", POINTER_WRITE),
    other(("html", "a web page (HTML)"),
        &[(0, b"<!DOCTYPE html"), (0, b"<!doctype html"), (0, b"<html")], &["html", "htm"],
        "check the URL: a server may answer with a page, such as one to log in", ""),
    other(("torch-dcp", "a checkpoint of torch.distributed.checkpoint, a folder of .distcp files"), &[], &["distcp"],
        "make one file of the folder: torch.distributed.checkpoint.format_utils.dcp_to_torch_save(FOLDER, \"x.pt\")", ""),
    other(("onnx", "an ONNX model"), &[], &["onnx"],
        "save its initializers with the onnx package and NumPy", ""),
    other(("matlab4", "a MATLAB 4 file"), &[], &["mat"], MATLAB_READ, MATLAB_WRITE),
    other(("arrow-stream", "an Arrow IPC stream"), &[], &["arrows", "arrow", "ipc"],
        TABLE_READ, TABLE_WRITE),
    other(("pickle0", "a Python pickle of protocol 0 or 1"), &[], &["pkl", "pickle", "joblib"],
        PICKLE_READ, PICKLE_WRITE),
    other(("xlsx", "a spreadsheet"), &[], &["xlsx", "ods", "xls"], TABLE_READ, TABLE_WRITE),
];

/// The formats that are recognized and neither read nor written, each once.
///
/// ```
/// assert!(tet_container::others::formats().any(|it| it.name() == "grib"));
/// ```
pub fn formats() -> impl Iterator<Item = Format> {
    OTHERS.iter().map(|it| it.format)
}

/// The format that begins with these bytes.
pub fn of_bytes(head: &[u8]) -> Option<Format> {
    let has =
        |(at, magic): &(usize, &[u8])| head.get(*at..).is_some_and(|from| from.starts_with(magic));
    Some(OTHERS.iter().find(|it| it.magics.iter().any(has))?.format)
}

/// The format that files of this suffix have.
pub fn of_suffix(suffix: &str) -> Option<Format> {
    Some(with_suffix(suffix).next()?.format)
}

/// The format without a magic that files of this suffix have.
pub fn of_suffix_alone(suffix: &str) -> Option<Format> {
    Some(with_suffix(suffix).find(|it| it.magics.is_empty())?.format)
}

fn with_suffix(suffix: &str) -> impl Iterator<Item = &'static Other> {
    let has = move |it: &&Other| it.suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix));
    OTHERS.iter().filter(has)
}

/// How to make a file that is read of one of a format that is not; `None` if no way is known.
///
/// ```
/// use tet_container::others::of_suffix;
/// use tet_container::reading_advice;
///
/// let advice = of_suffix("grib").and_then(reading_advice);
/// assert!(advice.is_some_and(|text| text.contains("cdo -f nc copy")));
/// ```
#[must_use]
pub fn reading_advice(format: Format) -> Option<&'static str> {
    Some(OTHERS.iter().find(|it| it.format == format)?.read)
}

/// How to make a file of a format that is not written.
///
/// ```
/// use tet_container::others::of_suffix;
/// use tet_container::writing_advice;
///
/// assert!(of_suffix("parquet").map(writing_advice).is_some_and(|text| text.contains("DuckDB")));
/// ```
#[must_use]
pub fn writing_advice(format: Format) -> &'static str {
    let known = OTHERS.iter().find(|it| it.format == format).map(|it| it.write);
    let usual = "write a .npz, which NumPy reads, and save its arrays with a library of the format";
    known.filter(|text| !text.is_empty()).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_way_and_its_own_name() {
        for (at, row) in OTHERS.iter().enumerate() {
            assert!(!row.read.is_empty() && !writing_advice(row.format).is_empty());
            assert!(OTHERS[..at].iter().all(|it| it.format.name() != row.format.name()));
            for (offset, magic) in row.magics {
                let mut head = vec![0; *offset];
                head.extend_from_slice(magic);
                assert_eq!(of_bytes(&head), Some(row.format));
                assert_ne!(of_bytes(&head[..head.len() - 1]), Some(row.format));
                assert!(u64::try_from(head.len()).is_ok_and(|len| len <= OTHER_HEAD_LEN));
            }
            for suffix in row.suffixes {
                let named = if row.magics.is_empty() { of_suffix_alone } else { of_suffix };
                assert_eq!(named(suffix), Some(row.format));
            }
        }
    }
}
