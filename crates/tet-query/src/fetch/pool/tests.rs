use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::run;
use crate::budget::Execution;
use crate::error::Error;

const COUNT: u64 = 200;
const WORKERS: usize = 3;

/// Waits until `count` tasks have begun, and a while longer; returns how many there are then.
fn begun_after(begun: &AtomicU64, wanted: u64) -> u64 {
    let start = Instant::now();
    while begun.load(Ordering::SeqCst) < wanted && start.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(30));
    begun.load(Ordering::SeqCst)
}

#[test]
fn no_task_begins_too_far_ahead_of_one_that_takes_long() {
    for ahead in [1, 2, 4, 7] {
        let begun = AtomicU64::new(0);
        let how = Execution::default();
        run(
            WORKERS,
            ahead,
            COUNT,
            &how,
            || (),
            |(), index| {
                begun.fetch_add(1, Ordering::SeqCst);
                if index % 100 == 0 {
                    assert_eq!(begun_after(&begun, index + ahead), index + ahead);
                }
                Ok(0)
            },
        )
        .unwrap();
        assert_eq!(begun.into_inner(), COUNT);
    }
}

#[test]
fn the_first_failure_is_told_and_nobody_waits_for_it() {
    for workers in 1..=WORKERS {
        let how = Execution::default();
        let ran = run(
            workers,
            2,
            COUNT,
            &how,
            || (),
            |(), index| match index {
                7 => Err(Error::Canceled),
                8.. => Err(Error::NoMemory { wanted: 1 }),
                _ => Ok(0),
            },
        );
        assert!(matches!(ran, Err(Error::Canceled)), "{ran:?}");
    }
}
