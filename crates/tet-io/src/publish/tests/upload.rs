//! Files of URLs, whose parts go to a store in memory.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::*;
use crate::source::{PutMode, Source, UrlPart, UrlStore, UrlUpload, set_url_store};

/// Object of a store at one URL.
#[derive(Clone, Debug, Default)]
struct Stored {
    file: Option<Vec<u8>>,
    parts: BTreeMap<usize, Vec<u8>>,
    /// The numbers of the parts, as they came.
    log: Vec<usize>,
    given_up: usize,
}

static STORED: LazyLock<Mutex<BTreeMap<String, Stored>>> = LazyLock::new(Mutex::default);

fn stored() -> MutexGuard<'static, BTreeMap<String, Stored>> {
    STORED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Store;

/// A part of this number fails at a URL that ends with `fails`.
const FAILS: usize = 2;

#[derive(Debug)]
struct Upload(String);

impl UrlStore for Store {
    fn open(&self, url: &str) -> Result<Source> {
        Err(Error::UrlOutput { path: url.into() })
    }

    fn depth(&self) -> usize {
        8
    }

    fn check_target(&self, _url: &str, _replace: bool) -> Result<()> {
        Ok(())
    }

    fn write(&self, url: &str, content: &Source, _replace: PutMode<'_>) -> Result<()> {
        let bytes = content.read_vec(0, content.len())?;
        stored().entry(url.to_owned()).or_default().file = Some(bytes);
        Ok(())
    }

    fn begin_upload(&self, url: &str, _replace: PutMode<'_>) -> Result<Box<dyn UrlUpload>> {
        stored().entry(url.to_owned()).or_default();
        Ok(Box::new(Upload(url.to_owned())))
    }
}

impl UrlUpload for Upload {
    fn send(&self, content: &Source, part: UrlPart) -> Result<()> {
        if self.0.ends_with("fails") && part.nth == FAILS {
            let error = io::Error::new(ErrorKind::PermissionDenied, "refused");
            return Err(Error::io(Operation::Write, self.0.as_ref(), error));
        }
        let bytes = content.read_vec(part.span.start(), part.span.len())?;
        let mut stored = stored();
        let stored = stored.get_mut(&self.0).unwrap();
        stored.log.push(part.nth);
        stored.parts.insert(part.nth, bytes);
        Ok(())
    }

    fn finish(&self, content: &Source, rest: &[UrlPart]) -> Result<()> {
        rest.iter().try_for_each(|part| self.send(content, *part))?;
        let mut stored = stored();
        let stored = stored.get_mut(&self.0).unwrap();
        stored.file = Some(std::mem::take(&mut stored.parts).into_values().flatten().collect());
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut stored = stored();
        let stored = stored.get_mut(&self.0).unwrap();
        stored.given_up += usize::from(stored.file.is_none());
    }
}

const MIB: usize = 1 << 20;

fn begin(url: &str) -> Publisher {
    set_url_store(Store);
    Publisher::begin(url, &REFUSE).unwrap()
}

fn stored_at(url: &str) -> Stored {
    stored().get(url).cloned().unwrap_or_default()
}

/// Pieces that differ, of which no boundary is one of parts.
fn piece(nth: usize) -> Vec<u8> {
    vec![u8::try_from(nth % 251).unwrap(); MIB - 1]
}

/// The disk space of the temporary file.
#[cfg(target_os = "linux")]
fn used_on_disk(publisher: &Publisher) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let NewFile::Url(file) = &publisher.file else { panic!() };
    512 * file.content().unwrap().file().unwrap().metadata().unwrap().blocks()
}

/// Elsewhere no space is freed.
#[cfg(not(target_os = "linux"))]
fn used_on_disk(_publisher: &Publisher) -> u64 {
    0
}

/// A head that is written last, as in `.tet`, and a promise that the rest is not written again.
#[test]
fn parts_arrive_while_the_file_is_written_and_need_no_disk_space() {
    let url = "test://streamed";
    let mut publisher = begin(url);
    publisher.file().mark_final(100..u64::MAX);
    publisher.seek(SeekFrom::Start(100)).unwrap();
    let (mut expected, mut most) = (vec![0; 100], 0);
    for nth in 0..100 {
        publisher.write_all(&piece(nth)).unwrap();
        expected.extend(piece(nth));
        most = most.max(used_on_disk(&publisher));
        // Four parts may be on their way.
        let arrived = stored_at(url).log.len();
        assert!((nth / 8).saturating_sub(5) <= arrived, "{arrived} parts after {nth} MiB");
    }
    let log = stored_at(url).log;
    assert!(!log.contains(&0) && log.windows(2).all(|pair| pair[0] != pair[1]), "{log:?}");
    assert!(publisher.read_back().unwrap().is_none());
    publisher.seek(SeekFrom::Start(0)).unwrap();
    publisher.write_all(&[7; 100]).unwrap();
    expected[..100].fill(7);
    assert_eq!(stored_at(url).file, None);
    publisher.commit().unwrap();
    let end = stored_at(url);
    assert!(end.file.as_ref() == Some(&expected) && end.given_up == 0);
    assert_eq!(end.log.len(), expected.len().div_ceil(8 * MIB), "each part is sent once");
    // The first, those on their way, and the one that is being written.
    assert!(most <= 7 * 8 * MIB as u64, "{most} bytes of 100 MiB were in the temporary file");
}

/// Without a promise a part that is written again is sent again.
#[test]
fn what_is_written_again_is_sent_again() {
    let url = "test://again";
    let mut publisher = begin(url);
    let mut expected = Vec::new();
    for nth in 0..41 {
        publisher.write_all(&piece(nth)).unwrap();
        expected.extend(piece(nth));
    }
    for (at, byte) in [(0, 201), (17 * MIB, 202), (24 * MIB - 2, 203)] {
        publisher.seek(SeekFrom::Start(at as u64)).unwrap();
        publisher.write_all(&[byte, byte]).unwrap();
        expected[at..at + 2].fill(byte);
    }
    assert!(stored_at(url).log.contains(&0));
    publisher.seek(SeekFrom::End(0)).unwrap();
    publisher.write_all(b"end").unwrap();
    expected.extend(b"end");
    let read = publisher.read_back().unwrap().unwrap();
    assert!(read.read_vec(0, read.len()).unwrap() == expected);
    publisher.commit().unwrap();
    let end = stored_at(url);
    assert!(end.file == Some(expected));
    let count = |nth: usize| end.log.iter().filter(|it| **it == nth).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(count), [2, 1, 2, 1, 1, 1], "{:?}", end.log);
}

/// Members of an archive: the header of each is written when it ends, and then the member is final.
#[test]
fn a_promise_may_follow_the_bytes() {
    let url = "test://members";
    let mut publisher = begin(url);
    let (mut expected, mut most) = (Vec::new(), 0);
    for member in 0..4 {
        let start = expected.len();
        for nth in 0..20 {
            publisher.write_all(&piece(20 * member + nth)).unwrap();
            expected.extend(piece(20 * member + nth));
        }
        publisher.seek(SeekFrom::Start(start as u64)).unwrap();
        publisher.write_all(b"header").unwrap();
        expected[start..start + 6].copy_from_slice(b"header");
        let end = publisher.seek(SeekFrom::End(0)).unwrap();
        publisher.file().mark_final(start as u64..end);
        most = most.max(used_on_disk(&publisher));
    }
    publisher.commit().unwrap();
    assert!(stored_at(url).file == Some(expected));
    assert!(most <= 48 * MIB as u64, "{most} bytes");
}

#[test]
fn a_short_file_is_one_request() {
    for len in [0, 1, 8 * MIB] {
        let url = format!("test://short{len}");
        let mut publisher = begin(&url);
        publisher.file().mark_final(0..u64::MAX);
        publisher.write_all(&vec![9; len]).unwrap();
        publisher.commit().unwrap();
        let end = stored_at(&url);
        assert!(end.file == Some(vec![9; len]) && end.log.is_empty(), "{len}");
    }
}

#[test]
fn a_part_that_fails_ends_the_upload() {
    let url = "test://fails";
    let mut publisher = begin(url);
    publisher.file().mark_final(0..u64::MAX);
    let outcome = (0..100).try_for_each(|nth| publisher.write_all(&piece(nth)));
    let error = outcome.unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::PermissionDenied, "refused".into()));
    assert_eq!(publisher.write_all(b"more").unwrap_err().to_string(), "refused");
    let error = publisher.commit().unwrap_err();
    assert_eq!(error.to_string(), "cannot write test://fails: refused");
    let end = stored_at(url);
    assert_eq!((end.file, end.given_up), (None, 1));
}

#[test]
fn a_dropped_upload_is_given_up_and_a_broken_promise_is_an_error() {
    let url = "test://dropped";
    let mut publisher = begin(url);
    publisher.file().mark_final(0..u64::MAX);
    for nth in 0..80 {
        publisher.write_all(&piece(nth)).unwrap();
    }
    publisher.seek(SeekFrom::Start(5)).unwrap();
    let error = publisher.write_all(b"again").unwrap_err();
    assert!(error.to_string().contains("written again"), "{error}");
    drop(publisher);
    let end = stored_at(url);
    assert_eq!((end.file, end.given_up), (None, 1));
}
