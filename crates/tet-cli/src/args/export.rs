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
    /// The file to write: .safetensors, .npz, .zt, .tgm, .tet, .h5, .nc, .nc3 or .zarr.zip, the
    /// directory .zarr, columns of one length as .csv or .tsv, or one dataset as .npy, .raw or .csv
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Write only this dataset (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Exclude this dataset (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print one `tet.convert/1` object
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet export climate.tet climate.npz                 every dataset, for numpy.load
  tet export climate.tet temp.npy --dataset temp     one of them
  tet export weights.tet model.safetensors           a file for model loaders
  tet export model.safetensors some.safetensors --dataset wte.weight --dataset wpe.weight";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Write the datasets of a file in the format of the suffix of OUT: `tet convert` with options for \
reading instead of those for writing.\n\nThe input is any file that tet reads, recognized by its \
content. Files larger than memory can be exported. The output is atomic. A warning reports what the \
format cannot store; elements are never changed. .safetensors files are written as the reference \
library writes them: a safetensors file that is exported whole is the same byte for byte.";
