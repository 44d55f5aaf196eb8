//! Tensors beside a file that holds them: `X.json` says what they are, `X.bin` has their bytes.
//!
//! `xtask/interop/sheets.py` is the other side.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tet_ztensor::Declaration;

/// A tensor and its elements.
pub(super) struct Sheeted {
    pub(super) declaration: Declaration,
    pub(super) elements: Vec<u8>,
}

/// Writes the sheet of the file at `path`.
pub(super) fn write<'a>(
    path: &Path,
    tensors: impl Iterator<Item = &'a Sheeted> + Clone,
) -> Result<()> {
    let line = |Sheeted { declaration: it, .. }: &Sheeted| json!({ "name": it.name, "dtype": it.dtype.name(), "shape": it.shape.to_vec() });
    let lines: Vec<Value> = tensors.clone().map(line).collect();
    std::fs::write(path.with_extension("json"), Value::from(lines).to_string())?;
    let elements: Vec<u8> = tensors.flat_map(|tensor| tensor.elements.iter().copied()).collect();
    Ok(std::fs::write(path.with_extension("bin"), elements)?)
}

/// Reads the sheet of the file at `path`: name and dtype, shape, elements.
pub(super) fn read(path: &Path) -> Result<Vec<Sheeted>> {
    let lines: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(path.with_extension("json"))?)?;
    let elements = std::fs::read(path.with_extension("bin"))?;
    let (mut rest, mut tensors) = (&elements[..], Vec::new());
    for line in lines {
        let name = line["name"].as_str().context("a sheet without names")?;
        let dtype = line["dtype"].as_str().and_then(tet_ztensor::dtype);
        let dtype = dtype.with_context(|| format!("{name:?} is of no dtype of zTensor"))?;
        let shape = line["shape"].as_array().context("a sheet without shapes")?;
        let shape: Option<Vec<u64>> = shape.iter().map(Value::as_u64).collect();
        let declaration = Declaration::new(name, dtype, shape.context("odd extents")?);
        let len = usize::try_from(declaration.decoded_len()?)?;
        let (mine, after) = rest.split_at_checked(len).context("too few bytes")?;
        tensors.push(Sheeted { declaration, elements: mine.to_vec() });
        rest = after;
    }
    ensure!(rest.is_empty(), "{} bytes of {} are left", rest.len(), path.display());
    Ok(tensors)
}

/// The names that the sheet of the file at `path` lists, whatever their types.
pub(super) fn names(path: &Path) -> Result<Vec<String>> {
    let lines: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(path.with_extension("json"))?)?;
    let name = |line: &Value| line["name"].as_str().map(str::to_owned);
    lines.iter().map(name).collect::<Option<_>>().context("a sheet without names")
}
