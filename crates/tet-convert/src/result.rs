//! Results of queries and selections, written to files as any datasets are.
//!
//! ```text
//!   policy      where a result may go
//!   catalog     a selection or an answer as datasets: elements computed as they are written
//!   cells       the cells of a reduction as an array
//!   axes        names and labels of its axes, and the datasets that label them
//!   windows     coordinates of windows, and their bounds
//!   associated  the datasets that attributes name, selected as the axes are
//!   attributes  its name, and the attributes that still hold
//!   history     how it was made
//! ```
//!
//! A file appears complete or not at all, is never an input, and replaces nothing unasked.

mod associated;
mod attributes;
mod axes;
mod catalog;
mod cells;
mod held;
mod history;
mod policy;
mod texts;
mod windows;

use std::io::Write;
use std::path::{Path, PathBuf};

use tet_io::Overwrite;
use tet_io::publish::Sync;
use tet_query::{AttrText, Catalog, Execution, Hyperslab, Method};

pub use self::axes::window_label;
pub use self::catalog::ResultCatalog;
pub use self::cells::reduced_array;
pub use self::policy::WritePolicy;
use tet_text::csv::labeled::LabeledLines;
use tet_text::json;

use crate::container::writable;
use crate::convert::write_opened;
use crate::{Error, Note, Result};
use tet_container::model::cf::dated;
use tet_container::model::logical::as_bytes;
use tet_container::model::notes;
use tet_container::read::opened::Opened;
use tet_container::write::array::{Encoding, Written, write_lazy, write_texts};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::options::{Origin, TextLayout};
use tet_container::write::stream;

/// The attribute of the steps that a NetCDF file comes from.
const HISTORY_KEY: &str = "history";

/// How a result is written.
#[derive(Clone, Debug, Default)]
pub struct ResultOptions {
    /// Whether an existing file is replaced.
    pub overwrite: Overwrite,
    /// How durable the file is on return.
    pub sync: Sync,
    /// How the elements are read.
    pub execution: Execution,
    /// When the result was made, for its history; `None` leaves the history out.
    pub history: Option<Origin>,
    /// The document of the query, for the history.
    pub query: Option<String>,
    /// How it is written as text.
    pub layout: TextLayout,
    /// A name whose suffix chooses the format, whatever that of the output is.
    pub to: Option<PathBuf>,
}

impl ResultCatalog {
    /// Writes the result to the file `output`, in the format of its suffix; a format that holds one array gets no
    /// datasets of labels.
    ///
    /// The progress of the execution counts the bytes of elements that are written.
    ///
    /// # Errors
    /// The suffix is of no format that is written; the file exists, is the input, or cannot be written; the dataset
    /// cannot be read; the format has no such dtype; the caller canceled.
    pub fn write(&self, output: &Path, options: &ResultOptions) -> Result<Written> {
        let is_canceled = || options.execution.progress.is_canceled();
        let written = self.written(output, options);
        written.map_err(|error| if is_canceled() { Error::Canceled } else { error })
    }

    fn written(&self, output: &Path, options: &ResultOptions) -> Result<Written> {
        let mut convert = ConvertOptions::default();
        convert.to.clone_from(&options.to);
        convert.layout = Some(options.layout);
        let (format, writer) = writable(convert.output_name(output))?;
        let can = writer.can();
        convert.tet.history = None;
        (convert.tet.overwrite, convert.tet.sync) = (options.overwrite, options.sync);
        convert.tet.threads = options.execution.threads;
        convert.execution = options.execution.clone();
        let is_one = !can.several || !can.layouts.is_empty();
        if is_one {
            convert.tet.include = vec!["#0".to_owned()];
        }
        self.check_seals(&options.execution.silent())?;
        let zeros = self.zero_denominators();
        let has_attribute = can.attributes && !can.history;
        let catalog = if has_attribute { self.with_history() } else { self.catalog().clone() };
        let opened = Opened::new(format, catalog);
        let (history, notes) = (self.history.clone(), self.notes.clone());
        let report = write_opened(opened, output, &convert, history, notes)?;
        let mut notes = report.notes;
        // Who asks for elements alone knows that they come alone.
        if is_one && !can.attributes || options.layout == TextLayout::Bare {
            let is_of_others =
                |it: &Note| matches!(it, Note::LeftBehind { .. } | Note::NamesLeftOut { .. });
            notes.retain(|note| !is_of_others(note));
        }
        // Scalars that go along come back as scalars.
        let main = self.catalog().datasets().first().map(|it| it.name.as_str());
        let is_known =
            |it: &Note| matches!(it, Note::Scalar { dataset } if Some(&**dataset) != main);
        notes.retain(|note| !is_known(note));
        notes.extend(self.zero_note(zeros));
        Ok(Written { bytes: report.output_len, notes })
    }

    /// The result with times as dates, as text has them.
    #[must_use]
    pub fn with_dates(mut self, execution: &Execution) -> ResultCatalog {
        self.catalog = dated(self.catalog, &execution.silent());
        self
    }

    /// Writes the elements of the result to a stream.
    ///
    /// # Errors
    /// The encoding is none of one array, or has no such dtype; the dataset cannot be read; `out` refuses the bytes.
    pub fn stream(
        &self,
        encoding: Encoding,
        layout: TextLayout,
        execution: &Execution,
        out: &mut dyn Write,
    ) -> Result<Vec<Note>> {
        let [main, ..] = self.catalog().datasets() else { return Ok(Vec::new()) };
        self.check_seals(&execution.silent())?;
        let zeros = self.zero_denominators();
        let mut notes = self.notes.clone();
        if encoding != Encoding::Json {
            notes.retain(|note| !matches!(note, Note::NamesLeftOut { .. }));
        }
        let catalog = self.catalog();
        notes.extend(match encoding {
            Encoding::Json => json::write(&self.with_history(), main, layout, execution, out)?,
            Encoding::Csv | Encoding::Tsv if layout != TextLayout::Bare => {
                let lines = LabeledLines::new(catalog, main, encoding, layout, execution)?;
                lines.write(execution, out)?
            }
            Encoding::Csv | Encoding::Tsv if main.is_text() => {
                let slab = Hyperslab::whole(main.shape());
                let integrity = write_texts(main, &slab, encoding, execution, out)?;
                notes::of_integrity(integrity).into_iter().collect()
            }
            _ => {
                let bytes = as_bytes(main).filter(|_| encoding == Encoding::Raw);
                let lazy = stream::whole(bytes.as_ref().unwrap_or(main))?;
                write_lazy(&lazy, encoding, execution, out)?
            }
        });
        out.flush().map_err(Error::Write)?;
        notes.extend(self.zero_note(zeros));
        Ok(notes)
    }

    /// The catalog with how it was made as an attribute.
    fn with_history(&self) -> Catalog {
        let catalog = self.catalog().clone();
        let Some(row) = &self.history else { return catalog };
        let line = history::line(row);
        let mut attrs = catalog.attrs().clone();
        let text = match attrs.get(HISTORY_KEY) {
            Some(AttrText::Text(before)) => format!("{line}\n{before}"),
            _ => line,
        };
        attrs.insert(HISTORY_KEY.to_owned(), AttrText::Text(text));
        catalog.with_attrs(attrs)
    }

    /// How often elements were divided by zero until now.
    fn zero_denominators(&self) -> u64 {
        self.array().map_or(0, tet_query::LazyArray::zero_denominators)
    }

    /// The note of elements that were divided by zero since then.
    fn zero_note(&self, before: u64) -> Option<Note> {
        let count = self.zero_denominators() - before;
        let lazy = self.array().filter(|_| count != 0)?;
        let method = lazy.transform().map(|transform| transform.method).map(Method::name)?;
        let dataset = lazy.dataset().name.clone();
        Some(Note::ZeroDenominators { dataset, method, count })
    }
}
