use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tet_format::{DType, Span};
use tet_io::{Access, ReadAt, Source};

use crate::budget::Execution;
use crate::catalog::{Dataset, ReadRange};
use crate::op::Op;
use crate::reduction::Reduction;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, World, small_tuning, world};

const DEPTH: usize = 4;

/// A file whose requests wait for each other: up to `DEPTH` are there at the same time.
struct Far {
    bytes: Source,
    state: Mutex<RequestLog>,
    met: Condvar,
    /// Where reads fail.
    broken: Option<u64>,
    request_len: u64,
}

#[derive(Default)]
struct RequestLog {
    now: usize,
    most: usize,
    reads: Vec<Span>,
}

impl ReadAt for Far {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.now += 1;
        state.most = state.most.max(state.now);
        state.reads.push(Span::new(offset, out.len() as u64).unwrap());
        self.met.notify_all();
        let alone = |state: &mut RequestLog| state.most < DEPTH;
        let wait = self.met.wait_timeout_while(state, Duration::from_secs(5), alone);
        let (mut state, _) = wait.unwrap();
        state.now -= 1;
        drop(state);
        if self.broken.is_some_and(|at| offset <= at && at < offset + out.len() as u64) {
            return Err(io::Error::other("broken"));
        }
        self.bytes.read_exact_at(offset, out).map_err(io::Error::other)
    }

    fn access(&self) -> Access {
        let gap_max = if self.request_len == 64 { 0 } else { 8 };
        Access { depth: DEPTH, gap_max, request_len: self.request_len }
    }
}

fn sample(stored: Stored) -> World {
    world(DType::Float32, &[12, 10], &[2, 5], stored, Order::Gaps(3), |n| {
        (n as f32 / 3.0).to_le_bytes().to_vec()
    })
}

fn far(world: &World, broken: Option<u64>) -> (Arc<Far>, Dataset) {
    far_by(world, broken, 64)
}

fn far_by(world: &World, broken: Option<u64>, request_len: u64) -> (Arc<Far>, Dataset) {
    let dataset = world.mapped.datasets()[0].clone();
    let (state, met) = (Mutex::default(), Condvar::new());
    let far = Arc::new(Far { bytes: dataset.source.clone(), state, met, broken, request_len });
    (far.clone(), Dataset { source: Source::from_reader(far), ..dataset })
}

/// Whatever the threads, the requests that the access allows are made at the same time, those of the plan and no
/// others, and the answers have the same bits.
#[test]
fn requests_do_not_depend_on_threads() {
    for stored in [Stored::Raw, Stored::Whole] {
        let world = sample(stored);
        let near = &world.mapped.datasets()[0];
        let slab = Hyperslab::whole(near.shape());
        for threads in [1, 3] {
            let how = Execution { threads, ..small_tuning() };
            let reductions = [Reduction::all(Op::Sum), Reduction::along(Op::Mean, vec![0])];
            for reduction in &reductions {
                let (far, dataset) = far(&world, None);
                let found = dataset.reduce(&slab, reduction, &how).unwrap();
                let wanted = near.reduce(&slab, reduction, &how).unwrap();
                assert_eq!(format!("{:?}", found.value), format!("{:?}", wanted.value));
                let mut runs = Vec::new();
                let visit = &mut |run: ReadRange| runs.push(run.span);
                dataset.reduce_runs(&slab, reduction, &how, visit).unwrap();
                check(&far, runs);
            }
            let (far, dataset) = far(&world, None);
            let found = dataset.read(&slab, &how).unwrap();
            assert_eq!(found.bytes(), near.read(&slab, &how).unwrap().bytes());
            let mut runs = Vec::new();
            dataset.read_runs(&slab, &how, &mut |run: ReadRange| runs.push(run.span)).unwrap();
            check(&far, runs);
        }
    }
}

fn check(far: &Far, mut runs: Vec<Span>) {
    let state = far.state.lock().unwrap();
    let mut reads = state.reads.clone();
    reads.sort_unstable();
    runs.sort_unstable();
    assert_eq!(reads, runs);
    assert!((DEPTH..=DEPTH + 3).contains(&state.most), "{} at once", state.most);
}

/// Requests for several tasks are those of the plan, by any thread, and no byte is read twice.
#[test]
fn requests_for_several_tasks_do_not_depend_on_threads() {
    let world = sample(Stored::Raw);
    let near = &world.mapped.datasets()[0];
    let slab = Hyperslab::whole(near.shape());
    // Tasks that follow each other in the file, and tasks that are columns of it.
    for reduction in [Reduction::all(Op::Sum), Reduction::along(Op::Mean, vec![0])] {
        let mut counts = Vec::new();
        for request_len in [64, 128, 200, 4096] {
            for threads in [1, 2, 5] {
                let how = Execution { threads, ..small_tuning() };
                let (far, dataset) = far_by(&world, None, request_len);
                far.state.lock().unwrap().most = DEPTH;
                let found = dataset.reduce(&slab, &reduction, &how).unwrap();
                let wanted = near.reduce(&slab, &reduction, &how).unwrap();
                assert_eq!(format!("{:?}", found.value), format!("{:?}", wanted.value));
                let mut runs = Vec::new();
                let visit = &mut |run: ReadRange| runs.push(run.span);
                dataset.reduce_runs(&slab, &reduction, &how, visit).unwrap();
                counts.push(runs.len());
                let mut reads = far.state.lock().unwrap().reads.clone();
                reads.sort_unstable();
                runs.sort_unstable();
                assert_eq!(reads, runs, "{request_len} {threads}");
                assert!(runs.windows(2).all(|pair| pair[0].end() <= pair[1].start()), "{runs:?}");
            }
        }
        let is_falling = counts.is_sorted_by(|a, b| a >= b);
        assert!(is_falling && counts[11] < counts[0] / 2, "{reduction:?}: {counts:?}");
    }
}

/// With a budget that holds nothing ahead, tasks read for themselves.
#[test]
fn no_task_waits_for_what_nobody_reads() {
    let world = sample(Stored::Raw);
    let slab = Hyperslab::whole(world.mapped.datasets()[0].shape());
    let (far, dataset) = far(&world, None);
    far.state.lock().unwrap().most = DEPTH;
    for memory_budget in [64, 200, 1000] {
        let how = Execution { threads: 2, memory_budget, ..small_tuning() };
        let near = world.mapped.datasets()[0].read(&slab, &how).unwrap();
        assert_eq!(dataset.read(&slab, &how).unwrap().bytes(), near.bytes());
    }
}

/// A read that fails is the error of the task that needs it, and nothing goes on after it.
#[test]
fn a_failed_request_is_an_error_of_the_answer() {
    let world = sample(Stored::Whole);
    let slab = Hyperslab::whole(world.mapped.datasets()[0].shape());
    for broken in [0, 100, world.mapped.datasets()[0].source.len() - 9] {
        let (_, dataset) = far(&world, Some(broken));
        let how = Execution { threads: 2, ..small_tuning() };
        let outcome = dataset.reduce(&slab, &Reduction::all(Op::Sum), &how);
        let mut is_read = false;
        let visit = &mut |run: ReadRange| is_read |= run.span.range().contains(&broken);
        dataset.reduce_runs(&slab, &Reduction::all(Op::Sum), &how, visit).unwrap();
        assert_eq!(outcome.is_err(), is_read, "{outcome:?}");
    }
}

/// A reader that panics ends the work by its panic, and no task waits for what it did not read.
#[test]
fn a_reader_that_panics_is_not_waited_for() {
    struct Panics(Source);

    impl ReadAt for Panics {
        fn len(&self) -> u64 {
            self.0.len()
        }

        fn read_exact_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            panic!("a defect of the reader")
        }

        fn access(&self) -> Access {
            Access { depth: DEPTH, gap_max: 0, request_len: 64 }
        }
    }

    let world = sample(Stored::Raw);
    let dataset = world.mapped.datasets()[0].clone();
    let source = Source::from_reader(Arc::new(Panics(dataset.source.clone())));
    let dataset = Dataset { source, ..dataset };
    let slab = Hyperslab::whole(dataset.shape());
    let sum = || dataset.reduce(&slab, &Reduction::all(Op::Sum), &small_tuning());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(sum)).is_err());
}
