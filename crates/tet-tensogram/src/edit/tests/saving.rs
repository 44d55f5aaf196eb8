//! Files on the disk: the old one or the new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tet_io::{Output, Overwrite, Progress, Publish, commit_all};

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
    let (image, _) = set(&input, &Filter::default(), &[assign("a", "b")], NEW).unwrap();
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
    let merged = merge(&files, Clash::First, NEW).unwrap();
    let template = Template::parse("out").unwrap();
    let copied = copy(&files[0], &Filter::default(), &template).unwrap().remove(0).1;
    for publish in [Publish::default(), replace] {
        for target in [&path, &other] {
            assert!(merged.save(Output::NewFile(target), &publish, &Progress::default()).is_err());
        }
        assert!(copied.save(Output::NewFile(&path), &publish, &Progress::default()).is_err());
        assert!(copied.settle(&path, &publish, &Progress::default()).is_err());
        assert!(copied.check_target(&path, &publish).is_err());
    }
    for path in [&path, &other] {
        assert!(fs::read(path).unwrap() == before);
    }
    let outs = ["c.tgm", "d.tgm"].map(|name| folder.path().join(name));
    let settle =
        |out: &PathBuf| copied.settle(out, &Publish::default(), &Progress::default()).unwrap();
    let settled: Vec<_> = outs.iter().map(settle).collect();
    assert!(outs.iter().all(|out| !out.exists()), "none is there before all are complete");
    commit_all(settled, None).unwrap();
    assert!(outs.iter().all(|out| fs::read(out).unwrap() == before));
}

#[test]
fn other_files_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.tgm"), folder.path().join("b.tgm"));
    fs::write(&path, sample("dt_float32_be")).unwrap();
    fs::write(&other, b"old").unwrap();
    let out = Template::parse("out").unwrap();
    let image = copy(&from_disk(&path), &Filter::default(), &out).unwrap().remove(0).1;
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
    let (image, _) = set(&from_disk(&path), &Filter::default(), &[assign("a", "b")], NEW).unwrap();
    image.save(Output::InPlace(&path), &Publish::default(), &Progress::default()).unwrap();
    let after = fs::read(&path).unwrap();
    assert!(ids(&after).is_empty() && frames(&after) == frames(&before));
    assert!(bytes(&image) == after);
    let stop = Arc::new(AtomicBool::new(true));
    let (image, _) = reshuffle(&from_disk(&path), NEW).unwrap();
    let progress = Progress::default().with_cancel(stop);
    let saved = image.save(Output::InPlace(&path), &Publish::default(), &progress);
    assert!(matches!(saved, Err(crate::Error::Canceled)));
    assert!(fs::read(&path).unwrap() == after);
}

#[test]
fn messages_are_appended() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["a.tgm", "b.tgm"].map(|name| folder.path().join(name));
    let (one, two) = (sample("legacy_0_19_0_msp"), sample("multi_message_3"));
    fs::write(&other, &two).unwrap();
    for in_place in [false, true] {
        fs::write(&path, &one).unwrap();
        let (target, more) = (from_disk(&path), from_disk(&other));
        let mut image = Image::behind(&target);
        (0..more.len()).for_each(|number| image.copy(&more, number).unwrap());
        assert_eq!(image.message_count(), 4);
        let saved = if in_place {
            image.append_in_place(&Progress::default())
        } else {
            image.save(Output::InPlace(&path), &Publish::default(), &Progress::default())
        };
        assert_eq!(saved.unwrap(), (one.len() + two.len()) as u64);
        assert!(fs::read(&path).unwrap() == [&one[..], &two].concat());
        // A file is not appended to twice by one look at it.
        assert!(image.append_in_place(&Progress::default()).is_err());
    }
    // A file may be appended to itself.
    let target = from_disk(&path);
    let mut image = Image::behind(&target);
    image.copy(&target, 0).unwrap();
    image.append_in_place(&Progress::default()).unwrap();
    assert!(fs::read(&path).unwrap() == [&one[..], &two, &one].concat());
    assert!(Image::new().append_in_place(&Progress::default()).is_err());
}
