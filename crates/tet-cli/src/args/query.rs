//! `tet query` and `tet explain`.

mod ask;
mod op;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LayoutArgs, OUTPUT, ReadArgs, WriteArgs};
pub(super) use ask::folded_query;
pub use ask::{
    AskArgs, CellArgs, EndName, NanName, OtherArgs, PadName, ParamArgs, PartArgs, QuestionArgs,
};
pub use op::{OpArgs, flag};

/// Arguments of `tet query`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tet query [OPTIONS] FILE DOCUMENT\n       tet query [OPTIONS] FILE DATASET [--mean AXES ...]\n       tet query [OPTIONS] DOCUMENT -t FILE",
    after_long_help = EXAMPLES
)]
pub struct QueryArgs {
    /// The query.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// The options of the output.
    #[command(flatten)]
    pub show: ShowArgs,
    /// The output file.
    #[command(flatten)]
    pub save: SaveArgs,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// The options of the output.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub struct ShowArgs {
    /// Choose how the answer is printed
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub format: QueryFormat,
    /// Print one `tet.query/1` object, as --format json does
    #[arg(long, help_heading = None::<&str>)]
    pub json: bool,
    /// Print at most N values or lines [default: 64]
    ///
    /// Values of an array, lines of a reduction. --json contains every value of a reduction. The formats table and quiet print every value
    /// unless N is given.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub preview: Option<u64>,
    /// Print every value, however many
    #[arg(long, conflicts_with = "preview")]
    pub full: bool,
}

impl ShowArgs {
    /// The number of values of an array in a report.
    #[must_use]
    pub fn preview(&self) -> u64 {
        let default = if self.full { u64::MAX } else { 64 };
        self.preview.unwrap_or(default)
    }
}

/// The output file of an answer.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub struct SaveArgs {
    /// Write to a file in the format of its suffix; - is standard output
    ///
    /// Every format that `tet convert` writes: .tet, .zt, .npz, .npy, .raw, .csv, .tsv, .json, .h5,
    /// .nc, .zarr and others, with the labels, attributes and coordinates that the format can store,
    /// and the query as its history. To standard output --to names the format.
    #[arg(short, long, value_name = "OUT", help_heading = None::<&str>)]
    pub output: Option<PathBuf>,
    /// Set the format of OUT, by a suffix such as csv or nc
    #[arg(long, value_name = "FORMAT", requires = "output")]
    pub to: Option<String>,
    /// Write OUT although nothing is selected
    #[arg(long, hide_short_help = true)]
    pub allow_empty: bool,
    /// How CSV, TSV and JSON are laid out.
    #[command(flatten)]
    pub layout: LayoutArgs,
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum QueryFormat {
    /// A short report, with the first and last values of an array.
    #[default]
    Text,
    /// One `tet.query/1` object.
    Json,
    /// The report, followed by the plan.
    Stats,
    /// All values on one line; their digits read back to exactly the same float64.
    Quiet,
    /// All values, one on a line, with their labels.
    Table,
}

impl QueryArgs {
    /// Whether the answer and the errors are JSON.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.show.json || self.show.format == QueryFormat::Json
    }
}

const EXAMPLES: &str = "\
EXAMPLES
  tet query climate.tet temp --mean                  the mean of all
  tet query climate.tet temp --mean lat,lon          one value for each time
  tet query climate.tet temp --max --select month=7
  tet query climate.tet temp --count --where 'ge 0, lt 10'
  tet query climate.tet temp --quantile 0.1,0.5,0.9 --over time
  tet query climate.tet temp --histogram 20 --range -40:40
  tet query climate.tet temp --mean --group-by lat   the same as --mean time,lon
  tet query climate.tet temp --mean --group-by-labels station
  tet query climate.tet temp --mean --window time:3  quarters of a year
  tet query climate.tet temp --mean --rolling time:3 --pad nan
  tet query climate.tet temp --arg-max               where it is hottest
  tet query climate.tet temp --transform zscore --over time -o z.npy
  tet query climate.tet temp --mean time -o mean.nc  with coordinates, units and history
  tet query climate.tet temp --mean lat,lon -o - --to csv   a table of labels and values
  tet query climate.tet temp --align elevation:lat,lon
  tet query climate.tet '{\"dataset\": \"temp\", \"mean\": \"time\"}' --json
  tet query climate.tet question.toml                a document from a file
  tet query question.json -t climate.tet -x          the same, document first
  tet query climate.tet temp --sum -q                the number only
  tet query climate.tet temp --mean time --print-doc the document that these options make";

/// Arguments of `tet explain`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tet explain [OPTIONS] FILE DOCUMENT\n       tet explain [OPTIONS] FILE DATASET [--mean AXES ...]\n       tet explain [OPTIONS] DOCUMENT -t FILE",
    after_help = QUERIES,
    after_long_help = format!("{QUERIES}\n\n{EXPLAIN_EXAMPLES}"),
    mut_args(folded_query)
)]
pub struct ExplainArgs {
    /// The query.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Print one `tet.explain/1` object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Print the list of chunks too: coordinate, offset, codec, run
    #[arg(long, help_heading = OUTPUT)]
    pub plan_chunks: bool,
    /// Plan the reads of a local file as if it were on a server, and count the requests
    ///
    /// Files that are given as URLs are always planned so.
    #[arg(long, help_heading = OUTPUT)]
    pub remote: bool,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// The options that a command takes from `tet query`.
pub(super) const QUERIES: &str = "\
QUERIES
  As `tet query`: --mean, --max, --quantile and all other reductions, --over,
  --group-by, --window, --rolling, --transform, and documents; its --help lists
  these options.";

const EXPLAIN_EXAMPLES: &str = "\
EXAMPLES
  tet explain climate.tet temp -s lat=51             what a slice reads
  tet explain climate.tet temp --median lat          how many passes a median takes
  tet explain climate.tet question.toml --json
  tet explain climate.tet temp --plan-chunks         every chunk and its run
  tet explain climate.tet temp --max --remote        how many requests it takes on a server";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Compute over a dataset: reductions over all of a selection, along any axes, in groups or \
windows; transforms; comparisons.\n\nThe query is a document in JSON or TOML: \
a path, the text itself, or - for standard input. Options build the same document \
(--print-doc shows it). Integers are exact; float32 sums and means over a \
whole selection are correctly rounded; the answer does not depend on threads or memory. \
Packed values are scaled, and masked elements, as by `_FillValue`, skipped, unless --raw-values is given.";

/// The long help text.
pub(super) const EXPLAIN_LONG_ABOUT: &str = "\
Show what a query would read: chunks, spans, runs, bytes, memory, passes.\n\nThe plan is the \
one that `tet query` runs, but no value is read. For each axis it prints what one position along \
it needs, and it gives advice if the chunk shape does not suit the query.\n\nThe runs are the ranges of the \
file that one pass reads. A run ends where a task or its share of --memory ends; the number of threads does not change \
them.\n\nFor a file on a server it \
prints the number of requests, without those that a cache (--cache) saves.";
