//! `tet convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tet_format::DType;

use super::{OUTPUT, ReadArgs, VALUES, WriteArgs, WrittenValuesArgs};

/// The headings of the options.
const WHICH: &str = "Which datasets and elements";
const NAMES: &str = "Names, labels, attributes";
const JOINS: &str = "Several inputs";
const STORAGE: &str = "Chunks and compression";
const FORMATS: &str = "Options of one format";

/// Arguments of `tet convert`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct ConvertArgs {
    /// The file to read; several with --merge, --concat or --stack
    #[arg(value_name = "IN", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The file to write, in the format of its suffix; - is standard output
    ///
    /// .tet, .zt, .tgm, .safetensors, .safetensors.index.json, .npz, .h5, .nc, .nc3 or .zarr.zip, the directory .zarr or
    /// .tets, columns of one length as .csv or .tsv, or one dataset as .npy, .raw or .csv; standard output has the format
    /// of --to.
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Convert only this dataset, or those whose names match (repeatable)
    ///
    /// 'layers.{0..3}.*' is a pattern, unless a dataset has that very name. `#N` is the dataset at position N.
    #[arg(long, value_name = "NAME|PATTERN", help_heading = WHICH)]
    pub dataset: Vec<String>,
    /// Exclude this dataset, or those whose names match (repeatable)
    #[arg(long, value_name = "NAME|PATTERN", help_heading = WHICH)]
    pub exclude: Vec<String>,
    /// Select a part along the axes: 'time=2001-06, lat=40:60'
    ///
    /// Of each dataset that has the axes, with coordinates and labels. Positions and labels are those of `tet cat`; a
    /// selection without names of axes is for one dataset.
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true, help_heading = WHICH)]
    pub select: Option<String>,
    /// Write OUT although nothing is selected of a dataset
    #[arg(long, requires = "select", help_heading = WHICH, hide_short_help = true)]
    pub allow_empty: bool,
    /// Leave out datasets that cannot be read or stored, with a warning
    ///
    /// For each of them; without it an error lists them all. --salvage does this too.
    #[arg(long, help_heading = WHICH)]
    pub skip_unsupported: bool,
    /// Write all that can be read of a damaged file
    ///
    /// Elements that cannot be read become missing values: _FillValue where the dataset has one, else NaN. Datasets that
    /// cannot be read or stored, and damaged ones without a missing value (integers, texts), are left out. One line for each
    /// says what is lost and why, and a last line how many; the exit status is 1 if anything is lost.
    #[arg(long, help_heading = WHICH)]
    pub salvage: bool,
    /// Combine datasets of one name along a new first axis
    ///
    /// Of several files, or the objects of one name in a .tgm file. The files need the same datasets, with the same types,
    /// shapes and axes. Coordinates of axes that are the same in all files stay as they are. The new axis is labeled by
    /// the names of the files, or by --labels.
    #[arg(long, value_name = "AXIS", help_heading = JOINS)]
    pub stack: Option<String>,
    /// Append the datasets of the other inputs to those of the first
    ///
    /// Along the axis of this name.
    #[arg(long, value_name = "AXIS", conflicts_with_all = ["stack", "name"], help_heading = JOINS)]
    pub concat: Option<String>,
    /// Write the datasets of all inputs to OUT
    ///
    /// A dataset that several have, such as a coordinate, must be the same in all, and is written once. Chunks of .tet
    /// files and folders of parts are copied to a .tet file as they are stored, unless an option changes them.
    #[arg(long, conflicts_with_all = ["concat", "stack", "name"], help_heading = JOINS)]
    pub merge: bool,
    /// With --merge: where inputs differ, take what the first has
    ///
    /// Datasets or attributes of one name.
    #[arg(long, value_name = "WHICH", requires = "merge", help_heading = JOINS)]
    pub prefer: Option<PreferName>,
    /// Write a dataset with another name; a * stands for any text
    ///
    /// On both sides. Attributes that name it, and the axis of a coordinate, follow. Repeatable.
    #[arg(long, value_name = "OLD=NEW", help_heading = NAMES)]
    pub rename: Vec<String>,
    /// Name the dataset of a .npy input [default: the file's name]
    #[arg(long, value_name = "NAME", help_heading = NAMES, hide_short_help = true)]
    pub name: Option<String>,
    /// Name the axes: time,lat,lon, or temp=time,lat,lon (repeatable)
    #[arg(long, value_name = "[NAME=]AXES", help_heading = NAMES)]
    pub dims: Vec<String>,
    /// Label the positions of an axis: station=A,B or lat=90..-90/0.25
    ///
    /// The axis has a name or a number: temp:0=A,B. station=@code takes the elements of the array "code". Repeatable.
    ///
    /// Numbers and dates at equal distances are ranges: lat=90..-90/0.25, time=2024-01-01..2024-12-31/1D; without an end
    /// there is one for each position: time=2024-01-01..+6h. Units of time are s, m, h, D, W, M for months, and Y.
    #[arg(long, value_name = "[NAME:]AXIS=LABELS", help_heading = NAMES)]
    pub labels: Vec<String>,
    /// Set an attribute: source=station 7, temp:units=degC (repeatable)
    ///
    /// Of all datasets, or of one. Numbers, true, false and lists are written as in JSON: temp:scale_factor=0.01; anything
    /// else is text, and so is "0.01" with quotes. Write a colon before a key that contains one: :cf:role=x. #N:KEY sets
    /// KEY of the dataset at position N.
    #[arg(long, value_name = "[NAME:]KEY=VALUE", help_heading = NAMES)]
    pub attr: Vec<String>,
    /// Packed and masked values.
    #[command(flatten)]
    pub values: WrittenValuesArgs,
    /// Convert numbers to this type: float32 or f32, or temp=int16
    ///
    /// Each value stays what it is, but floats become the nearest of a shorter type of floats; 300 as uint8, 0.5 as
    /// int32 and 16777217 as float32 are errors that name the element. Without a name a type of floats is for all
    /// datasets of floats and a type of integers for all of integers, but not for the coordinates of an axis; where there
    /// is one dataset, it is for that. A * in the name stands for any text. Repeatable.
    #[arg(long, value_name = "[NAME=]DTYPE", value_parser = Named::dtype, conflicts_with = "concat", help_heading = VALUES)]
    pub dtype: Vec<Named<DType>>,
    /// Set the chunk shape: 1,30,60, time:1, temp=time:24, or auto
    ///
    /// The default is the shape that the chunks of the input have, or auto. 1,30,60 holds for all datasets with as many
    /// axes, time:1,lat:90 for all that have these axes, but not for the coordinates of an axis; their other axes keep the
    /// chunk extents that they have. auto makes chunks of about 4 MiB, time:auto as many positions as that takes. With a
    /// name it holds for one dataset: temp=1,30,60, temp=time:24,lat:auto; a * in the name stands for any text.
    /// Repeatable; of several, later ones replace earlier ones, and those with a name the others.
    #[arg(long, value_name = "[NAME=]SHAPE", allow_hyphen_values = true, help_heading = STORAGE)]
    pub chunks: Vec<String>,
    /// How elements are stored.
    #[command(flatten)]
    pub store: StoreArgs,
    /// In .zarr: choose the version of the format [default: 3]
    #[arg(long, value_name = "VERSION", value_parser = ["2", "3"], conflicts_with_all = ["dialect", "profile"], help_heading = FORMATS, hide_short_help = true)]
    pub zarr: Option<String>,
    /// In .zarr: store several chunks in a shard, as 100,300,600 or auto
    ///
    /// An object of this shape; auto makes shards of about 64 MiB, none stores each chunk in its own object. The default is
    /// as in the input, and none with --chunks.
    #[arg(long, value_name = "SHAPE", allow_hyphen_values = true, help_heading = FORMATS, hide_short_help = true)]
    pub shards: Option<String>,
    /// How a .zt file is written.
    #[command(flatten)]
    pub zt: ZtArgs,
    /// How a .tgm file is written.
    #[command(flatten)]
    pub tgm: TgmArgs,
    /// In .safetensors: write shards of this size, such as 5GB
    ///
    /// 5,000,000,000 bytes, the default of .safetensors.index.json; other outputs are one file.
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse_decimal, help_heading = FORMATS)]
    pub shard_size: Option<u64>,
    /// How much room a .tet file is given to grow.
    #[command(flatten)]
    pub reserve: ReserveArgs,
    /// Set the format of OUT, by a suffix such as npz or nc
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT)]
    pub to: Option<String>,
    /// Write no digests: changed bytes of the file are then not noticed
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub no_digests: bool,
    /// Write no statistics of chunks: queries then read every chunk
    ///
    /// Statistics are written to .tet files where they take at most 0.2 % of the payloads.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub no_stats: bool,
    /// Do not record how the file was made
    #[arg(long, visible_alias = "no-provenance", help_heading = OUTPUT, hide_short_help = true)]
    pub no_history: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the input is read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print one `tet.convert/1` object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// The most rows that are reserved in an index: 1 GB.
const RESERVE_MAX: u64 = 10_000_000;

/// How much room a file is given to grow.
///
/// ```
/// assert_eq!(tet_cli::args::ReserveArgs { reserve_rows: 24 }.reserve_rows, 24);
/// ```
#[derive(Debug, Args)]
pub struct ReserveArgs {
    /// In .tet: leave room for N more chunks in the index
    ///
    /// Later appends then need not move stored ones.
    #[arg(long, help_heading = FORMATS, hide_short_help = true, value_name = "N", default_value = "0", hide_default_value = true, value_parser = clap::value_parser!(u64).range(..=RESERVE_MAX))]
    pub reserve_rows: u64,
}

/// The default alignment of the bytes of datasets.
pub(crate) const ALIGN: &str = "64";

/// How elements are stored.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Choose the compression: raw, zstd, gzip, lz4 or szip, or temp=raw
    ///
    /// The default is zstd in .tet and .zarr, raw in .zt, .tgm, .h5 and .nc. In .h5 and .nc gzip is read by every program,
    /// zstd by those with the HDF5 plugin of filter 32015.
    ///
    /// raw; zstd; gzip, also named zlib or deflate, in .h5, .nc and .zarr; lz4 and szip in .tgm. With a name it is the
    /// compression of one dataset, as in temp=raw; a * in the name stands for any text. Repeatable.
    #[arg(long, value_name = "[NAME=]CODEC", alias = "compression", value_parser = Named::codec, help_heading = STORAGE)]
    pub codec: Vec<Named<CodecName>>,
    /// Set the level of zstd, 1 to 22, or of gzip, 0 to 9; or temp=19
    ///
    /// The default is 3 for zstd, but in .zt without --dialect 1; for gzip 4 in .h5 and .nc, and 5 in .zarr. temp=19 is that
    /// of one dataset. Repeatable.
    #[arg(long, value_name = "[NAME=]N", allow_hyphen_values = true, value_parser = Named::level, help_heading = STORAGE)]
    pub level: Vec<Named<i32>>,
    /// Align the bytes of datasets
    ///
    /// To 8, 64 or 4096; in .zt to 64, 4096 or 65536; in .tgm to any of these.
    #[arg(long, value_name = "BYTES", help_heading = STORAGE, hide_short_help = true, default_value = ALIGN, value_parser = ["8", "64", "4096", "65536"])]
    pub align: String,
}

/// A value for one dataset, or for all.
///
/// ```
/// use tet_cli::args::Named;
///
/// let level = Named::level("temp=19")?;
/// assert_eq!((level.dataset.as_deref(), level.value), (Some("temp"), 19));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T> {
    /// The dataset; `None` for all.
    pub dataset: Option<String>,
    /// The value.
    pub value: T,
}

impl<T> Named<T> {
    /// Splits `NAME=VALUE` or `VALUE`. A name may contain the sign.
    fn parse(text: &str, value: impl FnOnce(&str) -> Result<T, String>) -> Result<Self, String> {
        let (dataset, text) = match text.rsplit_once('=') {
            Some((dataset, text)) => (Some(dataset.to_owned()), text),
            None => (None, text),
        };
        Ok(Named { dataset, value: value(text)? })
    }

    /// The last value for all.
    pub(crate) fn general(all: &[Self]) -> Option<T>
    where
        T: Copy,
    {
        all.iter().rfind(|it| it.dataset.is_none()).map(|it| it.value)
    }
}

impl Named<CodecName> {
    /// Reads `zstd` or `temp=zstd`.
    ///
    /// # Errors
    ///
    /// The text is not the name of a codec.
    pub fn codec(text: &str) -> Result<Self, String> {
        Self::parse(text, |name| {
            let wrong = |_| format!("{name:?} is not a codec: use raw, zstd, gzip, lz4 or szip");
            CodecName::from_str(name, true).map_err(wrong)
        })
    }
}

impl Named<DType> {
    /// Reads `float32` or `temp=float32`.
    ///
    /// # Errors
    ///
    /// The text is not a type of numbers.
    pub fn dtype(text: &str) -> Result<Self, String> {
        Self::parse(text, dtype)
    }
}

/// Reads the name of a type of numbers.
///
/// # Errors
///
/// It is the name of no such type.
pub(super) fn dtype(name: &str) -> Result<DType, String> {
    let is_number = |it: &DType| it.is_float() || it.is_integer() || *it == DType::Bool;
    let name = name.trim();
    DType::from_name(full_name(name)).filter(is_number).ok_or_else(|| {
        let names = DType::ALL.iter().filter(|it| is_number(it)).map(|it| it.name());
        format!("{name:?} is not one of {}", names.collect::<Vec<_>>().join(", "))
    })
}

/// The name of a type that people also call by a shorter one.
fn full_name(name: &str) -> &str {
    match name {
        "bf16" => "bfloat16",
        "f16" | "fp16" | "half" => "float16",
        "f32" | "fp32" | "float" | "single" => "float32",
        "f64" | "fp64" | "double" => "float64",
        "i8" => "int8",
        "i16" => "int16",
        "i32" | "int" => "int32",
        "i64" => "int64",
        "u8" => "uint8",
        "u16" => "uint16",
        "u32" => "uint32",
        "u64" => "uint64",
        name => name,
    }
}

impl Named<i32> {
    /// Reads `9` or `temp=9`.
    ///
    /// # Errors
    ///
    /// The text is not a number.
    pub fn level(text: &str) -> Result<Self, String> {
        Self::parse(text, |level| {
            level.trim().parse().map_err(|_| format!("{level:?} is not a level: use a number"))
        })
    }
}

impl Named<u32> {
    /// Reads `16` or `temp=16`.
    ///
    /// # Errors
    ///
    /// The text is not a number of bits.
    pub fn bits(text: &str) -> Result<Self, String> {
        Self::parse(text, |bits| {
            let bits = bits.trim().parse().ok().filter(|bits| *bits <= 64);
            bits.ok_or_else(|| "values are packed in 0 to 64 bits".to_owned())
        })
    }
}

impl Named<f64> {
    /// Reads `0.01` or `temp=0.01`.
    ///
    /// # Errors
    ///
    /// The text is not an error of 0 or more.
    pub fn max_error(text: &str) -> Result<Self, String> {
        Self::parse(text, |error| {
            let error = error.trim().parse().ok().filter(|it: &f64| it.is_finite() && 0.0 <= *it);
            error.ok_or_else(|| "the largest error is a number of 0 or more".to_owned())
        })
    }
}

impl<T: ValueEnum> Named<T> {
    /// Reads one of the words of a type, or `temp=WORD`.
    ///
    /// # Errors
    ///
    /// The text is none of the words.
    pub fn word(text: &str) -> Result<Self, String> {
        Self::parse(text, |word| {
            let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let words: Vec<String> = words.map(|it| it.get_name().to_owned()).collect();
            T::from_str(word, true)
                .map_err(|_| format!("{word:?} is not one of {}", words.join(", ")))
        })
    }
}

/// How a zTensor file is written.
#[derive(Debug, Args)]
pub struct ZtArgs {
    /// In .zt and .zarr: choose the checksum of tensors or chunks
    ///
    /// Of each tensor of a .zt, where the default is crc32c, or of each chunk of a .zarr, where it is none: zstd and gzip have
    /// their own.
    #[arg(long, value_name = "KIND", help_heading = FORMATS, hide_short_help = true)]
    pub checksum: Option<ChecksumName>,
    /// In .zt: align tensors of fewer bytes to 64 only, not to --align
    #[arg(long, help_heading = FORMATS, hide_short_help = true, value_name = "BYTES", default_value = "0", hide_default_value = true)]
    pub align_above: u64,
    /// In .zt: write the same bytes as ztensor 0.1
    ///
    /// Without checksums unless --checksum is given.
    #[arg(long, value_name = "VERSION", conflicts_with = "profile", help_heading = FORMATS, hide_short_help = true)]
    pub dialect: Option<DialectName>,
    /// In .zt: choose how sparse tensors are written [default: split]
    ///
    /// In other formats they are always dense, above 16 GiB only if --sparse dense is given. In a .zt output, split and native
    /// also make sparse tensors of dense arrays if the input has no sparse tensors.
    #[arg(long, value_name = "HOW", help_heading = FORMATS, hide_short_help = true)]
    pub sparse: Option<SparseName>,
}

/// How a Tensogram file is written.
#[derive(Debug, Default, Args)]
pub struct TgmArgs {
    /// In .tgm: encode elements; simple_packing rounds float64
    #[arg(long, value_name = "ENCODING", help_heading = FORMATS, hide_short_help = true)]
    pub encoding: Option<EncodingName>,
    /// In .tgm: set the bits per value of simple_packing, 0 to 64
    #[arg(long, help_heading = FORMATS, hide_short_help = true, value_name = "N", conflicts_with = "max_error")]
    pub bits: Option<u32>,
    /// In .tgm: set the largest error of simple_packing
    ///
    /// The fewest bits that keep it are used.
    #[arg(long, value_name = "E", help_heading = FORMATS, hide_short_help = true)]
    pub max_error: Option<f64>,
    /// In .tgm, .h5 and .nc: reorder bytes before compression
    ///
    /// shuffle groups the bytes of elements by position. The default is none in .tgm, and shuffle in .h5 and .nc with a codec.
    #[arg(long, value_name = "FILTER", help_heading = STORAGE, hide_short_help = true)]
    pub filter: Option<FilterName>,
    /// In .tgm: store NaN and infinities as masks [default: exact]
    ///
    /// exact if all of them are restored bit for bit, all, or none.
    #[arg(long, value_name = "WHICH", help_heading = FORMATS, hide_short_help = true)]
    pub masks: Option<MasksName>,
    /// In .tgm: write for all releases of Tensogram 3
    ///
    /// Without it for 0.19 and later.
    #[arg(long, value_name = "READERS", help_heading = FORMATS, hide_short_help = true)]
    pub profile: Option<ProfileName>,
}

/// How elements are encoded before they are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodingName {
    /// Unchanged.
    None,
    /// Integers with a fixed number of bits, times a step.
    #[value(name = "simple_packing")]
    SimplePacking,
}

/// How bytes are reordered before they are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterName {
    /// Unchanged.
    None,
    /// All first bytes of the elements, then all second bytes, and so on.
    Shuffle,
}

/// Which NaN and infinities are stored as masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MasksName {
    /// Mask them if all of them are restored bit for bit.
    Exact,
    /// Mask all: signs and payloads of NaN are lost.
    All,
    /// Mask none: they are stored with the other elements.
    None,
}

/// The readers that can read a Tensogram file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// All releases of version 3, from 0.17 on.
    Universal,
}

/// How chunks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CodecName {
    /// No compression.
    #[value(alias = "none")]
    Raw,
    /// zstd.
    #[default]
    Zstd,
    /// In .h5, .nc and .zarr: gzip, also named zlib or deflate.
    #[value(alias = "zlib", alias = "deflate")]
    Gzip,
    /// In .tgm: lz4, in memory.
    Lz4,
    /// In .tgm: szip, for samples of up to 32 bits.
    Szip,
}

/// Which of several inputs is preferred.
///
/// ```
/// use clap::ValueEnum;
/// use tet_cli::args::PreferName;
///
/// assert_eq!(PreferName::from_str("first", true), Ok(PreferName::First));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PreferName {
    /// The first that has it.
    First,
}

/// The checksum of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChecksumName {
    /// CRC-32C, which all readers check.
    Crc32c,
    /// SHA-256, which the readers of 0.1.x ignore.
    Sha256,
    /// No checksum.
    None,
}

/// The programs whose zTensor files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Files of the same bytes as those of the programs of 0.1.x.
    #[value(name = "0.1.x")]
    V01x,
}

/// How sparse tensors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SparseName {
    /// As dense arrays; component arrays of the input are combined.
    Dense,
    /// In .zt: as component arrays, NAME.indptr, NAME.indices, NAME.values or NAME.coords.
    #[default]
    Split,
    /// In .zt: as one sparse tensor; component arrays of the input are combined. Readers of 0.1.x
    /// refuse such a file.
    Native,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet convert arrays.npz arrays.tet                  every array of the archive
  tet convert year.nc year.zarr                      Zarr 3, a directory; .zarr.zip is one file
  tet convert year.tet year.nc --codec gzip          NetCDF-4, compressed as by nccopy -d 4 -s
  tet convert temp.npy temp.tet --dims time,lat,lon --attr units=degC
  tet convert year.nc july.nc --select 'time=2024-07, lat=30:60'
  tet convert year.nc year.tet --chunks temp=time:auto,lat:10,lon:10 --codec mask=raw
  tet convert cube.npy cube.zarr --chunks 1,512,512 --shards 16,4096,4096
  tet convert may.nc june.nc spring.nc --concat time the time steps of several files in one
  tet convert temp.nc wind.nc both.tet --merge       the datasets of several files in one
  tet convert run1.nc run2.nc runs.nc --stack run    the same datasets along a new axis
  tet convert model.pt some.npz --dataset 'layers.{0..3}.*'   the datasets whose names match
  tet convert model.safetensors small.safetensors --dtype bfloat16
  tet convert model.safetensors.index.json model.zt  the shards of a model as one file
  tet convert model.zt model.safetensors --shard-size 5GB
  tet convert t.npy t.tgm --encoding simple_packing --max-error 0.01 --codec szip
  tet convert year.tet - --to nc | ssh host 'cat > year.nc'

A one-dimensional array with the name of an axis contains its labels: with an array `lat` in the archive, \
`--select lat=51` finds the row by its value.";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Convert a file to the format of the suffix of OUT: .tet, zTensor (.zt), Tensogram (.tgm), \
.safetensors, .safetensors.index.json with its shards, .npz, HDF5 (.h5), NetCDF-4 (.nc, .nc4), classic \
NetCDF (.nc3) or Zarr (.zarr, .zarr.zip); datasets of one axis and the same length to a table with names, \
.csv or .tsv (between tabs); or one dataset to .npy, .raw, .csv or .tsv.\n\n\
The input is any file that tet reads, recognized by its content, or by its suffix .csv or .tsv. Files larger than memory can be \
converted. The output is atomic: it is written to a temporary file, synced and renamed. Shards and \
their index are several files: each is atomic, and while an old model is replaced there is no index. \
A .zarr directory appears as a whole; --force replaces a Zarr directory and no other. A .tets directory is \
a .tet file in parts, which `tet edit append` grows.\n\n\
If the output format lacks a type, the elements are stored as bits of another type, with an \
attribute that names the original type. A warning reports this, and everything that the format \
cannot store. NumPy arrays of objects and records are refused; text is kept where the output can store it. Compressed members of an .npz are \
unpacked to a temporary file in the directory of OUT.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_people_use() {
        let of = |text: &str| Named::dtype(text).map(|it| (it.dataset, it.value.name()));
        assert_eq!(of("bf16"), Ok((None, "bfloat16")));
        assert_eq!(of("temp=fp16"), Ok((Some("temp".to_owned()), "float16")));
        assert_eq!(of("f32"), Ok((None, "float32")));
        assert_eq!(of("uint8"), Ok((None, "uint8")));
        assert!(of("f33").is_err());
    }
}
