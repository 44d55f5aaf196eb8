//! `tet stats`.

use std::path::PathBuf;

use clap::Args;

use super::ReadArgs;

/// Arguments of `tet stats`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct StatsArgs {
    /// The file to look into
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// One dataset, and a slice in brackets: temp, 'temp[0:10, :, -1]', '#0'; else all of them
    #[arg(value_name = "DATASET[SLICE]", allow_hyphen_values = true)]
    pub dataset: Option<String>,
    /// The slice, as in brackets
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Do without quartiles: fewer passes over the values
    #[arg(long)]
    pub no_quartiles: bool,
    /// One `tet.stats/1` object, for programs
    #[arg(long)]
    pub json: bool,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet stats climate.tet                              a line for each dataset
  tet stats climate.tet temp                         more about one
  tet stats climate.tet temp -s 'time=\"Jul\"'         of a part of it
  tet stats climate.tet --no-quartiles --json | jq '.datasets[].mean'";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Show what the values of every dataset are like: how many, from where to where, mean and \
standard deviation, quartiles, how many NaN and infinities, and a histogram.\n\nNaN are \
counted and left out of everything else (`tet query` lets them through, unless --nan skip). Fill values, \
as those of `_FillValue`, count as numbers. Quartiles are exact, and take more than one \
pass over large data: --no-quartiles does without. What cannot be read, or holds no \
numbers, is listed with the reason.";
