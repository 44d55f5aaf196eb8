//! `.npz`, NumPy's archive of arrays: a zip file of `.npy` files.
//!
//! Members that are stored are read in place, and compared with their CRC-32 as digests are. Members
//! that are compressed are unpacked when they are first read, into a file without a name, and compared
//! on the way. Arrays of text are listed; they can become the labels of an axis.

mod catalog;
mod check;
mod checked;
mod edit;
mod rule;
mod write;

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::{Capabilities, Container, Input, Output, Writer};
use tet_container::{Format, Result};

pub use self::write::write_npz_file;

/// The container of NumPy's archives.
#[derive(Debug)]
pub struct Npz;

impl Container for Npz {
    fn format(&self) -> Format {
        Format::NPZ
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["deflate"]
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }

    fn repairer(&self) -> Option<&dyn Repairer> {
        Some(self)
    }
}

impl Writer for Npz {
    fn can(&self) -> Capabilities {
        Capabilities { attributes: false, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let views = conversion.in_numpy()?;
        let views: Vec<_> = views.iter().collect();
        let how = options.export();
        let written = write_npz_file(conversion.catalog, &views, output, &how)?;
        conversion.notes.extend(written.notes);
        Ok(Output { len: written.bytes, ..Output::default() })
    }
}
