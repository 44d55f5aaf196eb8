//! Servers without range requests: a file is downloaded where that is asked for, and is one version of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tet_io::{Error, Progress, Source};

use super::server::{Fault, Pace, Server};
use super::{bytes, settings};
use crate::{BlockCache, Settings};

const LEN: usize = 5 << 20;

/// A server that answers with whole files, or what is given for a number of a request.
fn whole(fault: impl Fn(usize) -> Option<Fault> + Send + Sync + 'static) -> Server {
    let faults = move |number, _: &str| Some(fault(number).unwrap_or(Fault::Whole));
    Server::with([("/a.npy".into(), bytes(LEN))], Pace::default(), faults)
}

fn up_to(len: u64) -> Settings {
    Settings { download: Some(len), ..settings() }
}

fn open(server: &Server, settings: &Settings) -> tet_io::Result<Source> {
    crate::open(&server.url("/a.npy"), settings)
}

#[test]
fn a_file_is_downloaded_only_where_that_is_allowed() {
    let server = whole(|_| None);
    let error = open(&server, &settings()).unwrap_err().to_string();
    assert!(error.contains("no range requests") && error.contains("--download"), "{error}");
    assert_eq!(server.take_log().len(), 1);
    let source = open(&server, &up_to(LEN as u64)).unwrap();
    assert_eq!(server.take_log().len(), 3, "the refused one, the file, its version");
    assert_eq!(source.path(), Some(server.url("/a.npy").as_ref()));
    assert!(source.read_vec(0, LEN as u64).unwrap() == bytes(LEN));
    source.check_unchanged().unwrap();
    assert_eq!(server.take_log().len(), 0);
    let error = open(&server, &up_to(LEN as u64 - 1)).unwrap_err().to_string();
    assert!(error.contains("longer than the 5242879 bytes"), "{error}");
}

#[test]
fn a_body_without_a_length_is_read_to_its_end_or_to_the_limit() {
    let server = whole(|_| Some(Fault::WholeChunked));
    let source = open(&server, &up_to(LEN as u64)).unwrap();
    assert!(source.read_vec(0, LEN as u64).unwrap() == bytes(LEN));
    for (fault, limit) in [(Fault::WholeChunked, LEN - 1), (Fault::WholeEndless, 3 * LEN)] {
        let server = whole(move |_| Some(fault));
        let error = open(&server, &up_to(limit as u64)).unwrap_err().to_string();
        assert!(error.contains("longer than"), "{error}");
    }
}

/// Whatever goes wrong with a request of the download: the file, or an error.
#[test]
fn a_fault_is_repaired_or_an_error() {
    for fault in [
        Fault::Status(503),
        Fault::Status(404),
        Fault::Cut(0),
        Fault::Cut(3_000_000),
        Fault::Nothing,
        Fault::Silence,
        Fault::Redirect,
        Fault::WholeOther,
        Fault::Compressed,
        Fault::LongHeader,
    ] {
        for at in 1..3 {
            let server = whole(move |number| (number == at).then_some(fault));
            let about = format!("{fault:?} at {at}");
            match open(&server, &up_to(LEN as u64)) {
                Ok(source) => {
                    assert!(source.read_vec(0, LEN as u64).unwrap() == bytes(LEN), "{about}");
                    assert!(fault != Fault::WholeOther && fault != Fault::Status(404), "{about}");
                }
                Err(error) => {
                    let changed = matches!(error, Error::Changed { .. });
                    assert!(changed == (fault == Fault::WholeOther), "{about}: {error}");
                    let refused = [
                        Fault::Status(404),
                        Fault::WholeOther,
                        Fault::Compressed,
                        Fault::LongHeader,
                    ];
                    assert!(refused.contains(&fault), "{about}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_download_is_held_in_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let server = whole(|_| None);
    let cache = BlockCache::new(folder.path(), BlockCache::LEN_MAX_DEFAULT);
    let settings = Settings { cache: Some(cache), ..up_to(LEN as u64) };
    for requests in [4, 2] {
        let source = open(&server, &settings).unwrap();
        assert!(source.read_vec(0, LEN as u64).unwrap() == bytes(LEN));
        assert_eq!(server.take_log().len(), requests);
    }
    // A block is gone: the file is downloaded again.
    let mut folder = folder.path().to_path_buf();
    for _ in 0..3 {
        folder = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    }
    std::fs::remove_file(folder).unwrap();
    let source = open(&server, &settings).unwrap();
    assert!(source.read_vec(0, LEN as u64).unwrap() == bytes(LEN));
    assert_eq!(server.take_log().len(), 4);
}

#[test]
fn a_download_is_reported_and_canceled() {
    let pace = Pace { latency: Duration::ZERO, rate: 5 << 20 };
    let faults = |_, _: &str| Some(Fault::Whole);
    let server = Server::with([("/a.npy".into(), bytes(LEN))], pace, faults);
    let cancel = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&cancel);
    let progress = Progress::new(move |done, all| {
        assert_eq!(all, LEN as u64);
        stop.store(1 << 20 < done, Ordering::Relaxed);
    });
    let settings = Settings { progress: progress.with_cancel(cancel), ..up_to(LEN as u64) };
    let began = Instant::now();
    let error = open(&server, &settings).unwrap_err().to_string();
    assert!(error.contains("canceled"), "{error}");
    assert!(began.elapsed() < Duration::from_millis(900), "the body takes a second");
}
