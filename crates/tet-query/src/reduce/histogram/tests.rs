//! Edges against those of NumPy, and ranges that have none.

use super::*;

fn why(range: Range, bins: u32) -> &'static str {
    match edges(DType::Float32, range, bins) {
        Err(Error::Histogram { why }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_range_is_finite_in_order_and_wide_enough() {
    assert_eq!(why(Range::Given(0.0, f64::NAN), 2), "min and max must be finite");
    assert_eq!(why(Range::Given(f64::NEG_INFINITY, 0.0), 2), "min and max must be finite");
    assert_eq!(why(Range::Given(1.0, 0.0), 2), "min must not exceed max");
    assert_eq!(why(Range::Given(0.0, 1.0), 0), "there must be a bin");
    assert_eq!(
        why(Range::Found(Some((0.0, f64::INFINITY))), 2),
        "there are infinite elements; give min and max"
    );
    assert_eq!(why(Range::Given(0.0, 1e39), 2), "the range is too wide for the elements");
    let many = "there are more bins than fit into the range; ask for fewer";
    assert_eq!(why(Range::Given(1.0, 1.000_000_1), 2), many);
    assert_eq!(why(Range::Found(Some((1e20, 1e20))), 1), many);
}

#[test]
fn edges_are_even_and_end_where_they_were_asked_to() {
    let found = |dtype, range, bins| edges(dtype, range, bins).expect("edges");
    assert_eq!(found(DType::Int32, Range::Given(0.0, 2.0), 4), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(found(DType::Int32, Range::Found(None), 2), [0.0, 0.5, 1.0]);
    assert_eq!(found(DType::Int8, Range::Found(Some((7.0, 7.0))), 2), [6.5, 7.0, 7.5]);
    assert_eq!(found(DType::Float64, Range::Given(-1.7e308, 1.7e308), 2), [-1.7e308, 0.0, 1.7e308]);
    assert_eq!(found(DType::Float64, Range::Given(0.0, 1e-323), 2), [0.0, 5e-324, 1e-323]);
}

#[test]
fn edges_between_elements_are_computed_as_elements_are() {
    // From NumPy: np.histogram(np.array([0.1, 0.7], "f4"), 3)[1], then with range=(0.1, 0.7).
    let (first, last) = (f64::from(0.1_f32), f64::from(0.7_f32));
    let bits = |range| -> Vec<u32> {
        let edges = edges(DType::Float32, range, 7).expect("edges");
        edges.iter().map(|&edge| (edge as f32).to_bits()).collect()
    };
    let (found, given) = (bits(Range::Found(Some((first, last)))), bits(Range::Given(0.1, 0.7)));
    assert_eq!(found, FOUND);
    assert_eq!(given, GIVEN);
}

const FOUND: [u32; 8] = [
    1036831949, 1044261858, 1049295023, 1052171117, 1055047211, 1057443957, 1058882004, 1060320051,
];
const GIVEN: [u32; 8] = [
    1036831949, 1044261859, 1049295024, 1052171118, 1055047212, 1057443957, 1058882004, 1060320051,
];
