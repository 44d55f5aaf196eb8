//! The catalog of a `.tet` file: rows on demand, chunk to row in O(1).
//!
//! The usual writers store the rows of a dataset row-major, so that the row of a chunk is found by
//! addition and proved by its coordinate. Where that proof fails, all rows are sorted once.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use tet_file::{AttrValue, DatasetEntry, RowOrder, Statistics, TetFile};
use tet_format::index::{IndexRow, RowContext, check_payload, check_row};
use tet_format::{Codec, DType, Digest, Integrity, Strict};

use super::{AttrText, Catalog, ChunkPlace, ChunkTable, Dataset, Decoder, StoredCompression};
use crate::error::{Error, Result};

/// The most unused rows between two that are read together.
const ROW_GAP_MAX: u64 = 32;

/// Lays the catalog over an open file.
pub(super) fn catalog(file: TetFile) -> Catalog {
    let source = file.source().clone();
    let file = Arc::new(Opened { file, sorted: Mutex::new(None) });
    let entries = file.file.datasets();
    let datasets = entries.iter().enumerate().map(|(id, entry)| dataset(&file, id, entry));
    let attrs = file.file.metadata().file.iter();
    let attrs = attrs.map(|(key, value)| (key.clone(), attr_text(value))).collect();
    Catalog::new(source, "tet", datasets.collect()).with_attrs(attrs)
}

fn dataset(file: &Arc<Opened>, id: usize, entry: &DatasetEntry) -> Dataset {
    let rank = entry.grid.rank();
    let metadata = file.file.metadata().dataset(&entry.name);
    let dims = metadata.map(|it| it.dim_names.clone()).filter(|names| names.len() == rank);
    let coords = metadata.into_iter().flat_map(|it| {
        let labels = it.coords.iter();
        labels.filter_map(|(key, labels)| Some((it.axis(key, rank)?, labels.clone())))
    });
    let attrs = metadata.into_iter().flat_map(|it| it.attrs.iter());
    let fault =
        entry.fault.map(|fault| Arc::new(Error::Dataset { dataset: entry.name.clone(), fault }));
    let chunks = Arc::new(TetChunks { file: Arc::clone(file), id });
    let dtype = entry.dtype.map(|dtype| dtype.name().to_owned());
    let dtype_name = dtype.unwrap_or_else(|| format!("tag {}", entry.dtype_tag));
    let (source, grid) = (file.file.source().clone(), entry.grid.clone());
    Dataset {
        dtype: entry.dtype,
        dims: dims.unwrap_or_default(),
        coords: coords.collect(),
        attrs: attrs.map(|(key, value)| (key.clone(), attr_text(value))).collect(),
        fault,
        ..Dataset::unknown(source, &entry.name, dtype_name, grid, chunks)
    }
}

fn attr_text(value: &AttrValue) -> AttrText {
    match value {
        AttrValue::Text(text) => AttrText::Text(text.clone()),
        AttrValue::Json(json) => AttrText::Json(json.clone()),
    }
}

/// Parts of an open file that its datasets share.
struct Opened {
    file: TetFile,
    /// Dataset, chunk and row number of all rows that name a chunk, sorted; made when the rows are
    /// found not to be where their order implies.
    sorted: Mutex<Option<Arc<Vec<[u64; 3]>>>>,
}

impl Opened {
    fn sorted(&self) -> Result<Arc<Vec<[u64; 3]>>> {
        let mut sorted = self.sorted.lock().unwrap_or_else(|poison| poison.into_inner());
        if let Some(rows) = &*sorted {
            return Ok(Arc::clone(rows));
        }
        let index = self.file.index();
        let mut rows = Vec::new();
        index.for_blocks(0..index.row_count(), |first, block| {
            for (number, bytes) in (first..).zip(block) {
                let row = IndexRow::decode(bytes);
                let id = usize::try_from(row.dataset_id).ok();
                let Some(entry) = id.and_then(|id| self.file.datasets().get(id)) else { continue };
                let coord = row.coord.get(..entry.grid.rank()).unwrap_or(&[]);
                if let Some(linear) = entry.grid.linear(coord) {
                    rows.push([row.dataset_id, linear, number]);
                }
            }
        })?;
        rows.sort_unstable();
        let rows = Arc::new(rows);
        *sorted = Some(Arc::clone(&rows));
        Ok(rows)
    }
}

/// The chunks of one dataset.
struct TetChunks {
    file: Arc<Opened>,
    id: usize,
}

impl TetChunks {
    fn entry(&self) -> &DatasetEntry {
        &self.file.file.datasets()[self.id]
    }

    /// Appends the places of chunks whose rows stand in order; false when a row is not where it
    /// should be.
    fn locate_in_order(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<bool> {
        let index = self.file.file.index();
        let DatasetEntry { grid, rows: Range { start: first_row, .. }, .. } = self.entry();
        let mut coord = vec![0; grid.rank()];
        let near = |a: &u64, b: &u64| a < b && *b - *a <= ROW_GAP_MAX;
        for group in linear.chunk_by(near) {
            let [first, .., last] = [group[0], group[group.len() - 1]];
            let mut wanted = group.iter().copied().peekable();
            let mut at = u64::MAX;
            let mut outcome = Ok(true);
            let rows = first_row.saturating_add(first)..first_row.saturating_add(last + 1);
            index.for_blocks(rows, |start, block| {
                while let (Ok(true), Some(&linear)) = (&outcome, wanted.peek()) {
                    let number = first_row + linear;
                    let held = usize::try_from(number - start).ok();
                    let Some(bytes) = held.and_then(|at| block.get(at)) else { return };
                    if at.wrapping_add(1) == linear && linear != first {
                        grid.advance(&mut coord);
                    } else {
                        grid.coord(linear, &mut coord);
                    }
                    at = linear;
                    let row = IndexRow::decode(bytes);
                    if row.is_chunk(self.id as u64, &coord) {
                        outcome = self.place(&row, number, &coord).map(|place| {
                            out.push(place);
                            true
                        });
                    } else {
                        outcome = Ok(false);
                    }
                    wanted.next();
                }
            })?;
            if !outcome? || wanted.peek().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the places of chunks whose rows may be anywhere.
    fn locate_anywhere(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        let sorted = self.file.sorted()?;
        let index = self.file.file.index();
        let DatasetEntry { name, grid, .. } = self.entry();
        let id = self.id as u64;
        let mut rows = Vec::with_capacity(1);
        for &linear in linear {
            let chunk = || grid.coord_of(linear).into();
            let dataset = || name.clone();
            let first = sorted.partition_point(|row| row[..2] < [id, linear][..]);
            let mut same = sorted[first..].iter().take_while(|row| row[..2] == [id, linear]);
            let Some(&[_, _, number]) = same.next() else {
                return Err(Error::MissingChunk { dataset: dataset(), chunk: chunk() });
            };
            if let Some(&[_, _, second]) = same.next() {
                let at = index.row_at(second);
                return Err(Error::DuplicateChunk { dataset: dataset(), chunk: chunk(), at });
            }
            rows.clear();
            index.rows(number..number + 1, &mut rows)?;
            let Some(row) = rows.first() else {
                return Err(Error::MissingChunk { dataset: dataset(), chunk: chunk() });
            };
            out.push(self.place(row, number, &grid.coord_of(linear))?);
        }
        Ok(())
    }

    /// Judges a row and gives the place it names.
    fn place(&self, row: &IndexRow, number: u64, coord: &[u64]) -> Result<ChunkPlace> {
        let file = &self.file.file;
        let at = file.index().row_at(number);
        let DatasetEntry { name, grid, .. } = self.entry();
        let element_size = self.entry().dtype.and_then(tet_format::DType::size);
        let context = RowContext { record_at: self.entry().at, grid, element_size };
        check_row(row, at, &context, &mut Strict)
            .and_then(|()| {
                check_payload(row, at, file.index_end(), file.payload_end(), &mut Strict)
            })
            .map_err(|fault| Error::Chunk { dataset: name.clone(), chunk: coord.into(), fault })?;
        let codec = Codec::from_tag(row.codec);
        let Some((_, stored)) = tet_codec::decoder(codec).zip(row.payload()) else {
            return Err(Error::unknown_codec(name, coord.into(), codec.to_string()));
        };
        let place = ChunkPlace::new(stored, row.raw_len);
        Ok(ChunkPlace { codec: row.codec, row: number, ..place })
    }
}

impl ChunkTable for TetChunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        let before = out.len();
        if self.entry().order == RowOrder::RowMajor && self.locate_in_order(linear, out)? {
            return Ok(());
        }
        out.truncate(before);
        self.locate_anywhere(linear, out)
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn has_digests(&self) -> bool {
        self.file.file.protection().digests().is_some()
    }

    fn integrity(&self) -> Integrity {
        self.file.file.protection().integrity()
    }

    fn digest(&self, place: &ChunkPlace) -> Result<Option<Digest>> {
        let digests = self.file.file.protection().digests();
        Ok(digests.map(|digests| digests.of_row(place.row)).transpose()?)
    }

    fn tet_codec(&self, place: &ChunkPlace) -> Option<Codec> {
        Some(Codec::from_tag(place.codec))
    }

    fn compression(&self) -> Option<StoredCompression> {
        let mut first = Vec::new();
        self.locate(&[0], &mut first).ok()?;
        let is_raw = self.tet_codec(first.first()?)? == Codec::Raw;
        (!is_raw).then_some(StoredCompression { deflate_level: None, is_shuffled: true })
    }

    fn statistics(&self, _object: u32) -> Option<(DType, &Statistics)> {
        self.entry().dtype.zip(self.file.file.statistics())
    }

    fn decoder(&self, _linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let decoder = tet_codec::decoder(Codec::from_tag(place.codec));
        Decoder::Shared(decoder.unwrap_or(&tet_codec::Raw))
    }
}
