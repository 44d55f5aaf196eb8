//! CSV: tables of text, read in place, and written.
//!
//! ```text
//!   # comments | name, name, ... | value, value, ... | value, value, ... | ...
//!                                  \___ a chunk of rows ___/
//! ```
//!
//! Fields are those of RFC 4180, with a comma, `;`, `|`, a tab or blanks between them. The file is read once when it
//! is opened: a column has the type that holds all of its fields, and what is kept of the file is where its chunks
//! of rows begin. A table with names is a dataset for each column; one of numbers alone is a matrix.

mod blocks;
mod catalog;
mod cell;
mod chunks;
mod columns;
mod dialect;
pub mod labeled;
mod lone;
mod rows;
mod rule;
mod survey;
mod table;

use std::io::{self, Write};
use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::Dataset;
use tet_verify::{Report, VerifyOptions};

use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::array::{Encoding, write_one};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::csv::Delimiter;
use tet_container::write::file::publish;
use tet_container::write::left_out::left_out;
use tet_container::write::options::TextLayout;
use tet_container::write::text;
use tet_container::{Bound, Capabilities, Container, Input, Output, Writer};
use tet_container::{Error, Format, Result};

/// How names of tables end: with commas, and with tabs.
const SUFFIXES: &[&str] = &["csv", TAB_SUFFIX];
const TAB_SUFFIX: &str = "tsv";

/// How one array is laid out.
const LAYOUTS: &[TextLayout] = &[TextLayout::Tidy, TextLayout::Wide, TextLayout::Bare];

/// The container of tables of text. They begin with no magic: their names show what they are.
#[derive(Debug)]
pub struct Csv;

impl Container for Csv {
    fn format(&self) -> Format {
        Format::CSV
    }

    fn suffixes(&self) -> &'static [&'static str] {
        SUFFIXES
    }

    fn usual_suffixes(&self) -> &'static [&'static str] {
        SUFFIXES
    }

    fn known_by(&self) -> &'static [&'static str] {
        SUFFIXES
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        catalog::verify(source, options)
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::bytes("row", rows::ROW_LEN_MAX as u64),
                Bound::count("columns", rows::COLUMNS_MAX as u64),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Csv {
    fn can(&self) -> Capabilities {
        Capabilities {
            text: true,
            metadata: true,
            attributes: false,
            layouts: LAYOUTS,
            ..Capabilities::ARRAYS
        }
    }

    fn check(&self, dataset: &Dataset, encoding: &'static str) -> Result<()> {
        text::check(dataset, encoding)
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let name = options.output_name(output);
        let suffix = name.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let (encoding, delimiter) = if suffix.eq_ignore_ascii_case(TAB_SUFFIX) {
            (Encoding::Tsv, Delimiter::Tab)
        } else {
            (Encoding::Csv, Delimiter::Comma)
        };
        let (form, target) = ((encoding, delimiter), (output, options));
        let [dataset] = conversion.datasets[..] else {
            return table::write(conversion, form, target);
        };
        if let Some(layout) = options.layout.filter(|layout| *layout != TextLayout::Bare) {
            return labeled(conversion, dataset, (encoding, layout), target);
        }
        // A line of names shows where values begin, where numbers do not.
        let is_plain = options.layout == Some(TextLayout::Bare);
        if dataset.is_text() || dataset.shape().contains(&0) && !is_plain {
            return if columns::is_column(dataset) {
                table::write(conversion, form, target)
            } else {
                lone::write(conversion, dataset, form, target)
            };
        }
        let views: Vec<Dataset> = conversion.datasets.iter().map(|it| (*it).clone()).collect();
        let written = write_one(conversion, &views, encoding, target)?;
        conversion.notes.extend(left_out(conversion.catalog, &conversion.datasets));
        Ok(written)
    }
}

/// Writes the one dataset of a conversion with the labels of its axes.
fn labeled(
    conversion: &mut Conversion<'_>,
    dataset: &Dataset,
    form: (Encoding, TextLayout),
    (output, options): (&Path, &ConvertOptions),
) -> Result<Output> {
    let (catalog, how) = (conversion.catalog, options.export());
    let (notes, len) = publish(catalog, output, &how, |out| {
        let mut out = io::BufWriter::new(out);
        let notes = labeled::write((catalog, dataset), form, &how.execution, &mut out)?;
        out.flush().map_err(Error::Write)?;
        Ok(notes)
    })?;
    conversion.notes.extend(notes);
    // Names and labels of axes are columns.
    let (dims, coords) = Default::default();
    let rest = Dataset { dims, coords, ..dataset.clone() };
    conversion.notes.extend(left_out(catalog, &[&rest]));
    Ok(Output { len, ..Output::default() })
}
