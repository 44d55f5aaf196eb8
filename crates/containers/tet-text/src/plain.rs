//! Files of the elements of one array, without a header: they are only written.

use std::path::Path;

use tet_query::Dataset;

use tet_container::model::logical::as_bytes;
use tet_container::write::array::{Encoding, write_one};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::{Capabilities, Container, Output, Writer};
use tet_container::{Format, Result};

/// The elements of one array: little endian, row-major.
#[derive(Debug)]
pub struct Plain;

impl Container for Plain {
    fn format(&self) -> Format {
        Format::RAW
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["raw", "bin"]
    }

    fn known_by(&self) -> &'static [&'static str] {
        &["raw"]
    }

    fn reading_advice(&self) -> Option<&'static str> {
        Some("give it a header with NumPy: numpy.save(\"x.npy\", numpy.fromfile(FILE, DTYPE))")
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Plain {
    fn can(&self) -> Capabilities {
        Capabilities { several: false, attributes: false, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        // Elements that nothing computes with have bytes.
        let views = conversion.datasets.iter().map(|it| as_bytes(it).unwrap_or((*it).clone()));
        let views: Vec<Dataset> = views.collect();
        write_one(conversion, &views, Encoding::Raw, (output, options))
    }
}
