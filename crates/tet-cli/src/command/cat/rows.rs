//! Columns as a table of rows: datasets of one axis along the same one, and members of structures.

use std::ops::Range;

use tet_query::{Catalog, Dataset, Error, Execution, Integrity};

use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::number::Number;
use crate::target::{self, Target};

/// As many rows are printed whole.
const ROWS_MAX: u64 = 40;
/// Rows at each end of a longer table.
const EDGE: u64 = 10;
/// Values of a row of one column that are printed.
const CELL_MAX: u64 = 16;

/// The columns that a text names: the members of a structure, or all datasets of a file of columns; `None` where it
/// names something else.
///
/// # Errors
///
/// The slice does not fit a column.
pub(super) fn columns<'c>(
    catalog: &'c Catalog,
    asked: Option<&str>,
    select: Option<&str>,
    how: &Execution,
) -> Result<Option<Vec<Target<'c>>>> {
    let (name, bracket) = target::split(asked.unwrap_or_default(), |name| catalog.has(name));
    let datasets: Vec<&Dataset> = match name {
        "" => catalog.datasets().iter().collect(),
        name => catalog.matching(name)?,
    };
    let columns: Vec<&Dataset> = match datasets[..] {
        [structure] => members(catalog, structure),
        _ if name.is_empty() && are_along_one_axis(&datasets) => datasets,
        _ => return Ok(None),
    };
    if columns.is_empty() || (bracket.is_some() && select.is_some()) {
        return Ok(None);
    }
    let slice = bracket.or(select);
    let target = |dataset| target::resolve(catalog, dataset, slice, how);
    columns.into_iter().map(target).collect::<Result<Vec<_>>>().map(Some)
}

/// Whether a text names a structure, or the only dataset of the file is one.
///
/// # Errors
///
/// No dataset has the name.
pub(super) fn is_structure(catalog: &Catalog, asked: Option<&str>) -> Result<bool> {
    let (name, _) = target::split(asked.unwrap_or_default(), |name| catalog.has(name));
    let datasets: Vec<&Dataset> = match name {
        "" => catalog.datasets().iter().collect(),
        name => catalog.matching(name)?,
    };
    Ok(matches!(datasets[..], [structure] if !members(catalog, structure).is_empty()))
}

/// The members of a structure; none of another dataset.
fn members<'c>(catalog: &'c Catalog, dataset: &Dataset) -> Vec<&'c Dataset> {
    let Some(Error::Compound { members, .. }) = dataset.why() else { return Vec::new() };
    members.iter().filter_map(|name| catalog.find(name).ok()).collect()
}

/// Whether datasets are the columns of one table.
fn are_along_one_axis(datasets: &[&Dataset]) -> bool {
    let axis = |dataset: &Dataset| match &dataset.dims[..] {
        [name] if !name.is_empty() => Some((name.clone(), dataset.shape().to_vec())),
        _ => None,
    };
    let Some((first, rest)) = datasets.split_first() else { return false };
    let first = axis(first);
    first.is_some() && rest.iter().all(|dataset| axis(dataset) == first)
}

/// Whether selections are the columns of one table: several along one axis, or members of one structure.
pub(super) fn are_columns(targets: &[Target<'_>]) -> bool {
    let rows = |target: &Target<'_>| target.slab.kept_shape().first().copied();
    let has_rows = |it: &Target<'_>| rows(it).is_some() && rows(it) == rows(&targets[0]);
    if targets.len() < 2 || !targets.iter().all(has_rows) {
        return false;
    }
    let datasets: Vec<&Dataset> = targets.iter().map(|target| &*target.dataset).collect();
    let are_of = |structure: &Dataset| match structure.why() {
        Some(Error::Compound { members, .. }) => {
            datasets.iter().all(|dataset| members.contains(&dataset.name))
        }
        _ => false,
    };
    are_along_one_axis(&datasets) || targets[0].catalog.datasets().iter().any(are_of)
}

/// A column: its name and the texts of its shown rows.
struct Column {
    name: String,
    cells: Vec<String>,
    is_text: bool,
}

/// Prints columns as a table. Returns the integrity, if any bytes were read.
pub(super) fn print(
    targets: &[Target<'_>],
    how: &Execution,
    is_full: bool,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let count = targets.first().and_then(|it| it.slab.kept_shape().first().copied()).unwrap_or(0);
    let ranges: Vec<_> = match count {
        count if is_full || count <= ROWS_MAX => std::iter::once(0..count).collect(),
        count => vec![0..EDGE, count - EDGE..count],
    };
    let (mut columns, mut integrity) = (Vec::new(), None);
    for target in targets {
        if let Some(why) = target.dataset.why() {
            context.warn(format!("{:?} is left out: {why}", target.dataset.name));
            continue;
        }
        let mut column = Column {
            name: Escaped(&target.dataset.name).to_string(),
            cells: Vec::new(),
            is_text: target.dataset.is_text(),
        };
        for range in &ranges {
            let of_column = cells(target, range.clone(), how, &mut column.cells)?;
            integrity = [integrity, Some(of_column)].into_iter().flatten().reduce(Integrity::and);
        }
        columns.push(column);
    }
    let width = if is_full { usize::MAX } else { context.env().width };
    let shown = fitting(&columns, width);
    let gap = (ranges.len() > 1).then_some(EDGE);
    write_table(&columns[..shown], gap, context)?;
    let rows: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let more = [(count - rows, "row"), ((columns.len() - shown) as u64, "column")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more = more.map(|(count, what)| crate::size::counted(count, &format!("more {what}")));
    let more: Vec<String> = more.collect();
    if !more.is_empty() {
        let line = format!("  ... {} (use --full, or `tet convert`)", more.join(", "));
        context.line(context.paint.faint(line))?;
    }
    Ok(integrity)
}

/// Adds the texts of some rows of a column.
fn cells(
    target: &Target<'_>,
    rows: Range<u64>,
    how: &Execution,
    out: &mut Vec<String>,
) -> Result<Integrity> {
    let shape = target.slab.kept_shape();
    let inner: u64 = shape.iter().skip(1).copied().fold(1, u64::saturating_mul);
    let all = shape.iter().skip(1).map(|&extent| 0..extent);
    let parts = std::iter::once(rows.clone()).chain(all).collect::<Vec<_>>();
    let slab = target.slab.part(&parts);
    if target.dataset.is_text() {
        let read = target.dataset.read_texts(&slab, how)?;
        let texts = read.value.iter().map(|text| Escaped(text).to_string());
        push(out, inner, texts.collect());
        return Ok(read.integrity);
    }
    let read = target.dataset.read(&slab, how)?;
    let numbers = (0..read.value.len()).filter_map(|at| read.value.get(at));
    push(out, inner, numbers.map(|number| Number::from(number).shortest()).collect());
    Ok(read.integrity)
}

/// Adds values as cells of `inner` values each.
fn push(out: &mut Vec<String>, inner: u64, values: Vec<String>) {
    if inner == 1 {
        return out.extend(values);
    }
    let inner = usize::try_from(inner).unwrap_or(usize::MAX).max(1);
    let shown = inner.min(CELL_MAX as usize);
    let more = if shown < inner { " ..." } else { "" };
    out.extend(values.chunks(inner).map(|row| format!("[{}{more}]", row[..shown].join(" "))));
}

/// The number of columns that a line has room for, one at least.
fn fitting(columns: &[Column], width: usize) -> usize {
    let ends = columns.iter().scan(0_usize, |end, column| {
        *end = end.saturating_add(2 + width_of(column));
        Some(*end)
    });
    ends.take_while(|&end| end <= width).count().max(1).min(columns.len())
}

fn width_of(column: &Column) -> usize {
    let texts = column.cells.iter().chain([&column.name]);
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Prints the lines of a table; rows are left out after those that `gap` counts.
fn write_table(columns: &[Column], gap: Option<u64>, context: &mut Context<'_>) -> Result<()> {
    let widths: Vec<usize> = columns.iter().map(width_of).collect();
    let line = |cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().zip(&widths).map(|(column, &width)| match column.is_text {
            true => format!("  {:<width$}", cell(column)),
            false => format!("  {:>width$}", cell(column)),
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    let head = line(&|column| column.name.clone());
    context.line(context.paint.strong(head))?;
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        if gap.is_some_and(|gap| usize::try_from(gap) == Ok(row)) {
            context.line("  ...")?;
        }
        context.line(line(&|column| column.cells.get(row).cloned().unwrap_or_default()))?;
    }
    Ok(())
}
