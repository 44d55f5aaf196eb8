//! NetCDF classic: the file of climate and weather data before HDF5, read in place.
//!
//! ```text
//!   CDF 1, 2 or 5 | records | dimensions | attributes | variables    arrays | record 0 | record 1 | ...
//! ```
//!
//! Numbers are big-endian. A variable without the record dimension is one array; of the others, each record
//! holds one part after the other. The layout is that of the NetCDF classic format specification of Unidata,
//! with the 64-bit offsets of CDF-2 and the 64-bit data of CDF-5.

#![forbid(unsafe_code)]

mod catalog;
mod check;
mod cursor;
mod edit;
mod header;
mod records;
mod rule;
mod value;
mod write;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input, Writer};
use tet_container::{Format, Result};

/// The container of NetCDF classic files.
#[derive(Debug)]
pub struct NetCdf3;

impl Container for NetCdf3 {
    fn format(&self) -> Format {
        Format::NETCDF3
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["nc3", "cdf"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"CDF\x01", b"CDF\x02", b"CDF\x05"]
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn bounds(&self) -> &'static [Bound] {
        const { &[Bound::bytes("header", cursor::HEADER_LEN_MAX)] }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
