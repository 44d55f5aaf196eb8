//! The chunks of a dataset that grows: each is in one part.

use std::sync::Arc;

use tet_file::Statistics;
use tet_format::{DType, Digest, ForeignRule, Grid};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Error};

use crate::read::touched::Touched;

/// The chunks of a dataset in all parts.
pub(super) struct Chunks {
    pub(super) dataset: String,
    /// The chunks of all rows.
    pub(super) grid: Grid,
    /// The axis that grows.
    pub(super) axis: usize,
    /// What parts have of it, in the order of rows. They are the objects, from 1 on.
    pub(super) pieces: Vec<Piece>,
    pub(super) touched: Touched,
}

/// What a part has of a dataset.
pub(super) struct Piece {
    /// The first of its rows of chunks.
    pub(super) first: u64,
    /// Its chunks in the part.
    pub(super) grid: Grid,
    pub(super) chunks: Arc<dyn ChunkTable>,
    pub(super) source: Source,
}

impl Chunks {
    /// The piece that a row of chunks is in.
    fn piece_of(&self, row: u64) -> usize {
        self.pieces.partition_point(|piece| piece.first <= row).saturating_sub(1)
    }

    /// The piece of an object.
    fn piece(&self, number: u32) -> Option<&Piece> {
        self.pieces.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// Appends the places of chunks of one piece, by their numbers there.
    fn locate_in(
        &self,
        at: usize,
        linear: &[u64],
        out: &mut Vec<ChunkPlace>,
    ) -> tet_query::Result<()> {
        let Some(piece) = self.pieces.get(at).filter(|_| !linear.is_empty()) else { return Ok(()) };
        let first = out.len();
        piece.chunks.locate(linear, out)?;
        let object = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        out.iter_mut().skip(first).for_each(|place| place.object = object);
        Ok(())
    }
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let before = out.len();
        let mut coord = vec![0; self.grid.rank()];
        let (mut at, mut here) = (0, Vec::new());
        for &linear in linear {
            self.grid.coord(linear, &mut coord);
            let missing = || Error::MissingChunk {
                dataset: self.dataset.clone(),
                chunk: self.grid.coord_of(linear).into(),
            };
            let row = coord.get_mut(self.axis).ok_or_else(missing)?;
            let of = self.piece_of(*row);
            if of != at {
                self.locate_in(at, &here, out)?;
                here.clear();
                at = of;
            }
            let piece = self.pieces.get(of).ok_or_else(missing)?;
            *row = row.saturating_sub(piece.first);
            here.push(piece.grid.linear(&coord).ok_or_else(missing)?);
        }
        self.locate_in(at, &here, out)?;
        self.touched.add(out.get(before..).unwrap_or_default());
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn has_digests(&self) -> bool {
        true
    }

    fn digest(&self, place: &ChunkPlace) -> tet_query::Result<Option<Digest>> {
        let Some(piece) = self.piece(place.object) else { return Ok(None) };
        piece.chunks.digest(&ChunkPlace { object: 0, ..*place })
    }

    fn statistics(&self, object: u32) -> Option<(DType, &Statistics)> {
        self.piece(object)?.chunks.statistics(0)
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        self.pieces.first().and_then(|piece| piece.chunks.rule_of(fault))
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        Ok(self.piece(number).map(|piece| piece.source.clone()))
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.touched.check_recent(|at| self.check(at))
    }

    fn check_all_unchanged(&self) -> tet_query::Result<()> {
        self.touched.check_all(|at| self.check(at))
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        match self.piece(place.object) {
            Some(piece) => piece.chunks.decoder(linear, place),
            None => Decoder::Shared(&tet_codec::Raw),
        }
    }
}

impl Chunks {
    fn check(&self, at: u32) -> tet_query::Result<()> {
        let piece = self.piece(at.saturating_add(1));
        piece.map_or(Ok(()), |piece| Ok(piece.source.check_unchanged()?))
    }
}
