//! Tensogram v3, `.tgm`: messages of objects.

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use super::traits::{Capabilities, Container, Head, Input, Output, Writer};
use crate::Format;
use crate::carry;
use crate::conversion::{Conversion, ConvertOptions};
use crate::opened::{OpenOptions, Opened};
use crate::{Result, tensogram};

/// The container of Tensogram files.
pub(super) struct Tensogram;

impl Container for Tensogram {
    fn format(&self) -> Format {
        Format::TENSOGRAM
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["tgm"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"TENSOGRM"]
    }

    /// Other bytes may be before the first message.
    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        Ok(tet_tensogram::is_likely(head.source)?)
    }

    fn version(&self) -> Option<u32> {
        Some(tet_tensogram::VERSION.into())
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        tensogram::open(input.path, input.source, options.only)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        tensogram::verify(source, options)
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        tensogram::RULES
    }

    fn form_rules(&self) -> &'static [&'static str] {
        &tensogram::FORM_RULES
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Tensogram {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            same_names: true,
            options: &[
                "--dims",
                "--labels",
                "--attr",
                "--no-digests",
                "--no-history",
                "--codec",
                "--level",
                "--align",
                "--codec lz4",
                "--codec szip",
                "--align 8",
                "--align 65536",
                "--encoding",
                "--bits",
                "--max-error",
                "--filter",
                "--masks",
                "--profile",
            ],
            ..Capabilities::ARRAYS
        }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let len = carry::tensogram::write(conversion, output, options, progress)?;
        Ok(Output { len, ..Output::default() })
    }
}
