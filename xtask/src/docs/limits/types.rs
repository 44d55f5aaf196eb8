//! The types that outputs store: each type is converted to each format.

use std::fs;
use std::path::Path;

use anyhow::Result;
use tet_container::model::dtype::bits_of;
use tet_convert::{ConvertOptions, Note};
use tet_format::DType;

use super::suffixes;
use crate::run;

/// Types of safetensors, with the names that they have here.
const TYPES: [(&str, &str); 21] = [
    ("BOOL", "bool"),
    ("I8", "int8"),
    ("I16", "int16"),
    ("I32", "int32"),
    ("I64", "int64"),
    ("U8", "uint8"),
    ("U16", "uint16"),
    ("U32", "uint32"),
    ("U64", "uint64"),
    ("F16", "float16"),
    ("BF16", "bfloat16"),
    ("F32", "float32"),
    ("F64", "float64"),
    ("C64", "complex64"),
    ("F8_E4M3", "float8_e4m3fn"),
    ("F8_E5M2", "float8_e5m2"),
    ("F8_E8M0", "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
    ("F4", "float4_e2m1fn"),
    ("F6_E2M3", "float6_e2m3fn"),
];

/// Outputs that store all types alike.
struct Column {
    suffixes: Vec<&'static str>,
    /// A type, `yes` or `-` for each row.
    cells: Vec<String>,
}

/// A row for each type, a column for each kind of output. Types that all outputs treat alike share a row.
pub(super) fn table() -> Result<String> {
    let columns = columns()?;
    let titles: Vec<String> = columns.iter().map(|it| suffixes(&it.suffixes)).collect();
    let mut rows: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    let names = TYPES.iter().map(|(_, name)| *name).chain(["text"]);
    for (at, name) in names.enumerate() {
        let cells: Vec<&str> = columns.iter().map(|it| it.cells[at].as_str()).collect();
        match rows.iter_mut().find(|(_, other)| *other == cells) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], cells)),
        }
    }
    let rule = "---|".repeat(titles.len());
    let mut out = format!("| | {} |\n|---|{rule}\n", titles.join(" | "));
    for (names, cells) in rows {
        out.push_str(&format!("| {} | {} |\n", names.join(", "), cells.join(" | ")));
    }
    Ok(out)
}

/// The outputs, each with what it makes of every type.
fn columns() -> Result<Vec<Column>> {
    let folder = run::target().join("limits");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for (stored, name) in TYPES {
        fs::write(folder.join(format!("{name}.safetensors")), tensor(stored, name))?;
    }
    let mut columns: Vec<Column> = Vec::new();
    for container in tet_convert::containers() {
        let Some(writer) = container.writer() else { continue };
        for suffix in container.usual_suffixes() {
            let mut cells: Vec<String> =
                TYPES.iter().map(|(_, name)| stored_as(&folder, name, suffix)).collect();
            let can = writer.can_as(Path::new(&format!("x.{suffix}")));
            cells.push(if can.text { "yes" } else { "-" }.to_owned());
            match columns.iter_mut().find(|it| it.cells == cells) {
                Some(column) => column.suffixes.push(suffix),
                None => columns.push(Column { suffixes: vec![suffix], cells }),
            }
        }
    }
    Ok(columns)
}

/// The type that an output of this suffix has of a tensor: `yes` where it is the type itself.
fn stored_as(folder: &Path, name: &str, suffix: &str) -> String {
    let input = folder.join(format!("{name}.safetensors"));
    let output = folder.join(format!("{name}-{suffix}.{suffix}"));
    match tet_convert::convert(&input, &output, &ConvertOptions::default()) {
        Err(_) => "-".to_owned(),
        Ok(report) => {
            let other = report.notes.iter().find_map(|note| match note {
                Note::AsBits { to, .. } | Note::Widened { to, .. } => Some(to.name().to_owned()),
                _ => None,
            });
            other.unwrap_or_else(|| "yes".to_owned())
        }
    }
}

/// A safetensors file of eight elements of a type.
fn tensor(stored: &str, name: &str) -> Vec<u8> {
    let bits = DType::from_name(name).map(|it| u64::from(it.bit_width()));
    // Eight elements have as many bytes as one has bits.
    let len = bits.or(bits_of(name)).unwrap_or(0);
    let header = format!(r#"{{"x":{{"dtype":"{stored}","shape":[8],"data_offsets":[0,{len}]}}}}"#);
    let zeros = (0..len).map(|_| 0);
    (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(zeros).collect()
}
