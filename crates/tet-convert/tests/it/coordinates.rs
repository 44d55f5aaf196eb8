//! Results take the coordinate datasets of their axes along.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::path::Path;
use std::sync::Arc;

use tet_convert::{OpenOptions, Opened, ResultCatalog, ResultOptions, open};
use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_file::write::{DatasetSpec, WriteOptions, Writer};
use tet_format::DType;
use tet_io::{Overwrite, Progress};
use tet_query::{
    AttrText, Axes, AxisPicks, CatalogLabels, Choice, Execution, LabelLookup, LazyArray, Method,
    NanPolicy, NoLabels, Selection, Transform,
};

/// `temp` over `x` and `y`, which datasets of these names label, and a `z` that labels nothing.
fn labeled(folder: &Path) -> Opened {
    let path = folder.join("labeled.tet");
    let one = |name, extent: u64| DatasetSpec::new(name, DType::Int32, &[extent][..], &[2][..]);
    let temp = DatasetSpec::new("temp", DType::Float32, &[5, 4][..], &[2, 2][..]);
    let specs = vec![one("x", 5), temp, one("y", 4), one("z", 5)];
    let mut writer = Writer::create(&path, specs, &WriteOptions::default()).unwrap();
    for (id, scale) in [(0, 10), (1, 1), (2, 100), (3, 7)] {
        let fill = &mut |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
            let first = i32::try_from(chunk.linear * 2).unwrap();
            let count = i32::try_from(chunk.decoded_len / 4).unwrap();
            out.extend((first..first + count).flat_map(|at| (at * scale).to_le_bytes()));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    let mut about = DatasetMetadata::default();
    about.dim_names = vec!["x".to_owned(), "y".to_owned()];
    let mut metadata = Metadata::new();
    metadata.datasets.insert("temp".to_owned(), about);
    let mut about = DatasetMetadata::default();
    about.attrs.insert("units".to_owned(), AttrValue::from("m"));
    metadata.datasets.insert("x".to_owned(), about);
    writer.finish(&metadata, &[]).unwrap();
    open(&path, &OpenOptions::default()).unwrap()
}

#[test]
fn coordinate_datasets_come_along_as_they_are_selected() {
    let folder = tempfile::tempdir().unwrap();
    let opened = labeled(folder.path());
    let temp = opened.catalog.find("temp").unwrap();
    let picks = vec![AxisPicks { axis: 0, positions: vec![0, 2].into() }];
    let transform =
        Transform { method: Method::Center, axes: Axes::All, nan: NanPolicy::Propagate };
    let replacing = ResultOptions { overwrite: Overwrite::Replace, ..ResultOptions::default() };
    let none: &[&str] = &[];
    for (text, picks, transform, x, y) in [
        (":", vec![], None, &["0", "10", "20", "30", "40"][..], &["0", "100", "200", "300"][..]),
        ("1:4:2, 1:3", vec![], Some(transform.clone()), &["10", "30"], &["100", "200"]),
        ("1:, 3", picks, Some(transform), &["10", "30"], none),
        ("2:2, 1:", vec![], None, none, &["100", "200", "300"]),
    ] {
        let slab = Selection::parse(text).unwrap().resolve(temp, &NoLabels).unwrap();
        let choice = Choice { filter: None, picks };
        let how = Execution::default();
        let lazy = LazyArray::new(temp, &slab, choice, transform, &how).unwrap();
        let (path, shape) = (folder.path().join("out.tet"), lazy.shape().clone());
        let result = ResultCatalog::of_array(&opened.catalog, &Arc::new(lazy), &replacing);
        result.unwrap().write(&path, &replacing).unwrap();
        let again = open(&path, &OpenOptions::default()).unwrap();
        let result = &again.catalog.datasets()[0];
        assert_eq!(result.shape(), &*shape);
        let labels = CatalogLabels::new(&again.catalog, result, &Execution::default());
        for (axis, name) in result.dims.iter().enumerate() {
            let wanted = if name == "x" { x } else { y };
            let found = labels.labels(axis).unwrap().expect("the axis is labeled");
            let found: Vec<_> = (0..found.len()).filter_map(|at| found.text(at)).collect();
            assert_eq!(found, wanted, "{text} {name}");
        }
        // One position of an axis is a scalar coordinate.
        assert_eq!(again.catalog.datasets().len(), 3, "and nothing else");
        let units = &again.catalog.find("x").unwrap().attrs["units"];
        assert_eq!(*units, AttrText::Text("m".to_owned()));
    }
}
