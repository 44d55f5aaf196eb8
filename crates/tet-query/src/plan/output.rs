//! The array that is read, cut into what tasks own of it: rectangles of the selection, and with them
//! the stretches of the array that lie in them.

use std::ops::Range;

use super::ReadPlan;
use super::piece::Inside;
use super::tiling::Tiling;
use super::touch::AxisBox;
use crate::tuning::Tuning;

/// A task is at least this part of the whole.
const TASKS_MAX: u64 = 128;
/// How much shorter slices may be where chunks are decoded whole, which takes longer than to copy them.
const SHORTER: u64 = 16;

/// How the array is cut.
#[derive(Debug)]
pub(crate) struct OutputCut {
    pub tiling: Tiling,
    /// Positions of the selection along each axis.
    pub counts: Vec<u64>,
    /// The axis along which a slice of the array runs; all axes after it are whole.
    pub axis: usize,
    direct_len_min: u64,
}

/// The rectangle of the array that one task owns.
#[derive(Clone, Debug)]
pub(crate) struct OutputRect {
    /// The positions of the selection along each axis.
    pub rect: Vec<Range<u64>>,
    /// The axis along which a slice runs.
    pub axis: usize,
    /// Positions of the selection along the axes after `axis`.
    pub inner: Vec<u64>,
    /// The shortest strip that is read straight into the array instead of through a buffer.
    pub direct_len_min: u64,
}

impl OutputCut {
    /// Cuts an array into tasks; one of which little is selected and decoded is one task.
    pub(crate) fn new(plan: &ReadPlan, tuning: &Tuning) -> OutputCut {
        let axes: Vec<usize> = (0..plan.touch.axes.len()).collect();
        let counts: Vec<u64> = plan.touch.axes.iter().map(|axis| axis.count).collect();
        // Decoding is the work, where it is more than the selection.
        let weight = plan.work_len() / plan.selected_len().max(1);
        let mut limit = tuning.copy_task_elements / weight.max(1);
        limit = limit.max(plan.element_count / TASKS_MAX).max(1);
        if plan.is_one_task(tuning) {
            limit = u64::MAX;
        }
        let slice_len_min = match plan.inside {
            Inside::Cut => tuning.slice_len_min,
            Inside::Whole => tuning.slice_len_min / SHORTER,
        };
        loop {
            let tiling = Tiling::new(&plan.touch, &axes, limit, plan.inside);
            let axis = (0..axes.len()).rev().find(|&at| tiling.part_count(at) > 1).unwrap_or(0);
            let inner = counts.iter().skip(axis + 1).product::<u64>();
            let parts = if axes.is_empty() { 1 } else { tiling.part_count(axis).max(1) };
            let rows = counts.get(axis).map_or(1, |count| count.div_ceil(parts));
            let slice_len = rows.saturating_mul(inner).saturating_mul(plan.element_size);
            if axis == 0 || slice_len_min <= slice_len || plan.element_count <= limit {
                return OutputCut { tiling, counts, axis, direct_len_min: tuning.direct_len_min };
            }
            limit = limit.saturating_mul(16);
        }
    }

    /// How many tasks there are; some may own nothing.
    pub(crate) fn count(&self) -> u64 {
        self.tiling.count()
    }

    /// The rectangle of task number `index`.
    pub(crate) fn rect(&self, index: u64) -> OutputRect {
        let mut rect = vec![0..0; self.counts.len()];
        self.tiling.place(index, &mut rect);
        let inner = self.counts.iter().skip(self.axis + 1).copied().collect();
        OutputRect { rect, axis: self.axis, inner, direct_len_min: self.direct_len_min }
    }
}

impl ReadPlan {
    /// Bytes of the selected elements.
    fn selected_len(&self) -> u64 {
        self.element_count.saturating_mul(self.element_size)
    }

    /// Bytes that are decoded or copied.
    fn work_len(&self) -> u64 {
        match self.inside {
            Inside::Cut => self.selected_len(),
            Inside::Whole => self.selected_len().max(self.decoded_len),
        }
    }

    /// Whether the array is read by one task.
    pub(crate) fn is_one_task(&self, tuning: &Tuning) -> bool {
        self.work_len() < tuning.copy_len_min
    }
}

impl OutputRect {
    /// Whether the elements of a strip are neighbors in one slice of the array.
    pub(crate) fn is_contiguous(&self, boxes: &[AxisBox]) -> bool {
        let Some(tail) = boxes.get(self.axis..) else { return false };
        // Past the first axis with several positions, every axis must be taken whole.
        let several = tail.iter().position(|part| part.count != 1).unwrap_or(tail.len());
        let whole = tail.iter().zip(std::iter::once(&0).chain(&self.inner)).skip(several + 1);
        boxes[..self.axis].iter().all(|part| part.count == 1)
            && whole.into_iter().all(|(part, &count)| part.count == count)
    }
}
