//! Small files of every container, changed and cut everywhere: each is read or refused, and what a check calls sound is
//! read.

use std::fs;
use std::path::Path;

use super::{fits, fits_tiles, gguf, netcdf3, torch};
use crate::common::world::{World, counting_npy};
use crate::common::{deep, fixture};
use tet_convert::{OpenOptions, containers, open_source, verify};
use tet_io::{Kind, Source};
use tet_query::{Dataset, Execution, Hyperslab};

/// Changes of a byte.
const CHANGES: [u8; 4] = [0x01, 0x10, 0x80, 0xff];
/// The variable that asks for changes of all places; otherwise those of a long file are some of them.
const ALL: &str = "TET_HOSTILE_ALL";
/// Bytes of changed files that are looked at, for each change of a sample.
const BYTES_MAX: usize = 60_000;
/// Bytes of a run of equal ones that are changed, at its start.
const RUN_MAX: usize = 12;
/// A dataset of more elements is not read as a whole.
const COUNT_MAX: u64 = 1 << 16;

/// Containers of which a file that lacks its end is never sound.
const ENDED: [&str; 8] = ["tet", "zt", "safetensors", "npz", "npy", "h5", "zarr.zip", "gguf"];

/// A sound file.
struct Sample {
    /// Its name, of which the suffix tells what it is where the bytes do not.
    name: String,
    bytes: Vec<u8>,
    /// The file of the changed bytes, where they are a part of one.
    wrap: fn(&[u8]) -> Vec<u8>,
}

fn sample(name: impl Into<String>, bytes: Vec<u8>) -> Sample {
    Sample { name: name.into(), bytes, wrap: <[u8]>::to_vec }
}

/// A file of each container that is written.
fn written(samples: &mut Vec<Sample>) {
    let world = World::new(&[("x", counting_npy("(9,)", 9)), ("y", counting_npy("(9,)", 9))]);
    let mut one = World::new(&[("x", counting_npy("(3, 3)", 9))]);
    one.options.tet.include = vec!["x".to_owned()];
    let suffixes = containers().into_iter().filter(|it| it.writer().is_some());
    for suffix in suffixes.flat_map(|it| it.usual_suffixes()) {
        let name = format!("out.{suffix}");
        let world = if world.try_go("in.npz", &name).is_ok() { &world } else { &one };
        if !world.path(&name).exists() {
            one.go("in.npz", &name);
        }
        // Folders and sets of files are changed by `tests/world/vanish.rs`.
        let path = if world.path(&name).exists() { world.path(&name) } else { one.path(&name) };
        let is_one = path.is_file() && !name.ends_with("index.json");
        if is_one && tet_convert::has_reader(&path) {
            samples.push(sample(name, fs::read(path).expect("a file")));
        }
    }
}

/// Files of other programs, and of the suites of containers that are only read.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    written(&mut samples);
    assert!(10 < samples.len());
    for name in [
        "version_1.npy",
        "version_2.npy",
        "version_3.npy",
        "scalar.npy",
        "streamed.npz",
        "mixed.npz",
        "ztensor1.zt",
        "texts_v2.zarr.zip",
        "texts_v3.zarr.zip",
        "big.gguf",
    ] {
        samples.push(sample(name, fs::read(fixture(name)).expect("a fixture")));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    for (folder, suffix) in [("vanish", "h5"), ("vanish", "nc"), ("rivals/tgm", "tgm")] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder").map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.extension().is_some_and(|it| it == suffix) {
                samples.push(sample(name, fs::read(path).unwrap()));
            }
        }
    }
    samples.extend(gguf::files().into_iter().map(|bytes| sample("x.gguf", bytes)));
    samples.extend(fits_tiles::files().into_iter().map(|bytes| sample("tile.fits", bytes)));
    samples.push(sample("sums.fits", fits::sound()));
    samples.push(sample("x.nc3", netcdf3::sound()));
    samples.extend(torch::files().into_iter().map(|bytes| sample("x.pt", bytes)));
    let (bytes, wrap) = (torch::sound(), torch::checkpoint as fn(&[u8]) -> Vec<u8>);
    samples.push(Sample { name: "pickle.pt".to_owned(), bytes, wrap });
    let table = "day;place;t\n2024-01-01;\"A;b\";1.5\n2024-01-02;B;-2e3\n";
    samples.push(sample("x.csv", table.as_bytes().to_vec()));
    samples
}

/// The places of a file that are changed: not all of those between equal bytes, and some of a long file.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let is_inside = |at: &usize| {
        let run = at.checked_sub(RUN_MAX).and_then(|from| bytes.get(from..=*at));
        run.is_some_and(|run| run.iter().all(|byte| *byte == bytes[*at])) && !at.is_multiple_of(97)
    };
    let places: Vec<usize> = (0..bytes.len()).filter(|at| !is_inside(at)).collect();
    let count_max = if std::env::var_os(ALL).is_some() {
        usize::MAX
    } else {
        (BYTES_MAX / bytes.len()).clamp(30, 150)
    };
    let step = places.len().div_ceil(count_max);
    places.into_iter().step_by(step.max(1))
}

/// Checks, opens and reads a file; whether a check calls it sound.
fn look(name: &str, bytes: Vec<u8>, what: &dyn Fn() -> String) -> bool {
    let source = Source::from_named_bytes(name, bytes);
    let is_sound = verify(&source, &deep()).is_ok_and(|report| report.is_ok());
    let opened = match open_source(source, &OpenOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!is_sound, "{} is called sound: {error}", what());
            return false;
        }
    };
    for dataset in opened.catalog.datasets().iter().filter(|it| it.fault.is_none()) {
        let count = dataset.grid.shape().element_count().unwrap_or(u64::MAX);
        if count <= COUNT_MAX
            && let Err(error) = read(dataset)
        {
            let is_limit = error.kind() == Kind::Limit;
            assert!(
                !is_sound || is_limit,
                "{}: {:?} is called sound: {error}",
                what(),
                dataset.name
            );
        }
    }
    is_sound
}

fn read(dataset: &Dataset) -> tet_query::Result<()> {
    let (slab, how) = (Hyperslab::whole(dataset.shape()), Execution::default());
    if dataset.is_text() {
        return dataset.read_texts(&slab, &how).map(drop);
    }
    dataset.read(&slab, &how).map(drop)
}

#[test]
fn every_changed_byte_and_every_cut_is_read_or_refused() {
    for Sample { name, bytes, wrap } in samples() {
        assert!(look(&name, wrap(&bytes), &|| name.clone()), "{name} is sound");
        let is_ended = ENDED.iter().any(|suffix| name.ends_with(&format!(".{suffix}")));
        for at in places(&bytes) {
            let what = || format!("the first {at} bytes of {name}");
            let is_sound = look(&name, wrap(&bytes[..at]), &what);
            assert!(!is_sound || !is_ended, "{} are called sound", what());
            for change in CHANGES {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                look(&name, wrap(&changed), &|| format!("byte {at} ^ {change} of {name}"));
            }
        }
    }
}
