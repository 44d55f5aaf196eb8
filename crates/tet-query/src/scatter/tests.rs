use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_format::{DType, Grid, Integrity};
use tet_io::Progress;

use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset};
use crate::coalesce::Coalesce;
use crate::copy::copy_box;
use crate::error::Error;
use crate::plan::plan;
use crate::selection::{Axis, AxisSlice, Hyperslab};
use crate::testing::{
    Order, Spread, Stored, World, product, selected, slabs, small_tuning, world, world_of,
};

/// Shape, chunk shape, and which of the slabs are looked at.
const WORLDS: &[(&[u64], &[u64], usize)] = &[
    (&[0], &[2], 1),
    (&[5], &[1], 1),
    (&[5], &[2], 1),
    (&[7], &[3], 1),
    (&[4], &[9], 1),
    (&[3, 4], &[1, 4], 7),
    (&[3, 4], &[2, 3], 7),
    (&[4, 4], &[4, 1], 11),
    (&[4, 5], &[3, 9], 11),
    (&[3, 3, 4], &[2, 2, 3], 1009),
    (&[4, 3, 3], &[1, 3, 3], 1009),
    (&[3, 2, 2, 3], &[2, 2, 1, 2], 49_999),
];

fn check(world: &World, how: &Execution, every: usize) {
    for slab in slabs(&world.shape, |number| number % every == 0) {
        let wanted: Vec<u8> = selected(&world.shape, &slab)
            .iter()
            .flat_map(|&at| u32::try_from(world.seen(at)).unwrap().to_le_bytes())
            .collect();
        let dataset = &world.mapped.datasets()[0];
        let plan = plan(dataset, &slab, how.coalesce).unwrap();
        let mut runs = Vec::new();
        dataset.read_runs(&slab, how, &mut |run| runs.push(run)).unwrap();
        world.counting.take_reads();
        for catalog in [&world.mapped, &world.positioned] {
            let array = dataset_of(catalog).read(&slab, how).unwrap();
            assert_eq!(array.bytes(), wanted, "{slab:?} {how:?}");
            let ranged = plan
                .chunks()
                .iter()
                .enumerate()
                .filter(|(_, read)| plan.is_ranged(read) && !read.place.is_absent());
            let in_part = ranged
                .filter(|(at, read)| !(plan.is_identity(read) && plan.is_whole(*at as u64)))
                .count();
            let is_checked = in_part == 0 || slab.is_empty();
            let wanted = if is_checked { Integrity::Verified } else { Integrity::Unchecked };
            assert_eq!(array.integrity, wanted, "{slab:?} {how:?}");
        }
        let selected = plan.element_count * plan.element_size;
        let is_stored = plan.chunks().iter().all(|read| !read.place.is_absent());
        assert!(!is_stored || selected <= runs.iter().map(|run| run.span.len()).sum(), "{slab:?}");
        runs.sort_unstable();
        assert_eq!(world.counting.take_reads(), runs, "{slab:?} {how:?}");
    }
}

/// Every source, storage, order, policy, budget and number of threads gives what a loop gives, and
/// what is read are the runs of the plan.
#[test]
fn what_is_read_is_what_a_loop_selects() {
    for &(shape, chunk_shape, every) in WORLDS {
        for stored in [Stored::Raw, Stored::Whole, Stored::Ranged] {
            for order in [Order::Packed, Order::Gaps(3), Order::Backwards] {
                let world = world(DType::UInt32, shape, chunk_shape, stored, order, |n| {
                    u32::try_from(n).unwrap().to_le_bytes().to_vec()
                });
                for (threads, memory_budget, gap_max) in
                    [(1, 1 << 30, 0), (1, 128, 7), (2, 1 << 30, 16), (3, 128, 1 << 20)]
                {
                    let coalesce = Coalesce { gap_max };
                    let how = Execution { threads, memory_budget, coalesce, ..small_tuning() };
                    check(&world, &how, every);
                }
            }
        }
    }
}

/// So does every grid whose edge chunks are stored whole, with chunks that are not stored and chunks
/// in several files; elements of chunks that are not stored are the fill value.
#[test]
fn padded_absent_and_scattered_chunks_are_read_as_a_loop_reads_them() {
    for &(shape, chunk_shape, every) in WORLDS {
        for grid in [Grid::new, Grid::padded] {
            let grid = grid(shape.into(), chunk_shape.into()).unwrap();
            for (hole_every, object_count) in [(None, 1), (Some(3), 1), (Some(2), 2), (None, 3)] {
                let spread = Spread { grid: grid.clone(), hole_every, object_count };
                for stored in [Stored::Raw, Stored::Whole, Stored::Ranged] {
                    let world = world_of(DType::UInt32, &spread, stored, Order::Gaps(3), |n| {
                        u32::try_from(n).unwrap().to_le_bytes().to_vec()
                    });
                    for (threads, memory_budget, gap_max) in [(1, 512, 7), (2, 1 << 30, 1 << 20)] {
                        let coalesce = Coalesce { gap_max };
                        let how = Execution { threads, memory_budget, coalesce, ..small_tuning() };
                        check(&world, &how, every * 3);
                    }
                }
            }
        }
    }
}

/// One bit changed anywhere in a raw world: a read of a whole chunk that has it is an error, on any
/// number of threads, for any budget, mapped or not; every other read is right but for that bit.
#[test]
fn a_changed_bit_of_a_chunk_that_is_read_whole_is_noticed() {
    let (shape, chunk_shape) = (&[5, 4], &[3, 4]);
    let element = |n| u16::try_from(n).unwrap().to_le_bytes().to_vec();
    let sound = world(DType::UInt16, shape, chunk_shape, Stored::Raw, Order::Packed, element);
    let mut refused = 0;
    for at in (8..8 + 2 * 5 * 4).step_by(7) {
        let world = sound.damaged(at);
        for (threads, memory_budget) in [(1, 1 << 30), (1, 128), (3, 1 << 30), (3, 128)] {
            let how = Execution { threads, memory_budget, ..small_tuning() };
            for slab in slabs(shape, |_| true) {
                for catalog in [&world.mapped, &world.positioned] {
                    let plan = plan(dataset_of(catalog), &slab, how.coalesce).unwrap();
                    let is_hit = plan.chunks().iter().enumerate().any(|(nth, read)| {
                        read.place.stored.range().contains(&(at as u64))
                            && plan.is_whole(nth as u64)
                    });
                    let read = dataset_of(catalog).read(&slab, &how);
                    assert_eq!(read.is_err(), is_hit && !slab.is_empty(), "{at} {slab:?} {how:?}");
                    refused += u32::from(read.is_err());
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

fn dataset_of(catalog: &Catalog) -> &Dataset {
    &catalog.datasets()[0]
}

/// A dataset belongs to the file that it was found in, whichever catalog reads it; and
/// a canceled read reads nothing, however small.
#[test]
fn a_dataset_is_read_from_its_own_file() {
    let of = |first: u8| {
        let element = |n| vec![first + u8::try_from(n).unwrap()];
        world(DType::UInt8, &[6], &[6], Stored::Raw, Order::Packed, element)
    };
    let (ones, tens) = (of(1), of(10));
    let slab = Hyperslab::whole(&[6]);
    let how = small_tuning();
    let read = dataset_of(&tens.mapped).read(&slab, &how).unwrap();
    assert_eq!(read.bytes(), [10, 11, 12, 13, 14, 15]);
    let reported = Arc::new(AtomicU64::new(0));
    let sum = reported.clone();
    let progress = Progress::new(move |done, _| sum.store(done, Ordering::Relaxed));
    let how = Execution { progress: progress.clone(), ..how };
    dataset_of(&ones.mapped).read(&slab, &how).unwrap();
    assert_eq!(reported.load(Ordering::Relaxed), 6);
    let how = Execution { progress: progress.with_cancel(Arc::new(AtomicBool::new(true))), ..how };
    let mut out = [0; 6];
    let read = dataset_of(&ones.mapped).read_into(&slab, &how, &mut out);
    assert!(matches!(read, Err(Error::Canceled)));
    assert_eq!(out, [0; 6], "nothing is read");
}

/// Every box of up to 2 x 3 x 3 elements of every size between every two layouts with strides that
/// are dense or spread.
#[test]
fn boxes_are_copied_element_by_element() {
    for size in [1, 2, 3, 4, 8, 16] {
        for counts in product(&[vec![1, 2], vec![1, 3], vec![1, 2, 3]]) {
            for from in [[9, 3, 1], [20, 6, 2], [1, 4, 13]] {
                for to in [[9, 3, 1], [40, 12, 3], [9, 3, 1]] {
                    check_copy(size, &counts, from, to);
                }
            }
        }
    }
}

fn check_copy(size: usize, counts: &[u64], from: [usize; 3], to: [usize; 3]) {
    let counts: Vec<usize> = counts.iter().map(|&count| usize::try_from(count).unwrap()).collect();
    let source: Vec<u8> = (0..120 * size).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let mut target = vec![0; 120 * size];
    copy_box(&counts, size, &source, &from, &mut target, &to);
    let mut wanted = vec![0; 120 * size];
    for a in 0..counts[0] {
        for b in 0..counts[1] {
            for c in 0..counts[2] {
                let source = &source[(a * from[0] + b * from[1] + c * from[2]) * size..][..size];
                let at = (a * to[0] + b * to[1] + c * to[2]) * size;
                wanted[at..at + size].copy_from_slice(source);
            }
        }
    }
    assert_eq!(target, wanted, "{size} {counts:?} {from:?} {to:?}");
}

/// A view is what a read copies, wherever there is one; none is of several chunks, of bytes with
/// gaps, of encoded bytes or of a file that has to be read.
#[test]
fn a_view_is_what_is_read() {
    let (shape, chunk_shape) = ([4, 6], [2, 6]);
    let element = |n: u64| u16::try_from(n).unwrap().to_le_bytes().to_vec();
    let of = |stored| world(DType::UInt16, &shape, &chunk_shape, stored, Order::Gaps(3), element);
    let (raw, whole) = (of(Stored::Raw), of(Stored::Whole));
    let mut viewed = 0;
    for slab in slabs(&shape, |_| true) {
        let Some(bytes) = dataset_of(&raw.mapped).view(&slab).unwrap() else { continue };
        viewed += 1;
        let read = dataset_of(&raw.positioned).read(&slab, &small_tuning()).unwrap();
        assert_eq!(&bytes[..], read.bytes(), "{slab:?}");
        assert!(dataset_of(&whole.mapped).view(&slab).unwrap().is_none());
        assert!(dataset_of(&raw.positioned).view(&slab).unwrap().is_none());
    }
    assert!(viewed > 50, "{viewed}");
    let slab = |rows: [u64; 2], columns: [u64; 2]| {
        let slice = |[start, stop]: [u64; 2]| AxisSlice { start, stop, step: 1, axis: Axis::Kept };
        Hyperslab::new(vec![slice(rows), slice(columns)], &shape).unwrap()
    };
    let is_viewed = |slab| dataset_of(&raw.mapped).view(&slab).unwrap().is_some();
    assert!(is_viewed(slab([2, 4], [0, 6])) && is_viewed(slab([1, 2], [2, 5])));
    assert!(!is_viewed(slab([1, 3], [0, 6])) && !is_viewed(slab([0, 2], [2, 5])));
}
