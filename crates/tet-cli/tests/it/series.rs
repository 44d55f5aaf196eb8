//! Folders of parts that several processes append to.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use tet_convert::{OpenOptions, open, series_parts};
use tet_query::{Execution, Hyperslab};

const PROCESSES: u32 = 4;
const APPENDS: u32 = 50;
/// Rows of a chunk: some appends find a chunk that is clipped, and some do not.
const CHUNK: u32 = 8;

fn tet(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tet")).args(args).output().unwrap()
}

fn succeeds(args: &[&str]) -> String {
    let output = tet(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A file `v.npy` in a folder, of one row of two numbers.
fn row(folder: &Path, value: u32) -> String {
    let header = "{'descr': '<u4', 'fortran_order': False, 'shape': (1, 2), }";
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    npy.extend([value, value + 1].iter().flat_map(|it| it.to_le_bytes()));
    let path = folder.join("v.npy");
    fs::write(&path, npy).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The first numbers of all rows.
fn rows(series: &str) -> Vec<u32> {
    let opened = open(series, &OpenOptions::default()).unwrap();
    let dataset = opened.catalog.only_named("v").unwrap();
    let whole = Hyperslab::whole(dataset.shape());
    let bytes = dataset.read(&whole, &Execution::default()).unwrap().value.bytes().to_vec();
    let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it)).collect();
    assert!(numbers.chunks_exact(2).all(|row| row[1] == row[0] + 1), "no row is torn");
    numbers.chunks_exact(2).map(|row| row[0]).collect()
}

#[test]
fn appends_of_several_processes_lose_no_row() {
    let root = tempfile::tempdir().unwrap();
    let series = root.path().join("s.tets").to_str().unwrap().to_owned();
    let chunks = format!("t:{CHUNK}");
    let first = row(root.path(), 0);
    succeeds(&["convert", &first, &series, "--dims", "t,x", "--chunks", &chunks]);
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (folder, series) = (root.path().join(process.to_string()), &series);
            scope.spawn(move || {
                fs::create_dir(&folder).unwrap();
                for append in 0..APPENDS {
                    let input = row(&folder, 1000 * (process + 1) + 2 * append);
                    succeeds(&["edit", "append", series, &input, "--axis", "t", "--no-sync"]);
                }
            });
        }
    });
    let found = rows(&series);
    assert_eq!(found.len() as u32, 1 + PROCESSES * APPENDS);
    for process in 0..PROCESSES {
        let of_process = found.iter().filter(|it| **it / 1000 == process + 1).copied();
        let wanted = (0..APPENDS).map(|append| 1000 * (process + 1) + 2 * append);
        assert_eq!(of_process.collect::<Vec<_>>(), wanted.collect::<Vec<_>>(), "in its order");
    }
    // Parts that were taken over are left, and those of appends that another process forestalled are not.
    let folder = Path::new(&series);
    let parts = series_parts(folder).unwrap().len();
    assert!(parts as u32 <= 2 + (1 + PROCESSES * APPENDS) / CHUNK, "{parts} parts");
    let listed = succeeds(&["series", "gc", &series]).lines().count();
    assert_eq!(listed + parts, 1 + (PROCESSES * APPENDS) as usize);
    assert_eq!(succeeds(&["series", "gc", &series, "--apply"]).lines().count(), listed);
    assert_eq!(succeeds(&["series", "gc", &series]), "");
    assert_eq!(rows(&series), found);
    assert!(succeeds(&["verify", &series]).contains("every byte"));
}

#[test]
fn a_folder_that_two_processes_make_at_once_has_the_rows_of_both() {
    let root = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let series = root.path().join(format!("{round}.tets")).to_str().unwrap().to_owned();
        thread::scope(|scope| {
            for process in 0..2 {
                let (folder, series) = (root.path().join(format!("{round}-{process}")), &series);
                scope.spawn(move || {
                    fs::create_dir(&folder).unwrap();
                    let npy = row(&folder, 10 * process);
                    let input = folder.join("v.tet").to_str().unwrap().to_owned();
                    succeeds(&["convert", &npy, &input, "--dims", "t,x"]);
                    succeeds(&["edit", "append", series, &input, "--axis", "t", "--no-sync"]);
                });
            }
        });
        let mut found = rows(&series);
        found.sort_unstable();
        assert_eq!(found, [0, 10]);
    }
}

#[test]
fn the_repair_of_a_folder_names_its_damaged_parts() {
    let root = tempfile::tempdir().unwrap();
    let series = root.path().join("s.tets").to_str().unwrap().to_owned();
    let first = row(root.path(), 0);
    succeeds(&["convert", &first, &series, "--dims", "t,x", "--codec", "raw"]);
    succeeds(&["edit", "append", &series, &row(root.path(), 2), "--axis", "t"]);
    let hint = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let sound = tet(&["repair", &series]);
    assert_eq!(sound.status.code(), Some(2));
    assert!(hint(&sound).contains("none of them has an error"), "{}", hint(&sound));
    let parts = series_parts(Path::new(&series)).unwrap();
    let part = root.path().join("s.tets").join(&parts.last().unwrap().file);
    let old = fs::read(&part).unwrap();
    // The elements of the second row.
    let mut bytes = old.clone();
    let at = bytes.windows(8).position(|it| it == [2, 0, 0, 0, 3, 0, 0, 0]).unwrap();
    bytes[at + 2] ^= 1;
    fs::write(&part, &bytes).unwrap();
    let damaged = tet(&["repair", &series]);
    assert_eq!(damaged.status.code(), Some(2));
    let command = format!("run `tet repair {}`", part.display());
    assert!(hint(&damaged).contains(&command), "{}", hint(&damaged));
    assert_eq!(hint(&damaged).matches("tet repair").count(), 1, "{}", hint(&damaged));
    succeeds(&["repair", part.to_str().unwrap(), "--all"]);
    assert_eq!(fs::read(&part).unwrap(), old);
    assert_eq!(rows(&series), [0, 2]);
}
