//! Columns of a wide table, decoded together: a chunk of rows is split once for many columns.
//!
//! ```text
//!            columns 0..w     columns w..2w
//!           +----------------+----------------+--
//!   chunk 0 | block          | block          |      the numbers of a block are an object in memory,
//!   chunk 1 | block          | block          |      column by column; its texts are rows of fields
//! ```
//!
//! Otherwise each column would split all fields of the file again: the square of their number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tet_format::{DType, Span};
use tet_io::Source;
use tet_query::{Error, Result};

use super::cell::push;
use super::rows::{Rows, for_rows};
use super::survey::Survey;

/// Tables of fewer columns are read column by column.
const WIDE_MIN: usize = 16;
/// Bytes of blocks that are kept, about: those of a few columns in all chunks.
const KEPT_LEN: u64 = 32 << 20;
/// No chunk of rows is longer.
const CHUNK_LEN_MAX: u64 = 32 << 20;
/// Bytes of a text beyond its own.
const END_LEN: u64 = 8;

/// The blocks of a table.
#[derive(Debug)]
pub(super) struct Blocks {
    source: Source,
    survey: Arc<Survey>,
    /// Columns of a block.
    width: usize,
    /// Where the elements of each column begin in a row of its block, were they row by row; texts have no bytes.
    starts: Vec<u64>,
    kept: Mutex<Kept>,
}

/// The fields of some columns in a chunk of rows.
#[derive(Debug)]
pub(super) struct Block {
    /// The elements of the columns of numbers, column by column.
    numbers: Source,
    /// The fields of the columns of text, row by row, and where each ends.
    texts: Vec<u8>,
    ends: Vec<usize>,
}

/// The blocks that were used last.
#[derive(Debug)]
struct Kept {
    /// Those of the same columns by their chunks; the columns that were used last come first.
    columns: Vec<(usize, HashMap<u64, Arc<Block>>)>,
    len: u64,
    /// The most that this is.
    room: u64,
}

impl Blocks {
    /// The blocks of a table that has many columns, which are short enough to be kept.
    pub(super) fn from_survey(source: &Source, survey: &Arc<Survey>) -> Option<Blocks> {
        Blocks::in_room(source, survey, KEPT_LEN)
    }

    /// The blocks in about this many bytes.
    fn in_room(source: &Source, survey: &Arc<Survey>, room: u64) -> Option<Blocks> {
        let count = survey.columns.len();
        let chunk_count = u64::try_from(survey.places.len()).ok()?;
        let is_short = |chunk| survey.stored(chunk).is_some_and(|span| span.len() <= CHUNK_LEN_MAX);
        if count < WIDE_MIN || survey.row_count == 0 || !(0..chunk_count).all(is_short) {
            return None;
        }
        let stored_len = survey.end.saturating_sub(survey.dialect.begin);
        let text_len = stored_len / u64::try_from(count).ok()?;
        let column_len = survey.row_count.saturating_mul(END_LEN).saturating_add(text_len);
        let width = usize::try_from(room / column_len).ok()?.min(count);
        let mut starts = Vec::with_capacity(count);
        let mut at = 0;
        for (kinds, nth) in survey.columns.iter().zip(0_usize..) {
            if width != 0 && nth.is_multiple_of(width) {
                at = 0;
            }
            starts.push(at);
            at += kinds.dtype().and_then(DType::size).unwrap_or(0);
        }
        // Each block is an object with a number.
        let block_count = u64::try_from(count.checked_div(width)?.checked_add(1)?).ok()?;
        u32::try_from(block_count.checked_mul(chunk_count)?).ok()?;
        let (source, survey) = (source.clone(), Arc::clone(survey));
        let kept = Mutex::new(Kept { columns: Vec::new(), len: 0, room });
        (1 < width).then_some(Blocks { source, survey, width, starts, kept })
    }

    /// The number of the object with the elements of a column in a chunk of this many rows, and where these are in it.
    pub(super) fn place(&self, nth: usize, chunk: u64, row_count: u64) -> Option<(u32, Span)> {
        let size = self.survey.columns.get(nth)?.dtype().and_then(DType::size)?;
        let block = u64::try_from(nth / self.width).ok()?;
        let number = chunk.checked_mul(self.block_count()?)?.checked_add(block)?.checked_add(1)?;
        let start = self.starts.get(nth)?.checked_mul(row_count)?;
        Some((u32::try_from(number).ok()?, Span::new(start, size.checked_mul(row_count)?)?))
    }

    /// The object of this number.
    pub(super) fn object(&self, number: u32) -> Result<Option<Source>> {
        let Some((number, count)) = u64::from(number).checked_sub(1).zip(self.block_count()) else {
            return Ok(None);
        };
        let Ok(columns) = usize::try_from(number % count) else { return Ok(None) };
        Ok(Some(self.block(columns, number / count)?.numbers.clone()))
    }

    /// Calls `take` with the texts of a column in a chunk, until it returns false; whether it took all.
    pub(super) fn texts(
        &self,
        nth: usize,
        chunk: u64,
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool> {
        let block = self.block(nth / self.width, chunk)?;
        let first = nth - nth % self.width;
        let is_text = |nth: &usize| self.is_text(*nth);
        let before = (first..nth).filter(is_text).count();
        let width = (first..self.end(first)).filter(is_text).count();
        let rows = block.ends.len().checked_div(width).unwrap_or(0);
        Ok((0..rows).all(|row| take(block.text(row * width + before))))
    }

    fn block_count(&self) -> Option<u64> {
        u64::try_from(self.survey.columns.len().div_ceil(self.width)).ok()
    }

    fn is_text(&self, nth: usize) -> bool {
        self.survey.columns.get(nth).is_some_and(|kinds| kinds.dtype().is_none())
    }

    /// Where the columns of a block end that begin with this one.
    fn end(&self, first: usize) -> usize {
        first.saturating_add(self.width).min(self.survey.columns.len())
    }

    fn block(&self, columns: usize, chunk: u64) -> Result<Arc<Block>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = kept().find(columns, chunk) {
            return Ok(block);
        }
        let block = Arc::new(self.decode(columns.saturating_mul(self.width), chunk)?);
        kept().put(columns, chunk, &block);
        Ok(block)
    }

    /// Splits the rows of a chunk, and keeps the fields of the columns from `first` on.
    fn decode(&self, first: usize, chunk: u64) -> Result<Block> {
        let stored = self.survey.stored(chunk).unwrap_or(Span::EMPTY);
        let text = self.source.read_vec(stored.start(), stored.len())?;
        let begun = chunk.saturating_mul(self.survey.chunk_rows);
        let count = self.survey.row_count.saturating_sub(begun).min(self.survey.chunk_rows);
        let mut columns = Vec::new();
        let mut len = 0;
        for nth in first..self.end(first) {
            let dtype = self.survey.columns.get(nth).and_then(|kinds| kinds.dtype());
            let size = dtype.and_then(DType::size).unwrap_or(0);
            let size = usize::try_from(size).unwrap_or(0);
            columns.push((nth, dtype, len));
            len += size.saturating_mul(usize::try_from(count).unwrap_or(0));
        }
        let (mut numbers, mut texts, mut ends) = (vec![0; len], Vec::new(), Vec::new());
        let mut row_count = 0;
        let is_read = for_rows(self.survey.dialect.delimiter, &text, &mut |rows: &Rows| {
            row_count += 1;
            columns.iter_mut().all(|(nth, dtype, at)| {
                let field = rows.field(*nth);
                let Some(dtype) = *dtype else {
                    texts.extend_from_slice(field);
                    ends.push(texts.len());
                    return true;
                };
                let mut write = |element: &[u8]| {
                    let end = at.checked_add(element.len())?;
                    numbers.get_mut(*at..end)?.copy_from_slice(element);
                    *at = end;
                    Some(())
                };
                push(dtype, field, &mut write).is_some()
            })
        });
        if !is_read || row_count != count {
            // The bytes that were read when the file was opened are not there any more.
            self.source.check_unchanged()?;
            return Err(Error::Misfit {
                dataset: format!("#{first}"),
                shape: [self.survey.row_count].into(),
            });
        }
        Ok(Block { numbers: Source::from_bytes(numbers), texts, ends })
    }
}

impl Block {
    /// A field of text.
    fn text(&self, nth: usize) -> &[u8] {
        let begin = nth.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = begin.zip(self.ends.get(nth).copied());
        range.and_then(|(begin, end)| self.texts.get(begin..end)).unwrap_or_default()
    }

    fn len(&self) -> u64 {
        let wide = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let ends = wide(self.ends.len()).saturating_mul(END_LEN);
        self.numbers.len().saturating_add(wide(self.texts.len())).saturating_add(ends)
    }
}

impl Kept {
    fn find(&mut self, columns: usize, chunk: u64) -> Option<Arc<Block>> {
        let at = self.columns.iter().position(|(it, _)| *it == columns)?;
        self.columns.get_mut(..=at)?.rotate_right(1);
        self.columns.first()?.1.get(&chunk).cloned()
    }

    /// Keeps a block, unless those of its columns are too long; those of other columns make room.
    fn put(&mut self, columns: usize, chunk: u64, block: &Arc<Block>) {
        if self.columns.first().is_none_or(|(it, _)| *it != columns) {
            self.columns.insert(0, (columns, HashMap::new()));
        }
        while self.room < self.len.saturating_add(block.len()) && 1 < self.columns.len() {
            let Some((_, oldest)) = self.columns.pop() else { return };
            let len = oldest.values().map(|block| block.len()).fold(0, u64::saturating_add);
            self.len = self.len.saturating_sub(len);
        }
        let Some((_, blocks)) = self.columns.first_mut() else { return };
        if self.len.saturating_add(block.len()) <= self.room
            && blocks.insert(chunk, Arc::clone(block)).is_none()
        {
            self.len = self.len.saturating_add(block.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use tet_io::Progress;

    use super::*;

    #[test]
    fn blocks_of_any_width_have_all_fields() {
        let (width, count) = (40, 3000);
        let mut text = (0..width).map(|nth| format!("c{nth}")).collect::<Vec<_>>().join(",") + "\n";
        let field = |row: usize, column: usize| match column % 3 {
            0 => format!("{}", row * 100 + column),
            1 => "t".repeat((row + column) % 50),
            _ => format!("{}", row.is_multiple_of(2)),
        };
        for row in 0..count {
            let fields: Vec<String> = (0..width).map(|column| field(row, column)).collect();
            text += &(fields.join(",") + "\n");
        }
        let source = Source::from_named_bytes("table.csv", text);
        let survey = Arc::new(Survey::scan(&source, &Progress::default()).unwrap().unwrap());
        assert!(1 < survey.places.len());
        let mut widths = Vec::new();
        for room in [200_000, 500_000, 1_000_000, KEPT_LEN] {
            let blocks = Blocks::in_room(&source, &survey, room).unwrap();
            widths.push(blocks.width);
            for (column, chunk) in (0..width).flat_map(|it| [(it, 0), (width - 1 - it, 1)]) {
                let first = usize::try_from(chunk * survey.chunk_rows).unwrap();
                let rows = (count - first).min(usize::try_from(survey.chunk_rows).unwrap());
                let wanted = (first..first + rows).map(|row| field(row, column));
                let Some((number, span)) = blocks.place(column, chunk, rows as u64) else {
                    let mut found = Vec::new();
                    let mut take = |text: &[u8]| {
                        found.push(String::from_utf8(text.to_vec()).unwrap());
                        true
                    };
                    assert!(blocks.texts(column, chunk, &mut take).unwrap());
                    assert_eq!(found, wanted.collect::<Vec<_>>());
                    continue;
                };
                let object = blocks.object(number).unwrap().unwrap();
                let found = object.read_vec(span.start(), span.len()).unwrap();
                let wanted: Vec<u8> = wanted
                    .flat_map(|field| match field.parse::<i64>() {
                        Ok(number) => number.to_le_bytes().to_vec(),
                        Err(_) => vec![u8::from(field == "true")],
                    })
                    .collect();
                assert!(found == wanted, "column {column} in chunk {chunk}");
                assert!(blocks.kept.lock().unwrap().len <= room);
            }
        }
        assert!(widths.is_sorted() && 1 < widths[0] && widths[0] < width, "{widths:?}");
        assert!(Blocks::in_room(&source, &survey, 1000).is_none());
        assert!(blocks_of("a,b\n1,2\n").is_none());
    }

    fn blocks_of(text: &str) -> Option<Blocks> {
        let source = Source::from_named_bytes("table.csv", text);
        let survey = Survey::scan(&source, &Progress::default()).unwrap().unwrap();
        Blocks::from_survey(&source, &Arc::new(survey))
    }
}
