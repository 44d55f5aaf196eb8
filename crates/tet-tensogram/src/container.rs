//! Tensogram v3 files, read in place.
//!
//! The format is `tet-tensogram`'s; here its objects become datasets, in the order of the file, its
//! rules findings, and the metadata of objects attributes. An object that is stored as it is is slabs
//! of one array, one that can be decoded in parts is a chunk for each, any other is one chunk. The
//! hash of a frame is the seal of its object.

mod catalog;
mod check;
mod checked;
mod edit;
mod error;
mod keys;
mod lost;
mod options;
mod parts;
mod seal;
mod stack;
mod write;

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::Catalog;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Head, Input, Writer};
use tet_container::{Format, Note, Result};

/// Rules of the order of frames, which cost nothing of a message: order, preceders, no metadata.
const FORM_RULES: [&str; 3] = ["TGM-F6", "TGM-F7", "TGM-M9"];

/// The container of Tensogram files.
#[derive(Debug)]
pub struct Tensogram;

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
        Ok(crate::is_likely(head.source)?)
    }

    fn version(&self) -> Option<u32> {
        Some(crate::VERSION.into())
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options.only)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        crate::pipeline::COMPRESSIONS.to_vec()
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::count("axes of a tensor", crate::check::message::AXES_MAX),
                Bound::count("objects", catalog::OBJECTS_MAX as u64),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        crate::rule::ALL
    }

    fn form_rules(&self) -> &'static [&'static str] {
        &FORM_RULES
    }

    fn stacked(&self, path: &Path, catalog: &Catalog, axis: &str) -> Result<(Catalog, Vec<Note>)> {
        stack::stacked(path, catalog, axis)
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
