//! One array with the labels of its axes: a line of names, then
//!
//! ```text
//!   tidy   label of each axis, element          a line for each element
//!   wide   label of each leading axis, elements  a line for each row of the last axis, whose labels are names
//! ```

use std::io::Write;

use tet_format::Integrity;
use tet_query::{Catalog, Dataset, Execution, Hyperslab};

use super::cell::Kinds;
use super::columns::check_names;
use super::rows::COLUMNS_MAX;
use super::table::zero;
use tet_container::model::notes;
use tet_container::write::array::Encoding;
use tet_container::write::csv::{Delimiter, Quotes, push_text};
use tet_container::write::labels::{self, LabeledAxis};
use tet_container::write::options::TextLayout;
use tet_container::write::texts::TextCounts;
use tet_container::write::{stream, text};
use tet_container::{Error, Note, Result};

/// Bytes of lines that are collected before they are written.
const BUFFER_LEN: usize = 1 << 16;

/// Whether a text without quotes is read as a number or a truth.
fn is_value(text: &str) -> bool {
    !Kinds::from_field(text.as_bytes()).has(Kinds::TEXT)
}

/// The lines of an array.
///
/// # Examples
///
/// ```
/// use tet_container::{Container, Input, OpenOptions, TextLayout, write::array::Encoding};
/// use tet_io::Source;
/// use tet_query::Execution;
/// use tet_text::csv::{Csv, labeled::LabeledLines};
///
/// let (path, source) = ("t.csv".as_ref(), Source::from_bytes(b"day,t\n1,3\n2,5\n".to_vec()));
/// let catalog = Csv.open(Input { path, source }, &OpenOptions::default())?.catalog;
/// let (dataset, how) = (catalog.find("t")?, Execution::default());
/// let mut out = Vec::new();
/// LabeledLines::new(&catalog, dataset, Encoding::Csv, TextLayout::Tidy, &how)?.write(&how, &mut out)?;
/// assert_eq!(out, b"day,t\n1,3\n2,5\n");
/// # Ok::<(), tet_container::Error>(())
/// ```
#[derive(Debug)]
pub struct LabeledLines<'d> {
    dataset: &'d Dataset,
    encoding: Encoding,
    delimiter: Delimiter,
    /// The axes whose labels are columns.
    columns: Vec<Fields>,
    /// The position along each of these axes.
    at: Vec<u64>,
    /// Elements of a line, and those on this line so far.
    width: u64,
    column: u64,
    buffer: String,
}

impl<'d> LabeledLines<'d> {
    /// The lines of a dataset of a catalog.
    ///
    /// # Errors
    /// The array has no such layout, or its labels cannot be read.
    pub fn new(
        catalog: &Catalog,
        dataset: &'d Dataset,
        encoding: Encoding,
        layout: TextLayout,
        execution: &Execution,
    ) -> Result<LabeledLines<'d>> {
        let axes = labels::of(catalog, dataset, &execution.silent())?;
        let delimiter = encoding.delimiter();
        let is_wide = layout == TextLayout::Wide && 1 < axes.len();
        let (along, last) = match axes.split_last() {
            Some((last, along)) if is_wide => (along, Some(last)),
            _ => (&axes[..], None),
        };
        let along: Vec<&LabeledAxis> = along.iter().filter(|axis| !axis.is_own).collect();
        let mut names: Vec<String> = Vec::new();
        let heads =
            last.map_or(Ok(vec![dataset.name.clone()]), |last| heads(dataset, last, encoding));
        for name in along.iter().map(|axis| axis.name.clone()).chain(heads?) {
            let mut unique = name;
            while names.len() <= along.len() && names.contains(&unique) {
                unique.push('_');
            }
            names.push(unique);
        }
        if let Some(name) = names.iter().find(|name| name.contains('\0')) {
            return Err(zero(name.clone(), encoding));
        }
        check_names(names.iter().map(String::as_str), encoding)?;
        let width = last.map_or(1, |last| last.extent);
        let columns = along.iter().map(|axis| fields(axis, delimiter)).collect::<Vec<_>>();
        let at = vec![0; columns.len()];
        let (column, buffer) = (0, String::new());
        let mut lines =
            LabeledLines { dataset, encoding, delimiter, columns, at, width, column, buffer };
        for (name, nth) in names.iter().zip(1..) {
            push_text(name, delimiter, lines.quotes(), &mut lines.buffer);
            lines.buffer.push(if nth == names.len() { '\n' } else { delimiter.char() });
        }
        Ok(lines)
    }

    /// Writes all lines to `out`, and gives the notes of what differs.
    ///
    /// # Errors
    /// The array has elements without a text, it cannot be read, or `out` refuses the bytes.
    pub fn write(mut self, execution: &Execution, out: &mut dyn Write) -> Result<Vec<Note>> {
        // The buffer has the names.
        self.flush(0, out)?;
        if self.dataset.is_text() {
            return self.write_texts(execution, out);
        }
        let lazy = stream::whole(self.dataset)?;
        let dtype = lazy.dtype();
        if !text::is_known(dtype) {
            let (dataset, encoding) = (self.dataset.name.clone(), self.encoding.name());
            return Err(Error::NoDType { dataset, dtype, encoding });
        }
        let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        let execution = execution.begin(stream::len_of(&lazy));
        stream::for_each(&lazy, &execution, &mut |elements| {
            for element in elements.chunks_exact(size) {
                self.begin();
                text::push(dtype, element, &mut self.buffer);
                self.end();
                self.flush(BUFFER_LEN, out)?;
            }
            Ok(())
        })?;
        self.flush(0, out)?;
        Ok(notes::unchecked([&lazy]).into_iter().collect())
    }

    fn write_texts(mut self, execution: &Execution, out: &mut dyn Write) -> Result<Vec<Note>> {
        let dataset = self.dataset;
        let slab = Hyperslab::whole(dataset.shape());
        let mut has_values = false;
        dataset.for_texts::<Error>(&slab, &execution.silent(), &mut |texts| {
            has_values |= texts.value.iter().any(|text| is_value(text));
            Ok(())
        })?;
        let quotes = if has_values { Quotes::All } else { self.quotes() };
        let mut counts = TextCounts::new(dataset);
        let mut integrity = None::<Integrity>;
        dataset.for_texts::<Error>(&slab, &execution.begin(0), &mut |texts| {
            integrity = Some(integrity.map_or(texts.integrity, |all| all.and(texts.integrity)));
            counts.add(&texts.value);
            for text in &texts.value {
                if text.contains('\0') {
                    return Err(zero(dataset.name.clone(), self.encoding));
                }
                self.begin();
                push_text(text, self.delimiter, quotes, &mut self.buffer);
                self.end();
            }
            self.flush(BUFFER_LEN, out)
        })?;
        self.flush(0, out)?;
        Ok(integrity.and_then(notes::of_integrity).into_iter().chain(counts.replaced()).collect())
    }

    /// Which texts are between quotes.
    fn quotes(&self) -> Quotes {
        let is_alone = self.columns.is_empty() && self.width == 1;
        if is_alone { Quotes::Alone } else { Quotes::Needed }
    }

    /// Writes the labels, if the next element is the first of a line.
    fn begin(&mut self) {
        if self.column != 0 {
            return;
        }
        for (fields, at) in self.columns.iter().zip(&self.at) {
            match fields {
                Fields::Labels(labels) => {
                    let at = usize::try_from(*at).unwrap_or(usize::MAX);
                    self.buffer.push_str(labels.get(at).map_or("", String::as_str));
                }
                Fields::Positions(_) => self.buffer.push_str(&at.to_string()),
            }
            self.buffer.push(self.delimiter.char());
        }
    }

    /// Ends an element: the line too, if it is the last one.
    fn end(&mut self) {
        self.column += 1;
        if self.column < self.width {
            return self.buffer.push(self.delimiter.char());
        }
        self.column = 0;
        self.buffer.push('\n');
        for (fields, at) in self.columns.iter().zip(&mut self.at).rev() {
            *at += 1;
            if *at < fields.count() {
                break;
            }
            *at = 0;
        }
    }

    /// Writes what is collected, if it is longer than this.
    fn flush(&mut self, len_min: usize, out: &mut dyn Write) -> Result<()> {
        if len_min < self.buffer.len() {
            out.write_all(self.buffer.as_bytes()).map_err(Error::Write)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Fields of the positions of an axis.
#[derive(Debug)]
enum Fields {
    /// These fields, one for each.
    Labels(Vec<String>),
    /// The positions below this number: they are not held, because an extent of a file may be any number.
    Positions(u64),
}

impl Fields {
    /// How many positions there are.
    fn count(&self) -> u64 {
        match self {
            Fields::Labels(labels) => labels.len() as u64,
            Fields::Positions(count) => *count,
        }
    }
}

/// The labels of an axis as they are written; its positions where it has none.
fn fields(axis: &LabeledAxis, delimiter: Delimiter) -> Fields {
    let Some(labels) = &axis.labels else { return Fields::Positions(axis.extent) };
    // Texts that all look like numbers stay texts between quotes.
    let is_text = !axis.has_numbers && labels.iter().all(|label| is_value(label));
    let quotes = if is_text { Quotes::All } else { Quotes::Needed };
    let field = |label: &String| {
        let mut field = String::new();
        push_text(label, delimiter, quotes, &mut field);
        field
    };
    Fields::Labels(labels.iter().map(field).collect())
}

/// The names of the columns of the last axis: its labels, with its name where they are numbers.
fn heads(dataset: &Dataset, last: &LabeledAxis, encoding: Encoding) -> Result<Vec<String>> {
    let why = "its last axis has more positions than a table has columns";
    let wide = || Error::Unfit { dataset: dataset.name.clone(), encoding: encoding.name(), why };
    let count = usize::try_from(last.extent).ok().filter(|count| *count <= COLUMNS_MAX);
    let count = count.ok_or_else(wide)?;
    let named = |label: String| format!("{}={label}", last.name);
    Ok(match &last.labels {
        Some(labels) if labels.iter().any(|label| is_value(label)) => {
            labels.iter().cloned().map(named).collect()
        }
        Some(labels) => labels.clone(),
        None => (0..count).map(|at| named(at.to_string())).collect(),
    })
}
