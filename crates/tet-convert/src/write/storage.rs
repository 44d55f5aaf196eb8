//! How single datasets are stored: rules for chunk shapes and codecs.
//!
//! A caller names datasets in any way; `convert/storage.rs` puts their names for `#N` and patterns, before a writer
//! looks at the rules.

use std::fmt;

use tet_format::DType;

use crate::Error;

/// How the chunk shape of a dataset is chosen.
///
/// # Examples
///
/// ```
/// use tet_convert::{AxisChunk, ChunkChoice, ChunkRule, ImportOptions};
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
/// assert_ne!(tet_convert::AxisChunk::Auto, tet_convert::AxisChunk::Extent(24));
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
/// use tet_convert::{ChunkChoice, ChunkRule};
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
/// assert_eq!(tet_convert::PayloadCodec::Gzip.name(), "gzip");
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
    /// What it is called.
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
pub(crate) fn rules_of<'r, R>(
    rules: &'r [R],
    dataset: Option<&str>,
    name: impl Fn(&R) -> Option<&str>,
) -> &'r [R] {
    let start = rules.partition_point(|rule| name(rule) < dataset);
    let end = rules.partition_point(|rule| name(rule) <= dataset);
    rules.get(start..end).unwrap_or_default()
}

/// The rules for the codec of a dataset, of rules in the order of names.
pub(crate) fn codec_rules<'r>(rules: &'r [CodecRule], dataset: &str) -> &'r [CodecRule] {
    rules_of(rules, Some(dataset), |rule| Some(&rule.dataset))
}

/// The codec of a dataset and its level, by the rules for it, in the order of names, and those of the other datasets.
pub(crate) fn codec_of(
    dataset: &str,
    (of_others, level_of_others): (PayloadCodec, Option<i32>),
    rules: &[CodecRule],
) -> (PayloadCodec, Option<i32>) {
    let rules = || codec_rules(rules, dataset).iter().rev();
    let codec = rules().find_map(|rule| rule.codec).unwrap_or(of_others);
    let level = rules().find_map(|rule| rule.level);
    (codec, level.or(level_of_others.filter(|_| codec == of_others)))
}

/// The error for a codec that files of a kind do not have, or not with a level.
pub(crate) fn no_codec(
    dataset: &str,
    encoding: &'static str,
    (codec, level): (PayloadCodec, Option<i32>),
) -> Error {
    Error::NoCodec { dataset: dataset.to_owned(), encoding, codec: codec.name(), level }
}
