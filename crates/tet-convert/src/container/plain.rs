//! Outputs of one array that are only written: raw elements, and text.

use std::path::Path;

use tet_query::Dataset;

use super::traits::{Capabilities, Container, Output, Writer};
use crate::model::logical::as_bytes;
use crate::write::array::{Encoding, write_one};
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::{Format, Result};

/// The elements of one array: little endian, row-major.
pub(super) struct Raw;

/// One array as text, a line per row of the last axis.
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
