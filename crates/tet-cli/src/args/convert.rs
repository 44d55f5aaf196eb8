//! `tet convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::WriteArgs;

/// Arguments of `tet convert`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct ConvertArgs {
    /// The file to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write: .tet, .zt, .tgm, .safetensors, .safetensors.index.json or .npz, or one
    /// dataset as .npy, .raw or .csv
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Take this dataset only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Leave this dataset out (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// The name of the dataset a .npy becomes [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Extents of a chunk, as 1,30,60; auto makes chunks of about 4 MiB
    #[arg(long, value_name = "SHAPE", default_value = "auto", allow_hyphen_values = true)]
    pub chunks: String,
    /// How elements are stored.
    #[command(flatten)]
    pub store: StoreArgs,
    /// How a .zt file is written.
    #[command(flatten)]
    pub zt: ZtArgs,
    /// How a .tgm file is written.
    #[command(flatten)]
    pub tgm: TgmArgs,
    /// Make datasets of a .tgm file that share a name one, with a first axis of this name
    #[arg(long, value_name = "AXIS")]
    pub stack: Option<String>,
    /// In .safetensors: bytes of a shard, such as 5GB, which is 5,000,000,000 here [default: 5GB for
    /// .safetensors.index.json, else one file]
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse_decimal)]
    pub shard_size: Option<u64>,
    /// Threads that compress, 0 for all
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true, value_parser = crate::size::parse_threads)]
    pub threads: usize,
    /// The most bytes that the data may decode to, as 64GiB
    ///
    /// Without it 16 GiB, or 65,536 times the length of the file where that is more: a small file may
    /// claim any number of elements.
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub max_decoded: Option<u64>,
    /// Names of the axes: time,lat,lon or temp=time,lat,lon (repeatable)
    #[arg(long, value_name = "[NAME=]AXES")]
    pub dims: Vec<String>,
    /// Labels of an axis, by its name or number: station=A,B or temp:0=A,B; station=@code takes the
    /// elements of the array "code" (repeatable)
    #[arg(long, value_name = "[NAME:]AXIS=LABELS")]
    pub labels: Vec<String>,
    /// An attribute of all datasets, or of one: source=station 7, temp:units=degC (repeatable)
    ///
    /// A key of all datasets that has a colon has one before it too, :cf:role=x, and #N:KEY is of the
    /// dataset at position N.
    #[arg(long, value_name = "[NAME:]KEY=VALUE")]
    pub attr: Vec<String>,
    /// Write no digests: nothing tells then when bytes of the file change
    #[arg(long)]
    pub no_digests: bool,
    /// Do not write down how the file came to be
    #[arg(long, visible_alias = "no-provenance")]
    pub no_history: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// One `tet.convert/1` object for programs
    #[arg(long)]
    pub json: bool,
}

/// What the bytes of datasets start at a multiple of unless another is asked for.
pub(crate) const ALIGN: &str = "64";

/// How elements are stored.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// How elements are stored [default: zstd in .tet, raw in .zt and .tgm]
    #[arg(long, value_name = "CODEC", alias = "compression")]
    pub codec: Option<CodecName>,
    /// How hard zstd works, 1 to 22 [default: 3 in .tet and .tgm, 1 in .zt, 3 there with --dialect]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub level: Option<i32>,
    /// Where a dataset's bytes may start: a multiple of 8, 64 or 4096; in .zt of 64, 4096 or 65536; in
    /// .tgm of any of them
    #[arg(long, value_name = "BYTES", default_value = ALIGN, value_parser = ["8", "64", "4096", "65536"])]
    pub align: String,
}

/// How a zTensor file is written.
#[derive(Debug, Args)]
pub struct ZtArgs {
    /// In .zt: what tells that a tensor's bytes have changed [default: crc32c]
    #[arg(long, value_name = "KIND")]
    pub checksum: Option<ChecksumName>,
    /// In .zt: tensors of fewer bytes start at a multiple of 64, whatever --align says
    #[arg(long, value_name = "BYTES", default_value = "0", hide_default_value = true)]
    pub align_above: u64,
    /// In .zt: the bytes that the programs of 0.1.x write; without a checksum unless one is asked for
    #[arg(long, value_name = "VERSION")]
    pub dialect: Option<DialectName>,
    /// How sparse tensors are written: in .zt split, native or dense; elsewhere always dense, beyond
    /// 16 GiB only if asked [default: split]. Given for a .zt file, split and native make sparse tensors
    /// of dense arrays too, where the input has none that are sparse
    #[arg(long, value_name = "HOW")]
    pub sparse: Option<SparseName>,
}

/// How a Tensogram file is written.
#[derive(Debug, Default, Args)]
pub struct TgmArgs {
    /// In .tgm: how elements are encoded before they are compressed; simple_packing rounds float64
    #[arg(long, value_name = "ENCODING")]
    pub encoding: Option<EncodingName>,
    /// In .tgm, for simple_packing: bits of a value, 0 to 64
    #[arg(long, value_name = "N", conflicts_with = "max_error")]
    pub bits: Option<u32>,
    /// In .tgm, for simple_packing: no value is off by more; the fewest bits that do are taken
    #[arg(long, value_name = "E")]
    pub max_error: Option<f64>,
    /// In .tgm: what is done to bytes before they are compressed; shuffle takes elements apart
    #[arg(long, value_name = "FILTER")]
    pub filter: Option<FilterName>,
    /// In .tgm: which NaN and infinities go under masks: exact if all of them come back bit for bit,
    /// all, or none [default: exact]
    #[arg(long, value_name = "WHICH")]
    pub masks: Option<MasksName>,
    /// In .tgm: universal is read by all releases of Tensogram 3; without it by those from 0.19 on
    #[arg(long, value_name = "READERS")]
    pub profile: Option<ProfileName>,
}

/// How elements are encoded before they are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodingName {
    /// As they are.
    None,
    /// As whole multiples of a step, of so many bits.
    #[value(name = "simple_packing")]
    SimplePacking,
}

/// What is done to bytes before they are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterName {
    /// Nothing.
    None,
    /// All first bytes of elements stand first, then all second ones, and so on.
    Shuffle,
}

/// Which elements that are not finite go under masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MasksName {
    /// Those of a dataset if all of them come back bit for bit.
    Exact,
    /// All: signs and payloads of NaN are lost.
    All,
    /// None: they are stored as they are.
    None,
}

/// For which readers a Tensogram file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// All releases of version 3, from 0.17 on.
    Universal,
}

/// How chunks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CodecName {
    /// The elements themselves: largest, and mapped without a copy.
    #[value(alias = "none")]
    Raw,
    /// Compressed by zstd.
    #[default]
    Zstd,
    /// In .tgm: compressed by lz4, in memory.
    Lz4,
    /// In .tgm: compressed by szip, which takes samples of up to 32 bits.
    Szip,
}

/// What tells that a tensor's bytes have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChecksumName {
    /// A CRC-32C, which all readers check.
    Crc32c,
    /// A SHA-256, which the readers of 0.1.x pass over.
    Sha256,
    /// Nothing.
    None,
}

/// For which readers a zTensor file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Byte for byte what the programs of 0.1.x write.
    #[value(name = "0.1.x")]
    V01x,
}

/// How sparse tensors are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SparseName {
    /// With all their elements, put together of their parts where the input has those.
    Dense,
    /// In .zt: as dense tensors of their parts, NAME.indptr, NAME.indices, NAME.values or NAME.coords.
    #[default]
    Split,
    /// In .zt: as one sparse tensor, put together of its parts where the input has those; the readers
    /// of 0.1.x refuse a file with one.
    Native,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet convert arrays.npz arrays.tet                  every array of the archive
  tet convert temp.npy temp.tet --dims time,lat,lon  one array, its axes named
  tet convert in.npz out.tet --dataset temp --chunks 1,512,512 --codec raw
  tet convert in.npz out.tet --dims temp=time,lat,lon --attr temp:units=degC
  tet convert model.safetensors model.zt             tensors as they are, with checksums
  tet convert model.zt model.safetensors             and back, byte for byte
  tet convert model.safetensors.index.json model.zt  the shards of a model as one file
  tet convert model.zt model.safetensors --shard-size 5GB
  tet convert model.zt model.tet --chunks 64,4096    in chunks, to be read in parts
  tet convert arrays.tet arrays.tgm --codec zstd     a Tensogram message, an object a dataset
  tet convert t.npy t.tgm --encoding simple_packing --max-error 0.01 --codec szip
  tet convert forecast.tgm forecast.tet --stack time fields of one name, message by message, as one

A one-dimensional array named after an axis gives its labels: with an array `lat` in the archive,
`--select 'lat=\"51\"'` finds the row by its value.";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Make a file of the arrays of another one: .tet (the default), zTensor (.zt), Tensogram (.tgm), .safetensors, \
.safetensors.index.json with its shards, .npz, or of one dataset .npy, .raw or .csv, as the suffix of OUT says.\n\nThe input is any file tet reads, told by its content; .npy \
(versions 1.0 to 3.0) and .npz (stored or deflated) too. Arrays stream through: a file larger \
than memory converts. The output appears whole or not at all: it is written beside its place, \
synced, and renamed. Shards and their index are several files: each appears whole, and while those \
of an old model are replaced there is no index. Where OUT lacks a type, its bits are kept and an attribute says what they \
are, with a note, as there is for all it has no place for; objects, strings and records are refused. An .npz that becomes anything but \
.tet is unpacked into a file without a name in the folder for temporary files first.";
