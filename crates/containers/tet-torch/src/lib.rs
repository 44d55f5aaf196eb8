//! Checkpoints of PyTorch, as `torch.save` writes them, read in place.
//!
//! ```text
//!   name/data.pkl      a pickle: what was saved, with the shapes, strides and storages of its tensors
//!   name/byteorder     little or big
//!   name/data/0 ...    storages: the elements of one or several tensors
//! ```
//!
//! The file is a zip archive, and members that another program compressed are unpacked when they are read; before version
//! 1.6 it was pickles and storages, one after the other. The pickle is read as data: nothing in it is
//! imported, called or executed. Tensors become datasets, whose names are the keys that lead to them, joined by
//! dots; numbers and texts become attributes of the file.

#![forbid(unsafe_code)]

mod archive;
mod catalog;
mod check;
mod checked;
mod checkpoint;
mod element;
mod index;

pub use self::index::Index;
mod legacy;
mod numpy;
mod pickle;
mod rule;
mod strided;
mod tree;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Head, Input};
use tet_container::{Format, Result};

/// The container of PyTorch checkpoints.
#[derive(Debug)]
pub struct Torch;

impl Container for Torch {
    fn holds_models(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::TORCH
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["pt", "pth"]
    }

    /// Zip files, of which those without a pickle are other archives; and the older form.
    fn magics(&self) -> &'static [&'static [u8]] {
        const MAGICS: [&[u8]; 6] = legacy::magics(b"PK\x03\x04");
        &MAGICS
    }

    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        // The end of any other file would be searched for a directory, in many reads.
        Ok(head.bytes.starts_with(b"PK") && archive::is_checkpoint(head.source))
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["deflate"]
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::bytes("pickle", checkpoint::PICKLE_LEN_MAX),
                Bound::count("values of the pickle", pickle::value::VALUE_COUNT_MAX as u64),
                Bound::bytes("names", tree::NAMES_LEN_MAX as u64),
                Bound::count("values of an attribute that is a list", tree::LIST_COUNT_MAX as u64),
            ]
        }
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
