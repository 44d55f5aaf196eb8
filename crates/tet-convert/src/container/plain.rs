//! Outputs of one array that are only written: raw elements, and text.

use std::path::Path;

use tet_io::{Error as IoError, Step};
use tet_query::{Dataset, Hyperslab, LazyArray};

use super::traits::{Capabilities, Container, Output, Writer};
use crate::Format;
use crate::carry::logical::as_bytes;
use crate::conversion::{Conversion, ConvertOptions};
use crate::export::{Encoding, ExportOptions, write_lazy_file};
use crate::{Error, Note, Result, loss};

/// The elements of one array: little endian, row-major.
pub(super) struct Raw;

/// One array as text, see [`crate::export::csv`].
pub(super) struct Csv;

impl Container for Raw {
    fn format(&self) -> Format {
        Format::RAW
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["raw", "bin"]
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Container for Csv {
    fn format(&self) -> Format {
        Format::CSV
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Raw {
    fn can(&self) -> Capabilities {
        Capabilities { several: false, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let bytes = |it: &&Dataset| as_bytes(it).unwrap_or_else(|| (*it).clone());
        let views: Vec<Dataset> = conversion.datasets.iter().map(bytes).collect();
        write_one(conversion, &views, Encoding::Raw, (output, options), progress)
    }
}

impl Writer for Csv {
    fn can(&self) -> Capabilities {
        Raw.can()
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let views: Vec<Dataset> = conversion.datasets.iter().map(|it| (*it).clone()).collect();
        write_one(conversion, &views, Encoding::Csv, (output, options), progress)
    }
}

/// How arrays are written that are outputs by themselves.
pub(super) fn exported(options: &ConvertOptions) -> ExportOptions {
    let (overwrite, sync) = (options.tet.overwrite, options.tet.sync);
    ExportOptions { overwrite, sync, execution: options.reading(), ..ExportOptions::default() }
}

/// Writes the one dataset that an output of one array holds.
pub(super) fn write_one(
    conversion: &mut Conversion<'_>,
    datasets: &[Dataset],
    encoding: Encoding,
    (output, options): (&Path, &ConvertOptions),
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Output> {
    let [dataset] = datasets else {
        return Err(Error::OneDataset { encoding: encoding.name() });
    };
    let lazy = LazyArray::values(dataset, &Hyperslab::whole(dataset.shape()))?;
    let (catalog, how) = (conversion.catalog, exported(options));
    let mut notes = write_lazy_file(catalog, &lazy, encoding, output, &how, progress)?;
    notes.extend(loss::unchecked([&lazy]));
    one_file(conversion, notes, output)
}

/// What was written as one file, with these notes.
pub(super) fn one_file(
    conversion: &mut Conversion<'_>,
    notes: Vec<Note>,
    output: &Path,
) -> Result<Output> {
    conversion.notes.extend(notes);
    let metadata = std::fs::metadata(output);
    let metadata = metadata.map_err(|error| IoError::io(Step::Stat, output, error))?;
    Ok(Output { len: metadata.len(), ..Output::default() })
}
