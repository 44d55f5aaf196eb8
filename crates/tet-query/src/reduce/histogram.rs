//! The edges of a histogram, as NumPy lays them.

use tet_format::DType;

use crate::element::{nearest_bf16, nearest_f16};
use crate::error::{Error, Result};

/// Source of the outermost edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// Edges given by the caller.
    Given(f64, f64),
    /// The least and the greatest element; `None` where there is none.
    Found(Option<(f64, f64)>),
}

/// The edges of as many bins, one more than those: evenly spaced, in the precision of the elements.
///
/// # Errors
///
/// Returns [`Error::Histogram`] for a range that is not one, and for more bins than fit into it.
pub(crate) fn edges(dtype: DType, range: Range, bins: u32) -> Result<Vec<f64>> {
    let bad = |why| Err(Error::Histogram { why });
    if bins == 0 {
        return bad("there must be a bin");
    }
    let to_element = rounding(dtype);
    // Found ends are elements, and all that is computed from elements is.
    let (first, last, round): (f64, f64, Round) = match range {
        Range::Given(first, last) if !first.is_finite() || !last.is_finite() => {
            return bad("min and max must be finite");
        }
        Range::Given(first, last) if first > last => return bad("min must not exceed max"),
        Range::Given(first, last) => (first, last, |edge| edge),
        Range::Found(None) => (0.0, 1.0, |edge| edge),
        Range::Found(Some((first, last))) if !first.is_finite() || !last.is_finite() => {
            return bad("there are infinite elements; give min and max");
        }
        Range::Found(Some((first, last))) => (first, last, to_element),
    };
    let (first, last) =
        if first == last { (round(first - 0.5), round(last + 0.5)) } else { (first, last) };
    let edges: Vec<f64> = spaced(first, last, bins, round).map(to_element).collect();
    if edges.iter().any(|edge| !edge.is_finite()) {
        return bad("the range is too wide for the elements");
    }
    if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return bad("there are more bins than fit into the range; ask for fewer");
    }
    Ok(edges)
}

/// Rounds a double.
type Round = fn(f64) -> f64;

/// Rounding to a type of elements.
fn rounding(dtype: DType) -> Round {
    match dtype {
        DType::Float16 => |edge| nearest_f16(edge).to_f64(),
        DType::BFloat16 => |edge| nearest_bf16(edge).to_f64(),
        DType::Float32 => |edge| f64::from(edge as f32),
        _ => |edge| edge,
    }
}

/// As many steps from `first` to `last`, each operation rounded.
fn spaced(first: f64, last: f64, bins: u32, round: Round) -> impl Iterator<Item = f64> {
    let count = f64::from(bins);
    let width = round(last - first);
    let step = round(width / count);
    (0..=bins).map(move |nth| {
        let at = round(nth.into());
        match nth {
            _ if nth == bins => last,
            // Past the largest number: from both ends.
            _ if width.is_infinite() => first * (1.0 - at / count) + last * (at / count),
            _ if step == 0.0 => round(round(round(at / count) * width) + first),
            _ => round(round(at * step) + first),
        }
    })
}

#[cfg(test)]
mod tests;
