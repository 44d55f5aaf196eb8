//! A table is written: a line of names, then a line for each position of an axis, a band of lines at a time.
//!
//! The labels of the axis are the first column, where it has some.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use tet_format::Integrity;
use tet_query::{Dataset, Execution};

use super::catalog::ROW_AXIS;
use super::columns::{Column, Values, columns};
use tet_container::Output;
use tet_container::model::notes;
use tet_container::write::array::Encoding;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::csv::{Delimiter, Quotes, is_bare, push_text};
use tet_container::write::file::publish;
use tet_container::write::left_out::left_out;
use tet_container::write::texts::TextCounts;
use tet_container::write::{stream, text};
use tet_container::{Error, Note, Result};

/// Lines of a band, where chunks are short.
const BAND_COUNT: u64 = 1 << 16;
/// Bytes of lines that are collected before they are written.
const BUFFER_LEN: usize = 1 << 16;

/// Writes the datasets of a conversion as a table.
pub(super) fn write(
    conversion: &mut Conversion<'_>,
    encoding: Encoding,
    output: &Path,
    options: &ConvertOptions,
) -> Result<Output> {
    let datasets = conversion.datasets.clone();
    let table = Table::new(&datasets, encoding)?;
    let (Written { integrity, notes }, len) =
        publish(conversion.catalog, output, &options.export(), |out| {
            let mut out = io::BufWriter::new(out);
            let written = table.write(&options.execution, &mut out)?;
            out.flush().map_err(Error::Write)?;
            Ok(written)
        })?;
    conversion.notes.extend(notes::of_integrity(integrity).into_iter().chain(notes));
    // The name of an axis and its labels are in the table if a column has the name; without labels a reader uses one.
    let columns: BTreeSet<&str> = table.columns.iter().map(|it| it.name.as_ref()).collect();
    let has = |name: &String| name == ROW_AXIS || columns.contains(name.as_str());
    let rest = |dataset: &Dataset| {
        let mut rest = dataset.clone();
        if rest.dims.first().is_some_and(has) {
            rest.dims.clear();
            rest.coords.clear();
        }
        rest
    };
    let rest: Vec<Dataset> = datasets.iter().map(|dataset| rest(dataset)).collect();
    let rest: Vec<&Dataset> = rest.iter().collect();
    conversion.notes.extend(left_out(conversion.catalog, &rest));
    Ok(Output { len, ..Output::default() })
}

/// A table that can be written.
struct Table<'c> {
    columns: Vec<Column<'c>>,
    row_count: u64,
    encoding: Encoding,
    delimiter: Delimiter,
}

/// Integrity and notes of a written table.
struct Written {
    integrity: Integrity,
    notes: Vec<Note>,
}

impl<'c> Table<'c> {
    fn new(datasets: &[&'c Dataset], encoding: Encoding) -> Result<Table<'c>> {
        let (columns, row_count) = columns(datasets, encoding)?;
        Ok(Table { columns, row_count, encoding, delimiter: encoding.delimiter() })
    }

    /// Writes all lines.
    fn write(&self, execution: &Execution, out: &mut dyn Write) -> Result<Written> {
        let quotes: Vec<Quotes> = (self.columns.iter())
            .map(|column| column.quotes(self.row_count, execution))
            .collect::<Result<_>>()?;
        let mut lines = Lines { table: self, buffer: String::new(), out };
        for (column, nth) in self.columns.iter().zip(0..) {
            lines.text(&column.name, nth, Quotes::Needed)?;
        }
        let mut counts: Vec<Option<TextCounts<'_>>> =
            self.columns.iter().map(|column| column.texts().map(TextCounts::new)).collect();
        let mut integrity = None::<Integrity>;
        let mut add = |one: Integrity| integrity = Some(integrity.map_or(one, |all| all.and(one)));
        let arrays = self.columns.iter().filter_map(Column::array);
        let execution = execution.begin(stream::total_len(arrays.clone()));
        for lazy in arrays {
            // Bands are parts, and a seal is of the whole.
            lazy.check_seal(&execution)?;
        }
        let mut start = 0;
        while start < self.row_count {
            let stop = start.saturating_add(self.band_count(&execution)).min(self.row_count);
            let mut band = Vec::new();
            for (column, counts) in self.columns.iter().zip(&mut counts) {
                let values = column.read(start..stop, &execution, &mut add)?;
                if let (Values::Texts(texts), Some(counts)) = (&values, counts) {
                    counts.add(texts);
                }
                band.push(values);
            }
            for row in 0..usize::try_from(stop - start).unwrap_or(0) {
                for ((values, quotes), nth) in band.iter().zip(&quotes).zip(0..) {
                    lines.value(values, row, nth, *quotes)?;
                }
                lines.flush(BUFFER_LEN)?;
            }
            start = stop;
        }
        for lazy in self.columns.iter().filter_map(Column::array) {
            add(lazy.integrity());
        }
        lines.flush(0)?;
        let counted = counts.iter().flatten().filter_map(TextCounts::replaced);
        let notes = counted.chain(self.unquotable(&quotes)).collect();
        Ok(Written { integrity: integrity.unwrap_or(Integrity::Unprotected), notes })
    }

    /// The note of texts that are read again as values: quotes mean text where something is without them.
    fn unquotable(&self, quotes: &[Quotes]) -> Option<Note> {
        let is_bare = |(column, quotes): (&Column<'_>, &Quotes)| {
            let is_bare_name = is_bare(&column.name, self.delimiter, self.quotes(Quotes::Needed));
            is_bare_name || column.array().is_some() || *quotes != Quotes::All
        };
        if self.row_count == 0 || self.columns.iter().zip(quotes).any(is_bare) {
            return None;
        }
        let (dataset, count) = (self.columns.first()?.name.clone(), self.row_count);
        let what =
            "are read again as numbers or truths: give the dataset a name that needs no quotes";
        Some(Note::Texts { dataset, count, what })
    }

    /// The quotes in a table of one column.
    fn quotes(&self, quotes: Quotes) -> Quotes {
        let is_alone = self.columns.len() == 1 && quotes == Quotes::Needed;
        if is_alone { Quotes::Alone } else { quotes }
    }

    /// Lines of a band: whole chunks, as far as memory allows.
    fn band_count(&self, execution: &Execution) -> u64 {
        let row_len = self.columns.iter().map(Column::value_len).fold(0, u64::saturating_add);
        let room = execution.memory_budget / 4 / row_len.max(1);
        let chunks = self.columns.iter().filter_map(Column::chunk_count);
        let chunk = chunks.filter(|count| *count <= room).max().unwrap_or(1).max(1);
        (BAND_COUNT.div_ceil(chunk).saturating_mul(chunk)).min(room).max(1)
    }
}

/// Lines under way.
struct Lines<'t> {
    table: &'t Table<'t>,
    buffer: String,
    /// Bytes that were written.
    out: &'t mut dyn Write,
}

impl Lines<'_> {
    /// Appends a value of the column `nth`.
    fn value(&mut self, values: &Values<'_>, row: usize, nth: usize, quotes: Quotes) -> Result<()> {
        let text = match values {
            Values::Numbers { dtype, size, bytes } => {
                if let Some(element) = bytes.chunks_exact(*size).nth(row) {
                    text::push(*dtype, element, &mut self.buffer);
                }
                self.end(nth);
                return Ok(());
            }
            Values::Texts(texts) => texts.get(row),
            Values::Labels(texts) => texts.get(row),
        };
        self.text(text.map_or("", String::as_str), nth, quotes)
    }

    fn text(&mut self, text: &str, nth: usize, quotes: Quotes) -> Result<()> {
        if text.contains('\0') {
            let dataset = self.table.columns.get(nth).map(|column| column.name.clone());
            return Err(zero(dataset.unwrap_or_default(), self.table.encoding));
        }
        push_text(text, self.table.delimiter, self.table.quotes(quotes), &mut self.buffer);
        self.end(nth);
        Ok(())
    }

    /// Ends a field: the line too, if it is the last one.
    fn end(&mut self, nth: usize) {
        let is_last = nth + 1 == self.table.columns.len();
        self.buffer.push(if is_last { '\n' } else { self.table.delimiter.char() });
    }

    /// Writes what is collected, if it is longer than this.
    fn flush(&mut self, len_min: usize) -> Result<()> {
        if len_min < self.buffer.len() {
            self.out.write_all(self.buffer.as_bytes()).map_err(Error::Write)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// A text that cannot be written: a reader takes a zero for another encoding.
pub(super) fn zero(dataset: String, encoding: Encoding) -> Error {
    let why = "it has a text with a zero character, which no table has (a .json or .zarr file has)";
    Error::Unfit { dataset, encoding: encoding.name(), why }
}
