//! `tet info`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `tet info`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct InfoArgs {
    /// The file to list, or a folder of files
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// More files; then the datasets and groups to list: temp, entry/log, '#0', 'layers.*.weight'
    #[arg(value_name = "FILE|DATASET")]
    pub datasets: Vec<String>,
    /// List datasets whose names differ only in numbers in one row, as layers.{0..31}.weight, also
    /// when there are no more than 40 [default: when there are more]
    #[arg(long, conflicts_with = "no_fold")]
    pub fold: bool,
    /// List each dataset in a row of its own
    #[arg(long)]
    pub no_fold: bool,
    /// Sum up the datasets that have the first N parts of their names in common, as model.layers.0.*
    #[arg(long, value_name = "N", conflicts_with_all = ["fold", "no_fold", "tree", "json"],
          value_parser = clap::value_parser!(u8).range(1..))]
    pub depth: Option<u8>,
    /// List the values of these keys, a column each: name,shape.0,units,mars.param
    ///
    /// A key is name, dtype, shape, chunks, codec, stored (bytes), or an attribute of the dataset, otherwise one of the
    /// file. Dots lead into maps, lists and shapes: mars.param, levels.0, shape.1. Where a dataset has no such key the
    /// table has `-` and --json null; a key that no dataset has is an error.
    #[arg(long, value_name = "KEYS", value_delimiter = ',',
          conflicts_with_all = ["fold", "no_fold", "depth", "sort", "tree", "layout", "chunks", "history", "metadata", "all"])]
    pub keys: Vec<String>,
    /// Choose the order of the rows
    #[arg(long, value_name = "ORDER", default_value = "file", hide_default_value = true)]
    pub sort: SortName,
    /// Show the regions of the file with their offsets and lengths
    #[arg(short, long)]
    pub layout: bool,
    /// Show the chunks: coordinate, offset, length, codec
    #[arg(short, long)]
    pub chunks: bool,
    /// Show at most this many chunks of each dataset, 0 for all
    #[arg(short = 'n', value_name = "N", default_value = "32")]
    pub chunks_max: u64,
    /// Show names with `/` as a tree of groups, with the attributes of the groups
    #[arg(long)]
    pub tree: bool,
    /// Show how the file was made
    #[arg(long)]
    pub history: bool,
    /// Show attributes and coordinate labels
    #[arg(short, long)]
    pub metadata: bool,
    /// Show all of it
    #[arg(short, long)]
    pub all: bool,
    /// Print one `tet.info/1` object
    #[arg(long)]
    pub json: bool,
    /// Ignore the footer (axis names, labels, attributes, history), for example if it is damaged
    #[arg(long)]
    pub no_footer: bool,
}

/// The order of datasets in a table.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command, SortName};
///
/// let cli = Cli::try_parse_from(["tet", "ls", "a.tet", "--sort", "size"])?;
/// assert!(matches!(cli.command, Command::Info(args) if args.sort == SortName::Size));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SortName {
    /// As they are in the file.
    #[default]
    File,
    /// By name; numbers in names by value.
    Name,
    /// The largest first.
    Size,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet info climate.tet                       the table of datasets
  tet ls model.safetensors 'layers.0.*'      of those whose names match
  tet ls model.safetensors --sort size       the largest first
  tet ls model.safetensors --depth 3         parameters and bytes of each layer
  tet info climate.tet --metadata            with attributes and labels
  tet info forecast.tgm --keys name,mars.param,shape   these values of each dataset
  tet info model.nc --tree                   groups, their attributes, and their datasets
  tet info climate.tet --chunks -n 5         with the first five chunks of each dataset
  tet info jan.nc feb.nc mar.nc              several files; a folder: all that is in it
  tet info scan.h5 entry/instrument          of one group
  tet info climate.tet --json | jq '.datasets[].name'

If the footer cannot be read, the rest is shown with a warning, and the exit status is 3.";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
List the datasets of a file with type, shape, chunk shape, codec, stored and logical size, \
names of the axes, units and long name, and the axes with their first and last labels. Times are shown as dates \
with their steps and calendar; of axes with very many labels only the ends are read.\n\nThe format is recognized by the content of the file; a table of text by its name, which ends in \
.csv or .tsv. Only the structure and the labels of axes are read, no other values. A stored size is `?` where chunks are \
files on a server: --chunks -n 0 asks for all of them.\n\n\
In patterns of names `*` stands for any text, `?` for one character, {a,b} for one of these, {0..31} for a \
whole number from 0 to 31. Columns that are the same for all datasets are in the last line, with the totals.";
