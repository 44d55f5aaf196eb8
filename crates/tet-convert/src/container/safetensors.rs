//! Safetensors: one file, or several and an index that names them.

use std::path::Path;

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use super::plain::{exported, one_file};
use super::traits::{Capabilities, Container, Head, Input, Output, Writer};
use crate::Format;
use crate::conversion::{Conversion, ConvertOptions};
use crate::export::{SHARD_LEN, write_safetensors_file, write_shards};
use crate::opened::{OpenOptions, Opened};
use crate::{Result, safetensors};

/// The container of safetensors files.
pub(super) struct SafeTensors;

impl Container for SafeTensors {
    fn format(&self) -> Format {
        Format::SAFETENSORS
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["safetensors"]
    }

    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        Ok(safetensors::is_likely(head.bytes, head.source.len()))
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        safetensors::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        safetensors::verify(source, options)
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        safetensors::RULES
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for SafeTensors {
    fn can(&self) -> Capabilities {
        Capabilities { metadata: true, options: &["--shard-size"], ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        if options.shard_len.is_some() {
            return Index.write(conversion, output, options, progress);
        }
        let how = exported(options);
        let (catalog, datasets) = (conversion.catalog, &conversion.datasets);
        let notes = write_safetensors_file(catalog, datasets, output, &how, progress)?;
        one_file(conversion, notes, output)
    }
}

/// Bytes of JSON in which the key of an index is looked for.
const OBJECT_LEN: u64 = 64 << 10;

/// The container of models in several safetensors files.
pub(super) struct Index;

impl Container for Index {
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
        let key = format!("\"{}\"", safetensors::MAP_KEY);
        Ok(object.windows(key.len()).any(|window| window == key.as_bytes()))
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        safetensors::open_index(input.path, input.source, input.opener)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        safetensors::verify_index(source, options)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Index {
    fn can(&self) -> Capabilities {
        SafeTensors.can()
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Output> {
        let len = options.shard_len.unwrap_or(SHARD_LEN);
        let how = exported(options);
        let (catalog, datasets) = (conversion.catalog, &conversion.datasets);
        let (sharded, notes) = write_shards(catalog, datasets, output, len, &how, progress)?;
        if sharded.shard_count == 0 {
            return one_file(conversion, notes, output);
        }
        conversion.notes.extend(notes);
        let shard_count = sharded.shard_count;
        Ok(Output { len: sharded.len, shard_count, ..Output::default() })
    }
}
