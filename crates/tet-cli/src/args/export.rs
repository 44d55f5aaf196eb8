//! `tet export`.

use std::path::PathBuf;

use clap::Args;

use super::{ReadArgs, WriteArgs};

/// Arguments of `tet export`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct ExportArgs {
    /// The file to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write: .safetensors, .npz, .zt, .tgm, .tet, or one dataset as .npy, .raw or .csv
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Take this dataset only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Leave this dataset out (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// One `tet.convert/1` object for programs
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet export climate.tet climate.npz                 every dataset, for numpy.load
  tet export climate.tet temp.npy --dataset temp     one of them
  tet export weights.tet model.safetensors           for those who load models
  tet export model.safetensors some.safetensors --dataset wte.weight --dataset wpe.weight";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Write the datasets of a file as a file of another kind, which the suffix of OUT names: `tet convert` \
with options for reading instead of those for writing.\n\nThe input is any file tet reads, told by its content. Elements stream through: a file larger than \
memory is exported. The output appears whole or not at all. What it has no place for is told; \
elements are never changed. A safetensors file stands as its reference library writes it: the \
same datasets give the same bytes, and a safetensors file that is exported whole gives itself.";
