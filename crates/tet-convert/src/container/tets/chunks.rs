//! The chunks of a dataset that grows: each is in one part.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use tet_file::Statistics;
use tet_format::{Codec, DType, Digest, ForeignRule, Grid};
use tet_io::{Compared, Source, Writers};
use tet_query::{ChunkPlace, ChunkTable, Dataset, Decoder, Error, StoredCompression};

use super::files::{Files, PartError};
use super::manifest::{Part, Rows};
use super::rule;
use tet_container::read::touched::Touched;

/// The chunks of a dataset in all parts.
pub(super) struct Chunks {
    /// The dataset, as the first part has it.
    first: Dataset,
    /// The chunks of all rows.
    grid: Grid,
    /// The axis that grows.
    axis: usize,
    files: Arc<Files>,
    /// Shares of the parts in it, in the order of rows. They are the objects, from 1 on.
    pieces: Vec<Piece>,
    touched: Touched,
}

/// Share of a part in a dataset.
struct Piece {
    /// The number of the part.
    part: usize,
    /// The first of its rows of chunks.
    first: u64,
    rows: Rows,
    opened: OnceLock<Held>,
}

/// A dataset in a part that is open.
struct Held {
    /// Its chunks in the part.
    grid: Grid,
    chunks: Arc<dyn ChunkTable>,
    source: Source,
}

impl Chunks {
    /// The chunks of `row_count` rows.
    pub(super) fn new(
        first: &Dataset,
        axis: usize,
        row_count: u64,
        files: &Arc<Files>,
    ) -> Result<Chunks, PartError> {
        let misfit = || files.part(0).fault(&rule::DATASET, [0; 2]);
        let chunk = first.grid.chunk_shape().get(axis).copied().ok_or_else(misfit)?;
        let mut shape = first.shape().to_vec();
        shape[axis] = row_count;
        let grid = Grid::new(shape.into(), first.grid.chunk_shape().clone()).ok_or_else(misfit)?;
        let mut pieces = Vec::new();
        for (nth, part) in files.parts().enumerate() {
            let Some(&rows) = part.rows.get(&first.name) else { continue };
            let after_border = rows[0] % chunk;
            if after_border != 0 {
                return Err(part.fault(&rule::ROWS_BORDER, [rows[0], rows[0] - after_border]));
            }
            let first = rows[0] / chunk;
            pieces.push(Piece { part: nth, first, rows, opened: OnceLock::new() });
        }
        let (first, files, touched) = (first.clone(), Arc::clone(files), Touched::default());
        Ok(Chunks { first, grid, axis, files, pieces, touched })
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Checks what the parts that are open have of the dataset.
    pub(super) fn check_opened(&self) -> Result<(), PartError> {
        let is_open = |it: &&Piece| self.files.is_open(it.part);
        self.pieces.iter().filter(is_open).try_for_each(|piece| self.held(piece).map(drop))
    }

    /// The rows of the dataset in a part, which is opened if it is not yet.
    fn held<'a>(&'a self, piece: &'a Piece) -> Result<&'a Held, PartError> {
        if let Some(held) = piece.opened.get() {
            return Ok(held);
        }
        let part = self.files.part(piece.part);
        let dataset = self.files.open(piece.part)?.catalog.only_named(&self.first.name);
        let dataset = dataset.filter(|it| is_like(&self.first, it, self.axis));
        let dataset = dataset.ok_or_else(|| part.fault(&rule::DATASET, [0; 2]))?;
        self.check_rows(part, piece.rows, dataset.shape()[self.axis])?;
        let (grid, chunks) = (dataset.grid.clone(), Arc::clone(&dataset.chunks));
        let source = dataset.source.clone();
        Ok(piece.opened.get_or_init(|| Held { grid, chunks, source }))
    }

    /// Checks the rows that a part of `extent` rows has.
    fn check_rows(&self, part: &Part, [start, end]: Rows, extent: u64) -> Result<(), PartError> {
        let count = end.saturating_sub(start);
        let chunk = self.grid.chunk_shape()[self.axis];
        // A clipped part begins with a chunk of its own.
        if extent < count || (count < extent && count % chunk != 0) {
            return Err(part.fault(&rule::ROWS_HELD, [extent, count]));
        }
        Ok(())
    }

    /// The piece that a row of chunks is in.
    fn piece_of(&self, row: u64) -> usize {
        self.pieces.partition_point(|piece| piece.first <= row).saturating_sub(1)
    }

    /// The piece of an object.
    fn piece(&self, number: u32) -> Option<&Piece> {
        self.pieces.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The rows of the dataset in the part of a chunk that was located.
    fn located(&self, number: u32) -> Option<&Held> {
        self.piece(number)?.opened.get()
    }

    /// Opens the parts of pieces, those of a server at the same time.
    fn open(&self, of: &[usize]) -> Result<(), PartError> {
        let parts: BTreeSet<usize> =
            of.iter().filter_map(|&at| self.pieces.get(at)).map(|it| it.part).collect();
        self.files.open_all(&parts.into_iter().collect::<Vec<_>>())
    }

    /// Appends the places of chunks of one piece.
    fn locate_in(
        &self,
        at: usize,
        linear: &[u64],
        out: &mut Vec<ChunkPlace>,
    ) -> tet_query::Result<()> {
        let before = out.len();
        let mut here = Vec::with_capacity(linear.len());
        let mut coord = vec![0; self.grid.rank()];
        let piece = self.pieces.get(at);
        let held = piece.map(|it| self.held(it)).transpose().map_err(|it| self.of_part(it))?;
        for &linear in linear {
            self.grid.coord(linear, &mut coord);
            let number = piece.zip(held).and_then(|(piece, held)| {
                coord[self.axis] = coord[self.axis].checked_sub(piece.first)?;
                held.grid.linear(&coord)
            });
            here.push(number.ok_or_else(|| Error::MissingChunk {
                dataset: self.first.name.clone(),
                chunk: self.grid.coord_of(linear).into(),
            })?);
        }
        held.map_or(Ok(()), |held| held.chunks.locate(&here, out))?;
        let object = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        out.iter_mut().skip(before).for_each(|place| place.object = object);
        Ok(())
    }

    /// An error of a part, as one of the dataset.
    fn of_part(&self, error: PartError) -> Error {
        match error {
            PartError::Fault(shard, fault) => {
                Error::Shard { dataset: self.first.name.clone(), shard, fault }
            }
            PartError::Failed(error) => error,
        }
    }

    fn check(&self, at: u32) -> tet_query::Result<()> {
        let held = self.located(at.saturating_add(1));
        held.map_or(Ok(()), |held| Ok(held.source.check_unchanged()?))
    }
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let before = out.len();
        let mut coord = vec![0; self.grid.rank()];
        let mut of = Vec::with_capacity(linear.len());
        for &linear in linear {
            self.grid.coord(linear, &mut coord);
            of.push(self.piece_of(coord[self.axis]));
        }
        self.open(&of).map_err(|error| self.of_part(error))?;
        let mut rest = linear;
        for run in of.chunk_by(|a, b| a == b) {
            let (here, behind) = rest.split_at(run.len());
            self.locate_in(run[0], here, out)?;
            rest = behind;
        }
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
        let Some(held) = self.located(place.object) else { return Ok(None) };
        held.chunks.digest(&ChunkPlace { object: 0, ..*place })
    }

    fn tet_codec(&self, place: &ChunkPlace) -> Option<Codec> {
        self.located(place.object)?.chunks.tet_codec(&ChunkPlace { object: 0, ..*place })
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.first.chunks.compression()
    }

    fn statistics(&self, object: u32) -> Option<(DType, &Statistics)> {
        self.located(object)?.chunks.statistics(0)
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        self.first.chunks.rule_of(fault)
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        Ok(self.located(number).map(|held| held.source.clone()))
    }

    fn writers(&self) -> Writers {
        let opened = self.files.opened().map(|file| file.catalog.writers());
        opened.max().unwrap_or(Writers::Absent)
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.touched.check_recent(self.files.depth(), |at| self.check(at))
    }

    fn check_all_unchanged(&self, _: &mut Compared) -> tet_query::Result<()> {
        self.touched.check_all(self.files.depth(), |at| self.check(at))
    }

    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        let is_open = |piece: &Piece| self.files.is_open(piece.part);
        if !self.files.is_far() || self.pieces.iter().all(is_open) {
            return None;
        }
        // That of the first chunk, if it is in the part that is open.
        let mut places = Vec::new();
        let is_located =
            self.pieces.first().is_some_and(is_open) && self.locate(&[0], &mut places).is_ok();
        let first = places.first().filter(|_| is_located);
        Some(first.map(|place| self.decoder(0, place).full_name().to_owned()).into_iter().collect())
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        match self.located(place.object) {
            Some(held) => held.chunks.decoder(linear, place),
            None => Decoder::Shared(&tet_codec::Raw),
        }
    }
}

/// Whether a dataset of a part has the type, axes, shape and chunks of that of the first one.
fn is_like(first: &Dataset, other: &Dataset, axis: usize) -> bool {
    let of_axes = |it: &Dataset| {
        let extents = it.shape().iter().enumerate();
        extents.map(|(at, &extent)| if at == axis { 0 } else { extent }).collect::<Vec<u64>>()
    };
    first.dtype_name == other.dtype_name
        && first.fault.is_none()
        && other.fault.is_none()
        && first.dims == other.dims
        && of_axes(first) == of_axes(other)
        && first.grid.chunk_shape() == other.grid.chunk_shape()
}
