//! The elements of a strip where they lie in a chunk, and copied side by side.

use super::Rows;
use crate::buffer::{self, Buffer};
use crate::copy::copy_box;
use crate::error::Result;
use crate::plan::piece::{Stretch, Stretches, element_count, strides};
use crate::plan::touch::AxisBox;

/// Whether the bytes of a strip serve as they lie in the chunk; where they do not, its elements are
/// copied to `dense`.
pub(super) fn serves(
    rows: Rows,
    bytes: &[u8],
    boxes: &[AxisBox],
    element_size: usize,
    dense: &mut Buffer,
) -> Result<bool> {
    let fits = match rows {
        Rows::Any => true,
        Rows::Aligned(align) => {
            bytes.as_ptr().addr().is_multiple_of(align) && is_inner_dense(boxes)
        }
        Rows::Truths => false,
    };
    if !fits {
        let len = buffer::len(element_count(boxes))? * element_size;
        let counts: Vec<usize> =
            boxes.iter().map(|part| buffer::len(part.count)).collect::<Result<_>>()?;
        let (from_strides, to_strides) = (held_strides(boxes), dense_strides(boxes));
        copy_box(&counts, element_size, bytes, &from_strides, dense.room(len)?, &to_strides);
    }
    Ok(fits)
}

/// Whether the innermost axis with several positions has them side by side in the chunk.
fn is_inner_dense(boxes: &[AxisBox]) -> bool {
    let mut stride = 1;
    for part in boxes.iter().rev() {
        if part.count > 1 {
            return part.step * stride == 1;
        }
        stride *= part.extent;
    }
    true
}

/// Elements between neighbors of the selection where they lie in the chunk.
pub(super) fn held_strides(boxes: &[AxisBox]) -> Vec<usize> {
    let stride = |(part, stride): (&AxisBox, u64)| {
        // Products within a chunk in memory.
        if part.count > 1 { usize::try_from(part.step * stride).unwrap_or(usize::MAX) } else { 0 }
    };
    boxes.iter().zip(strides(boxes)).map(stride).collect()
}

/// Elements between neighbors of the selection when its elements lie side by side.
pub(super) fn dense_strides(boxes: &[AxisBox]) -> Vec<usize> {
    let mut strides = vec![0; boxes.len()];
    let mut inner = 1;
    for (stride, part) in strides.iter_mut().zip(boxes).rev() {
        if part.count > 1 {
            *stride = inner;
            inner *= usize::try_from(part.count).unwrap_or(usize::MAX);
        }
    }
    strides
}

/// Copies the selected elements out of the bytes of one stretch of a strip.
pub(super) fn spread(
    stretches: &Stretches,
    stretch: &Stretch,
    boxes: &[AxisBox],
    element_size: usize,
    held: &[u8],
    out: &mut [u8],
) -> Result<()> {
    if held.len() == out.len() {
        out.copy_from_slice(held);
        return Ok(());
    }
    let mut counts = vec![buffer::len(stretch.rows)?];
    let mut from = vec![buffer::len(stretches.step)?];
    for (part, stride) in boxes.iter().zip(strides(boxes)).skip(stretches.inner) {
        if part.count > 1 {
            counts.push(buffer::len(part.count)?);
            from.push(buffer::len(part.step * stride)?);
        }
    }
    let mut to = vec![1; counts.len()];
    for axis in (1..counts.len()).rev() {
        to[axis - 1] = to[axis] * counts[axis];
    }
    copy_box(&counts, element_size, held, &from, out, &to);
    Ok(())
}
