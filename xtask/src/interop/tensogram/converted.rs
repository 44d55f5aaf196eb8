//! Files that `tet convert` writes for readers of all releases, in little endian as ever.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};
use tet_format::DType;
use tet_tensogram::{Metadata, WriteOptions, encode_message};

use super::files::{beside, sheet};
use super::objects::{self, Object};
use super::said;
use crate::run;

/// Objects to convert.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    /// Every type in both byte orders.
    Plain,
    /// Every type but bits, in both byte orders.
    Bytes,
    /// Every type of up to 32 bits but bits, in both byte orders.
    Short,
    /// Elements that are not finite among others.
    Special,
    /// Doubles that are packed.
    Doubles,
}

/// How, after `tet convert IN OUT --profile universal`.
const WAYS: [(&str, Input, &str); 27] = [
    ("raw", Input::Plain, ""),
    ("raw-8", Input::Plain, "--align 8 --no-digests"),
    ("raw-4096", Input::Plain, "--align 4096 --no-history"),
    ("shuffle", Input::Plain, "--filter shuffle"),
    ("zstd", Input::Plain, "--codec zstd"),
    ("zstd-19-shuffle", Input::Plain, "--codec zstd --level 19 --filter shuffle"),
    ("lz4", Input::Plain, "--codec lz4"),
    ("lz4-shuffle", Input::Plain, "--codec lz4 --filter shuffle"),
    ("szip", Input::Short, "--codec szip"),
    ("szip-shuffle", Input::Bytes, "--codec szip --filter shuffle"),
    ("masks-exact", Input::Special, "--masks exact"),
    ("masks-all-zstd", Input::Special, "--masks all --codec zstd --filter shuffle"),
    ("bits-0", Input::Doubles, "--encoding simple_packing --bits 0"),
    ("bits-1", Input::Doubles, "--encoding simple_packing --bits 1"),
    ("bits-7", Input::Doubles, "--encoding simple_packing --bits 7"),
    ("bits-12", Input::Doubles, "--encoding simple_packing --bits 12"),
    ("bits-16", Input::Doubles, "--encoding simple_packing --bits 16"),
    ("bits-31-zstd", Input::Doubles, "--encoding simple_packing --bits 31 --codec zstd"),
    ("bits-53-lz4", Input::Doubles, "--encoding simple_packing --bits 53 --codec lz4"),
    ("bits-64", Input::Doubles, "--encoding simple_packing --bits 64"),
    ("bits-8-szip", Input::Doubles, "--encoding simple_packing --bits 8 --codec szip"),
    ("bits-16-szip", Input::Doubles, "--encoding simple_packing --bits 16 --codec szip"),
    ("bits-24-szip", Input::Doubles, "--encoding simple_packing --bits 24 --codec szip"),
    ("bits-32-szip", Input::Doubles, "--encoding simple_packing --bits 32 --codec szip"),
    ("error", Input::Doubles, "--encoding simple_packing --max-error 0.01"),
    ("error-zstd", Input::Doubles, "--encoding simple_packing --max-error 1e-6 --codec zstd"),
    ("error-szip", Input::Doubles, "--encoding simple_packing --max-error 0.01 --codec szip"),
];

/// Converts each input in each way, and writes the sheet of what `tet cat` then finds beside it.
pub(super) fn write(program: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let inputs = super::super::fresh(&folder.with_file_name("inputs"))?;
    let mut paths = Vec::new();
    for (label, input, flags) in WAYS {
        let mut objects = input.objects()?;
        let from = inputs.join(format!("{input:?}.tgm").to_lowercase());
        std::fs::write(&from, message(&objects)?)?;
        let to = folder.join(format!("{label}.tgm"));
        let mut convert = Command::new(program);
        convert.arg("convert").arg(&from).arg(&to).args(["--profile", "universal", "--quiet"]);
        run::output(convert.args(flags.split_whitespace()))?;
        for (position, object) in objects.iter_mut().enumerate() {
            let found = super::cat(program, &to, position)?;
            let is_same = found == object.elements || flags.contains("simple_packing");
            ensure!(is_same, "{label}: #{position} is converted otherwise");
            object.elements = found;
        }
        let elements: Vec<u8> = objects.iter().flat_map(|it| it.elements.clone()).collect();
        let sheet = sheet(&names(&objects), &json!({ "version": 3 }), &objects);
        beside(&to, vec![sheet], &elements).with_context(|| to.display().to_string())?;
        paths.push(to);
    }
    Ok(paths)
}

impl Input {
    fn objects(self) -> Result<Vec<Object>> {
        let mut objects = match self {
            Input::Plain | Input::Bytes | Input::Short => objects::plain()?,
            Input::Special => objects::special()?,
            Input::Doubles => objects::doubles()?,
        };
        objects.retain(|it| match self {
            Input::Bytes => it.dtype != DType::Bitmask,
            Input::Short => it.dtype != DType::Bitmask && it.dtype.bit_width() <= 32,
            Input::Plain | Input::Special | Input::Doubles => true,
        });
        Ok(objects)
    }
}

/// A message with an object of each, in this order.
fn message(objects: &[Object]) -> Result<Vec<u8>> {
    let base = names(objects).iter().map(said::pairs).collect();
    let metadata = Metadata { base, ..Metadata::default() };
    let tensors = objects.iter().map(Object::tensor).collect();
    Ok(encode_message(&metadata, tensors, &WriteOptions::default())?)
}

/// Metadata of each object.
fn names(objects: &[Object]) -> Vec<Json> {
    let name = |(at, it): (usize, &Object)| json!({ "name": format!("{}-{at}", it.dtype.name()) });
    objects.iter().enumerate().map(name).collect()
}
