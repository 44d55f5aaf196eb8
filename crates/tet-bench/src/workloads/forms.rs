//! Q1, filters, groups and windows.

use anyhow::Result;
use tet_format::DType;
use tet_query::{AxisGroups, Compare, Number, Op, Reduction, Window, WindowAlign, WindowMode};

use super::mapped::MappedCatalog;
use super::statistics::filter;
use super::{LAYOUTS, Measured};
use crate::data::{SHAPE, TILED};
use crate::report::{Figure, ReportRow};

/// As many labels as there are months.
const LABEL_COUNT: u32 = 12;

/// Sums whose cells are labels that come back along an axis.
fn labeled(axis: usize) -> Reduction {
    let group_of = (0..SHAPE[axis]).map(|at| (at % u64::from(LABEL_COUNT)) as u32).collect();
    let labels = (0..LABEL_COUNT).map(|label| label.to_string()).collect();
    let others: Vec<usize> = (0..SHAPE.len()).filter(|&other| other != axis).collect();
    let groups = vec![AxisGroups { axis, group_of, labels, by: None }];
    Reduction { groups, ..Reduction::along(Op::Sum, others) }
}

/// Means of windows along an axis; `folded` are folded in each.
pub(crate) fn windowed(axis: usize, size: u64, mode: WindowMode, folded: &[usize]) -> Reduction {
    let step = if mode == WindowMode::Bins { size } else { 1 };
    let align = WindowAlign::Start;
    let window = Window { axis, size, step, mode, pad: None, align, min_count: None };
    Reduction { window: Some(window), ..Reduction::along(Op::Mean, folded) }
}

/// Q1: a filter with two tests, sums by position and by label, bins, rolling windows.
pub(super) fn all(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    let between = [(Compare::Ge, Number::Float(265.0)), (Compare::Lt, Number::Float(295.0))];
    let between = Reduction { filter: Some(filter(&between)), ..Reduction::all(Op::Count) };
    for (layout, chunk_shape) in LAYOUTS {
        let kept = MappedCatalog::open(&run.folder.array(DType::Float32, layout, chunk_shape)?)?;
        let work = format!("count between two numbers of float32 {layout}");
        let rounds = kept.beside_scan(run, &between)?;
        rows.push(ReportRow::new("Q1", work, "scan", Figure::Ratio, rounds, 0.75));
    }
    let kept = MappedCatalog::open(&run.folder.array(DType::Float32, "tiled", TILED)?)?;
    let mut row = |work: String, reduction: &Reduction, target: f64| -> Result<()> {
        let rounds = kept.beside_scan(run, reduction)?;
        rows.push(ReportRow::new("Q1", work, "scan", Figure::Ratio, rounds, target));
        Ok(())
    };
    for (axis, others) in [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])] {
        let work = format!("sum of float32 tiled by position along [{axis}]");
        row(work, &Reduction::along(Op::Sum, others), 0.5)?;
    }
    for axis in 0..SHAPE.len() {
        let work = format!("sum of float32 tiled by {LABEL_COUNT} labels along [{axis}]");
        row(work, &labeled(axis), 0.5)?;
    }
    for (axis, size) in [(0, 16), (2, 32)] {
        let work = format!("mean of float32 tiled in bins of {size} along [{axis}]");
        row(work, &windowed(axis, size, WindowMode::Bins, &[]), 0.4)?;
    }
    // No limit is known for windows that overlap: their answer is twice as long as the elements.
    let rolling = |folded| windowed(0, 9, WindowMode::Rolling, folded);
    row("mean of float32 tiled, 9 rolling along [0]".to_owned(), &rolling(&[]), 0.0)?;
    row("the same, folded along [1, 2]".to_owned(), &rolling(&[1, 2]), 0.0)?;
    Ok(rows)
}
