//! A process that dies at any step of publishing leaves the old file or the new one.
//!
//! The process is this program, started anew for one test, which does nothing unless it is told
//! where to die.
#![allow(clippy::unwrap_used, reason = "a suite")]

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tet_format::Span;
use tet_io::vfs::{Disk, Entry, OpenFolder, Vfs, VfsFile};
use tet_io::{Overwrite, Publish, Publisher, Source, commit_all};

/// Orders of the child, as `STEP NAMES WAY PATH`.
const ORDERS: &str = "TET_CRASH_ORDERS";

const OLD: &[u8] = b"the old file";

fn new() -> Vec<u8> {
    (0..300_000_u32).map(|at| (at % 251) as u8).collect()
}

/// A disk whose program dies before operation number `dies_at`, or in the middle of it if it is a
/// write.
#[derive(Clone, Debug)]
struct Deadly {
    dies_at: usize,
    has_unnamed: bool,
    count: Arc<AtomicUsize>,
}

impl Deadly {
    fn step(&self) {
        if self.is_last() {
            std::process::abort();
        }
    }

    fn is_last(&self) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed) == self.dies_at
    }

    fn file(&self, file: Box<dyn VfsFile>) -> Box<dyn VfsFile> {
        Box::new(DeadlyFile { file, disk: self.clone() })
    }
}

impl Vfs for Deadly {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.step();
        Disk.entry(path)
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        self.step();
        let file = if self.has_unnamed { Disk.create_unnamed(folder)? } else { None };
        Ok(file.map(|file| self.file(file)))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        self.step();
        Ok(self.file(Disk.create_named(path)?))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        self.step();
        Disk.lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        Disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step();
        Disk.remove(path)
    }

    fn open_folder(&self, folder: &Path) -> io::Result<OpenFolder> {
        self.step();
        Disk.open_folder(folder)
    }

    fn sync_folder(&self, folder: &OpenFolder) -> io::Result<()> {
        self.step();
        Disk.sync_folder(folder)
    }
}

#[derive(Debug)]
struct DeadlyFile {
    file: Box<dyn VfsFile>,
    disk: Deadly,
}

impl Write for DeadlyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.disk.is_last() {
            let _ = self.file.write_all(&bytes[..bytes.len() / 2]);
            std::process::abort();
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for DeadlyFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl VfsFile for DeadlyFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.step();
        self.file.sync()
    }

    fn keep_rights(&mut self, path: &Path) -> io::Result<()> {
        self.disk.step();
        self.file.keep_rights(path)
    }

    fn copy_span(&mut self, from: &File, span: Span) -> u64 {
        self.disk.step();
        self.file.copy_span(from, span)
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        self.disk.step();
        self.file.link(path)
    }
}

/// Writes the new file; a part of it is copied from `from`.
fn publish(vfs: Box<dyn Vfs>, way: &str, from: &Path, target: &Path) -> tet_io::Result<()> {
    let force = match way {
        "fresh" => Overwrite::Refuse,
        "edit" => Overwrite::Edit(Source::open(target)?.stamp().unwrap()),
        _ => Overwrite::Replace,
    };
    let source = Source::open(from)?;
    let mut out = Publisher::begin_on(vfs, target, &Publish { force, ..Publish::default() })?;
    let new = new();
    out.write_all(&new[..1_000]).map_err(|error| out.write_fault(error))?;
    out.copy_from(&source, Span::from_range(1_000..200_000).unwrap())?;
    out.write_all(&new[200_000..]).map_err(|error| out.write_fault(error))?;
    out.commit()
}

/// The child. Without orders there is nothing to do.
#[test]
fn the_child_dies_where_it_is_told_to() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let [dies_at, names, way, folder] = orders.splitn(4, ' ').collect::<Vec<_>>()[..] else {
        panic!("{orders}");
    };
    let (dies_at, count) = (dies_at.parse().unwrap(), Arc::default());
    let disk = Deadly { dies_at, has_unnamed: names == "unnamed", count };
    let folder = Path::new(folder);
    match way {
        "set" => publish_set(&disk, folder).unwrap(),
        _ => publish(Box::new(disk), way, &folder.join("from"), &folder.join("t.tet")).unwrap(),
    }
}

/// Files that are replaced together, and the index that names them.
const SET: [&str; 3] = ["a.part", "b.part", "index"];

/// Writes a set of files over an old one.
fn publish_set(disk: &Deadly, folder: &Path) -> tet_io::Result<()> {
    let options = Publish { force: Overwrite::Replace, ..Publish::default() };
    let settle = |name| {
        let mut out = Publisher::begin_on(Box::new(disk.clone()), &folder.join(name), &options)?;
        out.write_all(b"new").map_err(|error| out.write_fault(error))?;
        out.settle()
    };
    let [a, b, index] = SET.map(settle);
    commit_all(vec![a?, b?], Some(index?))
}

/// Lets the child die while it writes a set; says whether it came so far, and what was left.
fn check_set(dies_at: usize, names: &str) -> (bool, [Option<Vec<u8>>; 3]) {
    let folder = tempfile::tempdir().unwrap();
    for name in SET {
        fs::write(folder.path().join(name), b"old").unwrap();
    }
    let orders = format!("{dies_at} {names} set {}", folder.path().display());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["crash::the_child_dies_where_it_is_told_to", "--exact"])
        .env(ORDERS, &orders)
        .output()
        .unwrap();
    let left = SET.map(|name| fs::read(folder.path().join(name)).ok());
    (output.status.signal().is_some(), left)
}

#[test]
fn a_death_at_any_step_leaves_no_index_beside_old_and_new_files() {
    let [old, new] = ["old", "new"].map(|text| Some(text.as_bytes().to_vec()));
    for names in ["unnamed", "named"] {
        let (mut dies_at, mut lacks_index) = (0, 0);
        loop {
            let (is_killed, [a, b, index]) = check_set(dies_at, names);
            assert!([&a, &b].iter().all(|it| [&old, &new].contains(it)), "each is whole");
            match index {
                None => lacks_index += 1,
                Some(_) => assert!(a == index && b == index, "{names} {dies_at}: {a:?} {b:?}"),
            }
            if !is_killed {
                assert_eq!(a, new);
                break;
            }
            dies_at += 1;
        }
        assert!(30 <= dies_at && 3 <= lacks_index, "{names}: {dies_at} {lacks_index}");
    }
}

/// Lets the child die at one step; says whether it came so far.
fn check(dies_at: usize, names: &str, way: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (from, target) = (folder.path().join("from"), folder.path().join("t.tet"));
    fs::write(&from, new()).unwrap();
    if way != "fresh" {
        fs::write(&target, OLD).unwrap();
    }
    let orders = format!("{dies_at} {names} {way} {}", folder.path().display());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["crash::the_child_dies_where_it_is_told_to", "--exact"])
        .env(ORDERS, &orders)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let is_killed = output.status.signal().is_some();
    let found = fs::read(&target).ok();
    let is_new = found.as_deref() == Some(&new());
    let is_old = found.as_deref() == (way != "fresh").then_some(OLD);
    assert!(is_new || (is_old && is_killed), "{orders}: {:?}, {output:?}", found.map(|b| b.len()));
    let mut strays: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["from", "t.tet"].contains(&name.as_str()))
        .collect();
    let stray = strays.pop();
    assert!(strays.is_empty() && (is_killed || stray.is_none()), "{orders}: {stray:?} {strays:?}");
    let says_what_it_is = |name: &String| name.starts_with(".t.tet.tet-") && name.ends_with(".tmp");
    assert!(stray.as_ref().is_none_or(says_what_it_is), "{orders}: {stray:?}");
    // Whatever was left, the next one writes its file.
    publish(Box::new(Disk), "replace", &from, &target).unwrap();
    assert_eq!(fs::read(&target).unwrap(), new(), "{orders}");
    is_killed
}

#[test]
fn a_death_at_any_step_leaves_the_old_file_or_the_new_one() {
    let mut count = 0;
    for names in ["unnamed", "named"] {
        for way in ["fresh", "replace", "edit"] {
            let mut dies_at = 0;
            while check(dies_at, names, way) {
                dies_at += 1;
            }
            assert!(dies_at > 7, "every step was reached: {names} {way} {dies_at}");
            count += dies_at;
        }
    }
    assert!(60 <= count, "{count} deaths");
}
