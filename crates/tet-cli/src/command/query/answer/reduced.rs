//! The answer of a reduction.

use tet_document::Resolved;
use tet_query::{Along, Catalog, Cells, Details, Execution, NanPolicy, Op, Reduced};

use super::axis::{AxisLabels, ResultAxis, axis_name};
use super::{Answer, Extras, Histogram, Places, ShownAxis};
use crate::labels;
use crate::render::numbers::Numbers;

impl Answer {
    /// The answer of a reduction.
    pub(crate) fn of_reduced(
        catalog: &Catalog,
        resolved: &Resolved,
        reduced: Reduced,
        nan: NanPolicy,
        how: &Execution,
    ) -> Answer {
        let dataset = &resolved.dataset;
        let labels = AxisLabels::new(catalog, resolved, how);
        let extras = extras(&reduced, resolved, &labels);
        let shared = extras.histogram.as_ref().filter(|histogram| histogram.is_shared());
        let edges = shared.map_or(&[][..], |histogram| &histogram.edges);
        let along = reduced.along.iter().map(|along| ResultAxis::new(along, &labels, edges));
        let dtype = match &reduced.values.cells {
            Cells::Count(_) => "uint64",
            Cells::Truth(_) => "bool",
            Cells::Int(_) => "int128",
            Cells::Float(_) => "float64",
            Cells::Element(array) => array.dtype().name(),
        };
        let asked = resolved.reduction();
        let chosen = asked.is_some_and(|asked| asked.filter.is_some() || !asked.picks.is_empty());
        Answer {
            op: reduced.op.name(),
            name: dataset.name.clone(),
            unit: if has_unit(reduced.op) { labels::unit(dataset) } else { String::new() },
            over: over(resolved, &reduced),
            along: along.collect(),
            dtype: dtype.to_owned(),
            values: Numbers::Cells(reduced.values),
            truncated: false,
            count: reduced.count,
            chosen,
            nan_count: reduced.nan_count,
            nan,
            is_masked: dataset.is_masked(),
            statistics: reduced.statistics,
            extras,
            axes: reduced.axes,
            shape: reduced.shape,
        }
    }
}

/// Whether the values have the unit of the dataset.
fn has_unit(op: Op) -> bool {
    matches!(
        op.plain(),
        Op::Sum
            | Op::Mean
            | Op::Min
            | Op::Max
            | Op::Std
            | Op::NormL1
            | Op::NormL2
            | Op::Median
            | Op::Quantile
    )
}

/// The reduced axes that the selection does not drop.
pub(super) fn folded<'a>(
    resolved: &'a Resolved,
    axes: &'a [usize],
) -> impl Iterator<Item = usize> + use<'a> {
    let slices = resolved.slab.axes();
    axes.iter().copied().filter(|&axis| slices.get(axis).is_some_and(|slice| slice.is_kept()))
}

/// The names of the reduced axes.
fn over(resolved: &Resolved, reduced: &Reduced) -> Vec<String> {
    let is_left = |axis: usize| {
        reduced.along.iter().any(|along| match along {
            Along::Groups(groups) => groups.axis == axis,
            Along::Windows { axis: windowed, .. } => *windowed == axis,
            _ => false,
        })
    };
    let gone = folded(resolved, &reduced.axes).filter(|&axis| !is_left(axis));
    gone.map(|axis| axis_name(resolved, axis)).collect()
}

fn extras(reduced: &Reduced, resolved: &Resolved, labels: &AxisLabels<'_>) -> Extras {
    match &reduced.details {
        Details::None => Extras::default(),
        Details::Histogram { edges, below, above } => {
            let bins = reduced.shape.last().copied().unwrap_or(0);
            let edge_count = usize::try_from(bins).unwrap_or(usize::MAX).saturating_add(1);
            let (edges, below, above) = (edges.clone(), below.clone(), above.clone());
            let histogram = Histogram { edges, edge_count, below, above };
            Extras { histogram: Some(histogram), ..Extras::default() }
        }
        Details::Places(cells) => {
            let shown = |&axis: &usize| {
                let name = resolved.dataset.dims.get(axis).cloned();
                let name = name.unwrap_or_else(|| format!("axis {axis}"));
                ShownAxis { name, labels: labels.texts(axis) }
            };
            let shown = reduced.axes.iter().map(shown).collect();
            let places = Places { cells: cells.clone(), shown };
            Extras { places: Some(places), ..Extras::default() }
        }
    }
}
