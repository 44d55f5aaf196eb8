use proptest::prelude::*;
use tet_format::DType;

use super::{DiffValue, ElementDiff, Tolerance};
use crate::budget::Execution;
use crate::catalog::{AttrText, Dataset};
use crate::error::Error;
use crate::scalar::Scalar;
use crate::selection::{AxisSlice, Hyperslab};
use crate::testing::{Order, Stored, World, bytes, selected, small_tuning, world};

const STORED: [Stored; 3] = [Stored::Raw, Stored::Whole, Stored::Ranged];

/// The value that an element of a number has.
fn value(dtype: DType, number: f64) -> f64 {
    if dtype == DType::Bool { f64::from(u8::from(number != 0.0)) } else { number }
}

/// Small whole numbers, and NaN where the dtype has it.
fn number(dtype: DType, n: u64) -> f64 {
    let number = n * 7919 % 23;
    let has_nan = dtype.is_float() || dtype.is_complex();
    if has_nan && number == 22 { f64::NAN } else { f64::from(u8::try_from(number).unwrap()) }
}

fn whole(world: &World) -> Hyperslab {
    Hyperslab::whole(&world.shape)
}

fn diff(left: &World, right: &World, tolerance: &Tolerance, how: &Execution) -> ElementDiff {
    let [a, b] = [left, right].map(|world| &world.mapped.datasets()[0]);
    a.diff(&whole(left), b, &whole(right), tolerance, how).unwrap().value
}

fn shown(values: [f64; 2], dtypes: [DType; 2]) -> String {
    format!("{:?}", [0, 1].map(|nth| value(dtypes[nth], values[nth])))
}

fn as_f64(value: &DiffValue) -> f64 {
    match value {
        DiffValue::Number(Scalar::Complex64(real, _)) => f64::from(*real),
        DiffValue::Number(Scalar::Complex128(real, _)) => *real,
        DiffValue::Number(number) => number.to_f64().unwrap(),
        _ => unreachable!("the elements are numbers"),
    }
}

fn pairs() -> impl Strategy<Value = [DType; 2]> {
    use DType as D;
    let floats = [D::Float16, D::BFloat16, D::Float32, D::Float64];
    let integers =
        [D::Int8, D::Int16, D::Int32, D::Int64, D::UInt8, D::UInt16, D::UInt32, D::UInt64, D::Bool];
    let complex = [D::Complex64, D::Complex128];
    let of = |list: &'static [D]| [prop::sample::select(list), prop::sample::select(list)];
    let lists: [&'static [D]; 3] =
        [Box::leak(Box::new(floats)), Box::leak(Box::new(integers)), Box::leak(Box::new(complex))];
    prop_oneof![of(lists[0]), of(lists[1]), of(lists[2])]
}

proptest! {
    /// Every pair of selected elements is compared as a loop compares them.
    #[test]
    fn differences_are_those_of_a_loop(
        dtypes in pairs(),
        shape in prop::collection::vec(1_u64..7, 1..4),
        cuts in prop::collection::vec(1_u64..5, 6),
        stored in prop::array::uniform2(prop::sample::select(&STORED[..])),
        changed in prop::collection::btree_map(0_u64..200, 0_u8..3, 0..12),
        first in 0_u64..3,
        step in 1_u64..3,
        drops in any::<bool>(),
        (nan_equal, atol) in (any::<bool>(), 0_u8..3),
        threads in 1_usize..4,
    ) {
        let chunks = |nth: usize| -> Vec<u64> {
            shape.iter().enumerate().map(|(axis, extent)| (*extent).min(cuts[nth + axis])).collect()
        };
        let other = |n: u64| match changed.get(&n) {
            Some(0) if dtypes[1].is_float() || dtypes[1].is_complex() => f64::NAN,
            Some(by) => number(dtypes[0], n).max(0.0) + f64::from(*by),
            None => number(dtypes[0], n),
        };
        let left = world(dtypes[0], &shape, &chunks(0), stored[0], Order::Gaps(3), |n| bytes(dtypes[0], number(dtypes[0], n)));
        let right = world(dtypes[1], &shape, &chunks(3), stored[1], Order::Backwards, |n| bytes(dtypes[1], other(n)));
        let mut axes: Vec<AxisSlice> = shape.iter().map(|&extent| AxisSlice::whole(extent)).collect();
        axes[0] = AxisSlice { start: first.min(shape[0]), stop: shape[0], step, axis: Default::default() };
        if drops && let Some(last) = axes.last_mut() {
            *last = AxisSlice { start: 0, stop: 1, step: 1, axis: crate::selection::Axis::Dropped };
        }
        let slab = Hyperslab::new(axes, &shape).unwrap();
        let atol = f64::from(atol);
        let tolerance = Tolerance { atol, nan_equal, ..Tolerance::default() };
        let how = Execution { threads, ..small_tuning() };
        let [a, b] = [&left, &right].map(|world| &world.mapped.datasets()[0]);
        let found = a.diff(&slab, b, &slab, &tolerance, &how).unwrap().value;

        let values = |n: u64| [value(dtypes[0], number(dtypes[0], n)), value(dtypes[1], other(n))];
        let differs = |n: u64| {
            let [a, b] = values(n);
            if a.is_nan() && b.is_nan() { !nan_equal } else { !(a == b || (a - b).abs() <= atol) }
        };
        let all = selected(&shape, &slab);
        let wanted: Vec<u64> = all.iter().copied().filter(|&n| differs(n)).collect();
        prop_assert_eq!(found.count, all.len() as u64);
        prop_assert_eq!(found.differing, wanted.len() as u64);
        let one_nan = |n: &&u64| values(**n)[0].is_nan() != values(**n)[1].is_nan();
        prop_assert_eq!(found.nan_count, wanted.iter().filter(one_nan).count() as u64);
        let apart = |n: u64| (values(n)[0] - values(n)[1]).abs();
        let max = wanted.iter().map(|&n| apart(n)).filter(|it| !it.is_nan()).reduce(f64::max);
        prop_assert_eq!(found.max_abs.map(|it| it.to_f64().unwrap()), max);
        let place = |found: &super::DifferingElement| {
            crate::testing::linear_of(&shape, &found.position)
        };
        prop_assert_eq!(found.first.as_ref().map(place), wanted.first().copied());
        let worst = wanted.iter().copied().find(|&n| Some(apart(n)) == max);
        prop_assert_eq!(found.worst.as_ref().map(place), worst);
        if let (Some(found), Some(&n)) = (&found.first, wanted.first()) {
            let seen = [0, 1].map(|nth| as_f64(&found.values[nth]));
            prop_assert_eq!(format!("{seen:?}"), shown([number(dtypes[0], n), other(n)], dtypes));
        }
    }
}

/// A large array, of which some elements are changed, gives the same on any number of threads.
#[test]
fn boxes_of_large_arrays_are_all_compared() {
    let shape = [700, 600];
    let chunks = [[64, 600], [700, 50], [13, 17]];
    let changed = [0, 599, 209_999, 210_000, 419_999];
    let right_of = |n: u64| if changed.contains(&n) { -1.0 - n as f64 } else { n as f64 };
    for (stored, nth) in
        [(Stored::Raw, 0), (Stored::Whole, 1), (Stored::Whole, 2), (Stored::Raw, 2)]
    {
        let left = world(DType::Float64, &shape, &chunks[0], Stored::Whole, Order::Packed, |n| {
            (n as f64).to_le_bytes().to_vec()
        });
        let right = world(DType::Float64, &shape, &chunks[nth], stored, Order::Packed, |n| {
            right_of(n).to_le_bytes().to_vec()
        });
        let answers = [1, 2, 5].map(|threads| {
            let how = Execution { threads, ..Execution::default() };
            diff(&left, &right, &Tolerance::default(), &how)
        });
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0], answers[2]);
        assert_eq!(answers[0].differing, 5);
        assert_eq!(answers[0].first.as_ref().unwrap().position, [0, 0]);
        assert_eq!(answers[0].worst.as_ref().unwrap().position, [699, 599]);
        assert_eq!(answers[0].max_abs, Some(Scalar::Float64(1.0 + 2.0 * 419_999.0)));
    }
}

/// Of two files with the same chunks, those with equal digests are not read.
#[test]
fn chunks_of_equal_digests_are_not_read() {
    let element = |n: u64| u32::try_from(n).unwrap().to_le_bytes().to_vec();
    let shape = [40, 10];
    let of = |changed: u64| {
        let element = move |n: u64| element(if n == changed { 9_999 } else { n });
        world(DType::UInt32, &shape, &[4, 5], Stored::Whole, Order::Packed, element)
    };
    let [left, right] = [of(u64::MAX), of(123)];
    let [a, b] = [&left, &right].map(|world| &world.positioned.datasets()[0]);
    let how = Execution::default();
    let slab = whole(&left);
    let found = a.diff(&slab, b, &slab, &Tolerance::default(), &how).unwrap();
    assert_eq!((found.differing, found.skipped, found.change), (1, 380, None));
    assert_eq!(found.first.as_ref().unwrap().position, [12, 3]);
    for world in [&left, &right] {
        let read: u64 = world.counting.take_reads().iter().map(|run| run.span.len()).sum();
        assert_eq!(read, 80, "one chunk of 20 elements");
    }
    let same = a.diff(&slab, a, &slab, &Tolerance::default(), &how).unwrap();
    assert_eq!((same.differing, same.skipped, same.count), (0, 400, 400));
    assert!(left.counting.take_reads().is_empty());
    // Bytes that changed behind their digest are found when all are compared.
    let how = Execution { digests: crate::budget::DigestPolicy::Always, ..Execution::default() };
    let damaged = left.damaged(11);
    let b = &damaged.positioned.datasets()[0];
    assert!(matches!(
        a.diff(&slab, b, &slab, &Tolerance::default(), &how),
        Err(Error::Chunk { .. })
    ));
}

/// A digest cannot tell that NaN equal nothing, so the chunk is read.
#[test]
fn nan_that_differ_are_looked_for_in_equal_chunks() {
    let left = world(DType::Float32, &[8], &[4], Stored::Raw, Order::Packed, |n| {
        (if n == 5 { f32::NAN } else { 1.0 }).to_le_bytes().to_vec()
    });
    let tolerance = Tolerance { nan_equal: false, ..Tolerance::default() };
    let found = diff(&left, &left, &tolerance, &Execution::default());
    assert_eq!((found.differing, found.nan_count, found.skipped), (1, 0, 0));
    assert_eq!(found.max_abs, None);
    assert_eq!(found.first.unwrap().position, [5]);
}

/// Tolerances at their edges.
#[test]
fn tolerances_are_exact() {
    let one = |dtype: DType, bytes: Vec<u8>| {
        world(dtype, &[1], &[1], Stored::Raw, Order::Packed, move |_| bytes.clone())
    };
    let differs = |left: f64, right: f64, tolerance: Tolerance| {
        let of = |number: f64| one(DType::Float64, number.to_le_bytes().to_vec());
        diff(&of(left), &of(right), &tolerance, &Execution::default()).differing == 1
    };
    let exact = Tolerance::default();
    let rtol = |rtol| Tolerance { rtol, ..exact };
    let ulp = |ulp| Tolerance { ulp, ..exact };
    assert!(!differs(0.0, -0.0, exact));
    assert!(!differs(110.0, 100.0, rtol(0.1)) && differs(100.0, 110.0, rtol(0.09)));
    assert!(differs(f64::INFINITY, f64::NEG_INFINITY, rtol(1.0)));
    assert!(
        differs(1.0, f64::INFINITY, rtol(1.0)) && !differs(f64::INFINITY, f64::INFINITY, exact)
    );
    assert!(differs(f64::NAN, 1.0, Tolerance { atol: f64::INFINITY, ..exact }));
    let next = f64::from_bits(1_f64.to_bits() + 1);
    assert!(differs(1.0, next, exact) && !differs(1.0, next, ulp(1)));
    assert!(differs(1.0, f64::from_bits(1_f64.to_bits() + 2), ulp(1)));
    let least = f64::from_bits(1);
    assert!(!differs(-least, least, ulp(2)) && differs(-least, least, ulp(1)));
    // Integers past 2^53 are compared exactly.
    let integers = |left: i64, right: u64, atol: f64| {
        let [left, right] = [
            one(DType::Int64, left.to_le_bytes().to_vec()),
            one(DType::UInt64, right.to_le_bytes().to_vec()),
        ];
        diff(&left, &right, &Tolerance { atol, ..exact }, &Execution::default())
    };
    let big = 1_u64 << 53;
    assert_eq!(integers(0, big + 1, 9_007_199_254_740_992.0).differing, 1);
    assert_eq!(integers(0, big, 9_007_199_254_740_992.0).differing, 0);
    let widest = integers(i64::MIN, u64::MAX, 0.0);
    assert_eq!(widest.max_abs, Some(Scalar::Int(i128::from(u64::MAX) - i128::from(i64::MIN))));
}

/// Types that do not compare, and selections that do not match, are refused.
#[test]
fn what_cannot_be_compared_is_refused() {
    let of = |dtype: DType, count: u64| {
        world(dtype, &[count], &[2], Stored::Raw, Order::Packed, move |n| {
            bytes(dtype, number(dtype, n))
        })
    };
    let refused = |left: &World, right: &World, tolerance: Tolerance| {
        let [a, b] = [left, right].map(|world| &world.mapped.datasets()[0]);
        let found = a.diff(&whole(left), b, &whole(right), &tolerance, &Execution::default());
        let error = found.unwrap_err();
        assert!(matches!(error, Error::Incomparable { .. }), "{error}");
        error.to_string()
    };
    let exact = Tolerance::default();
    let mixed = refused(&of(DType::Float32, 4), &of(DType::Int32, 4), exact);
    assert_eq!(mixed, "dataset \"world\": elements of float32 and int32 are not compared");
    let long = refused(&of(DType::Float32, 4), &of(DType::Float32, 5), exact);
    assert_eq!(long, "dataset \"world\": the selections have the shapes (4,) and (5,)");
    let ulp = Tolerance { ulp: 1, ..exact };
    let steps = refused(&of(DType::Float32, 4), &of(DType::Float64, 4), ulp);
    assert_eq!(steps, "dataset \"world\": steps (ulp) between float32 and float64 are not defined");
}

/// A number that stands for a missing one is near to itself alone, in each dataset by its own attributes.
#[test]
fn missing_elements_are_near_to_no_other() {
    let left = [-1.0, -1.0, 0.0, 1e20, 5.0];
    let right = [0.0, -1.0, 1.0, 1e20, 1e20];
    for dtypes in [[DType::Float32; 2], [DType::Float32, DType::Float64], [DType::Float64; 2]] {
        let [left, right] = [(left, dtypes[0]), (right, dtypes[1])].map(|(values, dtype)| {
            let element = move |n: u64| bytes(dtype, values[usize::try_from(n).unwrap()]);
            world(dtype, &[5], &[2], Stored::Raw, Order::Packed, element)
        });
        let [mut a, mut b] = [&left, &right].map(|it| it.mapped.datasets()[0].clone());
        for (dataset, dtype) in [&mut a, &mut b].into_iter().zip(dtypes) {
            let missing = [bytes(dtype, -1.0), bytes(dtype, 1e20)].concat();
            dataset.attrs.insert("missing_value".to_owned(), AttrText::numbers(dtype, &missing));
        }
        let how = Execution::default();
        let near = Tolerance { atol: f64::MAX, ..Tolerance::default() };
        let found = a.diff(&whole(&left), &b, &whole(&right), &near, &how).unwrap().value;
        // The first, where the left one is missing, and the last, where the right one is.
        assert_eq!((found.differing, found.first.unwrap().position), (2, vec![0]));
        b.attrs.clear();
        let found = a.diff(&whole(&left), &b, &whole(&right), &near, &how).unwrap().value;
        // Equal numbers are equal, and 1e20 is another number as float32.
        assert_eq!(found.differing, 1 + u64::from(dtypes[0] != dtypes[1]), "{dtypes:?}");
    }
    let integers = [0, 1].map(|at| {
        let element = move |n: u64| (if n == 1 { i64::MIN + at } else { 7 }).to_le_bytes().to_vec();
        world(DType::Int64, &[3], &[3], Stored::Raw, Order::Packed, element)
    });
    let [mut a, b] = integers.each_ref().map(|it| it.mapped.datasets()[0].clone());
    let slab = whole(&integers[0]);
    let near = Tolerance { atol: 1.0, ..Tolerance::default() };
    let differing = |a: &Dataset| {
        a.diff(&slab, &b, &slab, &near, &Execution::default()).unwrap().value.differing
    };
    assert_eq!(differing(&a), 0);
    let missing = AttrText::number(DType::Int64, &i64::MIN.to_le_bytes());
    a.attrs.insert("_FillValue".to_owned(), missing);
    assert_eq!(differing(&a), 1);
}
