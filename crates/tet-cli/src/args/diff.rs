//! `tet diff`.

use std::path::PathBuf;

use clap::Args;

use super::{MeaningArgs, ReadArgs};

/// Arguments of `tet diff`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct DiffArgs {
    /// The first file
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// The file that it is compared with
    #[arg(value_name = "B")]
    pub right: PathBuf,
    /// Compare these datasets, or slices of them: temp, 'temp[0:10, :, -1]', 'layers.*.weight' [default: all
    /// datasets]
    #[arg(value_name = "DATASET[SLICE]")]
    pub datasets: Vec<String>,
    /// Allow values to differ by this fraction of the value in B
    #[arg(long, value_name = "R", default_value = "0", hide_default_value = true, value_parser = tolerance)]
    pub rtol: f64,
    /// Allow values to differ by this much
    #[arg(long, value_name = "D", default_value = "0", hide_default_value = true, value_parser = tolerance)]
    pub atol: f64,
    /// Allow values to differ by this many steps between neighboring floats of the dtype
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub ulp: u64,
    /// Count NaN as different from NaN
    #[arg(long)]
    pub nan_differs: bool,
    /// Compare decoded values, which is the default
    #[arg(long, hide = true, conflicts_with = "raw_values")]
    pub decoded: bool,
    /// Compare datasets of A with those of other names in B: 'module.*=*'; a * stands for any text
    #[arg(long, value_name = "A=B")]
    pub map: Vec<String>,
    /// Sort the datasets that differ: `change`, the largest relative L2 first
    #[arg(long, value_name = "KEY")]
    pub sort: Option<DiffSort>,
    /// Compare names, types, shapes, labels and attributes only: no values are read
    #[arg(long, conflicts_with_all = ["rtol", "atol", "ulp", "nan_differs"])]
    pub quick: bool,
    /// Print one `tet.diff/1` object
    #[arg(long)]
    pub json: bool,
    /// Packed and masked values.
    #[command(flatten)]
    pub meaning: MeaningArgs,
    /// How the files are read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// How `tet diff` sorts datasets.
///
/// ```
/// use clap::ValueEnum;
/// use tet_cli::args::DiffSort;
///
/// assert_eq!(DiffSort::from_str("change", false), Ok(DiffSort::Change));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DiffSort {
    /// The largest change first
    Change,
}

/// A number that is not negative.
fn tolerance(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if number >= 0.0 { Ok(number) } else { Err("a tolerance is 0 or more".to_owned()) }
}

const EXAMPLES: &str = "\
EXAMPLES
  tet diff old.tet new.tet                         everything that differs
  tet diff old.tet new.tet && echo same            the exit status says whether anything does
  tet diff model.safetensors model.zt              files of any two formats
  tet diff a.nc b.nc temp 'lat[0:10]'              two datasets, one of them in part
  tet diff a.pt b.safetensors 'layers.{0..3}.*'    datasets whose names match
  tet diff a.tet b.tet --rtol 1e-6                 values that differ by more than that
  tet diff a.pt b.safetensors --map 'module.*=*'   names without the prefix that A has
  tet diff old.safetensors new.safetensors --sort change
  tet diff a.npy b.npy                             the only datasets, whatever their names
  tet diff a.nc b.nc --raw-values                  packed values as they are stored
  tet diff a.tet b.tet --json | jq '.datasets[].name'

EXIT STATUS
  0 nothing differs, 1 something differs; other numbers are errors, as of all
  commands: 6 if values of a type cannot be compared";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Compare two files of any formats: names of datasets, dtypes, shapes, names of axes, labels, attributes, and then \
values. Only what differs is printed.\n\nFor each dataset whose values differ: how many, the largest \
difference |A - B|, the largest relative difference |A - B| / |B|, and the first and the worst place with their labels; and over all pairs of finite values, whatever \
the tolerance, the root mean square of A - B, the relative L2 |A - B| / |B|, with | | the root of the sum of squares, and the cosine \
of A and B. Pairs with a NaN, an infinity or a missing value are left out of these three, and counted. --sort change lists \
the largest relative L2 first, before it values that are NaN or infinite in one file alone, and last what is not \
measured: texts, blocks of bytes, metadata; it reads all chunks, as --digests always does. \
Values are equal if |A - B| <= atol + rtol * |B|; 0.0 equals -0.0, and NaN equals NaN unless \
--nan-differs is given. Floats of different dtypes are compared as float64, and integers of different dtypes exactly. Quantized blocks and \
elements that are not computed with are compared by their bytes. Packed and masked values are decoded, and the \
attributes that decode them are not compared: a packed file and its decoded copy are equal. With --raw-values stored \
values and all attributes are compared, and a missing value, as _FillValue sets it, differs from any other. Two files with one dataset each compare these, whatever their names. Datasets whose values cannot be compared are listed with the reason, and do not count as different. How \
chunks are stored is no difference. Chunks of two .tet files that have the same checksum are equal and are not read, and a dataset with such chunks is not measured; with --digests \
always they are, so that damage is found too.";
