//! The chunks of a dataset, some of which are missing values.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tet_codec::{Error as Refused, FillValue};
use tet_format::{Codec, Digest, ForeignRule, Grid, Integrity, Shape};
use tet_io::{Compared, Source, Writers};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed, StoredCompression};

/// The chunks of another table, and those that are missing values.
pub(super) struct WithMissing {
    chunks: Arc<dyn ChunkTable>,
    grid: Grid,
    element_len: u64,
    fill: Option<FillValue>,
    /// The numbers of those that are missing values, in their order, and whether each was decoded.
    missing: Vec<(u64, AtomicBool)>,
}

impl std::fmt::Debug for WithMissing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithMissing").field("missing", &self.missing.len()).finish_non_exhaustive()
    }
}

impl WithMissing {
    /// The chunks of `grid`, where those of these numbers, in their order, are of this element.
    pub(super) fn new(
        chunks: Arc<dyn ChunkTable>,
        grid: Grid,
        element: &[u8],
        missing: Vec<u64>,
    ) -> WithMissing {
        let missing = missing.into_iter().map(|linear| (linear, AtomicBool::new(false))).collect();
        let element_len = u64::try_from(element.len()).unwrap_or(u64::MAX);
        WithMissing { chunks, grid, element_len, fill: FillValue::new(element), missing }
    }

    /// The numbers of the missing chunks that were decoded.
    pub(super) fn used(&self) -> impl Iterator<Item = u64> {
        let used = self.missing.iter().filter(|(_, is_used)| is_used.load(Ordering::Relaxed));
        used.map(|(linear, _)| *linear)
    }

    fn missing(&self, linear: u64) -> Option<&AtomicBool> {
        let at = self.missing.binary_search_by_key(&linear, |(linear, _)| *linear).ok()?;
        self.missing.get(at).map(|(_, is_used)| is_used)
    }
}

impl ChunkTable for WithMissing {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        for run in linear
            .chunk_by(|one, other| self.missing(*one).is_some() == self.missing(*other).is_some())
        {
            if run.first().is_some_and(|first| self.missing(*first).is_none()) {
                self.chunks.locate(run, out)?;
                continue;
            }
            for linear in run {
                let count = self.grid.chunk_elements(&self.grid.coord_of(*linear));
                let len = count.and_then(|count| count.checked_mul(self.element_len));
                let (what, wanted) = ("bytes of a chunk", u64::MAX);
                let too_long = tet_query::Error::Limit { what, wanted, limit: wanted };
                out.push(ChunkPlace::absent(len.ok_or(too_long)?));
            }
        }
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        self.chunks.is_chunked()
    }

    fn shard_shape(&self) -> Option<&Shape> {
        self.chunks.shard_shape()
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.chunks.compression()
    }

    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        self.chunks.codecs_of_objects()
    }

    fn tet_codec(&self, place: &ChunkPlace) -> Option<Codec> {
        self.chunks.tet_codec(place).filter(|_| !place.is_absent())
    }

    fn has_digests(&self) -> bool {
        self.chunks.has_digests()
    }

    fn integrity(&self) -> Integrity {
        self.chunks.integrity()
    }

    fn digest(&self, place: &ChunkPlace) -> tet_query::Result<Option<Digest>> {
        if place.is_absent() { Ok(None) } else { self.chunks.digest(place) }
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.chunks.seals()
    }

    fn rule_of(&self, fault: &Refused) -> Option<&'static ForeignRule> {
        self.chunks.rule_of(fault)
    }

    fn take_fault(&self) -> Option<tet_query::Error> {
        self.chunks.take_fault()
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.chunks.object(number)
    }

    fn writers(&self) -> Writers {
        self.chunks.writers()
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.chunks.check_unchanged()
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        self.chunks.check_all_unchanged(compared)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        match (self.missing(linear), &self.fill) {
            (Some(is_used), Some(fill)) => {
                is_used.store(true, Ordering::Relaxed);
                Decoder::Shared(fill)
            }
            _ => self.chunks.decoder(linear, place),
        }
    }
}
