//! `tet repair`.

use std::path::PathBuf;

use clap::Args;

use super::WriteArgs;

/// Arguments of `tet repair`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RepairArgs {
    /// The file or folder to repair
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Make only the edits with these codes
    #[arg(long, value_name = "CODE", num_args = 1.., value_delimiter = ',', conflicts_with = "all")]
    pub apply: Vec<String>,
    /// Make all edits of the plan that lose nothing (with --salvage: all edits)
    #[arg(long)]
    pub all: bool,
    /// Write the repaired file here instead of replacing FILE
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// .tet: take chunks that match their digest from this copy of the file, or from an older version
    #[arg(long, value_name = "OTHER")]
    pub from: Option<PathBuf>,
    /// .tet: in a file without digests, take lost chunks of the same dataset and coordinate from OTHER
    #[arg(long, requires = "from")]
    pub trust_other: bool,
    /// .tet: allow losses: fill lost chunks (NaN for floats, --fill for integers)
    #[arg(long)]
    pub salvage: bool,
    /// Make no copy of the damaged file (FILE.bak) when --salvage replaces it
    #[arg(long, requires = "salvage")]
    pub no_backup: bool,
    /// .tet: fill lost integers with this value
    #[arg(long, value_name = "VALUE", requires = "salvage", allow_negative_numbers = true)]
    pub fill: Option<i128>,
    /// Limit the memory for chunks and other checked bytes, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// Limit the bytes that the data may decode to, as 64GiB
    ///
    /// The default is 16 GiB, or 65,536 times the file length if that is more: a small file can
    /// declare any number of elements.
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub max_decoded: Option<u64>,
    /// Print one `tet.repair/1` object
    #[arg(long)]
    pub json: bool,
    /// How the repaired file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet repair climate.tet                            print the plan; changes nothing
  tet repair climate.tet --all                      make the repair, replace the file
  tet repair climate.tet --apply TET-H2 TET-N15     only these edits
  tet repair model.pt --all                         put flipped bits back
  tet repair climate.tet --all -o repaired.tet      write another file
  tet repair climate.tet --from backup.tet --all    take lost chunks from a copy
  tet repair cut.tet --salvage --all -o rest.tet    keep what can be read, NaN for the rest

EXIT STATUS
  0 no errors are left and nothing was lost; 1 edits are pending, errors are
  left, or something was lost; 3 the file is damaged and cannot be repaired";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Plan the repair of a damaged file, and make it with --all or --apply.\n\nWithout --apply or --all \
the plan is printed and nothing is changed: each edit with the rule that was broken, the proof that \
it is right (a digest, the rest of the file, or none), and what is lost.\n\n\
A single flipped bit of stored bytes is put back in every format that has checksums of them: .tet, \
.zt, .tgm, .npz, .pt, FITS, and chunks of HDF5 and Zarr. In .tet files the structure is repaired too, \
and chunks are taken from a copy. For what cannot be repaired, `tet convert --salvage FILE OUT` \
writes all that can be read.\n\n\
--all makes the edits that lose nothing. Edits of .tet files that lose elements or metadata also need \
--salvage, which keeps a copy of the damaged file as FILE.bak when it replaces it.\n\n\
The new file is written to a temporary file, checked, and only then renamed. A file without errors \
is never changed, and a second run changes nothing.";
