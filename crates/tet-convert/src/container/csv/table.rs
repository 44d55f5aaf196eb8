//! Several datasets of one axis as a table: a line of names, then a line for each position, a band of lines at a time.
//!
//! The labels of the axis are the first column, where it has some.

use std::io::{self, Write};
use std::path::Path;

use tet_format::{DType, Integrity, Shape};
use tet_query::{AxisSlice, Dataset, Execution, Hyperslab, LazyArray};

use super::catalog::ROW_AXIS;
use super::cell::Kinds;
use crate::container::traits::Output;
use crate::model::attributes::is_scalar;
use crate::model::notes;
use crate::write::array::Encoding;
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::write::csv::{Delimiter, push_text};
use crate::write::file::publish;
use crate::write::left_out::left_out;
use crate::write::{stream, text};
use crate::{Error, Result};

/// The axis of a dataset that has one.
const ONLY_AXIS: usize = 0;
/// Lines of a band, where chunks are short.
const BAND_COUNT: u64 = 1 << 16;
/// What a text takes in memory, about.
const TEXT_LEN: u64 = 128;
/// Bytes of lines that are collected before they are written.
const BUFFER_LEN: usize = 1 << 16;

/// Writes the datasets of a conversion as a table.
pub(super) fn write(
    conversion: &mut Conversion<'_>,
    (encoding, delimiter): (Encoding, Delimiter),
    (output, options): (&Path, &ConvertOptions),
) -> Result<Output> {
    let datasets = conversion.datasets.clone();
    let table = Table::new(&datasets, (encoding, delimiter))?;
    let (len, integrity) = publish(conversion.catalog, output, &options.export(), |out| {
        let mut out = io::BufWriter::new(out);
        let written = table.write(&options.execution, &mut out)?;
        out.flush().map_err(Error::Write)?;
        Ok(written)
    })?;
    conversion.notes.extend(notes::of_integrity(integrity));
    // The name of an axis and its labels are in the table if a column has the name; without labels a reader uses one.
    let has =
        |name: &String| name == ROW_AXIS || table.columns.iter().any(|column| column.name == *name);
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
    delimiter: Delimiter,
}

struct Column<'c> {
    name: String,
    source: ColumnSource<'c>,
}

/// Where the values of a column come from.
enum ColumnSource<'c> {
    Numbers(Box<LazyArray>),
    Texts(&'c Dataset),
    Labels(&'c [String]),
}

/// The values of a column in a band of lines.
enum Values<'c> {
    Numbers { dtype: DType, size: usize, bytes: Vec<u8> },
    Texts(Vec<String>),
    Labels(&'c [String]),
}

impl<'c> Table<'c> {
    /// Checks that the datasets are columns of a table.
    fn new(
        datasets: &[&'c Dataset],
        (encoding, delimiter): (Encoding, Delimiter),
    ) -> Result<Table<'c>> {
        let none = Error::OneDataset { encoding: encoding.name() };
        let first = *datasets.first().ok_or(none)?;
        let is_column = |dataset: &Dataset| match dataset.shape() {
            [1] => !is_scalar(dataset),
            shape => shape.len() == 1,
        };
        let row_count = first.shape().first().copied().unwrap_or(0);
        let mut columns = Vec::new();
        for dataset in datasets {
            if !is_column(dataset) || dataset.shape() != [row_count] {
                let odd = if is_column(first) { *dataset } else { first };
                let other = datasets.iter().find(|it| it.name != odd.name).unwrap_or(&first);
                let of = |it: &Dataset| (it.name.clone(), it.shape().to_vec());
                let ((dataset, shape), (other, other_shape)) = (of(odd), of(other));
                let encoding = encoding.name();
                return Err(Error::Columns { encoding, dataset, shape, other, other_shape });
            }
            columns.push(Column::of_dataset(dataset, encoding)?);
        }
        // What has the name of the axis labels it, and is first, where a reader looks for labels.
        let own = datasets.iter().position(|it| it.dims.first() == Some(&it.name));
        if let Some(head) = own.and_then(|own| columns.get_mut(..=own)) {
            head.rotate_right(1);
        }
        let labels = labels(datasets, encoding)?;
        let labels = labels.filter(|it| columns.iter().all(|column| column.name != it.name));
        columns.splice(0..0, labels);
        // A line of names is one without numbers.
        let is_number = |column: &&Column<'_>| Kinds::of(column.name.as_bytes()).is_number();
        match columns.iter().find(is_number) {
            Some(column) => {
                let (encoding, dataset) = (encoding.name(), column.name.clone());
                Err(Error::ColumnName { encoding, dataset })
            }
            None => Ok(Table { columns, row_count, delimiter }),
        }
    }

    /// Writes all lines; returns their bytes, and whether the values were compared with checksums.
    fn write(&self, execution: &Execution, out: &mut dyn Write) -> Result<(u64, Integrity)> {
        let mut lines = Lines { table: self, buffer: String::new(), len: 0, out };
        for (column, nth) in self.columns.iter().zip(0..) {
            lines.text(&column.name, nth);
        }
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
            for column in &self.columns {
                band.push(column.read((start, stop), &execution, &mut add)?);
            }
            for row in 0..usize::try_from(stop - start).unwrap_or(0) {
                for (values, nth) in band.iter().zip(0..) {
                    lines.value(values, row, nth);
                }
                lines.flush(BUFFER_LEN)?;
            }
            start = stop;
        }
        for lazy in self.columns.iter().filter_map(Column::array) {
            add(lazy.integrity());
        }
        lines.flush(0)?;
        Ok((lines.len, integrity.unwrap_or(Integrity::Unprotected)))
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

/// The labels of the axis of datasets, as a column.
fn labels<'c>(datasets: &[&'c Dataset], encoding: Encoding) -> Result<Option<Column<'c>>> {
    let labeled = datasets.iter().filter_map(|it| Some((*it, it.coords.get(&ONLY_AXIS)?)));
    let mut labeled = labeled.peekable();
    let Some((first, labels)) = labeled.peek().copied() else { return Ok(None) };
    if let Some((other, _)) = labeled.find(|(_, others)| *others != labels) {
        let (dataset, other) = (first.name.clone(), other.name.clone());
        return Err(Error::ColumnLabels { encoding: encoding.name(), dataset, other });
    }
    let name = first.dims.first().cloned().unwrap_or_else(|| "label".to_owned());
    Ok(Some(Column { name, source: ColumnSource::Labels(labels) }))
}

impl<'c> Column<'c> {
    fn of_dataset(dataset: &'c Dataset, encoding: Encoding) -> Result<Column<'c>> {
        let name = dataset.name.clone();
        if dataset.is_text() {
            return Ok(Column { name, source: ColumnSource::Texts(dataset) });
        }
        let lazy = stream::whole(dataset)?;
        let dtype = lazy.dtype();
        if !text::is_known(dtype) {
            return Err(Error::NoDType { dataset: name, dtype, encoding: encoding.name() });
        }
        Ok(Column { name, source: ColumnSource::Numbers(Box::new(lazy)) })
    }

    fn array(&self) -> Option<&LazyArray> {
        if let ColumnSource::Numbers(lazy) = &self.source { Some(lazy) } else { None }
    }

    /// Bytes of a value in memory.
    fn value_len(&self) -> u64 {
        match &self.source {
            ColumnSource::Numbers(lazy) => lazy.dtype().size().unwrap_or(1),
            ColumnSource::Texts(_) => TEXT_LEN,
            ColumnSource::Labels(_) => 0,
        }
    }

    /// Values of a chunk.
    fn chunk_count(&self) -> Option<u64> {
        match &self.source {
            ColumnSource::Numbers(lazy) => lazy.chunk_shape().first().copied(),
            ColumnSource::Texts(dataset) => dataset.grid.chunk_shape().first().copied(),
            ColumnSource::Labels(_) => None,
        }
    }

    /// Reads the values of a band; `add` takes the integrity of texts.
    fn read(
        &self,
        (start, stop): (u64, u64),
        execution: &Execution,
        add: &mut dyn FnMut(Integrity),
    ) -> Result<Values<'c>> {
        let part = |shape: &Shape, name: &str| {
            let slice = AxisSlice { start, stop, step: 1, axis: Default::default() };
            let misfit =
                || tet_query::Error::Misfit { dataset: name.to_owned(), shape: shape.clone() };
            Hyperslab::new(vec![slice], shape).ok_or_else(misfit)
        };
        let memory_budget = execution.memory_budget - execution.memory_budget / 4;
        let how = Execution { memory_budget, ..execution.silent() };
        match &self.source {
            ColumnSource::Numbers(lazy) => {
                let (dtype, mut bytes) = (lazy.dtype(), Vec::new());
                stream::read(lazy, &part(lazy.shape(), &self.name)?, &how, &mut bytes)?;
                execution.progress.advance(bytes.len() as u64)?;
                let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
                Ok(Values::Numbers { dtype, size, bytes })
            }
            ColumnSource::Texts(dataset) => {
                let part = part(dataset.grid.shape(), &self.name)?;
                let answer = dataset.read_texts(&part, &how)?;
                add(dataset.chunks.integrity().and(answer.integrity));
                Ok(Values::Texts(answer.value))
            }
            ColumnSource::Labels(labels) => {
                let range = usize::try_from(start).ok().zip(usize::try_from(stop).ok());
                let part = range.and_then(|(start, stop)| labels.get(start..stop));
                Ok(Values::Labels(part.unwrap_or_default()))
            }
        }
    }
}

/// Lines under way.
struct Lines<'t> {
    table: &'t Table<'t>,
    buffer: String,
    /// Bytes that were written.
    len: u64,
    out: &'t mut dyn Write,
}

impl Lines<'_> {
    /// Appends a value of the column `nth`.
    fn value(&mut self, values: &Values<'_>, row: usize, nth: usize) {
        match values {
            Values::Numbers { dtype, size, bytes } => {
                if let Some(element) = bytes.chunks_exact(*size).nth(row) {
                    text::push(*dtype, element, &mut self.buffer);
                }
                self.end(nth);
            }
            Values::Texts(texts) => self.text(texts.get(row).map_or("", String::as_str), nth),
            Values::Labels(texts) => self.text(texts.get(row).map_or("", String::as_str), nth),
        }
    }

    fn text(&mut self, text: &str, nth: usize) {
        push_text(text, self.table.delimiter, &mut self.buffer);
        self.end(nth);
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
            self.len = self.len.saturating_add(self.buffer.len() as u64);
            self.buffer.clear();
        }
        Ok(())
    }
}
