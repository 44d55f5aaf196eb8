//! `tet digest`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::WriteArgs;

/// Arguments of `tet digest`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct DigestArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: DigestVerb,
}

impl DigestArgs {
    /// Whether the answer is JSON.
    pub(super) fn wants_json(&self) -> bool {
        match &self.verb {
            DigestVerb::Add(args) => args.json,
            DigestVerb::Create(args) => args.json,
            DigestVerb::Check(args) => args.json,
        }
    }
}

/// What to do with digests.
#[derive(Debug, Subcommand)]
pub enum DigestVerb {
    /// Put a .tet file under digests, so that every changed bit is found
    #[command(long_about = ADD_LONG_ABOUT, after_long_help = ADD_EXAMPLES)]
    Add(DigestAddArgs),
    /// Write the digests of a file of any format to a list beside it
    #[command(after_long_help = CREATE_EXAMPLES)]
    Create(DigestCreateArgs),
    /// Compare a file with a list of its digests
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(DigestCheckArgs),
}

/// Arguments of `tet digest add`.
#[derive(Debug, Args)]
pub struct DigestAddArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the protected file here, instead of in the place of FILE
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// One `tet.digest/1` object, for programs
    #[arg(long)]
    pub json: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet digest create`.
#[derive(Debug, Args)]
pub struct DigestCreateArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The list [default: FILE.sum]
    #[arg(value_name = "SUM")]
    pub sum: Option<PathBuf>,
    /// One `tet.digest/1` object, for programs
    #[arg(long)]
    pub json: bool,
    /// How the list is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet digest check`.
#[derive(Debug, Args)]
pub struct DigestCheckArgs {
    /// The list
    #[arg(value_name = "SUM")]
    pub sum: PathBuf,
    /// The file [default: the one the list names, beside it]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// One `tet.digest/1` object, for programs
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet digest add climate.tet            protect a file, in its place
  tet digest create measured.nc         measured.nc.sum, for a file that must not change
  tet digest check measured.nc.sum      exit 1 when it has changed, and where";

const ADD_EXAMPLES: &str = "\
EXAMPLES
  tet digest add climate.tet
  tet digest add old.tet -o new.tet

EXIT STATUS
  0 the file has digests now, or had them already; 3 it is damaged: see `tet repair`";

const CREATE_EXAMPLES: &str = "\
EXAMPLES
  tet digest create climate.tet                  climate.tet.sum
  tet digest create climate.tet sums/climate.sum";

const CHECK_EXAMPLES: &str = "\
EXAMPLES
  tet digest check climate.tet.sum
  tet digest check sums/climate.sum data/climate.tet

EXIT STATUS
  0 the file is what it was; 1 it is not: the bytes that differ are told, and what lies there; 3 the list \
is damaged";

const ADD_LONG_ABOUT: &str = "\
Put a .tet file under digests, so that every changed bit is found.\n\nThe payloads stay where \
they are; history, metadata and keys that this build does not know are kept. A file that does \
not verify is refused, for digests would hide its damage. Digests that another program left \
behind unused are replaced.";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Protect files against changes that nobody made.\n\nA .tet file takes digests of its own (add); a \
file that must not be written to, or of another format, gets a list beside it (create, check).";
