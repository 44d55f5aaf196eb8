//! A lazy array as a stream of bytes: the next blocks are read while one is written.
//!
//! A quarter of the memory budget is for blocks, the rest for reading them.

use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tet_format::Shape;
use tet_query::{Computed, Dataset, Elements, Execution, Hyperslab, LazyArray};

use crate::model::attributes::is_scalar;
use crate::{Error, Result};

/// Blocks are about this long where memory allows.
const BLOCK_LEN: u64 = 4 << 20;
/// Blocks that are held at once: one is read, one waits, one is written.
const BLOCK_COUNT: u64 = 3;
/// Shorter blocks are not worth a thread.
const BLOCK_LEN_MIN: u64 = 1 << 20;

/// All elements of a dataset.
///
/// # Errors
/// The elements are of no type that is read.
pub fn whole(dataset: &Dataset) -> Result<LazyArray> {
    Ok(LazyArray::values(dataset, &Hyperslab::whole(dataset.shape()))?)
}

/// Calls `visit` with the elements of a lazy array, block by block in row-major order; the progress of
/// `execution` counts the bytes that were visited.
///
/// # Errors
/// As `visit`; the elements cannot be read, the budget does not hold a row, or the caller canceled.
pub fn for_each(
    lazy: &LazyArray,
    execution: &Execution,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let elements = Computed::behind(lazy);
    if let Some(mut parts) = elements.and_then(Elements::in_order) {
        return parts.try_for_each(|part| for_each(part, execution, visit));
    }
    // Blocks are parts, and a seal is of the whole.
    elements.map_or_else(|| lazy.check_seal(execution), |it| it.check_seal(execution))?;
    let room = execution.memory_budget / 4;
    let memory_budget = execution.memory_budget - room;
    let how = Execution { memory_budget, ..execution.silent() };
    let visit = &mut |elements: &[u8]| {
        visit(elements)?;
        Ok(execution.progress.advance(elements.len() as u64)?)
    };
    let share = room / BLOCK_COUNT;
    let is_ahead = share.min(len_of(lazy)) >= BLOCK_LEN_MIN && band_len(lazy) <= share;
    let len_max = if is_ahead { share } else { room };
    let size = lazy.dtype().size().unwrap_or(1);
    let Some(blocks) = lazy.blocks(BLOCK_LEN, len_max) else {
        return Err(Error::Budget {
            dataset: lazy.dataset().name.clone(),
            wanted: size.saturating_mul(4),
            limit: execution.memory_budget,
        });
    };
    if is_ahead {
        return ahead(lazy, blocks, &how, visit);
    }
    one_by_one(lazy, blocks, &how, visit)
}

fn one_by_one(
    lazy: &LazyArray,
    blocks: impl Iterator<Item = Hyperslab>,
    how: &Execution,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = Vec::new();
    for block in blocks {
        read(lazy, &block, how, &mut buffer)?;
        visit(&buffer)?;
    }
    Ok(())
}

/// Reads on a thread of its own, at most as many blocks ahead as there are buffers; on the caller's
/// where the system has no thread left.
fn ahead(
    lazy: &LazyArray,
    blocks: impl Iterator<Item = Hyperslab> + Send,
    how: &Execution,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let blocks = Mutex::new(Some(blocks));
    let taken = || blocks.lock().unwrap_or_else(PoisonError::into_inner).take();
    thread::scope(|scope| {
        let (filled, arriving) = sync_channel(1);
        let (used, spare) = channel();
        for _ in 0..BLOCK_COUNT {
            let _ = used.send(Vec::new());
        }
        let taken = &taken;
        let reader = thread::Builder::new().spawn_scoped(scope, move || {
            for block in taken().into_iter().flatten() {
                // No buffer comes back, and none is taken, once the writing has failed.
                let Ok(mut buffer) = spare.recv() else { return };
                let outcome = read(lazy, &block, how, &mut buffer).map(|()| buffer);
                let is_lost = outcome.is_err();
                if filled.send(outcome).is_err() || is_lost {
                    return;
                }
            }
        });
        if reader.is_err() {
            return taken().map_or(Ok(()), |blocks| one_by_one(lazy, blocks, how, visit));
        }
        for outcome in arriving {
            let buffer = outcome?;
            visit(&buffer)?;
            let _ = used.send(buffer);
        }
        Ok(())
    })
}

/// Reads a part of a lazy array into exactly its bytes.
///
/// # Errors
/// The elements cannot be read.
pub fn read(
    lazy: &LazyArray,
    part: &Hyperslab,
    how: &Execution,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let size = lazy.dtype().size().unwrap_or(1);
    let len = part.element_count().and_then(|count| usize::try_from(count.checked_mul(size)?).ok());
    let memory = || Error::Memory { dataset: lazy.dataset().name.clone() };
    let len = len.ok_or_else(memory)?;
    if buffer.capacity() < len {
        buffer.clear();
        buffer.try_reserve_exact(len).map_err(|_| memory())?;
    }
    buffer.resize(len, 0);
    // The elements that a dataset is computed from are read themselves, with all threads and the whole budget.
    let read = match Computed::behind(lazy) {
        Some(elements) => elements.read_into(part, how, buffer),
        None => lazy.read_into(part, how, buffer),
    };
    Ok(read?)
}

/// Bytes of all elements.
pub fn len_of(lazy: &LazyArray) -> u64 {
    let size = lazy.dtype().size().unwrap_or(0);
    lazy.shape().element_count().unwrap_or(u64::MAX).saturating_mul(size)
}

/// Bytes of all elements of several.
pub fn total_len<'l>(arrays: impl IntoIterator<Item = &'l LazyArray>) -> u64 {
    arrays.into_iter().map(len_of).fold(0, u64::saturating_add)
}

/// Bytes of the elements along the first axis in the same chunks.
fn band_len(lazy: &LazyArray) -> u64 {
    let chunk = lazy.chunk_shape().first().copied().unwrap_or(1);
    let inner = lazy.shape().iter().skip(1).copied().fold(1, u64::saturating_mul);
    inner.saturating_mul(chunk).saturating_mul(lazy.dtype().size().unwrap_or(1))
}

/// The result's shape; a dataset that was a scalar is one again.
pub fn shape_of(lazy: &LazyArray) -> Shape {
    let is_whole = **lazy.shape() == [1];
    if is_scalar(lazy.dataset()) && is_whole { Shape::from([]) } else { lazy.shape().clone() }
}
