//! A picture: what is shown, its axes, its scale, its colors.

use crate::axis::PlotAxis;
use crate::bins::Bins;
use crate::field::PlotField;
use crate::palette::{Palette, Rgb};
use crate::scale::{Extremes, Scale};
use crate::series::Series;
use crate::visible::visible;

/// The margin above and below a line, as a part of its range.
const LINE_MARGIN: f64 = 0.05;

/// No more characters of a name are drawn.
const NAME_MAX: usize = 400;

/// Content of a picture.
///
/// ```
/// let fold = tet_plot::BinFold::new(0.0, 1.0, 4)?;
/// let shown = tet_plot::Shown::Histogram(fold.finish());
/// assert!(matches!(shown, tet_plot::Shown::Histogram(bins) if bins.counts == [0; 4]));
/// # Ok::<(), tet_plot::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Shown {
    /// Two axes, in colors.
    Heatmap {
        /// The cells; rows are positions along `y`.
        field: PlotField,
        /// The axis of the rows.
        y: PlotAxis,
        /// The axis of the columns.
        x: PlotAxis,
    },
    /// One axis, as a line.
    Line {
        /// The elements in columns.
        series: Series,
        /// The axis.
        x: PlotAxis,
    },
    /// Counts of values.
    Histogram(Bins),
}

/// A picture.
///
/// ```
/// use tet_plot::{Depth, FieldFold, Picture, PlotAxis, PlotSize, Shown};
///
/// let mut fold = FieldFold::new([2, 2], [2, 2]);
/// fold.extend(&[0.0, 1.0, f64::NAN, 2.0]);
/// let axis = |name| PlotAxis::positions(name, 2, 0, 1);
/// let shown = Shown::Heatmap { field: fold.finish(), y: axis("row"), x: axis("column") };
/// let picture = Picture::new(shown).titled("four values");
/// assert!(picture.svg(PlotSize::default()).starts_with("<svg"));
/// assert!(picture.png(PlotSize::default())?.starts_with(b"\x89PNG"));
/// assert!(picture.terminal(80, Depth::Plain).contains("four values"));
/// # Ok::<(), tet_plot::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Picture {
    /// The title; empty for none.
    pub(crate) title: String,
    /// The name of the values, and their unit; empty if they have none.
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) shown: Shown,
    pub(crate) scale: Scale,
    pub(crate) palette: Palette,
    pub(crate) has_coastlines: bool,
}

impl Picture {
    /// A picture with the range of its finite elements.
    #[must_use]
    pub fn new(shown: Shown) -> Picture {
        let scale = match &shown {
            Shown::Heatmap { field, .. } => Scale::from_extremes(&field.extremes),
            Shown::Line { series, .. } => {
                Scale::from_extremes(&series.extremes).with_margin(LINE_MARGIN)
            }
            Shown::Histogram(bins) => {
                let end = |edge: Option<&f64>| edge.copied().unwrap_or(0.0);
                Scale::given(end(bins.edges.first()), end(bins.edges.last()))
            }
        };
        let palette = Palette::default();
        let (title, name, unit) = (String::new(), String::new(), String::new());
        Picture { title, name, unit, shown, scale, palette, has_coastlines: true }
    }

    /// The picture with this title.
    #[must_use]
    pub fn titled(self, title: &str) -> Picture {
        Picture { title: visible(title), ..self }
    }

    /// The picture with this name of the values, and their unit if there is one.
    #[must_use]
    pub fn with_value(self, name: &str, unit: &str) -> Picture {
        Picture { name: visible(name), unit: visible(unit), ..self }
    }

    /// The picture of a map without coastlines.
    #[must_use]
    pub fn without_coastlines(self) -> Picture {
        Picture { has_coastlines: false, ..self }
    }

    /// The name of the values, with their unit.
    pub(crate) fn value(&self) -> String {
        self.value_named(&self.name)
    }

    fn value_named(&self, name: &str) -> String {
        match (name, self.unit.as_str()) {
            (name, "") => name.to_owned(),
            ("", unit) => unit.to_owned(),
            (name, unit) => format!("{name} ({unit})"),
        }
    }

    /// The name of the values, with their unit: the name is cut so that the text fits, where that is enough.
    pub(crate) fn value_within(&self, fits: impl Fn(&str) -> bool) -> String {
        let whole = self.value();
        if fits(&whole) {
            return whole;
        }
        let mut name: Vec<char> = self.name.chars().take(NAME_MAX).collect();
        while name.len() > 4 {
            name.truncate(name.len() - 1);
            let cut = name.iter().collect::<String>();
            let text = self.value_named(&format!("{}...", cut.trim_end()));
            if fits(&text) {
                return text;
            }
        }
        whole
    }

    /// The picture with this scale: of the colors of a heatmap, or of the values of a line.
    #[must_use]
    pub fn with_scale(self, scale: Scale) -> Picture {
        Picture { scale, ..self }
    }

    /// The picture with zero in the middle of its scale.
    #[must_use]
    pub fn around_zero(self) -> Picture {
        Picture { scale: self.scale.around_zero(), ..self }
    }

    /// The picture with these colors.
    #[must_use]
    pub fn with_palette(self, palette: Palette) -> Picture {
        Picture { palette, ..self }
    }

    /// The color of a value.
    pub(crate) fn color(&self, value: f64) -> Rgb {
        self.scale.part(value).map_or(self.palette.nan(), |part| self.palette.color(part))
    }

    /// The colors of the cells as they are seen, from the upper left.
    pub(crate) fn colors(&self, field: &PlotField, y: &PlotAxis, x: &PlotAxis) -> Vec<Rgb> {
        field.seen(y, x).into_iter().map(|value| self.color(value)).collect()
    }

    /// Notes on elements that the picture leaves out or shows in a special way: NaN, infinities, values outside of
    /// all bins.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let extremes = match &self.shown {
            Shown::Heatmap { field, .. } => field.extremes,
            Shown::Line { series, .. } => series.extremes,
            Shown::Histogram(bins) => Extremes { nan_count: bins.nan_count, ..Extremes::default() },
        };
        let (below, above) = match &self.shown {
            Shown::Histogram(bins) => (bins.below, bins.above),
            _ => (0, 0),
        };
        let counts = [
            (extremes.nan_count, "NaN"),
            (extremes.infinite_count, "infinite"),
            (below, "below"),
            (above, "above"),
        ];
        let shown = counts.into_iter().filter(|(count, _)| *count > 0);
        shown.map(|(count, what)| format!("{count} {what}")).collect()
    }

    /// The meaning of the color of NaN, where a cell has it.
    pub(crate) fn name_of_nan(&self) -> Option<&'static str> {
        match &self.shown {
            _ if self.nan_count() > 0 => Some("NaN"),
            Shown::Heatmap { field, .. } if field.values.iter().any(|it| it.is_nan()) => {
                Some("none")
            }
            _ => None,
        }
    }

    /// How many elements are NaN.
    pub(crate) fn nan_count(&self) -> u64 {
        match &self.shown {
            Shown::Heatmap { field, .. } => field.extremes.nan_count,
            Shown::Line { series, .. } => series.extremes.nan_count,
            Shown::Histogram(bins) => bins.nan_count,
        }
    }
}

impl PlotField {
    /// The field in at most this many cells: as it is where it has no more.
    pub(crate) fn within(&self, cells_max: [usize; 2]) -> PlotField {
        if self.row_count <= cells_max[0] && self.column_count <= cells_max[1] {
            return self.clone();
        }
        let extents = [self.row_count as u64, self.column_count as u64];
        let mut fold = crate::field::FieldFold::new(extents, cells_max);
        fold.extend(&self.values);
        PlotField { extremes: self.extremes, ..fold.finish() }
    }

    /// The cells as they are seen, from the upper left: see [`PlotAxis`].
    pub(crate) fn seen(&self, y: &PlotAxis, x: &PlotAxis) -> Vec<f64> {
        let row = |at: usize| if y.is_from_bottom() { self.row_count - 1 - at } else { at };
        let column = |at: usize| if x.is_from_right() { self.column_count - 1 - at } else { at };
        let rows = (0..self.row_count).map(row);
        rows.flat_map(|row| (0..self.column_count).map(move |at| self.get(row, column(at))))
            .collect()
    }
}

impl Series {
    /// The line as strokes of points: the place along the axis from 0 to 1, and the value. A NaN ends a stroke.
    pub(crate) fn strokes(&self, x: &PlotAxis) -> Vec<Vec<(f64, f64)>> {
        let mut strokes = vec![Vec::new()];
        for (nth, column) in self.columns.iter().enumerate() {
            #[allow(clippy::cast_precision_loss, reason = "a column of a picture")]
            let place = (nth as f64 + 0.5) / self.columns.len() as f64;
            let place = if x.is_from_right() { 1.0 - place } else { place };
            for value in [column.first, column.low, column.high, column.last] {
                let Some(stroke) = strokes.last_mut() else { continue };
                match value.is_nan() {
                    false if stroke.last() != Some(&(place, value)) => stroke.push((place, value)),
                    true if !stroke.is_empty() => strokes.push(Vec::new()),
                    _ => {}
                }
            }
        }
        strokes.retain(|stroke| !stroke.is_empty());
        strokes
    }

    /// The places of columns that have a NaN, from 0 to 1.
    pub(crate) fn nan_places(&self, x: &PlotAxis) -> Vec<f64> {
        #[allow(clippy::cast_precision_loss, reason = "a column of a picture")]
        let place = |nth: usize| (nth as f64 + 0.5) / self.columns.len() as f64;
        let turned = |place: f64| if x.is_from_right() { 1.0 - place } else { place };
        let is_nan = |nth: &usize| self.columns[*nth].has_nan;
        (0..self.columns.len()).filter(is_nan).map(|nth| turned(place(nth))).collect()
    }
}
