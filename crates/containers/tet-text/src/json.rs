//! JSON: one array with its axes, labels and attributes, which is only written.
//!
//! ```text
//!   {"schema": "tet.array/1", "name", "dtype", "shape", "dims", "coords", "attrs", "history", "values": [[...]]}
//! ```
//!
//! Lists alone are written where that is asked for.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value};
use tet_query::{AttrText, Catalog, Dataset, Execution, Hyperslab};

use tet_container::model::notes;
use tet_container::write::array::{Encoding, write_lazy, write_texts};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::file::publish;
use tet_container::write::left_out::left_out;
use tet_container::write::options::TextLayout;
use tet_container::write::{labels, stream, text};
use tet_container::{Capabilities, Container, Output, Writer};
use tet_container::{Error, Format, Note, Result};

/// The version of the object.
const SCHEMA: &str = "tet.array/1";

/// Files of one array as JSON.
#[derive(Debug)]
pub struct Json;

impl Container for Json {
    fn format(&self) -> Format {
        Format::JSON
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Json {
    fn can(&self) -> Capabilities {
        Capabilities {
            several: false,
            metadata: true,
            text: true,
            layouts: &[TextLayout::Tidy, TextLayout::Bare],
            ..Capabilities::ARRAYS
        }
    }

    fn check(&self, dataset: &Dataset, encoding: &'static str) -> Result<()> {
        text::check(dataset, encoding)
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let encoding = Encoding::Json.name();
        let [dataset] = conversion.datasets[..] else { return Err(Error::OneDataset { encoding }) };
        let layout = options.layout.unwrap_or_default();
        let (catalog, how) = (conversion.catalog, options.export());
        let (notes, len) = publish(catalog, output, &how, |out| {
            let mut out = io::BufWriter::new(out);
            let notes = write(catalog, dataset, layout, &how.execution, &mut out)?;
            out.flush().map_err(Error::Write)?;
            Ok(notes)
        })?;
        conversion.notes.extend(notes);
        if layout == TextLayout::Bare {
            conversion.notes.extend(left_out(catalog, &conversion.datasets));
        }
        Ok(Output { len, ..Output::default() })
    }
}

/// Writes a dataset of a catalog to `out`, and gives the notes of what differs.
///
/// # Errors
/// The array has elements that no number stands for, it or its labels cannot be read, or `out` refuses the bytes.
pub fn write(
    catalog: &Catalog,
    dataset: &Dataset,
    layout: TextLayout,
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<Vec<Note>> {
    let is_bare = layout == TextLayout::Bare;
    if !is_bare {
        let head = head(catalog, dataset, execution)?;
        out.write_all(head.as_bytes()).map_err(Error::Write)?;
    }
    let notes = values(dataset, execution, out)?;
    if !is_bare {
        out.write_all(b"}\n").map_err(Error::Write)?;
    }
    Ok(notes)
}

/// Writes the lists.
fn values(dataset: &Dataset, execution: &Execution, out: &mut dyn Write) -> Result<Vec<Note>> {
    if dataset.is_text() {
        let slab = Hyperslab::whole(dataset.shape());
        let integrity = write_texts(dataset, &slab, Encoding::Json, execution, out)?;
        return Ok(notes::of_integrity(integrity).into_iter().collect());
    }
    let lazy = stream::whole(dataset)?;
    let mut notes = write_lazy(&lazy, Encoding::Json, execution, out)?;
    notes.extend(notes::unchecked([&lazy]));
    Ok(notes)
}

/// The members before the values, a line each.
fn head(catalog: &Catalog, dataset: &Dataset, execution: &Execution) -> Result<String> {
    let axes = labels::of(catalog, dataset, &execution.silent())?;
    let dims: Vec<Value> = match dataset.dims.is_empty() {
        true => Vec::new(),
        false => axes.iter().map(|axis| axis.name.as_str().into()).collect(),
    };
    let coords = axes.iter().map(|axis| {
        let label = |text: &String| match serde_json::from_str(text) {
            Ok(Value::Number(number)) if axis.has_numbers => Value::Number(number),
            _ => Value::String(text.clone()),
        };
        axis.labels.as_ref().map(|labels| labels.iter().map(label).collect::<Vec<_>>())
    });
    let attrs: Map<String, Value> =
        dataset.attrs.iter().map(|(key, value)| (key.clone(), attribute(value))).collect();
    let mut members = vec![
        ("schema", SCHEMA.into()),
        ("name", dataset.name.as_str().into()),
        ("dtype", dataset.dtype_name.as_str().into()),
        ("shape", dataset.shape().into()),
        ("dims", dims.into()),
        ("coords", coords.map(Value::from).collect::<Vec<_>>().into()),
        ("attrs", attrs.into()),
    ];
    if let Some(history) = catalog.attrs().get("history") {
        members.push(("history", attribute(history)));
    }
    let members = members.into_iter().map(|(key, value)| format!("\"{key}\": {value},\n"));
    Ok(format!("{{{}\"values\": ", members.collect::<String>()))
}

/// An attribute as a value.
fn attribute(value: &AttrText) -> Value {
    match value {
        AttrText::Text(text) => Value::String(text.clone()),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => {
            serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.clone()))
        }
    }
}
