//! A dataset alone that needs a line of names, and is no column: texts of any rank but one, and arrays without elements.
//!
//! Without names the first line of texts would be read as names, and a file of no lines as no table.

use std::io::{self, Write};
use std::path::Path;

use tet_format::Shape;
use tet_query::{Dataset, Hyperslab};

use super::cell::Kinds;
use super::columns::check_names;
use super::rows::COLUMNS_MAX;
use super::table::zero;
use tet_container::Output;
use tet_container::model::notes;
use tet_container::write::array::Encoding;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::csv::{Quotes, TextLines, push_text};
use tet_container::write::file::publish;
use tet_container::write::left_out::left_out;
use tet_container::write::texts::TextCounts;
use tet_container::{Error, Result};

/// Writes the only dataset of a conversion, with a name for each position of its last axis.
pub(super) fn write(
    conversion: &mut Conversion<'_>,
    dataset: &Dataset,
    encoding: Encoding,
    output: &Path,
    options: &ConvertOptions,
) -> Result<Output> {
    let delimiter = encoding.delimiter();
    let names = names(dataset, encoding)?;
    let quotes = if names.len() == 1 { Quotes::Alone } else { Quotes::Needed };
    let has_values = dataset.is_text() && has_values(dataset, options)?;
    let mut counts = TextCounts::new(dataset);
    let (integrity, len) = publish(conversion.catalog, output, &options.export(), |out| {
        let mut out = io::BufWriter::new(out);
        let mut head = String::new();
        for (name, nth) in names.iter().zip(1..) {
            push_text(name, delimiter, quotes, &mut head);
            head.push(if nth == names.len() { '\n' } else { delimiter.char() });
        }
        out.write_all(head.as_bytes()).map_err(Error::Write)?;
        let mut integrity = dataset.chunks.integrity();
        if dataset.is_text() {
            let quotes = if has_values { Quotes::All } else { quotes };
            let mut lines = TextLines::new(dataset.grid.shape(), delimiter, quotes);
            let slab = Hyperslab::whole(dataset.shape());
            let execution = options.execution.begin(0);
            dataset.for_texts::<Error>(&slab, &execution, &mut |texts| {
                if texts.value.iter().any(|text| text.contains('\0')) {
                    return Err(zero(dataset.name.clone(), encoding));
                }
                integrity = integrity.and(texts.integrity);
                counts.add(&texts.value);
                lines.write(&texts.value, &mut out).map_err(Error::Write)
            })?;
        }
        out.flush().map_err(Error::Write)?;
        Ok(integrity)
    })?;
    conversion.notes.extend(notes::of_integrity(integrity).into_iter().chain(counts.replaced()));
    conversion.notes.extend(left_out(conversion.catalog, &conversion.datasets));
    Ok(Output { len, ..Output::default() })
}

/// The names of the columns: that of the dataset, with a number where there are several.
fn names(dataset: &Dataset, encoding: Encoding) -> Result<Vec<String>> {
    let why = "its last axis has more positions than a table has columns";
    let wide = || Error::Unfit { dataset: dataset.name.clone(), encoding: encoding.name(), why };
    let shape: &Shape = dataset.grid.shape();
    let width = if shape.rank() < 2 { 1 } else { shape.last().copied().unwrap_or(1).max(1) };
    let width = usize::try_from(width).ok().filter(|width| *width <= COLUMNS_MAX);
    let names: Vec<String> = match width.ok_or_else(wide)? {
        1 => vec![dataset.name.clone()],
        width => (0..width).map(|nth| format!("{}_{nth}", dataset.name)).collect(),
    };
    if dataset.name.contains('\0') {
        return Err(zero(dataset.name.clone(), encoding));
    }
    check_names(names.iter().map(String::as_str), encoding)?;
    Ok(names)
}

/// Whether one of the texts would be read as a value: then all are between quotes.
fn has_values(dataset: &Dataset, options: &ConvertOptions) -> Result<bool> {
    let slab = Hyperslab::whole(dataset.shape());
    let mut has = false;
    dataset.for_texts::<Error>(&slab, &options.execution.silent(), &mut |texts| {
        has |= texts.value.iter().any(|text| !Kinds::from_field(text.as_bytes()).has(Kinds::TEXT));
        Ok(())
    })?;
    Ok(has)
}
