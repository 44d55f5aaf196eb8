//! The chunks of a dataset: found in its index when they are asked for, decoded by its filters.

use std::iter::repeat;
use std::sync::Arc;

use crate::{StoredFilter, StoredIndex, rule};
use tet_codec::{ElementLayout, FillValue, Pipeline, Stage, Unsupported};
use tet_format::{ForeignRule, Grid};
use tet_query::{ChunkPlace, ChunkTable, Decoder, StoredCompression};

/// The filter mask of a chunk that no filter was applied to.
const NO_FILTER: u32 = u32::MAX;

/// The chunks of a dataset.
pub(super) struct Chunks {
    pub(super) name: String,
    /// The grid, with the axes of arrays in elements.
    pub(super) grid: Grid,
    pub(super) index: StoredIndex,
    /// The extents that the index knows.
    pub(super) shape: Vec<u64>,
    pub(super) pipeline: Pipeline,
    pub(super) compression: Option<StoredCompression>,
    /// The first stages of the pipeline that are those of the elements, and no filters.
    pub(super) element_stages: usize,
    /// Bytes of a decoded chunk.
    pub(super) chunk_len: u64,
    pub(super) fill: FillValue,
}

/// The decoders of the filters of a dataset; an error names the first filter that is not supported.
pub(super) fn stages(
    filters: &[StoredFilter],
    element_size: u64,
) -> Result<Vec<Arc<dyn Stage>>, Unsupported> {
    let stage =
        |filter: &StoredFilter| tet_codec::hdf5_stage(filter.id, &filter.values, element_size);
    filters.iter().map(stage).collect()
}

/// The registered numbers of filters: deflate, shuffle, Fletcher-32.
const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const CHECKSUM: u16 = 3;

/// How filters compress.
pub(super) fn compression(filters: &[StoredFilter]) -> Option<StoredCompression> {
    let is_compressing = |it: &&StoredFilter| ![SHUFFLE, CHECKSUM].contains(&it.id);
    let codec = filters.iter().find(is_compressing)?;
    let level = codec.values.first().copied().filter(|level| *level <= 9);
    let deflate_level = level.filter(|_| codec.id == DEFLATE);
    let is_shuffled = codec.id != DEFLATE || filters.iter().any(|it| it.id == SHUFFLE);
    Some(StoredCompression { deflate_level, is_shuffled })
}

impl Chunks {
    fn place(&self, linear: u64) -> crate::Result<ChunkPlace> {
        let mut coord = self.grid.coord_of(linear);
        // The axes of arrays in elements are never cut.
        coord.truncate(self.shape.len());
        let len = self.chunk_len;
        let Some(found) = self.index.find(&coord)? else { return Ok(ChunkPlace::absent(len)) };
        let is_plain = self.index.is_plain_edge(&coord, &self.shape);
        let codec = if is_plain { NO_FILTER } else { found.mask };
        Ok(ChunkPlace { codec, ..ChunkPlace::new(found.span, len) })
    }
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        for &linear in linear {
            out.push(self.place(linear).map_err(|error| of_dataset(&self.name, error))?);
        }
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.compression
    }

    fn each_stored(
        &self,
        take: &mut dyn FnMut(u64) -> tet_query::Result<bool>,
    ) -> tet_query::Result<bool> {
        let mut failed = None;
        let rank = self.grid.rank();
        let walked = self.index.each_coord(&mut |coord| {
            // The axes of arrays in elements have one chunk.
            let coord: Vec<u64> = coord.iter().copied().chain(repeat(0)).take(rank).collect();
            let Some(linear) = self.grid.linear(&coord) else { return true };
            take(linear).unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        });
        match failed {
            Some(error) => Err(error),
            None => walked.map(|()| true).map_err(|error| of_dataset(&self.name, error)),
        }
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        matches!(fault, tet_codec::Error::Checksum { .. }).then_some(&rule::PAYLOAD_CHECKSUM)
    }

    fn decoder(&self, _linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        if place.is_absent() {
            return Decoder::Shared(&self.fill);
        }
        if place.codec == 0 {
            return Decoder::Shared(&self.pipeline);
        }
        let (elements, filters) = self.pipeline.stages().split_at(self.element_stages);
        let is_applied = |number: usize| number < 32 && place.codec & (1 << number) == 0;
        let filters = filters.iter().enumerate().filter(|(number, _)| is_applied(*number));
        let stages = elements.iter().chain(filters.map(|(_, stage)| stage));
        let layout: ElementLayout = self.pipeline.layout().clone();
        Decoder::Own(Box::new(Pipeline::new(stages.cloned().collect::<Vec<_>>(), layout)))
    }
}

/// An error of the reader, as one of the dataset.
pub(super) fn of_dataset(name: &str, error: crate::Error) -> tet_query::Error {
    match error {
        crate::Error::Fault(fault) => tet_query::Error::Foreign { dataset: name.to_owned(), fault },
        crate::Error::Io(error) => tet_query::Error::Io(error),
        error => tet_query::Error::Unsupported { why: error.to_string() },
    }
}

/// An array that is not stored: every element is the fill value.
pub(super) struct Absent {
    pub(super) fill: FillValue,
    pub(super) grid: Grid,
    pub(super) element_size: u64,
}

impl ChunkTable for Absent {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        for &linear in linear {
            let elements = self.grid.chunk_elements(&self.grid.coord_of(linear));
            let len = elements.and_then(|count| count.checked_mul(self.element_size));
            out.push(ChunkPlace::absent(len.unwrap_or(u64::MAX)));
        }
        Ok(())
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&self.fill)
    }
}
