//! How datasets are stored: codecs, filters, checksums, and rules of chunk shapes and codecs for single datasets.
//!
//! A caller names datasets in any way; `convert/storage.rs` puts their names for `#N` and patterns, before a writer
//! looks at the rules.

use std::fmt;

use tet_format::DType;

/// How the elements of datasets are stored, whatever the container. `None` leaves the choice to the writer of the output,
/// and in an edit keeps what the file has.
///
/// A writer refuses what its files do not have: see [`WriteOption`](crate::WriteOption).
///
/// # Examples
///
/// ```
/// use tet_container::{ConvertOptions, Filter, PayloadCodec};
///
/// let mut options = ConvertOptions::default();
/// options.storage.codec = Some(PayloadCodec::Gzip);
/// options.storage.level = Some(4);
/// options.storage.filter = Some(Filter::Shuffle);
/// assert_eq!(options.storage.checksum, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Storage {
    /// The codec; by default zstd in `.tet` and Zarr, that of the input in HDF5, none elsewhere.
    pub codec: Option<PayloadCodec>,
    /// The level of the codec: of zstd from 1 to 22, of gzip from 0 to 9.
    pub level: Option<i32>,
    /// Whether bytes of elements are shuffled before they are compressed.
    pub filter: Option<Filter>,
    /// The checksum of each tensor of zTensor, or of each chunk of Zarr.
    pub checksum: Option<Checksum>,
    /// How float64 values are rounded and packed, in Tensogram.
    pub packing: Option<Packing>,
    /// Which NaN and infinities are stored as masks, in Tensogram.
    pub masks: Option<Masks>,
    /// The bytes to a multiple of which payloads are aligned: 64 by default.
    pub align: Option<u64>,
    /// Datasets of fewer bytes are aligned to 64, in zTensor.
    pub align_above: u64,
    /// Whether several chunks are stored in a shard, in Zarr.
    pub shards: ShardChoice,
    /// How sparse tensors are stored that stay sparse, in zTensor.
    pub sparse: SparseLayout,
    /// The version of the format, or the readers that the file is written for, by its name: `2` and `3` of Zarr, `0.1.x` of
    /// zTensor, `universal` of Tensogram.
    pub variant: Option<String>,
}

impl Storage {
    /// The codec, and the level where one is asked for, in files that usually have another codec.
    #[must_use]
    pub fn codec_or(&self, usual: PayloadCodec) -> LeveledCodec {
        LeveledCodec { codec: self.codec.unwrap_or(usual), level: self.level }
    }
}

/// A codec and its level; `None` is the level that the container usually has.
///
/// ```
/// use tet_container::{LeveledCodec, PayloadCodec};
///
/// assert_eq!(LeveledCodec::from(PayloadCodec::Zstd).level, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeveledCodec {
    /// The codec.
    pub codec: PayloadCodec,
    /// The level.
    pub level: Option<i32>,
}

impl From<PayloadCodec> for LeveledCodec {
    fn from(codec: PayloadCodec) -> LeveledCodec {
        LeveledCodec { codec, level: None }
    }
}

/// Whether bytes of elements are shuffled.
///
/// ```
/// assert_ne!(tet_container::Filter::None, tet_container::Filter::Shuffle);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// They are not.
    #[default]
    None,
    /// All first bytes of a dataset's elements come first, then all second ones, and so on.
    Shuffle,
}

/// The checksum of a tensor or a chunk.
///
/// ```
/// assert_ne!(tet_container::Checksum::Crc32c, tet_container::Checksum::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// None, but for those that zstd and gzip have.
    None,
    /// CRC-32C.
    Crc32c,
    /// SHA-256.
    Sha256,
}

/// How float64 values are stored as integers of few bits: the simple packing of GRIB.
///
/// ```
/// use tet_container::{Packing, Storage};
///
/// let storage = Storage { packing: Some(Packing::MaxError(0.01)), ..Storage::default() };
/// assert_ne!(storage.packing, Some(Packing::None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packing {
    /// They are stored as they are.
    None,
    /// In this many bits, 0 to 64.
    Bits(u32),
    /// In the fewest bits for which no value has a larger error than this.
    MaxError(f64),
}

/// Which NaN and infinities are stored as masks beside the elements.
///
/// ```
/// assert_eq!(tet_container::Masks::default(), tet_container::Masks::Exact);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masks {
    /// All, if each comes back bit for bit.
    #[default]
    Exact,
    /// All: signs and payloads of NaN are lost.
    All,
    /// None: they are stored with the other elements.
    None,
}

/// How sparse tensors are stored that stay sparse.
///
/// ```
/// assert_eq!(tet_container::SparseLayout::default(), tet_container::SparseLayout::Parts);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparseLayout {
    /// As arrays of indices and values with names of their own, which all readers know.
    #[default]
    Parts,
    /// As one tensor.
    Native,
}

/// How the shard shape of each dataset is chosen.
///
/// ```
/// use tet_container::ShardChoice;
///
/// assert_ne!(ShardChoice::default(), ShardChoice::Shape(vec![100, 100]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ShardChoice {
    /// Those of the input, where the chunks keep their shape too; [`ShardChoice::Auto`] where these are long for the
    /// memory that there is, [`ShardChoice::None`] where the input has none, for text, and in version 2.
    #[default]
    Kept,
    /// Each chunk is an object of its own.
    None,
    /// Shards of about 64 MiB, where a dataset has more than one chunk.
    Auto,
    /// This shape for every dataset: whole multiples of the shape of its chunks.
    Shape(Vec<u64>),
}

/// How the chunk shape of a dataset is chosen.
///
/// # Examples
///
/// ```
/// use tet_container::{AxisChunk, ChunkChoice, ChunkRule, ImportOptions};
///
/// let mut options = ImportOptions::default();
/// options.chunks = ChunkChoice::Axes(vec![("time".to_owned(), AxisChunk::Extent(1))]).into();
/// assert_eq!(options.chunks, [ChunkRule { dataset: None, chunks: options.chunks[0].chunks.clone() }]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ChunkChoice {
    /// That of the chunks that the input stores, unless these are tiny or long; else as [`ChunkChoice::Auto`].
    #[default]
    Kept,
    /// By [`chunking::auto`](crate::chunking::auto).
    Auto,
    /// This shape. In a rule for all datasets it holds for those that have as many axes.
    Shape(Vec<u64>),
    /// These extents along axes, by their names or numbers; other axes keep the extents of the chunks that the
    /// input stores. In a rule for all datasets it holds for those that have one of the axes, but not for
    /// the coordinates of an axis.
    Axes(Vec<(String, AxisChunk)>),
}

/// The extent of chunks along an axis.
///
/// ```
/// assert_ne!(tet_container::AxisChunk::Auto, tet_container::AxisChunk::Extent(24));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisChunk {
    /// As many positions as make chunks of about 4 MiB.
    Auto,
    /// This many positions.
    Extent(u64),
}

/// The chunk shape of one dataset, or of all. Of several rules that hold for a dataset, those that name it come
/// after the others, and later ones replace earlier ones.
///
/// ```
/// use tet_container::{ChunkChoice, ChunkRule};
///
/// let rule = ChunkRule { dataset: Some("temp".to_owned()), chunks: ChunkChoice::Shape(vec![1, 90, 180]) };
/// assert!(rule.dataset.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRule {
    /// The dataset, by its name, as `#N`, or with `*` for any text; `None` for all.
    pub dataset: Option<String>,
    /// Its chunk shape.
    pub chunks: ChunkChoice,
}

impl From<ChunkChoice> for Vec<ChunkRule> {
    /// The rule for all datasets.
    fn from(chunks: ChunkChoice) -> Self {
        vec![ChunkRule { dataset: None, chunks }]
    }
}

/// A codec of the payloads of a dataset, whatever the container.
///
/// ```
/// assert_eq!(tet_container::PayloadCodec::Gzip.name(), "gzip");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadCodec {
    /// No compression.
    Raw,
    /// zstd.
    Zstd,
    /// gzip, zlib or deflate, as the container has it.
    Gzip,
    /// lz4.
    Lz4,
    /// szip.
    Szip,
}

impl PayloadCodec {
    /// Its name, as `--codec` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PayloadCodec::Raw => "raw",
            PayloadCodec::Zstd => "zstd",
            PayloadCodec::Gzip => "gzip",
            PayloadCodec::Lz4 => "lz4",
            PayloadCodec::Szip => "szip",
        }
    }
}

/// The codec or the level of one dataset, where it is not that of the others. Later rules replace earlier ones.
///
/// ```
/// use tet_container::{CodecRule, ConvertOptions, PayloadCodec};
///
/// let mut options = ConvertOptions::default();
/// let dataset = "mask".to_owned();
/// options.codecs.push(CodecRule { dataset, codec: Some(PayloadCodec::Raw), level: None });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecRule {
    /// The dataset, by its name, as `#N`, or with `*` for any text.
    pub dataset: String,
    /// Its codec; `None` leaves that of the others.
    pub codec: Option<PayloadCodec>,
    /// Its level; `None` leaves that of the others, if these have the same codec.
    pub level: Option<i32>,
}

/// The type that the numbers of a dataset become. Of several rules that hold for a dataset, those that name it come
/// after the others, and later ones replace earlier ones.
///
/// A rule for all holds for datasets of floats where the type is one of floats, and for those of integers where it is
/// one of integers, but not for the coordinates of an axis; or for the only dataset.
///
/// ```
/// use tet_container::{ConvertOptions, DTypeRule};
/// use tet_format::DType;
///
/// let mut options = ConvertOptions::default();
/// options.dtypes.push(DTypeRule { dataset: None, dtype: DType::Float32 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DTypeRule {
    /// The dataset, by its name, as `#N`, or with `*` for any text; `None` for all.
    pub dataset: Option<String>,
    /// Its type.
    pub dtype: DType,
}

impl fmt::Display for DTypeRule {
    /// `float32`, or `temp=float32` for one dataset.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dataset) = &self.dataset {
            write!(f, "{dataset}=")?;
        }
        f.write_str(self.dtype.name())
    }
}

/// The rules for a dataset, of rules in the order of the names of their datasets.
pub fn rules_of<'r, R>(
    rules: &'r [R],
    dataset: Option<&str>,
    name: impl Fn(&R) -> Option<&str>,
) -> &'r [R] {
    let start = rules.partition_point(|rule| name(rule) < dataset);
    let end = rules.partition_point(|rule| name(rule) <= dataset);
    rules.get(start..end).unwrap_or_default()
}

/// The rules for the codec of a dataset, of rules in the order of names.
pub fn codec_rules<'r>(rules: &'r [CodecRule], dataset: &str) -> &'r [CodecRule] {
    rules_of(rules, Some(dataset), |rule| Some(&rule.dataset))
}

/// The codec of a dataset, by the rules for it, in the order of names, and that of the other datasets.
pub fn codec_of(dataset: &str, usual: LeveledCodec, rules: &[CodecRule]) -> LeveledCodec {
    let rules = || codec_rules(rules, dataset).iter().rev();
    let codec = rules().find_map(|rule| rule.codec).unwrap_or(usual.codec);
    let level = rules().find_map(|rule| rule.level);
    LeveledCodec { codec, level: level.or(usual.level.filter(|_| codec == usual.codec)) }
}
