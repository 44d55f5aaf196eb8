//! Picked elements brought together, a piece of even steps at a time.

use super::LazyArray;
use super::axes::{PickRun, halves};
use crate::budget::Execution;
use crate::buffer::{self, Buffer};
use crate::error::Result;
use crate::scatter;
use crate::selection::Hyperslab;

/// One run along each axis.
struct Piece<'r> {
    runs: Vec<&'r PickRun>,
    /// Elements between neighbors in the output.
    strides: Vec<usize>,
    size: usize,
}

impl LazyArray {
    /// Reads the dataset's elements of a part into exactly their bytes.
    pub(super) fn gather(&self, part: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        if self.is_picked() {
            self.gather_picked(part, how, out)?;
        } else {
            self.read_slab(&self.composed(part)?, how, out)?;
        }
        // Once for all pieces.
        self.dataset.check_unchanged()
    }

    fn read_slab(&self, slab: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        scatter::read_into(&self.dataset, slab, how, &self.unverified, self.parts.get(), out)
    }

    fn gather_picked(&self, part: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let size = self.dataset_size();
        let mut inner_len = size;
        let mut strides = vec![1; self.axes.len()];
        let mut runs = vec![Vec::new(); self.axes.len()];
        for (at, (axis, slice)) in self.axes.iter().zip(part.axes()).enumerate().rev() {
            strides[at] = buffer::len(inner_len / size)?;
            runs[at] = axis.runs(slice, axis.near(inner_len, !self.is_ranged));
            inner_len = inner_len.saturating_mul(slice.count());
        }
        let longest =
            |runs: &Vec<PickRun>| runs.iter().map(|run| run.slice.count()).max().unwrap_or(1);
        let piece_len = runs.iter().map(longest).fold(size, u64::saturating_mul);
        let room_max = how.memory_budget / 4;
        let is_long = how.tuning.gather_len_max.min(room_max) < piece_len;
        // A cut within a chunk that is decoded as a whole decodes it twice: memory alone is a reason for that.
        let at_chunk = || self.chunk_halves(part).filter(|_| !self.is_ranged);
        let needs_room = room_max < piece_len && !are_in_place(&runs);
        let within = || halves(part).filter(|_| self.is_ranged || needs_room);
        if is_long && let Some(halves) = at_chunk().or_else(within) {
            let first = halves[0].element_count().unwrap_or(u64::MAX).saturating_mul(size);
            let (first, second) = out.split_at_mut(buffer::len(first)?);
            self.gather_picked(&halves[0], how, first)?;
            return self.gather_picked(&halves[1], how, second);
        }
        let mut room = Buffer::default();
        let mut nth = vec![0; runs.len()];
        loop {
            how.progress.check()?;
            let chosen = runs.iter().zip(&nth).map(|(runs, &nth)| &runs[nth]).collect();
            let piece = Piece { runs: chosen, strides: strides.clone(), size: buffer::len(size)? };
            self.read_piece(&piece, how, &mut room, out)?;
            if !next(&mut nth, &runs) {
                return Ok(());
            }
        }
    }

    /// Reads one piece, straight to its place where that is contiguous.
    fn read_piece(
        &self,
        piece: &Piece<'_>,
        how: &Execution,
        room: &mut Buffer,
        out: &mut [u8],
    ) -> Result<()> {
        let slab = self.with_dropped(piece.runs.iter().map(|run| run.slice))?;
        let to: usize = piece.runs.iter().zip(&piece.strides).map(|(run, by)| run.to * by).sum();
        let len = slab.element_count().unwrap_or(u64::MAX).saturating_mul(piece.size as u64);
        let len = buffer::len(len)?;
        if piece.is_contiguous() {
            let start = to * piece.size;
            return self.read_slab(&slab, how, &mut out[start..start + len]);
        }
        let room = room.room(len)?;
        self.read_slab(&slab, how, room)?;
        piece.place(0, room, out, to);
        Ok(())
    }
}

impl Piece<'_> {
    /// Whether its elements lie side by side in the output, all of them picked.
    fn is_contiguous(&self) -> bool {
        let mut axes = self.runs.iter().zip(&self.strides).skip_while(|(run, _)| run.count == 1);
        let Some((first, &stride)) = axes.next() else {
            return self.runs.iter().all(|run| run.offsets.is_none());
        };
        let inner: usize = axes.map(|(run, _)| run.count).product();
        let picked = self.runs.iter().all(|run| run.offsets.is_none());
        picked && first.count > 0 && inner == stride
    }

    /// Copies what was read along the axes from `axis` on to its place in the output.
    fn place(&self, axis: usize, from: &[u8], out: &mut [u8], to: usize) {
        let Some(run) = self.runs.get(axis) else {
            out[to * self.size..][..self.size].copy_from_slice(&from[..self.size]);
            return;
        };
        if axis + 1 == self.runs.len() && run.offsets.is_none() {
            let len = run.count * self.size;
            out[to * self.size..][..len].copy_from_slice(&from[..len]);
            return;
        }
        let inner = self.runs[axis + 1..].iter().map(|run| run.slice.count());
        let inner = usize::try_from(inner.product::<u64>()).unwrap_or(usize::MAX) * self.size;
        for nth in 0..run.count {
            let at = run.offsets.as_ref().map_or(nth, |offsets| offsets[nth]);
            let to = to + nth * self.strides[axis];
            self.place(axis + 1, &from[at * inner..], &mut *out, to);
        }
    }
}

/// Whether all pieces lie side by side in the output, so that each is read straight to its place.
fn are_in_place(runs: &[Vec<PickRun>]) -> bool {
    let inner =
        runs.iter().skip_while(|runs| runs.iter().all(|run| run.count == 1) && runs.len() == 1);
    runs.iter().flatten().all(|run| run.offsets.is_none())
        && inner.skip(1).all(|runs| runs.len() == 1)
}

/// Steps to the next choice of runs; false past the last.
fn next(nth: &mut [usize], runs: &[Vec<PickRun>]) -> bool {
    for (nth, runs) in nth.iter_mut().zip(runs).rev() {
        *nth += 1;
        if *nth < runs.len() {
            return true;
        }
        *nth = 0;
    }
    false
}
