//! `tet zt`: what only zTensor files have.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{StoreArgs, WriteArgs, ZtArgs};

/// Arguments of `tet zt`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct ZtEditArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: ZtVerb,
}

impl ZtEditArgs {
    /// Whether the answer is JSON.
    pub(super) fn wants_json(&self) -> bool {
        matches!(&self.verb, ZtVerb::Append(args) if args.json)
    }
}

/// The subcommands of `tet zt`.
#[derive(Debug, Subcommand)]
pub enum ZtVerb {
    /// Append the tensors of another file of any kind
    #[command(after_long_help = APPEND_EXAMPLES)]
    Append(Box<ZtAppendArgs>),
}

/// Arguments of `tet zt append`.
#[derive(Debug, Args)]
pub struct ZtAppendArgs {
    /// The .zt file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The file whose tensors are appended, of any kind that tet reads in place
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Append only this dataset (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Exclude this dataset (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// Write at the end of FILE instead of making a new file: faster, and not atomic
    #[arg(long)]
    pub in_place: bool,
    /// How tensors are stored.
    #[command(flatten)]
    pub store: StoreArgs,
    /// How the file is written.
    #[command(flatten)]
    pub zt: ZtArgs,
    /// Print one `tet.convert/1` object
    #[arg(long)]
    pub json: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet zt append model.zt lora.safetensors
  tet zt append model.zt more.zt --in-place

`tet edit` renames, drops, sets, grows and compacts: it is the same for all formats.";

const APPEND_EXAMPLES: &str = "\
EXAMPLES
  tet zt append model.zt lora.safetensors
  tet zt append model.zt climate.tet --dataset temp --codec zstd
  tet zt append model.zt more.zt --in-place

With --in-place the new tensors and a new index are written at the end of FILE. The last 8 bytes \
make the new index valid; they are written after everything else is durable. If the machine stops \
before that, `tet repair` finds the old index.";
