//! FITS: the files of astronomy, read in place.
//!
//! ```text
//!   SIMPLE, BITPIX, NAXIS ... END | pixels | XTENSION, BITPIX, NAXIS ... END | pixels | ...
//!   cards of 80 bytes, in blocks of 2880        each unit is padded to whole blocks
//! ```
//!
//! The layout is that of the FITS Standard, version 4.0. Numbers are big-endian, and the first axis of the header is
//! the last one of the array, as in astropy. Images are read, also compressed ones; tables and random
//! groups are listed.

#![forbid(unsafe_code)]

mod card;
mod catalog;
mod check;
mod checked;
mod header;
mod pixels;
mod rule;
mod scale;
mod sum;
mod tiles;
mod unit;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input};
use tet_container::{Format, Result};

/// The container of FITS files.
#[derive(Debug)]
pub struct Fits;

impl Container for Fits {
    fn format(&self) -> Format {
        Format::FITS
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["fits", "fit", "fts", "fits.fz"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"SIMPLE  ="]
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        tiles::CODECS.to_vec()
    }

    fn bounds(&self) -> &'static [Bound] {
        const { &[Bound::bytes("headers", header::HEADERS_LEN_MAX)] }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn repairer(&self) -> Option<&dyn Repairer> {
        Some(self)
    }
}

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
