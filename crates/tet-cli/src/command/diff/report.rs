//! Differences as text.

use std::fmt::Display;

use tet_format::Shape;

use crate::args::DiffSort;
use crate::command::info::text;
use crate::context::Context;
use crate::escape::{Escaped, Message};
use crate::exit::Result;
use crate::render::json::{
    Attr, ChangeShape, DatasetDiffShape, DiffReport, DifferingAttr, DifferingLabels,
    DifferingPlace, DifferingValue, ElementDiffShape, NotCompared,
};
use crate::render::number::Number;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};

/// Bytes of a block that are shown.
const BYTES_SHOWN: usize = 16;

/// Prints what differs, and how much of the files it is; a file that equals the other takes a note alone.
pub(super) fn write(
    report: &DiffReport,
    sort: Option<DiffSort>,
    context: &mut Context<'_>,
) -> Result<()> {
    let is_sorted = sort.is_some();
    for (names, file) in report.only.iter().zip(&report.files) {
        for name in names {
            context.line(format!("only in {}: {}", Escaped(file), Escaped(name)))?;
        }
    }
    for attr in &report.attrs {
        context.line(format!("the file: {}", of_attr(attr)))?;
    }
    let is_row = |it: &&DatasetDiffShape| is_sorted && is_measured(it);
    let (rows, rest): (Vec<_>, Vec<_>) = report.datasets.iter().partition(is_row);
    write_changes(&rows, context)?;
    rest.into_iter().try_for_each(|dataset| write_dataset(dataset, context))?;
    write_not_compared(&report.not_compared, context)?;
    let unread = match report.not_compared.len() as u64 {
        _ if !report.values_compared => "; values were not compared".to_owned(),
        0 => String::new(),
        count => format!("; values of {} were not compared", grouped(count)),
    };
    let datasets = counted(report.compared, "shared dataset");
    if report.same != Some(false) {
        context.note(format!("no differences: {datasets}{unread}"));
        return Ok(());
    }
    if report.compared == 0 {
        return context.line("the files share no dataset");
    }
    let verb = if report.datasets.len() == 1 { "differs" } else { "differ" };
    let differing = grouped(report.datasets.len() as u64);
    context.line(format!("{differing} of {datasets} {verb}{unread}"))
}

/// Whether only values of two datasets differ, by as much as is measured.
fn is_measured(dataset: &DatasetDiffShape) -> bool {
    let DatasetDiffShape { dtype, shape, dims, labels, attrs, values, why, .. } = dataset;
    let is_metadata = dtype.is_some() || shape.is_some() || dims.is_some();
    let is_more = !labels.is_empty() || !attrs.is_empty() || why.is_some();
    !is_metadata && !is_more && values.as_ref().is_some_and(|it| it.change.is_some())
}

/// Prints datasets of which only values differ, a row each.
fn write_changes(datasets: &[&DatasetDiffShape], context: &mut Context<'_>) -> Result<()> {
    let right = ["relative L2", "rms", "cosine", "differ", "not finite"];
    let columns = right.map(|name| (name, Side::Right)).into_iter();
    let columns: Vec<_> = columns.chain([("dataset", Side::Left)]).collect();
    let mut table = Table::new(&columns);
    let brief = |number: Option<Number>| number.map_or("-".to_owned(), Number::brief);
    for dataset in datasets {
        let Some(values) = &dataset.values else { continue };
        let Some(change) = &values.change else { continue };
        let other = dataset.other.as_ref().map(|name| format!(" -> {name}")).unwrap_or_default();
        table.row([
            brief(change.relative_l2),
            brief(change.rms),
            brief(change.cosine),
            grouped(values.differing),
            Some(change.unmeasured).filter(|&count| count > 0).map(grouped).unwrap_or_default(),
            format!("{}{other}", dataset.name),
        ]);
    }
    if table.is_empty() {
        return Ok(());
    }
    table.lines(context.table_width(), context.paint).iter().try_for_each(|line| context.line(line))
}

/// Prints why values of datasets were not compared, once for those of one reason.
fn write_not_compared(datasets: &[NotCompared], context: &mut Context<'_>) -> Result<()> {
    let line = |it: &NotCompared| format!("{:?}: not compared: {}", it.name, reason(it));
    for line in crate::warning::aggregated(datasets.iter().map(line)) {
        context.line(Message(&line))?;
    }
    Ok(())
}

/// The reason without the name of the dataset, where it begins with that.
fn reason(dataset: &NotCompared) -> &str {
    let why = dataset.why.as_str();
    let named = why.strip_prefix(&format!("dataset {:?}", dataset.name));
    named.map_or(why, |why| why.trim_start_matches([':', ' ']))
}

fn write_dataset(dataset: &DatasetDiffShape, context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    let other = dataset.other.as_ref().map(|name| format!(" -> {}", Escaped(name)));
    let other = other.unwrap_or_default();
    context.line(format!("{}{other}", paint.strong(Escaped(&dataset.name))))?;
    let mut lines = Vec::new();
    if let Some(dtypes) = &dataset.dtype {
        lines.push(changed("dtype", dtypes.each_ref().map(|dtype| Escaped(dtype))));
    }
    if let Some(shapes) = &dataset.shape {
        lines.push(changed("shape", shapes.clone().map(Shape::from)));
    }
    if let Some(dims) = &dataset.dims {
        let joined = dims.each_ref().map(|dims| match &dims[..] {
            [] => "none".to_owned(),
            dims => Escaped(&dims.join(", ")).to_string(),
        });
        lines.push(changed("axes", joined));
    }
    lines.extend(dataset.labels.iter().map(of_labels));
    lines.extend(dataset.attrs.iter().map(of_attr));
    lines.extend(dataset.values.iter().flat_map(of_values));
    let why = dataset.why.as_ref();
    lines.extend(why.map(|why| format!("values were not compared: {}", Message(why))));
    lines.iter().try_for_each(|line| context.line(format!("  {line}")))
}

fn changed(what: &str, [left, right]: [impl Display; 2]) -> String {
    format!("{what}: {left} -> {right}")
}

fn of_attr(attr: &DifferingAttr) -> String {
    let shown = attr.values.each_ref().map(|value| match value {
        None => "none".to_owned(),
        Some(value @ Attr::Text(_)) => quoted(&text(value)),
        Some(value) => Escaped(&text(value)).to_string(),
    });
    changed(&format!("attribute {}", Escaped(&attr.name)), shown)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", Escaped(text))
}

fn of_labels(found: &DifferingLabels) -> String {
    let number = || format!("axis {}", found.axis);
    let axis = found.dim.as_ref().map_or_else(number, |dim| Escaped(dim).to_string());
    let Some(position) = found.position else {
        return format!("labels of {axis}: only one of the files has them");
    };
    let label = |label: &Option<String>| label.as_ref().map_or("none".to_owned(), |it| quoted(it));
    changed(&format!("labels of {axis}, first at {position}"), found.labels.each_ref().map(label))
}

fn of_values(found: &ElementDiffShape) -> Vec<String> {
    let (differing, count) = (grouped(found.differing), counted(found.count, "value"));
    let verb = if found.differing == 1 { "differs" } else { "differ" };
    let mut head = match &found.block {
        Some(block) if block.count != 1 => {
            let blocks = counted(found.count / block.count.max(1), "block");
            format!("{differing} of {blocks} of {} values {verb}, by their bytes", block.count)
        }
        Some(_) => format!("{differing} of {count} {verb}, by their bytes"),
        None => format!("{differing} of {count} {verb}"),
    };
    if found.nan_count > 0 {
        head.push_str(&format!(", {} by NaN", grouped(found.nan_count)));
    }
    if let (Some(abs), Some(rel)) = (found.max_abs, found.max_rel) {
        head.push_str(&format!("; by at most {}, relative {}", abs.brief(), rel.brief()));
    }
    let first = found.first.as_ref();
    let is_first =
        |worst: &&DifferingPlace| first.is_some_and(|first| first.position == worst.position);
    let worst = found.worst.as_ref().filter(|worst| !is_first(worst));
    let places = [("first", first), ("worst", worst)].into_iter();
    let lines = places.filter_map(|(what, place)| Some((what, place?)));
    let lines = lines.map(|(what, place)| format!("  {what} at {}", of_place(place)));
    let unread = (found.skipped > 0 && found.block.is_none() && found.max_abs.is_some()).then(|| {
        let skipped = counted(found.skipped, "value");
        format!("  not measured: {skipped} of equal checksums were not read; --sort change reads them")
    });
    let change = found.change.as_ref().map(of_change).unwrap_or_default();
    std::iter::once(head).chain(change).chain(unread).chain(lines).collect()
}

/// How far all values are apart.
fn of_change(found: &ChangeShape) -> Vec<String> {
    let figures =
        [("rms", &found.rms), ("relative L2", &found.relative_l2), ("cosine", &found.cosine)];
    let shown =
        |(name, value): (&str, &Option<Number>)| Some(format!("{name} {}", (*value)?.brief()));
    let figures: Vec<String> = figures.into_iter().filter_map(shown).collect();
    let figures = (!figures.is_empty()).then(|| format!("  {}", figures.join(", ")));
    let unmeasured = (found.unmeasured > 0).then(|| {
        let pairs = counted(found.unmeasured, "differing pair");
        format!("  not measured: {pairs} of NaN, infinity or missing values")
    });
    figures.into_iter().chain(unmeasured).collect()
}

/// The first of many digits of bytes.
fn shortened(digits: &str) -> String {
    match digits.get(..BYTES_SHOWN * 2) {
        Some(first) if first.len() < digits.len() => format!("0x{first}..."),
        _ => format!("0x{digits}"),
    }
}

fn of_place(place: &DifferingPlace) -> String {
    let position: Vec<String> = place.position.iter().map(u64::to_string).collect();
    let label = |(dim, label): (&String, &String)| format!("{}={}", Escaped(dim), quoted(label));
    let labels: Vec<String> = place.labels.iter().map(label).collect();
    let labels = match &labels[..] {
        [] => String::new(),
        labels => format!(" ({})", labels.join(", ")),
    };
    let value = |value: &DifferingValue| match value {
        DifferingValue::Number(number) => number.shortest(),
        DifferingValue::Text(text) => quoted(text),
        DifferingValue::Bytes { bytes } => shortened(bytes),
    };
    let [left, right] = place.values.each_ref().map(value);
    format!("[{}]{labels}: {left} -> {right}", position.join(", "))
}
