mod forms;
mod zone;

use tet_format::{DType, Grid};
use tet_io::Access;

use super::reduction_query;
use crate::budget::Execution;
use crate::coalesce::Coalesce;
use crate::fetch::Unverified;
use crate::op::{NanPolicy, Op};
use crate::reduction::{Params, Reduction};
use crate::scalar::Scalar;
use crate::selection::{Axis, AxisSlice, Hyperslab};
use crate::testing::{
    Order, Spread, Stored, World, linear_of, positions, product, slabs, small_tuning, world,
    world_of,
};
use crate::tuning::Tuning;
use crate::value::Reduced;

/// The operations that small whole numbers distinguish.
const OPS: [Op; 5] = [Op::Count, Op::Sum, Op::Mean, Op::Min, Op::Max];

/// Short requests to a server, of which tasks are done in several steps.
const FAR: Access = Access { depth: 2, gap_max: 8, request_len: 64 };

/// Shape, chunk shape, and which of the slabs are looked at.
const WORLDS: &[(&[u64], &[u64], usize)] = &[
    (&[0], &[2], 1),
    (&[7], &[3], 3),
    (&[5], &[9], 3),
    (&[3, 4], &[1, 4], 23),
    (&[4, 5], &[2, 3], 61),
    (&[5, 4], &[9, 1], 61),
    (&[3, 3, 4], &[2, 2, 3], 4001),
    (&[4, 3, 4], &[1, 3, 4], 4001),
];

/// The elements: small numbers in no order, exact in every type and every sum of them.
fn element(n: u64) -> u64 {
    n * 7919 % 101
}

/// The elements of every cell in order, by a loop over the selection.
fn cells(world: &World, slab: &Hyperslab, axes: &[usize]) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = slab.axes().iter().map(positions).collect();
    let split = |kept: bool| -> Vec<Vec<u64>> {
        let lists = lists.iter().enumerate();
        let lists = lists.map(
            |(axis, list)| {
                if axes.contains(&axis) == kept { vec![0] } else { list.clone() }
            },
        );
        product(&lists.collect::<Vec<_>>())
    };
    let cell = |kept: &Vec<u64>| {
        let folded = split(false);
        let elements = folded.iter().map(|folded| {
            let at: Vec<u64> = (0..world.shape.len())
                .map(|axis| if axes.contains(&axis) { folded[axis] } else { kept[axis] })
                .collect();
            element(world.seen(linear_of(&world.shape, &at)))
        });
        elements.collect()
    };
    split(true).iter().map(cell).collect()
}

/// The byte that a boolean is stored as: any but 0 is true.
fn truth_byte(element: u64) -> u8 {
    [0, 1, 2, 0xff][usize::try_from(element % 4).unwrap()]
}

#[allow(clippy::cast_precision_loss, reason = "the numbers are small")]
fn wanted(op: Op, cell: &[u64], dtype: DType) -> Scalar {
    let own = |value: u64| match dtype {
        DType::Float32 => Scalar::Float32(value as f32),
        DType::Bool => Scalar::Bool(value != 0),
        _ => Scalar::Int(value.into()),
    };
    let sum: u64 = cell.iter().sum();
    match op {
        Op::Count => Scalar::Int(cell.len() as i128),
        Op::Sum if dtype.is_float() => Scalar::Float64(sum as f64),
        Op::Sum => Scalar::Int(sum.into()),
        _ if cell.is_empty() => Scalar::Null,
        Op::Mean => Scalar::Float64(sum as f64 / cell.len() as f64),
        Op::Min => own(cell.iter().copied().min().unwrap()),
        Op::Max => own(cell.iter().copied().max().unwrap()),
        _ => unreachable!("not one of the operations here"),
    }
}

fn scalars(reduced: &Reduced) -> Vec<Scalar> {
    (0..reduced.values.len()).map(|at| reduced.values.get(at).unwrap()).collect()
}

fn check(world: &World, dtype: DType, every: usize) {
    let rank = world.shape.len();
    for slab in slabs(&world.shape, |number| number % every == 0) {
        for subset in 1..1_usize << rank {
            let axes: Vec<usize> = (0..rank).filter(|axis| subset >> axis & 1 == 1).collect();
            let mut cells = cells(world, &slab, &axes);
            if dtype == DType::Bool {
                let truth = |element: &mut u64| *element = u64::from(truth_byte(*element) != 0);
                cells.iter_mut().flatten().for_each(truth);
            }
            for op in OPS {
                let wanted: Vec<Scalar> =
                    cells.iter().map(|cell| wanted(op, cell, dtype)).collect();
                for nan in [NanPolicy::Propagate, NanPolicy::Skip] {
                    let reduction = Reduction::along(op, axes.clone()).with_nan(nan);
                    check_ways(world, &slab, &reduction, &wanted);
                }
            }
        }
    }
}

fn check_ways(world: &World, slab: &Hyperslab, reduction: &Reduction, wanted: &[Scalar]) {
    for catalog in [&world.mapped, &world.positioned] {
        let dataset = &catalog.datasets()[0];
        for (threads, memory_budget, gap_max, tuning, access) in [
            (1, 1 << 30, 0, Tuning::SMALL, Access::LOCAL),
            (3, 2048, 1 << 20, Tuning::SMALL, Access::LOCAL),
            (3, 4096, 1 << 20, Tuning::SMALL, FAR),
            (2, 1 << 30, 0, Tuning::default(), Access::LOCAL),
        ] {
            let coalesce = Coalesce { gap_max };
            let how =
                Execution { threads, memory_budget, coalesce, tuning, access, ..small_tuning() };
            let reduced = dataset.reduce(slab, reduction, &how).unwrap();
            assert_eq!(scalars(&reduced), wanted, "{slab:?} {reduction:?} {how:?}");
            let cells = reduced.shape.iter().product::<u64>();
            assert_eq!(cells, wanted.len() as u64);
        }
    }
}

/// Every operation over every set of axes gives what a loop gives, whatever the storage, the
/// source, the policy, the budget and the number of threads.
#[test]
fn what_is_folded_is_what_a_loop_folds() {
    for &(shape, chunk_shape, every) in WORLDS {
        for (stored, order) in [
            (Stored::Raw, Order::Packed),
            (Stored::Raw, Order::Gaps(3)),
            (Stored::Whole, Order::Backwards),
            (Stored::Ranged, Order::Packed),
        ] {
            let floats = world(DType::Float32, shape, chunk_shape, stored, order, |n| {
                f32::from(u8::try_from(element(n)).unwrap()).to_le_bytes().to_vec()
            });
            check(&floats, DType::Float32, every);
            let integers = world(DType::UInt16, shape, chunk_shape, stored, order, |n| {
                u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
            });
            check(&integers, DType::UInt16, every * 3);
            let truths = world(DType::Bool, shape, chunk_shape, stored, order, |n| {
                vec![truth_byte(element(n))]
            });
            check(&truths, DType::Bool, every * 3);
        }
    }
}

/// So are grids whose edge chunks are stored whole, with chunks that are not stored and chunks in
/// several files.
#[test]
fn padded_absent_and_scattered_chunks_are_folded_as_a_loop_folds_them() {
    for &(shape, chunk_shape, every) in WORLDS {
        let grid = Grid::padded(shape.into(), chunk_shape.into()).unwrap();
        for (hole_every, object_count) in [(None, 1), (Some(2), 1), (Some(3), 2)] {
            let spread = Spread { grid: grid.clone(), hole_every, object_count };
            for (stored, order) in [(Stored::Raw, Order::Packed), (Stored::Whole, Order::Backwards)]
            {
                let integers = world_of(DType::UInt16, &spread, stored, order, |n| {
                    u16::try_from(element(n)).unwrap().to_le_bytes().to_vec()
                });
                check(&integers, DType::UInt16, every * 7);
            }
        }
    }
}

/// Reductions that are asked for together have the bits that each has alone, though some would be
/// cut otherwise.
#[test]
fn bits_do_not_depend_on_company() {
    let shape = [5, 12, 7];
    let world = world(DType::Int64, &shape, &[2, 4, 7], Stored::Raw, Order::Packed, |n| {
        // A product with a zero in it fits.
        let wild = i64::try_from(element(n)).unwrap().pow(7) * i64::from(n % 3 != 0);
        wild.to_le_bytes().to_vec()
    });
    let dataset = &world.mapped.datasets()[0];
    let how = Execution { threads: 2, ..small_tuning() };
    for slab in slabs(&shape, |number| number % 4001 == 17) {
        for axes in [vec![], vec![0], vec![1], vec![0, 1], vec![0, 2], vec![1, 2], vec![0, 1, 2]] {
            for ops in [[Op::Var, Op::Product, Op::Mean], [Op::Product, Op::Mean, Op::Var]] {
                let asked = ops.map(|op| Reduction::along(op, axes.clone()));
                let alone = asked.each_ref().map(|one| dataset.reduce(&slab, one, &how));
                if alone.iter().any(Result::is_err) {
                    continue;
                }
                let together = dataset.reduce_all(&slab, &asked, &how).unwrap();
                for (found, alone) in together.iter().zip(alone) {
                    let alone = alone.unwrap();
                    assert_eq!(
                        format!("{found:?}"),
                        format!("{:?}", alone.value),
                        "{slab:?} {axes:?}"
                    );
                }
            }
        }
    }
}

/// A result too large to compute is an error of its cost too.
#[test]
fn too_many_cells_are_refused_before_they_are_computed() {
    let bytes = |n: u64| f64::from(u32::try_from(n).unwrap()).to_le_bytes().to_vec();
    let world = world(DType::Float64, &[40, 5], &[7, 5], Stored::Raw, Order::Packed, bytes);
    let dataset = &world.mapped.datasets()[0];
    let slab = Hyperslab::whole(&world.shape);
    for op in [Op::Sum, Op::Count, Op::Median, Op::Histogram, Op::Covariance] {
        let reduction = Reduction { params: Params::for_op(op), ..Reduction::along(op, [1]) };
        for (result_max, fits) in [(1 << 20, true), (16 * 39, false)] {
            let how = Execution { result_max, ..small_tuning() };
            let found = dataset.reduce(&slab, &reduction, &how);
            let cost = dataset.reduce_cost(&slab, &reduction, &how);
            assert_eq!(found.is_ok(), fits, "{op:?}");
            let (found, cost) = (found.err(), cost.err());
            assert_eq!(format!("{found:?}"), format!("{cost:?}"), "{op:?}");
        }
    }
    // A matrix has the square of its variables.
    let (how, reduction) = (
        Execution { result_max: 16 * 1599, ..small_tuning() },
        Reduction::along(Op::Covariance, [1]),
    );
    let found = dataset.reduce(&slab, &reduction, &how).unwrap_err();
    let cost = dataset.reduce_cost(&slab, &reduction, &how).unwrap_err();
    assert_eq!(found.to_string(), cost.to_string());
}

/// A number that rounds differently in every order.
fn wild(n: u64) -> Vec<u8> {
    let root = f64::from(u32::try_from(element(n)).unwrap()).sqrt();
    (root * 10_f64.powi(i32::try_from(n % 40).unwrap() - 20)).to_le_bytes().to_vec()
}

/// Sums of numbers that round differently in every order have the same bits everywhere.
#[test]
fn bits_do_not_depend_on_the_way() {
    let shape = [5, 6, 7];
    for (stored, chunk_shape) in
        [(Stored::Raw, [2, 4, 7]), (Stored::Raw, [5, 6, 2]), (Stored::Whole, [3, 5, 4])]
    {
        let world = world(DType::Float64, &shape, &chunk_shape, stored, Order::Gaps(5), wild);
        for slab in slabs(&shape, |number| number % 2003 == 17) {
            for axes in [vec![], vec![0], vec![1], vec![2], vec![0, 2], vec![1, 2]] {
                let reduction = Reduction::along(Op::Sum, axes);
                let mut bits: Vec<String> = Vec::new();
                for catalog in [&world.mapped, &world.positioned] {
                    let dataset = &catalog.datasets()[0];
                    for (threads, memory_budget, gap_max, access) in [
                        (1, 1 << 30, 0, Access::LOCAL),
                        (2, 1 << 30, 64, Access::LOCAL),
                        (3, 4096, 1 << 20, Access::LOCAL),
                        (1, 2560, 0, FAR),
                        (2, 4096, 64, FAR),
                        (3, 1 << 30, 1 << 20, FAR),
                    ] {
                        let coalesce = Coalesce { gap_max };
                        let how = Execution {
                            threads,
                            memory_budget,
                            coalesce,
                            access,
                            ..small_tuning()
                        };
                        let reduced = dataset.reduce(&slab, &reduction, &how).unwrap();
                        // As many digits as tell a number from every other.
                        bits.push(format!("{:?}", scalars(&reduced)));
                    }
                }
                assert!(bits.windows(2).all(|pair| pair[0] == pair[1]), "{slab:?} {reduction:?}");
            }
        }
    }
}

/// Tasks that are done in several steps have the bits of those that are done in one.
#[test]
fn bits_do_not_depend_on_steps() {
    let mut longer = [0; 2];
    for (nth, stored, shape, chunk_shape) in [
        (0, Stored::Raw, [48, 3, 4], [48, 3, 4]),
        (0, Stored::Raw, [48, 8, 6], [48, 4, 6]),
        (1, Stored::Raw, [48, 3, 4], [48, 3, 1]),
        (1, Stored::Raw, [48, 3, 4], [6, 3, 2]),
        (1, Stored::Whole, [48, 8, 6], [4, 3, 6]),
        (1, Stored::Ranged, [50, 8, 6], [9, 8, 2]),
    ] {
        let world = world(DType::Float64, &shape, &chunk_shape, stored, Order::Gaps(5), wild);
        let dataset = &world.mapped.datasets()[0];
        for (first, step) in [(0, 1), (7, 1), (1, 2)] {
            let slice = AxisSlice { start: first, stop: shape[0], step, axis: Axis::Kept };
            let mut axes = Hyperslab::whole(&shape).axes().to_vec();
            axes[0] = slice;
            let slab = Hyperslab::new(axes, &shape).unwrap();
            for op in [Op::Sum, Op::Var, Op::Product, Op::ArgMax, Op::Median] {
                for axes in [vec![0], vec![0, 1], vec![0, 2]] {
                    let reduction = Reduction::along(op, axes);
                    let wanted = dataset.reduce(&slab, &reduction, &small_tuning()).unwrap();
                    for (threads, memory_budget) in [(1, 1 << 12), (3, 1 << 13), (2, 1 << 15)] {
                        let near = Execution { threads, memory_budget, ..small_tuning() };
                        let how = Execution { access: FAR, ..near.clone() };
                        let Ok(found) = dataset.reduce(&slab, &reduction, &how) else {
                            // Medians hold their elements.
                            assert!(op == Op::Median && memory_budget < 1 << 15);
                            continue;
                        };
                        assert_eq!(
                            format!("{:?}", scalars(&found)),
                            format!("{:?}", scalars(&wanted)),
                            "{shape:?} {chunk_shape:?} {slab:?} {reduction:?} {how:?}"
                        );
                        let steps = |how| {
                            let unverified = Unverified::default();
                            let query =
                                reduction_query(dataset, &slab, &reduction, how, &unverified);
                            query.unwrap().0.step_count(op).unwrap()
                        };
                        longer[nth] += usize::from(steps(&near) < steps(&how));
                    }
                }
            }
        }
    }
    assert!(longer.iter().all(|&count| 20 < count), "{longer:?}");
}
