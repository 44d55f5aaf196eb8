//! Products, norms, variances, covariances: two passes and exact sums.

use super::cell::Cell;
use super::exact::ExactSum;

fn sum(elements: impl Iterator<Item = f64>) -> f64 {
    let mut sum = ExactSum::default();
    elements.for_each(|element| sum.add(element));
    sum.round()
}

/// The sum of magnitudes.
pub(super) fn norm_l1(elements: &[f64]) -> Cell {
    Cell::Float(sum(elements.iter().map(|element| element.abs())))
}

/// The root of the sum of squares, scaled so that squares neither overflow nor vanish.
pub(super) fn norm_l2(elements: &[f64]) -> Cell {
    let largest = elements.iter().fold(0.0, |most: f64, element| most.max(element.abs()));
    if elements.iter().any(|element| element.is_nan()) {
        return Cell::Float(f64::NAN);
    }
    if largest == 0.0 || largest.is_infinite() {
        return Cell::Float(largest);
    }
    let squares = elements.iter().map(|element| (element / largest).powi(2));
    Cell::Float(sum(squares).sqrt() * largest)
}

/// The product, as a mantissa and an exponent so that it overflows only at the end.
pub(super) fn product(elements: &[f64]) -> Cell {
    if elements.iter().any(|element| !element.is_finite() || *element == 0.0) {
        // Signs, zeros and infinities multiply like themselves whatever the magnitudes.
        let special = |element: f64| {
            if element.is_finite() && element != 0.0 { element.signum() } else { element }
        };
        return Cell::Float(elements.iter().map(|&element| special(element)).product());
    }
    let (mut mantissa, mut exponent) = (1.0_f64, 0_i32);
    for &element in elements {
        let (fraction, power) = split(element);
        let (fraction, more) = split(mantissa * fraction);
        (mantissa, exponent) = (fraction, exponent + power + more);
    }
    // Two steps reach the smallest numbers without rounding twice above them.
    let exponent = exponent.clamp(-2200, 2200);
    let steps = exponent / 3;
    let scaled = mantissa * 2_f64.powi(steps) * 2_f64.powi(steps);
    Cell::Float(scaled * 2_f64.powi(exponent - 2 * steps))
}

/// A number from 1 to 2 and a power of two whose product is a finite number other than zero.
fn split(element: f64) -> (f64, i32) {
    let normal = element.abs() >= f64::MIN_POSITIVE;
    let (element, before) = if normal { (element, 0) } else { (element * 2_f64.powi(60), -60) };
    let bits = element.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).expect("eleven bits fit") - 1023;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1023 << 52);
    (mantissa, exponent + before)
}

/// The variance.
pub(super) fn variance(elements: &[f64], ddof: u32) -> Cell {
    if elements.is_empty() {
        return Cell::Null;
    }
    Cell::Float(covariance(elements, elements, ddof))
}

#[allow(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn covariance(left: &[f64], right: &[f64], ddof: u32) -> f64 {
    let count = left.len() as f64;
    let apart = |elements: &[f64]| {
        let mean = sum(elements.iter().copied()) / count;
        let apart: Vec<f64> = elements.iter().map(|element| element - mean).collect();
        // Rounding error of the mean.
        let rest = sum(apart.iter().copied()) / count;
        apart.iter().map(|element| element - rest).collect::<Vec<f64>>()
    };
    let (left, right) = (apart(left), apart(right));
    let products = sum(left.iter().zip(&right).map(|(a, b)| a * b));
    products / (count - f64::from(ddof)).max(0.0)
}

/// The covariances of rows, row-major.
pub(super) fn covariances(rows: &[Vec<f64>], ddof: u32) -> Vec<Cell> {
    let each = |left: &Vec<f64>| {
        rows.iter().map(|right| Cell::Float(covariance(left, right, ddof))).collect::<Vec<_>>()
    };
    rows.iter().flat_map(each).collect()
}

/// The correlations of rows, row-major.
pub(super) fn correlations(rows: &[Vec<f64>]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (nth, left) in rows.iter().enumerate() {
        for (other, right) in rows.iter().enumerate() {
            let spread = |row: &[f64]| covariance(row, row, 0).sqrt();
            let found = covariance(left, right, 0) / spread(left) / spread(right);
            let same = nth == other && found.is_finite();
            cells.push(Cell::Float(if same { 1.0 } else { found.clamp(-1.0, 1.0) }));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_overflow_only_at_the_end() {
        for (elements, wanted) in [
            (&[][..], 1.0),
            (&[3.0, -0.5], -1.5),
            (&[1e300, 1e300, 1e-300, 1e-300], 1.0),
            (&[1e-300, 1e-300, 1e300, 1e300], 1.0),
            (&[1e300, 1e300], f64::INFINITY),
            (&[-1e300, 1e300], f64::NEG_INFINITY),
            (&[1e-300, 1e-300], 0.0),
            (&[5e-324, 2.0], 1e-323),
            (&[5e-324, 1e300, 1e24], 4.940_656_458_412_465),
            (&[f64::INFINITY, -2.0], f64::NEG_INFINITY),
            (&[1e300, 1e300, 0.0], 0.0),
        ] {
            let Cell::Float(found) = product(elements) else { panic!() };
            let near = (found - wanted).abs() <= 1e-15 * wanted.abs();
            assert!(found == wanted || near, "{elements:?}: {found}");
        }
        let Cell::Float(found) = product(&[f64::INFINITY, 0.0]) else { panic!() };
        assert!(found.is_nan());
    }

    #[test]
    fn correlations_of_lines_are_one() {
        let rows = [vec![1.0, 2.0, 4.0], vec![2.0, 4.0, 8.0], vec![-1.0, -2.0, -4.0]];
        let found: Vec<f64> = correlations(&rows).iter().map(|cell| cell.to_f64()).collect();
        assert_eq!(found[0..1], [1.0]);
        assert!((found[1] - 1.0).abs() < 1e-15 && (found[2] + 1.0).abs() < 1e-15);
    }
}
