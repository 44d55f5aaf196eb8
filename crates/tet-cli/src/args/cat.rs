//! `tet cat`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tet_format::DType;

use super::convert::dtype;
use super::{LayoutArgs, OUTPUT, ReadArgs, VALUES, WriteArgs, WrittenValuesArgs};

/// Arguments of `tet cat`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct CatArgs {
    /// The file to read
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The dataset, and a slice in brackets: temp, 'temp[0:10, :, -1]', '#0'
    ///
    /// May be left out when the file holds one dataset, or columns: these, and members of a structure, are printed as a
    /// table of rows. `#N` is the dataset at position N. A pattern such as `layers.{0..3}.bias[:4]` prints all datasets whose names match.
    #[arg(value_name = "DATASET[SLICE]", allow_hyphen_values = true)]
    pub dataset: Option<String>,
    /// Select a slice, as in brackets
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Write to a file in the format of its suffix; - is standard output
    ///
    /// Every format that `tet convert` writes: .tet, .zt, .npz, .npy, .raw, .csv, .tsv, .json, .h5,
    /// .nc, .zarr and others, with the labels, attributes and coordinates that the format can store;
    /// .txt is the text that is printed without OUT.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Packed and masked values.
    #[command(flatten)]
    pub values: WrittenValuesArgs,
    /// Print every value, however many
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
    /// Choose what is printed [default: text, or the format of OUT]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT)]
    pub format: Option<CatFormat>,
    /// Set the format of OUT, by a suffix such as csv or nc
    #[arg(long, help_heading = OUTPUT, value_name = "FORMAT", requires = "output", conflicts_with = "format")]
    pub to: Option<String>,
    /// Write OUT although nothing is selected
    #[arg(long, help_heading = OUTPUT, hide_short_help = true, requires = "output")]
    pub allow_empty: bool,
    /// How CSV, TSV and JSON are laid out.
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// Convert the values to this type: float32, bf16, int16, ...
    #[arg(long, help_heading = VALUES, value_name = "DTYPE", value_parser = dtype)]
    pub dtype: Option<DType>,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CatFormat {
    /// Text as NumPy prints it.
    Text,
    /// A NumPy file.
    Npy,
    /// Little-endian elements in row-major order, nothing else.
    Raw,
    /// A table with a header: the labels of each axis, then the value, separated by commas.
    Csv,
    /// A table as of `csv`, separated by tabs.
    Tsv,
    /// One `tet.array/1` object: axes, labels, attributes and values; NaN and infinities are strings.
    Json,
    /// A map of two axes in the terminal: colors, or characters when piped.
    Heatmap,
}

const EXAMPLES: &str = "\
SLICES
  positions, as in NumPy     '0:3, :, -1', '...' for all axes not named
  labels, with both ends     'lat=40:60, time=2024-06:2024-08', 'station=Oslo'
  the nearest label          'lat~50', 'lat~50 within 0.5'
  positions along an axis    'lat#0:10, time#-1'
  lists                      'plev=[85000,50000]', 'lat~[48.1,52.5]'
  parts of dates             'time.month=6,7,8', 'time.season=JJA', 'time.year=1979:2020'
  longitudes go around       'lon=-60:60'

EXAMPLES
  tet cat climate.tet temp                           first and last values of the array
  tet head log.csv                                   rows of a table
  tet cat run.h5 'events[0:10]'                      rows of a structure
  tet cat climate.tet 'temp[0:3, :, -1]'             a slice
  tet cat climate.tet temp -s 'month=7, lat=40:60'   by label
  tet cat climate.tet 'temp[0]' -o january.npy       for numpy.load
  tet cat climate.tet 'temp[0]' -o january.nc        with its axes, labels and units
  tet cat model.safetensors norm -o norm.npy --dtype float32   numbers of a type that NumPy lacks
  tet cat climate.tet '#0[::10]' --format csv        the first dataset, for a spreadsheet
  tet cat climate.tet 'temp[0]' -o m.csv --layout wide   a row for each lat, a column for each lon
  tet cat climate.tet 'lat' --format json            for jq and other programs
  tet cat climate.tet temp -o - | sha256sum          raw elements into a pipe
  tet cat climate.tet 'temp[6]' --format heatmap     a map
  tet cat year.nc time                               dates
  tet cat year.nc t2m --raw-values                   values as they are stored";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Print or save the values of a dataset or a slice of it.\n\nText looks like NumPy's: large \
arrays show their first and last values (--full shows all). For other programs use -o OUT with the \
suffix of any format that `tet convert` writes: names and labels of axes, attributes and units go \
along where the format can store them. .raw is little-endian elements, row-major, nothing else. Only the chunks that the \
slice needs are read.\n\nPacked and masked values are decoded, and numbers of CF units of time are printed as dates; \
--raw-values shows what is stored. Formats whose readers decode get the stored values with their attributes.";
