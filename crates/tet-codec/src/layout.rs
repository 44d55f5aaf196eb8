//! The last stage of a pipeline: byte order, and the order of the axes of a chunk.
//!
//! ```text
//!   stored:  axis order[0] varies slowest ... axis order[n - 1] varies fastest, big-endian
//!   decoded: axis 0 varies slowest        ... axis n - 1 varies fastest,        little-endian
//! ```

use crate::error::{Error, Result};
use crate::scratch::index;
use crate::swapped::Swapped;

const NAME: &str = "transpose";

/// Elements on a side of the squares that are transposed at a time.
const TILE: usize = 32;

/// How the elements of a chunk are laid out once all filters are undone.
///
/// ```
/// use tet_codec::{Decode, ElementLayout, Pipeline};
///
/// // A chunk of 2 x 3 big-endian `u16`, column after column.
/// let layout = ElementLayout::new(2)
///     .with_width(2)
///     .and_then(|layout| layout.with_order(&[1, 0], &[2, 3]))
///     .expect("a permutation");
/// let mut out = [0; 12];
/// Pipeline::new([], layout).decode(&[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5], &mut out)?;
/// assert_eq!(out, [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementLayout {
    element_size: u64,
    swapped: Option<Swapped>,
    axes: Option<Box<[Axis]>>,
}

/// An axis of the decoded chunk, counted in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    extent: usize,
    /// The distance of its neighbors in the stored chunk and in the decoded one.
    stored_step: usize,
    step: usize,
}

impl ElementLayout {
    /// Little-endian elements of this many bytes in row-major order.
    #[must_use]
    pub const fn new(element_size: u64) -> ElementLayout {
        ElementLayout { element_size, swapped: None, axes: None }
    }

    /// Sets big-endian numbers of `width` bytes: 1, 2, 4 or 8. An element may be several numbers,
    /// as a complex number is. `None` for another width.
    #[must_use]
    pub fn with_width(self, width: u64) -> Option<ElementLayout> {
        let swapped = if width == 1 { None } else { Some(Swapped::new(width)?) };
        self.element_size.is_multiple_of(width).then_some(ElementLayout { swapped, ..self })
    }

    /// Sets the order in which axes are stored: stored axis `i` is axis `order[i]` of the decoded
    /// chunk, which has these extents. `None` when `order` is no permutation, or the chunk has more
    /// bytes than can be counted.
    #[must_use]
    pub fn with_order(self, order: &[usize], extents: &[u64]) -> Option<ElementLayout> {
        let mut axes: Vec<Axis> = Vec::with_capacity(extents.len());
        for extent in extents {
            let extent = usize::try_from(*extent).ok()?;
            axes.push(Axis { extent, stored_step: 0, step: 0 });
        }
        if order.len() != extents.len() {
            return None;
        }
        let mut seen = vec![false; order.len()];
        let mut step = 1_usize;
        for at in order.iter().rev() {
            if std::mem::replace(seen.get_mut(*at)?, true) {
                return None;
            }
            let axis = axes.get_mut(*at)?;
            axis.stored_step = step;
            step = step.checked_mul(axis.extent)?;
        }
        step.checked_mul(index(self.element_size))?;
        let mut step = 1;
        for axis in axes.iter_mut().rev() {
            axis.step = step;
            step *= axis.extent;
        }
        let is_turned = axes.iter().any(|axis| axis.extent != 1 && axis.step != axis.stored_step);
        Some(ElementLayout { axes: is_turned.then(|| axes.into()), ..self })
    }

    /// The length of one element in bytes.
    #[must_use]
    pub const fn element_size(&self) -> u64 {
        self.element_size
    }

    /// Whether every element is at its place, so that ranges can be decoded.
    #[must_use]
    pub const fn keeps_places(&self) -> bool {
        self.axes.is_none()
    }

    pub(crate) const fn swapped(&self) -> Option<Swapped> {
        self.swapped
    }

    /// Reverses the bytes of numbers that have their places already.
    pub(crate) fn swap_in_place(&self, out: &mut [u8]) {
        if let Some(swapped) = self.swapped {
            swapped.in_place(out);
        }
    }

    /// Brings stored elements into the decoded order and byte order.
    pub(crate) fn undo(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let (stored_len, decoded_len) = (stored.len() as u64, out.len() as u64);
        if stored_len != decoded_len {
            return Err(Error::Lengths { codec: NAME, stored_len, decoded_len });
        }
        match &self.axes {
            Some(axes) => {
                self.check_len(decoded_len)?;
                turn(stored, index(self.element_size), axes, out);
            }
            None => out.copy_from_slice(stored),
        }
        self.swap_in_place(out);
        Ok(())
    }

    /// Checks that a chunk can have this length.
    pub(crate) fn check_len(&self, decoded_len: u64) -> Result<()> {
        let Some(axes) = &self.axes else { return Ok(()) };
        // The product was checked when the layout was made.
        let count: usize = axes.iter().map(|axis| axis.extent).product();
        let wanted = (count as u64).saturating_mul(self.element_size);
        if wanted == decoded_len {
            return Ok(());
        }
        Err(Error::Lengths { codec: NAME, stored_len: decoded_len, decoded_len: wanted })
    }
}

/// Transposes elements of `size` bytes; both sides have the length of all axes.
fn turn(stored: &[u8], size: usize, axes: &[Axis], out: &mut [u8]) {
    // The axis that varies fastest in the decoded chunk, and the one that does in the stored chunk.
    let wide = |axis: &Axis| axis.extent != 1;
    let Some(last) = axes.iter().rposition(wide) else { return };
    let near = axes.iter().position(|axis| wide(axis) && axis.stored_step == 1).unwrap_or(last);
    let (Some(columns), Some(rows)) = (axes.get(last), axes.get(near)) else { return };
    let rows = if near == last { Axis { extent: 1, stored_step: 0, step: 0 } } else { *rows };
    let outer: Vec<(Axis, usize)> = (0..)
        .zip(axes)
        .filter(|(at, _)| *at != last && *at != near)
        .map(|(_, it)| (*it, 0))
        .collect();
    if axes.iter().any(|axis| axis.extent == 0) {
        return;
    }
    let mut places = outer;
    let (mut from, mut to) = (0, 0);
    loop {
        let plane = Plane { from, to, rows, columns: *columns };
        match size {
            1 => plane.turn::<1>(stored, out),
            2 => plane.turn::<2>(stored, out),
            4 => plane.turn::<4>(stored, out),
            8 => plane.turn::<8>(stored, out),
            16 => plane.turn::<16>(stored, out),
            _ => plane.turn_any(size, stored, out),
        }
        let mut is_done = true;
        for (axis, at) in places.iter_mut().rev() {
            *at += 1;
            (from, to) = (from + axis.stored_step, to + axis.step);
            if *at < axis.extent {
                is_done = false;
                break;
            }
            (from, to) = (from - *at * axis.stored_step, to - *at * axis.step);
            *at = 0;
        }
        if is_done {
            return;
        }
    }
}

/// Two axes of a chunk, at one position of the others.
struct Plane {
    from: usize,
    to: usize,
    rows: Axis,
    columns: Axis,
}

impl Plane {
    fn turn<const SIZE: usize>(&self, stored: &[u8], out: &mut [u8]) {
        let (stored, out) = (stored.as_chunks::<SIZE>().0, out.as_chunks_mut::<SIZE>().0);
        self.tiles(|from, to, len| {
            let places = out.get_mut(to..to + len).unwrap_or_default();
            let elements = stored.get(from..).unwrap_or_default();
            for (place, element) in places.iter_mut().zip(elements.iter().step_by(self.step())) {
                *place = *element;
            }
        });
    }

    fn turn_any(&self, size: usize, stored: &[u8], out: &mut [u8]) {
        self.tiles(|from, to, len| {
            let places = out.get_mut(to * size..(to + len) * size).unwrap_or_default();
            let elements = stored.get(from * size..).unwrap_or_default();
            let elements = elements.chunks_exact(size).step_by(self.step());
            for (place, element) in places.chunks_exact_mut(size).zip(elements) {
                place.copy_from_slice(element);
            }
        });
    }

    fn step(&self) -> usize {
        self.columns.stored_step.max(1)
    }

    /// Calls `row` for each row of each tile: where it starts on both sides, and its length.
    fn tiles(&self, mut row: impl FnMut(usize, usize, usize)) {
        for top in (0..self.rows.extent).step_by(TILE) {
            for left in (0..self.columns.extent).step_by(TILE) {
                let len = TILE.min(self.columns.extent - left);
                for at in top..self.rows.extent.min(top + TILE) {
                    let from = self.from + at * self.rows.stored_step;
                    let to = self.to + at * self.rows.step;
                    row(from + left * self.columns.stored_step, to + left, len);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of `rank` axes.
    fn orders(rank: usize) -> Vec<Vec<usize>> {
        if rank == 0 {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for order in orders(rank - 1) {
            for at in 0..rank {
                let mut order = order.clone();
                order.insert(at, rank - 1);
                all.push(order);
            }
        }
        all
    }

    #[test]
    fn every_order_of_axes_is_undone() {
        let shapes: [&[u64]; 9] = [
            &[],
            &[5],
            &[2, 3],
            &[40, 70],
            &[1, 4],
            &[3, 1, 2],
            &[3, 0, 2],
            &[2, 3, 4],
            &[2, 3, 2, 5],
        ];
        for extents in shapes {
            for order in orders(extents.len()) {
                for size in [1_usize, 2, 3, 4, 8, 16] {
                    check(extents, &order, size);
                }
            }
        }
    }

    fn check(extents: &[u64], order: &[usize], size: usize) {
        let layout = ElementLayout::new(size as u64).with_order(order, extents).unwrap();
        let count: u64 = extents.iter().product();
        let decoded: Vec<u8> = (0..count as usize * size).map(|at| (at + at / 256) as u8).collect();
        let mut stored = Vec::new();
        for linear in 0..count {
            // The coordinates of the next stored element, by the stored order.
            let (mut rest, mut coords) = (linear, vec![0; extents.len()]);
            for axis in order.iter().rev() {
                coords[*axis] = rest % extents[*axis];
                rest /= extents[*axis];
            }
            let place = extents.iter().zip(&coords).fold(0, |sum, (extent, at)| sum * extent + at);
            let place = place as usize * size;
            stored.extend_from_slice(&decoded[place..place + size]);
        }
        let mut out = vec![0xee; decoded.len()];
        layout.undo(&stored, &mut out).unwrap();
        assert_eq!(out, decoded, "{extents:?} {order:?} {size}");
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        let layout = || ElementLayout::new(4);
        assert_eq!(layout().with_order(&[0, 0], &[2, 2]), None);
        assert_eq!(layout().with_order(&[0, 2], &[2, 2]), None);
        assert_eq!(layout().with_order(&[0], &[2, 2]), None);
        assert_eq!(layout().with_order(&[1, 0], &[u64::MAX, 2]), None);
        assert_eq!(layout().with_width(3), None);
        assert_eq!(layout().with_width(8), None);
    }

    #[test]
    fn another_length_than_that_of_the_axes_is_refused() {
        let layout = ElementLayout::new(1).with_order(&[1, 0], &[2, 3]).unwrap();
        let lengths = Error::Lengths { codec: NAME, stored_len: 5, decoded_len: 6 };
        assert_eq!(layout.undo(&[0; 5], &mut [0; 5]), Err(lengths));
    }
}
