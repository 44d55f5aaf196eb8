//! One axis of a result: its name and its labels.

use std::sync::Arc;

use tet_convert::window_label;
use tet_document::Resolved;
use tet_plot::PlotAxis;
use tet_query::{Along, AxisGroups, AxisSlice, Catalog, CatalogLabels, Execution, Moments};

use crate::escape::Escaped;
use crate::labels;
use crate::render::json::{GroupShape, WindowShape};
use crate::render::number::Number;

/// The most labels of an axis of a picture.
const LABELS_MAX: u64 = 1 << 20;

/// One axis of a result.
#[derive(Debug, Clone)]
pub(crate) struct ResultAxis {
    /// The axis of the dataset; `None` for quantiles and bins.
    pub(crate) axis: Option<usize>,
    /// The dimension name, as in the file; `None` without a name.
    pub(crate) dim: Option<String>,
    kind: AxisKind,
}

/// The kind of an axis of a result.
#[derive(Debug, Clone)]
enum AxisKind {
    /// Selected positions, with their labels if there are any.
    Positions(Vec<String>),
    /// Some of the selected positions.
    Picks { positions: Arc<[u64]>, labels: Vec<String> },
    /// Groups.
    Groups(Arc<[String]>),
    /// Windows over `count` positions.
    Windows { first: i64, step: u64, size: u64, count: u64, labels: Vec<String> },
    /// Quantiles.
    Quantiles(Vec<f64>),
    /// Bins between edges; empty if every cell has its own edges.
    Bins(Vec<f64>),
}

/// Reads the labels of the selected positions of a dataset.
pub(crate) struct AxisLabels<'a> {
    resolved: &'a Resolved,
    labels: CatalogLabels,
}

impl<'a> AxisLabels<'a> {
    /// The labels for a query.
    pub(crate) fn new(catalog: &'a Catalog, resolved: &'a Resolved, how: &Execution) -> Self {
        AxisLabels { resolved, labels: CatalogLabels::new(catalog, &resolved.dataset, how) }
    }

    /// The labels of the selected positions; empty without labels.
    pub(crate) fn texts(&self, axis: usize) -> Vec<String> {
        let slice = self.resolved.slab.axes().get(axis);
        slice.map(|slice| labels::of_axis(&self.labels, axis, slice)).unwrap_or_default()
    }

    /// The times of the selected positions; `None` without times.
    fn moments(&self, axis: usize) -> Option<Moments> {
        labels::moments(&self.labels, axis, self.resolved.slab.axes().get(axis)?)
    }

    /// The positions of axes of which one position is selected, as `month=7`.
    pub(super) fn fixed(&self) -> Vec<String> {
        let slices = self.resolved.slab.axes().iter().enumerate();
        let fixed = slices.filter(|(_, slice)| slice.count() == 1);
        let text = |(axis, slice): (usize, &AxisSlice)| {
            let name = axis_name(self.resolved, axis);
            let label = self.texts(axis).into_iter().next();
            format!("{name}={}", label.unwrap_or_else(|| slice.start.to_string()))
        };
        fixed.map(text).collect()
    }

    /// The axis of a picture with what its labels are, their unit and their meaning.
    fn described(&self, plotted: PlotAxis, axis: usize) -> PlotAxis {
        let Some(dataset) = self.labels.coordinate_dataset(axis) else { return plotted };
        let plotted = plotted.with_long_name(&labels::long_name(dataset));
        plotted.with_unit(&labels::unit(dataset)).with_role(dataset.coordinate_role())
    }

    fn count(&self, axis: usize) -> u64 {
        self.resolved.slab.axes().get(axis).map_or(0, tet_query::AxisSlice::count)
    }
}

/// The name of an axis of the dataset.
pub(super) fn axis_name(resolved: &Resolved, axis: usize) -> String {
    let name = resolved.dataset.dims.get(axis);
    name.map_or_else(|| format!("axis {axis}"), |name| Escaped(name).to_string())
}

impl AxisKind {
    /// Which selected positions a position of the axis has, first and last; `None` of groups, quantiles and bins.
    fn selected(&self, at: u64) -> Option<[u64; 2]> {
        match self {
            AxisKind::Positions(_) => Some([at; 2]),
            AxisKind::Picks { positions, .. } => {
                positions.get(usize::try_from(at).ok()?).map(|&position| [position; 2])
            }
            &AxisKind::Windows { first, step, size, count, .. } => {
                let start = i128::from(first) + i128::from(step) * i128::from(at);
                let inside = |at: i128| u64::try_from(at.clamp(0, i128::from(count))).ok();
                let [start, end] = [inside(start)?, inside(start + i128::from(size))?];
                (start < end).then(|| [start, end - 1])
            }
            AxisKind::Groups(_) | AxisKind::Quantiles(_) | AxisKind::Bins(_) => None,
        }
    }
}

impl ResultAxis {
    /// The axis that `along` describes; `edges` are those of a histogram.
    pub(crate) fn new(along: &Along, labels: &AxisLabels<'_>, edges: &[f64]) -> ResultAxis {
        let dims = &labels.resolved.dataset.dims;
        let of =
            |axis: usize, kind| ResultAxis { axis: Some(axis), dim: dims.get(axis).cloned(), kind };
        let named = |name: &str, kind| ResultAxis { axis: None, dim: Some(name.to_owned()), kind };
        match along {
            Along::Axis(axis) | Along::Variables(axis) => {
                of(*axis, AxisKind::Positions(labels.texts(*axis)))
            }
            Along::Picks(picks) => {
                let positions = Arc::clone(&picks.positions);
                of(picks.axis, AxisKind::Picks { positions, labels: labels.texts(picks.axis) })
            }
            Along::Groups(AxisGroups { axis, labels, by, .. }) => {
                let kind = AxisKind::Groups(Arc::clone(labels));
                match by {
                    Some(by) => ResultAxis { axis: Some(*axis), dim: Some(by.to_string()), kind },
                    None => of(*axis, kind),
                }
            }
            &Along::Windows { axis, first, step, size } => {
                let (count, labels) = (labels.count(axis), labels.texts(axis));
                of(axis, AxisKind::Windows { first, step, size, count, labels })
            }
            Along::Quantiles(q) => named("quantile", AxisKind::Quantiles(q.clone())),
            Along::Bins => named("bin", AxisKind::Bins(edges.to_vec())),
        }
    }

    /// The name of the axis, escaped, or its number in the dataset.
    pub(crate) fn name(&self) -> String {
        match (&self.dim, self.axis) {
            (Some(dim), _) => Escaped(dim).to_string(),
            (None, Some(axis)) => format!("axis {axis}"),
            (None, None) => String::new(),
        }
    }

    /// The label of a position, with few digits; the caller escapes it.
    pub(crate) fn brief_label(&self, position: u64) -> String {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        match &self.kind {
            AxisKind::Bins(edges) => match edges.get(at..at.saturating_add(2)) {
                Some([low, high]) => {
                    format!("{} .. {}", Number::F64(*low).brief(), Number::F64(*high).brief())
                }
                _ => position.to_string(),
            },
            _ => self.label(position),
        }
    }

    /// The label of a position; the caller escapes it.
    pub(crate) fn label(&self, position: u64) -> String {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        let labeled = |labels: &[String], at: u64| {
            let label = labels.get(usize::try_from(at).unwrap_or(usize::MAX));
            label.map_or_else(|| at.to_string(), Clone::clone)
        };
        match &self.kind {
            AxisKind::Positions(labels) => labeled(labels, position),
            AxisKind::Picks { positions, labels } => {
                labeled(labels, positions.get(at).copied().unwrap_or(position))
            }
            AxisKind::Groups(labels) => labeled(labels, position),
            AxisKind::Windows { first, step, size, count, labels } => {
                let start = i128::from(*first) + i128::from(*step) * i128::from(position);
                window_label(start, start + i128::from(*size), *count, labels)
            }
            AxisKind::Quantiles(q) => {
                q.get(at).map_or_else(|| position.to_string(), |q| Number::F64(*q).shortest())
            }
            AxisKind::Bins(edges) => match edges.get(at..at.saturating_add(2)) {
                Some([low, high]) => {
                    let (low, high) = (Number::F64(*low).shortest(), Number::F64(*high).shortest());
                    format!("{low} .. {high}")
                }
                _ => position.to_string(),
            },
        }
    }

    /// The axis of a picture.
    pub(super) fn plot_axis(&self, extent: u64, labels: &AxisLabels<'_>) -> PlotAxis {
        let slice = self.axis.and_then(|axis| labels.resolved.slab.axes().get(axis));
        let name = self.name();
        let axis = match (&self.kind, slice) {
            (AxisKind::Positions(labels), Some(slice)) if (labels.len() as u64) < extent => {
                PlotAxis::positions(&name, extent, slice.start, slice.step)
            }
            _ if LABELS_MAX < extent => PlotAxis::positions(&name, extent, 0, 1),
            (AxisKind::Bins(edges), _) if edges.len() as u64 == extent + 1 => {
                let middles = edges.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0);
                PlotAxis::labeled(&name, middles.map(|middle| middle.to_string()).collect())
            }
            (AxisKind::Windows { labels, .. }, _) => self.windows_axis(&name, extent, labels),
            _ => {
                let texts = (0..extent).map(|at| Escaped(&self.label(at)).to_string());
                PlotAxis::labeled(&name, texts.collect())
            }
        };
        let moments = self.moments(extent, labels);
        let axis = match self.axis.filter(|_| !matches!(self.kind, AxisKind::Groups(_))) {
            Some(of) => labels.described(axis, of),
            None => axis,
        };
        match moments {
            Some(moments) => axis.with_moments(moments),
            None => axis,
        }
    }

    /// The axis of windows: each is where the middle of its labels is, if these are numbers.
    fn windows_axis(&self, name: &str, extent: u64, labels: &[String]) -> PlotAxis {
        let number = |at: u64| labels.get(usize::try_from(at).ok()?)?.parse::<f64>().ok();
        let middle = |at: u64| {
            let [first, last] = self.kind.selected(at)?;
            Some((number(first)? / 2.0 + number(last)? / 2.0).to_string())
        };
        let texts = (0..extent).map(middle).collect::<Option<Vec<String>>>();
        let own = || (0..extent).map(|at| Escaped(&self.label(at)).to_string()).collect();
        PlotAxis::labeled(name, texts.unwrap_or_else(own))
    }

    /// The times of an axis, of windows those in their middle; `None` without times.
    fn moments(&self, extent: u64, labels: &AxisLabels<'_>) -> Option<Moments> {
        if let AxisKind::Groups(groups) = &self.kind {
            return Moments::parse(groups);
        }
        if LABELS_MAX < extent || self.kind.selected(0).is_none() {
            return None;
        }
        let axis = self.axis?;
        let of_axis = || Moments::parse(&labels.texts(axis));
        let all = labels.moments(axis).or_else(of_axis)?;
        let instant = |at: u64| all.nanoseconds.get(usize::try_from(at).ok()?).copied();
        let middle = |at: u64| {
            let [first, last] = self.kind.selected(at)?;
            let first = instant(first)?;
            Some(first + (instant(last)? - first) / 2)
        };
        let nanoseconds = (0..extent).map(middle).collect::<Option<_>>()?;
        Some(Moments { calendar: all.calendar, nanoseconds })
    }

    /// The labels for JSON, if the axis has labels.
    pub(crate) fn labels(&self, extent: u64) -> Option<Vec<String>> {
        match &self.kind {
            AxisKind::Positions(labels)
            | AxisKind::Picks { labels, .. }
            | AxisKind::Windows { labels, .. }
                if !labels.is_empty() =>
            {
                Some((0..extent).map(|position| self.label(position)).collect())
            }
            _ => None,
        }
    }

    /// The groups for JSON, if there are any.
    pub(crate) fn groups(&self) -> Option<GroupShape> {
        let (AxisKind::Groups(labels), Some(axis)) = (&self.kind, self.axis) else { return None };
        Some(GroupShape { axis, dim: self.dim.clone(), labels: labels.to_vec() })
    }

    /// The windows for JSON, if there are any.
    pub(crate) fn windows(&self) -> Option<WindowShape> {
        match (&self.kind, self.axis) {
            (&AxisKind::Windows { first, step, size, .. }, Some(axis)) => {
                Some(WindowShape { axis, dim: self.dim.clone(), first, step, size })
            }
            _ => None,
        }
    }

    /// The quantiles, if there are any.
    pub(crate) fn quantiles(&self) -> Option<&[f64]> {
        match &self.kind {
            AxisKind::Quantiles(q) => Some(q),
            _ => None,
        }
    }

    /// Whether the axis consists of bins.
    pub(crate) fn is_bins(&self) -> bool {
        matches!(self.kind, AxisKind::Bins(_))
    }
}
