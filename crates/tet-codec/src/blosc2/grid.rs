//! Frames of several axes, which blosc2 names b2nd: a chunk of blocks, each with its own elements in
//! row-major order. Blocks at the edges are whole, so the frame is larger than the array.
//!
//! ```text
//!   | 0x97 | version | axes | extents, i64 | extents of a chunk, i32 | extents of a block, i32 | ...
//! ```

use super::FrameFault;
use crate::scratch::index;

const NAME: &[u8] = b"\xA4b2nd\xD2";
/// Length of the prefix of the content: a type and its length.
const PREFIX_LEN: usize = 5;
const AXES_MAX: usize = 32;

/// The axes of the array in a frame.
#[derive(Debug)]
pub(super) struct Grid {
    axes: Vec<Axis>,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    extent: usize,
    block: usize,
}

impl Grid {
    /// The grid in the header of a frame. `None` where elements are in row-major order.
    pub(super) fn read(header: &[u8]) -> Result<Option<Grid>, FrameFault> {
        let Some(at) = header.windows(NAME.len()).position(|it| it == NAME) else {
            return Ok(None);
        };
        let content = || {
            let (at, _) = header.get(at + NAME.len()..)?.split_first_chunk()?;
            let at = index(u32::from_le_bytes(*at).swap_bytes().into());
            let [0x97, _, count, rest @ ..] = header.get(at..)?.get(PREFIX_LEN..)? else {
                return None;
            };
            let (count, mut rest) = (usize::from(*count), rest);
            let shapes = [(0xD3, 8), (0xD2, 4), (0xD2, 4)]
                .map(|(kind, len)| extents(&mut rest, count, kind, len));
            let [Some(shape), Some(chunk), Some(block)] = shapes else { return None };
            // An HDF5 chunk is one chunk of blosc2.
            (shape == chunk).then(|| {
                let pairs = shape.into_iter().zip(block);
                pairs.map(|(extent, block)| Axis { extent, block }).collect::<Vec<_>>()
            })
        };
        let axes = content().ok_or(FrameFault::NotBuilt)?;
        Ok((1 < axes.len()).then_some(Grid { axes }))
    }

    /// The elements of the array, and those of all its whole blocks.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        let mut counts = (1_usize, 1_usize);
        for axis in &self.axes {
            counts.0 = counts.0.checked_mul(axis.extent)?;
            counts.1 = counts.1.checked_mul(axis.extent.checked_next_multiple_of(axis.block)?)?;
        }
        Some(counts)
    }

    /// Brings elements of `size` bytes from blocks into row-major order.
    pub(super) fn undo(&self, blocks: &[u8], size: usize, out: &mut [u8]) -> Option<()> {
        let (last, outer) = self.axes.split_last()?;
        let block_len = self.axes.iter().map(|axis| axis.block).product::<usize>();
        let mut coords = vec![0_usize; outer.len()];
        for row in out.chunks_exact_mut(last.extent.checked_mul(size)?) {
            let (mut block, mut inside) = (0, 0);
            for (axis, at) in outer.iter().zip(&coords) {
                block = block * axis.extent.div_ceil(axis.block) + at / axis.block;
                inside = inside * axis.block + at % axis.block;
            }
            let first = block * last.extent.div_ceil(last.block);
            for (number, part) in row.chunks_mut(last.block * size).enumerate() {
                let from = ((first + number) * block_len + inside * last.block) * size;
                part.copy_from_slice(blocks.get(from..)?.get(..part.len())?);
            }
            for (axis, at) in outer.iter().zip(&mut coords).rev() {
                *at += 1;
                if *at < axis.extent {
                    break;
                }
                *at = 0;
            }
        }
        Some(())
    }
}

/// The extents of one kind; none is zero.
fn extents(rest: &mut &[u8], count: usize, kind: u8, len: usize) -> Option<Vec<usize>> {
    let (head, after) = rest.split_first()?;
    *rest = after;
    if AXES_MAX < count || usize::from(*head) != 0x90 + count {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let (number, after) = rest.split_at_checked(1 + len)?;
        let (first, number) = number.split_first()?;
        let number = number.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let number = usize::try_from(number).ok().filter(|it| *it != 0 && *first == kind)?;
        found.push(number);
        *rest = after;
    }
    Some(found)
}
