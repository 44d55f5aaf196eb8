//! The output split among tasks: each owns the rows of its rectangle, as slices.

use std::ops::Range;

use super::index;
use crate::copy::copy_box;
use crate::decode;
use crate::error::Result;
use crate::plan::ReadPlan;
use crate::plan::piece::element_count;
use crate::plan::tiling::Tiling;
use crate::plan::touch::AxisBox;

/// Elements of a task, about.
const TASK_ELEMENTS: u64 = if cfg!(test) { 6 } else { 1 << 19 };
/// Tasks are made larger rather than own many shorter slices than this.
const SLICE_LEN_MIN: u64 = if cfg!(test) { 4 } else { 1 << 12 };
/// A task is at least this part of the whole.
const TASKS_MAX: u64 = 128;

/// What one task owns of the output.
#[derive(Debug)]
pub(super) struct Part<'o> {
    /// The positions of the selection along each axis.
    pub rect: Vec<Range<u64>>,
    /// The axis along which a slice runs; all axes after it are whole.
    axis: usize,
    /// Positions of the selection along the axes after `axis`.
    inner: Vec<usize>,
    /// One slice for every choice of positions along the axes before `axis`.
    slices: Vec<&'o mut [u8]>,
}

/// Splits the output into parts: one for a single worker, else as many as keep them busy.
pub(super) fn split<'o>(
    plan: &ReadPlan,
    out: &'o mut [u8],
    workers: usize,
) -> Result<Vec<Part<'o>>> {
    let axes: Vec<usize> = (0..plan.touch.axes.len()).collect();
    let counts: Vec<u64> = plan.touch.axes.iter().map(|axis| axis.count).collect();
    let mut limit = TASK_ELEMENTS.max(plan.element_count / TASKS_MAX);
    if workers <= 1 || axes.is_empty() {
        let rect = counts.iter().map(|&count| 0..count).collect();
        let inner =
            counts.iter().skip(1).map(|&count| decode::len(count)).collect::<Result<_>>()?;
        return Ok(vec![Part { rect, axis: 0, inner, slices: vec![out] }]);
    }
    loop {
        let tiling = Tiling::new(&plan.touch, &axes, limit, plan.inside);
        let axis = (0..axes.len()).rev().find(|&at| tiling.part_count(at) > 1).unwrap_or(0);
        let inner: u64 = counts[axis + 1..].iter().product();
        let rows = counts[axis].div_ceil(tiling.part_count(axis).max(1));
        let slice_len = rows.saturating_mul(inner).saturating_mul(plan.element_size);
        if axis == 0 || SLICE_LEN_MIN <= slice_len || plan.element_count <= limit {
            return parts(plan, &tiling, axis, &counts, out);
        }
        limit = limit.saturating_mul(16);
    }
}

/// Hands out the slices of the output, row-major, to the parts that own them.
fn parts<'o>(
    plan: &ReadPlan,
    tiling: &Tiling,
    axis: usize,
    counts: &[u64],
    out: &'o mut [u8],
) -> Result<Vec<Part<'o>>> {
    let inner: Vec<usize> =
        counts[axis + 1..].iter().map(|&count| decode::len(count)).collect::<Result<_>>()?;
    let mut rect = vec![0..0; counts.len()];
    let mut parts = Vec::new();
    for at in 0..tiling.count() {
        tiling.place(at, &mut rect);
        parts.push(Part { rect: rect.clone(), axis, inner: inner.clone(), slices: Vec::new() });
    }
    let row_len = inner.iter().product::<usize>() * decode::len(plan.element_size)?;
    let mut hand = Hand { tiling, axis, row_len, rest: out, parts };
    hand.out(0, 0)?;
    Ok(hand.parts)
}

/// The walk over the output that hands its slices out.
struct Hand<'t, 'o> {
    tiling: &'t Tiling,
    axis: usize,
    row_len: usize,
    rest: &'o mut [u8],
    parts: Vec<Part<'o>>,
}

impl Hand<'_, '_> {
    /// Walks along axis `at`, the parts of the axes before it being number `owner`.
    fn out(&mut self, at: usize, owner: u64) -> Result<()> {
        let count = self.tiling.part_count(at);
        for part in 0..count {
            let positions = self.tiling.positions(at, part);
            let owner = owner * count + part;
            if at < self.axis {
                for _ in positions {
                    self.out(at + 1, owner)?;
                }
                continue;
            }
            let len = decode::len(positions.end - positions.start)? * self.row_len;
            let (slice, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
            self.rest = rest;
            if len > 0 {
                self.parts[decode::len(owner)?].slices.push(slice);
            }
        }
        Ok(())
    }
}

impl Part<'_> {
    /// The output of a strip, when it lies in one piece.
    pub(super) fn contiguous(
        &mut self,
        boxes: &[AxisBox],
        element_size: u64,
    ) -> Result<Option<&mut [u8]>> {
        let Some(tail) = boxes.get(self.axis..) else { return Ok(None) };
        // Past the first axis with several positions, every axis must be taken whole.
        let several = tail.iter().position(|part| part.count != 1).unwrap_or(tail.len());
        let whole = tail.iter().zip(std::iter::once(&0).chain(&self.inner)).skip(several + 1);
        let mut taken = whole.map(|(part, &count)| part.count == count as u64);
        if boxes[..self.axis].iter().any(|part| part.count != 1) || !taken.all(|taken| taken) {
            return Ok(None);
        }
        let slice = self.slice_of(boxes)?;
        let start = self.offset(boxes)? * decode::len(element_size)?;
        let len = decode::len(element_count(boxes) * element_size)?;
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
        let size = decode::len(element_size)?;
        let tail = boxes.get(self.axis..).unwrap_or(&[]);
        let counts: Vec<usize> =
            tail.iter().map(|part| decode::len(part.count)).collect::<Result<_>>()?;
        let mut to = vec![1; counts.len()];
        for axis in (1..counts.len()).rev() {
            to[axis - 1] = to[axis] * self.inner[axis - 1];
        }
        let first = self.slice_of(boxes)?;
        let start = self.offset(boxes)? * size;
        let (outer, from) = strides.split_at(self.axis.min(strides.len()));
        let mut at = vec![0; outer.len()];
        loop {
            let held: usize = at.iter().zip(outer).map(|(at, stride)| at * stride).sum();
            let slice = first + self.slice_distance(&at)?;
            if let Some(out) = self.slices.get_mut(slice) {
                copy_box(&counts, size, (&bytes[held * size..], from), (&mut out[start..], &to));
            }
            if !advance(&mut at, boxes) {
                return Ok(());
            }
        }
    }

    /// The number of the slice that the strip's first element is in.
    fn slice_of(&self, boxes: &[AxisBox]) -> Result<usize> {
        let outer = boxes.iter().zip(&self.rect).take(self.axis);
        outer.clone().try_fold(0, |slice, (part, range)| {
            let at = decode::len(part.at - range.start)?;
            Ok(slice * decode::len(range.end - range.start)? + at)
        })
    }

    /// How many slices on `at` positions along the axes before the slices' own are.
    fn slice_distance(&self, at: &[usize]) -> Result<usize> {
        at.iter().zip(&self.rect).try_fold(0, |slice, (at, range)| {
            Ok(slice * decode::len(range.end - range.start)? + at)
        })
    }

    /// Elements before the strip's first in its slice.
    fn offset(&self, boxes: &[AxisBox]) -> Result<usize> {
        let Some((part, tail)) = boxes.get(self.axis..).and_then(<[AxisBox]>::split_first) else {
            return Ok(0);
        };
        let first = decode::len(part.at - self.rect[self.axis].start)?;
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
