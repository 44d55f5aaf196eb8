//! An answer: values, the positions of their axes, and additional data.

mod align;
mod all;
mod array;
mod axis;
mod picture;
mod reduced;
mod text;

use tet_query::{NanPolicy, StatisticsUse};

use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::preview::Preview;
use crate::render::json::{
    AlignmentShape, AnswerShape, EdgesShape, OneOrMany, StatisticsShape, ValuesShape, WrittenShape,
};
use crate::render::number::Number;
use crate::render::numbers::Numbers;
use crate::size::counted;
use axis::ResultAxis;

pub(crate) use array::Request;
pub(crate) use picture::Subject;

/// An answer and the names of its axes.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The reduction, the transform, `values` or `align`.
    op: &'static str,
    /// The dataset's name.
    name: String,
    /// The unit of the values; empty without one.
    unit: String,
    /// The names of the axes that were reduced, or that statistics were computed over.
    over: Vec<String>,
    axes: Vec<usize>,
    shape: Vec<u64>,
    along: Vec<ResultAxis>,
    dtype: String,
    values: Numbers,
    truncated: bool,
    count: u64,
    /// Whether a filter was applied.
    chosen: bool,
    nan_count: Option<u64>,
    nan: NanPolicy,
    /// Whether NaN are masked values.
    is_masked: bool,
    /// The chunks that were not read.
    statistics: StatisticsUse,
    extras: Extras,
}

/// Where an answer was written.
#[derive(Debug)]
pub(crate) enum Saved {
    /// This file.
    File(WrittenShape),
    /// Standard output, to which nothing more is printed.
    Printed,
}

/// Additional data of some answers.
#[derive(Debug, Default)]
struct Extras {
    /// The number among the answers of several datasets, whose lines begin with the name.
    nth: Option<usize>,
    /// The shown part of an array.
    preview: Option<Preview>,
    histogram: Option<Histogram>,
    places: Option<Places>,
    zero_denominators: Option<u64>,
    written: Option<WrittenShape>,
    /// Whether all values were printed while they were read.
    is_printed: bool,
    alignment: Option<AlignmentShape>,
}

/// The data of a histogram.
#[derive(Debug)]
struct Histogram {
    /// The edges of all cells, one cell after the other.
    edges: Vec<f64>,
    /// The number of edges of a cell.
    edge_count: usize,
    below: Vec<u64>,
    above: Vec<u64>,
}

/// The positions of extrema.
#[derive(Debug)]
struct Places {
    /// A position along each axis for each cell; empty for a cell without a value.
    cells: Vec<Vec<u64>>,
    /// The axes of these positions.
    shown: Vec<ShownAxis>,
}

/// An axis of positions: its name and labels, as in the file.
#[derive(Debug)]
struct ShownAxis {
    name: String,
    labels: Vec<String>,
}

impl Answer {
    /// The answer as JSON.
    pub(crate) fn into_shape(self) -> AnswerShape {
        let one = self.shape.is_empty();
        let dims: Option<Vec<String>> = self.along.iter().map(|axis| axis.dim.clone()).collect();
        let edges = self.extras.histogram.as_ref().map(|histogram| edges(histogram, one));
        let (below, above) = match self.extras.histogram {
            Some(histogram) => (
                Some(OneOrMany::new(histogram.below, self.along.len() == 1)),
                Some(OneOrMany::new(histogram.above, self.along.len() == 1)),
            ),
            None => (None, None),
        };
        let labels = |(axis, &extent): (&ResultAxis, &u64)| axis.labels(extent);
        let labels: Vec<_> = self.along.iter().zip(&self.shape).map(labels).collect();
        let has_labels = !self.truncated && labels.iter().any(Option::is_some);
        let quantiles = self.along.iter().find_map(|axis| axis.quantiles().map(<[f64]>::to_vec));
        let nulls = self.extras.places.as_ref().map(|_| self.values.nulls());
        let values = match (one, self.values.get(0)) {
            (true, Some(value)) => ValuesShape::One(value),
            _ => ValuesShape::Many(self.values),
        };
        let place = |(cell, null): (Vec<u64>, bool)| (!null).then_some(cell);
        let places = self.extras.places.map(|places| {
            let cells =
                places.cells.into_iter().zip(nulls.unwrap_or_default()).map(place).collect();
            OneOrMany::new(cells, one)
        });
        AnswerShape {
            op: self.op,
            axes: self.axes,
            dims: dims.unwrap_or_default(),
            labels: has_labels.then_some(labels),
            groups: self.along.iter().filter_map(ResultAxis::groups).collect(),
            windows: self.along.iter().find_map(ResultAxis::windows),
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
            statistics: StatisticsShape::from_use(self.statistics),
            quantiles: quantiles.map(|q| q.into_iter().map(Number::F64).collect()),
            edges,
            below,
            above,
            places,
            zero_denominators: self.extras.zero_denominators,
            alignment: self.extras.alignment,
            written: self.extras.written,
        }
    }

    /// Prints all values on one line.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn write_quiet(&self, context: &mut Context<'_>) -> Result<()> {
        let name = self.quiet_name();
        context.line(format!("{name}{}", self.values))
    }

    /// One of the answers of several datasets: this number of others come before it.
    #[must_use]
    pub(crate) fn in_list(mut self, nth: Option<usize>) -> Answer {
        self.extras.nth = nth;
        self
    }

    /// Head of a line of values alone: the name, if others follow.
    fn quiet_name(&self) -> String {
        self.extras.nth.map(|_| format!("{}\t", Escaped(&self.name))).unwrap_or_default()
    }

    /// The statistics that the result depends on besides elements; `None` if all selected chunks were read.
    pub(crate) fn statistics_text(&self) -> Option<String> {
        let StatisticsUse { answered, skipped, is_checked } = self.statistics;
        let mut texts = Vec::new();
        if answered != 0 {
            texts.push(format!("{} answered from statistics", counted(answered, "chunk")));
        }
        if skipped != 0 {
            texts.push(format!("{} skipped by statistics", counted(skipped, "chunk")));
        }
        let checked = if is_checked { "" } else { ", which were not compared with their checksum" };
        (!texts.is_empty()).then(|| texts.join(", ") + checked)
    }

    /// Whether the values were written to a file.
    pub(crate) const fn is_written(&self) -> bool {
        self.extras.written.is_some()
    }

    /// Whether all values are printed already.
    pub(crate) const fn is_printed(&self) -> bool {
        self.extras.is_printed
    }

    /// Prints one line for each value, with its labels or positions.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn write_table(&self, context: &mut Context<'_>) -> Result<()> {
        self.write_head(context)?;
        for (at, value) in self.values.iter().enumerate() {
            self.write_table_row(at, value, context)?;
        }
        Ok(())
    }

    fn write_head(&self, context: &mut Context<'_>) -> Result<()> {
        let is_alike = self.along.is_empty() && self.extras.places.is_none();
        if is_alike && self.extras.nth.is_some_and(|nth| nth > 0) {
            // The first answer has this head.
            return Ok(());
        }
        let name = self.extras.nth.map(|_| "dataset".to_owned());
        let axes = self.along.iter().map(ResultAxis::name);
        let mut head: Vec<String> = name.into_iter().chain(axes).collect();
        head.push(self.op.to_owned());
        let places = self.extras.places.iter().flat_map(Places::names);
        head.extend(places.map(|text| Escaped(&text).to_string()));
        context.line(head.join("\t"))
    }

    fn write_table_row(&self, at: usize, value: Number, context: &mut Context<'_>) -> Result<()> {
        let escaped = |text: String| Escaped(&text).to_string();
        let name = self.extras.nth.map(|_| self.name.clone());
        let labels = name.into_iter().chain(self.labels(at));
        let mut line: Vec<String> = labels.map(escaped).collect();
        line.push(value.shortest());
        let places = self.extras.places.iter().flat_map(|places| places.labels(at));
        line.extend(places.map(escaped));
        context.line(line.join("\t"))
    }

    /// The labels of value `at`, one for each axis.
    fn labels(&self, at: usize) -> Vec<String> {
        let position = position(&self.shape, at);
        self.along.iter().zip(position).map(|(axis, at)| axis.label(at)).collect()
    }
}

/// The edges as JSON: one list if all cells share them, else a list for each.
fn edges(histogram: &Histogram, one: bool) -> EdgesShape {
    let numbers = |edges: &[f64]| edges.iter().map(|&edge| Number::F64(edge)).collect();
    if one || histogram.is_shared() {
        return EdgesShape::One(numbers(&histogram.edges));
    }
    EdgesShape::Many(histogram.edges.chunks(histogram.edge_count).map(numbers).collect())
}

impl Histogram {
    /// Whether all cells have the same edges.
    fn is_shared(&self) -> bool {
        self.edges.len() <= self.edge_count
    }

    /// The first and the last edge of a cell.
    fn ends(&self, cell: usize) -> Option<(f64, f64)> {
        let cell = if self.is_shared() { 0 } else { cell };
        let edges = self.edges.chunks(self.edge_count).nth(cell)?;
        Some((*edges.first()?, *edges.last()?))
    }
}

impl Places {
    fn names(&self) -> Vec<String> {
        self.shown.iter().map(|axis| axis.name.clone()).collect()
    }

    /// The position of the extremum of cell `at`: a label or a number for each axis.
    fn labels(&self, at: usize) -> Vec<String> {
        let place = |(nth, shown): (usize, &ShownAxis)| {
            let position = self.cells.get(at)?.get(nth)?;
            let label = shown.labels.get(usize::try_from(*position).unwrap_or(usize::MAX));
            Some(label.map_or_else(|| position.to_string(), Clone::clone))
        };
        self.shown.iter().enumerate().map(|shown| place(shown).unwrap_or_default()).collect()
    }
}

/// The position of value `at`, row-major.
fn position(shape: &[u64], at: usize) -> Vec<u64> {
    let mut rest = u64::try_from(at).unwrap_or(u64::MAX);
    let mut position: Vec<u64> = shape
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
