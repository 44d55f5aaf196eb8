//! A heatmap of two axes in the terminal.
//!
//! With colors every character is an upper half block: its foreground is one row of pixels, its
//! background the next. Without colors one character of a ramp shows two rows.

use std::fmt::Write;

use crate::escape::Escaped;
use crate::streams::Depth;

/// At most this many rows of pixels; a line of text shows two.
const PIXEL_ROWS_MAX: usize = 48;
/// At most this many pixels for one value, in each direction.
const GROWTH_MAX: usize = 6;
/// Steps of the color scale under the heatmap.
const LEGEND_STEPS: u8 = 24;
/// From low to high; a blank is a value that is not finite.
const RAMP: &[u8] = b".:-=+*#%@";

/// A matrix of values, with the labels of its axes.
#[derive(Debug, Clone)]
pub(crate) struct Heatmap {
    /// Row-major values; those that are not finite are blank.
    pub(crate) values: Vec<f64>,
    /// Rows of the matrix.
    pub(crate) row_count: usize,
    /// Columns of the matrix.
    pub(crate) column_count: usize,
    /// Labels of the rows, or none.
    pub(crate) row_labels: Vec<String>,
    /// Labels of the columns, or none.
    pub(crate) column_labels: Vec<String>,
    /// The unit of the values, or nothing.
    pub(crate) unit: String,
}

impl Heatmap {
    /// Draws lines of at most `width` columns.
    #[must_use]
    pub(crate) fn draw(&self, depth: Depth, width: usize) -> String {
        if self.row_count == 0 || self.column_count == 0 {
            return "(no values)\n".to_owned();
        }
        let gutter = self.gutter();
        let pixels = self.pixels(width.saturating_sub(gutter + 3).max(1));
        let range = Range::of(&pixels.values);
        let mut out = String::new();
        for line in 0..pixels.row_count.div_ceil(2) {
            let label = self.row_label(&pixels, line);
            // Labels are cut to the width of the gutter.
            let _ = write!(out, "  {label:>gutter$} ");
            pixels.line(line, &range, depth, &mut out);
            out.push('\n');
        }
        self.column_line(&pixels, gutter, &mut out);
        self.legend(&range, depth, gutter, width, &mut out);
        out
    }

    fn gutter(&self) -> usize {
        self.row_labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(12)
    }

    /// Scales the values to the size of the heatmap, by means or by repetition, equally on both axes.
    fn pixels(&self, column_max: usize) -> Pixels {
        let shrink = self
            .column_count
            .div_ceil(column_max)
            .max(self.row_count.div_ceil(PIXEL_ROWS_MAX))
            .max(1);
        let grow = (column_max / self.column_count)
            .min(PIXEL_ROWS_MAX / self.row_count)
            .clamp(1, GROWTH_MAX);
        let (row_count, column_count) =
            (self.row_count.div_ceil(shrink) * grow, self.column_count.div_ceil(shrink) * grow);
        let value = |at: usize| {
            let (row, column) = (at / column_count / grow, at % column_count / grow);
            self.mean(row * shrink, column * shrink, shrink)
        };
        let values = (0..row_count * column_count).map(value).collect();
        Pixels { values, row_count, column_count, shrink, grow }
    }

    fn mean(&self, row: usize, column: usize, len: usize) -> f64 {
        let rows = row..(row + len).min(self.row_count);
        let cells = rows.flat_map(|row| {
            let columns = column..(column + len).min(self.column_count);
            columns.filter_map(move |column| self.values.get(row * self.column_count + column))
        });
        // A pixel is blank if half of its values are not finite.
        let (count, holes) = cells.clone().fold((0_usize, 0_usize), |(count, holes), value| {
            (count + 1, holes + usize::from(!value.is_finite()))
        });
        if count <= holes * 2 { f64::NAN } else { mean(cells.copied()) }
    }

    fn row_label(&self, pixels: &Pixels, line: usize) -> String {
        let row = line * 2 / pixels.grow * pixels.shrink;
        let before = line.checked_sub(1).map(|line| line * 2 / pixels.grow * pixels.shrink);
        let label = self.row_labels.get(row).filter(|_| before != Some(row));
        // Every third label is enough to read the axis.
        let label = label.filter(|_| pixels.grow > 2 || line.is_multiple_of(3));
        label.map(|label| cut(label, self.gutter())).unwrap_or_default()
    }

    fn column_line(&self, pixels: &Pixels, gutter: usize, out: &mut String) {
        let (Some(first), Some(last)) = (self.column_labels.first(), self.column_labels.last())
        else {
            return;
        };
        let middle = self.column_labels.get(self.column_count / 2).cloned().unwrap_or_default();
        let texts = [cut(first, 20), cut(&middle, 20), cut(last, 20)];
        let len: usize = texts.iter().map(|text| text.chars().count()).sum();
        let Some(blank) = pixels.column_count.checked_sub(len).filter(|&blank| blank >= 4) else {
            return;
        };
        let left = " ".repeat(blank / 2);
        let right = " ".repeat(blank - blank / 2);
        let [first, middle, last] = texts;
        let line = format!("  {:gutter$} {first}{left}{middle}{right}{last}", "");
        let _ = writeln!(out, "{}", line.trim_end());
    }

    fn legend(&self, range: &Range, depth: Depth, gutter: usize, width: usize, out: &mut String) {
        let (low, high) = (brief(range.low), brief(range.high));
        let unit =
            if self.unit.is_empty() { String::new() } else { format!(" {}", Escaped(&self.unit)) };
        let steps = if depth == Depth::Plain { RAMP.len() } else { LEGEND_STEPS.into() };
        let len = low.len() + 1 + steps + 1 + high.len() + unit.chars().count();
        let indent = (gutter + 3).min(width.saturating_sub(len));
        let _ = write!(out, "{:indent$}{low} ", "");
        match depth {
            Depth::Plain => out.push_str(&String::from_utf8_lossy(RAMP)),
            _ => {
                for step in 0..LEGEND_STEPS {
                    let color = color(f64::from(step) / f64::from(LEGEND_STEPS - 1), depth);
                    let _ = write!(out, "\u{1b}[48;{color}m ");
                }
                out.push_str("\u{1b}[0m");
            }
        }
        let _ = write!(out, " {high}{unit}");
        out.push('\n');
    }
}

struct Pixels {
    values: Vec<f64>,
    row_count: usize,
    column_count: usize,
    shrink: usize,
    grow: usize,
}

impl Pixels {
    fn at(&self, row: usize, column: usize) -> f64 {
        let inside = row < self.row_count;
        let value = self.values.get(row * self.column_count + column).filter(|_| inside);
        value.copied().unwrap_or(f64::NAN)
    }

    fn line(&self, line: usize, range: &Range, depth: Depth, out: &mut String) {
        let mut before = String::new();
        for column in 0..self.column_count {
            let (upper, lower) = (self.at(2 * line, column), self.at(2 * line + 1, column));
            if depth == Depth::Plain {
                out.push(range.ramp(mean([upper, lower].into_iter())));
                continue;
            }
            let (upper, lower) = (range.color(upper, depth), range.color(lower, depth));
            let (style, block) = match (upper, lower) {
                (None, None) => ("0".to_owned(), ' '),
                (Some(upper), None) => (format!("0;38;{upper}"), '\u{2580}'),
                (None, Some(lower)) => (format!("0;38;{lower}"), '\u{2584}'),
                (Some(upper), Some(lower)) => (format!("38;{upper};48;{lower}"), '\u{2580}'),
            };
            if style != before {
                let _ = write!(out, "\u{1b}[{style}m");
                before = style;
            }
            out.push(block);
        }
        if depth != Depth::Plain {
            out.push_str("\u{1b}[0m");
        } else {
            out.truncate(out.trim_end_matches(' ').len());
        }
    }
}

/// The smallest and largest finite value.
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(values: &[f64]) -> Range {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let low = finite().reduce(f64::min).unwrap_or(f64::NAN);
        Range { low, high: finite().reduce(f64::max).unwrap_or(low) }
    }

    /// The position of a value between low and high, 0 to 1; 0.5 if all values are equal.
    fn part(&self, value: f64) -> Option<f64> {
        // Halves keep the difference of any two finite values finite.
        let span = self.high / 2.0 - self.low / 2.0;
        let part = if span > 0.0 { (value / 2.0 - self.low / 2.0) / span } else { 0.5 };
        value.is_finite().then(|| part.clamp(0.0, 1.0))
    }

    fn ramp(&self, value: f64) -> char {
        self.part(value).map_or(' ', |part| char::from(RAMP[step(part, RAMP.len())]))
    }

    fn color(&self, value: f64, depth: Depth) -> Option<String> {
        self.part(value).map(|part| color(part, depth))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values.filter(|value| value.is_finite()) {
        sum += value;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { f64::NAN }
}

/// The index of the step, of `count` equal ones, that contains a part of 0..=1.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of 0..=1 times a small count"
)]
fn step(part: f64, count: usize) -> usize {
    ((part * count as f64) as usize).min(count.saturating_sub(1))
}

/// The SGR parameters of a color after `38;` or `48;`.
fn color(part: f64, depth: Depth) -> String {
    let color = colorous::TURBO.eval_continuous(0.04 + 0.92 * part);
    match depth {
        Depth::True => format!("2;{};{};{}", color.r, color.g, color.b),
        _ => format!("5;{}", indexed(color.r, color.g, color.b)),
    }
}

/// The nearest color of the 6 x 6 x 6 cube of the palette of 256.
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    let level = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    16 + 36 * level(r) + 6 * level(g) + level(b)
}

/// A label, escaped and cut to the width.
fn cut(label: &str, len_max: usize) -> String {
    let label = Escaped(label).to_string();
    if label.chars().count() <= len_max {
        return label;
    }
    label.chars().take(len_max.saturating_sub(1)).chain(['~']).collect()
}

/// A number with three or four digits.
fn brief(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "-".to_owned(),
        0.0 => "0".to_owned(),
        ..1e-3 | 1e6.. => format!("{value:.2e}"),
        ..1.0 => format!("{value:.3}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(row_count: usize, column_count: usize, values: Vec<f64>) -> Heatmap {
        Heatmap {
            values,
            row_count,
            column_count,
            row_labels: (0..row_count).map(|row| format!("r{row}")).collect(),
            column_labels: Vec::new(),
            unit: String::new(),
        }
    }

    #[test]
    fn a_gradient_runs_through_the_ramp() {
        let values = (0..9).map(f64::from).collect();
        let mut map = map(1, 9, values);
        map.row_labels.clear();
        let text = map.draw(Depth::Plain, 18);
        assert_eq!(text, "   .:-=+*#%@\n   0 .:-=+*#%@ 8.0\n");
    }

    #[test]
    fn what_is_not_a_number_is_blank() {
        let values = vec![0.0, f64::NAN, f64::INFINITY, 1.0];
        let mut map = map(1, 4, values);
        map.row_labels.clear();
        let text = map.draw(Depth::Plain, 9);
        assert_eq!(text.lines().next(), Some("   .  @"));
        let blank = Heatmap { values: vec![f64::NAN; 4], ..map };
        assert!(blank.draw(Depth::True, 9).contains("- "));
    }

    #[test]
    fn any_shape_fits_the_width() {
        for (rows, columns) in [(1, 1), (3, 500), (500, 3), (1, 80), (30, 60), (101, 99), (2, 2)] {
            let values =
                (0..rows * columns).map(|at| f64::from(u32::try_from(at).unwrap())).collect();
            let map = map(rows, columns, values);
            for width in [20, 80, 200] {
                let text = map.draw(Depth::Plain, width);
                let widest = text.lines().map(str::len).max().unwrap_or(0);
                assert!(widest <= width, "{rows}x{columns} at {width}: {widest}");
                assert!(text.lines().count() <= PIXEL_ROWS_MAX / 2 + 2);
            }
        }
    }

    #[test]
    fn a_constant_or_extreme_heatmap_is_drawn() {
        for values in [vec![3.0; 4], vec![f64::MAX, f64::MIN, 0.0, 1.0]] {
            let text = map(2, 2, values).draw(Depth::Indexed, 40);
            assert!(text.contains('\u{2580}'), "{text:?}");
        }
    }

    #[test]
    fn h13_labels_are_cut_and_escaped() {
        let mut map = map(1, 1, vec![1.0]);
        map.row_labels = vec!["\u{1b}[2J and a long name".to_owned()];
        let text = map.draw(Depth::Plain, 40);
        assert!(!text.chars().any(|c| c != '\n' && crate::escape::acts(c)), "{text:?}");
    }

    #[test]
    fn the_palette_is_the_cube() {
        assert_eq!(indexed(0, 0, 0), 16);
        assert_eq!(indexed(255, 255, 255), 231);
        assert_eq!(indexed(255, 0, 0), 196);
    }
}
