//! A picture as lines of text: half blocks in colors or a ramp of characters, braille dots, block bars.

mod bars;
mod dots;
mod heatmap;

use crate::axis::PlotAxis;
use crate::medium::Depth;
use crate::picture::{Picture, Shown};
use crate::ticks::{self, Tick};
use crate::visible::cut;

pub(crate) use dots::columns;
pub(crate) use heatmap::room;

/// Marks beside a line or bars.
const TICKS_MAX: usize = 5;

/// Draws lines of at most `width` columns.
pub(crate) fn draw(picture: &Picture, width: usize, depth: Depth) -> String {
    let mut out = String::new();
    // A heatmap has its unit beside its colors.
    let has_unit = !picture.unit.is_empty() && !matches!(picture.shown, Shown::Heatmap { .. });
    let unit = if has_unit { format!(" ({})", picture.unit) } else { String::new() };
    let title = format!("{}{unit}", picture.title);
    if !title.is_empty() {
        line(&mut out, &format!("  {}", cut(&title, width.saturating_sub(2))));
    }
    match &picture.shown {
        Shown::Heatmap { field, y, x } => {
            heatmap::draw(picture, (field, y, x), (width, depth), &mut out);
        }
        Shown::Line { series, x } => dots::draw(picture, (series, x), width, &mut out),
        Shown::Histogram(bins) => bars::draw(picture, bins, width, &mut out),
    }
    let remarks = picture.remarks();
    if !remarks.is_empty() && !matches!(picture.shown, Shown::Heatmap { .. }) {
        line(&mut out, &cut(&format!("  {}", remarks.join(", ")), width));
    }
    out
}

/// Adds a line, without blanks at its end.
fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// The labels beside the rows of a picture: for each row one or none.
fn beside((rows, width): (usize, usize), ticks: impl Fn(usize) -> Vec<Tick>) -> Vec<String> {
    let mut labels = vec![String::new(); rows];
    #[allow(clippy::cast_precision_loss, reason = "rows of text")]
    let ticks = ticks::fitting((rows as f64, 0.5, rows.div_ceil(2)), ticks, |_| 1.0);
    for tick in ticks {
        if let Some(label) = labels.get_mut(cell(tick.part, rows)) {
            *label = cut(&tick.text, gutter_max(width));
        }
    }
    labels
}

/// The most characters of a label beside a picture.
fn gutter_max(width: usize) -> usize {
    (width / 4).clamp(4, 12)
}

/// The columns of the longest label.
fn widest(labels: &[String]) -> usize {
    labels.iter().map(|label| label.chars().count()).max().unwrap_or(0)
}

/// A line of labels below a picture of this many columns.
fn below(columns: usize, ticks: impl Fn(usize) -> Vec<Tick>) -> String {
    let len = |text: &str| text.chars().count();
    #[allow(clippy::cast_precision_loss, reason = "columns of text")]
    let ticks = ticks::fitting((columns as f64, 2.0, 8), ticks, |text| len(text) as f64);
    let mut out: Vec<char> = vec![' '; columns];
    for tick in ticks {
        let text: Vec<char> = cut(&tick.text, columns).chars().collect();
        let start = cell(tick.part, columns).saturating_sub(text.len() / 2);
        let start = start.min(columns - text.len());
        // Labels moved in from an end may touch the next: the first one is kept.
        let before = start.saturating_sub(1);
        if out[before..start + text.len()].iter().all(|&c| c == ' ') {
            out[start..start + text.len()].copy_from_slice(&text);
        }
    }
    out.into_iter().collect()
}

/// A line for the name of the axis below a picture.
fn name_below(axis: &PlotAxis, columns: usize) -> String {
    let name = cut(&axis.title(), columns);
    let blank = (columns - name.chars().count()) / 2;
    format!("{:blank$}{name}", "")
}

/// Of `count` cells the one that has the place `part`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of 0..=1 times a small count"
)]
fn cell(part: f64, count: usize) -> usize {
    ((part * count as f64) as usize).min(count.saturating_sub(1))
}
