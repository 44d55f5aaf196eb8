//! Chunks that are members of a zip file: each is compared with its CRC-32 when all of it is read.

use std::sync::Arc;

use crate::{Located, Store};
use tet_codec::{
    ChecksumKind, Decode, Deflate, ElementLayout, Error, NumcodecsPipeline, Pipeline, Room, Stage,
};
use tet_query::{ChunkPlace, Decoder};

/// The name of the checksum in errors.
pub(super) const CHECKSUM: &str = "CRC-32 of the zip file";

/// The codec numbers of a stored member, and of a deflated one: their rows are the checksums.
const STORED: u32 = 1;
const DEFLATED: u32 = 2;

/// The decoders of the chunks of an array: of those that are members of a zip file, and of all others.
pub(super) struct Pipelines {
    pub(super) plain: Pipeline,
    stages: Vec<Arc<dyn Stage>>,
    layout: ElementLayout,
}

impl Pipelines {
    pub(super) fn new(stages: Vec<Arc<dyn Stage>>, layout: ElementLayout) -> Pipelines {
        let plain = Pipeline::new(stages.clone(), layout.clone());
        Pipelines { plain, stages, layout }
    }

    /// The codec number and the row of a chunk.
    pub(super) fn codec_of(&self, found: &Located, store: &Store) -> (u32, u64) {
        let compared_max = match store {
            Store::Zip(zip) => zip.compared_max(),
            _ => u64::MAX,
        };
        let is_ranged = self.plain.stages().is_empty();
        match (found.crc32, found.inflated_len) {
            (Some(crc32), Some(_)) => (DEFLATED, crc32.into()),
            (Some(_), None) if is_ranged && compared_max < found.span.len() => (0, 0),
            (Some(crc32), None) => (STORED, crc32.into()),
            (None, _) => (0, 0),
        }
    }

    /// The decoder of a chunk that is stored.
    pub(super) fn decoder(&self, place: &ChunkPlace) -> Decoder<'_> {
        let crc32 = u32::try_from(place.row).unwrap_or(0);
        match place.codec {
            STORED => Decoder::Own(Box::new(Compared { plain: &self.plain, crc32 })),
            DEFLATED => Decoder::Own(Box::new(self.inflating(crc32))),
            _ => Decoder::Shared(&self.plain),
        }
    }

    /// The bytes of a chunk whose decoded length is not known; it is at most `len_max`.
    pub(super) fn undo_all(
        &self,
        place: &ChunkPlace,
        stored: &[u8],
        len_max: u64,
    ) -> tet_codec::Result<Vec<u8>> {
        let crc32 = u32::try_from(place.row).unwrap_or(0);
        match place.codec {
            DEFLATED => return self.inflating(crc32).undo_all(stored, len_max),
            STORED => check(stored, crc32)?,
            _ => {}
        }
        self.plain.undo_all(stored, len_max)
    }

    fn inflating(&self, crc32: u32) -> Pipeline {
        let inflate = Inflate { deflate: Deflate::raw(), crc32 };
        let last: Arc<dyn Stage> = Arc::new(inflate);
        Pipeline::new(self.stages.iter().cloned().chain([last]), self.layout.clone())
    }
}

fn check(bytes: &[u8], crc32: u32) -> tet_codec::Result<()> {
    if ChecksumKind::Crc32.compute(bytes) == crc32 {
        return Ok(());
    }
    Err(Error::Checksum { codec: CHECKSUM })
}

/// Decodes stored members.
#[derive(Debug)]
struct Compared<'a> {
    plain: &'a Pipeline,
    crc32: u32,
}

impl Decode for Compared<'_> {
    fn name(&self) -> &'static str {
        self.plain.name()
    }

    fn full_name(&self) -> &str {
        self.plain.full_name()
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.check_len(stored.len() as u64, out.len() as u64)?;
        check(stored, self.crc32)?;
        self.plain.decode(stored, out)
    }

    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        self.plain.numcodecs()
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        self.plain.check_len(stored_len, decoded_len)
    }
}

/// Inflates members.
#[derive(Debug)]
struct Inflate {
    deflate: Deflate,
    crc32: u32,
}

impl Stage for Inflate {
    fn name(&self) -> &'static str {
        self.deflate.name()
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        self.deflate.written_len(len)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        self.deflate.decoded_max(stored_len)
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> tet_codec::Result<()> {
        self.deflate.undo(stored, room, out)?;
        check(out, self.crc32)
    }
}
