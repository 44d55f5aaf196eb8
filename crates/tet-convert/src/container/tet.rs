//! `.tet`, the format of this project.

pub(crate) mod chunks;
mod edit;
pub(crate) mod metadata;
mod stored;
mod write;

use tet_file::TetFile;
use tet_io::Source;
use tet_query::Catalog;
use tet_verify::{Report, VerifyOptions};

use crate::{Format, Result};
use tet_container::Editor;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input, Writer};

/// The container of `.tet` files.
pub(crate) struct Tet;

impl Container for Tet {
    fn format(&self) -> Format {
        Format::TET
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["tet"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"TETR"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        let how = tet_file::OpenOptions { limits: options.limits, footer: options.footer };
        let file = TetFile::open(input.source, &how)?;
        let catalog = Catalog::from_tet(file.clone())?;
        Ok(Opened { tet: Some(file), ..Opened::new(Format::TET, catalog) })
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        Ok(tet_verify::verify(source, options)?)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["raw", "zstd"]
    }

    fn bounds(&self) -> &'static [Bound] {
        const { &[Bound::count("axes of a dataset", tet_format::layout::RANK_MAX as u64)] }
    }

    fn has_checksums(&self) -> bool {
        true
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}
