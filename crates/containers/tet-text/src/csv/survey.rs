//! One pass over a table: how many rows it has, where they are, and what its columns are.

use tet_format::{DType, ForeignFault, ForeignRule, Span};
use tet_io::{Progress, Source};

use super::cell::{Kinds, real};
use super::dialect::{Dialect, Favored, SAMPLE_LEN};
use super::rows::{ROW_LEN_MAX, Rows, Step};
use super::rule;
use tet_container::{Error, Result};

/// Places of rows that are kept: from half of it to all of it, in files of more rows.
const PLACES_MAX: usize = 1 << 16;
/// Bytes at the beginning of a file that has long comments or a long first row.
const LONG_SAMPLE_LEN: u64 = SAMPLE_LEN + ROW_LEN_MAX as u64;
/// Bytes of text that are decoded at once, about.
const CHUNK_LEN: u64 = 1 << 20;

/// Layout of a table.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) dialect: Dialect,
    pub(super) columns: Vec<Kinds>,
    pub(super) row_count: u64,
    /// Whether the values of the first column increase from row to row.
    pub(super) is_ordered: bool,
    /// Where each chunk of rows begins.
    pub(super) places: Vec<u64>,
    /// Rows of a chunk.
    pub(super) chunk_rows: u64,
    /// The end of the last row.
    pub(super) end: u64,
}

impl Survey {
    /// Reads a table; the inner error is the rule that it breaks.
    pub(super) fn scan(
        source: &Source,
        progress: &Progress,
    ) -> Result<Result<Survey, ForeignFault>> {
        let len = source.len();
        let sample = source.read_vec(0, len.min(SAMPLE_LEN))?;
        let favored = Favored::for_path(source.path());
        let mut dialect = Dialect::find(&sample, len <= SAMPLE_LEN, favored);
        if dialect == Ok(None) {
            let sample = source.read_vec(0, len.min(LONG_SAMPLE_LEN))?;
            dialect = Dialect::find(&sample, len <= LONG_SAMPLE_LEN, favored);
        }
        let long = ForeignFault { rule: &rule::LIMIT_ROW, at: 0, found: 0, wanted: 0 };
        let dialect = match dialect.and_then(|found| found.ok_or(long)) {
            Ok(dialect) => dialect,
            Err(fault) => return Ok(Err(fault)),
        };
        let begin = dialect.begin;
        let mut pass = Pass::new(dialect, len);
        let span = Span::from_range(begin..len).filter(|span| !span.is_empty());
        if let Some(span) = span {
            let progress = progress.begin(span.len());
            let take = |at, bytes: &[u8]| pass.take(at, bytes).is_some();
            progress.pieces::<Error>(source, span, &mut Vec::new(), take)?;
        }
        if pass.fault.is_none() {
            pass.finish();
        }
        Ok(pass.survey())
    }

    /// The type of the matrix that a table without names is, if its columns are of one type.
    pub(super) fn matrix(&self) -> Option<DType> {
        Kinds::matrix(&self.columns).filter(|_| self.dialect.names.is_none())
    }

    /// The bytes of the rows of a chunk.
    pub(super) fn stored(&self, chunk: u64) -> Option<Span> {
        let nth = usize::try_from(chunk).ok()?;
        let begin = *self.places.get(nth)?;
        let end = self.places.get(nth.checked_add(1)?).copied().unwrap_or(self.end);
        Span::from_range(begin..end)
    }
}

/// A pass under way.
struct Pass {
    dialect: Dialect,
    rows: Rows,
    columns: Vec<Kinds>,
    row_count: u64,
    /// Where the row under way begins.
    row_at: u64,
    /// Where every `stride`th row begins.
    places: Vec<u64>,
    stride: u64,
    order: Order,
    /// Whether a field that is not empty is without quotes.
    has_bare: bool,
    len: u64,
    fault: Option<ForeignFault>,
}

impl Pass {
    fn new(dialect: Dialect, len: u64) -> Pass {
        let rows = Rows::new(dialect.delimiter);
        let columns = match &dialect.names {
            Some(names) => vec![Kinds::default(); names.len()],
            None => Vec::new(),
        };
        let row_at = dialect.begin;
        let (places, order, has_bare) = (Vec::new(), Order::default(), dialect.has_bare_name);
        Pass {
            dialect,
            rows,
            columns,
            row_count: 0,
            row_at,
            places,
            stride: 1,
            order,
            has_bare,
            len,
            fault: None,
        }
    }

    /// Takes a piece of the text, at this offset; `None` where a row breaks a rule.
    fn take(&mut self, at: u64, mut piece: &[u8]) -> Option<()> {
        let mut at = at;
        if let Some(zero) = piece.iter().position(|byte| *byte == 0) {
            let at = at.saturating_add(u64::try_from(zero).unwrap_or(0));
            return self.fail(&rule::ENCODING, at, 0, 0);
        }
        while !piece.is_empty() {
            let (read, step) = self.rows.take(piece);
            piece = piece.get(read..).unwrap_or_default();
            at = at.saturating_add(u64::try_from(read).unwrap_or(0));
            self.step(step, at)?;
        }
        Some(())
    }

    /// Takes the end of the text.
    fn finish(&mut self) -> Option<()> {
        let (_, step) = self.rows.take(&[]);
        self.step(step, self.len)
    }

    fn step(&mut self, step: Step, at: u64) -> Option<()> {
        match step {
            Step::More | Step::End => Some(()),
            Step::Row => self.row(at),
            Step::TooLong => self.fail(&rule::LIMIT_ROW, self.row_at, 0, 0),
            Step::TooMany => self.fail(&rule::LIMIT_COLUMNS, self.row_at, 0, 0),
            Step::Unclosed => {
                let quote = self.dialect.begin.saturating_add(self.rows.field_at());
                self.fail(&rule::UNCLOSED, quote, 0, 0)
            }
        }
    }

    fn row(&mut self, end: u64) -> Option<()> {
        let count = self.rows.fields().len();
        if self.row_count == 0 && self.columns.is_empty() {
            self.columns.resize(count, Kinds::default());
        }
        let wide = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        if count != self.columns.len() {
            let is_long = self.columns.len() < count;
            let rule = if is_long { &rule::ROW_LONG } else { &rule::ROW_SHORT };
            return self.fail(rule, self.row_begin(), wide(count), wide(self.columns.len()));
        }
        let fields = self.rows.fields().zip(self.rows.quotes());
        for (kinds, (field, is_quoted)) in self.columns.iter_mut().zip(fields) {
            let bare = if is_quoted { Kinds::default() } else { Kinds::BARE };
            *kinds = kinds.and(Kinds::from_field(field)).and(bare);
            self.has_bare |= !is_quoted && !field.is_empty();
        }
        self.order.take(self.rows.field(0));
        if self.row_count.is_multiple_of(self.stride) {
            self.keep_place();
        }
        self.row_count += 1;
        self.row_at = end;
        Some(())
    }

    /// Where the fields of the row begin: behind empty lines.
    fn row_begin(&self) -> u64 {
        let first = self.rows.starts().next().unwrap_or(0);
        self.dialect.begin.saturating_add(first)
    }

    /// Keeps where the row begins, and half as many places once there are too many.
    fn keep_place(&mut self) {
        if self.places.len() == PLACES_MAX {
            let mut nth = 0_usize;
            self.places.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.stride *= 2;
        }
        if self.row_count.is_multiple_of(self.stride) {
            self.places.push(self.row_at);
        }
    }

    fn fail(&mut self, rule: &'static ForeignRule, at: u64, found: u64, wanted: u64) -> Option<()> {
        self.fault.get_or_insert(ForeignFault { rule, at, found, wanted });
        None
    }

    fn survey(mut self) -> Result<Survey, ForeignFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        // Quotes around a whole column mean text, where the file does not have them around everything.
        if self.has_bare && self.row_count != 0 {
            let quoted = self.columns.iter_mut().filter(|kinds| !kinds.has(Kinds::BARE));
            quoted.for_each(|kinds| *kinds = kinds.and(Kinds::TEXT));
        }
        // As many strides as are about as long as a chunk.
        let strides = u64::try_from(self.places.len()).unwrap_or(u64::MAX).max(1);
        let stride_len = (self.len.saturating_sub(self.dialect.begin) / strides).max(1);
        let factor = (CHUNK_LEN / stride_len).clamp(1, strides);
        let step = usize::try_from(factor).unwrap_or(usize::MAX);
        Ok(Survey {
            is_ordered: self.order.is_ordered(self.columns.first()),
            places: self.places.into_iter().step_by(step).collect(),
            chunk_rows: self.stride.saturating_mul(factor),
            dialect: self.dialect,
            columns: self.columns,
            row_count: self.row_count,
            end: self.len,
        })
    }
}

/// Whether fields increase, as numbers and as texts.
#[derive(Debug, Default)]
struct Order {
    last: Option<(Option<f64>, Vec<u8>)>,
    is_numbers_broken: bool,
    is_texts_broken: bool,
}

impl Order {
    fn take(&mut self, field: &[u8]) {
        if self.is_numbers_broken && self.is_texts_broken {
            return;
        }
        let number = real(field).filter(|number| number.is_finite());
        if let Some((last, text)) = &mut self.last {
            self.is_numbers_broken |= !matches!((*last, number), (Some(a), Some(b)) if a < b);
            self.is_texts_broken |= field <= text.as_slice();
            *last = number;
            text.clear();
            text.extend_from_slice(field);
        } else {
            self.is_numbers_broken = number.is_none();
            self.last = Some((number, field.to_vec()));
        }
    }

    fn is_ordered(&self, column: Option<&Kinds>) -> bool {
        let is_broken = match column.and_then(|kinds| kinds.dtype()) {
            Some(_) => self.is_numbers_broken,
            None => self.is_texts_broken,
        };
        self.last.is_some() && !is_broken
    }
}
