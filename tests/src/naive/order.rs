//! Medians, quantiles and histograms by sorting and counting.

use tet_format::DType;

use super::cell::Cell;
use super::sieve::at_width;

/// The middle of the sorted elements, or the mean of the two middle ones.
pub(super) fn median(mut elements: Vec<f64>) -> Cell {
    elements.sort_unstable_by(f64::total_cmp);
    let (count, half) = (elements.len(), elements.len() / 2);
    if elements.iter().any(|element| element.is_nan()) {
        return Cell::Float(f64::NAN);
    }
    match count {
        0 => Cell::Null,
        _ if count % 2 == 1 => Cell::Float(elements[half]),
        _ => Cell::Float(f64::midpoint(elements[half - 1], elements[half])),
    }
}

/// Quantiles between the two neighbors, as `NumPy` rounds them.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are small"
)]
pub(super) fn quantiles(mut elements: Vec<f64>, q: &[f64]) -> Vec<Cell> {
    elements.sort_unstable_by(f64::total_cmp);
    let nan = elements.iter().any(|element| element.is_nan());
    let one = |&q: &f64| {
        let Some(last) = elements.len().checked_sub(1) else { return Cell::Null };
        if nan {
            return Cell::Float(f64::NAN);
        }
        let rank = last as f64 * q;
        let low = (rank.floor() as usize).min(last);
        let (low, high, t) = (elements[low], elements[last.min(low + 1)], rank - low as f64);
        let lifted = low + (high - low) * t;
        Cell::Float(if t >= 0.5 { high - (high - low) * (1.0 - t) } else { lifted })
    };
    q.iter().map(one).collect()
}

/// How many elements lie in each bin; the last one is closed.
pub(super) fn histogram(elements: &[f64], edges: &[f64]) -> Vec<Cell> {
    let last = edges.len().saturating_sub(2);
    let bins = edges.windows(2).enumerate().map(|(bin, edge)| {
        let inside = |&&element: &&f64| {
            edge[0] <= element && (element < edge[1] || bin == last && element == edge[1])
        };
        Cell::Int(elements.iter().filter(inside).count() as i128)
    });
    bins.collect()
}

/// The edges of so many bins over a range, or over the elements that are not NaN: evenly spaced,
/// every step of the way at the width of the elements if they say the range.
pub(super) fn edges(
    dtype: DType,
    elements: &[f64],
    bins: u32,
    range: Option<(f64, f64)>,
) -> Vec<f64> {
    let there: Vec<f64> = elements.iter().copied().filter(|element| !element.is_nan()).collect();
    let least = there.iter().copied().fold(f64::INFINITY, f64::min);
    let most = there.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) =
        range.unwrap_or(if there.is_empty() { (0.0, 1.0) } else { (least, most) });
    let wide = range.is_some() || there.is_empty();
    let narrow = |value: f64| if wide { value } else { at_width(dtype, value) };
    if low == high {
        (low, high) = (narrow(low - 0.5), narrow(high + 0.5));
    }
    let step = narrow(narrow(high - low) / f64::from(bins));
    let edge = |nth: u32| match nth {
        nth if nth == bins => high,
        nth => narrow(narrow(narrow(f64::from(nth)) * step) + low),
    };
    (0..=bins).map(|nth| at_width(dtype, edge(nth))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_numpy() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Cell::Float(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Cell::Float(2.5));
        let found = quantiles(vec![0.0, 10.0, 20.0], &[0.0, 0.25, 0.9, 1.0]);
        assert_eq!(found, [0.0, 5.0, 18.0, 20.0].map(Cell::Float));
        assert_eq!(quantiles(vec![1.0, f64::INFINITY], &[0.0]), [Cell::Float(f64::NAN)]);
        assert_eq!(quantiles(vec![], &[0.5]), [Cell::Null]);
    }

    #[test]
    fn the_last_bin_is_closed() {
        let edges = edges(DType::Float64, &[0.0, 4.0, f64::NAN], 2, None);
        assert_eq!(edges, [0.0, 2.0, 4.0]);
        let found = histogram(&[0.0, 1.0, 2.0, 4.0, 5.0, f64::NAN, -1.0], &edges);
        assert_eq!(found, [2, 2].map(Cell::Int));
        assert_eq!(super::edges(DType::Int32, &[7.0, 7.0], 1, None), [6.5, 7.5]);
        assert_eq!(super::edges(DType::Int32, &[], 1, None), [0.0, 1.0]);
    }
}
