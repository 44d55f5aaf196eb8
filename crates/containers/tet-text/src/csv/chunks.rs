//! The chunks of a table: its rows from one place to another, of which one column or all are decoded.

use std::sync::Arc;

use tet_codec::{Decode, Error as CodecError, Raw};
use tet_format::{DType, Grid};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Error as QueryError, TextChunks};

use super::blocks::Blocks;
use super::cell::push;
use super::rows::{Rows, for_rows};
use super::survey::Survey;

const NAME: &str = "csv";

/// The fields of rows that are elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    /// Those of a column.
    One(usize),
    /// All: a row of a matrix.
    All,
}

/// The chunks of a column, or of all columns of a matrix.
#[derive(Debug)]
pub(super) struct Chunks {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) survey: Arc<Survey>,
    pub(super) grid: Grid,
    pub(super) fields: Fields,
    /// The type of its elements; `None` is text.
    pub(super) dtype: Option<DType>,
    /// The columns of a wide table, which are decoded together.
    pub(super) blocks: Option<Arc<Blocks>>,
}

impl Chunks {
    fn broken(reason: &'static str) -> CodecError {
        CodecError::Corrupt { codec: NAME, reason }
    }

    /// The linear indices of chunks count rows of chunks: no chunk is cut along another axis.
    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let stored = self.survey.stored(linear)?;
        let count = self.grid.chunk_elements(&self.grid.coord_of(linear))?;
        let size = self.dtype.and_then(DType::size);
        if let (Some(blocks), Fields::One(nth), Some(size)) = (&self.blocks, self.fields, size) {
            let (object, stored) = blocks.place(nth, linear, count)?;
            return Some(ChunkPlace {
                object,
                ..ChunkPlace::new(stored, count.checked_mul(size)?)
            });
        }
        let decoded_len = match size {
            Some(size) => count.checked_mul(size)?,
            None => stored.len(),
        };
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

impl Decode for Chunks {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let Some(dtype) = self.dtype else {
            if out.len() == stored.len() {
                out.copy_from_slice(stored);
                return Ok(());
            }
            return Err(Chunks::broken("the texts of a chunk are as long as its rows"));
        };
        let mut left = out;
        let mut write = |element: &[u8]| {
            let (place, rest) = std::mem::take(&mut left).split_at_mut_checked(element.len())?;
            place.copy_from_slice(element);
            left = rest;
            Some(())
        };
        let mut row = |rows: &Rows| {
            let done = match self.fields {
                Fields::One(nth) => push(dtype, rows.field(nth), &mut write),
                Fields::All => rows.fields().try_for_each(|field| push(dtype, field, &mut write)),
            };
            done.is_some()
        };
        if !for_rows(self.survey.dialect.delimiter, stored, &mut row) {
            return Err(Chunks::broken("a field is not of the type of its column any more"));
        }
        if left.is_empty() { Ok(()) } else { Err(Chunks::broken("rows are missing")) }
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        // An element of 8 bytes may be an empty field; each but the last one has an end.
        if decoded_len / 8 <= stored_len.saturating_add(1) {
            return Ok(());
        }
        Err(CodecError::Lengths { codec: NAME, stored_len, decoded_len })
    }
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        for &number in linear {
            let misfit = || QueryError::Misfit {
                dataset: self.name.clone(),
                shape: self.grid.shape().clone(),
            };
            out.push(self.place(number).ok_or_else(misfit)?);
        }
        Ok(())
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        let Some(blocks) = &self.blocks else { return Ok(None) };
        blocks.object(number)
    }

    fn decoder(&self, _linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        // An object has elements, and no text.
        if place.object == 0 { Decoder::Shared(self) } else { Decoder::Shared(&Raw) }
    }
}

impl TextChunks for Chunks {
    fn texts(&self, linear: u64, len_max: u64) -> tet_query::Result<Vec<String>> {
        let mut places = Vec::new();
        self.locate(&[linear], &mut places)?;
        let Some(place) = places.first() else { return Ok(Vec::new()) };
        let len = place.stored.len();
        let limit =
            |wanted| QueryError::Limit { what: "bytes of the texts", wanted, limit: len_max };
        if len_max < len {
            return Err(limit(len));
        }
        let Fields::One(nth) = self.fields else { return Ok(Vec::new()) };
        let (mut texts, mut held) = (Vec::new(), 0_u64);
        let mut take = |field: &[u8]| {
            held = held.saturating_add(24 + u64::try_from(field.len()).unwrap_or(u64::MAX));
            texts.push(String::from_utf8_lossy(field).into_owned());
            held <= len_max
        };
        let is_read = match &self.blocks {
            Some(blocks) => blocks.texts(nth, linear, &mut take)?,
            None => {
                let stored = self.source.read_vec(place.stored.start(), len)?;
                let mut row = |rows: &Rows| take(rows.field(nth));
                for_rows(self.survey.dialect.delimiter, &stored, &mut row)
            }
        };
        if is_read { Ok(texts) } else { Err(limit(held)) }
    }
}
