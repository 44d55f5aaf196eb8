//! `tet repair`.

use std::path::PathBuf;

use clap::Args;

use super::WriteArgs;

/// Arguments of `tet repair`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RepairArgs {
    /// The file to repair
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Make the edits of these codes
    #[arg(long, value_name = "CODE", num_args = 1.., value_delimiter = ',', conflicts_with = "all")]
    pub apply: Vec<String>,
    /// Make all edits of the plan
    #[arg(long)]
    pub all: bool,
    /// Write the repaired file here, instead of in the place of FILE
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// A copy of the file, or an older one: chunks that match their digest are taken from it
    #[arg(long, value_name = "OTHER")]
    pub from: Option<PathBuf>,
    /// In a file without digests, take lost chunks of the same dataset and place from OTHER
    #[arg(long, requires = "from")]
    pub trust_other: bool,
    /// Allow losses: fill lost chunks (NaN for floats, --fill for integers), drop damaged tensors
    #[arg(long)]
    pub salvage: bool,
    /// Keep no copy of the damaged file (FILE.bak) when --salvage replaces it
    #[arg(long, requires = "salvage")]
    pub no_backup: bool,
    /// The value of lost integers
    #[arg(long, value_name = "VALUE", requires = "salvage", allow_negative_numbers = true)]
    pub fill: Option<i128>,
    /// The most memory to use for chunks, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// The most bytes that the data may decode to, as 64GiB
    ///
    /// Without it 16 GiB, or 65,536 times the length of the file where that is more: a small file may
    /// claim any number of elements.
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub max_decoded: Option<u64>,
    /// One `tet.repair/1` object, for programs
    #[arg(long)]
    pub json: bool,
    /// How the repaired file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet repair climate.tet                            what can be done; changes nothing
  tet repair climate.tet --all                      do it, in place of the file
  tet repair climate.tet --apply TET-H2 TET-N15     only these edits
  tet repair climate.tet --all -o mended.tet        do it in another file
  tet repair climate.tet --from backup.tet --all    take lost chunks from a copy
  tet repair cut.tet --salvage --all -o rest.tet    keep what can be read, NaN for the rest

EXIT STATUS
  0 nothing is wrong any more and nothing was lost; 1 edits are pending, errors are left, or
  something was lost; 3 the file is damaged and there is nothing to be done";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Plan what can be done for a damaged file, and do it when asked to.\n\nWithout --apply or --all \
the plan is printed and nothing is changed: every edit with the rule that it heals, why it is \
right (proven by a digest, following from the rest of the file, or neither), and what is lost. \
Single flipped bits are flipped back where a digest, a checksum or the rest of the file proves \
them.\n\n\
--all makes the edits that lose nothing. Edits that lose elements, tensors or metadata also need \
--salvage, which keeps a copy of the damaged file as FILE.bak when it replaces it.\n\n\
The new file is written beside the old one, compared, checked, and only then renamed; a sound \
file is never touched, and a second run changes nothing.";
