//! Safetensors: the file of named arrays that models are stored in, read in place.
//!
//! ```text
//!   8 bytes: length of the header   header: JSON, padded with spaces   buffer: elements, gapless
//! ```
//!
//! The header is read by a scanner of our own: it keeps the order of the keys and knows the byte of
//! everything it refuses, and both the reader and `verify` need that. The reference library knows
//! neither. What it refuses is refused here too, by rules that have ids (`docs/reference/verify.md`); only a
//! tensor of an unknown dtype, or of bytes that do not fit its shape, leaves the others readable.
//!
//! A model in several files has an index, JSON too, that says which tensor is in which of them.

#![forbid(unsafe_code)]

mod attrs;
mod canonical;
mod catalog;
mod check;
mod dtype;
mod edit;
mod header;
pub mod index;
pub mod rule;
mod shards;
mod write;

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::Catalog;
use tet_verify::{Report, VerifyOptions};

use self::canonical::header_unless_canonical;
use tet_container::Editor;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::write_option::WriteOption;
use tet_container::{Bound, Capabilities, Container, Head, Input, Output, Writer};
use tet_container::{Format, Result};

pub use self::write::shards::{SHARD_LEN, Sharded, index_path, write_shards};
pub use self::write::write_safetensors_file;

/// The container of safetensors files.
#[derive(Debug)]
pub struct SafeTensors;

impl Container for SafeTensors {
    fn holds_models(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::SAFETENSORS
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["safetensors"]
    }

    /// A header that does not begin as it must is an error of a file of this name, and none of a table of text.
    fn known_by(&self) -> &'static [&'static str] {
        &["safetensors"]
    }

    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        Ok(header::is_likely(head.bytes, head.source.len()))
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn bounds(&self) -> &'static [Bound] {
        const { &[Bound::bytes("header", header::LEN_MAX)] }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn header_to_keep(&self, catalog: &Catalog) -> Result<Option<String>> {
        header_unless_canonical(catalog.source(), catalog)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}

impl Writer for SafeTensors {
    fn can(&self) -> Capabilities {
        Capabilities { metadata: true, options: &[WriteOption::ShardLen], ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        if options.shard_len.is_some() {
            return Index.write(conversion, output, options);
        }
        let how = options.export();
        let (catalog, datasets) = (conversion.catalog, &conversion.datasets);
        let written = write_safetensors_file(catalog, datasets, output, &how)?;
        conversion.notes.extend(written.notes);
        Ok(Output { len: written.bytes, ..Output::default() })
    }
}

/// Bytes of JSON in which the key of an index is looked for.
const OBJECT_LEN: u64 = 64 << 10;

/// The container of models in several safetensors files.
#[derive(Debug)]
pub struct Index;

impl Container for Index {
    fn holds_models(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::SAFETENSORS_INDEX
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["safetensors.index.json"]
    }

    /// A file is an object of JSON, with the key that makes it an index.
    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        if head.bytes.trim_ascii_start().first() != Some(&b'{') {
            return Ok(false);
        }
        let object = head.source.read_vec(0, head.source.len().min(OBJECT_LEN))?;
        let key = format!("\"{}\"", index::MAP_KEY);
        Ok(object.windows(key.len()).any(|window| window == key.as_bytes()))
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        shards::open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        shards::verify(source, options)
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::bytes("index", index::INDEX_LEN_MAX),
                Bound::count("shards of a model", index::SHARDS_MAX as u64),
                Bound::count("tensors of a sharded model", index::TENSORS_MAX as u64),
            ]
        }
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Index {
    fn can(&self) -> Capabilities {
        Writer::can(&SafeTensors)
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let len = options.shard_len.unwrap_or(SHARD_LEN);
        let how = options.export();
        let (catalog, datasets) = (conversion.catalog, &conversion.datasets);
        let (sharded, notes) = write_shards(catalog, datasets, output, len, &how)?;
        conversion.notes.extend(notes);
        let Sharded { shard_count, len } = sharded;
        let index = (shard_count != 0).then(|| index_path(output));
        Ok(Output { len, shard_count, index, ..Output::default() })
    }
}

#[cfg(test)]
mod tests;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
