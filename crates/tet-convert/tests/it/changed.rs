//! Files that change while all their datasets are read: one look at all of them, at the end, finds it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::made::{Made, write};
use tet_convert::{ConvertOptions, OpenOptions, Opened, convert, open};
use tet_format::DType;
use tet_query::{Execution, Hyperslab, Op, Reduction};

/// More datasets than objects of a Zarr folder stay open.
const COUNT: u32 = 300;

/// A file of many datasets of one element, each its number.
fn numbers(folder: &Path, suffix: &str) -> PathBuf {
    let table = folder.join("numbers.tet");
    let names: Vec<String> = (0..COUNT).map(|at| format!("n{at:03}")).collect();
    let made = |(at, name)| Made {
        name,
        dtype: DType::UInt32,
        shape: vec![1],
        dims: &["x"],
        element: Box::new(move |_: &[u64]| u32::to_le_bytes(at + 1).to_vec()),
    };
    let arrays: Vec<Made<'_>> =
        (0..COUNT).zip(names.iter().map(String::as_str)).map(made).collect();
    write(&table, &arrays, None);
    let path = folder.join(format!("it.{suffix}"));
    if suffix == "tet" {
        fs::rename(table, &path).unwrap();
    } else {
        convert(&table, &path, &ConvertOptions::default()).unwrap();
    }
    path
}

/// The file after all its datasets were read, by sessions that no look ended.
fn read_all(path: &Path) -> Opened {
    let opened = open(path, &OpenOptions::default()).unwrap();
    let (how, max) = (Execution::default(), Reduction::all(Op::Max));
    for (dataset, at) in opened.catalog.datasets().iter().zip(1_u32..) {
        let slab = Hyperslab::whole(dataset.shape());
        let session = dataset.session();
        for _ in 0..2 {
            let value = session.reduce(&slab, &max, &how).unwrap().value.values;
            assert_eq!(value.get(0).unwrap().to_f64(), Some(f64::from(at)), "{}", dataset.name);
        }
    }
    opened
}

/// Checks that a look at all files finds a change that was made after all datasets were read, and that there was none before.
fn check_found(path: &Path, change: &str, make: impl FnOnce(&Path)) {
    let opened = read_all(path);
    opened.catalog.check_unchanged().unwrap();
    make(path);
    let error = opened.catalog.check_unchanged().unwrap_err().to_string();
    assert!(error.contains("changed"), "{path:?}, {change}: {error}");
}

#[test]
fn a_file_that_changed_is_noticed_at_the_end_of_all_sessions() {
    for suffix in ["tet", "safetensors", "npz", "h5", "zt", "tgm", "zarr.zip"] {
        let folder = tempfile::tempdir().unwrap();
        let path = numbers(folder.path(), suffix);
        let longer = |path: &Path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, [&bytes[..], &[0]].concat()).unwrap();
        };
        check_found(&path, "longer", longer);
        let folder = tempfile::tempdir().unwrap();
        let path = numbers(folder.path(), suffix);
        let opened = read_all(&path);
        let first = &opened.catalog.datasets()[0];
        first.session().finish().unwrap();
        longer(&path);
        assert!(first.session().finish().is_err(), "{suffix}");
    }
}

type Change<'a> = &'a dyn Fn(&Path);

/// The chunk of the first array, whose source is closed when the last ones were read, and the documents that all share.
#[test]
fn a_folder_that_changed_is_noticed_at_the_end_of_all_sessions() {
    let first = |path: &Path| path.join("n000/c/0");
    let replaced = |file: &Path| {
        let bytes = fs::read(file).unwrap();
        fs::write(file.with_extension("new"), bytes).unwrap();
        fs::rename(file.with_extension("new"), file).unwrap();
    };
    let changes: [(&str, Change<'_>); 5] = [
        ("the chunk is written", &|path| fs::write(first(path), [7, 0, 0, 0]).unwrap()),
        ("the chunk is replaced", &|path| replaced(&first(path))),
        ("the chunk is removed", &|path| fs::remove_file(first(path)).unwrap()),
        ("the document is written", &|path| {
            let text = fs::read_to_string(path.join("zarr.json")).unwrap();
            fs::write(path.join("zarr.json"), text.replace("n000", "m000")).unwrap();
        }),
        ("another folder", &|path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (change, make) in changes {
        let folder = tempfile::tempdir().unwrap();
        check_found(&numbers(folder.path(), "zarr"), change, make);
    }
    // Other bytes count, not another time.
    let folder = tempfile::tempdir().unwrap();
    let path = numbers(folder.path(), "zarr");
    let opened = read_all(&path);
    replaced(&path.join("zarr.json"));
    opened.catalog.check_unchanged().unwrap();
}

/// Without consolidated metadata each array has a document of its own.
#[test]
fn every_document_is_compared_once_each_array_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = numbers(folder.path(), "zarr");
    let root = path.join("zarr.json");
    let mut document: serde_json::Value =
        serde_json::from_slice(&fs::read(&root).unwrap()).unwrap();
    document.as_object_mut().unwrap().remove("consolidated_metadata").unwrap();
    fs::write(&root, document.to_string()).unwrap();
    check_found(&path, "a document of the last array", |path| {
        let own = path.join("n299/zarr.json");
        let text = fs::read_to_string(&own).unwrap();
        fs::write(&own, text.replace("uint32", "float32")).unwrap();
    });
}
