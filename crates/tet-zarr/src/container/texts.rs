//! Arrays of texts of any length: chunks that `vlen-utf8` makes bytes of.
//!
//! ```text
//!   count (u32) | len (u32) text | len (u32) text | ...
//! ```

use std::sync::Arc;

use crate::{ArrayMeta, Hierarchy};
use tet_codec::{ElementLayout, FillValue, Stage};
use tet_format::{ForeignRule, Shape};
use tet_io::{Compared, Source};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Error as QueryError, TextChunks};

use super::chunks::{Chunks, rule_of, stage};
use super::zipped::Pipelines;
use tet_container::read::touched::Touched;

/// The codec between texts and bytes.
const TEXTS: &str = "vlen-utf8";

/// The chunks of an array of texts.
pub(super) struct TextTable {
    source: Source,
    chunks: Chunks,
    /// The text of a chunk that is not stored.
    fill: String,
    /// Texts of a chunk.
    count: u64,
}

impl TextTable {
    /// The chunks of an array; an error is why they are not read.
    pub(super) fn new(
        name: &str,
        source: &Source,
        hierarchy: &Hierarchy,
        array: &Arc<ArrayMeta>,
    ) -> Result<TextTable, String> {
        let mut stages: Option<Vec<Arc<dyn Stage>>> = None;
        for codec in array.codecs.iter() {
            match &mut stages {
                None if codec.is_core("bytes") => {}
                None if codec.name == TEXTS => stages = Some(Vec::new()),
                None => {
                    return Err(format!("texts behind the codec {:?} are not read", codec.name));
                }
                Some(stages) => stages.extend(stage(codec)?),
            }
        }
        let stages = stages.ok_or("no codec makes bytes of its texts")?;
        let count = array.grid.chunk_shape().element_count();
        let count = count.ok_or("its chunks cannot be counted")?;
        let pipelines = Arc::new(Pipelines::new(stages, ElementLayout::new(1)));
        let fill = FillValue::new(&[0]).ok_or("its fill value has no bytes")?;
        let finder = hierarchy.finder(array);
        let name = name.to_owned();
        let chunks =
            Chunks { name, finder, chunk_len: count, pipelines, fill, touched: Touched::default() };
        let fill = String::from_utf8_lossy(array.fill.as_deref().unwrap_or_default()).into_owned();
        Ok(TextTable { source: source.clone(), chunks, fill, count })
    }

    fn too_long(wanted: u64, limit: u64) -> QueryError {
        QueryError::Limit { what: "bytes of the texts", wanted, limit }
    }

    /// The texts of the decoded bytes of a chunk.
    fn parse(&self, bytes: &[u8], len_max: u64) -> Option<Result<Vec<String>, QueryError>> {
        fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
            let (number, rest) = bytes.split_first_chunk::<4>()?;
            Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
        }
        let (count, mut rest) = number(bytes)?;
        if u64::try_from(count) != Ok(self.count) || rest.len() / 4 < count {
            return None;
        }
        let held = (count as u64).saturating_mul(24).saturating_add(bytes.len() as u64);
        if len_max < held {
            return Some(Err(Self::too_long(held, len_max)));
        }
        let mut texts = Vec::with_capacity(count);
        for _ in 0..count {
            let (len, after) = number(rest)?;
            let (text, after) = after.split_at_checked(len)?;
            texts.push(String::from_utf8_lossy(text).into_owned());
            rest = after;
        }
        Some(Ok(texts))
    }
}

impl TextChunks for TextTable {
    fn texts(&self, linear: u64, len_max: u64) -> tet_query::Result<Vec<String>> {
        let mut places = Vec::new();
        self.chunks.locate(&[linear], &mut places)?;
        let Some(place) = places.first().filter(|place| !place.is_absent()) else {
            let each = 24 + self.fill.len() as u64;
            let wanted = self.count.saturating_mul(each);
            let count = usize::try_from(self.count).ok().filter(|_| wanted <= len_max);
            let count = count.ok_or_else(|| Self::too_long(wanted, len_max))?;
            return Ok(vec![self.fill.clone(); count]);
        };
        let len = place.stored.len();
        if len_max < len {
            return Err(Self::too_long(len, len_max));
        }
        let object = self.chunks.object(place.object)?;
        let source = object.as_ref().unwrap_or(&self.source);
        let stored = source.read_vec(place.stored.start(), len)?;
        let chunk = || self.chunks.finder.array().grid.coord_of(linear).into();
        let failed = |fault| QueryError::Codec {
            dataset: self.chunks.name.clone(),
            chunk: chunk(),
            at: place.stored.start(),
            fault,
        };
        let bytes = self.chunks.pipelines.undo_all(place, &stored, len_max).map_err(failed)?;
        let cut = tet_codec::Error::Lengths {
            codec: TEXTS,
            stored_len: bytes.len() as u64,
            decoded_len: self.count,
        };
        self.parse(&bytes, len_max).unwrap_or_else(|| Err(failed(cut)))
    }
}

impl ChunkTable for TextTable {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.chunks.locate(linear, out)
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn shard_shape(&self) -> Option<&Shape> {
        self.chunks.shard_shape()
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        rule_of(fault)
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.chunks.object(number)
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.chunks.check_unchanged()
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        self.chunks.check_all_unchanged(compared)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        self.chunks.decoder(linear, place)
    }
}
