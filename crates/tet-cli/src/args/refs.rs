//! `tet refs`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ReadArgs, WriteArgs};

/// Arguments of `tet refs`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command, EdgesName};
///
/// let line = "tet refs year.tet -o year.json --edges inline";
/// let Command::Refs(args) = Cli::try_parse_from(line.split(' '))?.command else { panic!() };
/// assert_eq!(args.edges, Some(EdgesName::Inline));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RefsArgs {
    /// The file; several with --concat
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The document to write; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
    /// Choose the version of Zarr that the metadata are of
    #[arg(long, value_name = "VERSION", default_value = "2", value_parser = ["2", "3"])]
    pub zarr: String,
    /// Fill the chunks at the edges that have fewer elements than the others
    ///
    /// Readers of Zarr know only chunks of one shape, and .tet stores those at the edges without filling. `inline` writes
    /// the filled chunks into the document, up to 32 MiB; `sidecar` writes them to the file OUT.edges. Chunks whose filters
    /// were skipped (the filter mask of HDF5) are encoded as the others are, and written there too.
    #[arg(long, value_name = "WHERE")]
    pub edges: Option<EdgesName>,
    /// Append the datasets of the other files to those of the first, along the axis of this name or number
    ///
    /// The chunks of all files are one array: every file but the last must end with a whole chunk, and the other extents,
    /// the types and the codecs must be the same. Coordinates of the axis up to 1 MiB are copied into the document.
    /// Datasets without the axis must be the same in all files.
    #[arg(long, value_name = "AXIS")]
    pub concat: Option<String>,
    /// Make URLs of the names of the files: PREFIX/NAME, as s3://bucket/data [default: absolute paths, and for files that
    /// were given as URLs these]
    ///
    /// Names are percent-encoded where PREFIX is https:// or http://; keys of object stores are not. With . they are relative: tet follows them from the folder of the document, fsspec from the working directory.
    #[arg(long, value_name = "PREFIX")]
    pub url: Option<String>,
    /// Copy datasets of up to this many bytes into the document
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = crate::size::parse)]
    pub inline: u64,
    /// Take only this dataset, or those whose names match (repeatable)
    #[arg(long, value_name = "NAME|PATTERN")]
    pub dataset: Vec<String>,
    /// Exclude this dataset, or those whose names match (repeatable)
    #[arg(long, value_name = "NAME|PATTERN")]
    pub exclude: Vec<String>,
    /// Leave out datasets that readers of Zarr cannot read in place, with a warning for each; without it an error lists
    /// them all
    #[arg(long)]
    pub skip_unsupported: bool,
    /// How the document is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print one `tet.refs/1` object
    #[arg(long)]
    pub json: bool,
}

/// Where filled edge chunks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EdgesName {
    /// Into the document.
    Inline,
    /// To a file beside it.
    Sidecar,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet refs year.nc -o year.json                      a document for zarr, xarray, dask, fsspec
  tet refs year.nc -o year.json --zarr 3             the same with metadata of Zarr 3
  tet refs year.nc -o year.json --url s3://bucket/era5   for s3://bucket/era5/year.nc
  tet refs big.tet -o big.json --edges inline        chunks of any shape
  tet refs 2024-*.nc --concat time -o year.json      many files as one
  tet refs model.safetensors --dataset 'layers.*' --skip-unsupported -o model.json
  tet refs https://host/year.nc -o year.json         a file on a server, without a download
  tet info year.json                                 tet reads such documents too

IN PYTHON
  xarray.open_dataset(\"year.json\", engine=\"kerchunk\")
  tetfile.open(\"year.nc\").to_references(\"year.parquet\", format=\"parquet\")";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Write references to the stored chunks of a file: a JSON document of kerchunk, by which zarr-python, xarray, dask and \
every other reader of Zarr read the chunks in place, without a copy.\n\nFiles of every format that tet reads can have \
references, unless they are compressed as a whole. Small datasets (--inline), coordinates and labels of axes are in the \
document. What readers of Zarr cannot decode (bfloat16, long texts, szip and other codecs that numcodecs lacks) is an \
error that lists all such datasets; --skip-unsupported leaves them out. Chunks are not read, and their checksums not \
compared, but for those that are copied.";
