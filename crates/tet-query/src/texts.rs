//! Selected texts of a dataset of strings.

use std::ops::Range;

use tet_format::Integrity;

use crate::answer::WithIntegrity;
use crate::budget::Execution;
use crate::catalog::{Dataset, NumberTexts, TextChunks, TextElements, Texts, check_len};
use crate::error::{Error, Result};
use crate::selection::{AxisSlice, Hyperslab};

/// Memory of a text, in addition to its bytes.
const TEXT_LEN: u64 = 24;

/// Elements of a block of texts that are read together.
const BLOCK_COUNT: u64 = 1 << 16;

impl Dataset {
    /// Reads the selected texts, row-major. Their bytes are bounded by the memory budget.
    ///
    /// # Errors
    ///
    /// Returns an error when the elements are not text, a chunk or a text cannot be read, or all texts
    /// are too long together.
    pub fn read_texts(
        &self,
        slab: &Hyperslab,
        how: &Execution,
    ) -> Result<WithIntegrity<Vec<String>>> {
        self.check_readable()?;
        if Hyperslab::new(slab.axes().to_vec(), self.shape()).is_none() {
            return Err(Error::misfit(self));
        }
        let answer = match &self.text {
            None => {
                let (dataset, dtype) = (self.name.clone(), self.dtype_name.clone());
                return Err(Error::NoTexts { dataset, dtype });
            }
            Some(Texts::Elements { bytes, elements }) => of_elements(bytes, &**elements, slab, how),
            Some(Texts::Chunks(chunks)) => of_chunks(self, &**chunks, slab, how),
            Some(Texts::Numbers { numbers, texts }) => of_numbers(numbers, &**texts, slab, how),
        };
        let answer = answer.map_err(|error| self.in_file(error))?;
        self.check_unchanged()?;
        Ok(answer)
    }

    /// Calls `visit` with the selected texts, row-major, block by block: a selection of any length takes
    /// the memory of a block.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read_texts`], and the errors of `visit`.
    pub fn for_texts<E: From<Error>>(
        &self,
        slab: &Hyperslab,
        how: &Execution,
        visit: &mut dyn FnMut(WithIntegrity<Vec<String>>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        how.progress.check().map_err(Error::from)?;
        let count = slab.element_count().unwrap_or(u64::MAX);
        let size = match &self.text {
            Some(Texts::Elements { bytes, .. }) => bytes.shape().last().copied().unwrap_or(1),
            _ => 1,
        };
        let room = how.memory_budget / 4 / size.saturating_add(TEXT_LEN);
        let is_large = BLOCK_COUNT.min(room.max(1)) < count;
        let mut axes = slab.axes().iter().enumerate().filter(|_| is_large);
        let Some((axis, slice)) = axes.find(|(_, slice)| 1 < slice.count()) else {
            return if count == 0 { Ok(()) } else { visit(self.read_texts(slab, how)?) };
        };
        let half = slice.count() / 2;
        for range in [0..half, half..slice.count()] {
            let mut axes = slab.axes().to_vec();
            if let Some(part) = axes.get_mut(axis) {
                *part = slice.part(range);
            }
            let part = Hyperslab::new(axes, self.shape()).ok_or_else(|| Error::misfit(self))?;
            self.for_texts(&part, how, visit)?;
        }
        Ok(())
    }
}

/// Texts of elements that have the same number of bytes each.
fn of_elements(
    bytes: &Dataset,
    elements: &dyn TextElements,
    slab: &Hyperslab,
    how: &Execution,
) -> Result<WithIntegrity<Vec<String>>> {
    let misfit = || Error::misfit(bytes);
    let size = bytes.shape().last().copied().ok_or_else(misfit)?;
    let count = slab.element_count().unwrap_or(u64::MAX);
    check_len(size.saturating_add(TEXT_LEN).saturating_mul(count), how.memory_budget)?;
    let axes = slab.axes().iter().copied().chain([AxisSlice::whole(size)]);
    let slab = Hyperslab::new(axes.collect(), bytes.shape()).ok_or_else(misfit)?;
    let WithIntegrity { value, integrity } = bytes.read(&slab, how)?;
    let len_max = how.memory_budget.saturating_sub(TEXT_LEN.saturating_mul(count));
    let value = match usize::try_from(size).unwrap_or(usize::MAX) {
        // Texts of no bytes have no elements to make them of.
        0 => vec![String::new(); usize::try_from(count).unwrap_or(0)],
        size => elements.texts(value.bytes(), size, len_max)?,
    };
    Ok(WithIntegrity { value, integrity })
}

/// Texts of numbers.
fn of_numbers(
    numbers: &Dataset,
    texts: &dyn NumberTexts,
    slab: &Hyperslab,
    how: &Execution,
) -> Result<WithIntegrity<Vec<String>>> {
    let count = slab.element_count().unwrap_or(u64::MAX);
    check_len(TEXT_LEN.saturating_mul(2).saturating_mul(count), how.memory_budget)?;
    let WithIntegrity { value, integrity } = numbers.read(slab, how)?;
    Ok(WithIntegrity { value: texts.texts(&value)?, integrity })
}

/// Texts of chunks that are decoded whole, each once.
fn of_chunks(
    dataset: &Dataset,
    chunks: &dyn TextChunks,
    slab: &Hyperslab,
    how: &Execution,
) -> Result<WithIntegrity<Vec<String>>> {
    let count = slab.element_count().unwrap_or(u64::MAX);
    check_len(TEXT_LEN.saturating_mul(count), how.memory_budget)?;
    let mut left = how.memory_budget.saturating_sub(TEXT_LEN.saturating_mul(count));
    let mut value = vec![String::new(); index(count)];
    let numbers = touched(dataset, slab);
    let ranges: Vec<Range<u64>> = numbers.iter().map(|it| 0..it.len() as u64).collect();
    each(&ranges, &mut |nth| {
        how.progress.check()?;
        let number = |(numbers, &nth): (&Vec<u64>, &u64)| numbers.get(index(nth)).copied();
        let chunk: Option<Vec<u64>> = numbers.iter().zip(nth).map(number).collect();
        let misfit = || Error::misfit(dataset);
        let chunk = chunk.ok_or_else(misfit)?;
        let linear = dataset.grid.linear(&chunk).ok_or_else(misfit)?;
        let texts = chunks.texts(linear, how.memory_budget)?;
        let len = place(dataset, slab, &chunk, &texts, &mut value)?;
        check_len(len, left)?;
        left -= len;
        Ok(())
    })?;
    Ok(WithIntegrity { value, integrity: Integrity::Unprotected })
}

/// Copies the selected texts of a chunk to their places; returns their bytes.
fn place(
    dataset: &Dataset,
    slab: &Hyperslab,
    chunk: &[u64],
    texts: &[String],
    value: &mut [String],
) -> Result<u64> {
    let mut origin = chunk.to_vec();
    dataset.grid.origin(chunk, &mut origin);
    let extents = dataset.grid.chunk_shape().iter().copied();
    let axes: Vec<(AxisSlice, u64, u64)> = slab
        .axes()
        .iter()
        .zip(origin.iter().zip(extents))
        .map(|(slice, (&start, extent))| (*slice, start, extent))
        .collect();
    let inside = axes.iter().map(|(slice, start, extent)| {
        let before = |end: u64| {
            end.saturating_sub(slice.start).div_ceil(slice.step.max(1)).min(slice.count())
        };
        before(*start)..before(start.saturating_add(*extent))
    });
    let inside: Vec<Range<u64>> = inside.collect();
    let mut len = 0_u64;
    each(&inside, &mut |at| {
        let (mut from, mut to) = (0_u64, 0_u64);
        for ((slice, start, extent), nth) in axes.iter().zip(at) {
            let position = (slice.start + nth * slice.step).saturating_sub(*start);
            from = from.saturating_mul(*extent).saturating_add(position);
            to = to.saturating_mul(slice.count()).saturating_add(*nth);
        }
        if let (Some(text), Some(place)) = (texts.get(index(from)), value.get_mut(index(to))) {
            len = len.saturating_add(text.len() as u64);
            place.clone_from(text);
        }
        Ok(())
    })?;
    Ok(len)
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// For each axis the numbers of the chunks that a selection touches.
fn touched(dataset: &Dataset, slab: &Hyperslab) -> Vec<Vec<u64>> {
    let of_axis = |(slice, &extent): (&AxisSlice, &u64)| {
        let (extent, step) = (extent.max(1), slice.step.max(1));
        let (mut numbers, mut next) = (Vec::new(), Some(slice.start));
        while let (Some(at), Some(last)) = (next, slice.last())
            && at <= last
        {
            let number = at / extent;
            numbers.push(number);
            // The first selected position of a later chunk.
            let start = (number + 1).saturating_mul(extent);
            let steps = start.saturating_sub(at).div_ceil(step).max(1);
            next = steps.checked_mul(step).and_then(|distance| at.checked_add(distance));
        }
        numbers
    };
    slab.axes().iter().zip(dataset.grid.chunk_shape().iter()).map(of_axis).collect()
}

/// Calls `visit` with every combination of positions, row-major.
fn each(ranges: &[Range<u64>], visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
    if ranges.iter().any(Range::is_empty) {
        return Ok(());
    }
    let mut at: Vec<u64> = ranges.iter().map(|range| range.start).collect();
    loop {
        visit(&at)?;
        let mut axis = ranges.len();
        loop {
            let Some(next) = axis.checked_sub(1) else { return Ok(()) };
            axis = next;
            let (Some(place), Some(range)) = (at.get_mut(axis), ranges.get(axis)) else {
                return Ok(());
            };
            *place += 1;
            if *place < range.end {
                break;
            }
            *place = range.start;
        }
    }
}

#[cfg(test)]
mod tests;
