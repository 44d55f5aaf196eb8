//! The cells of tiles put together into those of the result.

use std::ops::Range;

use bytemuck::Zeroable;
use tet_format::Shape;

use crate::array::Array;
use crate::buffer;
use crate::error::{Error, Result};
use crate::value::{Cells, Values};

/// A result whose tiles arrive one by one.
pub(super) struct Assembly {
    shape: Vec<u64>,
    cells: usize,
    /// Values to a cell.
    width: usize,
    values: Option<Values>,
}

impl Assembly {
    pub(super) fn new(shape: Vec<u64>, cells: usize, width: usize) -> Self {
        Assembly { shape, cells, width, values: None }
    }

    /// Takes in the cells of one tile, which are those of `rect`.
    pub(super) fn put(&mut self, tile: Values, rect: &[Range<u64>]) -> Result<()> {
        if tile.len() == self.cells * self.width {
            self.values = Some(tile);
            return Ok(());
        }
        let count = self.cells * self.width;
        let values = match &mut self.values {
            Some(values) => values,
            empty => empty.insert(Values { cells: room(&tile.cells, count)?, nulls: None }),
        };
        let rows = Rows::new(&self.shape, rect)?;
        match (&mut values.cells, &tile.cells) {
            (Cells::Count(to), Cells::Count(from)) => rows.copy(to, from, self.width),
            (Cells::Truth(to), Cells::Truth(from)) => rows.copy(to, from, self.width),
            (Cells::Int(to), Cells::Int(from)) => rows.copy(to, from, self.width),
            (Cells::Float(to), Cells::Float(from)) => rows.copy(to, from, self.width),
            (Cells::Element(to), Cells::Element(from)) => {
                let size = buffer::len(from.dtype().size().unwrap_or(1))?;
                rows.copy(to.bytes_mut(), from.bytes(), size * self.width);
            }
            // One kernel gives one kind of cells.
            _ => {}
        }
        if let Some(from) = &tile.nulls {
            let to = match &mut values.nulls {
                Some(nulls) => nulls,
                none => none.insert(zeros(count)?),
            };
            rows.copy(to, from, self.width);
        }
        Ok(())
    }

    /// The result.
    pub(super) fn finish(self) -> Values {
        self.values.unwrap_or(Values::new(Cells::Count(Vec::new())))
    }
}

/// Cells of the same kind as those of a tile, for the whole result.
fn room(like: &Cells, count: usize) -> Result<Cells> {
    Ok(match like {
        Cells::Count(_) => Cells::Count(zeros(count)?),
        Cells::Truth(_) => Cells::Truth(zeros(count)?),
        Cells::Int(_) => Cells::Int(zeros(count)?),
        Cells::Float(_) => Cells::Float(zeros(count)?),
        Cells::Element(array) => {
            Cells::Element(Array::zeroed(array.dtype(), Shape::from([count as u64]))?)
        }
    })
}

/// Zeros, or an error where memory cannot hold them: the allocation is tried, because a failed one aborts.
fn zeros<V: Zeroable + Clone>(count: usize) -> Result<Vec<V>> {
    let wanted = (count as u64).saturating_mul(size_of::<V>() as u64);
    let reserved = Vec::<V>::new().try_reserve_exact(count);
    reserved.map_err(|_| Error::NoMemory { wanted })?;
    Ok(vec![V::zeroed(); count])
}

/// Where the rows of a tile go.
struct Rows {
    /// The first cells of the rows, in order, and the cells of each.
    starts: Vec<usize>,
    len: usize,
}

impl Rows {
    fn new(shape: &[u64], rect: &[Range<u64>]) -> Result<Rows> {
        let mut starts = vec![0];
        let mut len = 1;
        let last = shape.len().saturating_sub(1);
        for (axis, (&extent, range)) in shape.iter().zip(rect).enumerate() {
            let extent = buffer::len(extent)?;
            let range = buffer::len(range.start)?..buffer::len(range.end)?;
            if axis == last {
                starts.iter_mut().for_each(|start| *start = *start * extent + range.start);
                len = range.len();
            } else {
                let rows = starts
                    .iter()
                    .flat_map(|start| range.clone().map(move |at| start * extent + at));
                starts = rows.collect();
            }
        }
        Ok(Rows { starts, len })
    }

    /// Copies the rows; a cell takes `size` items.
    fn copy<V: Copy>(&self, to: &mut [V], from: &[V], size: usize) {
        let len = self.len * size;
        for (start, row) in self.starts.iter().zip(from.chunks_exact(len.max(1))) {
            to[start * size..][..len].copy_from_slice(row);
        }
    }
}
