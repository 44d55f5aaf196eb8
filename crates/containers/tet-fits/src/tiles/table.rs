//! The table of tiles: the row of a tile says where its bytes are.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tet_format::{ForeignFault, ForeignRule, Grid, Span};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Error, Result, Sealed};

use super::codec::Codec;
use super::dither::Quantum;
use super::index;
use super::layout::{Layout, Number, Scales};
use super::tile::Tile;
use crate::rule;

/// Bytes of rows that are read at once.
const READ_LEN: u64 = 64 << 10;

/// The tiles of a compressed image.
pub(crate) struct Tiles {
    name: String,
    source: Source,
    layout: Layout,
    /// The table and its heap.
    data: Span,
    is_turned: bool,
    sealed: Option<Sealed>,
    /// How the integers of tiles that were located become floats.
    quanta: Mutex<HashMap<u64, Quantum>>,
}

impl Tiles {
    /// The tiles of the image `name`, whose table and heap are in `data`.
    pub(crate) fn new(
        name: &str,
        source: &Source,
        layout: &Layout,
        data: Span,
        sealed: Option<Sealed>,
    ) -> Tiles {
        let (name, source, layout) = (name.to_owned(), source.clone(), layout.clone());
        Tiles { name, source, layout, data, is_turned: false, sealed, quanta: Mutex::default() }
    }

    /// The tiles with pixels whose sign bit is turned.
    pub(crate) fn turned(self) -> Tiles {
        Tiles { is_turned: true, ..self }
    }

    /// The image, cut into tiles.
    pub(crate) const fn grid(&self) -> &Grid {
        &self.layout.grid
    }

    /// The offset of a row.
    fn row_at(&self, row: u64) -> u64 {
        self.data.start().saturating_add(row.saturating_mul(self.layout.row_len))
    }

    fn fault(&self, rule: &'static ForeignRule, at: u64, found: u64, wanted: u64) -> Error {
        let fault = ForeignFault { rule, at, found, wanted };
        Error::Foreign { dataset: self.name.clone(), fault }
    }

    /// Where the tile of a row is: the first column that has bytes for it.
    fn place(&self, number: u64, row: &[u8]) -> Result<ChunkPlace> {
        let at = self.row_at(number);
        let bounds = |found| self.fault(&rule::TILE_BOUNDS, at, found, self.data.end());
        for (column, codec) in self.layout.columns.iter().zip(0_u32..) {
            let Some(column) = column else { continue };
            let stored = column.stored(row).ok_or_else(|| bounds(0))?;
            if stored.count == 0 {
                continue;
            }
            let heap = self.data.start().saturating_add(self.layout.heap);
            let len = stored.count.checked_mul(column.element_len());
            let begin = heap.checked_add(stored.offset);
            let span = begin.zip(len).and_then(|(begin, len)| Span::new(begin, len));
            let end = begin.zip(len).and_then(|(begin, len)| begin.checked_add(len));
            let span = span.filter(|span| span.end() <= self.data.end());
            let span = span.ok_or_else(|| bounds(end.unwrap_or(u64::MAX)))?;
            let coord = self.layout.grid.coord_of(number);
            let count = self.layout.grid.chunk_elements(&coord).unwrap_or(u64::MAX);
            let decoded_len = count.saturating_mul(self.layout.size());
            return Ok(ChunkPlace { codec, ..ChunkPlace::new(span, decoded_len) });
        }
        Err(self.fault(&rule::TILE_EMPTY, at, 0, 0))
    }

    /// Keeps how the integers of a tile become floats.
    fn keep(&self, scales: &Scales, number: u64, row: &[u8]) {
        let float = |it: Number<f64>| match it {
            Number::Of(number) => Some(number),
            Number::In(column) => column.number(row),
        };
        let blank = scales.blank.and_then(|it| match it {
            Number::Of(number) => Some(number),
            Number::In(column) => column.integer(row),
        });
        let (scale, zero) = (float(scales.scale).unwrap_or(1.0), float(scales.zero).unwrap_or(0.0));
        let (dither, seed) = (scales.dither, scales.seed.map(|seed| seed.saturating_add(number)));
        let quantum = Quantum { scale, zero, blank, dither, seed };
        let mut quanta = self.quanta.lock().unwrap_or_else(PoisonError::into_inner);
        quanta.insert(number, quantum);
    }

    fn quantum(&self, number: u64) -> Option<Quantum> {
        self.quanta.lock().unwrap_or_else(PoisonError::into_inner).get(&number).copied()
    }
}

impl ChunkTable for Tiles {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        let row_len = self.layout.row_len.max(1);
        let rows_max = index((READ_LEN / row_len).max(1));
        // Rows that follow one another are read together.
        for run in linear.chunk_by(|one, next| one.checked_add(1) == Some(*next)) {
            for part in run.chunks(rows_max) {
                let (Some(&first), count) = (part.first(), part.len()) else { continue };
                let len = u64::try_from(count).unwrap_or(0).saturating_mul(row_len);
                let rows = self.source.read_vec(self.row_at(first), len)?;
                for (&number, row) in part.iter().zip(rows.chunks_exact(index(row_len))) {
                    out.push(self.place(number, row)?);
                    if let Some(scales) = &self.layout.scales {
                        self.keep(scales, number, row);
                    }
                }
            }
        }
        Ok(())
    }

    fn each_stored(&self, take: &mut dyn FnMut(u64) -> Result<bool>) -> Result<bool> {
        for linear in 0..self.layout.grid.chunk_count() {
            if !take(linear)? {
                break;
            }
        }
        Ok(true)
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn rule_of(&self, _fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        Some(&rule::TILE_DECODES)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let (bitpix, is_turned) = (self.layout.bitpix, self.is_turned);
        let (codec, quantum) = match place.codec {
            0 => (self.layout.codec, self.quantum(linear)),
            1 => (Codec::Gzip, None),
            _ => (Codec::Plain, None),
        };
        Decoder::Own(Box::new(Tile { codec, bitpix, quantum, is_turned }))
    }
}
