//! `tet digest`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::WriteArgs;

/// Arguments of `tet digest`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct DigestArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: DigestVerb,
}

impl DigestArgs {
    /// Whether the answer is JSON.
    pub(super) fn wants_json(&self) -> bool {
        match &self.verb {
            DigestVerb::Create(args) => args.json,
            DigestVerb::Check(args) => args.json,
        }
    }
}

/// The subcommands of `tet digest`.
#[derive(Debug, Subcommand)]
pub enum DigestVerb {
    /// Write the checksums of files of any format, and of folders, to files beside them
    #[command(after_long_help = CREATE_EXAMPLES)]
    Create(DigestCreateArgs),
    /// Compare files with their lists of checksums
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(DigestCheckArgs),
}

/// Arguments of `tet digest create`.
#[derive(Debug, Args)]
pub struct DigestCreateArgs {
    /// The files and folders; FILE SUM writes the list of one to SUM
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The list of one file or folder [default: FILE.sum]
    #[arg(short, long, value_name = "SUM")]
    pub output: Option<PathBuf>,
    /// Print one `tet.digest/1` object for each file
    #[arg(long)]
    pub json: bool,
    /// How the list is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet digest check`.
#[derive(Debug, Args)]
pub struct DigestCheckArgs {
    /// The files and folders whose lists, FILE.sum, are beside them, or the lists; SUM FILE compares FILE with the list SUM
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print one `tet.digest/1` object for each file
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet digest create measured.nc         measured.nc.sum, for a file that must not change
  tet digest check measured.nc          exit 1 when it has changed, and where
  tet digest create *.h5 hourly.tets    a list for each file, and one for the folder";

const CREATE_EXAMPLES: &str = "\
EXAMPLES
  tet digest create climate.tet                  climate.tet.sum
  tet digest create climate.tet sums/climate.sum
  tet digest create *.nc wind.zarr               one list for each file, one for the folder";

const CHECK_EXAMPLES: &str = "\
EXAMPLES
  tet digest check climate.tet                   with climate.tet.sum
  tet digest check *.nc wind.zarr
  tet digest check sums/climate.sum data/climate.tet

EXIT STATUS
  0 the file is unchanged; 1 it has changed: the bytes that differ are
  printed, with their datasets; 3 the list is damaged";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Detect accidental changes to files of any format.\n\n`create` writes the checksums of a file to a \
second file; `check` compares the file with them. A .tet file has digests of its own: `tet edit \
repack --digests` adds them to one without.";
