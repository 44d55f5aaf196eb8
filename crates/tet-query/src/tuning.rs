//! The sizes that work is cut by: those of production, and small ones with which small arrays are cut.

/// The sizes that work is cut by.
///
/// They bound memory and decide which loop does the work. Where states of floats merge depends on the cut of a
/// reduction, so a result may depend on it in its last digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The least bytes of one read.
    pub(crate) window_len_min: u64,
    /// Bytes of a strip that is copied into an array, at most.
    pub(crate) copy_strip_len: u64,
    /// Arrays of fewer bytes, selected and decoded, are read by one task.
    pub(crate) copy_len_min: u64,
    /// Elements that one task copies into an array, about.
    pub(crate) copy_task_elements: u64,
    /// Tasks are made larger rather than own many shorter slices of an array than this.
    pub(crate) slice_len_min: u64,
    /// The shortest strip that is read straight into an array instead of through a buffer.
    pub(crate) direct_len_min: u64,
    /// Bytes that are read at once while a dataset is compared with its checksum.
    pub(crate) seal_window_len: u64,
    /// Elements of a reduction's task that folds into one cell, about.
    pub(crate) task_elements: u64,
    /// Cells of a tile, about: their states stay in the nearest caches.
    pub(crate) tile_cells: u64,
    /// With fewer tiles than this the folded axes are cut too.
    pub(crate) tiles_min: u64,
    /// A part of the folded axes has at least this many positions: merging costs as much as one.
    pub(crate) part_positions_min: u64,
    /// A part of the folded axes has at least this many elements.
    pub(crate) part_elements_min: u64,
    /// A tile or a part has at least this many elements side by side.
    pub(crate) row_min: u64,
    /// Up to this many bins are cells of every task; more are shared out among tasks.
    pub(crate) wide_bins_max: u64,
    /// Positions whose states slide together, about.
    pub(crate) slide_cells: u64,
    /// Elements of a strip that is folded into one cell: as many as stay in the nearest caches.
    pub(crate) strip_elements: u64,
    /// Elements of a strip that is folded into many cells.
    pub(crate) tile_strip_elements: u64,
    /// Up to this many pads of a window are folded one by one.
    pub(crate) pads_max: u64,
    /// Counters of a pass of a search by rank, about: the logarithm.
    pub(crate) digit: u32,
    /// The least logarithm of the counters of one span of ranks.
    pub(crate) span_digit: u32,
    /// Elements that are put in order in memory, at most.
    pub(crate) candidates_max: u64,
    /// Bytes of a piece that picked positions are gathered from, at most.
    pub(crate) gather_len_max: u64,
    /// Bytes of a block whose exponentials are added up, at most.
    pub(crate) sum_len_max: u64,
    /// Elements of a transform's task.
    pub(crate) map_elements: usize,
    /// Elements of a transform that are looked at together.
    pub(crate) map_block: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            window_len_min: 1 << 12,
            copy_strip_len: 1 << 20,
            copy_len_min: 1 << 20,
            copy_task_elements: 1 << 19,
            slice_len_min: 1 << 12,
            direct_len_min: 64 * 1024,
            seal_window_len: 1 << 20,
            task_elements: 1 << 18,
            tile_cells: 1 << 14,
            tiles_min: 64,
            part_positions_min: 16,
            part_elements_min: 1 << 20,
            row_min: 1 << 10,
            wide_bins_max: 64,
            slide_cells: 1 << 16,
            strip_elements: 1 << 16,
            tile_strip_elements: 1 << 18,
            pads_max: 64,
            digit: 16,
            span_digit: 6,
            candidates_max: 1 << 20,
            gather_len_max: 8 << 20,
            sum_len_max: 8 << 20,
            map_elements: 1 << 16,
            map_block: 1024,
        }
    }
}

/// The least logarithm of the counters of a first pass: one for each value of a byte.
const DIGIT_MIN: u32 = 8;

impl Tuning {
    /// Limits the counters of a search to the number of elements: for a small dataset, counters would cost more than
    /// its elements.
    pub(crate) fn among(&self, count: u64) -> Tuning {
        let digit = u64::BITS - count.leading_zeros();
        Tuning { digit: self.digit.min(digit.max(DIGIT_MIN)), ..*self }
    }
}

#[cfg(test)]
impl Tuning {
    /// Sizes with which a few elements are many tasks, tiles, parts and strips.
    pub(crate) const SMALL: Tuning = Tuning {
        window_len_min: 16,
        copy_strip_len: 16,
        copy_len_min: 8,
        copy_task_elements: 6,
        slice_len_min: 4,
        direct_len_min: 8,
        seal_window_len: 16,
        task_elements: 6,
        tile_cells: 4,
        tiles_min: 4,
        part_positions_min: 2,
        part_elements_min: 4,
        row_min: 2,
        wide_bins_max: 2,
        slide_cells: 16,
        strip_elements: 4,
        tile_strip_elements: 8,
        pads_max: 2,
        digit: 4,
        span_digit: 1,
        candidates_max: 20,
        gather_len_max: 24,
        sum_len_max: 64,
        map_elements: 7,
        map_block: 5,
    };
}
