//! Selected elements brought together from stretches of a chunk, a window at a time.

use std::ops::Range;

use super::Fetcher;
use crate::copy::copy_box;
use crate::decode;
use crate::error::Result;
use crate::plan::ChunkRead;
use crate::plan::piece::{Segments, element_count, strides};
use crate::plan::touch::AxisBox;

/// Positions along one axis, and the elements between neighbors.
type Steps = (u64, u64);

impl Fetcher<'_> {
    /// Gathers the strip into the dense buffer, reading its stretches and what lies inside them.
    pub(super) fn gather(
        &mut self,
        read: &ChunkRead,
        boxes: &[AxisBox],
        segments: Segments,
    ) -> Result<()> {
        let inner = &boxes[segments.outer..];
        let strides = strides(boxes);
        let steps: Vec<Steps> = inner
            .iter()
            .zip(&strides[segments.outer..])
            .filter(|(part, _)| part.count > 1)
            .map(|(part, stride)| (part.count, part.step * stride))
            .collect();
        let len = decode::len(element_count(inner) * self.plan.element_size)?;
        let mut dense = std::mem::take(&mut self.dense);
        let room = dense.room(self.dense_len(boxes)?)?;
        for (start, out) in segments.starts(boxes).zip(room.chunks_exact_mut(len.max(1))) {
            self.gather_stretch(read, start, &steps, out)?;
        }
        self.dense = dense;
        Ok(())
    }

    /// Gathers the elements `steps` apart from `start` on.
    fn gather_stretch(
        &mut self,
        read: &ChunkRead,
        start: u64,
        steps: &[Steps],
        out: &mut [u8],
    ) -> Result<()> {
        let size = self.plan.element_size;
        let held = |steps: &[Steps]| 1 + steps.iter().map(|(n, step)| (n - 1) * step).sum::<u64>();
        let asked: u64 = steps.iter().map(|(count, _)| count).product();
        if held(steps) == asked {
            return self.load(read, start..start + asked, out);
        }
        let Some((&(count, step), inner)) = steps.split_first() else { return Ok(()) };
        let window = (self.window_len / size).max(1);
        let (inner_held, inner_asked) = (held(inner), asked / count);
        let inner_len = decode::len(inner_asked * size)?;
        if window < inner_held {
            for (at, out) in (0..count).zip(out.chunks_exact_mut(inner_len)) {
                self.gather_stretch(read, start + at * step, inner, out)?;
            }
            return Ok(());
        }
        let rows = ((window - inner_held) / step + 1).min(count);
        let mut scratch = std::mem::take(&mut self.scratch);
        let group_len = decode::len(rows)? * inner_len;
        for (at, out) in (0..).step_by(decode::len(rows)?).zip(out.chunks_mut(group_len)) {
            let rows = rows.min(count - at);
            let first = start + at * step;
            let elements = first..first + (rows - 1) * step + inner_held;
            let held = scratch.room(decode::len((elements.end - elements.start) * size)?)?;
            self.load(read, elements, held)?;
            spread(rows, step, inner, held, out, decode::len(size)?)?;
        }
        self.scratch = scratch;
        Ok(())
    }

    /// Reads these elements of a chunk into exactly their bytes.
    fn load(&mut self, read: &ChunkRead, elements: Range<u64>, out: &mut [u8]) -> Result<()> {
        if self.plan.is_identity(read) {
            let span = self.span(read, &elements);
            return Ok(self.source.read_exact_at(span.start(), out)?);
        }
        let Some(span) = self.plan.stored_span(read, elements.clone()) else {
            let fault = tet_codec::Error::NoRange {
                codec: self.plan.codecs[usize::from(read.place.codec)].name(),
            };
            return Err(crate::error::Error::codec(self.checks.dataset(), read, fault));
        };
        if let Some(stored) = self.view.as_ref().and_then(|view| view.bytes(span.range())) {
            return decode::range(self.plan, self.checks.dataset(), read, stored, elements, out);
        }
        let stored = self.stored.room(decode::len(span.len())?)?;
        self.source.read_exact_at(span.start(), stored)?;
        decode::range(self.plan, self.checks.dataset(), read, stored, elements, out)
    }
}

/// Copies `rows` rows of the steps `inner` out of what was read.
fn spread(
    rows: u64,
    step: u64,
    inner: &[Steps],
    held: &[u8],
    out: &mut [u8],
    element_size: usize,
) -> Result<()> {
    let mut counts = vec![decode::len(rows)?];
    let mut from = vec![decode::len(step)?];
    for &(count, step) in inner {
        counts.push(decode::len(count)?);
        from.push(decode::len(step)?);
    }
    let mut to = vec![1; counts.len()];
    for axis in (1..counts.len()).rev() {
        to[axis - 1] = to[axis] * counts[axis];
    }
    copy_box(&counts, element_size, (held, &from), (out, &to));
    Ok(())
}
