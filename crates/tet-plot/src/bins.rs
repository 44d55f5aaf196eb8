//! Counts of values between evenly spaced edges, as NumPy counts them.

use crate::error::{Error, Result};
use crate::scale::Extremes;

/// Counts of values in bins.
///
/// ```
/// let mut fold = tet_plot::BinFold::new(0.0, 4.0, 2)?;
/// fold.extend(&[0.0, 1.0, 2.0, 4.0, 5.0, f64::NAN]);
/// let bins = fold.finish();
/// assert_eq!((&bins.edges[..], &bins.counts[..]), (&[0.0, 2.0, 4.0][..], &[2, 2][..]));
/// assert_eq!((bins.below, bins.above, bins.nan_count), (0, 1, 1));
/// # Ok::<(), tet_plot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// One more than there are bins. A bin has its lower edge, and the last one its upper edge too.
    pub edges: Vec<f64>,
    /// The counts.
    pub counts: Vec<u64>,
    /// Values below the first edge.
    pub below: u64,
    /// Values above the last edge.
    pub above: u64,
    /// Values that are NaN.
    pub nan_count: u64,
}

impl Bins {
    /// The ends of the range of values with these extremes: equal ends are moved apart by a half each.
    #[must_use]
    pub fn range_of(found: &Extremes) -> (f64, f64) {
        match (found.low, found.high) {
            (Some(low), Some(high)) if low < high => (low, high),
            (Some(low), _) => (low - 0.5, low + 0.5),
            _ => (0.0, 1.0),
        }
    }
}

/// Makes [`Bins`] of values.
///
/// ```
/// assert!(tet_plot::BinFold::new(0.0, f64::NAN, 10).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct BinFold {
    bins: Bins,
}

impl BinFold {
    /// As many bins from `low` to `high`.
    ///
    /// # Errors
    ///
    /// The ends are not finite or not in order, or there are more bins than numbers between them.
    pub fn new(low: f64, high: f64, bins: usize) -> Result<BinFold> {
        #[allow(clippy::cast_precision_loss, reason = "a bin is wider than a column")]
        let part = |nth: usize| nth as f64 / bins as f64;
        // From both ends: their difference may be past the largest number.
        let edge = |nth: usize| low * (1.0 - part(nth)) + high * part(nth);
        let edges: Vec<f64> =
            (0..=bins).map(|nth| if nth == bins { high } else { edge(nth) }).collect();
        let is_rising = edges.windows(2).all(|pair| pair[0] < pair[1]);
        if bins == 0 || !is_rising || !low.is_finite() || !high.is_finite() {
            return Err(Error::NoBins { low, high, bins });
        }
        let counts = vec![0; bins];
        Ok(BinFold { bins: Bins { edges, counts, below: 0, above: 0, nan_count: 0 } })
    }

    /// Counts these values.
    pub fn extend(&mut self, values: &[f64]) {
        let Bins { edges, counts, below, above, nan_count } = &mut self.bins;
        let last = edges.last().copied().unwrap_or(f64::NAN);
        for &value in values {
            // The number of edges that are not above the value.
            match edges.partition_point(|&edge| edge <= value) {
                _ if value.is_nan() => *nan_count += 1,
                0 => *below += 1,
                past if past <= counts.len() => counts[past - 1] += 1,
                _ if value == last => *counts.last_mut().unwrap_or(above) += 1,
                _ => *above += 1,
            }
        }
    }

    /// The bins.
    #[must_use]
    pub fn finish(self) -> Bins {
        self.bins
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_value_is_counted_once_and_between_its_edges(
            values in prop::collection::vec(prop_oneof![9 => -2.0..2.0_f64, 1 => Just(f64::NAN)], 0..200),
            (low, width, bins) in (-1.0..1.0_f64, 0.1..3.0_f64, 1..20_usize),
        ) {
            let mut fold = BinFold::new(low, low + width, bins).unwrap();
            fold.extend(&values);
            let found = fold.finish();
            for (nth, &count) in found.counts.iter().enumerate() {
                let (from, to) = (found.edges[nth], found.edges[nth + 1]);
                let is_in = |value: f64| from <= value && (value < to || (nth + 1 == bins && value == to));
                prop_assert_eq!(count, values.iter().filter(|&&value| is_in(value)).count() as u64);
            }
            let all = found.counts.iter().sum::<u64>() + found.below + found.above + found.nan_count;
            prop_assert_eq!(all, values.len() as u64);
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for (low, high, bins) in
            [(1.0, 0.0, 3), (0.0, f64::INFINITY, 3), (1.0, 1.0, 1), (0.0, 1.0, 0)]
        {
            assert!(BinFold::new(low, high, bins).is_err(), "{low} {high} {bins}");
        }
        assert!(BinFold::new(f64::MIN, f64::MAX, 10).is_ok());
        assert!(BinFold::new(1.0, 1.0 + f64::EPSILON, 2).is_err(), "no number lies between");
    }
}
