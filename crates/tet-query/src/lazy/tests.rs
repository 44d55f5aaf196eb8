use std::sync::Arc;

use tet_format::DType;

use super::{Choice, LazyArray};
use crate::array::Array;
use crate::budget::Execution;
use crate::error::Error;
use crate::op::NanPolicy;
use crate::reduction::{Axes, AxisPicks, Compare, Filter, Number};
use crate::selection::{Axis, AxisSlice, Hyperslab};
use crate::testing::{
    Order, Stored, World, bytes, linear_of, positions, product, selected, slabs, small_tuning,
    world,
};
use crate::transform::{Method, Transform};
use crate::tuning::Tuning;

const DTYPES: [DType; 13] = [
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Bool,
];

/// Small whole numbers in no order, a NaN here and there, and a stretch of equal ones.
fn number(dtype: DType, n: u64) -> f64 {
    let number = n * 7919 % 23;
    match dtype {
        DType::Bool => f64::from(u8::from(number.is_multiple_of(3))),
        _ if n < 4 => 3.0,
        _ if dtype.is_float() && number == 22 => f64::NAN,
        _ => f64::from(u8::try_from(number).unwrap()),
    }
}

fn numbers(array: &Array) -> Vec<f64> {
    (0..array.len()).map(|at| array.get(at).unwrap().to_f64().unwrap()).collect()
}

/// A selection and a transform to test.
#[derive(Clone, Debug)]
struct LazyCase {
    slab: Hyperslab,
    choice: Choice,
    transform: Option<Transform>,
}

/// The elements of a lazy array by loops: for every one its number, whether it passes, and its cell.
fn elements(dtype: DType, shape: &[u64], asked: &LazyCase) -> Vec<(f64, bool, Vec<u64>)> {
    let mut lists: Vec<Vec<u64>> = asked.slab.axes().iter().map(positions).collect();
    for picks in &asked.choice.picks {
        let list = &mut lists[picks.axis];
        *list = picks.positions.iter().map(|&at| list[usize::try_from(at).unwrap()]).collect();
    }
    let passes = |x: f64| {
        let tests = asked.choice.filter.iter().flat_map(|filter| &filter.tests);
        let mut tests = tests.map(|(compare, number)| match compare {
            Compare::Gt => x > number.to_f64(),
            Compare::Ne => x != number.to_f64(),
            _ => unreachable!("not used here"),
        });
        tests.all(|passed| passed)
    };
    let is_folded = |axis: &usize| match asked.transform.as_ref().map(|it| &it.axes) {
        Some(Axes::Some(axes)) => axes.contains(axis),
        _ => true,
    };
    let element = |at: &Vec<u64>| {
        let x = number(dtype, linear_of(shape, at));
        let cell = (0..at.len()).filter(|axis| !is_folded(axis)).map(|axis| at[axis]);
        (x, passes(x), cell.collect())
    };
    product(&lists).iter().map(element).collect()
}

/// The result by loops, and how many zero denominators there are.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn wanted(dtype: DType, shape: &[u64], asked: &LazyCase) -> (Vec<f64>, u64) {
    let elements = elements(dtype, shape, asked);
    let fill = asked.choice.filter.as_ref().and_then(|filter| filter.fill);
    let nothing = if dtype.is_float() { f64::NAN } else { fill.map_or(f64::NAN, Number::to_f64) };
    let Some(transform) = &asked.transform else {
        let value = |(x, passes, _): &(f64, bool, Vec<u64>)| if *passes { *x } else { nothing };
        return (elements.iter().map(value).collect(), 0);
    };
    let mut zeros = 0;
    let value = |(x, passes, cell): &(f64, bool, Vec<u64>)| {
        let of_cell: Vec<f64> = elements
            .iter()
            .filter(|(x, passes, of)| {
                let skipped = transform.nan == NanPolicy::Skip && x.is_nan();
                *passes && of == cell && !skipped
            })
            .map(|&(x, ..)| x)
            .collect();
        let (n, sum) = (of_cell.len() as f64, of_cell.iter().sum::<f64>());
        let mean = sum / n;
        let std = (of_cell.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
        let is_nan = of_cell.iter().any(|x| x.is_nan());
        let end = |pick: fn(f64, f64) -> f64| match of_cell.iter().copied().reduce(pick) {
            Some(end) if !is_nan => end,
            _ => f64::NAN,
        };
        let (least, most) = (end(f64::min), end(f64::max));
        let (above, below) = match transform.method {
            Method::ZScore => (x - mean, std),
            Method::MinMax => (x - least, most - least),
            Method::L1 => (*x, of_cell.iter().map(|x| x.abs()).sum()),
            Method::L2 => (*x, of_cell.iter().map(|x| x * x).sum::<f64>().sqrt()),
            Method::Center => (x - mean, 1.0),
            Method::Scale => (*x, std),
            Method::Log1p => ((1.0 + x).ln(), 1.0),
            Method::Sqrt => (x.sqrt(), 1.0),
            Method::Softmax => {
                ((x - most).exp(), of_cell.iter().map(|x| (x - most).exp()).sum::<f64>())
            }
        };
        let is_zero = below == 0.0 && *passes && !x.is_nan();
        zeros += u64::from(is_zero);
        if *passes && below != 0.0 { above / below } else { f64::NAN }
    };
    let values = elements.iter().map(value).collect();
    (values, zeros)
}

fn is_close(dtype: DType, found: f64, wanted: f64) -> bool {
    let tolerance = match dtype {
        DType::Float16 => 1e-3,
        DType::BFloat16 => 1e-2,
        DType::Float32 => 1e-6,
        _ => 1e-12,
    };
    let far = tolerance * wanted.abs().max(1.0);
    (found.is_nan() && wanted.is_nan()) || (found - wanted).abs() <= far
}

/// The lazy array gives what loops give, and parts of it the same bits, whatever the way.
fn check(world: &World, asked: &LazyCase, every: usize) {
    let dataset = &world.mapped.datasets()[0];
    let dtype = dataset.dtype.unwrap();
    let what = format!("{dtype:?} {:?} {asked:?}", world.shape);
    let (wanted, zeros) = wanted(dtype, &world.shape, asked);
    for tuning in [Tuning::SMALL, Tuning::default()] {
        let mut first: Option<Array> = None;
        for catalog in [&world.mapped, &world.positioned] {
            let dataset = &catalog.datasets()[0];
            for (threads, memory_budget) in [(1, 1 << 30), (3, 4096)] {
                let how = Execution { threads, memory_budget, tuning, ..small_tuning() };
                let LazyCase { slab, choice, transform } = asked.clone();
                let lazy = LazyArray::new(dataset, &slab, choice, transform, &how).unwrap();
                let whole = Hyperslab::whole(lazy.shape());
                let array = lazy.read(&whole, &how).unwrap();
                assert_eq!((array.dtype(), array.shape()), (lazy.dtype(), lazy.shape()), "{what}");
                let found = numbers(&array);
                assert_eq!(found.len(), wanted.len(), "{what}");
                for (at, (&found, &wanted)) in found.iter().zip(&wanted).enumerate() {
                    assert!(is_close(lazy.dtype(), found, wanted), "{what} {at}: {found} {wanted}");
                }
                assert_eq!(lazy.zero_denominators(), zeros, "{what}");
                let first = first.get_or_insert_with(|| array.clone());
                assert_eq!(array.bytes(), first.bytes(), "{what} {how:?}");
                check_parts(&lazy, first, &how, every);
            }
        }
    }
}

/// Every part and every block has the bytes it has in the whole.
fn check_parts(lazy: &LazyArray, whole: &Array, how: &Execution, every: usize) {
    let size = usize::try_from(whole.dtype().size().unwrap()).unwrap();
    let of = |part: &Hyperslab| -> Vec<u8> {
        let selected = selected(whole.shape(), part);
        let at = selected.iter().map(|&at| usize::try_from(at).unwrap() * size);
        at.flat_map(|at| whole.bytes()[at..at + size].to_vec()).collect()
    };
    for mut part in slabs(lazy.shape(), |number| number % every == every / 2) {
        if part.axes().first().is_some_and(|slice| slice.count() == 1) {
            let mut axes = part.axes().to_vec();
            axes[0].axis = Axis::Dropped;
            part = Hyperslab::new(axes, lazy.shape()).unwrap();
        }
        let array = lazy.read(&part, how).unwrap();
        assert_eq!(array.shape(), &part.kept_shape());
        assert_eq!(array.bytes(), of(&part), "{part:?}");
        // On no boundary.
        let mut out = vec![0; array.bytes().len() + 1];
        lazy.read_into(&part, how, &mut out[1..]).unwrap();
        assert_eq!(&out[1..], array.bytes());
    }
    for len_max in [size as u64, 3 * size as u64, 1 << 20] {
        let blocks = lazy.blocks(len_max, len_max).unwrap();
        let read = blocks.map(|block| {
            let array = lazy.read(&block, how).unwrap();
            assert!(array.bytes().len() as u64 <= len_max);
            array.into_bytes()
        });
        assert_eq!(read.collect::<Vec<_>>().concat(), whole.bytes());
    }
}

fn of_numbers(dtype: DType, shape: &[u64], chunk_shape: &[u64], stored: Stored) -> World {
    world(dtype, shape, chunk_shape, stored, Order::Gaps(3), |n| bytes(dtype, number(dtype, n)))
}

fn above(number: i128, fill: Option<i128>) -> Filter {
    let tests = vec![(Compare::Gt, Number::Int(number)), (Compare::Ne, Number::Int(9))];
    Filter { tests, fill: fill.map(Number::Int), ..Filter::default() }
}

/// The first positions of every axis that has several, picked unevenly.
fn some_picks(slab: &Hyperslab, axes: &[usize]) -> Vec<AxisPicks> {
    let picked = |&axis: &usize| {
        let count = slab.axes()[axis].count();
        let positions = [0, 1, 3, 4, 6].into_iter().filter(|&at| at < count);
        let positions: Arc<[u64]> = positions.collect();
        slab.axes()[axis].is_kept().then_some(AxisPicks { axis, positions })
    };
    axes.iter().filter_map(picked).collect()
}

const WORLDS: &[(&[u64], &[u64], usize, usize)] = &[
    (&[0], &[2], 1, 1),
    (&[11], &[3], 17, 5),
    (&[4, 5], &[2, 3], 211, 29),
    (&[5, 4], &[9, 1], 211, 29),
    (&[3, 3, 4], &[2, 2, 3], 30_011, 701),
    (&[2, 2, 3, 3], &[1, 2, 2, 2], 200_003, 8111),
];

/// Selections, filters and picks without a transform.
#[test]
fn what_is_shown_is_what_a_loop_shows() {
    for &(shape, chunk_shape, every, parts) in WORLDS {
        for (nth, dtype) in DTYPES.into_iter().enumerate() {
            let stored = [Stored::Raw, Stored::Whole, Stored::Ranged][nth % 3];
            let world = of_numbers(dtype, shape, chunk_shape, stored);
            for slab in slabs(shape, |number| number % every == nth) {
                let all: Vec<usize> = (0..shape.len()).collect();
                for axes in [&[][..], &all[..1], &all[shape.len() - 1..], &all] {
                    for filter in [None, Some(above(5, Some(1)))] {
                        let picks = some_picks(&slab, axes);
                        let choice = Choice { filter, picks };
                        let asked = LazyCase { slab: slab.clone(), choice, transform: None };
                        check(&world, &asked, parts);
                    }
                }
            }
        }
    }
}

/// Every method over every set of axes.
#[test]
fn what_is_computed_is_what_a_loop_computes() {
    for &(shape, chunk_shape, every, parts) in WORLDS {
        for (nth, dtype) in DTYPES.into_iter().enumerate() {
            let stored = [Stored::Raw, Stored::Whole][nth % 2];
            let world = of_numbers(dtype, shape, chunk_shape, stored);
            // Several methods look at each: a fourth of the slabs that others look at.
            for slab in slabs(shape, |number| number % (4 * every) == nth) {
                for subset in 0..1_usize << shape.len() {
                    let axes = (0..shape.len()).filter(|axis| subset >> axis & 1 == 1).collect();
                    let axes = if subset == 0 { Axes::All } else { Axes::Some(axes) };
                    let method = Method::ALL[(nth + subset) % Method::ALL.len()];
                    for (nan, filter) in [
                        (NanPolicy::Propagate, None),
                        (NanPolicy::Skip, None),
                        (NanPolicy::Skip, Some(above(2, None))),
                    ] {
                        let choice = Choice { filter, picks: vec![] };
                        let transform = Some(Transform { method, axes: axes.clone(), nan });
                        check(&world, &LazyCase { slab: slab.clone(), choice, transform }, parts);
                    }
                }
            }
        }
    }
}

/// Elements that fail a filter become the fill value exactly, or the array is refused.
#[test]
fn a_fill_value_is_one_of_the_elements_type() {
    for (dtype, fill, fits) in [
        (DType::Int64, Number::Float(2_f64.powi(62)), true),
        (DType::Int64, Number::Float(2_f64.powi(63)), false),
        (DType::Int64, Number::Float(0.5), false),
        (DType::UInt8, Number::Int(255), true),
        (DType::UInt8, Number::Int(256), false),
        (DType::Bool, Number::Int(1), true),
        (DType::Bool, Number::Int(2), false),
    ] {
        let size = usize::try_from(dtype.size().unwrap()).unwrap();
        let bytes = |_| vec![0; size];
        let world = world(dtype, &[3], &[2], Stored::Raw, Order::Packed, bytes);
        let filter = Some(Filter { fill: Some(fill), ..above(5, None) });
        let choice = Choice { filter, picks: vec![] };
        let (slab, how) = (Hyperslab::whole(&[3]), small_tuning());
        let dataset = &world.mapped.datasets()[0];
        let lazy = LazyArray::new(dataset, &slab, choice, None, &how);
        let refused = matches!(lazy, Err(Error::NoFill { .. }));
        assert_eq!(refused, !fits, "{dtype:?} {fill:?}");
    }
}

#[test]
fn picks_and_transforms_go_together() {
    let shape = [5, 6];
    for dtype in [DType::Float32, DType::UInt8] {
        let world = of_numbers(dtype, &shape, &[2, 4], Stored::Whole);
        let slab = Hyperslab::whole(&shape);
        let picks = some_picks(&slab, &[0, 1]);
        for &method in Method::ALL {
            for axes in [Axes::All, Axes::Some(vec![0]), Axes::Some(vec![1])] {
                let transform = Some(Transform { method, axes, nan: NanPolicy::Skip });
                let choice = Choice { filter: None, picks: picks.clone() };
                check(&world, &LazyCase { slab: slab.clone(), choice, transform }, 31);
            }
        }
    }
}

#[test]
fn dropped_axes_are_not_axes_of_the_lens() {
    let shape = [3, 4, 2];
    let world = of_numbers(DType::Int16, &shape, &[2, 2, 2], Stored::Raw);
    let mut axes: Vec<AxisSlice> = shape.iter().map(|&extent| AxisSlice::whole(extent)).collect();
    axes[1] = AxisSlice { start: 2, stop: 3, step: 1, axis: Axis::Dropped };
    let slab = Hyperslab::new(axes, &shape).unwrap();
    for axes in [vec![0], vec![1], vec![2], vec![0, 1], vec![]] {
        let nan = NanPolicy::Propagate;
        let transform = Some(Transform { method: Method::Center, axes: Axes::Some(axes), nan });
        let choice = Choice::default();
        check_folded(&world, LazyCase { slab: slab.clone(), choice, transform });
    }
    let dataset = &world.mapped.datasets()[0];
    let lazy = LazyArray::values(dataset, &slab).unwrap();
    assert_eq!((lazy.axes(), lazy.shape().to_vec()), (vec![0, 2], vec![3, 2]));
    assert_eq!(lazy.chunk_shape().to_vec(), [2, 2]);
    assert_eq!(
        (lazy.position(0, 2), lazy.position(0, 3), lazy.position(2, 0)),
        (Some(2), None, None)
    );
}

/// No axes at all are all axes.
fn check_folded(world: &World, mut asked: LazyCase) {
    if let Some(Transform { axes: Axes::Some(axes), .. }) = &mut asked.transform
        && axes.is_empty()
    {
        axes.extend(0..world.shape.len());
    }
    check(world, &asked, 7);
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let shape = [3, 4];
    let world = of_numbers(DType::Int16, &shape, &shape, Stored::Raw);
    let dataset = &world.mapped.datasets()[0];
    let slab = Hyperslab::whole(&shape);
    let how = small_tuning();
    let ask = |choice| LazyArray::new(dataset, &slab, choice, None, &how).unwrap_err();
    for fill in [None, Some(Number::Float(2.5)), Some(Number::Int(40_000))] {
        let filter = Some(Filter { fill, ..above(1, None) });
        let error = ask(Choice { filter, picks: vec![] });
        assert!(matches!(error, Error::NoFill { dtype: DType::Int16, .. }), "{error}");
        assert!(error.to_string().contains("_FillValue"), "{error}");
    }
    let picks = |axis, positions: &[u64]| Choice {
        filter: None,
        picks: vec![AxisPicks { axis, positions: positions.into() }],
    };
    assert!(matches!(ask(picks(2, &[0])), Error::Axis { axis: 2, rank: 2 }));
    assert!(matches!(ask(picks(1, &[4])), Error::Misfit { .. }));
    let lazy = LazyArray::values(dataset, &slab).unwrap();
    let large = Hyperslab::whole(&[3, 5]);
    assert!(matches!(lazy.read(&large, &how), Err(Error::Misfit { .. })));
    assert!(matches!(lazy.read_into(&slab, &how, &mut [0; 3]), Err(Error::Buffer { .. })));
    let small = Execution { result_max: 8, ..small_tuning() };
    assert!(matches!(lazy.read(&slab, &small), Err(Error::Limit { .. })));
    let complex = world_of_complex();
    let dataset = &complex.mapped.datasets()[0];
    let slab = Hyperslab::whole(&[2]);
    let transform = Transform { method: Method::Sqrt, axes: Axes::All, nan: NanPolicy::Propagate };
    let choice = Choice::default();
    let lazy = LazyArray::new(dataset, &slab, choice, Some(transform), &how);
    assert!(matches!(lazy, Err(Error::Undefined { op: "sqrt", .. })));
}

fn world_of_complex() -> World {
    world(DType::Complex64, &[2], &[2], Stored::Raw, Order::Packed, |_| vec![0; 8])
}
