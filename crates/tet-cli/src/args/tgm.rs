//! `tet tgm`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::WriteArgs;

/// Arguments of `tet tgm`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct TgmEditArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: TgmVerb,
}

impl TgmEditArgs {
    /// Whether the answer is JSON.
    pub(super) fn wants_json(&self) -> bool {
        match &self.verb {
            TgmVerb::Ls(args) => args.json,
            TgmVerb::Get(args) => args.json,
            _ => false,
        }
    }
}

/// The subcommands of `tet tgm`.
#[derive(Debug, Subcommand)]
pub enum TgmVerb {
    /// List objects with their metadata
    #[command(after_long_help = LS_EXAMPLES)]
    Ls(TgmLsArgs),
    /// Print values of keys, one line per object; a missing key is an error
    #[command(after_long_help = GET_EXAMPLES)]
    Get(TgmGetArgs),
    /// Set or remove keys of objects or messages
    #[command(after_long_help = SET_EXAMPLES)]
    Set(TgmSetArgs),
    /// Copy messages byte for byte, to one file or to one for each value of a key
    #[command(after_long_help = COPY_EXAMPLES)]
    Copy(TgmCopyArgs),
    /// Combine all messages of files into one message
    #[command(after_long_help = MERGE_EXAMPLES)]
    Merge(TgmMergeArgs),
    /// Write every object as a message; messages with one output name go to one file
    #[command(after_long_help = SPLIT_EXAMPLES)]
    Split(TgmSplitArgs),
    /// Move metadata, index and hashes of every message into its header
    #[command(after_long_help = RESHUFFLE_EXAMPLES)]
    Reshuffle(TgmReshuffleArgs),
    /// Append messages of other files
    #[command(after_long_help = APPEND_EXAMPLES)]
    Append(TgmAppendArgs),
}

/// Which objects are selected.
#[derive(Debug, Args)]
pub struct TgmWhereArgs {
    /// Select objects that match all clauses: KEY=A/B or KEY!=A/B, with commas between them
    /// (repeatable)
    #[arg(id = "where", short, long = "where", value_name = "CLAUSES")]
    pub clauses: Vec<String>,
}

/// Arguments of `tet tgm ls`.
#[derive(Debug, Args)]
pub struct TgmLsArgs {
    /// The .tgm files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The clauses that select objects.
    #[command(flatten)]
    pub filter: TgmWhereArgs,
    /// Show these keys, with commas between them
    #[arg(short = 'p', long, value_name = "KEYS")]
    pub keys: Option<String>,
    /// Print one `tet.tgm/1` object per line
    #[arg(short, long)]
    pub json: bool,
}

/// Arguments of `tet tgm get`.
#[derive(Debug, Args)]
pub struct TgmGetArgs {
    /// The .tgm files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The keys, with commas between them
    #[arg(short = 'p', long, value_name = "KEYS")]
    pub keys: String,
    /// The clauses that select objects.
    #[command(flatten)]
    pub filter: TgmWhereArgs,
    /// Print one JSON object of the keys per line
    #[arg(short, long)]
    pub json: bool,
}

/// Arguments of `tet tgm set`.
#[derive(Debug, Args)]
pub struct TgmSetArgs {
    /// The .tgm file
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file; it may be IN, which is then replaced
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Keys to set: numbers, true, false, null, lists and objects as JSON, anything else as text;
    /// with commas between them (repeatable). Integers are from -2^64 to 2^64 - 1
    #[arg(short, long, value_name = "KEY=VALUE,...", required_unless_present = "unset")]
    pub set: Vec<String>,
    /// Remove this key (repeatable)
    #[arg(short = 'd', long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// The clauses that select objects.
    #[command(flatten)]
    pub filter: TgmWhereArgs,
    /// The encoder to record.
    #[command(flatten)]
    pub provenance: TgmProvenanceArgs,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet tgm copy`.
#[derive(Debug, Args)]
pub struct TgmCopyArgs {
    /// The .tgm file
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file, or several: `[KEY]` is replaced by the value of a key
    #[arg(value_name = "OUT")]
    pub output: String,
    /// The clauses that select messages by their objects.
    #[command(flatten)]
    pub filter: TgmWhereArgs,
    /// How the files are written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet tgm merge`.
#[derive(Debug, Args)]
pub struct TgmMergeArgs {
    /// The .tgm files
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The new file, which cannot be one of IN
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Choose the value if messages have different values for one key
    #[arg(short, long, value_name = "WHICH", default_value = "first")]
    pub strategy: StrategyName,
    /// The encoder to record.
    #[command(flatten)]
    pub provenance: TgmProvenanceArgs,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet tgm split`.
#[derive(Debug, Args)]
pub struct TgmSplitArgs {
    /// The .tgm file
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new files: `[index]` is replaced by the number of an object, `[KEY]` by the value of a key;
    /// without a bracket, `_[index]` goes before the suffix
    #[arg(short, long, value_name = "TEMPLATE")]
    pub output: String,
    /// The encoder to record.
    #[command(flatten)]
    pub provenance: TgmProvenanceArgs,
    /// How the files are written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet tgm reshuffle`.
#[derive(Debug, Args)]
pub struct TgmReshuffleArgs {
    /// The .tgm file
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file; it may be IN, which is then replaced
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The encoder to record.
    #[command(flatten)]
    pub provenance: TgmProvenanceArgs,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// Arguments of `tet tgm append`.
#[derive(Debug, Args)]
pub struct TgmAppendArgs {
    /// The .tgm file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The files whose messages are appended
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Write at the end of FILE instead of making a new file: faster, and not atomic
    #[arg(long)]
    pub in_place: bool,
    /// Do not sync: faster, but a power failure may lose the new file
    #[arg(long, conflicts_with = "in_place")]
    pub no_sync: bool,
}

/// The encoder that a message records.
#[derive(Debug, Clone, Copy, Args)]
pub struct TgmProvenanceArgs {
    /// Choose the encoder, time and uuid that new messages record
    ///
    /// `new` records tet, and the time now or of SOURCE_DATE_EPOCH; `keep` copies the record of the
    /// first message; `none` records nothing. The default is keep for reshuffle and new for the
    /// other commands. With new or none, reshuffle also rewrites messages that are already in
    /// order.
    #[arg(long, value_name = "WHICH")]
    pub provenance: Option<ProvenanceName>,
    /// The same as --provenance none
    #[arg(long, conflicts_with = "provenance")]
    pub no_provenance: bool,
}

/// What new messages record about their encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProvenanceName {
    /// Record tet and the time.
    New,
    /// Copy the record of the input.
    Keep,
    /// Record nothing.
    None,
}

/// Which value is used if messages have different values for one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// The value of the first message.
    First,
    /// The value of the last message.
    Last,
    /// Report an error.
    Error,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet tgm ls forecast.tgm -p mars.param,mars.step,shape
  tet tgm get -p mars.param -w mars.step=0 forecast.tgm
  tet tgm set -s mars.class=rd,units=K forecast.tgm forecast.tgm
  tet tgm copy -w mars.param=2t/10u forecast.tgm 'by_param/[mars.param].tgm'
  tet tgm merge a.tgm b.tgm -o all.tgm
  tet tgm split forecast.tgm -o 'object_[index].tgm'
  tet tgm reshuffle stream.tgm -o indexed.tgm
  tet tgm append forecast.tgm more.tgm

Payloads are not decoded: tensor frames are copied unchanged, with their hashes. Outputs are atomic. \
A file with damaged messages is refused.

KEYS
  A name with dots, as mars.param, is searched in the metadata of the object,
  then of its message, and in the descriptor (dtype, shape, encoding, filter,
  compression, their parameters). A number is an element of a list: shape.0.
  name, message, object and version always exist. extra.KEY is metadata of the
  message, _reserved_.KEY metadata that the writer recorded.";

const LS_EXAMPLES: &str = "\
EXAMPLES
  tet tgm ls forecast.tgm
  tet tgm ls *.tgm -p mars.param,mars.levelist,shape -w mars.type=an
  tet tgm ls -j forecast.tgm | jq .metadata.mars
  tet tgm ls forecast.tgm -w 'mars.param!=2t,compression=szip'";

const GET_EXAMPLES: &str = "\
EXAMPLES
  tet tgm get -p mars.param forecast.tgm
  tet tgm get -p _reserved_.time,extra.run,shape.0 -w object=0 forecast.tgm";

const SET_EXAMPLES: &str = "\
EXAMPLES
  tet tgm set -s units=K -w mars.param=2t forecast.tgm out.tgm
  tet tgm set -s 'extra.run=7,mars.levels=[1,2],note=\"a, b\"' forecast.tgm forecast.tgm
  tet tgm set -d mars.expver forecast.tgm out.tgm

KEY is set in the metadata of every matching object, extra.KEY in the metadata of its message. A \
number is an element of an existing list: dims.0. Keys of descriptors and of _reserved_ cannot be \
set. Other messages are copied unchanged.";

const COPY_EXAMPLES: &str = "\
EXAMPLES
  tet tgm copy -w mars.param=2t/10u forecast.tgm surface.tgm
  tet tgm copy forecast.tgm 'by_param/[mars.param].tgm'

A message is copied whole if one of its objects matches. IN is never overwritten. In the name of a \
file, a missing key becomes unknown, and a value that cannot be part of a file name is refused.";

const MERGE_EXAMPLES: &str = "\
EXAMPLES
  tet tgm merge a.tgm b.tgm -o all.tgm
  tet tgm merge day*.tgm -o month.tgm --strategy error";

const SPLIT_EXAMPLES: &str = "\
EXAMPLES
  tet tgm split forecast.tgm -o 'object_[index].tgm'
  tet tgm split forecast.tgm -o '[mars.param]_[index].tgm'
  tet tgm split forecast.tgm -o 'by_param/[mars.param].tgm'

Objects with the same output name go to one file, one message each, in order. A name without a \
bracket is numbered: -o plain.tgm makes plain_0000.tgm, plain_0001.tgm and so on.";

const RESHUFFLE_EXAMPLES: &str = "\
EXAMPLES
  tet tgm reshuffle stream.tgm -o indexed.tgm
  tet tgm reshuffle stream.tgm -o stream.tgm";

const APPEND_EXAMPLES: &str = "\
EXAMPLES
  tet tgm append forecast.tgm more.tgm
  tet tgm append forecast.tgm more.tgm evenmore.tgm --in-place

By default FILE is replaced atomically by a new file. With --in-place messages are written at the \
end of FILE. If the machine stops during that, FILE ends with a truncated message; all others stay \
intact.";
