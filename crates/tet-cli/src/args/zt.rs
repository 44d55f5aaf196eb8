//! `tet zt`.

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
    /// Rename a tensor
    #[command(after_long_help = RENAME_EXAMPLES)]
    Rename(ZtRenameArgs),
    /// Remove tensors, and their bytes unless another tensor shares them
    #[command(after_long_help = DROP_EXAMPLES)]
    Drop(ZtDropArgs),
    /// Set or remove custom fields of a tensor
    #[command(after_long_help = SET_EXAMPLES)]
    Set(ZtSetArgs),
    /// Append the tensors of another file of any kind
    #[command(after_long_help = APPEND_EXAMPLES)]
    Append(Box<ZtAppendArgs>),
    /// Reclaim unused space
    #[command(after_long_help = COMPACT_EXAMPLES)]
    Compact(ZtCompactArgs),
}

/// Arguments of `tet zt rename`.
#[derive(Debug, Args)]
pub struct ZtRenameArgs {
    /// The .zt file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The tensor, by name or as #N
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Its new name
    #[arg(value_name = "NEW")]
    pub to: String,
    /// The output file.
    #[command(flatten)]
    pub place: ZtPlaceArgs,
}

/// Arguments of `tet zt drop`.
#[derive(Debug, Args)]
pub struct ZtDropArgs {
    /// The .zt file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The tensors, by name or as #N
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// The output file.
    #[command(flatten)]
    pub place: ZtPlaceArgs,
}

/// Arguments of `tet zt set`.
#[derive(Debug, Args)]
pub struct ZtSetArgs {
    /// The .zt file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The tensor, by name or as #N
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Fields to set: numbers, true, false, null, lists and objects as JSON, anything else as text
    #[arg(value_name = "KEY=VALUE", required_unless_present = "unset")]
    pub fields: Vec<String>,
    /// Remove this field (repeatable)
    #[arg(long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// The output file.
    #[command(flatten)]
    pub place: ZtPlaceArgs,
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

/// Arguments of `tet zt compact`.
#[derive(Debug, Args)]
pub struct ZtCompactArgs {
    /// The .zt file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The output file.
    #[command(flatten)]
    pub place: ZtPlaceArgs,
}

/// The output file of an edit.
#[derive(Debug, Args)]
pub struct ZtPlaceArgs {
    /// Write the new file here instead of replacing FILE
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet zt rename model.zt wte.weight embed.weight
  tet zt drop model.zt optimizer.step '#17'
  tet zt set model.zt embed.weight quant=int8 scale=0.125
  tet zt append model.zt lora.safetensors
  tet zt compact model.zt

FILE is replaced atomically by a new file. The stored bytes of the other tensors are copied
unchanged.";

const RENAME_EXAMPLES: &str = "\
EXAMPLES
  tet zt rename model.zt wte.weight embed.weight
  tet zt rename model.zt '#0' first -o renamed.zt";

const DROP_EXAMPLES: &str = "\
EXAMPLES
  tet zt drop model.zt optimizer.step optimizer.lr
  tet zt drop model.zt '#17' -o smaller.zt";

const SET_EXAMPLES: &str = "\
EXAMPLES
  tet zt set model.zt embed.weight quant=int8 scale=0.125 'axes=[\"vocab\",\"dim\"]'
  tet zt set model.zt embed.weight --unset quant";

const APPEND_EXAMPLES: &str = "\
EXAMPLES
  tet zt append model.zt lora.safetensors
  tet zt append model.zt climate.tet --dataset temp --codec zstd
  tet zt append model.zt more.zt --in-place

With --in-place the new tensors and a new index are written at the end of FILE. The last 8 bytes
make the new index valid; they are written after everything else is durable. If the machine stops
before that, `tet repair` finds the old index.";

const COMPACT_EXAMPLES: &str = "\
EXAMPLES
  tet zt compact model.zt";
