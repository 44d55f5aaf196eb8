//! Covariances and correlations of variables that are observed along one axis.
//!
//! The means are known; then blocks of observations are centered and every pair of variables is
//! multiplied, tile by tile, while both stay in the nearest caches.
//!
//! ```text
//!   read  |--------------|----------|...     as much as the reader likes
//!   block |----|----|----|----|----|...      256 observations, counted from the first
//! ```
//!
//! Blocks do not depend on what is read at once, and their sums are added in order with what
//! rounding takes from them: the same bits come out however the reader cuts.

use std::ops::Range;

use multiversion::multiversion;

use crate::array::Array;
use crate::element::dispatch;
use crate::error::{Error, Result};
use crate::kernel::{Ranked, two_sum};

/// Observations of a block.
const BLOCK: usize = 256;
/// Variables whose pairs are multiplied together.
const TILE: usize = 4;
/// Sums that a product goes to in turn.
const LANES: usize = 4;

/// Statistic of each pair of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The covariance, with so much taken off the count.
    Covariance {
        /// Delta degrees of freedom.
        ddof: u32,
    },
    /// The correlation.
    Correlation,
}

/// Which axis of an array has the observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// The first: observations x variables.
    Rows,
    /// The second: variables x observations.
    Columns,
}

/// The matrix of a measure over `means.len()` variables, row-major; all NaN when there is no
/// observation. `read` gives a range of the `count` observations, as many as requested.
///
/// It takes 8 bytes for every entry of the matrix, besides the elements read and one block.
///
/// # Errors
///
/// Returns an error when reading fails or memory cannot hold the matrix.
pub(crate) fn matrix(
    measure: Measure,
    means: &[f64],
    count: u64,
    read_count: u64,
    along: Along,
    mut read: impl FnMut(Range<u64>) -> Result<Array>,
) -> Result<Vec<f64>> {
    let mut products = Products::new(means)?;
    // Without variables there is nothing to read, however many observations there are.
    let mut start = if means.is_empty() { count } else { 0 };
    while start < count {
        let end = count.min(start.saturating_add(read_count.max(1)));
        let array = read(start..end)?;
        let given = array.len() as u64;
        let wanted = (end - start).saturating_mul(means.len() as u64);
        if given != wanted {
            return Err(Error::Buffer { found: given, wanted });
        }
        let undefined = || Error::Undefined { op: "covariance", dtype: array.dtype() };
        dispatch!(array.dtype(), T => {
            let elements = array.as_slice::<T>().ok_or_else(undefined)?;
            products.fold(elements, along);
        })
        .ok_or_else(undefined)?;
        start = end;
    }
    products.fold_block();
    Ok(match measure {
        Measure::Covariance { ddof } => products.covariances(count, ddof),
        Measure::Correlation => products.correlations(),
    })
}

/// Bytes that [`matrix`] of `variables` variables takes besides the elements read.
pub(crate) fn memory_len(variables: u64) -> u64 {
    let sums = variables.saturating_mul(variables.saturating_add(1));
    let block = variables.saturating_mul(BLOCK as u64);
    sums.saturating_add(block).saturating_mul(8)
}

/// Sums of products of centered variables.
struct Products<'a> {
    means: &'a [f64],
    /// On and below the diagonal the sums, above it what rounding took from them.
    sums: Vec<f64>,
    /// Rounding errors of the diagonal.
    losts: Vec<f64>,
    /// Centered observations, variable by variable.
    block: Vec<f64>,
    /// How many there are of each.
    filled: usize,
}

impl<'a> Products<'a> {
    fn new(means: &'a [f64]) -> Result<Self> {
        let count = means.len();
        let limit = |wanted: usize| Error::Limit {
            what: "bytes of a matrix",
            wanted: (wanted as u64).saturating_mul(8),
            limit: isize::MAX as u64,
        };
        let zeros = |rows: usize, columns: usize| {
            let len = rows.checked_mul(columns).ok_or_else(|| limit(usize::MAX))?;
            Vec::<f64>::new().try_reserve_exact(len).map_err(|_| limit(len))?;
            Ok::<_, Error>(vec![0.0; len])
        };
        Ok(Products {
            means,
            sums: zeros(count, count)?,
            losts: zeros(count, 1)?,
            // Tiles at the end are whole.
            block: zeros(count.next_multiple_of(TILE), BLOCK)?,
            filled: 0,
        })
    }

    /// Takes in some observations.
    fn fold<T: Ranked>(&mut self, elements: &[T], along: Along) {
        let variables = self.means.len();
        let Some(count) = elements.len().checked_div(variables) else { return };
        let mut start = 0;
        while start < count {
            let end = count.min(start + BLOCK - self.filled);
            let (at, means) = (self.filled, self.means);
            let centered = self.block.chunks_exact_mut(BLOCK).zip(means).enumerate();
            match along {
                Along::Columns => {
                    for (variable, (to, mean)) in centered {
                        let from = &elements[variable * count..][start..end];
                        for (to, from) in to[at..].iter_mut().zip(from) {
                            *to = from.wide() - mean;
                        }
                    }
                }
                Along::Rows => {
                    let rows = &elements[start * variables..end * variables];
                    for (variable, (to, mean)) in centered {
                        let from = rows.iter().skip(variable).step_by(variables);
                        for (to, from) in to[at..].iter_mut().zip(from) {
                            *to = from.wide() - mean;
                        }
                    }
                }
            }
            self.filled += end - start;
            start = end;
            if self.filled == BLOCK {
                self.fold_block();
            }
        }
    }

    /// Multiplies all pairs of variables in the block, and empties it.
    fn fold_block(&mut self) {
        if self.filled == 0 {
            return;
        }
        for variable in self.block.chunks_exact_mut(BLOCK) {
            variable[self.filled..].fill(0.0);
        }
        self.filled = 0;
        let variables = self.means.len();
        let tiles: Vec<&[f64]> = self.block.chunks_exact(TILE * BLOCK).collect();
        for (row_tile, rows) in tiles.iter().enumerate() {
            for (column_tile, columns) in tiles.iter().enumerate().take(row_tile + 1) {
                let products = multiply(rows, columns);
                for (row, products) in (row_tile * TILE..variables).zip(products) {
                    for (column, product) in (column_tile * TILE..=row).zip(products) {
                        add(&mut self.sums, &mut self.losts, row, column, product);
                    }
                }
            }
        }
    }

    /// The finished sums of products, each on both sides of the diagonal.
    fn sums(self) -> Vec<f64> {
        let Products { means, mut sums, losts, .. } = self;
        let variables = means.len();
        for (row, own) in losts.into_iter().enumerate() {
            for column in 0..=row {
                let (below, above) = (row * variables + column, column * variables + row);
                let lost = if row == column { own } else { sums[above] };
                let sum = sums[below];
                // A rounding error is meaningless where the sum is not finite.
                let whole = if sum.is_finite() { sum + lost } else { sum };
                (sums[below], sums[above]) = (whole, whole);
            }
        }
        sums
    }

    fn covariances(self, count: u64, ddof: u32) -> Vec<f64> {
        let divisor = count.saturating_sub(ddof.into()) as f64;
        let mut sums = self.sums();
        sums.iter_mut().for_each(|sum| *sum /= divisor);
        sums
    }

    fn correlations(self) -> Vec<f64> {
        let variables = self.means.len();
        let mut sums = self.sums();
        let roots = (0..variables).map(|at| sums[at * variables + at].sqrt());
        let roots: Vec<f64> = roots.collect();
        for (row, (sums, root)) in sums.chunks_exact_mut(variables.max(1)).zip(&roots).enumerate() {
            for (column, (sum, other)) in sums.iter_mut().zip(&roots).enumerate() {
                let correlation = (*sum / root / other).clamp(-1.0, 1.0);
                let itself = row == column && !correlation.is_nan();
                *sum = if itself { 1.0 } else { correlation };
            }
        }
        sums
    }
}

/// Adds a product to the sum of a pair, and what that loses to what was lost.
fn add(sums: &mut [f64], losts: &mut [f64], row: usize, column: usize, product: f64) {
    let variables = losts.len();
    let (sum, lost) = two_sum(sums[row * variables + column], product);
    sums[row * variables + column] = sum;
    if row == column {
        losts[row] += lost;
    } else {
        sums[column * variables + row] += lost;
    }
}

/// The sums of products of each pair out of two tiles.
#[multiversion(targets("x86_64+avx+avx2"))]
fn multiply(rows: &[f64], columns: &[f64]) -> [[f64; TILE]; TILE] {
    let mut products = [[0.0; TILE]; TILE];
    let columns: [&[[f64; LANES]]; TILE] =
        std::array::from_fn(|nth| columns[nth * BLOCK..][..BLOCK].as_chunks().0);
    // Two rows at a time: their sums stay in registers.
    for (pair, products) in products.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let rows: [&[[f64; LANES]]; 2] =
            std::array::from_fn(|nth| rows[(2 * pair + nth) * BLOCK..][..BLOCK].as_chunks().0);
        let mut sums = [[[0.0; LANES]; TILE]; 2];
        for at in 0..BLOCK / LANES {
            for (row, sums) in rows.iter().zip(&mut sums) {
                for (column, sums) in columns.iter().zip(sums) {
                    for lane in 0..LANES {
                        sums[lane] += row[at][lane] * column[at][lane];
                    }
                }
            }
        }
        for (products, sums) in products.iter_mut().zip(sums) {
            for (product, [a, b, c, d]) in products.iter_mut().zip(sums) {
                *product = (a + b) + (c + d);
            }
        }
    }
    products
}

#[cfg(test)]
mod tests;
