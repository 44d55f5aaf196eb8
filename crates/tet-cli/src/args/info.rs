//! `tet info`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `tet info`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct InfoArgs {
    /// The file to look at
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Show the regions of the file: where they start, how long they are
    #[arg(short, long)]
    pub layout: bool,
    /// Show the chunks: coordinate, place, length, codec
    #[arg(short, long)]
    pub chunks: bool,
    /// How many chunks of each dataset to show, 0 for all
    #[arg(short = 'n', value_name = "N", default_value = "32")]
    pub chunks_max: u64,
    /// Show how the file came to be
    #[arg(long)]
    pub history: bool,
    /// Show attributes and coordinate labels
    #[arg(short, long)]
    pub metadata: bool,
    /// Show all of it
    #[arg(short, long)]
    pub all: bool,
    /// One `tet.info/1` object for programs
    #[arg(long)]
    pub json: bool,
    /// Go on without the footer (names of axes, labels, attributes, history)
    #[arg(long)]
    pub no_footer: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet info climate.tet                       the table of datasets
  tet info climate.tet --metadata            with attributes and labels
  tet info climate.tet --chunks -n 5         with the first five chunks of each dataset
  tet info climate.tet --json | jq '.datasets[].name'

A footer that cannot be read is told as a warning, the rest is shown, and the exit status is 3.";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Show what is in a file: the table of datasets with type, shape, chunk shape, codec, \
stored and logical size, ratio and names of the axes.\n\nThe container is told by its \
content, not by its name. Only the structure is read, never the values.";
