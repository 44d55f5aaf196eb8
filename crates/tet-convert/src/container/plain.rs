//! Outputs of one array that are only written: raw elements, and text.

use std::path::Path;

use tet_query::Dataset;

use super::traits::{Capabilities, Container, Output, Writer};
use crate::model::logical::as_bytes;
use crate::write::array::{Encoding, write_one};
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::{Format, Result};

/// A file of one array without a header.
pub(super) struct Plain {
    format: Format,
    suffixes: &'static [&'static str],
    encoding: Encoding,
}

/// The elements of one array: little endian, row-major.
pub(super) static RAW: Plain =
    Plain { format: Format::RAW, suffixes: &["raw", "bin"], encoding: Encoding::Raw };

/// One array as text: a line per row of the last axis.
pub(super) static CSV: Plain =
    Plain { format: Format::CSV, suffixes: &["csv"], encoding: Encoding::Csv };

impl Container for Plain {
    fn format(&self) -> Format {
        self.format
    }

    fn suffixes(&self) -> &'static [&'static str] {
        self.suffixes
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Plain {
    fn can(&self) -> Capabilities {
        let text = self.encoding == Encoding::Csv;
        Capabilities { several: false, text, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        // Elements that nothing computes with have bytes, and no text.
        let bytes = |it| as_bytes(it).filter(|_| self.encoding == Encoding::Raw);
        let views = conversion.datasets.iter().map(|it| bytes(it).unwrap_or((*it).clone()));
        let views: Vec<Dataset> = views.collect();
        write_one(conversion, &views, self.encoding, (output, options))
    }
}
