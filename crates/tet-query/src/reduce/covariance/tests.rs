//! Matrices against sums of products one by one.

use proptest::prelude::*;
use tet_format::Shape;

use super::*;
use crate::element::Element;

/// Observations x variables.
struct Table {
    variables: usize,
    rows: Vec<f64>,
}

impl Table {
    fn count(&self) -> usize {
        self.rows.len() / self.variables
    }

    fn column(&self, variable: usize) -> Vec<f64> {
        self.rows.iter().skip(variable).step_by(self.variables).copied().collect()
    }

    fn means(&self) -> Vec<f64> {
        let mean = |variable| self.column(variable).iter().sum::<f64>() / self.count() as f64;
        (0..self.variables).map(mean).collect()
    }

    fn matrix(&self, measure: Measure, along: Along, at_once: u64) -> Vec<f64> {
        let read = |range: Range<u64>| {
            let (start, end) = (range.start as usize, range.end as usize);
            let elements = match along {
                Along::Rows => self.rows[start * self.variables..end * self.variables].to_vec(),
                Along::Columns => (0..self.variables)
                    .flat_map(|variable| self.column(variable)[start..end].to_vec())
                    .collect(),
            };
            Ok(array(&elements))
        };
        let count = self.count() as u64;
        matrix(measure, &self.means(), count, at_once, along, read).expect("reading works")
    }

    /// Sums of centered products, in the order of the rows.
    fn products(&self, a: usize, b: usize) -> (f64, f64) {
        let means = self.means();
        let pairs = self.column(a).into_iter().zip(self.column(b));
        let products = pairs.map(|(x, y)| (x - means[a]) * (y - means[b]));
        products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()))
    }
}

fn array<T: Element>(elements: &[T]) -> Array {
    let shape = Shape::from(vec![elements.len() as u64]);
    Array::from_elements(shape, elements).expect("the shape fits")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn matrices_are_sums_of_products(
        variables in 1..14_usize,
        rows in proptest::collection::vec(-1e3..1e3_f64, 0..2400),
        (at_once, ddof) in (1..40_u64, 0..3_u32),
    ) {
        let rows = rows[..rows.len() / variables * variables].to_vec();
        let table = Table { variables, rows };
        let count = table.count();
        let covariance = Measure::Covariance { ddof };
        let found = table.matrix(covariance, Along::Rows, at_once);
        for (along, at_once) in [(Along::Rows, 1000), (Along::Columns, at_once), (Along::Columns, 1000)] {
            let again = table.matrix(covariance, along, at_once);
            prop_assert!(again.iter().zip(&found).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()));
        }
        let correlation = table.matrix(Measure::Correlation, Along::Rows, at_once);
        for a in 0..variables {
            for b in 0..variables {
                let ((product, size), found) = (table.products(a, b), found[a * variables + b]);
                let divisor = count.saturating_sub(ddof as usize) as f64;
                let error = size / divisor * 1e-13;
                let wanted = product / divisor;
                prop_assert!((found - wanted).abs() <= error || found.is_nan() && wanted.is_nan() || found == wanted);
                let own = table.products(a, a).0.sqrt() * table.products(b, b).0.sqrt();
                let correlation = correlation[a * variables + b];
                let wanted = (product / own).clamp(-1.0, 1.0);
                prop_assert!((correlation - wanted).abs() < 1e-9 || correlation.is_nan() && wanted.is_nan(),
                    "{correlation}, not {wanted}");
                prop_assert!(a != b || correlation == 1.0 || correlation.is_nan());
            }
        }
    }
}

#[test]
fn what_is_not_finite_stays_in_its_rows_and_columns() {
    let rows = vec![1.0, f64::NAN, 3.0, f64::INFINITY, 5.0, 6.0, 2.0, 9.0, 4.0, 1.0, 1.0, 7.0];
    let table = Table { variables: 4, rows };
    let found = table.matrix(Measure::Covariance { ddof: 1 }, Along::Rows, 2);
    for (at, value) in found.iter().enumerate() {
        let spoiled = [at / 4, at % 4].iter().any(|&variable| variable % 2 == 1);
        assert_eq!(value.is_nan(), spoiled, "{at}: {value}");
    }
    assert!((found[0] - 13.0 / 3.0).abs() < 1e-15);
}

#[test]
fn a_constant_has_no_correlation() {
    let rows = vec![1.0, 2.0, 1.0, 3.0, 1.0, 5.0];
    let found = Table { variables: 2, rows }.matrix(Measure::Correlation, Along::Rows, 9);
    assert!(found[..3].iter().all(|value| value.is_nan()));
    assert_eq!(found[3], 1.0);
}

#[test]
fn integers_are_widened_and_wrong_lengths_refused() {
    let covariance = Measure::Covariance { ddof: 0 };
    let read = |_| Ok(array(&[1_i16, 3, 2, 7]));
    let found = matrix(covariance, &[1.5, 5.0], 2, 9, Along::Rows, read).expect("it fits");
    assert_eq!(found, [0.25, 1.0, 1.0, 4.0]);
    let wrong = matrix(covariance, &[1.5, 5.0], 3, 9, Along::Rows, read);
    assert!(matches!(wrong, Err(Error::Buffer { found: 4, wanted: 6 })));
    let bits = Array::zeroed(tet_format::DType::Complex64, Shape::from(vec![4])).expect("small");
    let wrong = matrix(covariance, &[1.5, 5.0], 2, 9, Along::Rows, |_| Ok(bits.clone()));
    assert!(matches!(wrong, Err(Error::Undefined { .. })));
}
