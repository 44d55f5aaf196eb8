//! A heatmap as text. With colors every character is an upper half block: its foreground is one row of
//! pixels, its background the next. Without colors a character of a ramp is a cell, and `?` a NaN.

use std::fmt::Write;

use super::{Depth, below, beside, cell, gutter_max, line, name_below, widest};
use crate::axis::PlotAxis;
use crate::field::PlotField;
use crate::palette::Rgb;
use crate::picture::Picture;
use crate::ticks::{self, turned};
use crate::visible::cut;

/// At most this many rows of pixels; a line of text shows two, or without colors one.
const PIXEL_ROWS_MAX: usize = 48;
/// A heatmap of more rows has this many rows of pixels at least, however wide it is.
const PIXEL_ROWS_MIN: usize = 8;
/// At most this many pixels for one cell, in each direction.
const GROWTH_MAX: usize = 6;
/// Steps of the color scale under the heatmap.
const LEGEND_STEPS: u8 = 24;
/// From low to high.
const RAMP: &[u8] = b".:-=+*#%@";
const NAN: char = '?';

/// How many cells a heatmap of these extents has in a terminal, rows first.
pub(crate) fn room(extents: [u64; 2], width: usize, depth: Depth) -> [usize; 2] {
    let len = |extent: u64| usize::try_from(extent).unwrap_or(usize::MAX);
    let [rows, columns] = extents.map(len);
    let columns_max = columns_max(width);
    let drawn = columns.clamp(1, columns_max) * growth(columns, columns_max);
    // The rows that keep the proportions of the axes.
    let even = rows.saturating_mul(drawn) / columns.max(1);
    let pixel_rows = even.clamp(PIXEL_ROWS_MIN.min(rows.max(1)), PIXEL_ROWS_MAX);
    let lines = if depth == Depth::Plain { pixel_rows.div_ceil(2) } else { pixel_rows };
    [lines.min(rows), columns.min(columns_max)]
}

/// The most rows of cells.
const fn rows_max(depth: Depth) -> usize {
    match depth {
        Depth::Plain => PIXEL_ROWS_MAX / 2,
        _ => PIXEL_ROWS_MAX,
    }
}

/// The most columns of cells.
fn columns_max(width: usize) -> usize {
    width.saturating_sub(gutter_max(width) + 3).max(1)
}

/// How many pixels one of `count` cells has.
fn growth(count: usize, most: usize) -> usize {
    (most / count.max(1)).clamp(1, GROWTH_MAX)
}

/// Draws the heatmap, the labels of its axes and the scale of its colors.
pub(super) fn draw(
    picture: &Picture,
    (field, y, x): (&PlotField, &PlotAxis, &PlotAxis),
    (width, depth): (usize, Depth),
    out: &mut String,
) {
    let field = field.within([rows_max(depth), columns_max(width)]);
    let pixels = Pixels::of(&field, (y, x), (width, depth));
    let lines = pixels.row_count.div_ceil(pixels.rows_in_line);
    let labels = beside((lines, width), |count| turned(y.ticks(count), y.is_from_bottom()));
    let gutter = widest(&labels);
    for (nth, label) in labels.iter().enumerate() {
        let _ = write!(out, "  {label:>gutter$} ");
        pixels.line(nth, picture, depth, out);
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    let columns = pixels.column_count;
    let ticks = below(columns, |count| turned(x.ticks(count), x.is_from_right()));
    line(out, &format!("  {:gutter$} {ticks}", ""));
    if y.title().is_empty() {
        line(out, &format!("  {:gutter$} {}", "", name_below(x, columns)));
    } else {
        let names = format!("  {:gutter$} y: {}, x: {}", "", y.title(), x.title());
        line(out, &cut(&names, width));
    }
    legend(picture, (gutter, width), depth, out);
}

/// The numbers of the lowest and the highest color, the unit, and the color of NaN.
fn legend(picture: &Picture, (gutter, width): (usize, usize), depth: Depth, out: &mut String) {
    let (low, high) = (ticks::brief(picture.scale.low()), ticks::brief(picture.scale.high()));
    let remarks = picture.remarks().join(", ");
    let steps = if depth == Depth::Plain { RAMP.len() } else { LEGEND_STEPS.into() };
    let nan_len = if remarks.is_empty() { 0 } else { 4 + remarks.chars().count() };
    let fixed_len = gutter + 3 + low.len() + 1 + steps + 1 + high.len() + nan_len;
    if width < fixed_len - gutter - 3 {
        // No room for the colors.
        line(out, &cut(&format!("{low} .. {high}"), width));
        return line(out, &cut(&remarks, width));
    }
    let indent = (gutter + 3).min(width.saturating_sub(fixed_len - gutter - 3));
    let _ = write!(out, "{:indent$}{low} ", "");
    match depth {
        Depth::Plain => out.push_str(&String::from_utf8_lossy(RAMP)),
        _ => {
            for step in 0..LEGEND_STEPS {
                let part = f64::from(step) / f64::from(LEGEND_STEPS - 1);
                let color = sgr(picture.palette.color(part), depth);
                let _ = write!(out, "\u{1b}[48;{color}m ");
            }
            out.push_str("\u{1b}[0m");
        }
    }
    let _ = write!(out, " {high}");
    if !remarks.is_empty() {
        match depth {
            _ if picture.nan_count() == 0 => out.push_str("  "),
            Depth::Plain => {
                let _ = write!(out, "  {NAN}");
            }
            _ => {
                let _ = write!(out, "  \u{1b}[48;{}m \u{1b}[0m", sgr(picture.palette.nan(), depth));
            }
        }
        let _ = write!(out, " {remarks}");
    }
    let room = width.saturating_sub(fixed_len + 1);
    if room > 3 && !picture.value().is_empty() {
        let _ = write!(out, " {}", cut(&picture.value(), room));
    }
    out.push('\n');
}

/// Cells, each repeated so that small heatmaps are large enough to be seen.
struct Pixels {
    cells: Vec<f64>,
    cell_columns: usize,
    row_growth: usize,
    column_growth: usize,
    row_count: usize,
    column_count: usize,
    rows_in_line: usize,
}

impl Pixels {
    fn of(
        field: &PlotField,
        (y, x): (&PlotAxis, &PlotAxis),
        (width, depth): (usize, Depth),
    ) -> Pixels {
        let column_growth = growth(field.column_count, columns_max(width));
        // A character is about twice as high as it is wide.
        let rows_in_line = if depth == Depth::Plain { 1 } else { 2 };
        let wished = if depth == Depth::Plain { column_growth.div_ceil(2) } else { column_growth };
        let row_growth = wished.min(growth(field.row_count, rows_max(depth)));
        Pixels {
            cells: field.seen(y, x),
            cell_columns: field.column_count,
            row_growth,
            column_growth,
            row_count: field.row_count * row_growth,
            column_count: field.column_count * column_growth,
            rows_in_line,
        }
    }

    /// The value of a pixel; `None` past the last row.
    fn at(&self, row: usize, column: usize) -> Option<f64> {
        let at = row / self.row_growth * self.cell_columns + column / self.column_growth;
        self.cells.get(at).copied().filter(|_| row < self.row_count)
    }

    fn line(&self, line: usize, picture: &Picture, depth: Depth, out: &mut String) {
        let mut before = String::new();
        for column in 0..self.column_count {
            if depth == Depth::Plain {
                let value = self.at(line, column).unwrap_or(f64::NAN);
                out.push(picture.scale.part(value).map_or(NAN, ramp));
                continue;
            }
            let color = |value: f64| sgr(picture.color(value), depth);
            let [upper, lower] =
                [2 * line, 2 * line + 1].map(|row| self.at(row, column).map(color));
            let style = match (upper, lower) {
                (Some(upper), Some(lower)) => format!("38;{upper};48;{lower}"),
                (Some(upper), None) => format!("0;38;{upper}"),
                (None, _) => "0".to_owned(),
            };
            if style != before {
                let _ = write!(out, "\u{1b}[{style}m");
                before = style;
            }
            out.push('\u{2580}');
        }
        if depth != Depth::Plain {
            out.push_str("\u{1b}[0m");
        }
    }
}

fn ramp(part: f64) -> char {
    char::from(RAMP[cell(part, RAMP.len())])
}

/// The SGR parameters of a color after `38;` or `48;`.
fn sgr([red, green, blue]: Rgb, depth: Depth) -> String {
    match depth {
        Depth::True => format!("2;{red};{green};{blue}"),
        _ => format!("5;{}", indexed([red, green, blue])),
    }
}

/// The nearest color of the 6 x 6 x 6 cube of the palette of 256, or of its grays.
fn indexed([red, green, blue]: Rgb) -> u8 {
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    if red == green && green == blue && (8..=238).contains(&red) {
        return 232 + (red - 3) / 10;
    }
    16 + 36 * level(red) + 6 * level(green) + level(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_is_the_cube_and_the_grays() {
        assert_eq!([indexed([0, 0, 0]), indexed([255, 255, 255])], [16, 231]);
        assert_eq!(
            [indexed([255, 0, 0]), indexed([160, 160, 160]), indexed([8, 8, 8])],
            [196, 247, 232]
        );
    }

    #[test]
    fn cells_keep_the_proportions_of_the_axes() {
        let at = |rows, columns| room([rows, columns], 80, Depth::True);
        assert_eq!(at(30, 60), [30, 60]);
        assert_eq!(at(360, 720), [32, 65]);
        assert_eq!(room([30, 60], 40, Depth::True), [13, 27]);
        assert_eq!([at(3, 500), at(500, 3), at(1, 1)], [[3, 65], [48, 3], [1, 1]]);
        assert_eq!(at(1_000_000, 10), [48, 10]);
        assert_eq!(room([30, 60], 80, Depth::Plain), [15, 60]);
    }
}
