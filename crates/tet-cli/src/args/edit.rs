//! `tet edit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ChecksumName, CodecName, EncodingName, FilterName, Named, ReserveArgs, WriteArgs};

/// Description of the command, for its help.
pub(super) const LONG_ABOUT: &str = "\
Edit a file: rename, drop, set, append, merge, repack, compact.

FILE is replaced atomically by a new file: after a crash or with a full disk it is the complete old \
file or the complete new one. The stored bytes of the datasets that stay are copied unchanged, by the \
system where it can, and so are their checksums. With -o the new file is written elsewhere.

.tet files take all edits; a directory of parts, NAME.tets, grows by append. Datasets of .zt, .safetensors and .npz files can be renamed and dropped, \
those of .tgm files renamed; attributes can be set of datasets of .zt and .tgm files, and of \
.safetensors files. Datasets of .nc, .h5 and .zarr files can be renamed and dropped, and attributes set. append grows .tet, .zt, .tgm, .safetensors, .npz and .npy files, repack stores the \
datasets of .tet, .zt, .tgm and .npz files in another way. `tet convert` writes a copy of any other.";

/// Arguments of `tet edit`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit compact a.tet";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct EditArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub verb: EditVerb,
}

impl EditArgs {
    /// Whether the output, and a failure, are JSON.
    pub(super) fn wants_json(&self) -> bool {
        match &self.verb {
            EditVerb::Rename(args) => args.place.json,
            EditVerb::Drop(args) => args.place.json,
            EditVerb::Set(args) => args.place.json,
            EditVerb::Append(args) => args.place.json,
            EditVerb::Repack(args) => args.place.json,
            EditVerb::Compact(args) => args.place.json,
        }
    }
}

/// The subcommands of `tet edit`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit drop a.tet b";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Subcommand)]
pub enum EditVerb {
    /// Rename datasets
    #[command(after_long_help = RENAME_EXAMPLES)]
    Rename(EditRenameArgs),
    /// Remove datasets and their bytes
    #[command(after_long_help = DROP_EXAMPLES)]
    Drop(EditDropArgs),
    /// Set or remove attributes, names of axes, and labels
    #[command(after_long_help = SET_EXAMPLES)]
    Set(EditSetArgs),
    /// Append files along an axis
    #[command(after_long_help = APPEND_EXAMPLES)]
    Append(EditAppendArgs),
    /// Store datasets in other chunks or with other codecs
    #[command(after_long_help = REPACK_EXAMPLES)]
    Repack(Box<EditRepackArgs>),
    /// Reclaim unused space
    #[command(after_long_help = COMPACT_EXAMPLES)]
    Compact(EditCompactArgs),
}

/// Arguments of `tet edit rename`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit rename a.tet b=c";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditRenameArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The dataset, by name or as #N, and its new name; a * stands for any text on both sides
    #[arg(value_name = "OLD=NEW", required = true)]
    pub names: Vec<String>,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// Arguments of `tet edit drop`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit drop a.tet b #2";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditDropArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The datasets, by name or as #N; a * stands for any text
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// Arguments of `tet edit set`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit set a.tet b:units=K";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditSetArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Attributes of datasets, or of the file: numbers, true, false, null, lists and objects as JSON, anything
    /// else as text
    #[arg(value_name = "[NAME:]KEY=VALUE", required_unless_present_any = ["attr", "unset", "dims", "labels"])]
    pub attrs: Vec<String>,
    /// Set attributes, by the option of `tet convert`
    #[arg(long, hide = true, value_name = "[NAME:]KEY=VALUE")]
    pub attr: Vec<String>,
    /// Remove an attribute (repeatable)
    #[arg(long, value_name = "[NAME:]KEY")]
    pub unset: Vec<String>,
    /// Name the axes, as time,lat,lon or temp=time,lat,lon; temp= removes the names (repeatable)
    #[arg(long, value_name = "[NAME=]DIMS")]
    pub dims: Vec<String>,
    /// Label an axis, as station=A,B,C or temp:time=@time for the elements of a dataset (repeatable)
    ///
    /// Numbers and dates at equal distances are ranges: lat=90..-90/0.25, time=2024-01-01..2024-12-31/1D; without an end
    /// there is one for each position: time=2024-01-01..+6h. Units of time are s, m, h, D, W, M for months, and Y.
    #[arg(long, value_name = "[NAME:]AXIS=LABELS")]
    pub labels: Vec<String>,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// Arguments of `tet edit append`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit append a.tet b.npy --axis time";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditAppendArgs {
    /// The .tet, .zt, .tgm, .safetensors, .npz or .npy file, or a folder NAME.tets, which is made if it does not exist
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The files whose datasets are appended, of any kind that tet reads in place
    #[arg(value_name = "MORE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The axis that grows: its name, or its number where axes have no names, 0 for the first
    #[arg(long, value_name = "AXIS", required = true)]
    pub axis: String,
    /// Grow only this dataset, by name or as #N; a * stands for any text (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Leave out this dataset of the files, by name; a * stands for any text (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// Leave out datasets of the files that FILE cannot hold, as texts in .tet and .tets, with a warning
    #[arg(long)]
    pub skip_unsupported: bool,
    /// How much room a .tet file is given to grow.
    #[command(flatten)]
    pub reserve: ReserveArgs,
    /// Limit the memory, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// Arguments of `tet edit repack`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit repack a.tet --chunks time:1";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
#[group(id = "repack", required = true, multiple = true, args = ["chunks", "codec", "level", "no_digests", "digests", "checksum", "filter", "encoding", "bits", "max_error", "reserve_rows"])]
pub struct EditRepackArgs {
    /// The .tet, .zt, .tgm or .npz file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// In .tet: set the chunk shape, as 1,30,60, time:1, temp=time:24,lat:auto or auto (repeatable)
    ///
    /// 1,30,60 holds for all datasets with as many axes, time:1,lat:90 for all that have these axes, but not for the
    /// coordinates of an axis; their other axes keep the chunk extents that they have. auto makes chunks of about
    /// 4 MiB, time:auto as many positions as that takes. NAME= before it is for one dataset; a * stands for any text.
    /// Later ones replace earlier ones, and those with a name the others.
    #[arg(long, value_name = "[NAME=]SHAPE", allow_hyphen_values = true)]
    pub chunks: Vec<String>,
    /// Compress with zstd, or store raw; in .npz gzip or raw, in .tgm also lz4 and szip; temp=raw for one dataset
    /// (repeatable)
    #[arg(long, value_name = "[NAME=]CODEC", value_parser = Named::codec)]
    pub codec: Vec<Named<CodecName>>,
    /// Set the level of zstd, 1 to 22 [default: 3, in .zt 1], or of gzip, 0 to 9; temp=19 for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]N", allow_hyphen_values = true, value_parser = Named::level)]
    pub level: Vec<Named<i32>>,
    /// In .zt: choose the checksum; temp=sha256 for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]KIND", value_parser = Named::<ChecksumName>::word)]
    pub checksum: Vec<Named<ChecksumName>>,
    /// In .tgm: shuffle the bytes of elements, or do not; temp=shuffle for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]FILTER", value_parser = Named::<FilterName>::word)]
    pub filter: Vec<Named<FilterName>>,
    /// In .tgm: pack float64 values, which rounds them, or store them as they are; temp=none for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]ENCODING", value_parser = Named::<EncodingName>::word)]
    pub encoding: Vec<Named<EncodingName>>,
    /// In .tgm: pack float64 values in this many bits, 0 to 64; temp=16 for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]N", value_parser = Named::bits)]
    pub bits: Vec<Named<u32>>,
    /// In .tgm: pack float64 values with this error at most; temp=0.01 for one dataset (repeatable)
    #[arg(long, value_name = "[NAME=]E", value_parser = Named::max_error)]
    pub max_error: Vec<Named<f64>>,
    /// In .tet: write digests, also if FILE has none, so that every changed bit is found
    ///
    /// A file with errors is refused, because digests would hide its damage. Without other options payloads are not
    /// moved, and history, metadata and unknown keys are preserved; chunks get statistics where they have none.
    #[arg(long, conflicts_with = "no_digests")]
    pub digests: bool,
    /// In .tet: write no digests, so that changed bytes of the file are not noticed
    #[arg(long)]
    pub no_digests: bool,
    /// How much room a .tet file is given to grow.
    #[command(flatten)]
    pub reserve: ReserveArgs,
    /// Limit the memory, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// Number of threads that compress, 0 for all
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true, value_parser = crate::size::parse_threads)]
    pub threads: usize,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// Arguments of `tet edit compact`.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit compact a.tet";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditCompactArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The output file.
    #[command(flatten)]
    pub place: EditPlaceArgs,
}

/// The output file of an edit.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::{Cli, Command};
///
/// let line = "tet edit compact a.tet -o b.tet";
/// let cli = Cli::try_parse_from(line.split(' '))?;
/// assert!(matches!(cli.command, Command::Edit(_)));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Args)]
pub struct EditPlaceArgs {
    /// Write the new file here instead of replacing FILE
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Print what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not add the edit to the history of a .tet file
    #[arg(long)]
    pub no_history: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// Print one `tet.edit/1` object
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet edit rename climate.tet temp=temperature
  tet edit rename model.safetensors 'layers.*.q.weight=blocks.*.attn.q'
  tet edit drop climate.tet 'debug/*' --dry-run
  tet edit set climate.tet title='Monthly means' temp:units=K temp:valid_range='[200,350]'
  tet edit set climate.tet --dims temp=time,lat,lon --labels time=@time
  tet edit append year.tet june.nc july.nc --axis time
  tet edit repack climate.tet --chunks time:1 --codec mask=raw
  tet edit compact climate.tet -o small.tet";

const RENAME_EXAMPLES: &str = "\
EXAMPLES
  tet edit rename climate.tet temp=temperature
  tet edit rename climate.tet a=b b=a                       names are exchanged
  tet edit rename model.safetensors 'layers.*.q.weight=blocks.*.attn.q' --dry-run";

const DROP_EXAMPLES: &str = "\
EXAMPLES
  tet edit drop model.zt optimizer.step '#17'
  tet edit drop climate.tet 'debug/*' -o smaller.tet
  tet edit drop climate.nc height               attributes that name it lose the name";

const SET_EXAMPLES: &str = "\
EXAMPLES
  tet edit set climate.tet title='Monthly means' version=2
  tet edit set climate.tet temp:units=K 'temp:valid_range=[200,350]' --unset temp:comment
  tet edit set climate.tet temp:code='\"007\"'                a text that looks like JSON, in quotes
  tet edit set climate.tet --dims temp=time,lat,lon --labels time=@time --labels station=A,B,C";

const APPEND_EXAMPLES: &str = "\
EXAMPLES
  tet edit append year.tet june.nc july.nc --axis time
  tet edit append year.tet june.npz --axis time -o longer.tet
  tet edit append year.tet june.nc --axis time --reserve-rows 10000
  tet edit append hourly.tets 13.nc --axis time                 only new rows are written
  tet edit append log.npz today.npz --axis 0 --dry-run
  tet edit append model.safetensors more.npy --axis 0 --dataset embed.weight

All datasets that have the axis grow, and so do its labels and the dataset of its coordinates. Every \
file needs these datasets with the same types, shapes and units, and coordinates and labels must \
continue. A .npy file has one dataset, whose name does not matter.

Axes without names have numbers: the datasets grow that all files have with the same other extents. \
They must have the same extent along the axis and grow by the same; otherwise name those that grow \
with --dataset.

Structures are appended as their members. Texts are refused where FILE cannot hold them: leave them \
out with --skip-unsupported or --exclude. In a folder of parts --dataset names those of MORE.

A dataset that grows is written again with the codec, type, filter and checksum that it has; in a \
.tet file only its last chunks are. The others are copied as they are stored.";

const REPACK_EXAMPLES: &str = "\
EXAMPLES
  tet edit repack climate.tet --chunks time:1        each time step in chunks of its own
  tet edit repack climate.tet --chunks temp=time:auto,lat:10,lon:10 -o series.tet
  tet edit repack climate.tet --codec zstd --level 19 --codec mask=raw
  tet edit repack climate.tet --chunks auto --memory 256MiB
  tet edit repack climate.tet --digests              add digests to a file without
  tet edit repack model.zt --codec zstd --codec 'norm.*=raw' --checksum sha256
  tet edit repack fields.tgm --bits temp=16 --filter wind=shuffle --codec zstd
  tet edit repack arrays.npz --codec gzip --level 9

Datasets whose chunks and codec stay are copied as they are stored, with their digests. Each chunk of the others is read \
once or twice: where the new chunks would need more, their elements are written to a scratch file in the folder of the new \
file first, which then needs room for them. A chunk, old or new, takes at most a quarter of --memory.

Files of .safetensors and .npy store elements as they are: there is nothing to repack. For .h5, .nc \
and .zarr use `tet convert`.";

const COMPACT_EXAMPLES: &str = "\
EXAMPLES
  tet edit compact climate.tet
  tet edit compact model.zt -o small.zt";
