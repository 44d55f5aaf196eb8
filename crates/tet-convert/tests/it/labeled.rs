//! Selections as text keep the labels of their axes, and are read again as what they were.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::world::{archive, dims, floats, labels};
use crate::common::{npy, opened, read};
use serde_json::{Value, json};
use tet_convert::{
    ConvertOptions, Note, Origin, ResultCatalog, ResultOptions, TextLayout, convert,
};
use tet_query::{
    Catalog, Execution, Hyperslab, NoLabels, Op, Params, Reduction, Selection, SelectionNote,
};

/// `t` over `day`, which has labels that need quotes, and `x`, which a dataset of numbers labels.
fn input(folder: &Path) -> Catalog {
    let values = [1.5_f32, f32::NAN, -0.0, f32::INFINITY, 1e-30, 7.0];
    let values = floats(&values);
    let x: Vec<u8> = [10_i16, -20, 30].iter().flat_map(|it| it.to_le_bytes()).collect();
    let arrays =
        [("t", npy("<f4", "False", "(2, 3)", &values)), ("x", npy("<i2", "False", "(3,)", &x))];
    let path = folder.join("in.npz");
    archive(&path, &arrays);
    let mut options = ConvertOptions::default();
    options.tet.dims = vec![dims("t", &["day", "x"]), dims("x", &["x"])];
    options.tet.labels = vec![labels(Some("t"), "day", &["Jan, 1st", "the \"2nd\""])];
    let output = folder.join("in.tet");
    convert(&path, &output, &options).unwrap();
    opened(&output).catalog
}

/// The text that a selection is written as.
fn written(catalog: &Catalog, slice: &str, name: &str, layout: TextLayout) -> String {
    let dataset = catalog.find("t").unwrap();
    let slab = match slice {
        "" => Hyperslab::whole(dataset.shape()),
        slice => Selection::parse(slice).unwrap().resolve(dataset, &NoLabels).unwrap(),
    };
    let history = Some(Origin { at: 0 });
    let options = ResultOptions { layout, history, ..ResultOptions::default() };
    let result = ResultCatalog::of_selection(catalog, dataset, &slab, &options).unwrap();
    let path = catalog.source().path().unwrap().with_file_name(name);
    let _ = fs::remove_file(&path);
    let written = result.write(&path, &options).unwrap();
    // A part of a chunk is not compared with the checksum of all of it.
    assert!(written.notes.iter().all(|note| *note == Note::Unchecked), "{:?}", written.notes);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(written.bytes, text.len() as u64);
    text
}

#[test]
fn tables_have_a_column_for_each_axis() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = input(folder.path());
    let tidy = "day,x,t\n\"Jan, 1st\",10,1.5\n\"Jan, 1st\",-20,NaN\n\"Jan, 1st\",30,-0.0\n\
                \"the \"\"2nd\"\"\",10,inf\n\"the \"\"2nd\"\"\",-20,1e-30\n\"the \"\"2nd\"\"\",30,7.0\n";
    assert_eq!(written(&catalog, "", "a.csv", TextLayout::Tidy), tidy);
    let again = opened(&folder.path().join("a.csv"));
    let days = again.catalog.find("day").unwrap();
    let texts = days.read_texts(&Hyperslab::whole(&[6]), &Default::default()).unwrap().value;
    assert_eq!((texts[0].as_str(), texts[5].as_str()), ("Jan, 1st", "the \"2nd\""));
    let numbers: Vec<f64> =
        (0..6).map(|at| read(&again, "t").get(at).unwrap().to_f64().unwrap()).collect();
    assert_eq!((numbers[0], numbers[3], numbers[5]), (1.5, f64::INFINITY, 7.0));
    assert!(numbers[1].is_nan() && numbers[2].is_sign_negative());
    let wide =
        "day,x=10,x=-20,x=30\n\"Jan, 1st\",1.5,NaN,-0.0\n\"the \"\"2nd\"\"\",inf,1e-30,7.0\n";
    assert_eq!(written(&catalog, "", "b.csv", TextLayout::Wide), wide);
    assert_eq!(opened(&folder.path().join("b.csv")).catalog.datasets().len(), 4);
    let tabs = written(&catalog, "1, 1:", "c.tsv", TextLayout::Tidy);
    assert_eq!(tabs, "x\tt\n-20\t1e-30\n30\t7.0\n");
    let wide_row = written(&catalog, "1, 1:", "d.csv", TextLayout::Wide);
    assert_eq!(wide_row, tabs.replace('\t', ","), "one axis has no columns to spread over");
    assert_eq!(written(&catalog, "0, 2", "e.csv", TextLayout::Tidy), "t\n-0.0\n");
    assert_eq!(written(&catalog, "", "f.csv", TextLayout::Bare), "1.5,NaN,-0.0\ninf,1e-30,7.0\n");
    assert_eq!(written(&catalog, "1:1", "g.csv", TextLayout::Tidy), "day,x,t\n");
}

/// The axes of reductions are labeled too: what is kept, what is made, and where the bins of counts are.
#[test]
fn reductions_keep_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = input(folder.path());
    let dataset = catalog.find("t").unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    let write = |reduction: &Reduction, name: &str| {
        let how = Execution::default();
        let reduced = Arc::new(dataset.reduce(&slab, reduction, &how).unwrap());
        let options = ResultOptions::default();
        let result =
            ResultCatalog::of_reduced(&catalog, dataset, &slab, &reduced, &options).unwrap();
        let path = folder.path().join(name);
        result.write(&path, &options).unwrap();
        path
    };
    let path = write(&Reduction::along(Op::Count, vec![0]), "a.csv");
    assert_eq!(fs::read_to_string(path).unwrap(), "x,t_count\n10,2\n-20,2\n30,2\n");
    let path = write(&Reduction::along(Op::NanMax, vec![1]), "b.nc");
    let file = opened(&path);
    let found = file.catalog.find("t").unwrap();
    assert_eq!((found.dims.as_slice(), found.shape()), (&["day".to_owned()][..], &[2][..]));
    assert_eq!(found.attrs["cell_methods"].text(), "x: maximum");
    let path = write(&Reduction::along(Op::NanMax, vec![1]), "b.tet");
    let file = opened(&path);
    assert_eq!(file.catalog.find("t").unwrap().coords[&0][0], "Jan, 1st");
    let mut histogram = Reduction::all(Op::Histogram);
    histogram.params = Params { bins: 2, range: Some((0.0, 4.0)), ..Params::default() };
    let path = write(&histogram, "c.json");
    let value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(value["coords"][0], json!(["0.0 .. 2.0", "2.0 .. 4.0"]));
    assert_eq!(value["attrs"], json!({"bin_edges": [0.0, 2.0, 4.0], "below": [0], "above": [2]}));
    assert_eq!(value["values"], json!([3, 0]));
}

#[test]
fn objects_have_names_labels_and_history() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = input(folder.path());
    let text = written(&catalog, ":, ::2", "a.json", TextLayout::Tidy);
    let value: Value = serde_json::from_str(&text).unwrap();
    let wanted = json!({
        "schema": "tet.array/1", "name": "t", "dtype": "float32", "shape": [2, 2],
        "dims": ["day", "x"], "coords": [["Jan, 1st", "the \"2nd\""], [10, 30]], "attrs": {},
        "history": "1970-01-01T00:00:00Z tet select \"in.tet\" dataset=\"t\" selection=\"0:2, 0:3:2\"",
        "values": [[1.5, -0.0], ["Infinity", 7.0]],
    });
    assert_eq!(value, wanted);
    let lists = written(&catalog, ":, ::2", "b.json", TextLayout::Bare);
    assert_eq!(serde_json::from_str::<Value>(&lists).unwrap(), wanted["values"]);
}

/// Selections of a whole file: each dataset along the axes that it has, with its labels and coordinates.
#[test]
fn a_part_of_a_file_is_selected_along_axes_of_all_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = input(folder.path());
    let input = folder.path().join("in.tet");
    let values = |catalog: &Catalog, name: &str| {
        let dataset = catalog.find(name).unwrap();
        let all = Hyperslab::whole(dataset.shape());
        dataset.read(&all, &Execution::default()).unwrap().value.bytes().to_vec()
    };
    let part = |slice: &str, name: &str| {
        let dataset = catalog.find(name).unwrap();
        let slab = Selection::parse(slice).unwrap().resolve(dataset, &NoLabels).unwrap();
        dataset.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec()
    };
    let select = |text: &str, output: &str| {
        let mut options = ConvertOptions::default();
        options.select = Some(text.to_owned());
        let output = folder.path().join(output);
        convert(&input, &output, &options).map(|_| opened(&output).catalog)
    };
    for output in ["out.tet", "out.nc", "out.zarr", "out.npz", "out.zt", "out.tgm", "out.h5"] {
        let written = select("x#1:3", output).unwrap();
        assert_eq!(values(&written, "x"), part("1:3", "x"), "{output}");
        assert_eq!(values(&written, "t"), part(":, 1:3", "t"), "{output}");
    }
    // By a label of numbers, which is in another dataset, and by a text, which drops the axis.
    let written = select("x=\"30\", day=\"the \\\"2nd\\\"\"", "point.tet").unwrap();
    assert_eq!(values(&written, "t"), part("1, 2", "t"));
    assert_eq!(values(&written, "x"), part("2", "x"));
    let written = select("day#0:1", "day.tet").unwrap();
    let t = written.find("t").unwrap();
    assert_eq!(
        (t.shape(), t.coords.get(&0).map(Vec::as_slice)),
        (&[1, 3][..], Some(&["Jan, 1st".to_owned()][..]))
    );
    assert_eq!(values(&written, "x"), values(&catalog, "x"));
    let history = opened(&folder.path().join("day.tet")).tet.unwrap().history().to_vec();
    assert!(history.iter().all(|row| row.op != "convert"), "no origin, no history");
    let mut empty = ConvertOptions::default();
    empty.select = Some("x#2:1".to_owned());
    let refused = convert(&input, &folder.path().join("empty.npz"), &empty).unwrap_err();
    assert!(refused.to_string().contains("the selection is empty along"), "{refused}");
    empty.allow_empty = true;
    let report = convert(&input, &folder.path().join("empty.npz"), &empty).unwrap();
    let is_told = |note: &&Note| matches!(note, Note::Selection(SelectionNote::Empty { .. }));
    assert_eq!(report.notes.iter().filter(is_told).count(), 2, "{:?}", report.notes);
    for (text, wanted) in [
        ("z=0", "no axis \"z\""),
        ("x=10:20, z=0", "no axis \"z\""),
        ("0:2", "for one dataset"),
        ("x#7:9", "7"),
        ("x=10:20", "in no order"),
        ("x=\"11\"", "11"),
    ] {
        let error = select(text, "none.tet").unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
        assert!(!folder.path().join("none.tet").exists());
    }
    let mut one = ConvertOptions::default();
    one.select = Some("0, ::2".to_owned());
    one.tet.include = vec!["t".to_owned()];
    let output = folder.path().join("one.npy");
    convert(&input, &output, &one).unwrap();
    assert_eq!(values(&opened(&output).catalog, "#0"), part("0, ::2", "t"));
}
