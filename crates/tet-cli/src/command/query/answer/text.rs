//! Prints an answer as a short report: one value, a table with bars, or an array.

use tet_query::NanPolicy;

use super::{Answer, Histogram, Places};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::layout;
use crate::render::number::Number;
use crate::render::spark;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};

/// Operations whose result reports NaN itself, or does not depend on NaN.
const COUNTS: [&str; 7] =
    ["count", "nan_count", "inf_count", "null_count", "all_finite", "any_nan", "any_inf"];
/// The columns of the longest bar in a table of values.
const BAR_MAX: usize = 24;
/// Bars of values whose range is a smaller part of the largest do not start at zero.
const FLAT: f64 = 0.1;

impl Answer {
    /// Prints a short report; of a file that was written no more than the title if `preview` is 0.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn write_text(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        if let Some(alignment) = &self.extras.alignment {
            return super::align::write_text(&self.name, alignment, context);
        }
        if self.extras.preview.is_some() {
            return self.write_preview(context, preview);
        }
        let is_saved = self.extras.written.is_some() && preview == 0;
        match (self.values.get(0), &self.along[..]) {
            (Some(value), []) => self.write_value(value, context)?,
            _ if is_saved => self.write_title(context)?,
            (_, [_]) => self.write_row(context, preview)?,
            (_, [_, last]) if last.is_bins() => self.write_histograms(context, preview)?,
            _ => self.write_array(context, preview)?,
        }
        self.write_count(context)?;
        self.write_written(context)
    }

    fn write_written(&self, context: &mut Context<'_>) -> Result<()> {
        match &self.extras.written {
            Some(written) => {
                let line = format!("  {}", written.text());
                context.line(context.paint.faint(line))
            }
            None => Ok(()),
        }
    }

    fn write_value(&self, value: Number, context: &mut Context<'_>) -> Result<()> {
        let paint = context.paint;
        let title = format!("{} of {}", self.op, Escaped(&self.name));
        if matches!(value, Number::Null) {
            let why = match (self.count, self.chosen) {
                (0, _) => "no elements",
                (_, true) => "no element passes the filter",
                (_, false) => "no element counts: all are NaN or masked",
            };
            return context.line(format!("{title}: {why}"));
        }
        context.line(format!("{title} = {}{}", paint.strong(value), self.spaced_unit()))?;
        let at = self.extras.places.as_ref().map(|places| places.text(0)).unwrap_or_default();
        if at.is_empty() { Ok(()) } else { context.line(format!("  at {}", Escaped(&at))) }
    }

    /// Prints the shown part of an array, and the output file.
    fn write_preview(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let paint = context.paint;
        let shape = tet_format::Shape::from(self.shape.clone());
        let what = if self.op == "values" { String::new() } else { format!("{} of ", self.op) };
        let over = self.over_text();
        let name = Escaped(&self.name);
        let unit = self.spaced_unit();
        context.line(paint.strong(format!("{what}{name}{over} {} {shape}{unit}", self.dtype)))?;
        let is_saved = self.extras.written.is_some() && preview == 0;
        if let Some(preview) = self.extras.preview.as_ref().filter(|_| !is_saved) {
            let text = preview.lay_out(context.env().width.min(100));
            context.line(text)?;
            if let Some(more) = preview.more_line() {
                context.line(paint.faint(more))?;
            }
        }
        if let Some(count) = self.extras.zero_denominators.filter(|&count| count > 0) {
            let line = format!("  {} by zero: NaN", counted(count, "division"));
            context.line(paint.warning(line))?;
        }
        self.write_written(context)
    }

    fn spaced_unit(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", Escaped(&self.unit)) }
    }

    /// The reduced axes, if others remain.
    fn over_text(&self) -> String {
        let left = self.along.iter().any(|axis| axis.axis.is_some());
        if self.over.is_empty() || !left {
            String::new()
        } else {
            format!(" over {}", self.over.join(", "))
        }
    }

    fn title(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" ({})", Escaped(&self.unit))
        };
        self.title_without_unit() + &unit
    }

    pub(super) fn title_without_unit(&self) -> String {
        format!("{} of {}{}", self.op, Escaped(&self.name), self.over_text())
    }

    /// Prints a result with one axis: a line for each value, with a bar or a position.
    fn write_row(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let paint = context.paint;
        context.line(paint.strong(self.title()))?;
        let shown = self.values.len().min(usize::try_from(preview).unwrap_or(usize::MAX));
        let values = self.values.part(0..shown);
        let texts = layout::column(&values);
        let mut table =
            Table::new(&[("", Side::Right), ("", Side::Right), ("", Side::Left), ("", Side::Left)]);
        let bars = Bars::over(&values);
        for (at, (text, value)) in texts.iter().zip(&values).enumerate() {
            let position = u64::try_from(at).unwrap_or(u64::MAX);
            let label = self.along.first().map(|axis| axis.brief_label(position));
            let place = self.extras.places.as_ref().map(|places| places.text(at));
            let bar = if place.is_some() { String::new() } else { bars.bar(*value) };
            let label = label.unwrap_or_default();
            table.row([label, text.trim_end().to_owned(), bar, place.unwrap_or_default()]);
        }
        for line in table.lines(None, paint) {
            context.line(line)?;
        }
        self.write_more(shown, "more value", context)?;
        if bars.low > 0.0 && self.extras.places.is_none() {
            let line = format!("  bars start at {}", Number::F64(bars.low).brief());
            context.line(paint.faint(line))?;
        }
        match self.extras.histogram.as_ref().and_then(|histogram| histogram.outside(0)) {
            Some(outside) => context.line(format!("  {outside}")),
            None => Ok(()),
        }
    }

    fn write_more(&self, shown: usize, noun: &str, context: &mut Context<'_>) -> Result<()> {
        let all = match &self.extras.histogram {
            Some(histogram) if self.along.len() == 2 => histogram.below.len(),
            _ => self.values.len(),
        };
        let Some(more) = all.checked_sub(shown).filter(|&more| more > 0) else { return Ok(()) };
        let more = counted(u64::try_from(more).unwrap_or(u64::MAX), noun);
        let line = format!("  ... {more} (use --full, or -o FILE)");
        context.line(context.paint.faint(line))
    }

    /// Prints a histogram for each position of one axis, one on each line.
    fn write_histograms(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let (paint, Some(histogram)) = (context.paint, &self.extras.histogram) else {
            return self.write_array(context, preview);
        };
        context.line(paint.strong(self.title()))?;
        let bins = histogram.edge_count.saturating_sub(1).max(1);
        let mut table = Table::new(&[
            ("", Side::Right),
            ("from", Side::Right),
            ("", Side::Left),
            ("to", Side::Left),
            ("", Side::Left),
        ]);
        let cells = self.values.len().div_ceil(bins);
        let shown = usize::try_from(preview).unwrap_or(usize::MAX).min(cells);
        for cell in 0..shown {
            let counts = self.values.part(cell * bins..(cell + 1) * bins);
            let label = self.along.first().map(|axis| axis.label(u64::try_from(cell).unwrap_or(0)));
            let ends = histogram.ends(cell).map(|(low, high)| [low, high].map(Number::F64));
            let [low, high] = ends.map(|ends| ends.map(Number::brief)).unwrap_or_default();
            let counts: Vec<f64> = counts.iter().map(|count| count.to_f64()).collect();
            let outside = histogram.outside(cell).unwrap_or_default();
            table.row([label.unwrap_or_default(), low, spark::line(&counts), high, outside]);
        }
        for line in table.lines(None, paint) {
            context.line(line)?;
        }
        self.write_more(shown, "more line", context)
    }

    fn write_title(&self, context: &mut Context<'_>) -> Result<()> {
        let names: Vec<String> = self.along.iter().map(super::ResultAxis::name).collect();
        let shape = tet_format::Shape::from(self.shape.clone());
        let title = format!("{}, by {} {shape}", self.title(), names.join(", "));
        context.line(context.paint.strong(title))
    }

    fn write_array(&self, context: &mut Context<'_>, preview: u64) -> Result<()> {
        let paint = context.paint;
        self.write_title(context)?;
        let axes = layout::shown(&self.shape, preview == u64::MAX);
        let width = context.env().width.min(100);
        context.line(layout::lay_out_all(&axes, &self.shape, &self.values, width))?;
        let more = layout::more_line(&axes, &self.shape);
        more.map_or(Ok(()), |more| context.line(paint.faint(more)))
    }

    fn write_count(&self, context: &mut Context<'_>) -> Result<()> {
        let nan = match (self.nan_count, self.nan) {
            (None | Some(0), _) => String::new(),
            // The result reports NaN itself, or does not depend on NaN.
            _ if COUNTS.contains(&self.op) => String::new(),
            (Some(count), NanPolicy::Skip) if self.is_masked => {
                format!(", {} masked", grouped(count))
            }
            (Some(count), NanPolicy::Skip) => format!(", {} NaN ignored", grouped(count)),
            (Some(count), NanPolicy::Propagate) => {
                format!(", {} of them NaN (--nan skip ignores them)", grouped(count))
            }
        };
        let chosen = if self.chosen { ", before the filter" } else { "" };
        let line = format!("  {}{chosen}{nan}", counted(self.count, "element"));
        context.line(context.paint.faint(line))
    }
}

impl Histogram {
    /// The number of elements of a cell outside of all bins; `None` if there are none.
    fn outside(&self, cell: usize) -> Option<String> {
        let at = |counts: &[u64]| counts.get(cell).copied().unwrap_or(0);
        match (at(&self.below), at(&self.above)) {
            (0, 0) => None,
            (below, above) => Some(format!("{} below, {} above", grouped(below), grouped(above))),
        }
    }
}

impl Places {
    /// The position of the extremum of cell `at` as text; the caller escapes it.
    fn text(&self, at: usize) -> String {
        let labels = self.labels(at);
        if labels.iter().all(String::is_empty) {
            return String::new();
        }
        let pair = |(axis, label): (&super::ShownAxis, String)| format!("{} {label}", axis.name);
        self.shown.iter().zip(labels).map(pair).collect::<Vec<_>>().join(", ")
    }
}

/// Bars for values: from zero, or, where all would be about as long, from the smallest value.
struct Bars {
    low: f64,
    high: f64,
}

impl Bars {
    fn over(values: &[Number]) -> Bars {
        let finite = || values.iter().map(|value| value.to_f64()).filter(|value| value.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let range = high - least;
        // Bars start at zero, or at the smallest value if that is negative. Those of nearly constant values would be
        // of one length: they start below the smallest by the length of its bar.
        let is_flat = least > 0.0 && range > 0.0 && range < high * FLAT;
        let low = if is_flat { least - range / (BAR_MAX - 1) as f64 } else { least.min(0.0) };
        Bars { low, high: high.max(low) }
    }

    fn bar(&self, value: Number) -> String {
        if matches!(value, Number::Bool(_)) {
            return String::new();
        }
        let part = (value.to_f64() - self.low) / (self.high - self.low);
        "#".repeat(layout::columns(part, BAR_MAX))
    }
}
