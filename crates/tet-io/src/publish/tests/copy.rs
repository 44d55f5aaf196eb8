//! Copied spans have the same bytes, whatever copies them.

use std::sync::Arc;

use super::*;
use crate::read_at::ReadAt;

/// A source that the kernel cannot copy from.
struct Slow(Source);

impl ReadAt for Slow {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(offset, out).map_err(io::Error::other)
    }
}

const FILE_LEN: u64 = 6 << 20;

/// Bytes, a hole, bytes, and a hole to the end, none of it aligned.
fn holey(path: &Path) {
    let mut file = File::create(path).unwrap();
    let bytes: Vec<u8> = (0..1_300_000_u32).map(|at| (at % 251) as u8 + 1).collect();
    file.write_all(&bytes).unwrap();
    file.seek(SeekFrom::Start((3 << 20) + 77)).unwrap();
    file.write_all(&bytes[..200_000]).unwrap();
    file.set_len(FILE_LEN).unwrap();
}

fn span(start: u64, end: u64) -> Span {
    Span::from_range(start..end).unwrap()
}

fn copy(source: &Source, target: &Path, spans: &[Span]) {
    let mut publisher = Publisher::begin(target, &REFUSE).unwrap();
    publisher.write_all(b"head").unwrap();
    for &span in spans {
        publisher.copy_from(source, span).unwrap();
    }
    publisher.write_all(b"tail").unwrap();
    publisher.commit().unwrap();
}

#[test]
fn copied_spans_are_what_reading_and_writing_makes() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    holey(&from);
    let source = Source::open(&from).unwrap();
    let slow = Source::from_reader(Arc::new(Slow(source.clone())));
    let bytes = fs::read(&from).unwrap();
    let cases: &[&[Span]] = &[
        &[span(0, FILE_LEN)],
        &[span(0, 0), span(FILE_LEN, FILE_LEN)],
        &[span(5, 70_000), span(70_000, 70_001), span(1_299_999, FILE_LEN - 1)],
        &[span(2 << 20, 3 << 20), span(2 << 20, 3 << 20)],
        &[span((3 << 20) - 100_000, (3 << 20) + 100_000), span(0, 300_000)],
        &[span(4 << 20, FILE_LEN), span(0, 65_536)],
    ];
    for (number, spans) in cases.iter().enumerate() {
        let (fast_path, slow_path) =
            (folder.path().join(format!("{number}")), folder.path().join(format!("{number}-slow")));
        copy(&source, &fast_path, spans);
        copy(&slow, &slow_path, spans);
        let mut wanted = b"head".to_vec();
        for span in *spans {
            wanted.extend(&bytes[span.start() as usize..span.end() as usize]);
        }
        wanted.extend(b"tail");
        assert!(fs::read(&fast_path).unwrap() == wanted, "copied, case {number}");
        assert!(fs::read(&slow_path).unwrap() == wanted, "read and written, case {number}");
    }
}

/// A span may be copied over bytes that are there already; holes must not let them shine through.
#[test]
fn holes_overwrite_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let (from, target) = (folder.path().join("from"), folder.path().join("target"));
    holey(&from);
    let source = Source::open(&from).unwrap();
    let mut publisher = Publisher::begin(&target, &REFUSE).unwrap();
    publisher.write_all(&vec![0xFF; 7 << 20]).unwrap();
    publisher.seek(SeekFrom::Start(0)).unwrap();
    publisher.copy_from(&source, span(0, FILE_LEN)).unwrap();
    publisher.commit().unwrap();
    let found = fs::read(&target).unwrap();
    assert!(found[..FILE_LEN as usize] == fs::read(&from).unwrap());
    assert!(found[FILE_LEN as usize..].iter().all(|&byte| byte == 0xFF));
}

#[cfg(target_os = "linux")]
#[test]
fn holes_stay_holes_where_the_file_system_has_them() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let (from, target) = (folder.path().join("from"), folder.path().join("target"));
    holey(&from);
    let source = Source::open(&from).unwrap();
    let taken = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    let mut publisher = Publisher::begin(&target, &REFUSE).unwrap();
    publisher.copy_from(&source, span(0, FILE_LEN)).unwrap();
    publisher.commit().unwrap();
    assert!(fs::read(&target).unwrap() == fs::read(&from).unwrap());
    // One block gives the copy its length.
    assert!(taken(&target) <= taken(&from) + 65_536, "{} {}", taken(&from), taken(&target));
}

#[test]
fn e9_spans_past_32_bits_are_copied() {
    const FAR: u64 = 5 << 30;
    let folder = tempfile::tempdir().unwrap();
    let (from, target) = (folder.path().join("from"), folder.path().join("target"));
    let mut file = File::create(&from).unwrap();
    file.seek(SeekFrom::Start(FAR)).unwrap();
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 253) as u8).collect();
    file.write_all(&bytes).unwrap();
    let source = Source::open(&from).unwrap();
    let mut publisher = Publisher::begin(&target, &REFUSE).unwrap();
    publisher.copy_from(&source, span(FAR, FAR + 200_000)).unwrap();
    publisher.copy_from(&source, span(FAR + 1, FAR + 9)).unwrap();
    publisher.commit().unwrap();
    assert!(fs::read(&target).unwrap() == [&bytes[..], &bytes[1..9]].concat());
}

#[test]
fn spans_past_the_end_and_cut_sources_are_errors_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    holey(&from);
    let source = Source::open(&from).unwrap();
    let mut publisher = Publisher::begin(folder.path().join("target"), &REFUSE).unwrap();
    let outcome = publisher.copy_from(&source, span(5, FILE_LEN + 1));
    assert!(matches!(outcome, Err(Error::PastEnd { ref path, .. }) if *path == from));
    File::options().write(true).open(&from).unwrap().set_len(1 << 20).unwrap();
    let outcome = publisher.copy_from(&source, span(0, FILE_LEN));
    assert!(matches!(outcome, Err(Error::Changed { ref path }) if *path == from));
    drop(publisher);
    assert_eq!(names(folder.path()), ["from"]);
}
