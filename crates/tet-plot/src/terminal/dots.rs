//! A line of braille dots: two columns and four rows of dots a character.

use super::{TICKS_MAX, below, beside, cell, gutter_max, line, name_below, widest};
use crate::axis::PlotAxis;
use crate::picture::Picture;
use crate::series::Series;
use crate::ticks::{self, turned};

/// Lines of text.
const LINES: usize = 14;
/// Rows and columns of dots in a character.
const DOT_ROWS: usize = 4;
const DOT_COLUMNS: usize = 2;
/// The bits of a character's dots, by row and column.
const BITS: [[u32; DOT_COLUMNS]; DOT_ROWS] = [[1, 8], [2, 16], [4, 32], [64, 128]];
const BLANK: u32 = 0x2800;

/// How many columns of dots a line has at most.
pub(crate) const fn columns(width: usize) -> usize {
    width.saturating_mul(DOT_COLUMNS)
}

/// Draws the line, with the range of its values and the labels of its axis.
pub(super) fn draw(
    picture: &Picture,
    series: &Series,
    x: &PlotAxis,
    width: usize,
    out: &mut String,
) {
    let marks = |count: usize| turned(ticks::of_scale(&picture.scale, count.min(TICKS_MAX)), true);
    let (labels, _) = beside(LINES, gutter_max(width), marks);
    let gutter = widest(&labels);
    let columns = width.saturating_sub(gutter + 4).max(1);
    let mut dots = Dots { columns, cells: vec![0; columns * LINES] };
    for stroke in series.strokes(x) {
        let place = |&(place, value): &(f64, f64)| {
            let part = 1.0 - picture.scale.part(value).unwrap_or(0.0);
            (cell(place, columns * DOT_COLUMNS), cell(part, LINES * DOT_ROWS))
        };
        let points: Vec<_> = stroke.iter().map(place).collect();
        points.iter().for_each(|&(x, y)| dots.set(x, y));
        points.array_windows().for_each(|&[(x0, y0), (x1, y1)]| dots.join(x0, y0, x1, y1));
    }
    for (nth, label) in labels.iter().enumerate() {
        line(out, &format!("  {label:>gutter$} |{}", dots.line(nth)));
    }
    line(out, &format!("  {:gutter$} +{}", "", "-".repeat(columns)));
    let nan = series.nan_places(x);
    if !nan.is_empty() {
        let mut marks = vec![' '; columns];
        nan.iter().for_each(|&place| marks[cell(place, columns)] = '?');
        line(out, &format!("  {:gutter$}  {}", "", marks.into_iter().collect::<String>()));
    }
    let (texts, ticks) = below(columns, |count| turned(x.ticks(count), x.is_from_right()));
    line(out, &format!("  {:gutter$}  {texts}", ""));
    line(out, &format!("  {:gutter$}  {}", "", name_below(&x.title_of(&ticks), columns)));
}

struct Dots {
    columns: usize,
    cells: Vec<u32>,
}

impl Dots {
    fn set(&mut self, x: usize, y: usize) {
        let at = y / DOT_ROWS * self.columns + x / DOT_COLUMNS;
        if let Some(cell) = self.cells.get_mut(at) {
            *cell |= BITS[y % DOT_ROWS][x % DOT_COLUMNS];
        }
    }

    /// Sets the dots between two.
    fn join(&mut self, x0: usize, y0: usize, x1: usize, y1: usize) {
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            (from * (steps - step) + to * step + steps / 2) / steps
        };
        (0..=steps).for_each(|step| self.set(between(x0, x1, step), between(y0, y1, step)));
    }

    fn line(&self, nth: usize) -> String {
        let cells = self.cells.iter().skip(nth * self.columns).take(self.columns);
        let shown =
            |&bits: &u32| if bits == 0 { ' ' } else { char::from_u32(BLANK + bits).unwrap_or(' ') };
        cells.map(shown).collect()
    }
}
