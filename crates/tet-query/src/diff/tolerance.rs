//! When two elements count as equal.

/// When two elements count as equal.
///
/// Elements `a` and `b` are equal when they have the same value (0.0 and -0.0 do), when both are NaN and
/// `nan_equal` is set, when |a - b| <= `atol` + `rtol` * |b|, as `numpy.isclose` has it, or when `b` is at
/// most `ulp` steps of their dtype away. Complex numbers are compared by their parts.
///
/// # Examples
///
/// ```
/// use tet_query::Tolerance;
///
/// let exact = Tolerance::default();
/// assert!(exact.nan_equal && exact.rtol == 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The relative tolerance, of the second element.
    pub rtol: f64,
    /// The absolute tolerance.
    pub atol: f64,
    /// Steps between neighboring values of a float, in both datasets of the same dtype.
    pub ulp: u64,
    /// Whether NaN equals NaN.
    pub nan_equal: bool,
}

impl Tolerance {
    /// Whether different numbers are never equal.
    pub(super) fn is_exact(&self) -> bool {
        self.rtol == 0.0 && self.atol == 0.0 && self.ulp == 0
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { rtol: 0.0, atol: 0.0, ulp: 0, nan_equal: true }
    }
}
