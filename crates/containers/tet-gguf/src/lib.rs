//! GGUF: the model files of llama.cpp and ggml, read in place.
//!
//! ```text
//!   GGUF version | tensors, keys | key: type, value ... | name, axes, type, offset ... | padding | data
//! ```
//!
//! The layout is that of the GGUF specification of ggml, versions 1 to 3, in either order of bytes. Tensors of
//! plain numbers are read; those of quantized blocks are listed.

#![forbid(unsafe_code)]

mod block;
mod catalog;
mod cursor;
mod header;
mod rule;
mod split;
mod value;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input};
use tet_container::{Format, Result};

/// The container of GGUF files.
#[derive(Debug)]
pub struct Gguf;

impl Container for Gguf {
    fn holds_models(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::GGUF
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["gguf"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"GGUF"]
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        catalog::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        block::decoded()
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::bytes("header", cursor::HEADER_LEN_MAX),
                Bound::count("values of an attribute that is a list", value::LIST_COUNT_MAX),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }
}

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
