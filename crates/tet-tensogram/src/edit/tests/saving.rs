//! Files on the disk: the old one or the new one.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tet_io::{Output, Overwrite, Progress, Publish};

use super::*;
use crate::testing::{buffered, tensor};

fn from_disk(path: &Path) -> TensogramFile {
    TensogramFile::open(Source::open(path).unwrap(), &Limits::default()).unwrap()
}

#[test]
fn a_file_may_take_its_own_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tgm");
    let before = sample("multi_message_3");
    fs::write(&path, &before).unwrap();
    let input = from_disk(&path);
    let image = set(&input, &[("a", text("b"))]).unwrap();
    let here = Output::InPlace(&path);
    let len = image.save(here, &Publish::default(), &Progress::default()).unwrap();
    let after = fs::read(&path).unwrap();
    assert_eq!(after.len() as u64, len);
    assert!(frames(&after) == frames(&before) && after != before);
    // The file that was read is not that file any more.
    assert!(image.save(here, &Publish::default(), &Progress::default()).is_err());
    assert!(fs::read(&path).unwrap() == after);
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing is left behind");
}

#[test]
fn inputs_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["a.tgm", "b.tgm"].map(|name| folder.path().join(name));
    let before = sample("multi_message_3");
    for path in [&path, &other] {
        fs::write(path, &before).unwrap();
    }
    let files = [from_disk(&path), from_disk(&other)];
    let replace = Publish { force: Overwrite::Replace, ..Publish::default() };
    let mut both = set(&files[0], &[]).unwrap();
    both.copy(&files[1], 0).unwrap();
    for publish in [Publish::default(), replace] {
        for target in [&path, &other] {
            assert!(both.save(Output::NewFile(target), &publish, &Progress::default()).is_err());
        }
    }
    for path in [&path, &other] {
        assert!(fs::read(path).unwrap() == before);
    }
}

#[test]
fn other_files_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.tgm"), folder.path().join("b.tgm"));
    fs::write(&path, sample("dt_float32_be")).unwrap();
    fs::write(&other, b"old").unwrap();
    let mut image = Image::for_file(&from_disk(&path));
    image.copy(&from_disk(&path), 0).unwrap();
    assert!(
        image.save(Output::NewFile(&other), &Publish::default(), &Progress::default()).is_err()
    );
    assert_eq!(fs::read(&other).unwrap(), b"old");
    let publish = Publish { force: Overwrite::Replace, ..Publish::default() };
    image.save(Output::NewFile(&other), &publish, &Progress::default()).unwrap();
    assert!(fs::read(&other).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn large_tensors_are_copied_in_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tgm");
    let payload: Vec<u8> = (0..3_000_000_u32).map(|at| (at >> 3) as u8).collect();
    let before = buffered(&[tensor(&payload), tensor(b"small"), tensor(&payload[7..])]).bytes();
    fs::write(&path, &before).unwrap();
    let image = set(&from_disk(&path), &[("a", text("b"))]).unwrap();
    image.save(Output::InPlace(&path), &Publish::default(), &Progress::default()).unwrap();
    let after = fs::read(&path).unwrap();
    assert!(ids(&after).is_empty() && frames(&after) == frames(&before));
    assert!(image.bytes() == after);
    let stop = Arc::new(AtomicBool::new(true));
    let image = set(&from_disk(&path), &[("a", text("c"))]).unwrap();
    let progress = Progress::default().with_cancel(stop);
    let saved = image.save(Output::InPlace(&path), &Publish::default(), &progress);
    assert!(matches!(saved, Err(crate::Error::Canceled)));
    assert!(fs::read(&path).unwrap() == after);
}
