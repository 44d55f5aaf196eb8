//! Grids of half the distance again and again, whose elements are predicted from those of the grid before.
//!
//! A level halves the distance along one axis after the other. It works in blocks, so that the order of the elements
//! is that of blocks; within a block it goes line by line, or, for three and four axes of 3.3.2, by kind of place.

use super::blocks::set;
use super::bytes::Bytes;
use super::fault::corrupt;
use super::head::{Generation, Head};
use super::number::Value;
use super::quantizer::Residuals;
use super::shape::{Coord, RANK_MAX, Shape, each};
use crate::error::Result;
use crate::scratch::index;

/// The parameters of a stream.
#[derive(Clone, Debug)]
struct Grids<'a> {
    shape: &'a Shape,
    /// The extent of a block along each axis, in elements of its level.
    block_len: usize,
    is_cubic: bool,
    /// The axes in the order in which distances are halved.
    axes: Vec<usize>,
    /// The distance of elements that are stored; 0 if there are none.
    anchor: usize,
    /// How the bound shrinks with the level.
    alpha: f64,
    beta: f64,
    is_by_kind: bool,
}

/// How an element is predicted from others along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Formula {
    /// From the one before.
    Before,
    Linear,
    /// From those one and three before.
    BeyondOdd,
    /// From those one and two before.
    Beyond,
    QuadraticFirst,
    QuadraticLast,
    QuadraticBeyond,
    Cubic,
}

/// Decodes all elements.
pub(super) fn decode<T: Value>(
    head: &Head<'_>,
    bytes: &mut Bytes<'_>,
    data: &mut [T],
) -> Result<()> {
    let grids = Grids::read(head, bytes)?;
    let mut residuals = Residuals::read::<T>(head, bytes)?;
    let bound = residuals.quantizer.bound();
    let extents = head.shape.extents();
    let longest = extents.iter().max().copied().unwrap_or(1);
    let is_anchored = extents[head.shape.axes()].iter().any(|extent| grids.anchor < *extent);
    let mut level = longest.next_power_of_two().trailing_zeros();
    if grids.anchor != 0 && is_anchored {
        let steps = [grids.anchor; RANK_MAX];
        each(&[0; RANK_MAX], extents, &steps, |place| {
            set(data, head.shape.at(place), residuals.stored()?)
        })?;
        level = level.min(grids.anchor.trailing_zeros());
    } else {
        set(data, 0, residuals.next(T::default())?)?;
    }
    while 0 < level {
        if let Some(bound) = grids.bound(bound, level) {
            residuals.quantizer.set_bound(bound);
        }
        let mut work = Level {
            grids: &grids,
            stride: 1 << (level - 1),
            residuals: &mut residuals,
            data: &mut *data,
        };
        work.decode()?;
        level -= 1;
    }
    residuals.finish()
}

impl<'a> Grids<'a> {
    fn read(head: &'a Head<'_>, bytes: &mut Bytes<'_>) -> Result<Grids<'a>> {
        let shape = &head.shape;
        shape.check(bytes)?;
        let (block_len, formula, order) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
        let (mut anchor, mut alpha, mut beta) = (0, -1.0, -1.0);
        if head.generation == Generation::Headed {
            (anchor, alpha, beta) = (bytes.u64()?, bytes.f64()?, bytes.f64()?);
        }
        if block_len == 0 || block_len % 2 != 0 {
            return Err(corrupt("the extent of a block is not even"));
        }
        if anchor != 0 && !anchor.is_power_of_two() {
            return Err(corrupt("the distance of stored elements is no power of two"));
        }
        if 1 < formula {
            return Err(corrupt("the interpolation is neither linear nor cubic"));
        }
        let axes = permutation(shape.axes().collect(), order);
        let axes = axes.ok_or(corrupt("the order of the axes is unknown"))?;
        Ok(Grids {
            shape,
            block_len: index(block_len.into()),
            is_cubic: formula == 1,
            axes,
            anchor: usize::try_from(anchor).unwrap_or(0),
            alpha,
            beta,
            is_by_kind: head.generation == Generation::Headed && 3 <= shape.rank(),
        })
    }

    /// All axes, those of the array in the order of their turns.
    fn order(&self) -> Coord {
        let mut order = std::array::from_fn(|axis| axis);
        order[self.shape.axes()].copy_from_slice(&self.axes);
        order
    }

    /// The bound of a level, if it has its own.
    fn bound(&self, bound: f64, level: u32) -> Option<f64> {
        if self.alpha < 0.0 {
            return Some(if 3 <= level { bound * 0.5 } else { bound });
        }
        if 1.0 <= self.alpha {
            let ratio = self.alpha.powf((level - 1).into());
            return Some(bound / if self.beta < ratio { self.beta } else { ratio });
        }
        None
    }
}

/// The permutation with this number, counted in lexical order.
fn permutation(mut axes: Vec<usize>, number: u32) -> Option<Vec<usize>> {
    let mut number = index(number.into());
    let mut count: usize = (1..=axes.len()).product();
    let mut chosen = Vec::new();
    if count <= number {
        return None;
    }
    while !axes.is_empty() {
        count /= axes.len();
        chosen.push(axes.remove(number / count));
        number %= count;
    }
    Some(chosen)
}

/// The elements of one level.
#[derive(Debug)]
struct Level<'w, 's, T> {
    grids: &'w Grids<'w>,
    stride: usize,
    residuals: &'w mut Residuals<'s>,
    data: &'w mut [T],
}

/// The elements that are predicted along an axis, in a block.
#[derive(Clone, Debug)]
struct Pass {
    axis: usize,
    /// How many elements of the level lie along the axis.
    count: usize,
    /// The first place, and the last one of the block.
    first: Coord,
    last: Coord,
    /// The distance of lines along the other axes.
    steps: Coord,
}

impl<T: Value> Level<'_, '_, T> {
    fn decode(&mut self) -> Result<()> {
        let (grids, stride) = (self.grids, self.stride);
        let len = grids.block_len.saturating_mul(stride);
        grids.shape.blocks(len, |origin, _| {
            let mut last = *origin;
            for (axis, at) in last.iter_mut().enumerate() {
                *at = at.saturating_add(len).min(grids.shape.extents()[axis] - 1);
            }
            for number in 0..grids.axes.len() {
                self.pass(number, origin, last)?;
            }
            Ok(())
        })
    }

    /// Decodes what is predicted along the axis with this number in the order of axes.
    fn pass(&mut self, number: usize, origin: &Coord, last: Coord) -> Result<()> {
        let (grids, stride) = (self.grids, self.stride);
        let mut pass = Pass { axis: 0, count: 0, first: *origin, last, steps: [1; RANK_MAX] };
        for (place, axis) in grids.axes.iter().enumerate() {
            if place == number {
                pass.axis = *axis;
                pass.count = (last[*axis] - origin[*axis]) / stride + 1;
                continue;
            }
            // Lines along axes whose turn comes later are not there yet.
            let step = if place < number { stride } else { stride.saturating_mul(2) };
            pass.steps[*axis] = step;
            if origin[*axis] != 0 {
                // The first line belongs to the block before.
                pass.first[*axis] = origin[*axis].saturating_add(step);
            }
        }
        if pass.count <= 1 {
            return Ok(());
        }
        if grids.is_by_kind { self.kinds(&pass) } else { self.lines(&pass) }
    }

    /// Goes line by line; of the other axes, that whose turn comes last is fastest.
    fn lines(&mut self, pass: &Pass) -> Result<()> {
        let order = self.grids.order();
        let mut end = pass.last.map(|at| at + 1);
        end[pass.axis] = pass.first[pass.axis] + 1;
        let ordered = |place: &Coord| order.map(|axis| place[axis]);
        each(&ordered(&pass.first), &ordered(&end), &ordered(&pass.steps), |turns| {
            let mut start = [0; RANK_MAX];
            for (axis, at) in order.iter().zip(turns) {
                start[*axis] = *at;
            }
            self.line(pass, &start)
        })
    }

    fn line(&mut self, pass: &Pass, start: &Coord) -> Result<()> {
        let count = pass.count;
        if !self.grids.is_cubic || count < 5 {
            for number in (1..count - 1).step_by(2) {
                self.element(pass, start, number, Formula::Linear)?;
            }
            if count.is_multiple_of(2) {
                let formula = if count < 4 { Formula::Before } else { Formula::BeyondOdd };
                self.element(pass, start, count - 1, formula)?;
            }
            return Ok(());
        }
        let mut number = 3;
        while number + 3 < count {
            self.element(pass, start, number, Formula::Cubic)?;
            number += 2;
        }
        self.element(pass, start, 1, Formula::QuadraticFirst)?;
        self.element(pass, start, number, Formula::QuadraticLast)?;
        if count.is_multiple_of(2) {
            self.element(pass, start, count - 1, Formula::QuadraticBeyond)?;
        }
        Ok(())
    }

    /// Goes by kind of place: those that have all neighbors first, then each place at an edge.
    fn kinds(&mut self, pass: &Pass) -> Result<()> {
        let count = pass.count;
        if !self.grids.is_cubic {
            self.kind(pass, 1..count - 1, Formula::Linear)?;
            if count.is_multiple_of(2) {
                let formula = if count < 3 { Formula::Before } else { Formula::Beyond };
                self.kind(pass, count - 1..count, formula)?;
            }
            return Ok(());
        }
        self.kind(pass, 3..count.saturating_sub(3), Formula::Cubic)?;
        let last = match count % 2 {
            1 => [(3 < count).then(|| count - 2), None],
            _ => [(4 < count).then(|| count - 3), (2 < count).then(|| count - 1)],
        };
        for number in [Some(1)].into_iter().chain(last).flatten() {
            let formula = match (3 <= number, count - number) {
                (true, 4..) => Formula::Cubic,
                (true, 2..) => Formula::QuadraticLast,
                (true, _) => Formula::BeyondOdd,
                (false, 4..) => Formula::QuadraticFirst,
                (false, 2..) => Formula::Linear,
                (false, _) => Formula::Before,
            };
            self.kind(pass, number..number + 1, formula)?;
        }
        Ok(())
    }

    /// Decodes every second element of a range along the axis, on all lines; the last axis of the array is fastest.
    fn kind(
        &mut self,
        pass: &Pass,
        numbers: std::ops::Range<usize>,
        formula: Formula,
    ) -> Result<()> {
        let (axis, stride) = (pass.axis, self.stride);
        let (mut first, mut end, mut steps) = (pass.first, pass.last.map(|at| at + 1), pass.steps);
        if numbers.is_empty() {
            return Ok(());
        }
        let start = first[axis];
        first[axis] = start + numbers.start * stride;
        end[axis] = start + (numbers.end - 1) * stride + 1;
        steps[axis] = stride.saturating_mul(2);
        each(&first, &end, &steps, |place| self.predicted(axis, place, formula))
    }

    /// Decodes the element with this number on a line.
    fn element(
        &mut self,
        pass: &Pass,
        start: &Coord,
        number: usize,
        formula: Formula,
    ) -> Result<()> {
        let mut place = *start;
        place[pass.axis] += number * self.stride;
        self.predicted(pass.axis, &place, formula)
    }

    fn predicted(&mut self, axis: usize, place: &Coord, formula: Formula) -> Result<()> {
        let shape = self.grids.shape;
        let at = shape.at(place);
        let step = self.stride * shape.strides()[axis];
        let data = &*self.data;
        let read = |at: Option<usize>| at.and_then(|at| data.get(at)).copied().unwrap_or_default();
        let back = |steps: usize| read(at.checked_sub(steps * step));
        let ahead = |steps: usize| read(at.checked_add(steps * step));
        let predicted = match formula {
            Formula::Before => back(1),
            Formula::Linear => T::linear(back(1), ahead(1)),
            Formula::BeyondOdd => T::beyond(back(3), back(1)),
            Formula::Beyond => T::beyond(back(2), back(1)),
            Formula::QuadraticFirst => T::quadratic_first(back(1), ahead(1), ahead(3)),
            Formula::QuadraticLast => T::quadratic_last(back(3), back(1), ahead(1)),
            Formula::QuadraticBeyond => T::quadratic_beyond(back(5), back(3), back(1)),
            Formula::Cubic => T::cubic(back(3), back(1), ahead(1), ahead(3)),
        };
        set(self.data, at, self.residuals.next(predicted)?)
    }
}
