//! Which place a number has between the least and the greatest of a picture.

/// The least and the greatest finite number of many, and how many are not finite.
///
/// ```
/// let mut found = tet_plot::Extremes::default();
/// found.extend(&[3.0, f64::NAN, -1.0, f64::INFINITY]);
/// assert_eq!((found.low, found.high), (Some(-1.0), Some(3.0)));
/// assert_eq!((found.nan_count, found.infinite_count), (1, 1));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Extremes {
    /// The least finite number; `None` if there is none.
    pub low: Option<f64>,
    /// The greatest finite number; `None` if there is none.
    pub high: Option<f64>,
    /// How many are NaN.
    pub nan_count: u64,
    /// How many are infinite.
    pub infinite_count: u64,
}

impl Extremes {
    /// Takes these numbers in.
    pub fn extend(&mut self, values: &[f64]) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut finite_count, mut nan_count) = (0_u64, 0_u64);
        for &value in values {
            if value.is_finite() {
                (low, high) = (low.min(value), high.max(value));
                finite_count += 1;
            }
            nan_count += u64::from(value.is_nan());
        }
        if finite_count > 0 {
            self.low = Some(self.low.map_or(low, |it| it.min(low)));
            self.high = Some(self.high.map_or(high, |it| it.max(high)));
        }
        self.nan_count += nan_count;
        self.infinite_count += values.len() as u64 - finite_count - nan_count;
    }
}

/// From the least number of a picture to the greatest; infinities are drawn as these ends.
///
/// ```
/// use tet_plot::{Extremes, Scale};
///
/// let scale = Scale::given(0.0, 10.0);
/// assert_eq!([scale.part(5.0), scale.part(99.0)], [Some(0.5), Some(1.0)]);
/// assert_eq!(scale.part(f64::NAN), None);
/// let found = Extremes { low: Some(-1.0), high: Some(4.0), ..Extremes::default() };
/// assert_eq!(Scale::from_extremes(&found).around_zero(), Scale::given(-4.0, 4.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// The scale of a given range; both ends are finite, or become the ends of the finite numbers.
    #[must_use]
    pub fn given(low: f64, high: f64) -> Scale {
        // The difference of the ends is finite.
        let bounded = |end: f64| end.clamp(-f64::MAX / 2.0, f64::MAX / 2.0);
        let (low, high) = (bounded(low.min(high)), bounded(high.max(low)));
        if low < high {
            return Scale { low, high };
        }
        // Equal ends are moved apart, by more where their digits end earlier.
        let half = 0.5_f64.max(low.abs() * 1e-3);
        Scale { low: bounded(low - half), high: bounded(high + half) }
    }

    /// The scale of the numbers that were found; 0 to 1 if none is finite.
    #[must_use]
    pub fn from_extremes(found: &Extremes) -> Scale {
        match (found.low, found.high) {
            (Some(low), Some(high)) => Scale::given(low, high),
            _ => Scale { low: 0.0, high: 1.0 },
        }
    }

    /// Extends the scale so that zero is in the middle.
    #[must_use]
    pub fn around_zero(self) -> Scale {
        let most = self.low.abs().max(self.high.abs());
        Scale::given(-most, most)
    }

    /// Adds a margin at both ends, as a share of the whole.
    #[must_use]
    pub fn with_margin(self, part: f64) -> Scale {
        let margin = (self.high - self.low) * part;
        Scale::given(self.low - margin, self.high + margin)
    }

    /// The least number.
    #[must_use]
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// The greatest number.
    #[must_use]
    pub const fn high(&self) -> f64 {
        self.high
    }

    /// The place of a number from 0 to 1; `None` for NaN.
    #[must_use]
    pub fn part(&self, value: f64) -> Option<f64> {
        let part = (value - self.low) / (self.high - self.low);
        (!value.is_nan()).then(|| part.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_ends_make_a_scale() {
        let ends =
            [f64::MIN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, 1e16, f64::MAX, f64::INFINITY];
        for low in ends {
            for high in ends {
                let scale = Scale::given(low, high);
                assert!(scale.low < scale.high, "{low} {high}: {scale:?}");
                assert!((scale.high - scale.low).is_finite(), "{low} {high}: {scale:?}");
                assert_eq!(scale.part(f64::NEG_INFINITY), Some(0.0));
                assert_eq!(scale.part(f64::INFINITY), Some(1.0));
                assert!(scale.around_zero().low < 0.0);
                assert_eq!(scale.around_zero().part(0.0), Some(0.5));
            }
        }
    }

    #[test]
    fn a_constant_is_in_the_middle() {
        for value in [0.0, 3.0, -7e20, 1e300] {
            assert_eq!(Scale::given(value, value).part(value), Some(0.5), "{value}");
        }
    }
}
