use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use tet_format::DType;

use super::*;
use crate::coalesce::Coalesce;
use crate::error::Error;
use crate::plan::plan;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, world};

/// A plan of nine chunks.
fn planned() -> ReadPlan {
    let element = |at| vec![u8::try_from(at).unwrap()];
    let world = world(DType::UInt8, &[9], &[1], Stored::Raw, Order::Packed, element);
    let slab = Hyperslab::whole(&world.shape);
    plan(&world.mapped.datasets()[0], &slab, Coalesce::DEFAULT).unwrap()
}

#[test]
fn each_chunk_is_compared_once_and_told_to_all() {
    let plan = planned();
    let ahead = Ahead::new(&plan);
    let counts: Vec<AtomicU64> = (0..9).map(AtomicU64::new).collect();
    let wanted = |read: &ChunkRead| (read.linear == 4).then_some((1, 2));
    let compare = |read: &ChunkRead| {
        counts[usize::try_from(read.linear).unwrap()].fetch_add(100, Ordering::SeqCst);
        std::thread::yield_now();
        Ok(wanted(read))
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for read in plan.chunks() {
                    assert_eq!(ahead.outcome(read, compare).unwrap(), wanted(read));
                }
            });
        }
    });
    let counts: Vec<u64> = counts.into_iter().map(AtomicU64::into_inner).collect();
    assert_eq!(counts, [100, 101, 102, 103, 104, 105, 106, 107, 108]);
}

/// Runs a second thread that reaches the first chunk while it is being compared; `later` compares
/// the second chunk.
fn check_second(later: impl Fn() -> Result<Outcome> + Sync) {
    let plan = planned();
    let ahead = Ahead::new(&plan);
    let (ahead, first) = (&ahead, &plan.chunks()[0]);
    let ((begun, has_begun), (end, may_end)) = (channel(), channel());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let compare = |_: &ChunkRead| {
                begun.send(()).unwrap();
                may_end.recv_timeout(Duration::from_secs(20)).expect("the other thread works");
                Ok(None)
            };
            assert_eq!(ahead.outcome(first, compare).unwrap(), None);
        });
        has_begun.recv().unwrap();
        let compare = |read: &ChunkRead| {
            assert_ne!(read.linear, 0);
            // Chunks behind the second one are taken while the first thread comes to its end.
            if read.linear == 1 {
                end.send(()).unwrap();
                return later();
            }
            Ok(None)
        };
        assert_eq!(ahead.outcome(first, compare).unwrap(), None);
    });
}

#[test]
fn a_thread_that_comes_to_a_taken_chunk_takes_a_later_one() {
    check_second(|| Ok(Some((1, 2))));
}

#[test]
fn errors_are_told_to_those_who_need_the_chunk_alone() {
    check_second(|| Err(Error::Canceled));
    let plan = planned();
    let ahead = Ahead::new(&plan);
    let read = &plan.chunks()[3];
    for _ in 0..2 {
        let met = ahead.outcome(read, |_| Err(Error::Canceled));
        assert!(matches!(met, Err(Error::Canceled)), "{met:?}");
    }
    assert_eq!(ahead.outcome(read, |_| Ok(Some((1, 2)))).unwrap(), Some((1, 2)));
}
