//! `tet tgm`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::WriteArgs;

/// Arguments of `tet tgm`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct TgmEditArgs {
    /// What to do.
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

/// What to do with Tensogram files.
#[derive(Debug, Subcommand)]
pub enum TgmVerb {
    /// List objects with what is said of them
    #[command(after_long_help = LS_EXAMPLES)]
    Ls(TgmLsArgs),
    /// Print values of keys, a line an object; a missing key is an error
    #[command(after_long_help = GET_EXAMPLES)]
    Get(TgmGetArgs),
    /// Set or take away keys of objects or messages
    #[command(after_long_help = SET_EXAMPLES)]
    Set(TgmSetArgs),
    /// Copy messages byte for byte, to one file or to one for each value of a key
    #[command(after_long_help = COPY_EXAMPLES)]
    Copy(TgmCopyArgs),
    /// Make one message of all messages of files
    #[command(after_long_help = MERGE_EXAMPLES)]
    Merge(TgmMergeArgs),
    /// Make a message of every object; those of one file name go to one file
    #[command(after_long_help = SPLIT_EXAMPLES)]
    Split(TgmSplitArgs),
    /// Move metadata, index and hashes of every message into its header
    #[command(after_long_help = RESHUFFLE_EXAMPLES)]
    Reshuffle(TgmReshuffleArgs),
    /// Append messages of other files
    #[command(after_long_help = APPEND_EXAMPLES)]
    Append(TgmAppendArgs),
}

/// Which objects are meant.
#[derive(Debug, Args)]
pub struct TgmWhereArgs {
    /// Objects of which all clauses hold: KEY=A/B or KEY!=A/B, with commas between them (repeatable)
    #[arg(id = "where", short, long = "where", value_name = "CLAUSES")]
    pub clauses: Vec<String>,
}

/// Arguments of `tet tgm ls`.
#[derive(Debug, Args)]
pub struct TgmLsArgs {
    /// The .tgm files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Which objects.
    #[command(flatten)]
    pub meant: TgmWhereArgs,
    /// Show these keys, with commas between them
    #[arg(short = 'p', long, value_name = "KEYS")]
    pub keys: Option<String>,
    /// One `tet.tgm/1` object a line for programs
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
    /// Which objects.
    #[command(flatten)]
    pub meant: TgmWhereArgs,
    /// One object of the keys a line for programs
    #[arg(short, long)]
    pub json: bool,
}

/// Arguments of `tet tgm set`.
#[derive(Debug, Args)]
pub struct TgmSetArgs {
    /// The .tgm file
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file; IN itself is replaced
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Keys to set: numbers, true, false, null, lists and objects as JSON, anything else as text;
    /// with commas between them (repeatable). Integers are of -2^64 to 2^64 - 1
    #[arg(short, long, value_name = "KEY=VALUE,...", required_unless_present = "unset")]
    pub set: Vec<String>,
    /// Take this key away (repeatable)
    #[arg(short = 'd', long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// Which objects.
    #[command(flatten)]
    pub meant: TgmWhereArgs,
    /// Who is said to have made it.
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
    /// The new file, or several: `[KEY]` stands for the value of a key
    #[arg(value_name = "OUT")]
    pub output: String,
    /// Which messages: those with such an object.
    #[command(flatten)]
    pub meant: TgmWhereArgs,
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
    /// The new file, which is none of IN
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// What counts where messages say different things under one key
    #[arg(short, long, value_name = "WHICH", default_value = "first")]
    pub strategy: StrategyName,
    /// Who is said to have made it.
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
    /// The new files: `[index]` stands for the number of an object, `[KEY]` for the value of a key;
    /// without a bracket, `_[index]` goes before the suffix
    #[arg(short, long, value_name = "TEMPLATE")]
    pub output: String,
    /// Who is said to have made them.
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
    /// The new file; IN itself is replaced
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Who is said to have made it.
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
    /// Write behind the end of FILE instead of making a new one: faster, and not atomic
    #[arg(long)]
    pub in_place: bool,
    /// Do not wait for the disk: faster, but a power cut may lose the new file
    #[arg(long, conflicts_with = "in_place")]
    pub no_sync: bool,
}

/// Who is said to have made a message.
#[derive(Debug, Clone, Copy, Args)]
pub struct TgmProvenanceArgs {
    /// What new messages say of their maker, the time and their uuid
    ///
    /// `new` says that tet made them, now or at SOURCE_DATE_EPOCH; `keep` leaves what was said, of the
    /// first of several messages; `none` says nothing. By default reshuffle keeps it, and the
    /// others say that it is new. With new or none, reshuffle changes messages in order too.
    #[arg(long, value_name = "WHICH")]
    pub provenance: Option<ProvenanceName>,
    /// The same as --provenance none
    #[arg(long, conflicts_with = "provenance")]
    pub no_provenance: bool,
}

/// What new messages say of their making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProvenanceName {
    /// That they are new.
    New,
    /// What was said before.
    Keep,
    /// Nothing.
    None,
}

/// What counts where messages say different things under one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// What the first one says.
    First,
    /// What the last one says.
    Last,
    /// It is an error.
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

Payloads are not decoded: tensor frames are copied as they lie, with their hashes, inside the kernel
where it can. A new file is made beside its name, synced and renamed. A file with damaged messages
is refused.

KEYS
  Names with dots, as mars.param, are looked for in what is said of the object, of its message, and
  in its descriptor (dtype, shape, encoding, filter, compression, their parameters); a number is an
  element of a list: shape.0. name, message, object and version are always there. extra.KEY is of
  the message, _reserved_.KEY what the writer said.";

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

A key is set in what is said of each object that is meant, extra.KEY in what is said of its message.
A number is an element of a list that is there: dims.0. Keys of descriptors and what the library
says are not set. Other messages are copied as they are.";

const COPY_EXAMPLES: &str = "\
EXAMPLES
  tet tgm copy -w mars.param=2t/10u forecast.tgm surface.tgm
  tet tgm copy forecast.tgm 'by_param/[mars.param].tgm'

Messages are copied whole when one of their objects is meant. No file is written over IN. A key that is missing is called
unknown in the name of a file, and a value that cannot be part of one is refused.";

const MERGE_EXAMPLES: &str = "\
EXAMPLES
  tet tgm merge a.tgm b.tgm -o all.tgm
  tet tgm merge day*.tgm -o month.tgm --strategy error";

const SPLIT_EXAMPLES: &str = "\
EXAMPLES
  tet tgm split forecast.tgm -o 'object_[index].tgm'
  tet tgm split forecast.tgm -o '[mars.param]_[index].tgm'
  tet tgm split forecast.tgm -o 'by_param/[mars.param].tgm'

Objects whose names are the same go to one file, a message each, in their order. A name without a
bracket is numbered: -o plain.tgm makes plain_0000.tgm, plain_0001.tgm and so on.";

const RESHUFFLE_EXAMPLES: &str = "\
EXAMPLES
  tet tgm reshuffle stream.tgm -o indexed.tgm
  tet tgm reshuffle stream.tgm -o stream.tgm";

const APPEND_EXAMPLES: &str = "\
EXAMPLES
  tet tgm append forecast.tgm more.tgm
  tet tgm append forecast.tgm more.tgm evenmore.tgm --in-place

By default a new file is made beside FILE and takes its place; the bytes of FILE are shared where
the file system can. With --in-place messages are written behind the end of FILE. When the machine
stops meanwhile, FILE ends with a message that is cut short; all others stand.";
