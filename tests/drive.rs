//! Gives a fuzz target changed bytes as fast as it takes them, with nothing to guide the changes.
//!
//! ```text
//! drive seeds FOLDER                             what each target starts from, as files
//! drive run TARGET COUNT SEED CORPUS             so many changes of the files of a folder
//! drive file TARGET PATH                         the bytes of a file
//! ```
//!
//! Every execution has a number, so that a seed and a number are the bytes. Bytes on which the
//! target panics are written beside the corpus.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a chore for those who build this")]

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use tet_tests::fuzz::{TARGETS, change, seeds};
use tet_tests::values::Seeded;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["seeds", folder] => write_seeds(Path::new(folder)),
        ["file", target, path] => {
            let (_, target) = TARGETS.into_iter().find(|(each, _)| *each == target).unwrap();
            target(&fs::read(path).unwrap());
        }
        ["run", target, count, seed, corpus] => {
            run(target, count.parse().unwrap(), seed.parse().unwrap(), Path::new(corpus));
        }
        _ => panic!(
            "drive seeds FOLDER | drive run TARGET COUNT SEED CORPUS | drive file TARGET PATH"
        ),
    }
}

fn write_seeds(folder: &Path) {
    for (name, seeds) in seeds() {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        for (nth, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("{nth:04}")), seed).unwrap();
        }
    }
}

fn run(name: &str, count: u64, seed: u64, corpus: &Path) {
    let (_, target) = TARGETS.into_iter().find(|(each, _)| *each == name).unwrap();
    let mut paths: Vec<_> =
        fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    for nth in 0..count {
        let bytes = change::mutant(&files, &mut Seeded(Seeded(seed ^ nth << 20).bits()));
        if catch_unwind(|| target(&bytes)).is_err() {
            let path = corpus.with_file_name(format!("{name}-{seed}-{nth}"));
            fs::write(&path, &bytes).unwrap();
            println!("{name} panics on {}", path.display());
            std::process::exit(1);
        }
    }
    println!("{name} {count}");
}
