//! Where the chunks of a dataset are and what decodes them: what a container brings for each dataset.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use tet_codec::{ChunkLayout, Decode, StoredSpans};
use tet_file::Statistics;
use tet_format::{Codec, DType, Digest, ForeignRule, Integrity, Shape, Span};
use tet_io::{Compared, Source, Writers};

use super::Sealed;
use crate::error::{Error, Result};

/// Where the chunks of one dataset lie.
pub trait ChunkTable: Any + Send + Sync {
    /// Appends the places of the chunks with these linear grid indices, in their order.
    ///
    /// Costs O(requested chunks). Every place that comes back is inside the file and clear of its
    /// structure, and its lengths have been checked.
    ///
    /// # Errors
    ///
    /// Returns an error that names the chunk when it is missing, twice there, or breaks a rule.
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()>;

    /// Calls `take` with the linear grid index of every chunk that is stored, until it returns false; the work
    /// follows what is stored, not the extents. Returns whether the table can do so.
    ///
    /// # Errors
    ///
    /// Returns an error when the index of the chunks cannot be read, and those of `take`.
    fn each_stored(&self, take: &mut dyn FnMut(u64) -> Result<bool>) -> Result<bool> {
        let _ = take;
        Ok(false)
    }

    /// Whether the file has chunks of the shape that the grid has; otherwise its reader cuts an array in one
    /// piece into them.
    fn is_chunked(&self) -> bool {
        false
    }

    /// Whether the file has digests of the chunks.
    fn has_digests(&self) -> bool {
        false
    }

    /// The integrity of an answer when every byte was compared with the digests of the file.
    fn integrity(&self) -> Integrity {
        let is_bare = !self.has_digests() && self.seals().is_empty();
        if is_bare { Integrity::Unprotected } else { Integrity::Verified }
    }

    /// The digest of the stored bytes of a chunk that was located here, where there is one.
    ///
    /// # Errors
    ///
    /// Returns an error when the digests cannot be read.
    fn digest(&self, place: &ChunkPlace) -> Result<Option<Digest>> {
        let _ = place;
        Ok(None)
    }

    /// The codec of a chunk that was located here, if it is stored as `.tet` files store chunks: it may be copied to one then.
    fn tet_codec(&self, place: &ChunkPlace) -> Option<Codec> {
        let _ = place;
        None
    }

    /// The statistics of the chunks in an object, with the dtype that they are of, where it has any that are of its chunks:
    /// a located chunk knows its [row](ChunkPlace::row) in them.
    fn statistics(&self, object: u32) -> Option<(DType, &Statistics)> {
        let _ = object;
        None
    }

    /// How the chunks are compressed; `None` where they are not.
    fn compression(&self) -> Option<StoredCompression> {
        None
    }

    /// The codecs known from the metadata, where locating chunks takes one request or more per object; `None` where it takes
    /// none.
    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        None
    }

    /// The shape of what the file stores several chunks in as one, where it does.
    fn shard_shape(&self) -> Option<&Shape> {
        None
    }

    /// The checksums that the file has of the dataset, or of each that it is put together of.
    fn seals(&self) -> Vec<&Sealed> {
        Vec::new()
    }

    /// The rule of the container that a payload breaks when its decoder returns this error; `None` where the
    /// codec's own will do.
    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        let _ = fault;
        None
    }

    /// Takes the reason why a decoder of this table returned an error, where a codec has no words for it.
    fn take_fault(&self) -> Option<Error> {
        None
    }

    /// The object of this number, for chunks that are stored in other files than the dataset's: a
    /// chunk that was located here has its number. `None` for 0, the dataset's file.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be opened.
    fn object(&self, number: u32) -> Result<Option<Source>> {
        let _ = number;
        Ok(None)
    }

    /// Who may have written to the objects of chunks that were located, since they were opened.
    fn writers(&self) -> Writers {
        Writers::Absent
    }

    /// Compares the identities of the objects of chunks that were located since the last call with those
    /// that they had when they were opened. Answers that are computed at the same time share the calls.
    ///
    /// # Errors
    ///
    /// Returns an error when one changed.
    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }

    /// Checks all objects that were ever located, at the end of work that gives many answers. Objects shared with
    /// other tables of the container are checked unless `compared` has them.
    ///
    /// # Errors
    ///
    /// As [`ChunkTable::check_unchanged`].
    fn check_all_unchanged(&self, compared: &mut Compared) -> Result<()> {
        let _ = compared;
        self.check_unchanged()
    }

    /// The blocks of bytes that the elements are, where these are not numbers of whole bytes: floats of few bits,
    /// quantized numbers, and types that nothing here computes with.
    fn blocks(&self) -> Option<&ByteBlocks> {
        None
    }

    /// The decoder of the chunk at this linear grid index, which was located here.
    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_>;
}

/// How a file compresses the chunks of a dataset.
///
/// ```
/// use tet_query::StoredCompression;
///
/// let zlib = StoredCompression { deflate_level: Some(4), is_shuffled: true };
/// assert_ne!(zlib, StoredCompression::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredCompression {
    /// The level of deflate, from 0 to 9; `None` for another codec.
    pub deflate_level: Option<u32>,
    /// Whether the bytes of elements are shuffled first.
    pub is_shuffled: bool,
}

/// Elements as they are stored: blocks of bytes, which are decoded to numbers or compared and copied as they are.
#[derive(Clone, Debug)]
pub struct ByteBlocks {
    /// The chunks of the bytes.
    pub chunks: Arc<dyn ChunkTable>,
    /// Elements of a block.
    pub count: u64,
    /// Bytes of a block.
    pub len: u64,
}

/// The table of a dataset that cannot be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoChunks;

impl ChunkTable for NoChunks {
    fn locate(&self, _: &[u64], _: &mut Vec<ChunkPlace>) -> Result<()> {
        Err(Error::Unsupported { why: "where its chunks are is not known".to_owned() })
    }

    fn decoder(&self, _: u64, _: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&tet_codec::Raw)
    }
}

impl fmt::Debug for dyn ChunkTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChunkTable")
    }
}

/// The decoder of one chunk: one that all chunks share, or one that was made for it.
///
/// # Examples
///
/// The table of an array that is one raw chunk:
///
/// ```
/// use tet_codec::Raw;
/// use tet_format::Span;
/// use tet_query::{ChunkPlace, ChunkTable, Decoder};
///
/// struct OneChunk(Span);
///
/// impl ChunkTable for OneChunk {
///     fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
///         let stored = self.0;
///         let place = ChunkPlace::new(stored, stored.len());
///         out.extend(linear.iter().map(|_| place));
///         Ok(())
///     }
///
///     fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
///         Decoder::Shared(&Raw)
///     }
/// }
///
/// let table = OneChunk(Span::new(64, 800).expect("it is far below 2^63"));
/// let mut places = Vec::new();
/// table.locate(&[0], &mut places)?;
/// assert_eq!(table.decoder(0, &places[0]).name(), "raw");
/// # Ok::<(), tet_query::Error>(())
/// ```
#[derive(Debug)]
pub enum Decoder<'a> {
    /// A decoder shared by many chunks.
    Shared(&'a dyn Decode),
    /// That of this chunk alone.
    Own(Box<dyn Decode + 'a>),
}

impl<'a> Deref for Decoder<'a> {
    type Target = dyn Decode + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Decoder::Shared(decoder) => *decoder,
            Decoder::Own(decoder) => decoder.as_ref(),
        }
    }
}

/// Bytes of a chunk in one call of a decoder, at least a block of any type.
const PROBE_LEN: u64 = 1 << 16;

impl Decoder<'_> {
    /// Whether it serves ranges of elements; otherwise a chunk is always decoded whole.
    pub(crate) fn is_ranged(&self) -> bool {
        let layout = ChunkLayout { stored_len: PROBE_LEN, decoded_len: PROBE_LEN, element_size: 8 };
        self.is_identity() || matches!(self.stored_spans(layout, 0..1), StoredSpans::Range(_))
    }
}

/// Where one chunk is and how it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace {
    /// The object that it is stored in, as [`ChunkTable::object`] numbers them; 0 is the dataset's file.
    pub object: u32,
    /// Its stored bytes there.
    pub stored: Span,
    /// Bytes after decoding.
    pub decoded_len: u64,
    /// How it is encoded, where chunks of the container differ in that: a number of the container.
    pub codec: u32,
    /// The number by which the file knows its digest.
    pub row: u64,
}

impl ChunkPlace {
    /// A chunk in the dataset's file.
    #[must_use]
    pub const fn new(stored: Span, decoded_len: u64) -> ChunkPlace {
        ChunkPlace { object: 0, stored, decoded_len, codec: 0, row: 0 }
    }

    /// A chunk that is not stored: its decoder gives the fill value for all its elements, from no bytes.
    #[must_use]
    pub const fn absent(decoded_len: u64) -> ChunkPlace {
        ChunkPlace::new(Span::EMPTY, decoded_len)
    }

    /// Whether the chunk is not stored.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        self.stored.is_empty() && self.decoded_len != 0
    }
}

/// A range of bytes that is read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadRange {
    /// The object, numbered as in [`ChunkPlace`].
    pub object: u32,
    /// The bytes in it.
    pub span: Span,
}
