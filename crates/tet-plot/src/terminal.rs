//! A picture as lines of text: half blocks in colors or a ramp of characters, braille dots, block bars.

mod bars;
mod dots;
mod heatmap;

use crate::medium::Depth;
use crate::picture::{Picture, Shown};
use crate::ticks::{self, Room, Tick};
use crate::visible::cut;

pub(crate) use dots::columns;
pub(crate) use heatmap::room;

/// Marks beside a line or bars.
const TICKS_MAX: usize = 5;
/// Marks below a picture.
const TICKS_BELOW: usize = 8;
/// Texts below a picture are cut to no less than this.
const LABEL_MIN: usize = 12;

/// The columns of a terminal, and its colors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) depth: Depth,
}

/// Draws lines of at most as many columns.
pub(crate) fn draw(picture: &Picture, screen: Screen) -> String {
    let width = screen.width;
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
            heatmap::draw(picture, field, y, x, screen, &mut out);
        }
        Shown::Line { series, x } => dots::draw(picture, series, x, width, &mut out),
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

/// The labels of at most so many columns beside the rows of a picture, for each row one or none, and their marks.
fn beside(
    rows: usize,
    gutter: usize,
    ticks: impl Fn(usize) -> Vec<Tick>,
) -> (Vec<String>, Vec<Tick>) {
    let mut labels = vec![String::new(); rows];
    #[allow(clippy::cast_precision_loss, reason = "rows of text")]
    let len = rows as f64;
    let room = Room { len, gap: 0.5, count_max: rows.div_ceil(2), past: f64::INFINITY };
    let ticks = ticks::fitting(room, ticks, |_| 1.0);
    for tick in &ticks {
        if let Some(label) = labels.get_mut(cell(tick.part, rows)) {
            *label = cut(&tick.text, gutter);
        }
    }
    (labels, ticks)
}

/// The most characters of a label beside a picture.
fn gutter_max(width: usize) -> usize {
    (width / 4).max(4)
}

/// The columns of the longest label.
fn widest(labels: &[String]) -> usize {
    labels.iter().map(|label| label.chars().count()).max().unwrap_or(0)
}

/// A line of labels below a picture of this many columns, and their marks.
fn below(columns: usize, ticks: impl Fn(usize) -> Vec<Tick>) -> (String, Vec<Tick>) {
    let len_max = (columns / TICKS_BELOW).max(LABEL_MIN).min(columns);
    let len = |text: &str| text.chars().count().min(len_max);
    #[allow(clippy::cast_precision_loss, reason = "columns of text")]
    let room = Room { len: columns as f64, gap: 2.0, count_max: TICKS_BELOW, past: 0.0 };
    #[allow(clippy::cast_precision_loss, reason = "columns of text")]
    let ticks = ticks::fitting(room, ticks, |text| len(text) as f64);
    let mut out: Vec<char> = vec![' '; columns];
    for tick in &ticks {
        let text: Vec<char> = cut(&tick.text, len_max).chars().collect();
        let start = cell(tick.part, columns).saturating_sub(text.len() / 2);
        let start = start.min(columns - text.len());
        out[start..start + text.len()].copy_from_slice(&text);
    }
    (out.into_iter().collect(), ticks)
}

/// A line for the name of the axis below a picture.
fn name_below(title: &str, columns: usize) -> String {
    let name = cut(title, columns);
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
