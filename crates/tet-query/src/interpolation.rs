//! Interpolation of quantiles between neighbors in sorted order.

/// With more wanted places than this, all is put in order.
const SELECTED_MAX: usize = 16;

/// How a quantile is computed from its two neighbors in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// By linear interpolation, with the arithmetic of NumPy: NaN or infinite where the distance
    /// of the neighbors is infinite.
    #[default]
    Line,
    /// Their mean: the median, whatever the requested quantile.
    Middle,
    /// By linear interpolation, and the quantile 0.5 is the median: what a summary has.
    LineOrMiddle,
}

/// Position of a quantile among sorted elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QuantilePosition {
    pub(crate) low: u64,
    /// `low`, or the next.
    pub(crate) high: u64,
    /// How far it is from the one to the other.
    part: f64,
    between: Between,
}

/// Positions of quantiles among `count` sorted elements, at least one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "floored, in range")]
pub(crate) fn quantile_positions(count: u64, q: &[f64], between: Between) -> Vec<QuantilePosition> {
    let last = count - 1;
    let place = |&q: &f64| {
        let at = last as f64 * q;
        let low = at.floor();
        match between {
            Between::Middle => {
                QuantilePosition { low: last / 2, high: count / 2, part: 0.5, between }
            }
            Between::LineOrMiddle if q == 0.5 => QuantilePosition {
                low: last / 2,
                high: count / 2,
                part: 0.5,
                between: Between::Middle,
            },
            Between::Line | Between::LineOrMiddle if at >= last as f64 => {
                QuantilePosition { low: last, high: last, part: count as f64, between }
            }
            Between::Line | Between::LineOrMiddle => {
                let (low, part) = (low as u64, at - low);
                QuantilePosition { low, high: low + 1, part, between }
            }
        }
    };
    q.iter().map(place).collect()
}

impl QuantilePosition {
    /// The quantile, from the elements in order.
    pub(crate) fn value(self, element: impl Fn(u64) -> f64) -> f64 {
        let (low, high) = (element(self.low), element(self.high));
        match self.between {
            Between::Middle if self.low == self.high => low,
            Between::Middle => {
                let sum = low + high;
                let fits = sum.is_finite() || low.is_infinite() || high.is_infinite();
                if fits { sum / 2.0 } else { low / 2.0 + high / 2.0 }
            }
            // From the nearer end, so that both ends come out exactly.
            _ if self.part >= 0.5 => high - (high - low) * (1.0 - self.part),
            _ => low + (high - low) * self.part,
        }
    }
}

/// Puts what belongs to the `wanted` places there; they are in order.
pub(crate) fn select<K: Ord>(keys: &mut [K], wanted: &[usize]) {
    if wanted.len() > SELECTED_MAX {
        return keys.sort_unstable();
    }
    let mut start = 0;
    for &at in wanted {
        keys[start..].select_nth_unstable(at - start);
        start = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_mean_of_two_and_a_line_ends_at_its_ends() {
        let value = |elements: &[f64], q, between| {
            quantile_positions(elements.len() as u64, &[q], between)[0]
                .value(|at| elements[at as usize])
        };
        let infinite = [f64::INFINITY; 2];
        assert_eq!(value(&infinite, 0.5, Between::Middle), f64::INFINITY);
        assert_eq!(value(&[f64::MAX; 2], 0.5, Between::Middle), f64::MAX);
        assert_eq!(value(&[1.0, 2.0, 4.0, f64::INFINITY], 0.5, Between::Middle), 3.0);
        assert_eq!(value(&[1.0, 2.0], 0.75, Between::Line), 1.75);
        assert_eq!(value(&[1.0, 2.0], 1.0, Between::Line), 2.0);
        assert_eq!(value(&[3.0], 0.3, Between::Line), 3.0);
        // As NumPy has it.
        assert!(value(&infinite, 0.5, Between::Line).is_nan());
    }

    /// The values are those of `numpy.quantile` and `numpy.median`.
    #[test]
    fn a_summary_has_the_quantiles_of_a_line_and_the_median() {
        let infinite = f64::INFINITY;
        let nan = f64::NAN;
        for (elements, wanted) in [
            (&[1.0, infinite][..], [infinite, infinite, nan]),
            (&[1.0, 2.0, infinite], [1.5, 2.0, nan]),
            (&[infinite, infinite], [nan, infinite, nan]),
            (&[-infinite, 1.0], [nan, -infinite, -infinite]),
            (&[-infinite, infinite], [nan, nan, nan]),
            (&[1.0, 2.0, infinite, infinite], [1.75, infinite, nan]),
            (&[1.0, 2.0], [1.25, 1.5, 1.75]),
            (&[3.0], [3.0; 3]),
        ] {
            let places = quantile_positions(
                elements.len() as u64,
                &[0.25, 0.5, 0.75],
                Between::LineOrMiddle,
            );
            for (place, wanted) in places.into_iter().zip(wanted) {
                let value = place.value(|at| elements[at as usize]);
                assert!(value == wanted || value.is_nan() && wanted.is_nan(), "{elements:?}");
            }
        }
    }
}
