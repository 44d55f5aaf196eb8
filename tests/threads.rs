//! Threads end with the answer that they were made for: none are left, and a forked child reads on.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use tet_file::write::CodecChoice;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Limits, Shape};
use tet_io::Source;
use tet_query::{Axis, AxisSlice, Catalog, Execution, Hyperslab};
use tet_tests::ask;
use tet_tests::written::{self, Written};

/// Chunks of 1 MiB.
const CHUNKS: u64 = 8;

fn read(catalog: &Catalog, chunks: u64) -> usize {
    let how = Execution { threads: 32, ..Execution::default() };
    let rows = AxisSlice { start: 0, stop: chunks, step: 1, axis: Axis::Kept };
    let slab = Hyperslab::new(vec![rows, AxisSlice::whole(1 << 20)], &[CHUNKS, 1 << 20]).unwrap();
    catalog.datasets()[0].read(&slab, &how).unwrap().bytes().len()
}

fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Whether that many threads are left, at the latest in ten seconds: the system lists a thread for a
/// moment after it was joined.
fn is_down_to(count: usize) -> bool {
    let start = Instant::now();
    while thread_count() > count {
        if start.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn no_thread_outlives_its_answer_and_a_forked_child_answers() {
    let folder = tempfile::tempdir().unwrap();
    let spec = DatasetSpec {
        name: "a".to_owned(),
        dtype: DType::UInt8,
        shape: Shape::from(vec![CHUNKS, 1 << 20]),
        chunk_shape: Shape::from(vec![1, 1 << 20]),
    };
    let elements = vec![1; usize::try_from(CHUNKS << 20).unwrap()];
    let path =
        written::write(folder.path(), "a.tet", &[Written { spec, elements }], CodecChoice::Raw);
    let catalog = ask::open(Source::open(path).unwrap(), Limits::default()).unwrap();
    let before = thread_count();
    for chunks in (1..=CHUNKS).cycle().take(64) {
        assert_eq!(read(&catalog, chunks) as u64, chunks << 20);
    }
    assert!(is_down_to(before), "{} threads are left, {before} were before", thread_count());
    assert!(child_reads(&catalog), "a child that was forked after parallel reads hangs or fails");
}

/// Reads in a forked child; whether it ended well within a minute.
#[allow(unsafe_code, reason = "fork, as Python's multiprocessing and web servers do")]
fn child_reads(catalog: &Catalog) -> bool {
    // SAFETY: the child reads through the catalog and ends without running destructors; what it uses
    // of the parent (the allocator, an open file) is safe to use after `fork` with this C library.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(read(catalog, CHUNKS) as u64 != CHUNKS << 20);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(code) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let start = Instant::now();
    loop {
        let mut status = -1;
        // SAFETY: `status` is a place for the answer.
        let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        if ended == child {
            return status == 0;
        }
        if start.elapsed() > Duration::from_secs(60) {
            // SAFETY: our own child.
            unsafe { libc::kill(child, libc::SIGKILL) };
            return false;
        }
        std::thread::yield_now();
    }
}
