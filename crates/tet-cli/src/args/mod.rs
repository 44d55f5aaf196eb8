//! The command line: every command, its options, help and examples.

mod cat;
mod convert;
mod diff;
mod digest;
mod dump;
mod edit;
mod info;
mod layout;
mod meaning;
mod net;
mod other;
mod plot;
mod query;
#[cfg(feature = "zarr")]
mod refs;
mod repair;
mod series;
mod stats;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use cat::{CatArgs, CatFormat};
pub(crate) use convert::ALIGN;
pub use convert::{
    ChecksumName, CodecName, ConvertArgs, DialectName, EncodingName, FilterName, MasksName, Named,
    PreferName, ProfileName, ReserveArgs, SparseName, StoreArgs, TgmArgs, ZtArgs,
};
pub use diff::{DiffArgs, DiffSort};
pub use digest::{DigestArgs, DigestCheckArgs, DigestCreateArgs, DigestVerb};
pub use dump::{DumpArgs, RegionName};
pub use edit::{
    EditAppendArgs, EditArgs, EditCompactArgs, EditDropArgs, EditPlaceArgs, EditRenameArgs,
    EditRepackArgs, EditSetArgs, EditVerb,
};
pub use info::{InfoArgs, SortName};
pub use layout::{LayoutArgs, LayoutName};
pub use meaning::{MeaningArgs, WrittenValuesArgs};
pub use net::NetArgs;
pub use other::{CompletionsArgs, DemoArgs, ManArgs, VerifyArgs};
pub use plot::{ImageName, PictureArgs, PlotArgs, PlotKind};
pub use query::{
    AskArgs, CellArgs, EndName, ExplainArgs, NanName, OpArgs, OtherArgs, PadName, ParamArgs,
    PartArgs, QueryArgs, QueryFormat, QuestionArgs, SaveArgs, ShowArgs, flag,
};
#[cfg(feature = "zarr")]
pub use refs::{EdgesName, RefsArgs};
pub use repair::RepairArgs;
pub use series::{SeriesArgs, SeriesGcArgs, SeriesListArgs, SeriesVerb};
pub use stats::{StatsArgs, StatsOnly};

/// List, read, query, convert and verify tensor files.
#[derive(Debug, Parser)]
#[command(
    name = "tet",
    version,
    about,
    long_about = "List, read, query, convert and verify tensor files.\n\nA .tet file contains named \
                  arrays (datasets) in chunks, raw or compressed, so that part of an array can be \
                  read without the rest. HDF5, NetCDF, Zarr, FITS, PyTorch, safetensors, zTensor, Tensogram, \
                  GGUF, CSV, .npy and .npz files are read in place, without conversion.",
    after_help = "Start with `tet demo`: it makes a small file and runs seven commands on it.",
    after_long_help = TET_EXAMPLES,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// Options of files on servers.
    #[command(flatten)]
    pub net: NetArgs,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The heading of options that every command has.
const GLOBAL: &str = "Options of every command";
/// The heading of options that say which values are used.
const VALUES: &str = "Values";
/// The heading of options of what is printed and written.
const OUTPUT: &str = "Output";

const TET_EXAMPLES: &str = "\
EXAMPLES
  tet demo                                   commands on a small data set
  tet year.nc                                what is in a file: tet info year.nc
  tet cat year.nc 'tas[time=2001-07, lat~48.1, lon~11.5]'   values, by label
  tet cat scan.h5 'entry/counts[0:3, :, -1]' values, by position
  tet query year.nc tas --mean time -o m.nc  the mean along an axis, as a file
  tet plot year.nc 'tas[0]' -o map.png       a picture
  tet stats model.safetensors                statistics of all tensors
  tet diff old.safetensors new.safetensors   what differs between two files
  tet convert year.nc year.zarr              any format into any other
  tet convert arrays.npz arrays.tet          NumPy arrays in, a .tet file out
  tet explain year.nc tas -s lat=51          what a query would read
  tet refs year.nc -o year.json              references, by which Zarr readers read it in place
  tet verify *.tet && echo ok                check files, exit 1 on errors
  tet info https://host/year.nc              a file on a server, without a download
  tet dump arrays.tet --at 1000              what one byte means
  tet repair broken.tet                      what can be repaired

EXIT STATUS
  0    success (also when the reader of a pipe stops)
  1    the answer is no: verify found errors, repairs are pending, a digest differs, or elements
       of a damaged file were lost
  2    wrong usage: options, document, dataset, axis, label, selection, output exists
  3    the file is damaged, or of a version that this build does not read
  4    a limit or the memory budget was reached, or an integer result overflowed
  5    environment error: file not found, permission denied, I/O error, file changed during a read
  6    a format, such as GRIB, or a type or codec that this build does not read
  130  interrupted

ENVIRONMENT
  NO_COLOR, CLICOLOR_FORCE    no colors; colors even when piped (--color wins)
  PAGER                       shows what is longer than the terminal [default: less]; cat for none
  AWS_*, GS_*, AZURE_*        credentials, region and endpoint for s3://, gs:// and az:// URLs
  HTTPS_PROXY, HTTP_PROXY     the proxy for URLs of a scheme
  ALL_PROXY, NO_PROXY         the proxy for all URLs, and the hosts without one
  SSL_CERT_FILE               the certificates to trust for https:// [default: those built in]
  TET_CACHE, TET_CACHE_SIZE   as --cache and --cache-size
  TET_DOWNLOAD                as --download
  SOURCE_DATE_EPOCH           the time written into a file's history";

/// Options of every command.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = GLOBAL)]
pub struct GlobalArgs {
    /// Choose when to print colors
    ///
    /// `auto` uses colors in a terminal unless NO_COLOR is set. CLICOLOR_FORCE forces them in a
    /// pipe too.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub color: ColorWhen,
    /// Print errors only: no progress, notes or warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print long reports at once, also on a terminal
    #[arg(long, global = true, hide_short_help = true)]
    pub no_pager: bool,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    /// In a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a small data set and show what tet does with it
    #[command(long_about = other::DEMO_LONG_ABOUT)]
    Demo(DemoArgs),
    /// List the datasets of a file: types, shapes, chunks, sizes
    #[command(visible_alias = "ls", long_about = info::LONG_ABOUT)]
    Info(Box<InfoArgs>),
    /// Print or save the values of a dataset or a slice of it
    #[command(visible_alias = "head", long_about = cat::LONG_ABOUT)]
    Cat(Box<CatArgs>),
    /// Compute over a dataset: reductions along any axes, groups, windows, transforms
    #[command(long_about = query::LONG_ABOUT)]
    Query(Box<QueryArgs>),
    /// Show what a query would read, and how much memory and how many passes it needs
    #[command(long_about = query::EXPLAIN_LONG_ABOUT)]
    Explain(Box<ExplainArgs>),
    /// Draw a selection or an answer: a heatmap, a line, a histogram
    #[command(long_about = plot::LONG_ABOUT)]
    Plot(Box<PlotArgs>),
    /// Summarize values: range, mean, standard deviation, quartiles, a histogram
    #[command(long_about = stats::LONG_ABOUT)]
    Stats(Box<StatsArgs>),
    /// Compare two files: datasets, metadata and values
    #[command(long_about = diff::LONG_ABOUT)]
    Diff(Box<DiffArgs>),
    /// Convert a file, or some of its datasets, to another format
    #[command(visible_alias = "import", alias = "export", long_about = convert::LONG_ABOUT)]
    Convert(Box<ConvertArgs>),
    /// Write references to the stored chunks of a file, for readers of Zarr
    #[cfg(feature = "zarr")]
    #[command(long_about = refs::LONG_ABOUT)]
    Refs(Box<RefsArgs>),
    /// Check files and report every error with its place
    #[command(long_about = other::VERIFY_LONG_ABOUT)]
    Verify(VerifyArgs),
    /// Show the bytes of a file with their meaning, field by field
    #[command(long_about = dump::LONG_ABOUT)]
    Dump(Box<DumpArgs>),
    /// Edit a file: rename, drop, set, append, compact
    #[command(long_about = edit::LONG_ABOUT)]
    Edit(EditArgs),
    /// List the parts of a folder that grows, and remove unused files
    #[command(long_about = series::LONG_ABOUT)]
    Series(SeriesArgs),
    /// Plan the repair of a damaged file, and make it
    #[command(long_about = repair::LONG_ABOUT)]
    Repair(Box<RepairArgs>),
    /// Add checksums to files, and compare files with them
    #[command(long_about = digest::LONG_ABOUT)]
    Digest(DigestArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write all of them into a directory
    Man(ManArgs),
}

impl Command {
    /// Whether errors are printed as `tet.error/1`.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        match self {
            Command::Info(args) => args.json,
            Command::Query(args) => args.wants_json(),
            Command::Explain(args) => args.json,
            Command::Stats(args) => args.json,
            Command::Diff(args) => args.json,
            Command::Convert(args) => args.json,
            #[cfg(feature = "zarr")]
            Command::Refs(args) => args.json,
            Command::Edit(args) => args.wants_json(),
            Command::Verify(args) => args.json,
            Command::Dump(args) => args.json,
            Command::Repair(args) => args.json,
            Command::Digest(args) => args.wants_json(),
            Command::Cat(_)
            | Command::Plot(_)
            | Command::Series(_)
            | Command::Demo(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

/// How a file is read.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// Choose how the file is read
    ///
    /// `pread` copies the requested bytes into memory: disk errors and truncated files become error
    /// messages. `mmap` memory-maps the file under a lease, so that no other program can change it
    /// during the read; it fails where the system grants no lease (network file systems, FUSE,
    /// files of other users). `auto` is `pread`.
    #[arg(
        long,
        value_name = "WAY",
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub io: IoName,
    /// Ignore the footer of a .tet file, for example if it is damaged
    ///
    /// It has the names of axes, labels, attributes and the history.
    #[arg(long, hide_short_help = true)]
    pub no_footer: bool,
    /// Number of threads, 0 for all
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true, hide_short_help = true, value_parser = crate::size::parse_threads)]
    pub threads: usize,
    /// Choose which chunks are compared with checksums
    ///
    /// `auto` compares every chunk that is read whole. `always` also compares chunks of which only
    /// a part is needed, and reads the rest of them for that. The answer reports `verified` or
    /// `unchecked` accordingly.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub digests: DigestName,
    /// Choose when statistics of chunks are used
    ///
    /// Minima, maxima, counts, sums of integers, means of integers and filters of a .tet file with statistics read only
    /// the chunks that matter. `verified` compares the statistics with their checksum first. `trust` does not: the answer
    /// then reports `unchecked`. `never` reads every selected chunk, and so does `--digests always`. Answers report how many
    /// chunks were not read.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "verified",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub stats: StatsName,
    /// Limit the memory of a read, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// Limit the bytes that the data may decode to, as 64GiB
    ///
    /// The default is 16 GiB, or 65,536 times the file length if that is more: a small file can
    /// declare any number of elements.
    #[arg(long, value_name = "SIZE", hide_short_help = true, value_parser = crate::size::parse)]
    pub max_decoded: Option<u64>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum IoName {
    /// Positioned reads, as `pread`.
    #[default]
    Auto,
    /// Positioned reads.
    Pread,
    /// A memory map under a lease.
    Mmap,
}

/// Which chunks are compared with their digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DigestName {
    /// Chunks that are read whole.
    #[default]
    Auto,
    /// Also chunks that are read in part.
    Always,
    /// No chunks.
    Never,
}

/// When statistics of chunks are used instead of the chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum StatsName {
    /// Never: chunks are read.
    Never,
    /// After they were compared with their checksum.
    #[default]
    Verified,
    /// Without a comparison.
    Trust,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = OUTPUT)]
pub struct WriteArgs {
    /// Replace an existing output, atomically
    #[arg(short, long)]
    pub force: bool,
    /// Do not sync: faster, but a power failure may lose the new file
    #[arg(long, hide_short_help = true)]
    pub no_sync: bool,
}
