//! `.npy`, NumPy's file of one array, read in place.
//!
//! ```text
//!   \x93NUMPY | version | header: a Python dict of descr, fortran_order, shape | elements
//! ```
//!
//! The layout is that of NumPy's `numpy.lib.format`. Members of an `.npz` are such files.

mod catalog;
mod check;
mod columns;
mod descr;
mod edit;
mod header;
mod like;
mod literal;
mod members;
mod place;
mod structure;
mod texts;

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::array::{Encoding, write_one};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::{Bound, Capabilities, Container, Input, Output, Writer};
use tet_container::{Format, Result};

pub(crate) use self::catalog::{FIELDS_MAX, without_fields};
pub use self::catalog::{dataset, notes, unreadable};
pub(crate) use self::check::header as check_header;
pub use self::header::Header;
pub(crate) use self::like::{len_like, write_like};
pub use self::place::Place;

/// The container of NumPy's files.
#[derive(Debug)]
pub struct Npy;

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
        catalog::open(input.path, input.source, options)
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::count("axes", header::RANK_MAX as u64),
                Bound::bytes("header", tet_container::NPY_HEADER_LEN_MAX as u64),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        check::ALL
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
}

impl Writer for Npy {
    fn can(&self) -> Capabilities {
        Capabilities { several: false, attributes: false, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let views = conversion.in_numpy()?;
        write_one(conversion, &views, Encoding::Npy, (output, options))
    }
}
