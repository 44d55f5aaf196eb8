//! Which positions along an axis make up which cell: all of them, each, groups, picks, windows.

use tet_query::{Axes, AxisGroups, Hyperslab, Reduction, Window, WindowAlign, WindowMode};

/// The positions of one cell along an axis; `None` where a window reaches past the end.
pub(super) type Lane = Vec<Option<u64>>;

/// Treatment of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisLanes {
    /// The lanes, in order of the cells.
    pub lanes: Vec<Lane>,
    /// Whether the result has the axis.
    pub shown: bool,
    /// Whether positions along it tell the elements of a cell apart.
    pub indexed: bool,
}

/// The lanes of every axis of a selection.
pub(super) fn slab_lanes(slab: &Hyperslab, reduction: &Reduction) -> Vec<AxisLanes> {
    let count_of = |axis: usize| slab.axes()[axis].count();
    (0..slab.axes().len())
        .map(|axis| {
            let fold = !slab.axes()[axis].is_kept()
                || match &reduction.axes {
                    Axes::All => true,
                    Axes::Some(axes) => axes.contains(&axis),
                };
            axis_lanes(axis, count_of(axis), fold, reduction)
        })
        .collect()
}

fn axis_lanes(axis: usize, count: u64, fold: bool, reduction: &Reduction) -> AxisLanes {
    if let Some(window) = reduction.window.as_ref().filter(|window| window.axis == axis) {
        return AxisLanes { lanes: windows(window, count), shown: true, indexed: true };
    }
    let picks = reduction.picks.iter().find(|picks| picks.axis == axis);
    let picked: Vec<u64> =
        picks.map_or_else(|| (0..count).collect(), |picks| picks.positions.to_vec());
    if let Some(groups) = reduction.groups.iter().find(|groups| groups.axis == axis) {
        return AxisLanes { lanes: grouped(groups, &picked), shown: true, indexed: true };
    }
    let all = || picked.iter().map(|&nth| Some(nth));
    if fold {
        return AxisLanes { lanes: vec![all().collect()], shown: false, indexed: true };
    }
    AxisLanes { lanes: all().map(|nth| vec![nth]).collect(), shown: true, indexed: false }
}

fn grouped(groups: &AxisGroups, picked: &[u64]) -> Vec<Lane> {
    let mut lanes = vec![Vec::new(); groups.labels.len()];
    for &nth in picked {
        let group = groups.group_of[super::index(nth)];
        if group != AxisGroups::NONE {
            lanes[super::index(group.into())].push(Some(nth));
        }
    }
    lanes
}

fn windows(window: &Window, count: u64) -> Vec<Lane> {
    let (count, size) = (i128::from(count), i128::from(window.size));
    let (first, last, step) = match (window.mode, window.align) {
        (WindowMode::Bins, WindowAlign::Start) => (0, count - 1, size),
        (WindowMode::Bins, WindowAlign::End) => {
            (if count % size == 0 { 0 } else { count % size - size }, count - 1, size)
        }
        (WindowMode::Rolling, align) => {
            let step = i128::from(window.step);
            match (&window.pad, align) {
                (None, _) => (0, count - size, step),
                (Some(_), WindowAlign::Start) => (1 - size, count - size, step),
                (Some(_), WindowAlign::End) => (0, count - 1, step),
            }
        }
    };
    let mut lanes = Vec::new();
    let mut start = first;
    while start <= last && 0 < count {
        let inside = |at: i128| u64::try_from(at).ok().filter(|_| at < count);
        let places = (start..start + size).map(inside);
        lanes.push(places.filter(|place| place.is_some() || window.pad.is_some()).collect());
        start += step;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tet_query::Number;

    fn starts(mode: WindowMode, size: u64, step: u64, align: WindowAlign) -> [Vec<Vec<i64>>; 2] {
        [None, Some(Number::Int(0))].map(|pad| {
            let window = Window { axis: 0, size, step, mode, pad, align, min_count: None };
            let places = |lane: &Lane| {
                lane.iter().map(|at| at.map_or(-1, |at| i64::try_from(at).unwrap())).collect()
            };
            windows(&window, 5).iter().map(places).collect()
        })
    }

    #[test]
    fn windows_lie_where_they_should() {
        use WindowAlign::{End, Start};
        let [plain, padded] = starts(WindowMode::Bins, 2, 2, Start);
        assert_eq!(plain, [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(padded, [vec![0, 1], vec![2, 3], vec![4, -1]]);
        let [plain, padded] = starts(WindowMode::Bins, 2, 2, End);
        assert_eq!(plain, [vec![0], vec![1, 2], vec![3, 4]]);
        assert_eq!(padded, [vec![-1, 0], vec![1, 2], vec![3, 4]]);
        let [plain, padded] = starts(WindowMode::Rolling, 3, 2, Start);
        assert_eq!(plain, [vec![0, 1, 2], vec![2, 3, 4]]);
        assert_eq!(padded, [vec![-1, -1, 0], vec![0, 1, 2], vec![2, 3, 4]]);
        let [_, padded] = starts(WindowMode::Rolling, 3, 2, End);
        assert_eq!(padded, [vec![0, 1, 2], vec![2, 3, 4], vec![4, -1, -1]]);
        assert_eq!(starts(WindowMode::Rolling, 6, 1, Start)[0], [[0; 0]; 0]);
    }
}
