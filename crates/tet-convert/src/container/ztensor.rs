//! zTensor 0.1.0, `.zt`.

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};
use tet_ztensor::Dialect;

use super::traits::{Capabilities, Container, Input, Output, Writer};
use crate::Format;
use crate::carry;
use crate::conversion::{Conversion, ConvertOptions};
use crate::opened::{OpenOptions, Opened};
use crate::{Result, ztensor};

/// The container of zTensor files.
pub(super) struct ZTensor;

impl Container for ZTensor {
    fn format(&self) -> Format {
        Format::ZTENSOR
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["zt"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"ZTEN", b"\x89ZT2"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        ztensor::open(input.path, input.source, options.memory_budget)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        ztensor::verify(source, options)
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        ztensor::RULES
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for ZTensor {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            sparse: true,
            options: &[
                "--dims",
                "--labels",
                "--attr",
                "--codec",
                "--level",
                "--align",
                "--align 65536",
                "--align-above",
                "--checksum",
                "--dialect",
                "--sparse native",
            ],
            ..Capabilities::ARRAYS
        }
    }

    fn keeps_shared_bytes(&self, options: &ConvertOptions) -> bool {
        options.ztensor.dialect == Dialect::Common
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let len = carry::ztensor::write(conversion, output, options, progress)?;
        Ok(Output { len, ..Output::default() })
    }
}
