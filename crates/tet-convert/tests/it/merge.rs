//! Several files as one: datasets of all, each once, or one behind the other along an axis.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::path::{Path, PathBuf};

use super::common::opened;
use tet_convert::{Conflict, ConvertOptions, Error, concat, convert, convert_merged};
use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
use tet_format::DType;
use tet_query::{Execution, Hyperslab};

/// A dataset: its name, the names and extents of its axes, the first of its numbers, and its unit.
type Column<'a> = (&'a str, &'a [(&'a str, u64)], i32, &'a str);

/// A file of datasets of int32 that count, with an attribute `title`.
fn file(folder: &Path, name: &str, title: Option<&str>, columns: &[Column<'_>]) -> PathBuf {
    let path = folder.join(name);
    let spec = |column: &Column<'_>| {
        let shape: Vec<u64> = column.1.iter().map(|axis| axis.1).collect();
        DatasetSpec::new(column.0, DType::Int32, &shape[..], &shape[..])
    };
    let specs = columns.iter().map(spec).collect();
    let mut writer = Writer::create(&path, specs, &WriteOptions::default()).unwrap();
    let mut metadata = Metadata::new();
    for (id, (name, axes, first, unit)) in columns.iter().enumerate() {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            let count = i32::try_from(chunk.decoded_len / 4).unwrap();
            out.extend((0..count).flat_map(|at| (first + at).to_le_bytes()));
            Ok(())
        };
        writer.write_dataset(id, fill, &Default::default()).unwrap();
        let mut about = DatasetMetadata::default();
        about.dim_names = axes.iter().map(|axis| axis.0.to_owned()).collect();
        about.attrs.insert("units".to_owned(), AttrValue::from(*unit));
        metadata.datasets.insert((*name).to_owned(), about);
    }
    metadata.file.extend(title.map(|title| ("title".to_owned(), AttrValue::from(title))));
    writer.finish(&metadata, &[]).unwrap();
    path
}

/// The numbers of a dataset.
fn numbers(path: &Path, name: &str) -> Vec<i32> {
    let opened = opened(path);
    let dataset = opened.catalog.only_named(name).unwrap();
    let whole = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&whole, &Execution::default()).unwrap().value;
    array.bytes().as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()
}

const LAT: Column<'static> = ("lat", &[("lat", 3)], 40, "degrees");
const TEMP: Column<'static> = ("temp", &[("time", 4), ("lat", 3)], 0, "K");
const WIND: Column<'static> = ("wind", &[("lat", 3)], 7, "m s-1");

#[test]
fn datasets_of_all_files_are_written_and_equal_ones_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = file(folder.path(), "first.tet", Some("A year"), &[LAT, TEMP]);
    let tet = file(folder.path(), "second.tet", None, &[WIND, LAT]);
    // The other file of any kind.
    let netcdf = folder.path().join("second.nc");
    convert(&tet, &netcdf, &ConvertOptions::default()).unwrap();
    for second in [&tet, &netcdf] {
        for suffix in ["tet", "nc", "zarr", "npz", "zt"] {
            let kind = second.extension().unwrap().to_string_lossy().into_owned();
            let output = folder.path().join(format!("of-{kind}.{suffix}"));
            let inputs = [first.clone(), second.clone()];
            let report = convert_merged(&inputs, &output, &ConvertOptions::default()).unwrap();
            let mut names: Vec<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["lat", "temp", "wind"], "{output:?}");
            assert_eq!(numbers(&output, "lat"), [40, 41, 42]);
            assert_eq!(numbers(&output, "temp"), (0..12).collect::<Vec<_>>());
            assert_eq!(numbers(&output, "wind"), [7, 8, 9]);
            if suffix != "npz" {
                assert_eq!(opened(&output).catalog.attrs()["title"].text(), "A year");
            }
        }
    }
}

#[test]
fn what_differs_is_refused_with_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let first = file(folder.path(), "first.tet", Some("A year"), &[LAT, TEMP]);
    let cases: [(&str, Option<&str>, Column<'_>, &str); 6] = [
        ("values", None, ("lat", &[("lat", 3)], 41, "degrees"), "3 of 3 elements differ"),
        ("unit", None, ("lat", &[("lat", 3)], 40, "radians"), "attribute \"units\" is"),
        ("axes", None, ("lat", &[("y", 3)], 40, "degrees"), "axes have other names"),
        ("shape", None, ("lat", &[("lat", 2)], 40, "degrees"), "shapes are [3] and [2]"),
        ("extent", None, ("rain", &[("time", 5)], 1, "mm"), "axis \"time\""),
        ("title", Some("A day"), WIND, "attribute \"title\""),
    ];
    for (name, title, column, wanted) in cases {
        let second = file(folder.path(), &format!("{name}.tet"), title, &[column]);
        let output = folder.path().join(format!("{name}-merged.tet"));
        let inputs = [first.clone(), second];
        let error = convert_merged(&inputs, &output, &ConvertOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Merge { .. }), "{name}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(wanted), "{name}: {text}");
        assert!(text.contains("first.tet") && text.contains(&format!("{name}.tet")), "{text}");
        assert!(!output.exists());
        let mut options = ConvertOptions::default();
        options.conflict = Conflict::First;
        let preferred = convert_merged(&inputs, &output, &options);
        // Axes that differ cannot be in one file.
        let is_axis = ["shape", "extent"].contains(&name);
        assert_eq!(preferred.is_err(), is_axis, "{name}: {preferred:?}");
        if !is_axis {
            assert_eq!(numbers(&output, "lat"), [40, 41, 42], "{name}");
            assert_eq!(opened(&output).catalog.attrs()["title"].text(), "A year");
        }
    }
}

#[test]
fn inputs_are_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = file(folder.path(), "first.tet", None, &[LAT, TEMP]);
    let second = file(folder.path(), "second.tet", None, &[WIND]);
    let bytes = std::fs::read(&second).unwrap();
    let mut options = ConvertOptions::default();
    options.tet.overwrite = tet_io::Overwrite::Replace;
    let inputs = [first, second.clone()];
    assert!(convert_merged(&inputs, &second, &options).is_err());
    assert_eq!(std::fs::read(&second).unwrap(), bytes);
}

#[test]
fn files_grow_along_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    let steps = |name: &str, count: u64, first: i32| {
        let temp = ("temp", &[("time", count), ("lat", 3)][..], first * 3, "K");
        let time = ("time", &[("time", count)][..], first, "days since 2000-01-01");
        let tet = file(folder.path(), &format!("{name}.tet"), None, &[time, LAT, temp]);
        let netcdf = folder.path().join(format!("{name}.nc"));
        convert(&tet, &netcdf, &ConvertOptions::default()).unwrap();
        [tet, netcdf]
    };
    let (may, june, july) = (steps("may", 4, 0), steps("june", 5, 4), steps("july", 1, 9));
    for suffix in ["tet", "nc", "zarr"] {
        let output = folder.path().join(format!("summer.{suffix}"));
        let inputs = [may[0].clone(), june[1].clone(), july[0].clone()];
        concat(&inputs, "time", &output, &ConvertOptions::default()).unwrap();
        assert_eq!(numbers(&output, "time"), (0..10).collect::<Vec<_>>(), "{suffix}");
        assert_eq!(numbers(&output, "temp"), (0..30).collect::<Vec<_>>(), "{suffix}");
        assert_eq!(numbers(&output, "lat"), [40, 41, 42], "{suffix}");
        let opened = opened(&output);
        assert_eq!(opened.catalog.only_named("temp").unwrap().dims, ["time", "lat"]);
    }
    // Coordinates have to continue.
    let output = folder.path().join("wrong.tet");
    let inputs = [june[0].clone(), may[0].clone()];
    let error = concat(&inputs, "time", &output, &ConvertOptions::default()).unwrap_err();
    assert!(error.to_string().contains("begins before"), "{error}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap()).collect();
    let is_left = |it: &&std::fs::DirEntry| it.file_name().to_string_lossy().starts_with('.');
    assert!(!output.exists() && !left.iter().any(|it| is_left(&it)), "{left:?}");
}
