//! All chunks of an index, in its own order: the work follows what is stored, not the extents.

use super::{ChunkAddress, Form, StoredIndex};
use crate::error::{Result, fault};
use crate::rule;

/// Receives the coordinate and the place of a chunk, and returns whether to go on.
type Take<'t> = &'t mut dyn FnMut(&[u64], ChunkAddress) -> Result<bool>;

/// Steps through an array that are made in a file of any length.
const STEPS: u64 = 1 << 16;

impl StoredIndex {
    /// Calls `take` with all chunks of the shape.
    pub(crate) fn visit(&self, take: Take<'_>) -> Result<()> {
        let reader = &self.reader;
        let mut inside = |coord: &[u64], place: ChunkAddress| -> Result<bool> {
            let is_inside = coord.iter().zip(&self.counts).all(|(at, count)| at < count);
            if is_inside { take(coord, place) } else { Ok(true) }
        };
        match &self.form {
            Form::Absent => Ok(()),
            _ if self.counts.contains(&0) => Ok(()),
            Form::Single(_) | Form::Implicit => self.grid(&mut inside),
            Form::Tree1(tree) => tree.each(reader, &self.layout.shape, &mut inside),
            Form::Tree2(tree) => tree.each(reader, &mut inside),
            Form::Fixed(array) => self.numbers(None, array.end(), &mut inside, &mut |number| {
                Ok((array.find(reader, number)?, array.next(number)))
            }),
            Form::Extensible(array) => {
                let first = self.max_counts.iter().position(|&count| count == 0);
                self.numbers(first, u64::MAX, &mut inside, &mut |number| {
                    array.find_or_next(reader, number)
                })
            }
        }
    }

    /// All chunks of the grid: each is stored, so they are no more than the file holds.
    fn grid(&self, take: Take<'_>) -> Result<()> {
        let mut coord = vec![0; self.counts.len()];
        loop {
            if let Some(chunk) = self.find(&coord)? {
                let address = chunk.span.start().saturating_sub(self.reader.base);
                if !take(&coord, (address, chunk.span.len(), chunk.mask))? {
                    return Ok(());
                }
            }
            let axes = coord.iter_mut().zip(&self.counts).rev();
            let mut is_last = true;
            for (at, &count) in axes {
                *at = at.saturating_add(1);
                if *at < count {
                    is_last = false;
                    break;
                }
                *at = 0;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// The chunks of an array, by number; `find` gives the next number that can be stored.
    fn numbers(
        &self,
        first: Option<usize>,
        end: u64,
        take: Take<'_>,
        find: &mut dyn FnMut(u64) -> Result<(Option<ChunkAddress>, u64)>,
    ) -> Result<()> {
        let last = self.last_number(first).min(end);
        let mut number = 0_u64;
        // An element takes bytes, a page that was not written takes a bit.
        let mut steps_left = self.reader.source.len().saturating_mul(8).saturating_add(STEPS);
        while number < last {
            steps_left = steps_left.checked_sub(1).ok_or_else(|| {
                fault(&rule::INDEX_SHARED, self.reader.base, number, self.reader.source.len())
            })?;
            let (place, next) = find(number)?;
            if let Some(place) = place
                && !take(&self.coord(number, first)?, place)?
            {
                return Ok(());
            }
            number = next.max(number.saturating_add(1));
        }
        Ok(())
    }

    /// The number behind that of the last chunk of the shape.
    fn last_number(&self, first: Option<usize>) -> u64 {
        let last: Vec<u64> = self.counts.iter().map(|count| count.saturating_sub(1)).collect();
        self.number(&last, first).map_or(u64::MAX, |number| number.saturating_add(1))
    }

    /// The coordinate of the chunk of a number.
    fn coord(&self, number: u64, first: Option<usize>) -> Result<Vec<u64>> {
        let misfit = || fault(&rule::INDEX_HEAD, self.reader.base, number, 0);
        let mut coord = vec![0; self.counts.len()];
        let mut rest = number;
        for (axis, at) in coord.iter_mut().enumerate().rev() {
            if Some(axis) == first {
                continue;
            }
            let count = self.max_counts.get(axis).copied().unwrap_or(0);
            *at = rest.checked_rem(count).ok_or_else(misfit)?;
            rest = rest.checked_div(count).ok_or_else(misfit)?;
        }
        if let Some(at) = first.and_then(|axis| coord.get_mut(axis)) {
            *at = rest;
        }
        Ok(coord)
    }
}
