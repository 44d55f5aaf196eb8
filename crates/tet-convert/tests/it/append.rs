//! Files of every container grow along an axis: what grew is what is written at once, what stays is copied.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::common::made::{Made, check_sound, contents, write};
use crate::common::opened;
use crate::common::world::{World, attr, options};
use tet_convert::{
    AxisAppend, AxisChunk, ChunkChoice, ConvertOptions, DatasetChange, EditMode, EditOptions,
    EditReport, Error, append, convert,
};
use tet_format::DType;
use tet_io::{Overwrite, Progress};
use tet_query::Execution;

/// The suffixes of all files that grow, but for `.npy`, which has one array.
const SUFFIXES: [&str; 5] = ["tet", "zt", "tgm", "safetensors", "npz"];

/// A file of days: `temp` (day, x), `flag` (day), which grow, and `grid` (x, y), which has no days. All of `temp` is
/// along the axis `at`.
fn days(path: &Path, days: Range<u64>, at: usize, labels: bool) {
    let (first, count) = (days.start, days.end - days.start);
    let mut shape = vec![6, 4];
    shape.insert(at, count);
    let mut dims = vec!["x", "y"];
    dims.insert(at, "day");
    let temp = move |place: &[u64]| {
        let mut place = place.to_vec();
        place[at] += first;
        ((place[0] * 100 + place[1] * 10 + place[2]) as f32).to_le_bytes().to_vec()
    };
    let arrays = [
        Made { name: "temp", dtype: DType::Float32, shape, dims: &dims, element: Box::new(temp) },
        Made {
            name: "flag",
            dtype: DType::UInt8,
            shape: vec![count],
            dims: &["day"],
            element: Box::new(move |place| vec![(first + place[0]) as u8]),
        },
        Made {
            name: "grid",
            dtype: DType::Float64,
            shape: vec![6, 4],
            dims: &["x", "y"],
            element: Box::new(|place| ((place[0] + place[1]) as f64).to_le_bytes().to_vec()),
        },
    ];
    write(path, &arrays, labels.then_some(days));
}

impl World {
    /// A file of days of this kind, made of a `.tet` file; its path.
    fn days(&self, file: &str, span: Range<u64>, at: usize, labels: bool) -> PathBuf {
        let (name, suffix) = file.rsplit_once('.').expect("a suffix");
        let tet = self.path(&format!("{name}.tet"));
        days(&tet, span, at, labels);
        self.made(&tet, suffix)
    }

    fn made(&self, tet: &Path, suffix: &str) -> PathBuf {
        let path = tet.with_extension(suffix);
        if path != tet {
            let mut options = ConvertOptions::default();
            options.tet.overwrite = Overwrite::Replace;
            convert(tet, &path, &options).expect("converted");
        }
        path
    }
}

fn grow(file: &Path, axis: &str, datasets: &[&str], inputs: &[&Path]) -> Result<EditReport, Error> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|it| it.to_path_buf()).collect();
    let datasets: Vec<String> = datasets.iter().map(|it| (*it).to_owned()).collect();
    let asked = AxisAppend {
        axis,
        datasets: &datasets,
        inputs: &inputs,
        output: None,
        ..AxisAppend::default()
    };
    append(file, &asked, &EditOptions::default(), &Execution::default())
}

fn has_dims(suffix: &str) -> bool {
    ["tet", "zt", "tgm"].contains(&suffix)
}

/// The contents of a grown file are those of the file of all days; in safetensors files the bytes too.
#[test]
fn a_file_that_grew_is_the_file_that_is_written_at_once() {
    let world = World::new(&[]);
    for (suffix, input, at) in SUFFIXES
        .iter()
        .flat_map(|suffix| ["tet", "npz", "zt"].map(|input| (*suffix, input)))
        .flat_map(|(suffix, input)| [0, 1, 2].map(|at| (suffix, input, at)))
    {
        let labels = has_dims(suffix) && has_dims(input);
        let whole = world.days(&format!("whole.{suffix}"), 0..12, at, labels);
        let file = world.days(&format!("file.{suffix}"), 0..5, at, labels);
        let more = [("b", 5..9), ("c", 9..12)];
        let more =
            more.map(|(name, span)| world.days(&format!("{name}.{input}"), span, at, labels));
        let more: Vec<&Path> = more.iter().map(PathBuf::as_path).collect();
        let case = format!("{suffix} {input} {at}");
        if has_dims(suffix) {
            grow(&file, "day", &[], &more).unwrap_or_else(|error| panic!("{case}: {error}"));
        } else {
            for (name, axis) in [("temp", at.to_string()), ("flag", "0".to_owned())] {
                let report = grow(&file, &axis, &[name], &more);
                let report = report.unwrap_or_else(|error| panic!("{case}: {error}"));
                let axis = axis.parse().expect("a number");
                let dataset = name.to_owned();
                let grown = DatasetChange::Grown { dataset, axis, from: 5, to: 12 };
                assert_eq!(report.changes, [grown], "{case}");
                assert_eq!(report.file_len, fs::metadata(&file).ok().map(|it| it.len()), "{case}");
                let kept = 6 * 4 * 8 + if name == "temp" { 5 } else { 12 * 24 * 4 };
                // Members of a `.npz` have headers.
                assert!(suffix == "npz" && kept < report.kept_len || kept == report.kept_len);
            }
        }
        check_sound(&file);
        assert!(contents(&file) == contents(&whole), "{case}");
        if suffix == "safetensors" {
            assert!(fs::read(&file).unwrap() == fs::read(&whole).unwrap(), "{case}: other bytes");
        }
    }
}

/// Chunks that are not full are filled up: in place, and in a new file that has the bytes of the one written at once.
#[test]
fn chunks_that_are_not_full_are_filled() {
    let world = World::new(&[]);
    let cases = [(7, 8, 11), (6, 9, 12), (1, 2, 20), (3, 10, 11)];
    for (labels, (first, second, third)) in
        [true, false].into_iter().flat_map(|labels| cases.map(|case| (labels, case)))
    {
        let chunked = |name: &str, span| {
            days(&world.path("plain.tet"), span, 0, labels);
            let mut options = options();
            let chunks = [("day", 3), ("x", 4)];
            let chunks = chunks.map(|(axis, len)| (axis.to_owned(), AxisChunk::Extent(len)));
            options.tet.chunks = ChunkChoice::Axes(chunks.to_vec()).into();
            convert(&world.path("plain.tet"), &world.path(name), &options).expect("converted");
            world.path(name)
        };
        let whole = chunked("whole.tet", 0..third);
        let (a, b) = (chunked("a.tet", 0..first), chunked("b.tet", first..second));
        let inputs = [b, world.days("c.zt", second..third, 0, labels)];
        let (before, new) = (fs::read(&a).unwrap(), world.path("new.tet"));
        let _ = fs::remove_file(&new);
        let asked = AxisAppend { axis: "day", inputs: &inputs, ..AxisAppend::default() };
        let anew = AxisAppend { output: Some(&new), ..asked };
        for (asked, file) in [(anew, &new), (asked, &a)] {
            append(&a, &asked, &EditOptions::default(), &Execution::default()).expect("it grows");
            check_sound(file);
            assert!(contents(file) == contents(&whole), "{first} {second} {third}");
            let about = |path: &Path| opened(path).tet.expect("a .tet").metadata().clone();
            assert_eq!(about(file), about(&whole));
            assert!(fs::read(&new).unwrap() == fs::read(&whole).unwrap(), "other bytes");
            assert!(file == &a || fs::read(&a).unwrap() == before, "the input changed");
        }
    }
}

/// `.npy` files grow by `.npy` files of any name, and arrays of each order of bytes keep it.
#[test]
fn arrays_of_numpy_keep_their_type_string() {
    let world = World::new(&[]);
    let file = |name: &str, descr: &str, fortran: &str, shape: &str, bytes: &[u8]| {
        let dict =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let text = format!("{dict:<117}\n");
        let mut all = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        all.extend(text.as_bytes());
        all.extend(bytes);
        fs::write(world.path(name), all).expect("room");
        world.path(name)
    };
    let big = |values: Range<i32>| {
        values.flat_map(|value| value.swap_bytes().to_le_bytes()).collect::<Vec<u8>>()
    };
    let long = |values: Range<i64>| values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    for (descr, old, new) in [(">i4", big(0..6), big(6..12)), ("<M8[s]", long(0..6), long(6..12))] {
        let first = file("first.npy", descr, "False", "(3, 2)", &old);
        let other = file("other.npy", descr, "False", "(3, 2)", &new);
        let all: Vec<u8> = [old, new].concat();
        let wanted = file("wanted.npy", descr, "False", "(6, 2)", &all);
        let report = grow(&first, "0", &[], &[&other]).expect("it grows");
        assert_eq!(report.changes.len(), 1);
        assert!(fs::read(first).unwrap() == fs::read(wanted).unwrap(), "{descr}");
    }
    // Columns become rows.
    let first = file("first.npy", "|i1", "True", "(3, 2)", &[0, 2, 4, 1, 3, 5]);
    let other = file("other.npy", "|i1", "True", "(3, 1)", &[10, 11, 12]);
    grow(&first, "1", &[], &[&other]).expect("it grows");
    let wanted = file("wanted.npy", "|i1", "False", "(3, 3)", &[0, 1, 10, 2, 3, 11, 4, 5, 12]);
    assert!(fs::read(first).unwrap() == fs::read(wanted).unwrap());
}

/// Two more days, with one element of `grid` that differs.
fn with_another_grid(world: &World) -> PathBuf {
    let grid = world.path("grid.tet");
    let element = Box::new(|place: &[u64]| {
        let other = if place == [2, 1] { 0.5 } else { 0.0 };
        ((place[0] + place[1]) as f64 + other).to_le_bytes().to_vec()
    });
    let (dtype, shape, dims) = (DType::Float64, vec![6, 4], &["x", "y"][..]);
    let flags = Made {
        name: "flag",
        dtype: DType::UInt8,
        shape: vec![2],
        dims: &["day"],
        element: Box::new(|_| vec![0]),
    };
    let temps = Made {
        name: "temp",
        dtype: DType::Float32,
        shape: vec![2, 6, 4],
        dims: &["day", "x", "y"],
        element: Box::new(|_| vec![0; 4]),
    };
    write(&grid, &[temps, flags, Made { name: "grid", dtype, shape, dims, element }], Some(5..7));
    grid
}

/// Nothing is written where it is not clear what grows, or what grows does not fit.
#[test]
fn files_that_do_not_continue_are_refused() {
    let world = World::new(&[]);
    for suffix in SUFFIXES {
        let labels = has_dims(suffix);
        let file = world.days(&format!("file.{suffix}"), 0..5, 0, labels);
        let before = fs::read(&file).expect("a file");
        let refused = |axis: &str, datasets: &[&str], inputs: &[&Path], word: &str| {
            let error = grow(&file, axis, datasets, inputs).expect_err(word).to_string();
            assert!(error.contains(word), "{suffix}: {error}");
            assert!(before == fs::read(&file).expect("a file"), "{suffix}: {word}");
        };
        let later = world.days(&format!("later.{suffix}"), 5..7, 0, labels);
        refused("nothing", &[], &[&later], "nothing");
        refused("0", &["grid", "temp"], &[&world.path("none.npz")], "none.npz");
        refused("7", &["temp"], &[&later], "no axis 7");
        refused("0", &["tmp"], &[&later], "tmp");
        // `grid` would grow too, from 6 by 6.
        refused("0", &[], &[&later], "--dataset");
        let turned = world.days(&format!("turned.{suffix}"), 5..7, 1, labels);
        refused("0", &["temp"], &[&turned], "shape");
        if labels {
            let again = world.days(&format!("again.{suffix}"), 4..7, 0, true);
            refused("day", &[], &[&again], "day 4");
            let bare = world.days(&format!("bare.{suffix}"), 5..7, 0, false);
            refused("day", &[], &[&bare], "labels");
        }
        let part = |name: &str, dtype, dims: &[&str]| {
            let tet = world.path(&format!("{name}.tet"));
            let size = usize::try_from(DType::size(dtype).unwrap()).unwrap();
            let element = Box::new(move |_: &[u64]| vec![0; size]);
            write(&tet, &[Made { name, dtype, shape: vec![2], dims, element }], None);
            world.made(&tet, suffix)
        };
        let flag = part("flag", DType::Int32, &["day"]);
        refused("0", &["flag"], &[&flag], "int32");
        refused("0", &["temp"], &[&flag], "temp");
        let element = || Box::new(|_: &[u64]| vec![0]);
        let array = |name| {
            let (dtype, shape, dims) = (DType::UInt8, vec![2], &["day"][..]);
            Made { name, dtype, shape, dims, element: element() }
        };
        let tet = world.path("more.tet");
        write(&tet, &[array("flag"), array("more")], labels.then_some(5..7));
        let more = world.made(&tet, suffix);
        refused("0", &[], &[&more], "\"more\"");
        if labels {
            let other = world.made(&with_another_grid(&world), suffix);
            refused("day", &[], &[&other], "1 of 24 elements differ, the first at [2, 1]");
        }
        // The file itself, and an input, are not written over.
        let inputs = [later.clone()];
        let datasets = ["temp".to_owned(), "flag".to_owned()];
        let asked = AxisAppend {
            axis: "0",
            datasets: &datasets,
            inputs: &inputs,
            output: Some(&later),
            ..AxisAppend::default()
        };
        let earlier = fs::read(&later).expect("a file");
        for force in [Overwrite::Refuse, Overwrite::Replace] {
            let mut options = EditOptions::default();
            options.publish.force = force;
            assert!(append(&file, &asked, &options, &Execution::default()).is_err(), "{suffix}");
        }
        assert!(earlier == fs::read(&later).expect("a file"), "{suffix}");
    }
    let nc = world.days("other.nc", 0..5, 0, false);
    let error = grow(&nc, "day", &[], &[&nc]).expect_err("no editor");
    assert!(matches!(error, Error::NotEditable { .. }), "{error}");
}

#[test]
fn files_with_other_units_or_without_a_dataset_are_refused() {
    let world = World::new(&[]);
    let file = world.days("file.tet", 0..5, 0, true);
    let later = world.days("later.tet", 5..7, 0, true);
    let before = fs::read(&file).expect("a file");
    let units = vec![attr(Some("temp"), "units", "\"degC\"")];
    for (attrs, exclude, word) in
        [(units, vec![], "degC"), (vec![], vec!["flag".to_owned()], "\"flag\"")]
    {
        let mut options = options();
        (options.tet.attrs, options.tet.exclude) = (attrs, exclude);
        convert(&later, &world.path("other.tet"), &options).expect("converted");
        let error = grow(&file, "day", &[], &[&world.path("other.tet")]).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
        assert!(before == fs::read(&file).expect("a file"), "{word}");
    }
}

#[test]
fn a_plan_writes_nothing_and_finds_what_is_wrong() {
    let world = World::new(&[]);
    for suffix in SUFFIXES {
        let file = world.days(&format!("file.{suffix}"), 0..5, 0, false);
        let later = world.days("later.tet", 5..7, 0, false);
        let before = fs::read(&file).expect("a file");
        let (datasets, inputs) = (["temp".to_owned(), "flag".to_owned()], [later]);
        let asked = AxisAppend {
            axis: "0",
            datasets: &datasets,
            inputs: &inputs,
            output: None,
            ..AxisAppend::default()
        };
        let options = EditOptions { mode: EditMode::Plan, ..EditOptions::default() };
        let report = append(&file, &asked, &options, &Execution::default()).expect("a plan");
        let texts: Vec<String> = report.changes.iter().map(ToString::to_string).collect();
        let wanted = ["flag grows along axis 0 from 5 to 7", "temp grows along axis 0 from 5 to 7"];
        assert!(wanted.iter().all(|it| texts.contains(&(*it).to_owned())), "{suffix}: {texts:?}");
        assert_eq!((report.kept, report.file_len), (vec!["grid".to_owned()], None), "{suffix}");
        assert!(before == fs::read(&file).expect("a file"), "{suffix}");
    }
}

/// A file or an input that another program changes meanwhile: the file stays as that program left it.
#[test]
fn files_that_change_meanwhile_are_noticed() {
    let world = World::new(&[]);
    for suffix in SUFFIXES {
        for changed in ["file", "later"] {
            let file = world.days(&format!("file.{suffix}"), 0..5, 0, false);
            let later = world.days(&format!("later.{suffix}"), 5..7, 0, false);
            let changed = if changed == "file" { file.clone() } else { later.clone() };
            let (once, path) = (Once::new(), changed.clone());
            let progress = Progress::new(move |_, _| {
                once.call_once(|| {
                    let mut bytes = fs::read(&path).expect("a file");
                    bytes.push(0);
                    fs::write(&path, bytes).expect("room");
                });
            });
            let before = fs::read(&file).expect("a file");
            let (datasets, inputs) = (["temp".to_owned(), "flag".to_owned()], [later]);
            let asked = AxisAppend {
                axis: "0",
                datasets: &datasets,
                inputs: &inputs,
                output: None,
                ..AxisAppend::default()
            };
            let options = EditOptions { progress: progress.clone(), ..EditOptions::default() };
            let how = Execution { progress, ..Execution::default() };
            let result = append(&file, &asked, &options, &how);
            assert!(result.is_err(), "{suffix} {changed:?}");
            let mut wanted = before;
            wanted.extend((changed == file).then_some(0));
            assert!(wanted == fs::read(&file).expect("a file"), "{suffix} {changed:?}");
        }
    }
}

/// A coordinate whose axis has no name grows with the axis that is named as it is; without it the labels would end early.
#[test]
fn coordinates_without_axes_grow_too() {
    let world = World::new(&[]);
    let made = |name: &str, days: Range<u64>| {
        let (first, count) = (days.start, days.end - days.start);
        let arrays = [
            Made {
                name: "temp",
                dtype: DType::Float32,
                shape: vec![count, 2],
                dims: &["day", "x"],
                element: Box::new(move |place| ((first + place[0]) as f32).to_le_bytes().to_vec()),
            },
            Made {
                name: "day",
                dtype: DType::UInt8,
                shape: vec![count],
                dims: &[],
                element: Box::new(move |place| vec![(first + place[0]) as u8]),
            },
        ];
        let path = world.path(name);
        write(&path, &arrays, None);
        path
    };
    let (old, more, whole) = (made("old.tet", 0..5), made("more.tet", 5..9), made("all.tet", 0..9));
    // The others are made of the .tet file before it grows.
    for suffix in ["zt", "tgm", "tet"] {
        let [old, whole] = [&old, &whole].map(|path| world.made(path, suffix));
        grow(&old, "day", &[], &[&more]).expect(suffix);
        assert_eq!(contents(&old), contents(&whole), "{suffix}");
    }
}
