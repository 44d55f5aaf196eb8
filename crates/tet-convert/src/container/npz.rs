//! `.npz`, NumPy's archive of arrays.

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use super::plain::{exported, one_file};
use super::traits::{Capabilities, Container, Input, Output, Writer};
use crate::Format;
use crate::conversion::{Conversion, ConvertOptions};
use crate::export::write_npz_file;
use crate::opened::{OpenOptions, Opened};
use crate::{Result, npz};

/// The container of NumPy's archives.
pub(super) struct Npz;

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
        npz::open(input.path, input.source, options)
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        npz::ALL
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        npz::check::verify(source, options)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Npz {
    fn can(&self) -> Capabilities {
        Capabilities::ARRAYS
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let views = conversion.in_numpy()?;
        let views: Vec<_> = views.iter().collect();
        let how = exported(options);
        let notes = write_npz_file(conversion.catalog, &views, output, &how, progress)?;
        one_file(conversion, notes, output)
    }
}
