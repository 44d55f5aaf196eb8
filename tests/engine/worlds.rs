//! Small worlds, all of them: every shape up to rank 3 and extent 4, every chunk shape, every
//! selection, against index loops; every reduction against the oracle.

use tet_query::{
    Axes, Axis, AxisSlice, Catalog, Dataset, Error, Hyperslab, NanPolicy, Number, Op, Params,
    Reduced, Reduction, Scalar,
};
use tet_tests::ask;
use tet_tests::assemble::{self, Sheet, Stored, every_coord};
use tet_tests::naive::{self, Cell};
use tet_tests::values::{TYPES, plain};

const EXTENT_MAX: u64 = 4;

/// One dataset of one shape in one chunk shape.
struct World {
    sheet: assemble::Dataset,
    catalog: Catalog,
}

impl World {
    fn new(shape: &[u64], chunk_shape: &[u64], number: usize) -> World {
        let (tag, name, element_len) = TYPES[number % TYPES.len()];
        let stored = if number.is_multiple_of(3) { Stored::Frame } else { Stored::Raw };
        let sheet = assemble::Dataset::new(name, tag, element_len, shape)
            .chunked(chunk_shape)
            .stored(stored);
        World::from_sheet(sheet)
    }

    fn from_sheet(sheet: assemble::Dataset) -> World {
        let file = Sheet::new(std::slice::from_ref(&sheet)).assemble();
        World { sheet, catalog: ask::open_bytes(&file.bytes).unwrap() }
    }

    fn dataset(&self) -> &Dataset {
        &self.catalog.datasets()[0]
    }

    /// Reads `slab` and compares it with loops over positions.
    fn check_read(&self, slab: &Hyperslab) {
        let found = self.dataset().read(slab, &ask::small()).unwrap();
        assert_eq!(found.shape(), &slab.kept_shape(), "{:?} {slab:?}", self.sheet.shape);
        let wanted = self.selected(slab);
        let chunk_shape = &self.sheet.chunk_shape;
        assert_eq!(found.bytes(), wanted, "{:?} by {chunk_shape:?}: {slab:?}", self.sheet.shape);
    }

    fn selected(&self, slab: &Hyperslab) -> Vec<u8> {
        let counts = slab.counts();
        let width = usize::try_from(self.sheet.element_len).unwrap();
        let mut out = Vec::new();
        for position in every_coord(&counts) {
            let mut linear = 0;
            for (axis, slice) in slab.axes().iter().enumerate() {
                let at = slice.start + position[axis] * slice.step;
                linear = linear * self.sheet.shape[axis] + at;
            }
            let at = usize::try_from(linear).unwrap() * width;
            out.extend(&self.sheet.elements[at..at + width]);
        }
        out
    }

    /// Reduces `slab` in every way over these axes and compares with the oracle.
    fn check_reduce(&self, slab: &Hyperslab, axes: &Axes) {
        let matrix = |op| matches!(op, Op::Covariance | Op::Correlation);
        for &op in Op::ALL.iter().filter(|&&op| !matrix(op)) {
            for nan in [NanPolicy::Propagate, NanPolicy::Skip] {
                // Operations that skip NaN by their name do not do so twice.
                if nan == NanPolicy::Propagate || !op.skips_nan() {
                    let reduction = Reduction { axes: axes.clone(), ..asked(op).with_nan(nan) };
                    self.check(slab, &reduction);
                }
            }
        }
        // A matrix takes one axis of two and something along both.
        let one =
            matches!(axes, Axes::Some(axes) if axes.len() == 1 && slab.axes()[axes[0]].is_kept());
        if slab.kept_shape().rank() == 2 && one && !slab.is_empty() {
            for op in [Op::Covariance, Op::Correlation] {
                self.check(slab, &Reduction { axes: axes.clone(), ..Reduction::all(op) });
            }
        }
    }

    fn check(&self, slab: &Hyperslab, reduction: &Reduction) {
        let place = || format!("{reduction:?} {slab:?} by {:?}", self.sheet.chunk_shape);
        let found = self.dataset().reduce(slab, reduction, &ask::small());
        let wanted = naive::reduce(self.dataset(), slab, reduction);
        let (found, wanted) = match (found, wanted) {
            (Ok(found), Ok(wanted)) => (found, wanted),
            (Err(Error::Overflow { .. }), Err(Error::Overflow { .. })) => return,
            // Bins over infinite elements.
            (Err(Error::Histogram { .. }), Ok(_)) if reduction.op == Op::Histogram => return,
            (found, wanted) => panic!("{found:?} {wanted:?} {}", place()),
        };
        let cells = cells(&found);
        let agree = cells.len() == wanted.len()
            && cells.iter().zip(&wanted).all(|(&found, &wanted)| near(reduction.op, found, wanted));
        assert!(agree, "{cells:?}, not {wanted:?}: {}", place());
        assert_eq!(found.count, slab.element_count().unwrap(), "{}", place());
    }
}

/// The operation over all axes, with the numbers it takes.
fn asked(op: Op) -> Reduction {
    let params = Params {
        ddof: 0,
        fill: Some(Number::Int(-6)),
        q: vec![0.0, 0.3, 1.0],
        bins: 3,
        ..Params::default()
    };
    Reduction { params, ..Reduction::all(op) }
}

/// Whether two cells are the same, up to a few roundings where the operation rounds.
fn near(op: Op, found: Cell, wanted: Cell) -> bool {
    let rounds = matches!(op.plain(), Op::Var | Op::Std | Op::NormL1 | Op::NormL2 | Op::Product)
        || matches!(op, Op::Covariance | Op::Correlation);
    match (found, wanted) {
        (Cell::Float(found), Cell::Float(wanted)) if rounds && wanted.is_finite() => {
            // A spread around a mean is as exact as the elements are large, which is 20 here.
            (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0)
        }
        _ => found == wanted,
    }
}

/// The cells of a result as the oracle writes them.
fn cells(reduced: &Reduced) -> Vec<Cell> {
    let cell = |at| match reduced.values.get(at).unwrap() {
        Scalar::Null => Cell::Null,
        Scalar::Int(integer) => Cell::Int(integer),
        Scalar::Bool(truth) => Cell::Int(truth.into()),
        other => Cell::Float(other.to_f64().unwrap()),
    };
    (0..reduced.values.len()).map(cell).collect()
}

/// Every slice of an axis that selects other positions than the ones before it, and the empty one.
fn slices(extent: u64) -> Vec<AxisSlice> {
    let mut out = vec![AxisSlice { start: 0, stop: 0, ..AxisSlice::whole(extent) }];
    let mut seen = Vec::new();
    for start in 0..extent {
        out.push(AxisSlice { start, stop: start + 1, step: 1, axis: Axis::Dropped });
        for stop in start + 1..=extent {
            for step in 1..=extent {
                let slice = AxisSlice { start, stop, step, axis: Axis::Kept };
                let positions: Vec<u64> =
                    (0..slice.count()).map(|n| slice.start + n * slice.step).collect();
                if !seen.contains(&positions) {
                    seen.push(positions);
                    out.push(slice);
                }
            }
        }
    }
    out
}

/// Every shape of this rank with every chunk shape: up to the shape, and one beyond it.
fn worlds(rank: usize, extent_max: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
    let mut out = Vec::new();
    for shape in every_coord(&vec![extent_max; rank]) {
        let shape: Vec<u64> = shape.iter().map(|extent| extent + 1).collect();
        for chunk_shape in every_coord(&shape) {
            out.push((shape.clone(), chunk_shape.iter().map(|extent| extent + 1).collect()));
        }
        out.push((shape.clone(), shape.iter().map(|extent| extent + 3).collect()));
    }
    out
}

/// Every set of axes.
fn axes_sets(rank: usize) -> Vec<Axes> {
    (1..1_usize << rank)
        .map(|set| Axes::Some((0..rank).filter(|axis| set >> axis & 1 == 1).collect()))
        .collect()
}

fn check_all(rank: usize, extent_max: u64) {
    let each: Vec<Vec<AxisSlice>> = (0..=extent_max).map(slices).collect();
    for (number, (shape, chunk_shape)) in worlds(rank, extent_max).into_iter().enumerate() {
        let world = World::new(&shape, &chunk_shape, number);
        let choices: Vec<&Vec<AxisSlice>> =
            shape.iter().map(|&extent| &each[usize::try_from(extent).unwrap()]).collect();
        let counts: Vec<u64> = choices.iter().map(|slices| slices.len() as u64).collect();
        for chosen in every_coord(&counts) {
            let axes = chosen
                .iter()
                .zip(&choices)
                .map(|(&at, slices)| slices[usize::try_from(at).unwrap()])
                .collect();
            world.check_read(&Hyperslab::new(axes, &shape).unwrap());
        }
    }
}

#[test]
fn every_read_of_rank_1() {
    check_all(1, EXTENT_MAX);
}

#[test]
fn every_read_of_rank_2() {
    check_all(2, EXTENT_MAX);
}

#[test]
fn every_read_of_rank_3() {
    check_all(3, EXTENT_MAX);
}

/// Slabs in which every slice of every axis occurs, with different companions in each world.
fn some_slabs(shape: &[u64], number: usize) -> Vec<Hyperslab> {
    let each: Vec<Vec<AxisSlice>> = shape.iter().map(|&extent| slices(extent)).collect();
    let rounds = each.iter().map(Vec::len).max().unwrap();
    (0..rounds)
        .map(|round| {
            let pick = |(axis, slices): (usize, &Vec<AxisSlice>)| {
                slices[(round * [1, 5, 7][axis] + number * axis) % slices.len()]
            };
            Hyperslab::new(each.iter().enumerate().map(pick).collect(), shape).unwrap()
        })
        .collect()
}

#[test]
fn every_reduction_of_rank_1_and_2() {
    for rank in 1..=2 {
        for (number, (shape, chunk_shape)) in worlds(rank, EXTENT_MAX).into_iter().enumerate() {
            let world = World::new(&shape, &chunk_shape, number);
            for slab in some_slabs(&shape, number) {
                for axes in axes_sets(rank) {
                    world.check_reduce(&slab, &axes);
                }
            }
        }
    }
}

#[test]
fn every_reduction_of_rank_3() {
    for (number, (shape, chunk_shape)) in worlds(3, EXTENT_MAX).into_iter().enumerate() {
        let world = World::new(&shape, &chunk_shape, number);
        let slabs = some_slabs(&shape, number);
        for axes in axes_sets(3) {
            world.check_reduce(&Hyperslab::whole(&shape), &axes);
        }
        world.check_reduce(&slabs[number % slabs.len()], &axes_sets(3)[number % 7]);
    }
}

/// Worlds of floats in which every second element is odd.
#[test]
fn every_reduction_of_odd_floats() {
    let odd: [&[u8]; 4] = [&[0, 0x7e], &[0, 0x7c], &[0, 0xfc], &[0, 0x80]];
    for (number, (shape, chunk_shape)) in worlds(2, EXTENT_MAX).into_iter().enumerate() {
        let mut sheet = assemble::Dataset::new("odd", 9, 2, &shape).chunked(&chunk_shape);
        for (at, element) in sheet.elements.chunks_mut(2).enumerate() {
            if at % 2 == number % 2 {
                element.copy_from_slice(odd[(at / 2 + number / 2) % odd.len()]);
            }
        }
        let world = World::from_sheet(sheet);
        for slab in some_slabs(&shape, number) {
            for axes in axes_sets(2) {
                world.check_reduce(&slab, &axes);
            }
        }
    }
}

#[test]
fn a_zero_extent_reads_and_reduces_to_nothing() {
    for shape in [[0, 3], [3, 0], [0, 0]] {
        let world = World::new(&shape, &[2, 2], 1);
        let slab = Hyperslab::whole(&shape);
        world.check_read(&slab);
        for axes in axes_sets(2) {
            world.check_reduce(&slab, &axes);
        }
    }
}

#[test]
fn values_of_a_world_differ() {
    for (tag, name, element_len) in TYPES {
        let bytes = plain(tag, 64);
        let mut elements: Vec<&[u8]> =
            bytes.chunks(usize::try_from(element_len).unwrap()).collect();
        elements.sort_unstable();
        elements.dedup();
        assert!(elements.len() > 40, "{name} has {} different values", elements.len());
    }
}
