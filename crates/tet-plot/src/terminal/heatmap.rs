//! A heatmap as text. With colors every character is an upper half block: its foreground is one row of
//! pixels, its background the next. Without colors a character of a ramp is a cell, and `?` a NaN.

use std::fmt::Write;

use super::{Depth, Screen, below, beside, cell, gutter_max, line, name_below, widest};
use crate::aspect::{aspect, within};
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

/// How many cells a heatmap of these axes has in a terminal, rows first.
pub(crate) fn room(y: &PlotAxis, x: &PlotAxis, screen: Screen) -> [usize; 2] {
    let len = |axis: &PlotAxis| usize::try_from(axis.extent()).unwrap_or(usize::MAX);
    let [rows, columns] = [len(y), len(x)];
    let columns_max = columns_max(y, screen.width);
    let (pixel_rows, columns_max) = match map_size(y, x, screen) {
        Some([rows, columns]) => (rows, columns),
        None => {
            let drawn = columns.clamp(1, columns_max) * growth(columns, columns_max);
            // The rows that keep the proportions of the axes.
            let even = rows.saturating_mul(drawn) / columns.max(1);
            (even.clamp(PIXEL_ROWS_MIN.min(rows.max(1)), PIXEL_ROWS_MAX), columns_max)
        }
    };
    let lines = if screen.depth == Depth::Plain { pixel_rows.div_ceil(2) } else { pixel_rows };
    [lines.min(rows), columns.min(columns_max)]
}

/// The rows and the columns of pixels of a map, which keep its proportions; `None` of other heatmaps.
fn map_size(y: &PlotAxis, x: &PlotAxis, screen: Screen) -> Option<[usize; 2]> {
    let aspect = aspect(y, x)?;
    let columns = usize::try_from(x.extent()).unwrap_or(usize::MAX);
    let columns_max = columns_max(y, screen.width);
    let drawn = columns.clamp(1, columns_max) * growth(columns, columns_max);
    #[allow(clippy::cast_precision_loss, reason = "pixels of a terminal are few")]
    let room = [PIXEL_ROWS_MAX as f64, drawn as f64];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the room")]
    Some(within(room, Some(aspect)).map(|len| (len.round() as usize).max(1)))
}

/// The most columns of cells.
fn columns_max(y: &PlotAxis, width: usize) -> usize {
    width.saturating_sub(gutter(y, width) + 3).max(1)
}

/// The columns of the labels beside the cells.
fn gutter(y: &PlotAxis, width: usize) -> usize {
    let labels = y.ticks(PIXEL_ROWS_MAX / 2).into_iter();
    let longest = labels.map(|tick| tick.text.chars().count()).max().unwrap_or(0);
    longest.min(gutter_max(width))
}

/// How many pixels one of `count` cells has.
fn growth(count: usize, most: usize) -> usize {
    (most / count.max(1)).clamp(1, GROWTH_MAX)
}

/// Draws the heatmap, the labels of its axes and the scale of its colors.
pub(super) fn draw(
    picture: &Picture,
    field: &PlotField,
    y: &PlotAxis,
    x: &PlotAxis,
    screen: Screen,
    out: &mut String,
) {
    let Screen { width, depth } = screen;
    let field = field.within(room(y, x, screen));
    let pixels = Pixels::new(&field, y, x, screen);
    let lines = pixels.row_count.div_ceil(pixels.rows_in_line);
    let (labels, rows) =
        beside(lines, gutter(y, width), |count| turned(y.ticks(count), y.is_from_bottom()));
    let gutter = widest(&labels);
    for (nth, label) in labels.iter().enumerate() {
        let _ = write!(out, "  {label:>gutter$} ");
        pixels.line(nth, picture, depth, out);
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    let columns = pixels.column_count;
    let (texts, ticks) = below(columns, |count| turned(x.ticks(count), x.is_from_right()));
    line(out, &format!("  {:gutter$} {texts}", ""));
    let [y_title, x_title] = [y.title_of(&rows), x.title_of(&ticks)];
    if y_title.is_empty() {
        line(out, &format!("  {:gutter$} {}", "", name_below(&x_title, columns)));
    } else {
        let names = format!("  {:gutter$} y: {y_title}, x: {x_title}", "");
        line(out, &cut(&names, width));
    }
    legend(picture, gutter, width, depth, out);
}

/// The numbers of the lowest and the highest color, the unit, and the color of NaN.
fn legend(picture: &Picture, gutter: usize, width: usize, depth: Depth, out: &mut String) {
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
    let name = picture.value_within(|text| text.chars().count() <= room);
    if room > 3 && !name.is_empty() {
        let _ = write!(out, " {}", cut(&name, room));
    }
    out.push('\n');
}

/// Cells that share pixels evenly, so that small heatmaps are large enough to be seen.
struct Pixels {
    cells: Vec<f64>,
    cell_rows: usize,
    cell_columns: usize,
    row_count: usize,
    column_count: usize,
    rows_in_line: usize,
}

impl Pixels {
    fn new(field: &PlotField, y: &PlotAxis, x: &PlotAxis, screen: Screen) -> Pixels {
        let is_plain = screen.depth == Depth::Plain;
        // A character is about twice as high as it is wide.
        let rows_in_line = if is_plain { 1 } else { 2 };
        let halved = |rows: usize| if is_plain { rows.div_ceil(2) } else { rows };
        let [row_count, column_count] = match map_size(y, x, screen) {
            Some([rows, columns]) => [halved(rows), columns],
            None => {
                let columns = growth(field.column_count, columns_max(y, screen.width));
                let rows = halved(columns).min(growth(field.row_count, halved(PIXEL_ROWS_MAX)));
                [field.row_count * rows, field.column_count * columns]
            }
        };
        let (cell_rows, cell_columns) = (field.row_count, field.column_count);
        let cells = field.seen(y, x);
        Pixels { cells, cell_rows, cell_columns, row_count, column_count, rows_in_line }
    }

    /// The value of a pixel; `None` past the last row.
    fn at(&self, row: usize, column: usize) -> Option<f64> {
        let of = |at: usize, count: usize, cells: usize| at * cells / count.max(1);
        let row_of = of(row, self.row_count, self.cell_rows);
        let at = row_of * self.cell_columns + of(column, self.column_count, self.cell_columns);
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
    use tet_query::CoordinateRole;

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
        let axis = |extent| PlotAxis::positions("a", extent, 0, 1);
        let at = |rows, columns, width, depth| {
            room(&axis(rows), &axis(columns), Screen { width, depth })
        };
        let wide = |rows, columns| at(rows, columns, 80, Depth::True);
        assert_eq!(wide(30, 60), [30, 60]);
        // Labels of three digits, of two and of one, and three blanks.
        assert_eq!(wide(360, 720), [37, 74]);
        assert_eq!(at(30, 60, 40, Depth::True), [17, 35]);
        assert_eq!([wide(3, 500), wide(500, 3), wide(1, 1)], [[3, 76], [48, 3], [1, 1]]);
        // Long labels have a quarter of the columns.
        let names = PlotAxis::labeled("a", vec!["n".repeat(30), "m".repeat(90)]);
        for width in [80, 200] {
            let room = room(&names, &axis(500), Screen { width, depth: Depth::True });
            assert_eq!(room[1], width - width / 4 - 3, "{width}");
        }
        assert_eq!(wide(1_000_000, 10), [48, 10]);
        assert_eq!(at(30, 60, 80, Depth::Plain), [15, 60]);
    }

    #[test]
    fn a_map_has_square_degrees() {
        let size = |lat: [f64; 2], lon: [f64; 2], count: [usize; 2], depth| {
            let lat = PlotAxis::evenly("lat", lat[0], lat[1], count[0]);
            let lon = PlotAxis::evenly("lon", lon[0], lon[1], count[1]);
            let (y, x) =
                (lat.with_role(CoordinateRole::Latitude), lon.with_role(CoordinateRole::Longitude));
            let screen = Screen { width: 80, depth };
            let field =
                crate::FieldFold::new([count[0] as u64, count[1] as u64], room(&y, &x, screen))
                    .finish();
            let pixels = Pixels::new(&field, &y, &x, screen);
            [pixels.row_count, pixels.column_count]
        };
        let world = |count, depth| size([-90.0, 90.0], [0.0, 360.0], count, depth);
        assert_eq!(world([64, 64], Depth::True), [32, 64]);
        assert_eq!(world([7, 60], Depth::True), [30, 60]);
        assert_eq!(world([64, 64], Depth::Plain), [16, 64]);
        assert_eq!(size([0.0, 60.0], [0.0, 20.0], [60, 20], Depth::True), [48, 16]);
    }
}
