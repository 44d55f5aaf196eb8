//! `tet series`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Description of the command, for its help.
pub(super) const LONG_ABOUT: &str = "\
List the parts of a folder NAME.tets, and remove files in it that are not used.

Such a folder grows by `tet edit append`, which adds a part and never changes another one. All commands read it as one \
file.";

/// Arguments of `tet series`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet series list hourly.tets";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Series(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct SeriesArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: SeriesVerb,
}

/// The subcommands of `tet series`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command, SeriesVerb};
///
/// let line = "tet series gc hourly.tets --apply";
/// let Command::Series(args) = Cli::try_parse_from(line.split(' '))?.command else { panic!() };
/// assert!(matches!(args.verb, SeriesVerb::Gc(args) if args.apply));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Subcommand)]
pub enum SeriesVerb {
    /// List the parts and the rows that each has
    #[command(after_long_help = LIST_EXAMPLES)]
    List(SeriesListArgs),
    /// List files that are not used, or remove them
    #[command(after_long_help = GC_EXAMPLES)]
    Gc(SeriesGcArgs),
}

/// Arguments of `tet series list`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet series list hourly.tets";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Series(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct SeriesListArgs {
    /// The folder of parts
    #[arg(value_name = "NAME.tets")]
    pub folder: PathBuf,
}

/// Arguments of `tet series gc`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet series gc hourly.tets";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Series(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct SeriesGcArgs {
    /// The folder of parts, or a folder of any files
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Remove the files instead of listing them
    #[arg(long)]
    pub apply: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet edit append hourly.tets 00.nc 01.nc --axis time
  tet series list hourly.tets
  tet series gc hourly.tets --apply
  tet convert hourly.tets day.tet";

const LIST_EXAMPLES: &str = "\
EXAMPLES
  tet series list hourly.tets";

const GC_EXAMPLES: &str = "\
EXAMPLES
  tet series gc hourly.tets                 what would be removed
  tet series gc hourly.tets --apply
  tet series gc s3://bucket/hourly.tets     files of a day ago and older

Files that are not used are parts whose rows a newer part has taken over, and what is left of a process that was killed. \
Other files in the folder stay. In a bucket (s3://, gs://, az://) only files and uploads older than a day are listed and removed: younger \
ones may be those of a program that is appending. On a disk nothing is removed while a process is appending: --apply fails then. Programs that opened \
the folder before may need a removed part: they fail with an error, and can open the folder again.

In a folder of any files, these are files and folders of the names .NAME.tet-RANDOM.tmp that have not been written to for a day: a program that \
was killed left them.";
