//! Edits that are killed at any moment: the old file or the new one, also where a file is a folder.
//!
//! Moments are drawn by dice from the time that an edit takes undisturbed. A failure prints the seed;
//! `SEED=7 cargo test -p tet-tests --test world -- killed_edits::` draws others.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a suite")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tet_tests::program;
use tet_tests::sim::Dice;

/// Files of every container whose names and attributes are edited in their place.
const NAMES: [&str; 6] = ["a.tet", "a.nc", "a.h5", "a.nc3", "a.zarr", "a.zarr.zip"];
const KILLS: u64 = 12;

/// The bytes of a file, or of all files of a folder, by their paths.
fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    if path.is_file() {
        return BTreeMap::from([(PathBuf::new(), fs::read(path).unwrap())]);
    }
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = PathBuf::from(entry.file_name());
        found.extend(
            contents(&entry.path()).into_iter().map(|(below, it)| (under(&name, &below), it)),
        );
    }
    found
}

/// A path under a name; the name itself under nothing.
fn under(name: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { name.to_path_buf() } else { name.join(below) }
}

/// Puts back what was there.
fn lay(contents: &BTreeMap<PathBuf, Vec<u8>>, path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    }
    for (below, bytes) in contents {
        let file = under(path, below);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

fn tet(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(program::tet());
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    command.env("SOURCE_DATE_EPOCH", "1700000000").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn npz(path: &Path) {
    let count = 300_000_u32;
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({count},), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").as_bytes());
    bytes.extend((0..count).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_killed_edit_leaves_the_old_file_or_the_new_one() {
    let seed = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir().unwrap();
    npz(&folder.path().join("x.npy"));
    for name in NAMES {
        let here = folder.path();
        assert!(tet(here, &format!("convert x.npy {name}")).status().unwrap().success(), "{name}");
        for line in [
            format!("edit rename {name} x=renamed"),
            format!("edit set {name} x:units=K title=t"),
            format!("edit drop {name} x"),
        ] {
            let path = here.join(name);
            let old = contents(&path);
            let since = Instant::now();
            assert!(tet(here, &line).status().unwrap().success(), "{line}");
            let (time, new) = (since.elapsed(), contents(&path));
            assert!(old != new, "{line}");
            for _ in 0..KILLS {
                lay(&old, &path);
                let mut child = tet(here, &line).spawn().unwrap();
                let longest = u64::try_from(time.as_micros()).unwrap();
                std::thread::sleep(Duration::from_micros(dice.below(longest + longest / 8)));
                child.kill().unwrap();
                child.wait().unwrap();
                let left = contents(&path);
                assert!(left == old || left == new, "SEED={seed}: {line} left neither");
            }
            lay(&old, &path);
        }
    }
}
