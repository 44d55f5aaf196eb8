//! The chunks of elements that are stored in blocks: decoded to float32, or known as bytes alone.

use std::ops::Range;
use std::sync::Arc;

use tet_codec::{
    ChunkLayout, Decode, Error as CodecError, FillValue, NumberBlock, Raw, StoredSpans,
};
use tet_format::{Digest, ForeignRule, Grid, Integrity, Shape};
use tet_io::{Compared, Source};
use tet_query::{ByteBlocks, ChunkPlace, ChunkTable, Decoder, Sealed};

use super::scratch::with_buffer;

/// Bytes of a decoded element.
const VALUE_LEN: u64 = 4;

/// Chunks of blocks.
#[derive(Debug)]
pub struct BlockChunks {
    blocks: ByteBlocks,
    /// How the elements are decoded, where they are; otherwise chunks are those of the bytes.
    number: Option<NumberBlock>,
    /// The most bytes of decoded elements of a chunk: the last block of the only one may be filled up.
    len_max: u64,
}

impl BlockChunks {
    /// Elements of this grid in blocks that `number` decodes.
    pub fn decoded(chunks: Arc<dyn ChunkTable>, number: NumberBlock, grid: &Grid) -> BlockChunks {
        let blocks = ByteBlocks { chunks, count: number.count(), len: number.len() };
        let count = grid.shape().element_count().filter(|_| grid.chunk_count() == 1);
        let count = count.filter(|count| !count.is_multiple_of(number.count()));
        let len_max = count.map_or(u64::MAX, |count| count.saturating_mul(VALUE_LEN));
        BlockChunks { blocks, number: Some(number), len_max }
    }

    /// Elements of which `count` take `len` bytes, which nothing decodes.
    pub fn opaque(chunks: Arc<dyn ChunkTable>, count: u64, len: u64) -> BlockChunks {
        let blocks = ByteBlocks { chunks, count, len };
        BlockChunks { blocks, number: None, len_max: u64::MAX }
    }

    /// Bytes of the decoded elements that these bytes are.
    fn decoded_len(&self, len: u64) -> u64 {
        let ByteBlocks { count, len: block, .. } = self.blocks;
        match self.number {
            Some(_) => (len / block).saturating_mul(count * VALUE_LEN).min(self.len_max),
            None => len,
        }
    }
}

impl ChunkTable for BlockChunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let first = out.len();
        self.blocks.chunks.locate(linear, out)?;
        for place in out.iter_mut().skip(first) {
            place.decoded_len = self.decoded_len(place.decoded_len);
        }
        Ok(())
    }

    fn each_stored(
        &self,
        take: &mut dyn FnMut(u64) -> tet_query::Result<bool>,
    ) -> tet_query::Result<bool> {
        self.blocks.chunks.each_stored(take)
    }

    fn is_chunked(&self) -> bool {
        self.blocks.chunks.is_chunked()
    }

    fn has_digests(&self) -> bool {
        self.blocks.chunks.has_digests()
    }

    fn integrity(&self) -> Integrity {
        self.blocks.chunks.integrity()
    }

    fn digest(&self, place: &ChunkPlace) -> tet_query::Result<Option<Digest>> {
        self.blocks.chunks.digest(place)
    }

    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        self.blocks.chunks.codecs_of_objects()
    }

    fn shard_shape(&self) -> Option<&Shape> {
        self.blocks.chunks.shard_shape()
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.blocks.chunks.seals()
    }

    fn rule_of(&self, fault: &CodecError) -> Option<&'static ForeignRule> {
        self.blocks.chunks.rule_of(fault)
    }

    fn take_fault(&self) -> Option<tet_query::Error> {
        self.blocks.chunks.take_fault()
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.blocks.chunks.object(number)
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.blocks.chunks.check_unchanged()
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        self.blocks.chunks.check_all_unchanged(compared)
    }

    fn blocks(&self) -> Option<&ByteBlocks> {
        Some(&self.blocks)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let Some(number) = self.number else { return self.blocks.chunks.decoder(linear, place) };
        let decoded_len = bytes_of(number, place.decoded_len);
        let bytes = self.blocks.chunks.decoder(linear, &ChunkPlace { decoded_len, ..*place });
        Decoder::Own(Box::new(Numbers { bytes, number }))
    }
}

/// The chunks of elements that are counted, and not read: each element is a byte that is not stored.
#[derive(Debug)]
pub struct UnreadChunks {
    grid: Grid,
    decoder: Option<FillValue>,
}

impl UnreadChunks {
    /// Chunks of this grid, none of which can be read.
    pub fn new(grid: Grid) -> UnreadChunks {
        UnreadChunks { grid, decoder: FillValue::new(&[0]) }
    }
}

impl ChunkTable for UnreadChunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let count = |linear: &u64| self.grid.chunk_elements(&self.grid.coord_of(*linear));
        out.extend(linear.iter().map(|at| ChunkPlace::absent(count(at).unwrap_or(0))));
        Ok(())
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        self.decoder.as_ref().map_or(Decoder::Shared(&Raw), |fill| Decoder::Shared(fill))
    }
}

/// Bytes of the blocks that so many bytes of decoded elements are.
fn bytes_of(number: NumberBlock, decoded_len: u64) -> u64 {
    (decoded_len / VALUE_LEN).div_ceil(number.count()).saturating_mul(number.len())
}

/// The decoder of the bytes of a chunk, and then of its elements.
#[derive(Debug)]
struct Numbers<'a> {
    bytes: Decoder<'a>,
    number: NumberBlock,
}

impl Numbers<'_> {
    /// Decodes `out` from blocks of `len` bytes that `read` makes; the first `skipped` elements are not selected.
    fn with_blocks(
        &self,
        len: u64,
        skipped: u64,
        out: &mut [u8],
        read: impl FnOnce(&mut [u8]) -> tet_codec::Result<()>,
    ) -> tet_codec::Result<()> {
        with_buffer(self.name(), len, |blocks| {
            read(blocks)?;
            self.number.decode(blocks, skipped, out)
        })
    }

    /// The bytes of a chunk, each an element.
    fn layout(&self, layout: ChunkLayout) -> ChunkLayout {
        let decoded_len = bytes_of(self.number, layout.decoded_len);
        ChunkLayout { decoded_len, element_size: 1, ..layout }
    }

    /// The bytes of the blocks that have these elements.
    fn range(&self, elements: &Range<u64>) -> Range<u64> {
        let (count, len) = (self.number.count(), self.number.len());
        let end = elements.end.div_ceil(count).saturating_mul(len);
        (elements.start / count).saturating_mul(len)..end
    }
}

impl Decode for Numbers<'_> {
    fn name(&self) -> &'static str {
        self.bytes.name()
    }

    fn full_name(&self) -> &str {
        self.bytes.full_name()
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        if self.bytes.is_identity() {
            self.check_len(stored.len() as u64, out.len() as u64)?;
            return self.number.decode(stored, 0, out);
        }
        let len = bytes_of(self.number, out.len() as u64);
        self.with_blocks(len, 0, out, |blocks| self.bytes.decode(stored, blocks))
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        self.bytes.stored_spans(self.layout(layout), self.range(&elements))
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        let (layout, range) = (self.layout(layout), self.range(&elements));
        let (len, skipped) = (range.end - range.start, elements.start % self.number.count());
        if self.bytes.is_identity() {
            return self.number.decode(stored, skipped, out);
        }
        self.with_blocks(len, skipped, out, |blocks| {
            self.bytes.decode_range(layout, stored, range, blocks)
        })
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        self.bytes.check_len(stored_len, bytes_of(self.number, decoded_len))
    }
}
