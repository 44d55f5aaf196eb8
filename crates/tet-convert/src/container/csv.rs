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

mod catalog;
mod cell;
mod chunks;
mod dialect;
mod rows;
mod rule;
mod survey;

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::Dataset;
use tet_verify::{Report, VerifyOptions};

use super::traits::{Capabilities, Container, Input, Output, Writer};
use crate::read::opened::{OpenOptions, Opened};
use crate::write::array::{Encoding, write_one};
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::{Format, Result};

/// The container of tables of text. They begin with no magic: their names show what they are.
pub(super) struct Csv;

impl Container for Csv {
    fn format(&self) -> Format {
        Format::CSV
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        catalog::verify(source, options)
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
        Capabilities { several: false, text: true, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let views: Vec<Dataset> = conversion.datasets.iter().map(|it| (*it).clone()).collect();
        write_one(conversion, &views, Encoding::Csv, (output, options))
    }
}
