//! Arrays as text in the layout of NumPy: nested brackets, aligned columns, only the edges of large ones.
//!
//! ```text
//!   [[ 1.   2.5 ...  9. ]
//!    ...
//!    [ 4.   1.5 ... -0.2]]
//! ```

use super::number::Number;
use super::numbers::Numbers;
use crate::escape::Escaped;
use crate::size::counted;

/// Positions shown at each end of a long axis.
pub(crate) const EDGE: u64 = 3;
/// Only the edges of an array of more elements are shown.
pub(crate) const ELEMENTS_SHOWN_MAX: u64 = 1000;
/// At most this many digits after the point.
const PRECISION: usize = 8;

/// The shown part of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All positions of an axis of this extent.
    All(u64),
    /// [`EDGE`] positions at each end.
    Edges,
}

impl Shown {
    /// The number of shown positions.
    #[must_use]
    pub(crate) fn count(self) -> u64 {
        match self {
            Shown::All(count) => count,
            Shown::Edges => 2 * EDGE,
        }
    }
}

/// The shown part of an array of this shape; an array without elements is shown as `[]`.
#[must_use]
pub(crate) fn shown(shape: &[u64], full: bool) -> Vec<Shown> {
    if shape.contains(&0) {
        return vec![Shown::All(0)];
    }
    let count = shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent));
    let small = count.is_some_and(|count| count <= ELEMENTS_SHOWN_MAX);
    let part = |&extent: &u64| {
        if full || small || extent <= 2 * EDGE { Shown::All(extent) } else { Shown::Edges }
    };
    shape.iter().map(part).collect()
}

/// Lays out the shown values, row-major, in lines of at most `width` columns.
#[must_use]
pub(crate) fn lay_out(axes: &[Shown], values: &[Number], width: usize) -> String {
    let texts = texts(values);
    if axes.is_empty() {
        return texts.first().map(|text| text.trim().to_owned()).unwrap_or_default();
    }
    let mut layout = Layout { texts: texts.iter(), out: String::new(), width };
    layout.block(axes, 1);
    layout.out
}

/// Lays out the shown texts, row-major, between quotes: what could act on a terminal is escaped.
#[must_use]
pub(crate) fn lay_out_texts(axes: &[Shown], texts: &[String], width: usize) -> String {
    if axes.is_empty() {
        return texts.first().map(|text| Escaped(text).to_string()).unwrap_or_default();
    }
    let quoted = |text: &String| format!("'{}'", Escaped(text).to_string().replace('\'', "\\'"));
    let texts: Vec<String> = texts.iter().map(quoted).collect();
    let mut layout = Layout { texts: texts.iter(), out: String::new(), width };
    layout.block(axes, 1);
    layout.out
}

/// Lays out a complete array; of a large one only the edges are shown.
#[must_use]
pub(crate) fn lay_out_all(axes: &[Shown], shape: &[u64], values: &Numbers, width: usize) -> String {
    let mut shown = Vec::new();
    pick(axes, shape, 0, &mut |at| shown.extend(values.get(at)));
    lay_out(axes, &shown, width)
}

/// The line about elements of an array of this shape that are not shown; `None` if all are.
#[must_use]
pub(crate) fn more_line(axes: &[Shown], shape: &[u64]) -> Option<String> {
    let all = shape.iter().copied().fold(1, u64::saturating_mul);
    let shown = axes.iter().map(|axis| axis.count()).fold(1, u64::saturating_mul);
    let more = all.checked_sub(shown).filter(|more| *more != 0)?;
    Some(format!("  ... {} (use --full, or -o FILE)", counted(more, "more value")))
}

/// Calls `take` with the linear position of every shown element, row-major.
fn pick(axes: &[Shown], shape: &[u64], before: u64, take: &mut impl FnMut(usize)) {
    let (Some((axis, axes)), Some((&extent, shape))) = (axes.split_first(), shape.split_first())
    else {
        take(usize::try_from(before).unwrap_or(usize::MAX));
        return;
    };
    for at in 0..axis.count() {
        let skipped = if *axis == Shown::Edges && at >= EDGE { extent - 2 * EDGE } else { 0 };
        pick(axes, shape, before * extent + at + skipped, take);
    }
}

/// The values as texts of one width, for a column.
#[must_use]
pub(crate) fn column(values: &[Number]) -> Vec<String> {
    texts(values)
}

/// The number of columns, of `columns_max`, that a part of 0..=1 fills.
#[must_use]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of 0..=1 times a small count; NaN becomes 0"
)]
pub(crate) fn columns(part: f64, columns_max: usize) -> usize {
    ((part.clamp(0.0, 1.0) * columns_max as f64).round() as usize).min(columns_max)
}

struct Layout<'a> {
    texts: std::slice::Iter<'a, String>,
    out: String,
    width: usize,
}

impl Layout<'_> {
    fn block(&mut self, axes: &[Shown], indent: usize) {
        let Some((axis, inner)) = axes.split_first() else { return };
        self.out.push('[');
        if inner.is_empty() {
            self.row(*axis, indent);
        } else {
            self.blocks(*axis, inner, indent);
        }
        self.out.push(']');
    }

    fn blocks(&mut self, axis: Shown, inner: &[Shown], indent: usize) {
        let separator = format!("{}{}", "\n".repeat(inner.len()), " ".repeat(indent));
        for at in 0..axis.count() {
            if at > 0 {
                self.out.push_str(&separator);
            }
            if axis == Shown::Edges && at == EDGE {
                self.out.push_str("...");
                self.out.push_str(&separator);
            }
            self.block(inner, indent + 1);
        }
    }

    /// The innermost axis: values on one line; further lines are indented to the first value.
    fn row(&mut self, axis: Shown, indent: usize) {
        let mut column = indent;
        for at in 0..axis.count() {
            if axis == Shown::Edges && at == EDGE {
                self.word("...", indent, &mut column, false);
            }
            let Some(text) = self.texts.next() else { return };
            self.word(text, indent, &mut column, at == 0);
        }
    }

    fn word(&mut self, text: &str, indent: usize, column: &mut usize, first: bool) {
        // One column is reserved for the closing bracket.
        if !first && *column + 1 + text.len() + 1 > self.width {
            self.out.push('\n');
            self.out.push_str(&" ".repeat(indent));
            *column = indent;
        } else if !first {
            self.out.push(' ');
            *column += 1;
        }
        self.out.push_str(text);
        *column += text.len();
    }
}

/// The values as texts of one width.
fn texts(values: &[Number]) -> Vec<String> {
    let texts: Vec<String> = if values.iter().any(|value| value.is_float()) {
        floats(values)
    } else {
        values.iter().map(|value| value.shortest()).collect()
    };
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// Floats aligned at the point, or in exponent form if their magnitudes differ much.
fn floats(values: &[Number]) -> Vec<String> {
    let sizes = values.iter().map(|value| value.to_f64().abs());
    let sizes = || sizes.clone().filter(|size| size.is_finite() && *size > 0.0);
    let (largest, smallest) = (sizes().fold(0.0, f64::max), sizes().fold(f64::INFINITY, f64::min));
    if largest >= 1e8 || (largest > 0.0 && (smallest < 1e-4 || largest / smallest > 1000.0)) {
        return exponents(values);
    }
    let places = values.iter().filter(|value| value.to_f64().is_finite());
    let places: Vec<String> = places.map(|value| positional(*value)).collect();
    let after = places.iter().map(|text| digits_after_point(text)).max().unwrap_or(0);
    let pad = |value: &Number| {
        if !value.to_f64().is_finite() {
            return value.shortest();
        }
        let text = positional(*value);
        let missing = after - digits_after_point(&text);
        format!("{text}{}", " ".repeat(missing))
    };
    values.iter().map(pad).collect()
}

fn digits_after_point(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// `1.5`, `2.`: the shortest text, cut at [`PRECISION`] digits after the point.
fn positional(value: Number) -> String {
    let shortest = value.shortest();
    let mut text = match (shortest.contains('e'), digits_after_point(&shortest)) {
        (false, 0..=PRECISION) => shortest,
        _ => format!("{:.PRECISION$}", value.to_f64()),
    };
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').len());
    } else {
        text.push('.');
    }
    text
}

/// `1.50e+08`: all with the same number of digits.
fn exponents(values: &[Number]) -> Vec<String> {
    let mantissa = |value: &Number| {
        let short: f64 = value.shortest().parse().unwrap_or(f64::NAN);
        let text = format!("{short:e}");
        digits_after_point(text.split('e').next().unwrap_or_default())
    };
    let finite = values.iter().filter(|value| value.to_f64().is_finite());
    let digits = finite.map(mantissa).max().unwrap_or(0).min(PRECISION);
    let text = |value: &Number| {
        if !value.to_f64().is_finite() {
            return value.shortest();
        }
        let short: f64 = value.shortest().parse().unwrap_or(f64::NAN);
        let text = format!("{short:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if mantissa.contains('.') { "" } else { "." };
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        format!("{mantissa}{point}e{sign}{exponent:0>2}")
    };
    values.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i128]) -> Vec<Number> {
        values.iter().map(|&value| Number::Int(value)).collect()
    }

    fn doubles(values: &[f64]) -> Vec<Number> {
        values.iter().map(|&value| Number::F64(value)).collect()
    }

    #[test]
    fn layouts_are_those_of_numpy() {
        let all = |shape: &[u64]| shown(shape, true);
        let cases = [
            (all(&[3]), ints(&[1, -20, 3]), "[  1 -20   3]"),
            (all(&[2, 2]), ints(&[1, 2, 3, 4]), "[[1 2]\n [3 4]]"),
            (all(&[2, 1, 2]), ints(&[1, 2, 3, 4]), "[[[1 2]]\n\n [[3 4]]]"),
            (all(&[3]), doubles(&[1.0, 2.5, -0.25]), "[ 1.    2.5  -0.25]"),
            (all(&[2]), doubles(&[1.0, f64::NAN]), "[ 1. nan]"),
            (all(&[2]), doubles(&[1.0, 1e-5]), "[1.e+00 1.e-05]"),
            (all(&[2]), doubles(&[1.5e10, -3.0]), "[ 1.5e+10 -3.0e+00]"),
            (all(&[2]), doubles(&[1.0 / 3.0, 1.0]), "[0.33333333 1.        ]"),
            (all(&[1]), vec![Number::F32(0.1)], "[0.1]"),
            (all(&[0]), vec![], "[]"),
            (all(&[2, 0]), vec![], "[]"),
            (all(&[1 << 40, 0]), vec![], "[]"),
            (shown(&[0, u64::MAX, u64::MAX], false), vec![], "[]"),
            (all(&[]), doubles(&[2.5]), "2.5"),
            (all(&[]), ints(&[7]), "7"),
        ];
        for (axes, values, want) in cases {
            assert_eq!(lay_out(&axes, &values, 75), want);
        }
    }

    #[test]
    fn large_arrays_show_their_edges() {
        let axes = shown(&[1001], false);
        assert_eq!(axes, [Shown::Edges]);
        let values = ints(&[0, 1, 2, 998, 999, 1000]);
        assert_eq!(lay_out(&axes, &values, 75), "[   0    1    2 ...  998  999 1000]");
        assert_eq!(shown(&[1000], false), [Shown::All(1000)]);
        assert_eq!(shown(&[500, 6], false), [Shown::Edges, Shown::All(6)]);
        assert_eq!(shown(&[500, 6], true), [Shown::All(500), Shown::All(6)]);
        let text = lay_out(&shown(&[1001, 2], false), &ints(&[0; 12]), 75);
        assert_eq!(text, "[[0 0]\n [0 0]\n [0 0]\n ...\n [0 0]\n [0 0]\n [0 0]]");
    }

    #[test]
    fn an_array_that_is_all_there_shows_the_same_edges() {
        let values = Numbers::Listed(ints(&(0..2002).collect::<Vec<_>>()));
        let text = lay_out_all(&shown(&[1001, 2], false), &[1001, 2], &values, 75);
        assert!(text.starts_with("[[   0    1]\n"), "{text}");
        assert!(text.ends_with("[2000 2001]]"), "{text}");
        assert_eq!(text.lines().count(), 7);
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let text = lay_out(&[Shown::All(40)], &ints(&[1234; 40]), 40);
        assert!(text.lines().all(|line| line.len() <= 40), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
