//! An answer, told: one value, a row of values with labels, an array.

use std::ops::Range;

use tet_query::document::Resolved;
use tet_query::{Catalog, CatalogLabels, Cells, Execution, NanPolicy, Reduced};

use crate::context::Context;
use crate::corner::Corner;
use crate::escape::Escaped;
use crate::exit::{Failure, Result};
use crate::part;
use crate::picture;
use crate::render::json::{AnswerShape, ValuesShape};
use crate::render::layout;
use crate::render::number::Number;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};
use crate::target::Target;

/// Columns of the longest bar beside a row of values.
const BAR_MAX: usize = 24;

/// An answer and the names of its axes.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The reduction, or `values`.
    op: &'static str,
    /// The dataset's name.
    name: String,
    unit: String,
    /// The axes that were folded away, by name.
    over: Vec<String>,
    axes: Vec<usize>,
    dims: Vec<String>,
    shape: Vec<u64>,
    /// What the axes of the result are called: by name, else by number in the dataset.
    axis_names: Vec<String>,
    /// The labels of the axes of the result; empty without labels.
    labels: Vec<Vec<String>>,
    dtype: String,
    values: Vec<Number>,
    truncated: bool,
    corner: Option<Corner>,
    count: u64,
    nan_count: Option<u64>,
    nan: NanPolicy,
}

impl Answer {
    /// The answer of a reduction.
    pub(crate) fn of_reduced(
        catalog: &Catalog,
        resolved: &Resolved<'_>,
        reduced: Reduced,
        nan: NanPolicy,
    ) -> Answer {
        let dataset = resolved.dataset;
        let slices = resolved.slab.axes();
        let rank = slices.len();
        let kept: Vec<usize> = (0..rank)
            .filter(|axis| !reduced.axes.contains(axis) && slices[*axis].is_kept())
            .collect();
        let folded = reduced.axes.iter().copied().filter(|&axis| slices[axis].is_kept());
        let dtype = match &reduced.values.cells {
            Cells::Count(_) => "uint64".to_owned(),
            Cells::Int(_) => "int128".to_owned(),
            Cells::Float(_) => "float64".to_owned(),
            Cells::Element(array) => array.dtype().name().to_owned(),
        };
        let values = (0..reduced.values.len()).filter_map(|at| reduced.values.get(at));
        Answer {
            op: reduced.op.name(),
            name: dataset.name.clone(),
            unit: if reduced.op == tet_query::Op::Count {
                String::new()
            } else {
                picture::unit(dataset)
            },
            over: folded.map(|axis| axis_name(&dataset.dims, axis)).collect(),
            dims: dims_of(&dataset.dims, &kept),
            axis_names: kept.iter().map(|&axis| axis_name(&dataset.dims, axis)).collect(),
            labels: labels_of(catalog, resolved, &kept),
            dtype,
            values: values.map(Number::from).collect(),
            truncated: false,
            corner: None,
            count: reduced.count,
            nan_count: reduced.nan_count,
            nan,
            axes: reduced.axes,
            shape: reduced.shape,
        }
    }

    /// The first of the selected values.
    pub(crate) fn of_values(
        catalog: &Catalog,
        resolved: &Resolved<'_>,
        how: &Execution,
        preview: u64,
        nan: NanPolicy,
    ) -> Result<Answer> {
        let (dataset, slab) = (resolved.dataset, &resolved.slab);
        let kept: Vec<usize> =
            (0..slab.axes().len()).filter(|&axis| slab.axes()[axis].is_kept()).collect();
        let shape = slab.kept_shape().to_vec();
        let count = slab.element_count().unwrap_or(u64::MAX);
        let first = part::part(slab, dataset.shape(), &leading(&shape, preview));
        let first = first.ok_or_else(|| Failure::usage("selection", "no such part"))?;
        let mut values = Vec::new();
        if preview > 0 && !first.is_empty() {
            let array = catalog.read(dataset, &first, how)?;
            let shown = array.len().min(usize::try_from(preview).unwrap_or(usize::MAX));
            values.extend((0..shown).filter_map(|at| array.get(at)).map(Number::from));
        }
        let target = Target { dataset, slab: slab.clone() };
        let corner = Corner::read(catalog, &target, how, false)?;
        Ok(Answer {
            op: "values",
            name: dataset.name.clone(),
            unit: picture::unit(dataset),
            over: Vec::new(),
            axes: Vec::new(),
            dims: dims_of(&dataset.dims, &kept),
            axis_names: kept.iter().map(|&axis| axis_name(&dataset.dims, axis)).collect(),
            labels: labels_of(catalog, resolved, &kept),
            dtype: dataset.dtype_name.clone(),
            truncated: u64::try_from(values.len()).unwrap_or(u64::MAX) < count,
            values,
            corner: Some(corner),
            count,
            nan_count: None,
            nan,
            shape,
        })
    }

    /// The answer for programs.
    pub(crate) fn into_shape(self) -> AnswerShape {
        let values = match (self.shape.is_empty(), self.values.first()) {
            (true, Some(value)) => ValuesShape::One(*value),
            _ => ValuesShape::Many(self.values),
        };
        AnswerShape {
            op: self.op,
            axes: self.axes,
            dims: self.dims,
            shape: self.shape,
            dtype: self.dtype,
            values,
            truncated: self.truncated,
            count: self.count,
            nan_count: self.nan_count,
            nan: match self.nan {
                NanPolicy::Propagate => "propagate",
                NanPolicy::Skip => "skip",
            },
        }
    }

    /// All values on one line, full precision.
    pub(crate) fn one_line(&self) -> String {
        self.values.iter().map(|value| value.shortest()).collect::<Vec<_>>().join(" ")
    }

    /// One line a value, with its labels or positions.
    pub(crate) fn write_table(&self, context: &mut Context<'_>) -> Result<()> {
        let names = &self.axis_names;
        context.line(
            names.iter().map(String::as_str).chain([self.op]).collect::<Vec<_>>().join("\t"),
        )?;
        for (at, value) in self.values.iter().enumerate() {
            let mut line = String::new();
            for (axis, position) in self.position(at).into_iter().enumerate() {
                line.push_str(&self.label(axis, position));
                line.push('\t');
            }
            context.line(line + &value.shortest())?;
        }
        if self.truncated {
            context.warn("not all values are shown: raise --preview, or save them with `tet cat`");
        }
        Ok(())
    }

    /// A short report.
    pub(crate) fn write_text(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let paint = context.paint;
        let unit =
            if self.unit.is_empty() { String::new() } else { format!(" {}", Escaped(&self.unit)) };
        match (&self.corner, &self.values[..], self.shape.len()) {
            (Some(corner), ..) => {
                let shape = tet_format::Shape::from(self.shape.clone());
                let title = format!("{} {} {shape}{unit}", Escaped(&self.name), self.dtype);
                context.line(paint.strong(title))?;
                let text = corner.lay_out(context.world().width.min(100));
                return context.line(text);
            }
            (None, [value], 0) => {
                let title = format!("{} of {}", self.op, Escaped(&self.name));
                context.line(format!("{title} = {}{unit}", paint.strong(value)))?;
            }
            (None, _, 1) => self.write_row(context, preview)?,
            (None, ..) => self.write_array(context)?,
        }
        self.write_count(context)
    }

    fn title(&self) -> String {
        let over = if self.over.is_empty() {
            String::new()
        } else {
            format!(" over {}", self.over.join(", "))
        };
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" ({})", Escaped(&self.unit))
        };
        format!("{} of {}{over}{unit}", self.op, Escaped(&self.name))
    }

    /// A result of one axis: a line a value, with a bar.
    fn write_row(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let paint = context.paint;
        context.line(paint.strong(self.title()))?;
        let shown = self.values.len().min(usize::try_from(preview).unwrap_or(usize::MAX));
        let values = &self.values[..shown];
        let texts = layout::column(values);
        let columns = [("", Side::Right), ("", Side::Right), ("", Side::Left)];
        let mut table = Table::new(&columns);
        let bars = Bars::over(values);
        for (at, (text, value)) in texts.iter().zip(values).enumerate() {
            let label = self.label(0, u64::try_from(at).unwrap_or(u64::MAX));
            table.row([label, text.trim_end().to_owned(), bars.bar(*value)]);
        }
        for line in table.lines(None, paint) {
            context.line(line)?;
        }
        if let Some(more) = self.values.len().checked_sub(shown).filter(|&more| more > 0) {
            let more = counted(u64::try_from(more).unwrap_or(u64::MAX), "more value");
            context.line(paint.faint(format!("  ... {more}: --preview N shows N of them")))?;
        }
        Ok(())
    }

    fn write_array(&self, context: &mut Context<'_>) -> Result<()> {
        let paint = context.paint;
        let names = self.axis_names.join(", ");
        let shape = tet_format::Shape::from(self.shape.clone());
        context.line(paint.strong(format!("{}, by {names} {shape}", self.title())))?;
        let text = layout::lay_out_all(&self.shape, &self.values, context.world().width.min(100));
        context.line(text)
    }

    fn write_count(&self, context: &mut Context<'_>) -> Result<()> {
        let nan = match (self.nan_count, self.nan) {
            (None | Some(0), _) => String::new(),
            (Some(count), NanPolicy::Skip) => format!(", {} NaN left out", grouped(count)),
            (Some(count), NanPolicy::Propagate) => {
                format!(", {} of them NaN (--nan skip leaves them out)", grouped(count))
            }
        };
        let line = format!("  {}{nan}", counted(self.count, "element"));
        context.line(context.paint.faint(line))
    }

    /// The label of a position of the result, or the position.
    fn label(&self, axis: usize, position: u64) -> String {
        let labels = self.labels.get(axis);
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        match labels.and_then(|labels| labels.get(at)) {
            Some(label) => Escaped(label).to_string(),
            None => position.to_string(),
        }
    }

    fn position(&self, at: usize) -> Vec<u64> {
        let mut rest = u64::try_from(at).unwrap_or(u64::MAX);
        let mut position: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|&extent| {
                let here = rest % extent.max(1);
                rest /= extent.max(1);
                here
            })
            .collect();
        position.reverse();
        position
    }
}

/// Bars from the smallest to the largest value.
struct Bars {
    low: f64,
    high: f64,
}

impl Bars {
    fn over(values: &[Number]) -> Bars {
        let finite = || values.iter().map(|value| value.to_f64()).filter(|value| value.is_finite());
        // Counts and the like grow from zero; what goes below has its own floor.
        let low = finite().fold(0.0, f64::min);
        Bars { low, high: finite().fold(low, f64::max) }
    }

    fn bar(&self, value: Number) -> String {
        let part = (value.to_f64() - self.low) / (self.high - self.low);
        let columns = layout::columns(part, BAR_MAX);
        "#".repeat(columns)
    }
}

fn axis_name(dims: &[String], axis: usize) -> String {
    dims.get(axis).map_or_else(|| format!("axis {axis}"), |name| Escaped(name).to_string())
}

fn dims_of(dims: &[String], kept: &[usize]) -> Vec<String> {
    kept.iter().filter_map(|&axis| dims.get(axis).cloned()).collect()
}

fn labels_of(catalog: &Catalog, resolved: &Resolved<'_>, kept: &[usize]) -> Vec<Vec<String>> {
    let labels = CatalogLabels::new(catalog, resolved.dataset);
    let slices = resolved.slab.axes();
    kept.iter().map(|&axis| picture::axis_labels(&labels, axis, &slices[axis])).collect()
}

/// The ranges of the kept axes that hold the first `count` values, and few more.
fn leading(shape: &[u64], count: u64) -> Vec<Range<u64>> {
    let mut alone = true;
    let mut ranges = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let inner = shape[axis + 1..].iter().fold(1_u64, |all, &more| all.saturating_mul(more));
        let wanted = count.div_ceil(inner.max(1)).clamp(1, extent.max(1));
        let taken = if alone { wanted.min(extent) } else { extent };
        alone = alone && taken == 1;
        ranges.push(0..taken);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_part_holds_the_first_values_and_few_more() {
        let cases: [(&[u64], u64, &[u64]); 8] = [
            (&[100], 64, &[64]),
            (&[10], 64, &[10]),
            (&[5, 100], 64, &[1, 64]),
            (&[5, 10], 64, &[5, 10]),
            (&[9, 10, 10], 150, &[2, 10, 10]),
            (&[9, 10, 10], 15, &[1, 2, 10]),
            (&[0, 4], 64, &[0, 4]),
            (&[], 64, &[]),
        ];
        for (shape, count, ends) in cases {
            let ranges = leading(shape, count);
            assert!(ranges.iter().all(|range| range.start == 0));
            let found: Vec<u64> = ranges.iter().map(|range| range.end).collect();
            assert_eq!(found, ends, "{shape:?} {count}");
        }
    }
}
