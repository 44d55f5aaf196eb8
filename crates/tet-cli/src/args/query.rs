//! `tet query`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ReadArgs;

/// Arguments of `tet query`.
#[derive(Debug, Args)]
#[command(
    long_about = "Compute over a dataset: count, sum, mean, min, max, over all of a selection or \
                  along any axes.\n\nWhat is asked is a query document in JSON or TOML: a path, \
                  the text itself, or - for standard input. For hands in a hurry, flags build the \
                  same document. Integers are exact; float32 sums and means over a whole selection \
                  are correctly rounded; the answer does not depend on threads or memory.",
    override_usage = "tet query [OPTIONS] FILE DOCUMENT\n       tet query [OPTIONS] FILE DATASET [--mean AXES ...]\n       tet query [OPTIONS] DOCUMENT -t FILE",
    after_long_help = EXAMPLES
)]
pub struct QueryArgs {
    /// The file to query (the document, with -t)
    #[arg(value_name = "FILE")]
    pub first: Option<String>,
    /// A document (path, text, or -), or the name of a dataset
    ///
    /// It is a document if it is -, starts with {, contains = or a line break, or ends in .json
    /// or .toml; else it names a dataset. --doc and --dataset settle what is odd.
    #[arg(value_name = "DOCUMENT|DATASET")]
    pub second: Option<String>,
    /// The file to query, when the document comes first
    #[arg(short = 't', long, value_name = "FILE")]
    pub tensor: Option<PathBuf>,
    /// Execute, which is what happens anyway
    #[arg(short = 'x', long)]
    pub execute: bool,
    /// The document, by its path
    #[arg(long, value_name = "PATH", conflicts_with = "dataset")]
    pub doc: Option<PathBuf>,
    /// The question, by flags.
    #[command(flatten)]
    pub ask: AskArgs,
    /// How the answer is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

/// The question, by flags.
#[derive(Debug, Args)]
#[command(next_help_heading = "The question")]
pub struct AskArgs {
    /// The dataset, by its name or #N
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,
    /// What part of it: '0:10, :, -1' or 'time=\"Jan\":\"Apr\", lat=5'
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Count the elements, of all or along axes: --count, --count time,lat
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "", group = "reduction", allow_negative_numbers = true)]
    pub count: Option<String>,
    /// Sum
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "", group = "reduction", allow_negative_numbers = true)]
    pub sum: Option<String>,
    /// Mean
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "", group = "reduction", allow_negative_numbers = true)]
    pub mean: Option<String>,
    /// Smallest value
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "", group = "reduction", allow_negative_numbers = true)]
    pub min: Option<String>,
    /// Largest value
    #[arg(long, value_name = "AXES", num_args = 0..=1, default_missing_value = "", group = "reduction", allow_negative_numbers = true)]
    pub max: Option<String>,
    /// What a NaN does to a result
    #[arg(long, value_name = "WHAT")]
    pub nan: Option<NanName>,
    /// Print the document instead of executing it
    #[arg(long)]
    pub print_doc: bool,
}

/// How the answer is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "The answer")]
pub struct ShowArgs {
    /// Stop at the plan: what would be read, nothing is
    #[arg(long)]
    pub plan: bool,
    /// With the list of chunks: coordinate, place, codec, run
    #[arg(long)]
    pub plan_chunks: bool,
    /// How the answer is printed
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub format: QueryFormat,
    /// The same as --format json: one `tet.query/1` object
    #[arg(long)]
    pub json: bool,
    /// How many values of an array answer to show
    #[arg(long, value_name = "N", default_value = "64")]
    pub preview: u64,
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum QueryFormat {
    /// A short report; a corner of the values for an array.
    #[default]
    Text,
    /// One `tet.query/1` object.
    Json,
    /// The report with what was read.
    Stats,
    /// The plan only.
    Plan,
    /// The values on one line, full precision.
    Quiet,
    /// One line a value, with its labels.
    Table,
}

/// What a NaN does to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NanName {
    /// The result is NaN.
    Propagate,
    /// It is left out.
    Skip,
}

impl QueryArgs {
    /// Whether the answer and the errors are for programs.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.show.json || self.show.format == QueryFormat::Json
    }
}

const EXAMPLES: &str = "\
EXAMPLES
  tet query climate.tet temp --mean                  the mean of all
  tet query climate.tet temp --mean lat,lon          one value for each time
  tet query climate.tet temp --max --select 'time=\"Jul\"'
  tet query climate.tet '{\"dataset\": \"temp\", \"mean\": \"time\"}' --json
  tet query climate.tet question.toml                a document from a file
  tet query question.json -t climate.tet -x          the same, the other way round
  tet query climate.tet temp --sum -q                the number, and nothing else
  tet query climate.tet temp -s 'lat=5' --plan       what would be read
  tet query climate.tet temp --mean time --print-doc the document these flags make";
