//! A histogram of block characters in eight heights.

use super::{TICKS_MAX, below, beside, gutter_max, line, widest};
use crate::bins::Bins;
use crate::cells::Cells;
use crate::picture::Picture;
use crate::scale::Scale;
use crate::ticks::{self, turned};

/// Lines of text.
const LINES: usize = 10;
const BLOCKS: [char; 9] = [
    ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
    '\u{2588}',
];
/// The most columns of a bar.
const BAR_MAX: usize = 8;

/// Draws the bars, with counts to the left and edges below; neighbors share a bar where there are more bins
/// than columns.
pub(super) fn draw(picture: &Picture, bins: &Bins, width: usize, out: &mut String) {
    let columns_max = width.saturating_sub(12).max(1);
    let cells = Cells::new(bins.counts.len() as u64, columns_max);
    let count = |cell: usize| {
        let positions = cells.positions(cell);
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let counts = bins.counts.get(index(positions.start)..index(positions.end));
        #[allow(clippy::cast_precision_loss, reason = "the height of a bar")]
        counts.map_or(0.0, |counts| counts.iter().map(|&count| count as f64).sum())
    };
    let counts: Vec<f64> = (0..cells.len()).map(count).collect();
    let most = counts.iter().copied().fold(0.0, f64::max);
    let heights = Scale::given(0.0, if most > 0.0 { most } else { 1.0 });
    let (labels, _) = beside(LINES, gutter_max(width), |count| {
        turned(ticks::of_scale(&heights, count.min(TICKS_MAX)), true)
    });
    let gutter = widest(&labels);
    let bar = (columns_max / counts.len().max(1)).clamp(1, BAR_MAX);
    for (nth, label) in labels.iter().enumerate() {
        let block = |&count: &f64| block(heights.part(count).unwrap_or(0.0), LINES - 1 - nth);
        let bars = counts.iter().flat_map(|count| std::iter::repeat_n(block(count), bar));
        line(out, &format!("  {label:>gutter$} |{}", bars.collect::<String>()));
    }
    let columns = counts.len() * bar;
    line(out, &format!("  {:gutter$} +{}", "", "-".repeat(columns)));
    let (marks, _) = below(columns, |count| ticks::of_scale(&picture.scale, count));
    line(out, &format!("  {:gutter$}  {marks}", ""));
}

/// The character of a bar in the line `above` the lowest.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of 0..=1 times a small count"
)]
fn block(part: f64, above: usize) -> char {
    let eighths = (part * (LINES * 8) as f64).round() as usize;
    // A count of one is seen too.
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    BLOCKS[eighths.saturating_sub(above * 8).min(8)]
}
