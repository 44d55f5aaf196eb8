//! `.npy`, NumPy's file of one array.

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use super::plain::write_one;
use super::traits::{Capabilities, Container, Input, Output, Writer};
use crate::Format;
use crate::conversion::{Conversion, ConvertOptions};
use crate::export::Encoding;
use crate::opened::{OpenOptions, Opened};
use crate::{Result, npy};

/// The container of NumPy's files.
pub(super) struct Npy;

impl Container for Npy {
    fn format(&self) -> Format {
        Format::NPY
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["npy"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"\x93NUMPY"]
    }

    fn version(&self) -> Option<u32> {
        Some(1)
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        npy::open(input.path, input.source, options)
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        npy::check::ALL
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        npy::check::verify(source, options)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Npy {
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
        let views = conversion.in_numpy()?;
        write_one(conversion, &views, Encoding::Npy, (output, options), progress)
    }
}
