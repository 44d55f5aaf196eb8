//! The output split among tasks: each owns the rows of its rectangle, as slices.

use super::index;
use crate::buffer;
use crate::copy::copy_box;
use crate::error::Result;
use crate::plan::output::{OutputCut, OutputRect};
use crate::plan::piece::element_count;
use crate::plan::touch::AxisBox;

/// The slices of the output that one task owns.
#[derive(Debug)]
pub(super) struct OutputPart<'o> {
    pub place: OutputRect,
    /// Positions of the selection along the axes after `axis`.
    inner: Vec<usize>,
    /// One slice for every choice of positions along the axes before `axis`.
    slices: Vec<&'o mut [u8]>,
}

/// Hands out the slices of the output, row-major, to the parts that own them.
pub(super) fn split<'o>(
    cut: &OutputCut,
    element_size: u64,
    out: &'o mut [u8],
) -> Result<Vec<OutputPart<'o>>> {
    let mut parts = Vec::new();
    for at in 0..cut.count() {
        let place = cut.rect(at);
        let inner = place.inner.iter().map(|&count| buffer::len(count)).collect::<Result<_>>()?;
        parts.push(OutputPart { place, inner, slices: Vec::new() });
    }
    if let ([part], true) = (&mut parts[..], cut.counts.is_empty()) {
        part.slices.push(out);
        return Ok(parts);
    }
    let row_len = cut.counts.iter().skip(cut.axis + 1).product::<u64>();
    let row_len = buffer::len(row_len)? * buffer::len(element_size)?;
    let mut hand = Hand { cut, row_len, rest: out, parts };
    hand.out(0, 0)?;
    Ok(hand.parts)
}

/// The walk over the output that hands its slices out.
struct Hand<'t, 'o> {
    cut: &'t OutputCut,
    row_len: usize,
    rest: &'o mut [u8],
    parts: Vec<OutputPart<'o>>,
}

impl Hand<'_, '_> {
    /// Walks along axis `at`, the parts of the axes before it being number `owner`.
    fn out(&mut self, at: usize, owner: u64) -> Result<()> {
        let count = self.cut.tiling.part_count(at);
        for part in 0..count {
            let positions = self.cut.tiling.positions(at, part);
            let owner = owner * count + part;
            if at < self.cut.axis {
                for _ in positions {
                    self.out(at + 1, owner)?;
                }
                continue;
            }
            let len = buffer::len(positions.end - positions.start)? * self.row_len;
            let (slice, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
            self.rest = rest;
            if len > 0 {
                self.parts[buffer::len(owner)?].slices.push(slice);
            }
        }
        Ok(())
    }
}

impl OutputPart<'_> {
    /// The output of a strip, when it is contiguous.
    pub(super) fn contiguous(
        &mut self,
        boxes: &[AxisBox],
        element_size: u64,
    ) -> Result<Option<&mut [u8]>> {
        if !self.place.is_contiguous(boxes) {
            return Ok(None);
        }
        let slice = self.slice_of(boxes)?;
        let start = self.offset(boxes)? * buffer::len(element_size)?;
        let len = buffer::len(element_count(boxes) * element_size)?;
        Ok(self.slices.get_mut(slice).and_then(|slice| slice.get_mut(start..start + len)))
    }

    /// Copies a strip to its places.
    pub(super) fn put(
        &mut self,
        boxes: &[AxisBox],
        element_size: u64,
        bytes: &[u8],
        strides: &[usize],
    ) -> Result<()> {
        let size = buffer::len(element_size)?;
        let tail = boxes.get(self.place.axis..).unwrap_or(&[]);
        let counts: Vec<usize> =
            tail.iter().map(|part| buffer::len(part.count)).collect::<Result<_>>()?;
        let mut to = vec![1; counts.len()];
        for axis in (1..counts.len()).rev() {
            to[axis - 1] = to[axis] * self.inner[axis - 1];
        }
        let first = self.slice_of(boxes)?;
        let start = self.offset(boxes)? * size;
        let (outer, from) = strides.split_at(self.place.axis.min(strides.len()));
        let mut at = vec![0; outer.len()];
        loop {
            let held: usize = at.iter().zip(outer).map(|(at, stride)| at * stride).sum();
            let slice = first + self.slice_distance(&at)?;
            if let Some(out) = self.slices.get_mut(slice) {
                copy_box(&counts, size, &bytes[held * size..], from, &mut out[start..], &to);
            }
            if !advance(&mut at, boxes) {
                return Ok(());
            }
        }
    }

    /// The number of the slice that the strip's first element is in.
    fn slice_of(&self, boxes: &[AxisBox]) -> Result<usize> {
        let outer = boxes.iter().zip(&self.place.rect).take(self.place.axis);
        outer.clone().try_fold(0, |slice, (part, range)| {
            let at = buffer::len(part.at - range.start)?;
            Ok(slice * buffer::len(range.end - range.start)? + at)
        })
    }

    /// How many slices on `at` positions along the axes before the slices' own are.
    fn slice_distance(&self, at: &[usize]) -> Result<usize> {
        at.iter().zip(&self.place.rect).try_fold(0, |slice, (at, range)| {
            Ok(slice * buffer::len(range.end - range.start)? + at)
        })
    }

    /// Elements before the strip's first in its slice.
    fn offset(&self, boxes: &[AxisBox]) -> Result<usize> {
        let Some((part, tail)) = boxes.get(self.place.axis..).and_then(<[AxisBox]>::split_first)
        else {
            return Ok(0);
        };
        let first = buffer::len(part.at - self.place.rect[self.place.axis].start)?;
        tail.iter()
            .zip(&self.inner)
            .try_fold(first, |offset, (part, count)| Ok(offset * count + index(part)?.0))
    }
}

/// Steps to the next choice of positions along the outer axes; false past the last.
fn advance(at: &mut [usize], boxes: &[AxisBox]) -> bool {
    for (at, part) in at.iter_mut().zip(boxes).rev() {
        *at += 1;
        if (*at as u64) < part.count {
            return true;
        }
        *at = 0;
    }
    false
}
