//! How the elements of two datasets differ.
//!
//! ```text
//!   chunks of equal digests are left out -> boxes of the others -> both read -> pairs compared -> tally
//! ```
//!
//! Boxes are compared on all threads, and the result does not depend on their number: counts are added, sums too and
//! exactly, the largest difference and the first place are the same in any order.

mod blocks;
mod boxes;
mod change;
mod element_diff;
mod missing;
mod pair;
mod structure;
mod tally;
#[cfg(test)]
mod tests;
mod texts;
mod tolerance;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tet_format::{DType, Integrity};

use self::blocks::BlockPair;
use self::boxes::Boxes;
use self::change::ChangeSums;
pub use self::change::DiffNorms;
pub use self::element_diff::{DiffBlock, DiffValue, DifferingElement, ElementDiff};
use self::missing::missing;
use self::pair::{Pairs, compare};
pub use self::structure::{CatalogDiff, DatasetDiff, MetadataDiff};
use self::tally::Tally;
use self::texts::diff_texts;
pub use self::tolerance::Tolerance;
use crate::answer::WithIntegrity;
use crate::budget::Execution;
use crate::buffer::{self, Buffer};
use crate::catalog::{Dataset, Meaning};
use crate::error::{Error, Result};
use crate::fetch;
use crate::lazy::LazyArray;
use crate::selection::Hyperslab;

impl Dataset {
    /// Compares the elements of a selection with those of another dataset, pair by pair, row-major.
    ///
    /// Chunks that both files have digests of, stored in the same way, are equal when the digests are, and are not
    /// read then: the answer is unchecked. With [`DigestPolicy::Always`](crate::DigestPolicy) all are read, and compared
    /// with their digests. Floats of different widths are compared as float64, integers of different dtypes exactly.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`] for both, and [`Error::Incomparable`] for selections of different shapes and types that are not
    /// compared with each other.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tet_file::TetFile;
    /// use tet_query::{Catalog, Execution, Hyperslab, Tolerance};
    ///
    /// let open = |path: &str| -> tet_query::Result<Catalog> {
    ///     Catalog::from_tet(TetFile::open(tet_io::Source::open(path)?, &Default::default())?)
    /// };
    /// let [old, new] = [open("old.tet")?, open("new.tet")?];
    /// let [old, new] = [old.find("temp")?, new.find("temp")?];
    /// let all = [old, new].map(|it| Hyperslab::whole(it.shape()));
    /// let found = old.diff(&all[0], new, &all[1], &Tolerance::default(), &Execution::default())?;
    /// println!("{} of {} differ", found.differing, found.count);
    /// # Ok::<(), tet_query::Error>(())
    /// ```
    pub fn diff(
        &self,
        slab: &Hyperslab,
        other: &Dataset,
        other_slab: &Hyperslab,
        tolerance: &Tolerance,
        how: &Execution,
    ) -> Result<WithIntegrity<ElementDiff>> {
        let incomparable = |why| Error::Incomparable { dataset: self.name.clone(), why };
        let shapes = [slab, other_slab].map(Hyperslab::kept_shape);
        if shapes[0] != shapes[1] {
            let why = format!("the selections have the shapes {} and {}", shapes[0], shapes[1]);
            return Err(incomparable(why));
        }
        if self.text.is_some() && other.text.is_some() {
            return diff_texts([(self, slab), (other, other_slab)], how);
        }
        let pair = [(self, slab), (other, other_slab)];
        if let Some(blocks) = BlockPair::new(pair).filter(|_| blocks::are_enough(tolerance)) {
            let found = blocks.diff(slab, how)?;
            let is_number = self.why().is_none() && other.why().is_none() && self.dtype.is_some();
            if found.differing == 0 || !is_number {
                return Ok(found);
            }
            // Of quantized numbers it is said how far they are apart.
            let numbers = diff_numbers(pair, tolerance, how)?;
            let is_told = 0 < numbers.differing || !tolerance.is_exact();
            return Ok(if is_told { numbers } else { found });
        }
        if blocks::are_alike([self, other]) && self.dtype.is_none() {
            return Err(incomparable("the selected elements are parts of blocks".to_owned()));
        }
        diff_numbers(pair, tolerance, how)
    }
}

/// Compares the selected numbers of two datasets; the selections have one shape.
fn diff_numbers(
    pair: [(&Dataset, &Hyperslab); 2],
    tolerance: &Tolerance,
    how: &Execution,
) -> Result<WithIntegrity<ElementDiff>> {
    let [(left, slab), (right, other_slab)] = pair;
    let missing = [missing(left), missing(right)];
    let arrays = [LazyArray::values(left, slab)?, LazyArray::values(right, other_slab)?];
    let dtypes = arrays.each_ref().map(LazyArray::dtype);
    let pairs = Pairs::new(dtypes, tolerance, [&missing[0], &missing[1]]);
    let pairs = pairs.ok_or_else(|| Error::Incomparable {
        dataset: left.name.clone(),
        why: not_compared(dtypes, tolerance),
    })?;
    let mut found = compare_arrays([&arrays[0], &arrays[1]], pairs, slab, how)?;
    let masked = [left.masked_integer(), right.masked_integer()];
    for shown in found.value.first.iter_mut().chain(&mut found.value.worst) {
        shown.name_missing_times(masked);
    }
    Ok(found)
}

/// Compares two arrays of one shape; `slab` has the positions of the first.
fn compare_arrays(
    [left, right]: [&LazyArray; 2],
    pairs: Pairs<'_>,
    slab: &Hyperslab,
    how: &Execution,
) -> Result<WithIntegrity<ElementDiff>> {
    let boxes = Boxes::new([left, right], pairs.is_bitwise(), how)?;
    let skipped = boxes.skipped();
    how.progress.advance(skipped.saturating_mul(boxes.element_size()))?;
    if skipped == 0 {
        [left, right].iter().try_for_each(|it| it.check_seal(how))?;
    }
    let stored = stored_alike([left, right], pairs)?;
    let mut total = compared([left, right], stored.as_ref(), &boxes, pairs, how)?;
    total.tally.skipped = skipped;
    let is_measured = pairs.has_numbers() && total.tally.differing > 0 && skipped == 0;
    let change = is_measured.then(|| total.change.finish(total.tally.unmeasured));
    [left, right].iter().try_for_each(|it| it.dataset().check_unchanged())?;
    let integrity = match skipped {
        0 => left.integrity().and(right.integrity()),
        _ => Integrity::Unchecked,
    };
    Ok(WithIntegrity { value: ElementDiff { change, ..total.tally.answer(slab) }, integrity })
}

/// The arrays as they are stored, where equal stored elements are decoded to equal ones.
fn stored_alike(arrays: [&LazyArray; 2], pairs: Pairs<'_>) -> Result<Option<[LazyArray; 2]>> {
    let datasets = arrays.map(LazyArray::dataset);
    let [Some(left), Some(right)] = datasets.map(|it| it.meaning.as_ref()) else { return Ok(None) };
    if !pairs.is_bitwise() || !left.is_same(right) {
        return Ok(None);
    }
    let values =
        |meaning: &Meaning, array: &LazyArray| LazyArray::values(&meaning.stored, array.slab());
    Ok(Some([values(left, arrays[0])?, values(right, arrays[1])?]))
}

/// The sums over all boxes.
struct Total {
    tally: Tally,
    change: ChangeSums,
    /// Boxes whose stored elements are equal, of which nothing is added up.
    equal: Vec<u64>,
}

impl Total {
    fn add(&mut self, found: Tally) {
        self.change.add(&found.sums);
        self.tally.add(found);
    }
}

/// Reads and compares all boxes: `stored` elements first, where these are given, until some differ.
fn compared(
    arrays: [&LazyArray; 2],
    stored: Option<&[LazyArray; 2]>,
    boxes: &Boxes,
    pairs: Pairs<'_>,
    how: &Execution,
) -> Result<Total> {
    let sizes = arrays.map(|array| array.dtype().size().unwrap_or(0));
    let held = boxes.elements_max().saturating_mul(sizes[0].saturating_add(sizes[1]));
    let workers = how.workers(held.saturating_add(pairs.room_len(boxes.elements_max())))?;
    let inner = Execution {
        threads: 1,
        memory_budget: how.memory_budget / workers.max(1) as u64,
        ..how.silent()
    };
    let total = Total { tally: Tally::default(), change: ChangeSums::new(), equal: Vec::new() };
    let total = Mutex::new(total);
    let lock = || total.lock().unwrap_or_else(PoisonError::into_inner);
    let is_equal_so_far = AtomicBool::new(true);
    let task = |rooms: &mut [Buffer; 2], nth| -> Result<u64> {
        let part = boxes.part(nth);
        let count = part.element_count().unwrap_or(u64::MAX);
        let done = count.saturating_mul(sizes[0]);
        if let Some([left, right]) = stored.filter(|_| is_equal_so_far.load(Ordering::Relaxed)) {
            let [left, right] = read_both([left, right], &part, &inner, rooms)?;
            if left == right {
                lock().equal.push(nth);
                return Ok(done);
            }
            is_equal_so_far.store(false, Ordering::Relaxed);
        }
        let bytes = read_both(arrays, &part, &inner, rooms)?;
        let found = compare(pairs, bytes, |nth| boxes.linear(&part, nth));
        lock().add(found);
        Ok(done)
    };
    let ahead = (workers as u64).saturating_mul(2);
    fetch::run(workers, ahead, boxes.count(), how, <[Buffer; 2]>::default, task)?;
    let equal = std::mem::take(&mut lock().equal);
    if !equal.is_empty() && lock().tally.differing > 0 {
        // Their elements are added up now that the sums are needed.
        let task = |rooms: &mut [Buffer; 2], nth| -> Result<u64> {
            let nth = usize::try_from(nth).ok().and_then(|nth| equal.get(nth)).copied();
            let part = boxes.part(nth.unwrap_or_default());
            let bytes = read_both(arrays, &part, &inner, rooms)?;
            let found = compare(pairs, bytes, |nth| boxes.linear(&part, nth));
            lock().change.add(&found.sums);
            Ok(0)
        };
        fetch::run(workers, ahead, equal.len() as u64, how, <[Buffer; 2]>::default, task)?;
    }
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Reads a part of two arrays.
fn read_both<'r>(
    arrays: [&LazyArray; 2],
    part: &Hyperslab,
    how: &Execution,
    rooms: &'r mut [Buffer; 2],
) -> Result<[&'r [u8]; 2]> {
    let count = part.element_count().unwrap_or(u64::MAX);
    let mut bytes = [&[][..]; 2];
    for ((room, array), bytes) in rooms.iter_mut().zip(arrays).zip(&mut bytes) {
        let size = array.dtype().size().unwrap_or(0);
        let room = room.room(buffer::len(count.saturating_mul(size))?)?;
        array.read_into(part, how, room)?;
        *bytes = room;
    }
    Ok(bytes)
}

/// Why elements of two types are not compared.
fn not_compared([left, right]: [DType; 2], tolerance: &Tolerance) -> String {
    let (left, right) = (left.name(), right.name());
    if tolerance.ulp > 0 && left != right {
        return format!("steps (ulp) between {left} and {right} are not defined");
    }
    format!("elements of {left} and {right} are not compared")
}
