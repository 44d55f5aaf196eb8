use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

const BYTES: &[u8] = b"0123456789";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn file_in(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("bytes");
    fs::write(&path, BYTES).unwrap();
    path
}

struct Reader(Vec<u8>);

impl ReadAt for Reader {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_slice(&self.0, offset, out)
    }
}

fn sources(path: &Path) -> Vec<Source> {
    let mut sources = vec![
        Source::open(path).unwrap(),
        Source::from_bytes(BYTES),
        Source::from_reader(Arc::new(Reader(BYTES.to_vec()))),
    ];
    sources.extend(Source::open_leased(path).ok());
    sources.extend(mapped(path));
    sources
}

#[cfg(feature = "mmap")]
fn mapped(path: &Path) -> Option<Source> {
    Some(crate::mmap::open_own(path))
}

#[cfg(not(feature = "mmap"))]
fn mapped(_path: &Path) -> Option<Source> {
    None
}

#[test]
fn every_kind_reads_the_same_bytes() {
    let folder = folder();
    for source in sources(&file_in(&folder)) {
        assert_eq!(source.len(), 10);
        for start in 0..=10 {
            for end in start..=10 {
                let mut out = vec![0; end - start];
                source.read_exact_at(start as u64, &mut out).unwrap();
                assert_eq!(out, &BYTES[start..end], "{:?}", source.kind());
            }
        }
        if let Some(view) = source.view() {
            assert_eq!(view.bytes(0..10), Some(BYTES), "{:?}", source.kind());
            assert_eq!(view.bytes(3..11), None);
        }
        source.check_unchanged().unwrap();
    }
}

#[test]
fn bytes_past_the_end_are_an_error_of_their_own() {
    let folder = folder();
    for source in sources(&file_in(&folder)) {
        for (offset, len) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (u64::MAX, 0)] {
            let error = source.read_exact_at(offset, &mut vec![0; len]).unwrap_err();
            assert!(matches!(error, Error::PastEnd { file_len: 10, .. }), "{error:?}");
        }
    }
}

#[test]
fn an_empty_file_opens_everywhere() {
    let folder = folder();
    let path = folder.path().join("empty");
    fs::write(&path, b"").unwrap();
    for source in [Source::open(&path).ok(), Source::open_leased(&path).ok(), mapped(&path)] {
        let Some(source) = source else { continue };
        assert!(source.is_empty());
        source.read_exact_at(0, &mut []).unwrap();
    }
}
#[test]
fn h21_pipes_folders_and_devices_are_refused_at_once() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let cases = [
        (pipe.as_path(), "a pipe"),
        (folder.path(), "a directory"),
        (Path::new("/dev/zero"), "a device"),
    ];
    for (path, wanted) in cases {
        for source in [Source::open(path), Source::open_leased(path)] {
            match source.unwrap_err() {
                Error::NotRegular { what, .. } => assert_eq!(what, wanted),
                // Builds without leased maps say so before they look.
                Error::NoLease { .. } => {}
                error => panic!("{error:?}"),
            }
        }
    }
}

#[test]
fn a_missing_file_names_step_and_path() {
    let error = Source::open("no/such/file").unwrap_err();
    assert!(matches!(error, Error::Io { operation: Operation::Open, .. }));
    assert!(error.to_string().starts_with("cannot open no/such/file: "), "{error}");
}

/// A reader whose version goes up with every question.
struct Versions(AtomicU64);

impl ReadAt for Versions {
    fn len(&self) -> u64 {
        4
    }

    fn read_exact_at(&self, _offset: u64, _out: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn name(&self) -> &str {
        "memory:versions"
    }

    fn version(&self) -> io::Result<Option<String>> {
        Ok(Some(self.0.fetch_add(1, Ordering::Relaxed).to_string()))
    }
}

#[test]
fn a_reader_has_a_name_and_a_version_that_is_compared() {
    let source = Source::from_reader(Arc::new(Versions(AtomicU64::new(0))));
    let changed = [source.check_unchanged(), source.read_ranges(&mut [(0, &mut [0; 2])])];
    for error in changed.map(Result::unwrap_err) {
        assert!(matches!(error, Error::Changed { .. }), "{error:?}");
        assert!(error.to_string().starts_with("memory:versions "), "{error}");
    }
}

#[test]
fn batches_of_ranges_are_filled_by_every_kind() {
    let folder = folder();
    for source in sources(&file_in(&folder)) {
        let (mut first, mut second) = ([0; 3], [0; 2]);
        source.read_ranges(&mut [(4, &mut first[..]), (1, &mut second[..])]).unwrap();
        assert_eq!((&first[..], &second[..]), (&BYTES[4..7], &BYTES[1..3]));
        let past = source.read_ranges(&mut [(0, &mut first[..]), (1 << 40, &mut second[..])]);
        assert!(matches!(past, Err(Error::PastEnd { .. })), "{past:?}");
    }
}

#[test]
fn a_changed_file_is_noticed() {
    let folder = folder();
    let path = file_in(&folder);
    let source = Source::open(&path).unwrap();
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    (&file).write_all(b"more").unwrap();
    assert!(matches!(source.check_unchanged(), Err(Error::Changed { .. })));
    file.set_len(3).unwrap();
    let error = source.read_exact_at(0, &mut [0; 10]).unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error:?}");
}
#[test]
fn a_file_replaced_by_rename_stays_readable_and_unchanged() {
    let folder = folder();
    let path = file_in(&folder);
    for source in sources(&path) {
        let other = folder.path().join("other");
        fs::write(&other, b"abcdefghij").unwrap();
        fs::rename(&other, &path).unwrap();
        let mut out = [0; 10];
        source.read_exact_at(0, &mut out).unwrap();
        assert_eq!(&out, BYTES, "{:?}", source.kind());
        source.check_unchanged().unwrap();
        fs::write(&other, BYTES).unwrap();
        fs::rename(&other, &path).unwrap();
    }
}

#[cfg(all(feature = "mmap", target_os = "linux"))]
mod leased {
    use super::*;
    use crate::Writers;
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn a_writer_waits_for_the_views_and_then_comes_in() {
        let folder = folder();
        let path = file_in(&folder);
        let source = Source::open_leased(&path).expect("the temporary folder grants leases");
        let view = source.view().unwrap();
        let (opened, writer_is_in) = channel();
        let writer = thread::spawn({
            let path = path.clone();
            move || {
                let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
                opened.send(()).unwrap();
                file.write_all(b"##########").unwrap();
            }
        });
        // The kernel has been asked as soon as no new view is given out.
        while source.view().is_some() {
            thread::yield_now();
        }
        assert_eq!(view.bytes(0..10), Some(BYTES), "the writer is not in while a view is out");
        assert!(writer_is_in.try_recv().is_err());
        drop(view);
        writer.join().unwrap();
        assert!(source.view().is_none());
        assert!(matches!(source.check_unchanged(), Err(Error::Changed { .. })));
        let mut out = [0; 10];
        source.read_exact_at(0, &mut out).unwrap();
        assert_eq!(&out, b"##########", "positioned reads go on");
    }

    #[test]
    fn no_lease_while_a_writer_is_at_work() {
        let folder = folder();
        let path = file_in(&folder);
        let _writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
        assert!(matches!(Source::open_leased(&path), Err(Error::NoLease { .. })));
    }

    #[test]
    fn who_writes_is_known_whenever_it_is_asked() {
        let folder = folder();
        let path = file_in(&folder);
        let open = || fs::OpenOptions::new().append(true).open(&path).unwrap();
        let [before, after] = [Source::open(&path).unwrap(), Source::open(&path).unwrap()];
        assert_eq!(before.writers(), Writers::Absent);
        let writer = open();
        let during = Source::open(&path).unwrap();
        assert_eq!([before.writers(), during.writers()], [Writers::Present; 2]);
        drop(writer);
        assert_eq!(after.writers(), Writers::Absent);
        assert_eq!(during.writers(), Writers::Present, "there was one when it was opened");
        // A lease that is released stops no writer.
        use std::os::unix::fs::OpenOptionsExt;
        fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    }

    #[test]
    fn a_dropped_source_gives_the_lease_back_at_once() {
        let folder = folder();
        let path = file_in(&folder);
        drop(Source::open_leased(&path).expect("the temporary folder grants leases"));
        let mut options = fs::OpenOptions::new();
        use std::os::unix::fs::OpenOptionsExt;
        options.write(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    }
}

#[test]
fn windows_are_the_bytes_of_a_stretch_as_long_as_more_are_wanted() {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 7) as u8).collect();
    let source = Source::from_bytes(bytes.clone());
    let mut seen = Vec::new();
    let all = source.for_windows(5..2_999_999, &mut Vec::new(), |at, window| {
        assert_eq!(at, 5 + seen.len() as u64);
        seen.extend_from_slice(window);
        Ok::<_, Error>(true)
    });
    assert!(all.is_ok() && seen == bytes[5..2_999_999]);
    let mut count = 0;
    let some = source.for_windows(0..3_000_000, &mut Vec::new(), |_, _| {
        count += 1;
        Ok::<_, Error>(count < 2)
    });
    assert!(some.is_ok() && count == 2);
    let past = source.for_windows(2_999_000..3_000_001, &mut Vec::new(), |_, _| Ok(true));
    assert!(matches!(past, Err(Error::PastEnd { .. })));
}

#[test]
fn nothing_is_allocated_for_bytes_that_are_not_there() {
    let source = Source::from_bytes(vec![1, 2, 3]);
    assert_eq!(source.read_vec(1, 2).unwrap(), [2, 3]);
    assert_eq!(source.read_vec(3, 0).unwrap(), []);
    for (offset, len) in [(1, 3), (4, 0), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        assert!(matches!(source.read_vec(offset, len), Err(Error::PastEnd { .. })));
    }
}
