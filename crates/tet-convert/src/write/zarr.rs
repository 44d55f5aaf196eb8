//! How a Zarr hierarchy is written.

use tet_zarr::{ZarrCompression, ZarrFormat};

/// What the format is called in messages.
pub(crate) const ENCODING: &str = "Zarr";

/// How a Zarr hierarchy is written.
///
/// # Examples
///
/// ```
/// use tet_convert::{ConvertOptions, ShardChoice, ZarrOptions};
///
/// let mut options = ConvertOptions::default();
/// options.zarr.shards = ShardChoice::Auto;
/// assert_ne!(options.zarr, ZarrOptions::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZarrOptions {
    /// The version.
    pub format: ZarrFormat,
    /// How chunks are compressed.
    pub compression: ZarrCompression,
    /// Whether chunks have a checksum of their own. Version 2 has none.
    pub checksum: ChunkSum,
    /// Whether chunks are stored in shards. Version 2 has none.
    pub shards: ShardChoice,
}

impl Default for ZarrOptions {
    /// Version 3 with zstd, as zarr-python writes it.
    fn default() -> Self {
        ZarrOptions {
            format: ZarrFormat::V3,
            compression: ZarrCompression::Zstd { level: 3 },
            checksum: ChunkSum::None,
            shards: ShardChoice::Kept,
        }
    }
}

/// The checksum of a chunk.
///
/// ```
/// assert_eq!(tet_convert::ChunkSum::default(), tet_convert::ChunkSum::None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkSum {
    /// None, but for those that zstd and gzip have.
    #[default]
    None,
    /// CRC-32C.
    Crc32c,
}

/// How the shard shape of each dataset is chosen.
///
/// ```
/// use tet_convert::ShardChoice;
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
