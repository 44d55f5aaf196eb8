//! HDF5 and NetCDF-4, read in place: datasets in groups, chunks found by their index when they are asked for.
//!
//! `tet-hdf5` reads the structure; here are the types of elements, the filters, dimension scales, and the
//! conventions by which a NetCDF-4 file is an HDF5 file.

mod attributes;
mod bits;
mod catalog;
mod check;
mod checked;
mod chunks;
mod dataset;
mod dims;
mod edit;
mod element;
mod empty;
mod external;
mod texts;
mod types;
mod write;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Head, Input, Writer};
use tet_container::{Error, Format, Result};

/// The container of HDF5 files.
#[derive(Debug)]
pub struct Hdf5;

impl Container for Hdf5 {
    fn format(&self) -> Format {
        Format::HDF5
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["h5", "hdf5", "he5", "nc4", "nc"]
    }

    fn usual_suffixes(&self) -> &'static [&'static str] {
        &["h5", "nc"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"\x89HDF\r\n\x1a\n"]
    }

    /// A file with a user block begins with any bytes.
    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        match crate::find(head.source) {
            Ok(found) => Ok(found.is_some()),
            Err(error) => Err(environment(error)),
        }
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        tet_codec::HDF5_FILTERS.iter().map(|(_, name)| *name).collect()
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::count("axes of a dataset", crate::message::space::RANK_MAX as u64),
                Bound::count("groups within each other", crate::walk::DEPTH_MAX as u64),
                Bound::bytes("attributes of one object", crate::file::ATTRIBUTES_LEN_MAX as u64),
                Bound::count(
                    "values of an attribute that is no list of numbers or texts",
                    attributes::VALUES_MAX,
                ),
                Bound::count("members of structures", dataset::MEMBERS_MAX as u64),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        crate::rule::ALL
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

/// An error of the environment; a fault of the file has been taken out before.
fn environment(error: crate::Error) -> Error {
    match error {
        crate::Error::Io(error) => error.into(),
        error => tet_query::Error::Unsupported { why: error.to_string() }.into(),
    }
}
