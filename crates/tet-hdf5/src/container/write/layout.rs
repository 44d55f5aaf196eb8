//! How the elements of a dataset are stored: in one piece, or in chunks that go through filters.

use crate::StoredFilter;
use crate::write::DraftLayout;
use tet_codec::{Encode, ZstdEncoder, encode};
use tet_query::{Dataset, LazyArray, StoredCompression};

use super::HDF5;
use tet_container::no_codec;
use tet_container::write::chunk_shape::{self, AskedChunks, chunks_of};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{self, Filter, LeveledCodec, PayloadCodec, Storage};
use tet_container::write::stream::shape_of;
use tet_container::write::texts;
use tet_container::write::whole_chunks::EncodeChunk;
use tet_container::{Error, Result, chunking};

/// The registered numbers of filters.
const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const ZSTD: u16 = 32_015;

/// The levels where none is asked for.
const DEFLATE_LEVEL: u32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// How chunks are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkFilters {
    codec: Hdf5Codec,
    filter: Filter,
}

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hdf5Codec {
    /// As in the input, by deflate: at its level and with its shuffle, or at level 4 and shuffled where the input has
    /// another codec. Chunks keep their shape. What is not compressed there is not.
    Kept,
    /// They are not.
    Raw,
    /// By deflate, which every build of HDF5 reads, at a level from 0 to 9.
    Deflate { level: u32 },
    /// By zstd, for which HDF5 needs the plugin of filter 32015, at a level from 1 to 22.
    Zstd { level: i32 },
}

/// How the chunks of all datasets are stored. What is compressed is shuffled too, unless no filter is asked for.
///
/// # Errors
/// Files have no such codec, or there is a level without one.
fn of_all(storage: &Storage) -> Result<ChunkFilters> {
    let asked = storage.codec_or(PayloadCodec::Raw);
    let codec = match (storage.codec, storage.filter) {
        (None, _) if storage.level.is_some() => return Err(Error::LevelAlone { encoding: HDF5 }),
        (None, Some(Filter::None)) => Hdf5Codec::Raw,
        (None, _) => Hdf5Codec::Kept,
        (Some(_), _) => hdf5_codec("", asked)?,
    };
    let usual = match codec {
        Hdf5Codec::Raw | Hdf5Codec::Kept => Filter::None,
        Hdf5Codec::Deflate { .. } | Hdf5Codec::Zstd { .. } => Filter::Shuffle,
    };
    Ok(ChunkFilters { codec, filter: storage.filter.unwrap_or(usual) })
}

/// A codec as these files have it.
fn hdf5_codec(dataset: &str, asked: LeveledCodec) -> Result<Hdf5Codec> {
    let refused = || no_codec(dataset, HDF5, asked);
    Ok(match (asked.codec, asked.level) {
        (PayloadCodec::Raw, None) => Hdf5Codec::Raw,
        (PayloadCodec::Gzip, level) => {
            let level = level.map_or(Ok(DEFLATE_LEVEL), |level| {
                u32::try_from(level).ok().filter(|level| *level <= 9).ok_or_else(refused)
            });
            Hdf5Codec::Deflate { level: level? }
        }
        (PayloadCodec::Zstd, level) => Hdf5Codec::Zstd { level: level.unwrap_or(ZSTD_LEVEL) },
        _ => return Err(refused()),
    })
}

/// The most texts in one piece.
const WHOLE_COUNT_MAX: u64 = 1 << 16;

/// The facts about a dataset that bound its chunks.
#[derive(Debug)]
pub(super) struct Cut<'c> {
    /// Axes behind those of the dataset, which its elements are made of.
    pub(super) inner: usize,
    /// Whether each axis can grow.
    pub(super) unlimited: &'c [bool],
    /// The dataset, where its elements are texts.
    pub(super) texts: Option<&'c Dataset>,
}

/// The layout of an array whose elements are not written yet.
///
/// # Errors
/// The chunk shape does not fit the array.
pub(super) fn layout(
    lazy: &LazyArray,
    cut: &Cut<'_>,
    options: &ConvertOptions,
) -> Result<DraftLayout> {
    let shape = shape_of(lazy);
    let size = lazy.dtype().size().unwrap_or(1);
    // Chunks of texts are references to them, which filters make little shorter.
    let filters = match cut.texts {
        Some(_) => Vec::new(),
        None => filters(&how(lazy.dataset(), options)?, size),
    };
    let is_whole = |texts: &Dataset| is_short(texts.grid.shape());
    let is_kept = of_all(&options.storage)?.codec == Hdf5Codec::Kept && has_chunks(lazy.dataset());
    let is_chunked = !filters.is_empty()
        || is_kept && cut.texts.is_none()
        || cut.unlimited.contains(&true)
        || !cut.texts.is_none_or(is_whole);
    let (outer, inner) = shape.split_at(shape.rank().saturating_sub(cut.inner));
    let size = inner.iter().copied().fold(size, u64::saturating_mul);
    let asked = chunks_of(lazy.dataset(), outer, size, options)?;
    let mut chunk_shape = match (asked, cut.texts) {
        (AskedChunks::Shape(chunk_shape), _) => chunk_shape,
        (_, _) if !is_chunked => Vec::new(),
        (AskedChunks::Kept, None) => chunk_shape::chosen(lazy.dataset(), outer, size, options),
        (AskedChunks::Kept, Some(texts)) => texts::chunk_shape(texts),
        (AskedChunks::Auto, None) => chunking::auto(outer, size),
        (AskedChunks::Auto, Some(texts)) => texts::auto_shape(texts),
    };
    if chunk_shape.is_empty() {
        return Ok(DraftLayout::Contiguous(None));
    }
    chunk_shape.extend(inner.iter().map(|extent| extent.max(&1)));
    // The library makes no chunks that are longer than an axis which cannot grow.
    for ((chunk, &extent), axis) in chunk_shape.iter_mut().zip(shape.iter()).zip(0..) {
        if cut.unlimited.get(axis) != Some(&true) {
            *chunk = (*chunk).min(extent.max(1));
        }
    }
    Ok(DraftLayout::Chunked { chunk_shape, filters, chunks: Vec::new() })
}

/// Whether so few texts are in one piece: references to them are held until all are written.
fn is_short(shape: &[u64]) -> bool {
    shape.iter().copied().fold(1, u64::saturating_mul) <= WHOLE_COUNT_MAX
}

/// Whether the input stores a dataset in several chunks.
fn has_chunks(dataset: &Dataset) -> bool {
    dataset.chunks.is_chunked() && 1 < dataset.grid.chunk_count()
}

/// How the chunks of a dataset are stored. What is compressed by a codec of its own is shuffled too, as elsewhere,
/// unless the others are compressed and not shuffled.
pub(super) fn how(dataset: &Dataset, options: &ConvertOptions) -> Result<ChunkFilters> {
    let own = of_others(dataset, &of_all(&options.storage)?);
    let codec = match own.codec {
        Hdf5Codec::Raw | Hdf5Codec::Kept => PayloadCodec::Raw.into(),
        Hdf5Codec::Deflate { level } => {
            LeveledCodec { codec: PayloadCodec::Gzip, level: i32::try_from(level).ok() }
        }
        Hdf5Codec::Zstd { level } => LeveledCodec { codec: PayloadCodec::Zstd, level: Some(level) },
    };
    let asked = storage::codec_of(&dataset.name, codec, &options.codecs);
    if asked == codec {
        return Ok(own);
    }
    let codec = hdf5_codec(&dataset.name, asked)?;
    let is_plain = own.codec != Hdf5Codec::Raw && own.filter == Filter::None;
    let filter = match codec {
        Hdf5Codec::Raw | Hdf5Codec::Kept => Filter::None,
        _ if is_plain => Filter::None,
        _ => Filter::Shuffle,
    };
    Ok(ChunkFilters { codec, filter })
}

/// How the chunks of a dataset are stored that has no codec of its own: as all, or as in the input. Coordinates and
/// scalars are read by all programs: they have no filter that needs a plugin, and are too short for another one than the
/// input has.
fn of_others(dataset: &Dataset, options: &ChunkFilters) -> ChunkFilters {
    let raw = ChunkFilters { codec: Hdf5Codec::Raw, filter: options.filter };
    match options.codec {
        Hdf5Codec::Zstd { .. } if is_coordinate(dataset) => {
            ChunkFilters { codec: Hdf5Codec::Raw, filter: Filter::None }
        }
        Hdf5Codec::Kept => match dataset.chunks.compression() {
            Some(StoredCompression { deflate_level: None, .. }) if is_coordinate(dataset) => raw,
            Some(StoredCompression { deflate_level, is_shuffled }) => {
                let level = deflate_level.unwrap_or(DEFLATE_LEVEL);
                let filter = if is_shuffled { Filter::Shuffle } else { options.filter };
                ChunkFilters { codec: Hdf5Codec::Deflate { level }, filter }
            }
            None => raw,
        },
        _ => *options,
    }
}

/// Whether a dataset has the coordinates of its only axis, or no axis.
fn is_coordinate(dataset: &Dataset) -> bool {
    let leaf = dataset.name.rsplit('/').next().unwrap_or_default();
    match dataset.shape() {
        [] => true,
        [_] => dataset.dims.first().is_none_or(|dim| dim == leaf),
        _ => false,
    }
}

/// The filters of elements of this size, in the order in which they are applied.
fn filters(options: &ChunkFilters, size: u64) -> Vec<StoredFilter> {
    let filter = |id: u16, name: &str, value: u64| StoredFilter {
        id,
        name: name.to_owned(),
        is_optional: true,
        values: vec![u32::try_from(value).unwrap_or(u32::MAX)],
    };
    let is_shuffled = options.filter == Filter::Shuffle && 1 < size;
    let shuffle = is_shuffled.then(|| filter(SHUFFLE, "shuffle", size));
    let codec = match options.codec {
        Hdf5Codec::Raw | Hdf5Codec::Kept => None,
        Hdf5Codec::Deflate { level } => Some(filter(DEFLATE, "deflate", level.into())),
        Hdf5Codec::Zstd { level } => Some(filter(ZSTD, "zstd", u64::try_from(level).unwrap_or(0))),
    };
    shuffle.into_iter().chain(codec).collect()
}

/// The encoder that applies the filters of [`filters`] to a chunk.
///
/// # Errors
/// The codec has no such level.
pub(super) fn encoder(
    options: &ChunkFilters,
    size: u64,
) -> Result<Option<Box<EncodeChunk<'static>>>> {
    let is_shuffled = options.filter == Filter::Shuffle && 1 < size;
    let codec = options.codec;
    let zstd = match codec {
        Hdf5Codec::Zstd { level } => Some(ZstdEncoder::new(level).map_err(tet_file::Error::Codec)?),
        _ => None,
    };
    if let Hdf5Codec::Deflate { level } = codec {
        encode::deflate(&[], level, &mut Vec::new()).map_err(tet_file::Error::Codec)?;
    }
    if matches!(codec, Hdf5Codec::Raw | Hdf5Codec::Kept) && !is_shuffled {
        return Ok(None);
    }
    Ok(Some(Box::new(move |decoded: &[u8], out: &mut Vec<u8>| {
        let mut planes = Vec::new();
        let bytes = if is_shuffled {
            encode::shuffle(decoded, size, &mut planes)?;
            &planes[..]
        } else {
            decoded
        };
        match (codec, &zstd) {
            (Hdf5Codec::Deflate { level }, _) => encode::deflate(bytes, level, out),
            (_, Some(zstd)) => zstd.encode(bytes, out),
            _ => {
                out.clear();
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    })))
}
