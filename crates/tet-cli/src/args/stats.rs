//! `tet stats`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{MeaningArgs, ReadArgs};

/// Arguments of `tet stats`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct StatsArgs {
    /// The file to summarize
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Summarize these datasets, or slices of them: temp, 'temp[0:10, :, -1]', '#0', 'layers.*.weight'
    /// [default: all datasets]
    #[arg(value_name = "DATASET[SLICE]")]
    pub datasets: Vec<String>,
    /// Select a slice of each, as in brackets
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// List only datasets that have such values: nan, inf, constant (all numbers are equal)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub only: Vec<StatsOnly>,
    /// Omit quartiles: fewer passes over the values
    #[arg(long)]
    pub no_quartiles: bool,
    /// Print one `tet.stats/1` object
    #[arg(long)]
    pub json: bool,
    /// Packed and masked values.
    #[command(flatten)]
    pub meaning: MeaningArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// Values for which `tet stats` lists a dataset.
///
/// ```
/// use clap::ValueEnum;
/// use tet_cli::args::StatsOnly;
///
/// assert_eq!(StatsOnly::from_str("nan", false), Ok(StatsOnly::Nan));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsOnly {
    /// NaN
    Nan,
    /// Positive or negative infinity
    Inf,
    /// Nothing but equal numbers
    Constant,
}

impl StatsOnly {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StatsOnly::Nan => "nan",
            StatsOnly::Inf => "inf",
            StatsOnly::Constant => "constant",
        }
    }
}

const EXAMPLES: &str = "\
EXAMPLES
  tet stats climate.tet                              one line per dataset
  tet stats climate.tet temp                         details of one dataset
  tet stats climate.tet temp -s month=7              of a slice
  tet stats model.safetensors '*.q_proj.weight'       of all datasets that match
  tet stats model.safetensors --only nan,inf         datasets that have NaN or infinities
  tet stats climate.tet --no-quartiles --json | jq '.datasets[].mean'";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Summarize the values of every dataset: count, minimum, maximum, mean, standard deviation, \
quartiles, number of NaN and infinities, and a histogram.\n\nNaN are counted and ignored \
otherwise (`tet query` propagates them unless --nan skip is given). Masked elements, as by `_FillValue`, \
are NaN, and packed values are scaled, unless --raw-values is given. Quartiles are exact and need more than one pass over large data; \
--no-quartiles omits them. A dataset that cannot be read is listed with the reason.";
