//! An array comes back with its type, whichever containers it went through.

use std::fs;
use std::path::Path;

use crate::common::npy;
use tet_convert::{
    AxisLabels, ConvertOptions, DimNames, Error, LabelSource, Note, Result, convert,
};

/// The dtype strings of NumPy that have a dtype here.
const DESCRS: [&str; 14] = [
    "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8",
    "<c16",
];
/// What an array may go through between two `.npz` files.
const CONTAINERS: [&str; 10] =
    ["tet", "zt", "tgm", "safetensors", "npz", "nc3", "nc", "h5", "zarr", "zarr.zip"];

fn size(descr: &str) -> usize {
    descr[2..].parse().expect("it works")
}

/// Six elements, none of which is like another.
fn elements(descr: &str) -> Vec<u8> {
    if descr == "|b1" { vec![0, 1, 1, 0, 0, 1] } else { (0..6 * size(descr) as u8).collect() }
}

/// An archive of these arrays: a name, and a `.npy` file.
fn archive(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("it works"));
    let how = zip::write::SimpleFileOptions::default();
    for (array, bytes) in arrays {
        zip.start_file(format!("{array}.npy"), how).expect("it works");
        std::io::Write::write_all(&mut zip, bytes).expect("it works");
    }
    zip.finish().expect("it works");
}

/// The dtype string, the shape and the elements of an array of an archive.
fn array_of(path: &Path, name: &str) -> (String, String, Vec<u8>) {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).expect("it works")).expect("it works");
    let mut bytes = Vec::new();
    let mut member = zip.by_name(&format!("{name}.npy")).expect("it works");
    std::io::Read::read_to_end(&mut member, &mut bytes).expect("it works");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..start]).expect("it works");
    let between = |before: &str, after: &str| {
        let rest = header.split_once(before).expect("it is there").1;
        rest.split_once(after).expect("it works").0.to_owned()
    };
    (between("'descr': '", "'"), between("'shape': ", ")"), bytes[start..].to_vec())
}

fn go(folder: &Path, from: &str, to: &str, options: &ConvertOptions) -> Result<Vec<Note>> {
    let (from, to) = (folder.join(from), folder.join(to));
    let _ = if to.is_dir() { fs::remove_dir_all(&to) } else { fs::remove_file(&to) };
    convert(&from, &to, options).map(|report| report.notes)
}

/// Takes an array from `.npz` or `.npy` through each container, and through each after another.
fn check(descr: &str, shape: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("it works");
    let (folder, mut options) = (folder.path(), ConvertOptions::default());
    options.tet.sync = tet_io::publish::Sync::None;
    let file = npy(descr, "False", shape, bytes);
    fs::write(folder.join("a.npy"), &file).expect("it works");
    archive(&folder.join("a.npz"), &[("a", file)]);
    let wanted = (descr.to_owned(), shape.trim_end_matches(')').to_owned(), bytes.to_vec());
    for input in ["a.npy", "a.npz"] {
        for first in CONTAINERS {
            // The array is named after its file.
            let stop = format!("a.1.{first}");
            go(folder, input, &stop, &options).expect("it works");
            go(folder, &stop, "back.npz", &options).expect("it works");
            assert_eq!(array_of(&folder.join("back.npz"), "a"), wanted, "{input} {first}");
            for second in CONTAINERS {
                let after = format!("a.2.{second}");
                go(folder, &stop, &after, &options).expect("it works");
                go(folder, &after, "back.npz", &options).expect("it works");
                let found = array_of(&folder.join("back.npz"), "a");
                assert_eq!(found, wanted, "{input} {first} {second}");
            }
        }
    }
}

#[test]
fn every_dtype_comes_back_by_every_road() {
    for descr in DESCRS {
        check(descr, "(2, 3)", &elements(descr));
    }
}

#[test]
fn arrays_without_elements_come_back_by_every_road() {
    for descr in ["|b1", "|i1", "<f4", "<c8"] {
        check(descr, "(0, 3)", &[]);
    }
}

fn labeled(dims: &[&str], labels: &[(&str, LabelSource)]) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    let names = dims.iter().map(|&dim| dim.to_owned()).collect();
    options.tet.dims = vec![DimNames { dataset: Some("t".to_owned()), names }];
    let labels = labels.iter().map(|(axis, from)| AxisLabels {
        dataset: None,
        axis: (*axis).to_owned(),
        from: from.clone(),
    });
    options.tet.labels = labels.collect();
    options
}

fn coords(path: &Path, name: &str) -> Vec<(usize, Vec<String>)> {
    let opened = crate::common::opened(path);
    opened.catalog.find(name).expect("it is there").coords.clone().into_iter().collect()
}

#[test]
fn arrays_of_texts_and_numbers_become_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let points: Vec<u8> = "AB".chars().flat_map(|it| (it as u32).to_le_bytes()).collect();
    let levels: Vec<u8> = [10_i16, -5, 7].iter().flat_map(|it| it.to_le_bytes()).collect();
    let arrays = [
        ("t", npy("<f4", "False", "(2, 3)", &elements("<f4"))),
        ("station", npy("<U1", "False", "(2,)", &points)),
        ("depth", npy("<i2", "False", "(3,)", &levels)),
    ];
    archive(&folder.join("in.npz"), &arrays);
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let of_name = labeled(&["station", "x"], &[("1", LabelSource::Array("depth".to_owned()))]);
    let wanted = vec![(0, texts(&["A", "B"])), (1, texts(&["10", "-5", "7"]))];
    for to in ["out.tet", "out.zt", "out.tgm"] {
        go(folder, "in.npz", to, &of_name).unwrap();
        assert_eq!(coords(&folder.join(to), "t"), wanted, "{to}");
        // The others keep them.
        for next in ["next.tet", "next.zt", "next.tgm"] {
            go(folder, to, next, &ConvertOptions::default()).unwrap();
            assert_eq!(coords(&folder.join(next), "t"), wanted, "{to} {next}");
        }
    }
    let other = [
        ("y", LabelSource::Array("station".to_owned())),
        ("x", LabelSource::Texts(texts(&["p", "q", "r"]))),
    ];
    go(folder, "in.npz", "out.tet", &labeled(&["y", "x"], &other)).unwrap();
    let wanted = vec![(0, texts(&["A", "B"])), (1, texts(&["p", "q", "r"]))];
    assert_eq!(coords(&folder.join("out.tet"), "t"), wanted);
    // The same of a file that is no archive.
    let depth = labeled(&["y", "z"], &[("z", LabelSource::Array("depth".to_owned()))]);
    go(folder, "out.tet", "next.zt", &depth).unwrap();
    let wanted = vec![(0, texts(&["A", "B"])), (1, texts(&["10", "-5", "7"]))];
    assert_eq!(coords(&folder.join("next.zt"), "t"), wanted);
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let points: Vec<u8> = "AB".chars().flat_map(|it| (it as u32).to_le_bytes()).collect();
    let arrays = [
        ("t", npy("<f4", "False", "(2, 3)", &elements("<f4"))),
        ("station", npy("<U1", "False", "(2,)", &points)),
    ];
    archive(&folder.join("in.npz"), &arrays);
    let texts = |axis, texts: &[&str]| {
        (axis, LabelSource::Texts(texts.iter().map(|&text| text.to_owned()).collect()))
    };
    let notes = go(folder, "in.npz", "unlabeled.tet", &labeled(&["y", "x"], &[])).unwrap();
    let left = Note::LeftBehind { dataset: "station".to_owned(), what: "texts", count: 2 };
    assert!(notes.contains(&left), "{notes:?}");
    let asked = labeled(&["station", "x"], &[texts("x", &["p"])]);
    let found = go(folder, "in.npz", "out.tet", &asked);
    assert!(matches!(found, Err(Error::LabelCount { count: 1, extent: 3, .. })), "{found:?}");
    let asked = labeled(&["station", "x"], &[texts("lat", &["p"])]);
    let found = go(folder, "in.npz", "out.tet", &asked);
    assert!(matches!(found, Err(Error::NoLabeledAxis { .. })), "{found:?}");
    let mut without = ConvertOptions::default();
    without.tet.exclude = vec!["station".to_owned()];
    go(folder, "in.npz", "out.tet", &without).unwrap();
}

#[test]
fn complex_arrays_keep_the_names_of_their_axes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let array = npy("<c8", "False", "(2, 3)", &elements("<c8"));
    fs::write(folder.join("t.npy"), &array).unwrap();
    archive(&folder.join("t.npz"), &[("t", array)]);
    for input in ["t.npy", "t.npz"] {
        for output in ["out.tet", "out.zt", "out.tgm"] {
            go(folder, input, output, &labeled(&["y", "x"], &[])).unwrap();
            let opened = crate::common::opened(&folder.join(output));
            let dims = &opened.catalog.datasets()[0].dims;
            assert_eq!(*dims, ["y", "x"], "{input} {output}");
            let found = go(folder, input, output, &labeled(&["y", "x", "z"], &[]));
            assert!(matches!(found, Err(Error::DimsRank { rank: 2, .. })), "{input} {output}");
        }
    }
}

#[test]
fn times_are_integers_with_units() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let days: Vec<u8> = [1_i64, 2, i64::MIN].iter().flat_map(|it| it.to_le_bytes()).collect();
    let array = npy("<M8[D]", "False", "(3,)", &days);
    fs::write(folder.join("t.npy"), &array).unwrap();
    archive(&folder.join("t.npz"), &[("t", array)]);
    for input in ["t.npy", "t.npz"] {
        for output in ["out.tet", "out.zt", "out.tgm"] {
            go(folder, input, output, &ConvertOptions::default()).unwrap();
            let opened = crate::common::opened(&folder.join(output));
            let dataset = &opened.catalog.datasets()[0];
            let units = tet_query::AttrText::Text("days since 1970-01-01".to_owned());
            assert_eq!(dataset.dtype_name, "int64");
            assert_eq!(dataset.attrs.get("units"), Some(&units), "{input} {output}");
            assert_eq!(crate::common::read(&opened, "t").bytes(), days);
        }
    }
}
