//! Datasets that a dataset names by the conventions of CF go along with it, and outputs keep how the input is stored.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::common::opened;
use tet_convert::{
    ConvertOptions, Note, Opened, PayloadCodec, ResultCatalog, ResultOptions, convert,
};
use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_file::write::{CodecChoice, DatasetSpec, WriteOptions, Writer};
use tet_format::{DType, Span};
use tet_hdf5::write::{DraftDataset, DraftEnum, DraftLayout, DraftType, Hdf5Draft, SUPERBLOCK_LEN};
use tet_io::Progress;
use tet_query::{
    Axes, Catalog, Dataset, Execution, Hyperslab, NoLabels, Op, Reduction, Selection,
    StoredCompression, Window, WindowAlign, WindowMode,
};

const DATASETS: [(&str, &[&str], &[u64]); 6] = [
    ("time", &["time"], &[6]),
    ("time_bnds", &["time", "bnds"], &[6, 2]),
    ("lat", &["y", "x"], &[2, 3]),
    ("crs", &["one"], &[1]),
    ("qc", &["time", "y", "x"], &[6, 2, 3]),
    ("temp", &["time", "y", "x"], &[6, 2, 3]),
];
const ATTRS: [(&str, &[(&str, &str)]); 2] = [
    ("time", &[("units", "days since 2001-01-01"), ("bounds", "time_bnds"), ("axis", "T")]),
    (
        "temp",
        &[
            ("units", "K"),
            ("long_name", "Temperature"),
            ("standard_name", "air_temperature"),
            ("coordinates", "lat"),
            ("grid_mapping", "crs"),
            ("ancillary_variables", "qc"),
            ("cell_methods", "area: time: mean"),
        ],
    ),
];

/// A grid of temperatures with all that belongs to it; elements count up from 0.
fn grid(folder: &Path) -> PathBuf {
    let path = folder.join("grid.tet");
    let zstd = WriteOptions {
        encoder: CodecChoice::Zstd { level: 1 },
        overwrite: tet_io::Overwrite::Replace,
        ..Default::default()
    };
    let spec = |(name, _, shape): &(&str, &[&str], &[u64])| {
        DatasetSpec::new(*name, DType::Float64, *shape, *shape)
    };
    let mut writer = Writer::create(&path, DATASETS.iter().map(spec).collect(), &zstd).unwrap();
    for id in 0..DATASETS.len() {
        let fill = &mut |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
            let count = u32::try_from(chunk.decoded_len / 8).unwrap();
            out.extend((0..count).flat_map(|at| f64::from(at).to_le_bytes()));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    for (name, dims, _) in DATASETS {
        let mut about = DatasetMetadata::default();
        about.dim_names = dims.iter().map(|dim| (*dim).to_owned()).collect();
        let attrs = ATTRS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, attrs)| attrs);
        about.attrs =
            attrs.iter().map(|(key, value)| ((*key).to_owned(), AttrValue::from(*value))).collect();
        metadata.datasets.insert(name.to_owned(), about);
    }
    writer.finish(&metadata, &[]).unwrap();
    path
}

fn names(catalog: &Catalog) -> Vec<&str> {
    let mut names: Vec<&str> = catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    names
}

fn attr<'c>(catalog: &'c Catalog, dataset: &str, key: &str) -> Option<&'c str> {
    catalog.find(dataset).unwrap().attrs.get(key).map(|it| it.text())
}

fn numbers(dataset: &Dataset) -> Vec<f64> {
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default()).unwrap().value;
    (0..array.len()).map(|at| array.get(at).unwrap().to_f64().unwrap()).collect()
}

/// Writes a reduction of the temperatures, and reads it again.
fn reduced(folder: &Path, reduction: &Reduction, name: &str) -> (Opened, Vec<Note>) {
    let input = opened(&grid(folder));
    let temp = input.catalog.find("temp").unwrap();
    let slab = Hyperslab::whole(temp.shape());
    let answer = Arc::new(temp.reduce(&slab, reduction, &Execution::default()).unwrap());
    let options = ResultOptions::default();
    let result = ResultCatalog::of_reduced(&input.catalog, temp, &slab, &answer, &options).unwrap();
    let path = folder.join(name);
    let written = result.write(&path, &options).unwrap();
    (opened(&path), written.notes)
}

#[test]
fn a_mean_has_what_still_fits_and_says_what_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (file, notes) = reduced(folder.path(), &Reduction::along(Op::Mean, vec![0]), "mean.nc");
    let catalog = &file.catalog;
    assert_eq!(names(catalog), ["crs", "lat", "temp"]);
    assert_eq!(attr(catalog, "temp", "coordinates"), Some("lat"));
    assert_eq!(attr(catalog, "temp", "grid_mapping"), Some("crs"));
    assert_eq!(attr(catalog, "temp", "ancillary_variables"), None);
    assert_eq!(attr(catalog, "temp", "cell_methods"), Some("area: time: mean"), "once");
    let wanted = Note::NamesLeftOut {
        dataset: "temp".to_owned(),
        attrs: vec!["ancillary_variables".to_owned()],
        names: vec!["qc".to_owned()],
    };
    assert!(notes.contains(&wanted), "{notes:?}");
    assert_eq!(numbers(catalog.find("lat").unwrap()), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_count_is_no_temperature() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = reduced(folder.path(), &Reduction::along(Op::Count, vec![0]), "count.nc");
    assert_eq!(attr(&file.catalog, "temp_count", "units"), Some("1"));
    assert_eq!(attr(&file.catalog, "temp_count", "long_name"), Some("count of Temperature"));
    assert_eq!(attr(&file.catalog, "temp_count", "standard_name"), None);
    let (file, _) = reduced(folder.path(), &Reduction::along(Op::Var, vec![0]), "var.nc");
    assert_eq!(attr(&file.catalog, "temp", "units"), Some("K2"));
}

#[test]
fn windows_over_times_are_times_with_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let mut rolling = Reduction::all(Op::Mean);
    rolling.axes = Axes::Some(Vec::new());
    let (mode, align) = (WindowMode::Rolling, WindowAlign::default());
    let window = Window { axis: 0, size: 3, step: 1, mode, pad: None, align, min_count: None };
    rolling.window = Some(window);
    let (file, _) = reduced(folder.path(), &rolling, "rolling.nc");
    let catalog = &file.catalog;
    assert_eq!(numbers(catalog.find("time").unwrap()), [1.0, 2.0, 3.0, 4.0]);
    // The bounds of the input are 0 1, 2 3, 4 5 and so on.
    let bounds = numbers(catalog.find("time_bnds").unwrap());
    assert_eq!(bounds, [0.0, 5.0, 2.0, 7.0, 4.0, 9.0, 6.0, 11.0]);
    assert_eq!(attr(catalog, "time", "units"), Some("days since 2001-01-01"));
    assert_eq!(attr(catalog, "time", "bounds"), Some("time_bnds"));
}

#[test]
fn one_position_of_an_axis_is_a_scalar_coordinate() {
    let folder = tempfile::tempdir().unwrap();
    let input = opened(&grid(folder.path()));
    let temp = input.catalog.find("temp").unwrap();
    let slab = Selection::parse("2").unwrap().resolve(temp, &NoLabels).unwrap();
    let options = ResultOptions::default();
    let result = ResultCatalog::of_selection(&input.catalog, temp, &slab, &options).unwrap();
    let path = folder.path().join("point.nc");
    result.write(&path, &options).unwrap();
    let catalog = opened(&path).catalog;
    assert_eq!(names(&catalog), ["crs", "lat", "qc", "temp", "time", "time_bnds"]);
    let time = catalog.find("time").unwrap();
    assert_eq!((time.shape(), numbers(time)), (&[][..], vec![2.0]));
    assert_eq!(numbers(catalog.find("time_bnds").unwrap()), [4.0, 5.0]);
    assert_eq!(attr(&catalog, "temp", "coordinates"), Some("lat time"));
}

#[test]
fn a_dataset_that_is_asked_for_brings_what_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let input = grid(folder.path());
    let all = ["crs", "lat", "qc", "temp", "time", "time_bnds"];
    for output in ["all.nc", "all.zarr", "all.h5", "all.nc3", "all.tet", "all.npz"] {
        let mut options = ConvertOptions::default();
        options.tet.include = vec!["temp".to_owned()];
        let output = folder.path().join(output);
        convert(&input, &output, &options).unwrap();
        assert_eq!(names(&opened(&output).catalog), all, "{}", output.display());
        options.tet.exclude = vec!["lat".to_owned(), "time_bnds".to_owned()];
        options.tet.overwrite = tet_io::Overwrite::Replace;
        options.select = Some("time#1:3".to_owned());
        let report = convert(&input, &output, &options).unwrap();
        let catalog = opened(&output).catalog;
        assert_eq!(names(&catalog), ["crs", "qc", "temp", "time"]);
        assert_eq!(numbers(catalog.find("time").unwrap()), [1.0, 2.0]);
        let is_told = |note: &&Note| matches!(note, Note::NamesLeftOut { .. });
        assert_eq!(report.notes.iter().filter(is_told).count(), 2, "{:?}", report.notes);
    }
    let mut one = ConvertOptions::default();
    one.tet.include = vec!["temp".to_owned()];
    convert(&input, &folder.path().join("one.npy"), &one).unwrap();
}

#[test]
fn what_is_compressed_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let input = grid(folder.path());
    let stored = |output: &str, codec: Option<PayloadCodec>, level: Option<i32>, from: &Path| {
        let mut options = ConvertOptions::default();
        (options.storage.codec, options.storage.level) = (codec, level);
        let output = folder.path().join(output);
        convert(from, &output, &options).unwrap();
        let catalog = opened(&output).catalog;
        ["temp", "time"].map(|name| catalog.find(name).unwrap().chunks.compression())
    };
    let deflate = Some(StoredCompression { deflate_level: Some(4), is_shuffled: true });
    assert_eq!(stored("a.nc", None, None, &input), [deflate, None]);
    assert_eq!(stored("raw.nc", Some(PayloadCodec::Raw), None, &input), [None; 2]);
    let [temp, time] = stored("zstd.nc", Some(PayloadCodec::Zstd), Some(1), &input);
    assert!(temp.is_some_and(|it| it.deflate_level.is_none()));
    assert_eq!(time, None, "coordinates are read without a plugin");
    stored("b.h5", Some(PayloadCodec::Gzip), Some(7), &input);
    let level = stored("c.nc", None, None, &folder.path().join("b.h5"));
    assert_eq!(level[0].and_then(|it| it.deflate_level), Some(7));
    // NetCDF of programs without the plugin never gets zstd unasked.
    assert_eq!(stored("d.nc", None, None, &folder.path().join("zstd.nc"))[0], deflate);
}

#[test]
fn integers_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clouds.h5");
    let span = Span::new(SUPERBLOCK_LEN, 3).unwrap();
    let layout = DraftLayout::Contiguous(Some(span));
    let number = DraftType::Number(DType::UInt8);
    let mut clouds = DraftDataset::new("clouds", number, &[3], layout);
    clouds.enumeration = Some(0);
    let members = vec![("clear".to_owned(), vec![0]), ("overcast".to_owned(), vec![9])];
    let of = DraftEnum { path: None, dtype: DType::UInt8, members: members.clone() };
    let draft = Hdf5Draft { datasets: vec![clouds], types: vec![of], ..Hdf5Draft::default() };
    let rest = draft.encode(span.end()).unwrap();
    std::fs::write(&path, [&rest.superblock[..], &[0, 9, 0], &rest.metadata].concat()).unwrap();
    for output in ["a.h5", "a.nc", "a.nc3", "a.zarr", "a.tet"] {
        let to = folder.path().join(output);
        convert(&path, &to, &ConvertOptions::default()).unwrap();
        let catalog = opened(&to).catalog;
        let found = catalog.find("clouds").unwrap();
        assert_eq!(numbers(found), [0.0, 9.0, 0.0]);
        assert_eq!(attr(&catalog, "clouds", "flag_meanings"), Some("clear overcast"), "{output}");
        let is_hdf5 = ["a.h5", "a.nc"].contains(&output);
        let kept = found.enumeration.as_ref().map(|it| it.members.clone());
        assert_eq!(kept, is_hdf5.then(|| members.clone()), "{output}");
    }
}
