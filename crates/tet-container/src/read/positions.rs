//! Chunks of a dataset as positions along its axes: `time 30..59`.

use std::ops::Range;

use tet_query::Dataset;

use crate::model::axes::names_of;

/// Ranges that a text names, at most.
const RANGES_MAX: usize = 4;

/// A part of a dataset: its positions along each axis.
pub type AxisRanges = Vec<Range<u64>>;

/// The positions of chunks, by their coordinates in row-major order: `time 30..59, lat 0..9`, the first of many. Axes of
/// which all is there are not named.
#[must_use]
pub fn chunk_positions(dataset: &Dataset, chunks: impl IntoIterator<Item = Vec<u64>>) -> String {
    text(dataset, &ranges(dataset, chunks))
}

/// The parts of a dataset that chunks are, which those that follow each other along one axis have in common.
pub fn ranges(dataset: &Dataset, chunks: impl IntoIterator<Item = Vec<u64>>) -> Vec<AxisRanges> {
    let mut boxes: Vec<AxisRanges> = Vec::new();
    for coord in chunks {
        let extents = dataset.grid.extents_of(&coord);
        let origin = dataset.grid.origin_of(&coord);
        let ranges = origin.into_iter().zip(extents).map(|(at, len)| at..at.saturating_add(len));
        boxes.push(ranges.collect());
        while let [.., last, next] = &mut boxes[..]
            && join(last, next)
        {
            boxes.pop();
        }
    }
    boxes
}

/// Lengthens a part by one that follows it along one axis, and is the same along the others.
fn join(last: &mut [Range<u64>], next: &[Range<u64>]) -> bool {
    let mut differing = last.iter_mut().zip(next).filter(|(one, other)| *one != *other);
    match (differing.next(), differing.next()) {
        (Some((one, other)), None) if one.end == other.start => {
            one.end = other.end;
            true
        }
        _ => false,
    }
}

/// The first of many parts of a dataset, as text.
pub fn text(dataset: &Dataset, boxes: &[AxisRanges]) -> String {
    let shown = boxes.iter().take(RANGES_MAX).map(|ranges| positions(dataset, ranges));
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = boxes.len().checked_sub(RANGES_MAX).filter(|more| *more != 0) {
        let s = if more == 1 { "" } else { "s" };
        text += &format!("; and {more} more part{s}");
    }
    text
}

/// The axes of a part that it does not have all of, with its first and last position.
fn positions(dataset: &Dataset, ranges: &[Range<u64>]) -> String {
    let names = names_of(dataset);
    let axes = ranges.iter().zip(dataset.shape()).enumerate();
    let partial = axes.filter(|(_, (range, extent))| **range != (0..**extent));
    let shown = partial.map(|(axis, (range, _))| {
        let last = range.end.saturating_sub(1);
        let name = names.get(axis).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| format!("axis {axis}"), |it| it.escape_debug().to_string());
        if range.start == last {
            format!("{name} {last}")
        } else {
            format!("{name} {}..{last}", range.start)
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Selections, each along one axis, of what is in none of the parts: along the axis that loses the fewest positions.
/// None where each position of every axis is in one.
pub fn outside(dataset: &Dataset, boxes: &[AxisRanges]) -> Vec<String> {
    let names = names_of(dataset);
    let axes = dataset.shape().iter().enumerate().filter_map(|(axis, &extent)| {
        let name = names.get(axis).filter(|it| !it.is_empty())?;
        let mut lost: AxisRanges = boxes.iter().filter_map(|it| it.get(axis).cloned()).collect();
        lost.sort_by_key(|range| range.start);
        let (mut rest, mut at, mut count) = (Vec::new(), 0, 0);
        for Range { start, end } in lost.into_iter().chain(std::iter::once(extent..extent)) {
            if at < start {
                rest.push(format!("{name}#{at}:{start}"));
                count += start - at;
            }
            at = at.max(end);
        }
        // Of all elements these are as many as the positions of the axis are of all positions.
        #[allow(clippy::cast_precision_loss, reason = "shares are compared")]
        let share = count as f64 / extent.max(1) as f64;
        (count != 0).then_some((share, rest))
    });
    axes.max_by(|one, other| one.0.total_cmp(&other.0)).map_or_else(Vec::new, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tet_format::{DType, Grid, Span};
    use tet_io::Source;

    use super::*;
    use crate::read::slabs::Slabs;

    fn dataset(shape: &[u64], chunk: &[u64], dims: &[&str]) -> Dataset {
        let grid = Grid::new(shape.into(), chunk.into()).unwrap();
        let table = Slabs::new(grid.clone(), 8, Span::new(0, 0).unwrap());
        let source = Source::from_bytes(Vec::new());
        let mut dataset = Dataset::new(source, "tas", DType::UInt8, grid, Arc::new(table));
        dataset.dims = dims.iter().map(|&name| name.to_owned()).collect();
        dataset
    }

    #[test]
    fn chunks_beside_each_other_are_one_part() {
        let tas = dataset(&[10, 4], &[3, 2], &["time", "lat"]);
        let text = |chunks: &[[u64; 2]]| chunk_positions(&tas, chunks.iter().map(|it| it.to_vec()));
        assert_eq!(text(&[[1, 0]]), "time 3..5, lat 0..1");
        assert_eq!(text(&[[1, 0], [1, 1]]), "time 3..5");
        assert_eq!(text(&[[1, 0], [1, 1], [2, 0], [2, 1]]), "time 3..8");
        assert_eq!(text(&[[1, 1], [3, 0]]), "time 3..5, lat 2..3; time 9, lat 0..1");
        let line = dataset(&[12], &[1], &["x"]);
        let apart = (0..6).map(|at| vec![2 * at]);
        assert_eq!(chunk_positions(&line, apart), "x 0; x 2; x 4; x 6; and 2 more parts");
        assert_eq!(chunk_positions(&dataset(&[4, 4], &[2, 4], &[]), [vec![1, 0]]), "axis 0 2..3");
    }

    #[test]
    fn what_can_be_read_is_selected_along_the_axis_that_loses_least() {
        let tas = dataset(&[10, 4], &[3, 2], &["time", "lat"]);
        let outside =
            |chunks: &[[u64; 2]]| outside(&tas, &ranges(&tas, chunks.iter().map(|it| it.to_vec())));
        assert_eq!(outside(&[[1, 0], [1, 1]]), ["time#0:3", "time#6:10"]);
        assert_eq!(outside(&[[0, 0], [1, 0], [2, 0], [3, 0]]), ["lat#2:4"]);
        assert_eq!(outside(&[[0, 0], [1, 1], [2, 0], [3, 0]]), [""; 0]);
    }
}
