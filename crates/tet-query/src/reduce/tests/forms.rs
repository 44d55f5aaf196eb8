//! Groups, picks, windows and filters in all combinations of axes, against a loop over lists.

use tet_format::DType;

use super::{OPS, check_ways, element, wanted};
use crate::error::Error;
use crate::op::Op;
use crate::reduction::{
    AxisGroups, AxisPicks, Compare, Filter, Number, Params, Reduction, Window, WindowAlign,
    WindowMode,
};
use crate::scalar::Scalar;
use crate::selection::Hyperslab;
use crate::testing::{
    Order, Stored, World, linear_of, positions, product, slabs, small_tuning, world,
};
use crate::value::Details;

/// Roles of an axis in a test.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Folded,
    Each,
    Groups,
    Picks,
    FoldedPicks,
    Bins(u64, WindowAlign, bool),
    Rolling { size: u64, step: u64, pad: bool, align: WindowAlign },
}

const FORMS: &[Form] = &[
    Form::Folded,
    Form::Each,
    Form::Groups,
    Form::Picks,
    Form::FoldedPicks,
    Form::Bins(2, WindowAlign::Start, false),
    Form::Bins(2, WindowAlign::End, true),
    Form::Bins(1, WindowAlign::Start, false),
    Form::Rolling { size: 2, step: 1, pad: false, align: WindowAlign::Start },
    Form::Rolling { size: 3, step: 1, pad: true, align: WindowAlign::Start },
    Form::Rolling { size: 3, step: 2, pad: true, align: WindowAlign::End },
    Form::Rolling { size: 1, step: 3, pad: false, align: WindowAlign::Start },
];

/// The number that fills windows up.
const PAD: u64 = 7;

/// The selected positions of every cell along one axis, and its number of pads.
type AxisCells = Vec<(Vec<u64>, u64)>;

impl Form {
    fn is_window(self) -> bool {
        matches!(self, Form::Bins(..) | Form::Rolling { .. })
    }

    /// By counting, position by position.
    fn cells(self, count: u64) -> AxisCells {
        let all: Vec<u64> = (0..count).collect();
        let plain = |lists: Vec<Vec<u64>>| lists.into_iter().map(|list| (list, 0)).collect();
        let odd = || all.iter().copied().filter(|at| at % 2 == 1).collect::<Vec<u64>>();
        let signed = |from: i64, size: u64, pad: bool| {
            let inside = |at: &i64| 0 <= *at && *at < i64::try_from(count).unwrap();
            let list: Vec<u64> =
                (from..from + size as i64).filter(inside).map(|at| at as u64).collect();
            let missing = size - list.len() as u64;
            (list, if pad { missing } else { 0 })
        };
        let (n, size_of) = (count as i64, |size: u64| size as i64);
        match self {
            Form::Folded => plain(vec![all]),
            Form::Each => plain(all.iter().map(|&at| vec![at]).collect()),
            Form::Groups => plain((0..3).map(|g| groups(count, g)).collect()),
            Form::Picks => plain(odd().into_iter().map(|at| vec![at]).collect()),
            Form::FoldedPicks => plain(vec![odd()]),
            Form::Bins(size, align, pad) => {
                let bins = count.div_ceil(size) as i64;
                let first = if align == WindowAlign::Start { 0 } else { n - bins * size_of(size) };
                (0..bins).map(|bin| signed(first + bin * size_of(size), size, pad)).collect()
            }
            Form::Rolling { size, step, pad, align } => {
                let (first, last) = match (pad, align) {
                    (false, _) => (0, n - size_of(size)),
                    (true, WindowAlign::Start) => (1 - size_of(size), n - size_of(size)),
                    (true, WindowAlign::End) => (0, n - 1),
                };
                let step = usize::try_from(step).unwrap();
                (first..=last).step_by(step).map(|from| signed(from, size, pad)).collect()
            }
        }
    }

    /// Asks for it.
    fn ask(self, axis: usize, count: u64, reduction: &mut Reduction) {
        let crate::reduction::Axes::Some(folded) = &mut reduction.axes else { unreachable!() };
        let window = |size, step, mode, pad: bool, align| {
            let pad = pad.then_some(Number::Int(PAD.into()));
            Some(Window { axis, size, step, mode, pad, align, min_count: None })
        };
        if matches!(self, Form::Folded | Form::FoldedPicks) {
            folded.push(axis);
        }
        match self {
            Form::Folded | Form::Each => {}
            Form::Groups => {
                let group_of = (0..count).map(group_of).collect();
                let labels = ["a", "b", "c"].map(str::to_owned).to_vec().into();
                reduction.groups.push(AxisGroups { axis, group_of, labels, by: None });
            }
            Form::Picks | Form::FoldedPicks => {
                let positions = (0..count).filter(|at| at % 2 == 1).collect();
                reduction.picks.push(AxisPicks { axis, positions });
            }
            Form::Bins(size, align, pad) => {
                reduction.window = window(size, size, WindowMode::Bins, pad, align);
            }
            Form::Rolling { size, step, pad, align } => {
                reduction.window = window(size, step, WindowMode::Rolling, pad, align);
            }
        }
    }
}

/// Groups 0 and 2 take turns, group 1 stays empty, every fifth position is in none.
fn group_of(position: u64) -> u32 {
    if position % 5 == 4 { AxisGroups::NONE } else { u32::try_from(position % 2 * 2).unwrap() }
}

fn groups(count: u64, group: u32) -> Vec<u64> {
    (0..count).filter(|&at| group_of(at) == group).collect()
}

/// The elements of every cell, pads too.
fn cells(
    shape: &[u64],
    slab: &Hyperslab,
    forms: &[Form],
    passes: impl Fn(u64) -> bool,
) -> Vec<Vec<u64>> {
    let counts = slab.counts();
    let selected: Vec<Vec<u64>> = slab.axes().iter().map(positions).collect();
    let axes: Vec<AxisCells> = forms.iter().zip(&counts).map(|(form, &n)| form.cells(n)).collect();
    let numbers: Vec<Vec<u64>> =
        axes.iter().map(|cells| (0..cells.len() as u64).collect()).collect();
    let cell = |at: &Vec<u64>| {
        let of = |(axis, &nth): (usize, &u64)| &axes[axis][usize::try_from(nth).unwrap()];
        let lists: Vec<Vec<u64>> = at
            .iter()
            .enumerate()
            .map(|it| {
                let axis = it.0;
                of(it).0.iter().map(|&nth| selected[axis][usize::try_from(nth).unwrap()]).collect()
            })
            .collect();
        let mut elements: Vec<u64> = product(&lists)
            .iter()
            .map(|at| element(linear_of(shape, at)))
            .filter(|&it| passes(it))
            .collect();
        let pads: u64 = at.iter().enumerate().map(|it| of(it).1).sum();
        let others: usize = at
            .iter()
            .enumerate()
            .filter(|it| !forms[it.0].is_window())
            .map(|it| of(it).0.len())
            .product();
        elements.extend(std::iter::repeat_n(PAD, usize::try_from(pads).unwrap() * others));
        elements
    };
    product(&numbers).iter().map(cell).collect()
}

/// All forms of all axes with at most one window, as many as `every` leaves.
fn combinations(rank: usize, every: usize) -> Vec<Vec<Form>> {
    let forms: Vec<Vec<u64>> = vec![(0..FORMS.len() as u64).collect(); rank];
    let form = |&nth: &u64| FORMS[usize::try_from(nth).unwrap()];
    let all = product(&forms).into_iter().map(|at| at.iter().map(form).collect::<Vec<Form>>());
    let fits = |forms: &Vec<Form>| {
        let windows = forms.iter().filter(|form| form.is_window()).count();
        windows == 0 || windows == 1 && !forms.contains(&Form::Groups)
    };
    all.filter(fits).step_by(every).collect()
}

fn asked(op: Op, slab: &Hyperslab, forms: &[Form]) -> Reduction {
    let mut reduction = Reduction::along(op, vec![]);
    for (axis, form) in forms.iter().enumerate() {
        form.ask(axis, slab.counts()[axis], &mut reduction);
    }
    reduction
}

fn check(world: &World, every_slab: usize, every_form: usize) {
    let rank = world.shape.len();
    for slab in slabs(&world.shape, |number| number % every_slab == 0) {
        for (number, forms) in combinations(rank, every_form).iter().enumerate() {
            for filtered in [false, true] {
                let passes = |element: u64| !filtered || element > 20;
                let cells = cells(&world.shape, &slab, forms, passes);
                let op = OPS[number % OPS.len()];
                let mut reduction = asked(op, &slab, forms);
                reduction.filter = filtered.then(|| Filter {
                    tests: vec![(Compare::Gt, Number::Int(20))],
                    ..Filter::default()
                });
                let dtype = world.mapped.datasets()[0].dtype.unwrap();
                let wanted: Vec<Scalar> =
                    cells.iter().map(|cell| wanted(op, cell, dtype)).collect();
                check_ways(world, &slab, &reduction, &wanted);
            }
        }
    }
}

/// A pad has no place, so no place is sought among pads.
#[test]
fn places_are_not_sought_among_pads() {
    let world = world(DType::UInt16, &[13], &[5], Stored::Raw, Order::Packed, |n| {
        u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
    });
    let slab = Hyperslab::whole(&world.shape);
    let dataset = &world.mapped.datasets()[0];
    for op in [Op::ArgMin, Op::ArgMax] {
        for form in FORMS.iter().filter(|form| form.is_window()) {
            let reduction = asked(op, &slab, &[*form]);
            let padded = reduction.window.as_ref().is_some_and(|window| window.pad.is_some());
            let found = dataset.reduce(&slab, &reduction, &small_tuning());
            let refused = matches!(found, Err(Error::NoPlace { .. }));
            assert_eq!(refused, padded, "{form:?}");
        }
    }
}

/// Operations that need all elements of a cell at once have no windows; the error comes before any
/// read.
#[test]
fn order_statistics_and_histograms_have_no_windows() {
    let world = world(DType::UInt16, &[13], &[5], Stored::Raw, Order::Packed, |n| {
        u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
    });
    let slab = Hyperslab::whole(&world.shape);
    let dataset = &world.mapped.datasets()[0];
    for op in [Op::Median, Op::Quantile, Op::Histogram, Op::Sum] {
        let reduction = asked(op, &slab, &[Form::Bins(4, WindowAlign::Start, false)]);
        let params = Params { q: vec![0.25], one_q: true, ..Params::for_op(op) };
        let reduction = Reduction { params, ..reduction };
        let found = dataset.reduce(&slab, &reduction, &small_tuning()).err();
        let cost = dataset.reduce_cost(&slab, &reduction, &small_tuning()).err();
        for error in [found, cost] {
            assert_eq!(matches!(error, Some(Error::Windowed { .. })), op != Op::Sum, "{op:?}");
            assert_eq!(error.is_some(), op != Op::Sum, "{op:?}: {error:?}");
        }
    }
}

/// Pads are counted, not folded one by one, and too many to count are refused.
#[test]
fn a_window_is_filled_up_however_long_it_is() {
    let world = world(DType::Int64, &[3], &[2], Stored::Raw, Order::Packed, |n| {
        i64::try_from(element(n)).unwrap().to_le_bytes().to_vec()
    });
    let slab = Hyperslab::whole(&world.shape);
    let dataset = &world.mapped.datasets()[0];
    let ask = |op, size| {
        let (mode, align) = (WindowMode::Bins, WindowAlign::Start);
        let pad = Some(Number::Int(5));
        let window = Window { axis: 0, size, step: size, mode, pad, align, min_count: None };
        let reduction = Reduction { window: Some(window), ..Reduction::all(op) };
        dataset.reduce(&slab, &reduction, &small_tuning())
    };
    let sum: i128 = (0..3).map(|n| i128::from(element(n))).sum();
    for size in [4, 1000, (1 << 48) - 1, 1 << 48] {
        let pads = i128::from(size) - 3;
        let value = |op| ask(op, size).unwrap().values.get(0).unwrap();
        assert_eq!(value(Op::Count), Scalar::Int(size.into()));
        assert_eq!(value(Op::Sum), Scalar::Int(sum + 5 * pads));
        let mean = (sum + 5 * pads) as f64 / size as f64;
        assert_eq!(value(Op::Mean), Scalar::Float64(mean));
    }
    for op in [Op::Count, Op::Sum] {
        assert!(matches!(ask(op, (1 << 48) + 1), Err(Error::Limit { .. })));
    }
}

#[test]
fn every_form_folds_what_a_loop_folds() {
    let worlds: &[(&[u64], &[u64], usize, usize)] = &[
        (&[13], &[5], 7, 1),
        (&[6, 5], &[4, 2], 97, 3),
        (&[5, 7], &[5, 1], 101, 4),
        (&[4, 5, 3], &[2, 5, 2], 4999, 23),
    ];
    for &(shape, chunk_shape, every_slab, every_form) in worlds {
        for (stored, order) in [(Stored::Raw, Order::Gaps(3)), (Stored::Whole, Order::Packed)] {
            let floats = world(DType::Float32, shape, chunk_shape, stored, order, |n| {
                f32::from(u8::try_from(element(n)).unwrap()).to_le_bytes().to_vec()
            });
            check(&floats, every_slab, every_form);
            let integers = world(DType::UInt16, shape, chunk_shape, stored, order, |n| {
                u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
            });
            check(&integers, every_slab * 3, every_form);
        }
    }
}

/// Whether the places of a reduction are those of the largest element of every cell.
fn check_places(world: &World, slab: &Hyperslab, forms: &[Form]) {
    let (shape, counts) = (&world.shape, slab.counts());
    let dataset = &world.mapped.datasets()[0];
    let reduction = asked(Op::ArgMax, slab, forms);
    let reduced = dataset.reduce(slab, &reduction, &small_tuning()).unwrap();
    let Details::Places(places) = &reduced.details else { panic!("an extremum has places") };
    let selected: Vec<Vec<u64>> = slab.axes().iter().map(positions).collect();
    let numbers = forms.iter().zip(&counts);
    let numbers: Vec<Vec<u64>> =
        numbers.map(|(form, &n)| (0..form.cells(n).len() as u64).collect()).collect();
    let cells = cells(shape, slab, forms, |_| true);
    assert_eq!(places.len(), cells.len());
    for ((place, elements), number) in places.iter().zip(&cells).zip(product(&numbers)) {
        let Some(&largest) = elements.iter().max() else {
            assert!(place.is_empty());
            continue;
        };
        assert_eq!(place.len(), reduced.axes.len(), "{forms:?}");
        let shown = |axis: usize| reduced.axes.iter().position(|&shown| shown == axis);
        let nth = |axis: usize| match (shown(axis), forms[axis]) {
            (Some(at), _) => place[at],
            (None, Form::Each) => number[axis],
            (None, Form::Picks) => number[axis] * 2 + 1,
            (None, form) => {
                assert!(!slab.axes()[axis].is_kept(), "{form:?} has no position");
                0
            }
        };
        let at: Vec<u64> = (0..shape.len())
            .map(|axis| selected[axis][usize::try_from(nth(axis)).unwrap()])
            .collect();
        assert_eq!(element(linear_of(shape, &at)), largest, "{slab:?} {forms:?}");
    }
}

#[test]
fn places_count_along_the_axes_of_the_answer() {
    for (shape, every_slab, every_form) in [(vec![13], 7, 1), (vec![6, 5], 97, 1)] {
        let world =
            world(DType::UInt16, &shape, &[4, 2][..shape.len()], Stored::Raw, Order::Packed, |n| {
                u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
            });
        for slab in slabs(&shape, |number| number % every_slab == 0) {
            let padded = |form: &Form| {
                matches!(form, Form::Bins(_, _, true) | Form::Rolling { pad: true, .. })
            };
            let forms = combinations(shape.len(), every_form);
            for forms in forms.iter().filter(|forms| !forms.iter().any(padded)) {
                check_places(&world, &slab, forms);
            }
        }
    }
}
