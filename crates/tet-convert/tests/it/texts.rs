//! Datasets of text: read, selected, used as labels, written as text, left out elsewhere.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use crate::common::deep;
use std::fs;
use std::path::Path;

use tet_convert::{ConvertOptions, Note, OpenOptions, Opened, convert, open};
use tet_query::{CatalogLabels, Error, Execution, Hyperslab, LabelLookup, Selection};

const NAMES: [&str; 5] = ["Bergen", "Z\u{fc}rich", "", "K\u{f8}benhavn", "Rio"];

fn fixture(name: &str) -> Opened {
    open(crate::common::fixture(name), &OpenOptions::default()).unwrap()
}

/// The texts that a selection, written as for `tet cat`, names.
fn texts(opened: &Opened, name: &str, selection: &str) -> Vec<String> {
    let dataset = opened.catalog.find(name).unwrap();
    let how = Execution::default();
    let labels = CatalogLabels::new(&opened.catalog, dataset, &how);
    let selection = match selection {
        "" => Selection::all(),
        text => Selection::parse(text).unwrap(),
    };
    let slab = selection.resolve(dataset, &labels).unwrap();
    dataset.read_texts(&slab, &how).unwrap().value
}

fn grid() -> Vec<String> {
    let cell = |at: usize| format!("r{}c{}", at / 3, at % 3).repeat(at / 3 + 1);
    (0..12).map(cell).collect()
}

#[test]
fn texts_of_hdf5_are_read() {
    let file = fixture("texts.h5");
    assert_eq!(texts(&file, "padded", ""), NAMES);
    assert_eq!(texts(&file, "spaces", ""), ["ab  c", ""]);
    assert_eq!(texts(&file, "variable", ""), NAMES);
    assert_eq!(texts(&file, "variable", "::2"), [NAMES[0], NAMES[2], NAMES[4]]);
    let all = grid();
    for name in ["grid", "fixed"] {
        assert_eq!(texts(&file, name, ""), all, "{name}");
        let wanted = [&all[5], &all[3], &all[11], &all[9]].map(String::as_str);
        let mut found = texts(&file, name, "1::2, ::2");
        found.swap(0, 1);
        found.swap(2, 3);
        assert_eq!(found, wanted, "{name}");
    }
    assert_eq!(texts(&file, "one", ""), ["a,\"b\"\n"]);
    assert_eq!(texts(&file, "absent", ""), ["", "", ""]);
    assert_eq!(texts(&file, "broken", ""), ["\u{fffd}\u{fffd}a"]);
    let bytes = file.catalog.find("broken.bytes").unwrap();
    let read = bytes.read_as::<u8>(&Hyperslab::whole(&[1, 3]), &Execution::default()).unwrap();
    assert_eq!(read.value, [0xff, 0xfe, b'a']);
}

#[test]
fn texts_of_netcdf_are_read() {
    for name in ["texts_classic.nc", "texts_four.nc"] {
        let file = fixture(name);
        let station = file.catalog.find("station").unwrap();
        assert_eq!(
            (&*station.dtype_name, station.shape(), &*station.dims),
            ("string", &[3][..], &["station".to_owned()][..])
        );
        assert_eq!(texts(&file, "station", ""), ["ab", "c", "defg"], "{name}");
        assert_eq!(texts(&file, "flag", ""), ["y"], "{name}");
        let bytes = file.catalog.find("station.bytes").unwrap();
        let slab = Hyperslab::whole(bytes.shape());
        let read = bytes.read_as::<u8>(&slab, &Execution::default()).unwrap().value;
        assert_eq!(read, b"ab\0\0c\0\0\0defg", "{name}");
        // Text labels the axis that has its name.
        let temp = file.catalog.find("temp").unwrap();
        let labels = CatalogLabels::new(&file.catalog, temp, &Execution::default());
        assert_eq!(labels.labels(0).unwrap().unwrap().first_equal("c"), Some(1), "{name}");
    }
    assert_eq!(texts(&fixture("texts_four.nc"), "words", ""), ["x", "", "\u{e4}"]);
}

#[test]
fn texts_of_zarr_and_numpy_are_read() {
    for name in ["texts_v2.zarr.zip", "texts_v3.zarr.zip"] {
        let file = fixture(name);
        let mut wanted = NAMES;
        wanted[4] = "-";
        assert_eq!(texts(&file, "fixed", ""), wanted, "{name}");
        assert_eq!(texts(&file, "bytes", ""), ["ab", "c", "", "defg", "h", "i"], "{name}");
        assert_eq!(texts(&file, "bytes", "1, ::2"), ["defg", "i"], "{name}");
        let wanted = ["a", "\u{e9}\u{e9}", "", "none", "none", "none"];
        assert_eq!(texts(&file, "variable", ""), wanted, "{name}");
        assert_eq!(texts(&file, "variable", ":, 1"), [wanted[1], wanted[4]], "{name}");
    }
    assert_eq!(texts(&fixture("texts.npy"), "texts", ""), ["a", "bc", "\u{e9}", ""]);
}

#[test]
fn coordinates_are_those_of_the_nearest_group() {
    let file = fixture("texts.h5");
    let temp = file.catalog.find("g/h/temp").unwrap();
    let labels = CatalogLabels::new(&file.catalog, temp, &Execution::default());
    assert_eq!(labels.labels(1).unwrap().unwrap().first_equal("Rio"), Some(4));
    assert_eq!(labels.labels(0).unwrap().unwrap().first_equal("20"), Some(1));
    let slab = Selection::parse("station=\"Z\u{fc}rich\"").unwrap().resolve(temp, &labels).unwrap();
    let read = temp.read_as::<f32>(&slab, &Execution::default()).unwrap().value;
    assert_eq!(read, [1.0, 6.0]);
}

#[test]
fn text_has_no_mean() {
    for (file, name) in [("texts.h5", "grid"), ("texts_v3.zarr.zip", "variable")] {
        let file = fixture(file);
        let dataset = file.catalog.find(name).unwrap();
        let found = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default());
        assert!(matches!(found, Err(Error::Text { .. })), "{found:?}");
    }
}

#[test]
fn texts_become_labels_lines_or_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let input = crate::common::fixture("texts.h5");
    let to = |name: &str, include: &[&str]| {
        let mut options = ConvertOptions::default();
        options.tet.include = include.iter().map(|&name| name.to_owned()).collect();
        convert(&input, &folder.join(name), &options)
    };
    for name in ["all.tet", "all.npz", "all.zt", "all.nc3"] {
        let report = to(name, &[]).unwrap();
        let names: Vec<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["g/h/temp", "g/time"], "{name}");
        let left = |dataset: &str| {
            let is_it = |note: &&Note| matches!(note, Note::LeftBehind { dataset: it, what: "texts", .. } if it == dataset);
            report.notes.iter().filter(is_it).count()
        };
        assert_eq!((left("grid"), left("g/station")), (1, 0), "{name}");
    }
    let written = crate::common::opened(&folder.join("all.tet"));
    let temp = written.catalog.find("g/h/temp").unwrap();
    assert_eq!(temp.coords.get(&1).unwrap(), &NAMES);
    to("names.csv", &["variable"]).unwrap();
    // An empty line would be no row.
    let lines = NAMES.map(|name| if name.is_empty() { "\"\"" } else { name });
    let wanted = format!("variable\n{}\n", lines.join("\n"));
    assert_eq!(fs::read_to_string(folder.join("names.csv")).unwrap(), wanted);
    to("one.csv", &["one"]).unwrap();
    assert_eq!(fs::read_to_string(folder.join("one.csv")).unwrap(), "one\n\"a,\"\"b\"\"\n\"\n");
    to("grid.csv", &["grid"]).unwrap();
    let rows: Vec<String> = grid().chunks(3).map(|row| row.join(",")).collect();
    let wanted = format!("grid_0,grid_1,grid_2\n{}\n", rows.join("\n"));
    assert_eq!(fs::read_to_string(folder.join("grid.csv")).unwrap(), wanted);
    // Nothing else is there to be written.
    assert!(to("one.tet", &["one"]).is_err());
    assert!(to("bytes.npy", &["padded.bytes"]).is_ok());
}

/// A file whose bytes `from`, which it has once, are `to`.
fn changed(folder: &Path, name: &str, from: &[u8], to: &[u8]) -> Opened {
    let mut bytes = fs::read(crate::common::fixture(name)).unwrap();
    let places: Vec<usize> =
        (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    let &[at] = &places[..] else { panic!("{} places", places.len()) };
    bytes[at..at + to.len()].copy_from_slice(to);
    let path = folder.join(format!("changed_{name}"));
    fs::write(&path, bytes).unwrap();
    open(&path, &OpenOptions::default()).unwrap()
}

#[test]
fn a_text_that_is_not_in_its_heap_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = crate::common::fixture("texts.h5");
    let bytes = fs::read(&path).unwrap();
    // The place of the last name: its length, the heap, its number in it.
    let heap = bytes.windows(4).position(|it| it == b"GCOL").unwrap();
    let place = |len: u32, index: u32| {
        [&len.to_le_bytes()[..], &(heap as u64).to_le_bytes(), &index.to_le_bytes()].concat()
    };
    let index =
        (1..100).find(|&index| bytes.windows(16).filter(|it| *it == place(3, index)).count() == 1);
    let index = index.unwrap();
    for (len, to) in [(3, 4000), (3000, index), (u32::MAX, index)] {
        let changed = changed(folder.path(), "texts.h5", &place(3, index), &place(len, to));
        let how = Execution::default();
        let broken: Vec<&str> = changed
            .catalog
            .datasets()
            .iter()
            .filter(|it| {
                it.is_text() && it.read_texts(&Hyperslab::whole(it.shape()), &how).is_err()
            })
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(broken.len(), 1, "{broken:?}");
        let source = changed.catalog.source();
        let report = tet_convert::verify(source, &deep()).unwrap();
        let ids: Vec<&str> = report.findings.iter().map(|it| it.code.id()).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        assert!(ids[0].starts_with("H5-H"), "{ids:?}");
    }
    let sound = fixture("texts.h5");
    let report = tet_convert::verify(sound.catalog.source(), &deep()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
