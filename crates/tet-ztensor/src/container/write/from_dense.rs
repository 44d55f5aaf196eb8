//! A dense array as the elements whose bytes are not all zero, and where they belong.

use crate::Places;
use tet_query::{Execution, LazyArray};

use tet_container::Result;
use tet_container::write::stream::{self, shape_of};

/// Reads a dense array: where its elements belong, and their bytes, in row-major order. Two axes are
/// `csr`, any other number is `coo`. A negative zero is stored, so that all bits come back.
///
/// # Errors
/// The array cannot be read, or what is stored takes more than half of the memory budget.
pub(super) fn from_dense(lazy: &LazyArray, how: &Execution) -> Result<(Places, Vec<u8>)> {
    let shape = shape_of(lazy);
    let size = lazy.dtype().size().unwrap_or(1);
    let width = usize::try_from(size).unwrap_or(1).max(1);
    let budget = how.memory_budget / 2;
    let is_csr = shape.rank() == 2;
    let row_count = shape.first().copied().unwrap_or_default();
    let fixed = if is_csr { row_count.saturating_mul(8) } else { 0 };
    let each = size.saturating_add(if is_csr { 8 } else { 8 * shape.rank() as u64 });
    check(fixed, budget)?;
    let (mut indptr, mut words, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut coord, mut count) = (vec![0_u64; shape.rank()], 0_u64);
    stream::for_each(lazy, how, &mut |elements| {
        for element in elements.chunks_exact(width) {
            if element.iter().any(|byte| *byte != 0) {
                count += 1;
                values.extend_from_slice(element);
                words.extend_from_slice(if is_csr { &coord[1..] } else { &coord });
            }
            let is_row_done = advance(&mut coord, &shape);
            if is_csr && is_row_done {
                indptr.push(count);
            }
        }
        check(fixed.saturating_add(count.saturating_mul(each)), budget)
    })?;
    let csr = |indices| Places::Csr { indptr, indices };
    Ok((if is_csr { csr(words) } else { Places::Coo { coords: words } }, values))
}

fn check(wanted: u64, budget: u64) -> Result<()> {
    if wanted <= budget {
        return Ok(());
    }
    Err(tet_query::Error::Budget { wanted: wanted.saturating_mul(2), budget: budget * 2 }.into())
}

/// Goes to the next element; whether the last axis came to its end.
fn advance(coord: &mut [u64], shape: &[u64]) -> bool {
    for (axis, (at, extent)) in coord.iter_mut().zip(shape).enumerate().rev() {
        *at += 1;
        if *at < *extent {
            return axis + 1 < shape.len();
        }
        *at = 0;
    }
    true
}
