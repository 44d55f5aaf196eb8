//! Tests and counts against comparisons one by one, in the words of the numbers themselves.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use half::{bf16, f16};
use proptest::prelude::*;

use super::*;
use crate::kernel::count_where::{CountWhere, Tally};
use crate::kernel::{At, Kernel, Lanes, Setup};
use crate::scalar::Scalar;

/// An element that knows how it compares with a number; `None` for NaN.
trait Plain: Numeric {
    fn compare(self, number: Number) -> Option<Ordering>;
    fn is_nan(self) -> bool;
}

macro_rules! plain {
    (integers $($type:ty),+) => {$(
        impl Plain for $type {
            fn compare(self, number: Number) -> Option<Ordering> {
                let value = i128::from(self);
                match number {
                    Number::Int(integer) => Some(value.cmp(&integer)),
                    Number::Float(float) if float.is_nan() => None,
                    Number::Float(float) if float.abs() >= 1e30 => {
                        Some(if float > 0.0 { Less } else { Greater })
                    }
                    // Whole below 1e30 is exact, and then the fraction decides.
                    Number::Float(float) => Some(value.cmp(&(float.trunc() as i128)).then(
                        0.0_f64.partial_cmp(&float.fract()).expect("a fraction"),
                    )),
                }
            }
            fn is_nan(self) -> bool {
                false
            }
        }
    )+};
    (floats $($type:ty, $nearest:expr;)+) => {$(
        impl Plain for $type {
            fn compare(self, number: Number) -> Option<Ordering> {
                let value = number.to_f64();
                let nearest: fn(f64) -> f64 = $nearest;
                let rounded = nearest(value);
                let out_of_range = rounded.is_infinite() && value.is_finite();
                f64::from(self).partial_cmp(if out_of_range { &value } else { &rounded })
            }
            fn is_nan(self) -> bool {
                f64::from(self).is_nan()
            }
        }
    )+};
}

plain!(integers i8, i16, i32, i64, u8, u16, u32, u64);
plain! { floats
    f16, |value| nearest_half(value, &|bits| f16::from_bits(bits).to_f64(), 0x7c00, 65536.0);
    bf16, |value| nearest_half(value, &|bits| bf16::from_bits(bits).to_f64(), 0x7f80, 2_f64.powi(128));
    f32, |value| f64::from(value as f32);
    f64, |value| value;
}

/// The nearest of all halves, ties to even; `beyond` is what would come after the largest.
fn nearest_half(value: f64, half: &dyn Fn(u16) -> f64, infinite: u16, beyond: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let at = |bits: u16| if bits == infinite { beyond } else { half(bits) };
    let (mut low, mut high) = (0, infinite);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if at(middle) <= value.abs() { low = middle } else { high = middle }
    }
    let (below, above) = (value.abs() - at(low), at(high) - value.abs());
    let up = match below.partial_cmp(&above) {
        Some(Less) => false,
        Some(Equal) => low % 2 == 1,
        _ => true,
    };
    half(if up { high } else { low }).copysign(value)
}

fn is<T: Plain>(element: T, compare: Compare, number: Number) -> bool {
    let order = element.compare(number);
    match compare {
        Compare::Eq => order == Some(Equal),
        Compare::Ne => order != Some(Equal),
        Compare::Lt => order == Some(Less),
        Compare::Le => matches!(order, Some(Less | Equal)),
        Compare::Gt => order == Some(Greater),
        Compare::Ge => matches!(order, Some(Greater | Equal)),
    }
}

fn passes<T: Plain>(element: T, filter: &Filter) -> bool {
    let is_fill = filter.fill.is_some_and(|fill| is(element, Compare::Eq, fill));
    let null = element.is_nan() || is_fill;
    filter.tests.iter().all(|&(compare, number)| is(element, compare, number))
        && (null || !filter.is_null)
        && (!null || !filter.is_not_null)
}

/// Every way to ask must give `wanted`.
fn check<T: Plain>(elements: &[T], test: &Test, wanted: impl Fn(T) -> bool) {
    let tester = Tester::<T>::new(test);
    let bytes = |elements: &[T]| bytemuck::cast_slice::<T, u8>(elements).to_vec();
    let left: Vec<T> = elements.iter().copied().filter(|&element| wanted(element)).collect();
    for &element in elements {
        assert_eq!(tester.passes(element), wanted(element), "{element:?} {test:?}");
    }
    assert_eq!(tester.count(elements), left.len() as u64, "{test:?}");
    let mut room = vec![T::zeroed(); elements.len()];
    let passed = tester.sift(elements, &mut room);
    assert_eq!(bytes(&room[..passed]), bytes(&left), "{test:?}");
    assert_eq!(bytes(tester.pick(elements, &mut room)), bytes(&left), "{test:?}");
    let setup = Setup { test: Some(test.clone()), ..Setup::default() };
    for lanes in [1, 7, 300] {
        let rows = elements.len() / lanes;
        let mut counts: CountWhere<T> = Kernel::<T>::new(lanes, &setup);
        let distance = lanes;
        counts.fold_lanes(
            At::default(),
            Lanes { count: lanes, rows, distance, index: 1 },
            &elements[..rows * lanes],
        );
        let counts = counts.finish().expect("counts fit");
        for lane in 0..lanes {
            let column = (0..rows).map(|row| elements[row * lanes + lane]);
            let wanted = column.filter(|&element| wanted(element)).count();
            assert_eq!(counts.get(lane), Some(Scalar::Int(wanted as i128)), "{test:?}");
        }
    }
}

/// Halves and singles on both sides of where rounding changes, and the ends of every type.
#[rustfmt::skip]
const FLOATS: &[f64] = &[
    0.0, -0.0, 0.1, 0.5, -0.5, 1.0, 2.5, -2.5, 127.0, 127.5, 128.0, 255.5, 2048.5, 2049.0,
    65504.0, 65519.9, 65520.0, 65536.0, 1e-8, 2.98e-8, 5.96e-8, 1e-320, 1e-45, 1e39, -1e39,
    3.402_823_5e38, 3.389_531_4e38, 3.4e38, 1e300, -1e300, 9.2e18, 1.8e19, -9.3e18,
    f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.000_488_281_25,
    1.000_488_281_250_000_2, 1.001_464_843_75, 1.001_464_843_749_999_8,
];
/// The ends of every type and their neighbors.
#[rustfmt::skip]
const INTEGERS: &[i128] = &[
    0, 1, -1, 2, 100, 127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65535, 65536,
    1 << 31, -(1 << 31) - 1, (1 << 53) + 1, (1 << 60) + 1, i64::MAX as i128, i64::MIN as i128,
    u64::MAX as i128, 1 << 64, -(1 << 63) - 1, i128::MAX, i128::MIN,
];

fn numbers() -> Vec<Number> {
    let floats = FLOATS.iter().copied().map(Number::Float);
    floats.chain(INTEGERS.iter().copied().map(Number::Int)).collect()
}

const COMPARES: [Compare; 6] =
    [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];

/// All comparisons of all elements with all numbers, and the other tests.
fn check_all<T: Plain>(elements: &[T], is_infinite: impl Fn(T) -> bool) {
    for number in numbers() {
        for compare in COMPARES {
            let filter = Filter { tests: vec![(compare, number)], ..Filter::default() };
            let tester = Tester::<T>::new(&Test::Filter(filter));
            for &element in elements {
                let wanted = is(element, compare, number);
                assert_eq!(tester.passes(element), wanted, "{element:?} {compare:?} {number:?}");
            }
        }
    }
    check(elements, &Test::Nan, T::is_nan);
    check(elements, &Test::Infinite, &is_infinite);
    check(elements, &Test::NotFinite, |element| element.is_nan() || is_infinite(element));
    for fill in [0.0, -0.0, 1e20, 100.0, f64::INFINITY, f64::NAN] {
        let number = Number::Float(fill);
        check(elements, &Test::Fill(number), |element| {
            is(element, Compare::Eq, number) || fill.is_nan() && element.is_nan()
        });
    }
}

#[test]
fn every_half_and_byte_is_compared_exactly() {
    let halves: Vec<f16> = (0..=u16::MAX)
        .step_by(29)
        .chain(0x7bf0..0x7c10)
        .chain(0xfbf0..0xfc10)
        .chain([0, 0x8000])
        .map(f16::from_bits)
        .collect();
    check_all(&halves, |half| half.is_infinite());
    let brains: Vec<bf16> = (0..=u16::MAX)
        .step_by(29)
        .chain(0x7f70..0x7f90)
        .chain(0xff70..0xff90)
        .chain([0, 0x8000])
        .map(bf16::from_bits)
        .collect();
    check_all(&brains, |half| half.is_infinite());
    check_all(&(i8::MIN..=i8::MAX).collect::<Vec<_>>(), |_| false);
    check_all(&(u8::MIN..=u8::MAX).collect::<Vec<_>>(), |_| false);
}

#[test]
fn elements_beside_every_number_are_compared_exactly() {
    let doubles: Vec<f64> = numbers()
        .iter()
        .map(|number| number.to_f64())
        .flat_map(|value| [value.next_down(), value, value.next_up(), -value])
        .collect();
    check_all(&doubles, |value| value.is_infinite());
    let singles: Vec<f32> = doubles
        .iter()
        .map(|&value| value as f32)
        .flat_map(|value| [value.next_down(), value, value.next_up()])
        .collect();
    check_all(&singles, |value| value.is_infinite());
    macro_rules! integers {
        ($($type:ty),+) => {$(
            let neighbors = |value: f64| {
                let value = value as $type;
                [value.wrapping_sub(1), value, value.wrapping_add(1)]
            };
            let elements: Vec<$type> = doubles.iter().copied().flat_map(neighbors)
                .chain([<$type>::MIN, <$type>::MAX, (1_u64 << 60) as $type, ((1_u64 << 60) + 1) as $type])
                .collect();
            check_all(&elements, |_| false);
        )+};
    }
    integers!(i16, u16, i32, u32, i64, u64);
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        proptest::sample::select(numbers()),
        (-40_i128..40).prop_map(Number::Int),
        (-80..80).prop_map(|halves| Number::Float(f64::from(halves) / 2.0)),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let test = (proptest::sample::select(&COMPARES[..]), number());
    let tests = proptest::collection::vec(test, 0..4);
    (tests, 0..8, 0..8, proptest::option::of(number())).prop_map(|(tests, null, not_null, fill)| {
        Filter { tests, is_null: null == 0, is_not_null: not_null == 0, fill }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn filters_of_many_tests_agree(
        filter in filter(),
        other in filter(),
        values in proptest::collection::vec(
            prop_oneof![8 => -40.0..40.0_f64, 1 => proptest::sample::select(vec![f64::NAN, 0.0,
                -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e-310, 65504.0, 1e20])],
            0..1500,
        ),
    ) {
        macro_rules! each {
            ($($type:ty: $from:expr;)+) => {$(
                let elements: Vec<$type> = values.iter().map($from).collect();
                check(&elements, &Test::Filter(filter.clone()), |e| passes(e, &filter));
                let both = Test::Both(
                    Box::new(Test::Filter(filter.clone())),
                    Box::new(Test::Filter(other.clone())),
                );
                check(&elements, &both, |e| passes(e, &filter) && passes(e, &other));
            )+};
        }
        each! {
            f64: |&v| v; f32: |&v| v as f32;
            f16: |&v| f16::from_f64(v); bf16: |&v| bf16::from_f64(v);
            i8: |&v| v as i8; i64: |&v| v as i64; u16: |&v| v as u16; u64: |&v| v as u64;
            i32: |&v| v as i32;
        }
    }
}

#[test]
fn a_count_tells_whether_there_is_any() {
    let setup = |tally| Setup { test: Some(Test::Nan), tally, ..Setup::default() };
    let tally = |tally, elements: &[f32]| {
        let mut counts: CountWhere<f32> = Kernel::<f32>::new(1, &setup(tally));
        counts.fold_run(At::default(), elements);
        (counts.nan_count(), counts.finish().expect("counts fit").get(0).expect("a cell"))
    };
    let nan = [1.0, f32::NAN, f32::NAN];
    assert_eq!(tally(Tally::Count, &nan), (Some(2), Scalar::Int(2)));
    assert_eq!(tally(Tally::Any, &nan), (Some(2), Scalar::Bool(true)));
    assert_eq!(tally(Tally::None, &nan), (Some(2), Scalar::Bool(false)));
    assert_eq!(tally(Tally::Any, &nan[..1]), (Some(0), Scalar::Bool(false)));
    assert_eq!(tally(Tally::None, &[]), (Some(0), Scalar::Bool(true)));
}

#[test]
fn pads_pass_every_filter_but_are_still_tested() {
    let filter = Filter { tests: vec![(Compare::Gt, Number::Int(5))], ..Filter::default() };
    let setup =
        |test| Setup { test, within: Some(Test::Filter(filter.clone())), ..Setup::default() };
    for (test, wanted) in [(None, 2 + 3), (Some(Test::Fill(Number::Int(7))), 1)] {
        let mut counts: CountWhere<i32> = Kernel::<i32>::new(1, &setup(test));
        counts.fold_run(At::default(), &[1, 7, 9]);
        counts.fold_pads(0, &[0, 0, 0]);
        assert_eq!(counts.finish().expect("counts fit").get(0), Some(Scalar::Int(wanted)));
    }
}
