//! zTensor 0.1.0 files, read in place.
//!
//! The format is `tet-ztensor`'s; here its tensors become datasets, its rules findings, and its
//! custom fields attributes. A raw tensor is slabs of one array, a zstd tensor of several frames is
//! a chunk for each of them, a sparse one is bands of rows, anything else is one chunk.

mod attrs;
mod catalog;
mod check;
mod checked;
mod edit;
mod error;
mod framed;
mod objects;
mod options;
mod parts;
mod seal;
mod sparse;
mod ties;
mod write;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::{Catalog, Dataset};
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input, Writer};
use tet_container::{Format, Note, Result};

pub(crate) use self::checked::stored_checksum;
pub(crate) use self::framed::Framed;
pub use self::objects::{ONE, Objects, TWO};
pub(crate) use self::parts::{attrs as part_attrs, held};
pub(crate) use self::seal::of_blob as blob_seal;
pub(crate) use self::sparse::HELD_COO;

/// The container of zTensor files.
#[derive(Debug)]
pub struct ZTensor;

impl Container for ZTensor {
    fn format(&self) -> Format {
        Format::ZTENSOR
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["zt"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"ZTEN"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options.memory_budget)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["zstd"]
    }

    fn bounds(&self) -> &'static [Bound] {
        const { &[Bound::count("axes of a tensor", crate::footer::RANK_MAX as u64)] }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        crate::rule::ALL
    }

    fn untied(&self, catalog: &Catalog, datasets: &[&Dataset]) -> Result<Vec<Note>> {
        ties::untied(catalog, datasets)
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
