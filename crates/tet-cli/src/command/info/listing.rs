//! The table of `tet info`: a row for each dataset, or for each family of datasets.

mod prefixes;

use std::cmp::Ordering;

use tet_convert::Format;
use tet_query::Dataset;

use self::prefixes::{PrefixSum, Summand};
use super::chunks::Stored;
use super::family::{self, Family};
use super::metadata;
use crate::args::{InfoArgs, SortName};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::dtype::shown_dtype;
use crate::render::paint::Paint;
use crate::render::table::{Side, Table};
use crate::size::{Size, counted, grouped};

/// Rows from which on datasets whose names differ in numbers share a row.
const ROWS_MAX: usize = 40;

const COLUMNS: [(&str, Side); 13] = [
    ("#", Side::Right),
    ("name", Side::Left),
    ("count", Side::Right),
    ("dtype", Side::Left),
    ("shape", Side::Left),
    ("chunks", Side::Left),
    ("codec", Side::Left),
    ("stored", Side::Right),
    ("logical", Side::Right),
    ("ratio", Side::Right),
    ("axes", Side::Left),
    ("units", Side::Left),
    ("long_name", Side::Left),
];

/// Columns that are left out on a terminal that is too narrow for them, in this order.
const OPTIONAL: [&str; 6] = ["ratio", "chunks", "stored", "codec", "logical", "dtype"];

/// Those of them that are left out before axes and long names move below their dataset.
const STORAGE: [&str; 4] = ["ratio", "chunks", "stored", "codec"];

/// Long names are cut to fit a line if this many characters remain.
const LONG_NAME_LEN: usize = 16;

/// Columns that are left out where all rows have the same in them; the last line has it.
const COMMON: [&str; 3] = ["chunks", "codec", "ratio"];

/// A column that was left out, and what is in all of its cells.
type Common = (&'static str, String);

/// One row.
#[derive(Clone, Debug)]
struct ListingLine {
    number: String,
    name: String,
    count: usize,
    dtype: String,
    shape: String,
    chunks: String,
    codec: String,
    elements: Option<u64>,
    stored: Option<u64>,
    logical: Option<u64>,
    axes: String,
    units: String,
    long_name: String,
}

impl ListingLine {
    fn for_dataset(dataset: &Dataset, stored: &Stored, is_numbered: bool) -> ListingLine {
        let chunks = match stored.chunk_count {
            _ if !dataset.has_shape => String::new(),
            0 | 1 => "one".to_owned(),
            _ => dataset.grid.chunk_shape().to_string(),
        };
        let elements = dataset.grid.shape().element_count().filter(|_| dataset.has_shape);
        let is_nameless = dataset.name.is_empty();
        ListingLine {
            number: if is_numbered { format!("#{}", dataset.index) } else { String::new() },
            name: if is_nameless { "\"\"".to_owned() } else { dataset.name.clone() },
            count: 1,
            // Its members are printed below.
            dtype: shown_dtype(dataset).to_owned(),
            shape: dataset.shape_text(),
            chunks,
            codec: stored.codecs.join("+"),
            elements,
            stored: stored.stored_len,
            logical: stored.decoded_len,
            axes: metadata::axes(dataset),
            units: metadata::text_of(dataset, &["units"]),
            long_name: metadata::text_of(dataset, &["long_name", "standard_name"]),
        }
    }

    /// The row of a family, all of whose members have the same shape, type, chunks and codecs.
    fn of_family(rows: &[ListingLine], family: Family) -> Option<ListingLine> {
        let members = || family.members.iter().filter_map(|&at| rows.get(at));
        let sum = |len: fn(&ListingLine) -> Option<u64>| {
            members().try_fold(0_u64, |all, row| all.checked_add(len(row)?))
        };
        Some(ListingLine {
            name: family.name,
            count: family.members.len(),
            elements: sum(|row| row.elements),
            stored: sum(|row| row.stored),
            logical: sum(|row| row.logical),
            ..members().next()?.clone()
        })
    }

    fn cells(&self, has_counts: bool) -> [String; 13] {
        let size = |len: Option<u64>| len.map_or_else(|| "?".to_owned(), |len| Size(len).brief());
        let lens =
            Stored { stored_len: self.stored, decoded_len: self.logical, ..Stored::default() };
        [
            self.number.clone(),
            self.name.clone(),
            if has_counts { grouped(as_u64(self.count)) } else { String::new() },
            self.dtype.clone(),
            self.shape.clone(),
            self.chunks.clone(),
            self.codec.clone(),
            size(self.stored),
            size(self.logical),
            lens.ratio(),
            self.axes.clone(),
            self.units.clone(),
            self.long_name.clone(),
        ]
    }
}

/// Prints the table of datasets, and what they are together.
///
/// # Errors
///
/// Writing to standard output fails.
pub(super) fn write(
    datasets: &[Dataset],
    stored: &[Stored],
    args: &InfoArgs,
    format: Format,
    context: &mut Context<'_>,
) -> Result<()> {
    if datasets.is_empty() {
        return Ok(());
    }
    let is_numbered = needs_numbers(datasets);
    let each = datasets.iter().zip(stored);
    let rows: Vec<ListingLine> = each
        .map(|(dataset, stored)| ListingLine::for_dataset(dataset, stored, is_numbered))
        .collect();
    if let Some(depth) = args.depth {
        let what = if is_model(format) { "parameters" } else { "elements" };
        let summands = rows.iter().map(|row| Summand {
            name: &row.name,
            elements: row.elements,
            len: row.logical,
        });
        let sums = prefixes::sums(summands, depth.into(), args.sort);
        write_sums(&sums, what, context)?;
        return context.line(context.paint.faint(total(&rows, format, &[])));
    }
    let is_folded = args.fold || (ROWS_MAX < rows.len() && !args.no_fold);
    let mut shown = if is_folded && !is_numbered { folded(&rows) } else { rows.clone() };
    match args.sort {
        SortName::File => {}
        SortName::Name => shown.sort_by(|a, b| natural(&a.name, &b.name)),
        SortName::Size => shown.sort_by_key(|row| std::cmp::Reverse(row.logical)),
    }
    let has_counts = shown.len() < rows.len();
    context.line("")?;
    let common = write_rows(&shown, has_counts, context)?;
    if 1 < rows.len() {
        context.line(context.paint.faint(total(&rows, format, &common)))?;
    }
    if has_counts {
        let count = grouped(as_u64(shown.len()));
        let text = format!("  in {count} rows: names that differ in numbers; --no-fold lists each");
        context.line(context.paint.faint(text))?;
    }
    Ok(())
}

/// Prints a row for each prefix of names.
fn write_sums(sums: &[PrefixSum], what: &'static str, context: &mut Context<'_>) -> Result<()> {
    let right = |name| (name, Side::Right);
    let columns = [("name", Side::Left), right("count"), right(what), right("logical")];
    let mut table = Table::new(&columns);
    for sum in sums {
        let unknown = || "?".to_owned();
        let elements = sum.elements.map_or_else(unknown, grouped);
        let len = sum.len.map_or_else(unknown, |len| Size(len).brief());
        table.row([sum.name.clone(), grouped(sum.count), elements, len]);
    }
    context.line("")?;
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}

fn is_model(format: Format) -> bool {
    tet_convert::container(format).is_some_and(|it| it.holds_models())
}

/// Rows of families.
fn folded(rows: &[ListingLine]) -> Vec<ListingLine> {
    let facts = |row: &ListingLine| {
        let ListingLine { dtype, shape, chunks, codec, axes, units, long_name, .. } = row.clone();
        (dtype, shape, chunks, codec, axes, units, long_name)
    };
    let named: Vec<(&str, _)> = rows.iter().map(|row| (row.name.as_str(), facts(row))).collect();
    let families = family::families(&named).into_iter();
    families.filter_map(|family| ListingLine::of_family(rows, family)).collect()
}

/// Prints the rows, and returns what all of them have in common.
fn write_rows(
    rows: &[ListingLine],
    has_counts: bool,
    context: &mut Context<'_>,
) -> Result<Vec<Common>> {
    let cells: Vec<_> = rows.iter().map(|row| row.cells(has_counts)).collect();
    let mut table = Table::new(&COLUMNS);
    cells.iter().for_each(|cells| table.row(cells));
    let mut common = Vec::new();
    for column in COMMON {
        let at = COLUMNS.iter().position(|(name, _)| *name == column).unwrap_or_default();
        // A dataset that cannot be read may have none of these.
        let mut known = cells.iter().map(|cells| &cells[at]).filter(|cell| !cell.is_empty());
        let first = known.next().cloned().unwrap_or_default();
        if 1 < cells.len() && known.all(|cell| *cell == first) {
            table.remove(column);
            common.push((column, first));
        }
    }
    if 1 < rows.len() && rows.iter().all(|row| row.stored == row.logical) {
        table.remove("stored");
        table.remove("ratio");
    }
    if rows.iter().any(|row| !row.units.is_empty() || !row.long_name.is_empty()) {
        table.remove("ratio");
    }
    let width = context.table_width();
    // Axes and long names that do not fit are printed under their dataset.
    let mut storage = STORAGE.iter();
    while let Some(width) = width
        && !table.fits(width)
        && let Some(column) = storage.next()
    {
        table.remove(column);
    }
    if let Some(width) = width {
        table.shorten_last(width, LONG_NAME_LEN);
    }
    let is_wide = width.is_some_and(|width| !table.fits(width));
    if is_wide {
        table.remove("axes");
        table.remove("long_name");
    }
    if let Some(width) = width {
        table.fit(width, &OPTIONAL);
    }
    let paint = context.paint;
    for (at, line) in table.lines(None, Paint::Plain).iter().enumerate() {
        let Some(row) = at.checked_sub(1).and_then(|at| rows.get(at)) else {
            context.line(paint.faint(line))?;
            continue;
        };
        context.line(line)?;
        let axes = format!("axes {}", row.axes);
        let below = [(&row.axes, axes.as_str()), (&row.long_name, &row.long_name)];
        // Those of a coordinate are its own name.
        let is_new = |it: &str| !it.is_empty() && it != row.name;
        let below: Vec<&str> =
            below.into_iter().filter(|(it, _)| is_new(it)).map(|(_, text)| text).collect();
        if is_wide && !below.is_empty() {
            context.line(paint.faint(format!("    {}", Escaped(&below.join("; ")))))?;
        }
    }
    Ok(common)
}

/// Summary of all datasets.
fn total(rows: &[ListingLine], format: Format, common: &[Common]) -> String {
    let sum = |len: fn(&ListingLine) -> Option<u64>| {
        rows.iter().filter_map(len).fold(0, u64::saturating_add)
    };
    let elements = sum(|row| row.elements);
    let what = if is_model(format) { "parameter" } else { "element" };
    let (stored, logical) = (sum(|row| row.stored), sum(|row| row.logical));
    let is_known = rows.iter().all(|row| row.stored.is_some());
    let size = match !is_known || stored == logical {
        true => Size(logical).to_string(),
        false => format!("{} in {}", Size(logical), Size(stored)),
    };
    let unknown = as_u64(rows.iter().filter(|row| row.elements.is_none()).count());
    let mut facts = vec![format!("{}{}", counted(elements, what), rounded(elements)), size];
    if 0 < unknown {
        facts.push(format!("without {} of unknown size", counted(unknown, "dataset")));
    }
    facts.extend(common.iter().filter_map(|(column, cell)| match (*column, cell.as_str()) {
        (_, "") | ("ratio", _) => None,
        ("chunks", "one") => Some("one chunk each".to_owned()),
        ("chunks", shape) => Some(format!("chunks {shape}")),
        (_, codec) => Some(format!("codec {codec}")),
    }));
    format!("  total: {}", facts.join(", "))
}

/// A large number in words: ` (1.07 billion)`.
fn rounded(count: u64) -> String {
    let units = [(12, "trillion"), (9, "billion"), (6, "million")];
    let Some((power, word)) = units.into_iter().find(|(power, _)| 10_u64.pow(*power) <= count)
    else {
        return String::new();
    };
    let hundredths = count / 10_u64.pow(power - 2);
    format!(" ({}.{:02} {word})", grouped(hundredths / 100), hundredths % 100)
}

/// Whether positions are printed because names are empty or not unique.
fn needs_numbers(datasets: &[Dataset]) -> bool {
    let mut names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
        || names.iter().any(|name| name.is_empty() || name.chars().any(crate::escape::acts))
}

/// The order of names in which numbers within them count: `layer2` before `layer10`.
fn natural(a: &str, b: &str) -> Ordering {
    let pieces = |name: &str| -> Vec<(String, u128)> {
        let mut pieces = vec![(String::new(), 0_u128)];
        let mut is_number = false;
        for c in name.chars() {
            let digit = c.to_digit(10).map(u128::from);
            if is_number && digit.is_none() {
                pieces.push((String::new(), 0));
            }
            is_number = digit.is_some();
            let Some((text, number)) = pieces.last_mut() else { continue };
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(digit),
                None => text.push(c),
            }
        }
        pieces
    };
    pieces(a).cmp(&pieces(b)).then_with(|| a.cmp(b))
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_sorted_by_value() {
        let mut names = ["h10", "h2", "h1.10", "h1.9", "a", "h02", ""];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "a", "h1.9", "h1.10", "h02", "h2", "h10"]);
    }

    #[test]
    fn large_numbers_are_rounded_down() {
        for (count, wanted) in [
            (999_999, ""),
            (1_000_000, " (1.00 million)"),
            (1_079_999_999, " (1.07 billion)"),
            (u64::MAX, " (18,446,744.07 trillion)"),
        ] {
            assert_eq!(rounded(count), wanted);
        }
    }
}
