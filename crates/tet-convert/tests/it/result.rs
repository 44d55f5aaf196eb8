//! Results written to files and read back, and the files that are refused.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{npy, watched};
use tet_convert::{
    Error, Note, OpenOptions, Opened, Origin, ResultCatalog, ResultOptions, WritePolicy, Written,
    open, reduced_array,
};
use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_file::write::{CodecChoice, DatasetSpec, WriteOptions, Writer};
use tet_format::DType;
use tet_io::{Kind, Overwrite, Progress, Source};
use tet_query::{
    Array, AttrText, Axes, AxisPicks, Choice, Compare, Execution, Filter, Hyperslab, LazyArray,
    Method, NanPolicy, NoLabels, Number, Op, Reduction, Selection, Transform,
};

/// Suffixes of formats: of one array, of elements alone, of datasets with labels, of others' types.
const TARGETS: [&str; 8] = ["npy", "raw", "tet", "zt", "npz", "h5", "nc", "zarr.zip"];

/// A file of one dataset `temp`, with names, labels and attributes.
fn source(
    folder: &Path,
    dtype: DType,
    shape: &[u64],
    chunks: &[u64],
    codec: CodecChoice,
) -> Opened {
    let path = folder.join("in.tet");
    let how = WriteOptions { encoder: codec, overwrite: Overwrite::Replace, ..Default::default() };
    let spec = DatasetSpec::new("temp", dtype, shape, chunks);
    let mut writer = Writer::create(&path, vec![spec], &how).unwrap();
    let size = usize::try_from(dtype.size().unwrap()).unwrap();
    let fill = &mut |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
        let count = usize::try_from(chunk.decoded_len).unwrap() / size;
        for nth in 0..count {
            let value = (nth * 7 + usize::try_from(chunk.linear).unwrap() * 31) % 50;
            out.extend(match dtype {
                DType::Float32 => (value as f32).to_le_bytes().to_vec(),
                DType::Float64 => (value as f64).to_le_bytes().to_vec(),
                DType::Float16 => half::f16::from_f64(value as f64).to_le_bytes().to_vec(),
                _ => (value as u64).to_le_bytes()[..size].to_vec(),
            });
        }
        Ok(())
    };
    writer.write_dataset(0, fill, &Progress::default()).unwrap();
    let mut about = DatasetMetadata::default();
    about.dim_names = (0..shape.len()).map(|axis| format!("dim{axis}")).collect();
    let labels = (0..shape[0]).map(|at| format!("label {at}")).collect();
    about.coords.insert("dim0".to_owned(), labels);
    about.attrs = [("units", "K"), ("_FillValue", "7"), ("title", "a title")]
        .map(|(key, value)| (key.to_owned(), AttrValue::from(value)))
        .into();
    about.attrs.insert("valid_range".to_owned(), AttrValue::Json("[0, 50]".to_owned()));
    let mut metadata = Metadata::new();
    metadata.datasets.insert("temp".to_owned(), about);
    writer.finish(&metadata, &[]).unwrap();
    open(&path, &OpenOptions::default()).unwrap()
}

fn slab(opened: &Opened, text: &str) -> Hyperslab {
    let selection = Selection::parse(text).unwrap();
    selection.resolve(&opened.catalog.datasets()[0], &NoLabels).unwrap()
}

fn lazy(
    opened: &Opened,
    text: &str,
    choice: Choice,
    method: Option<(Method, Axes)>,
) -> Arc<LazyArray> {
    let dataset = &opened.catalog.datasets()[0];
    let nan = NanPolicy::Propagate;
    let transform = method.map(|(method, axes)| Transform { method, axes, nan });
    let (slab, how) = (slab(opened, text), Execution::default());
    Arc::new(LazyArray::new(dataset, &slab, choice, transform, &how).unwrap())
}

fn whole(lazy: &LazyArray) -> Array {
    lazy.read(&Hyperslab::whole(lazy.shape()), &Execution::default()).unwrap()
}

fn out_path(folder: &Path, target: &str) -> PathBuf {
    folder.join(format!("out.{target}"))
}

/// Writes an array result, if the policy allows it.
fn write_result(
    opened: &Opened,
    lazy: &Arc<LazyArray>,
    target: &str,
    path: &Path,
    options: &ResultOptions,
) -> tet_convert::Result<Written> {
    let path = WritePolicy::default().resolve(path, opened.catalog.source())?;
    let options = ResultOptions { to: Some(out_path(Path::new(""), target)), ..options.clone() };
    ResultCatalog::of_array(&opened.catalog, lazy, &options)?.write(&path, &options)
}

fn replacing() -> ResultOptions {
    let history = Some(Origin { at: 1_700_000_000 });
    ResultOptions { overwrite: Overwrite::Replace, history, ..ResultOptions::default() }
}

/// Writes a lazy array in every way and reads it back.
fn check(folder: &Path, opened: &Opened, lazy: &Arc<LazyArray>, options: &ResultOptions) {
    let wanted = whole(lazy);
    for target in TARGETS {
        let path = out_path(folder, target);
        let (progress, last) = watched();
        let execution = options.execution.with_progress(progress);
        let options = ResultOptions { execution, ..options.clone() };
        let written = write_result(opened, lazy, target, &path, &options).unwrap();
        assert_eq!(written.bytes, fs::metadata(&path).unwrap().len());
        let (done, all) = *last.lock().unwrap();
        assert_eq!(done, all);
        if target == "raw" {
            assert!(fs::read(&path).unwrap() == wanted.bytes());
            continue;
        }
        let again = open(&path, &OpenOptions::default()).unwrap();
        // Where labels are arrays of their own they may come first; a .npy has the name of its file.
        let datasets = again.catalog.datasets();
        let main = datasets.iter().find(|it| it.name.starts_with("temp"));
        let dataset = main.unwrap_or(&datasets[0]);
        let slab = Hyperslab::whole(dataset.shape());
        let array = dataset.read(&slab, &Execution::default()).unwrap();
        assert_eq!(array.dtype(), wanted.dtype(), "{target:?}");
        assert!(array.bytes() == wanted.bytes(), "{target:?} {:?}", lazy.shape());
        if target == "tet" {
            // That there is nothing in it is worth a word.
            verify(&path, usize::from(wanted.is_empty()));
            let extents = if lazy.shape().is_empty() { &[1][..] } else { lazy.shape() };
            assert_eq!(dataset.shape(), extents);
        }
    }
}

/// Nothing is wrong with the file, and nothing but so many words to be said of it.
fn verify(path: &Path, finding_count: usize) {
    let how = tet_verify::VerifyOptions::default();
    let report = tet_verify::verify(&Source::open(path).unwrap(), &how).unwrap();
    assert!(report.is_ok() && report.findings.len() <= finding_count, "{report:?}");
}

fn above(number: i128, fill: i128) -> Filter {
    let tests = vec![(Compare::Gt, Number::Int(number))];
    Filter { tests, fill: Some(Number::Int(fill)), ..Filter::default() }
}

#[test]
fn results_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let zstd = CodecChoice::Zstd { level: 1 };
    for (nth, dtype) in DType::ALL.iter().filter(|it| it.tet_tag().is_some()).enumerate() {
        for (shape, chunks, texts) in [
            (&[13][..], &[4][..], &[":", "2:11:2", "5", "3:3"][..]),
            (&[7, 9], &[2, 4], &[":", "1:6, 3:8", "::3, ::2", "2", ":, 4"]),
            (&[4, 3, 5], &[3, 2, 5], &[":", "1:, :, 2", "::2, 1:, ::4"]),
            (&[3, 2, 3, 4], &[2, 2, 1, 3], &[":", "1:, :, 1:, 1:3"]),
        ] {
            let codec = if nth % 2 == 0 { CodecChoice::Raw } else { zstd };
            let opened = source(folder.path(), *dtype, shape, chunks, codec);
            for (at, text) in texts.iter().enumerate() {
                let axis = Axes::Some(vec![at % shape.len()]);
                let methods = [
                    None,
                    Some((Method::Center, axis.clone())),
                    Some((Method::MinMax, Axes::All)),
                    Some((Method::Softmax, axis)),
                    Some((Method::Sqrt, Axes::All)),
                ];
                let method = methods[(nth + at) % methods.len()].clone();
                let lazy = lazy(&opened, text, Choice::default(), method);
                let memory_budget = [1 << 30, 5000][nth % 2];
                let execution = Execution { memory_budget, ..Execution::default() };
                check(folder.path(), &opened, &lazy, &ResultOptions { execution, ..replacing() });
            }
            let filter = Some(above(20, 3));
            let picks = vec![AxisPicks { axis: 0, positions: vec![0, 2].into() }];
            let lazy = lazy(&opened, ":", Choice { filter, picks }, None);
            check(folder.path(), &opened, &lazy, &replacing());
        }
    }
}

/// A result larger than all buffers together, written while it is read.
#[test]
fn a_large_result_is_written_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    for chunks in [[64, 4096], [1500, 100]] {
        let shape = [1500, 4096];
        let opened = source(folder.path(), DType::Float32, &shape, &chunks, CodecChoice::Raw);
        for memory_budget in [1 << 30, 8 << 20] {
            let execution = Execution { memory_budget, ..Execution::default() };
            let options = ResultOptions { execution, ..replacing() };
            let method = Some((Method::Center, Axes::Some(vec![0])));
            check(folder.path(), &opened, &lazy(&opened, ":", Choice::default(), method), &options);
            check(
                folder.path(),
                &opened,
                &lazy(&opened, "3:, 7:", Choice::default(), None),
                &options,
            );
        }
    }
}

#[test]
fn a_written_dataset_says_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let zstd = CodecChoice::Zstd { level: 1 };
    let opened = source(folder.path(), DType::Float32, &[6, 4, 5], &[2, 4, 5], zstd);
    let path = folder.path().join("out.tet");
    let picks = vec![AxisPicks { axis: 2, positions: vec![0, 3].into() }];
    let filter = Some(above(3, 0));
    let choice = Choice { filter, picks };
    let method = Some((Method::Sqrt, Axes::Some(vec![0])));
    let lazy = lazy(&opened, "1:6:2, 3, :", choice, method);
    write_result(&opened, &lazy, "tet", &path, &replacing()).unwrap();
    let again = open(&path, &OpenOptions::default()).unwrap();
    let dataset = &again.catalog.datasets()[0];
    assert_eq!((dataset.name.as_str(), dataset.shape()), ("temp_sqrt", &[3, 2][..]));
    assert_eq!(dataset.dims, ["dim0", "dim2"]);
    assert_eq!(dataset.coords[&0], ["label 1", "label 3", "label 5"]);
    let attrs: Vec<&str> = dataset.attrs.keys().map(String::as_str).collect();
    assert_eq!(attrs, ["title"]);
    let [row] = again.tet.as_ref().unwrap().history() else { panic!("one row") };
    assert_eq!([&row.op, &row.source, &row.at], ["transform", "in.tet", "1700000000"]);
    let params: Vec<(&str, &str)> =
        row.params.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let wanted = [
        ("axes", "dim0"),
        ("dataset", "temp"),
        ("filter", "gt 3"),
        ("method", "sqrt"),
        ("selection", "1:6:2, 3, 0:5 (2 picked)"),
    ];
    assert_eq!(params, wanted);
}

#[test]
fn plain_values_keep_name_and_attributes_and_differences_their_unit() {
    let folder = tempfile::tempdir().unwrap();
    let opened = source(folder.path(), DType::Int32, &[6], &[2], CodecChoice::Raw);
    let path = folder.path().join("out.tet");
    let center = Some((Method::Center, Axes::All));
    for (method, name, kept) in [
        (None, "temp", &["_FillValue", "title", "units", "valid_range"][..]),
        (center, "temp_center", &["title", "units"]),
    ] {
        let lazy = lazy(&opened, "1:5", Choice::default(), method);
        let options = ResultOptions { history: None, ..replacing() };
        write_result(&opened, &lazy, "tet", &path, &options).unwrap();
        let again = open(&path, &OpenOptions::default()).unwrap();
        let dataset = &again.catalog.datasets()[0];
        assert_eq!(dataset.name, name);
        assert_eq!(dataset.attrs.keys().collect::<Vec<_>>(), kept);
        assert_eq!(dataset.coords[&0], ["label 1", "label 2", "label 3", "label 4"]);
        assert!(again.tet.unwrap().history().is_empty());
    }
}

#[test]
fn one_value_is_a_scalar() {
    let folder = tempfile::tempdir().unwrap();
    let opened = source(folder.path(), DType::Float64, &[6, 2], &[2, 2], CodecChoice::Raw);
    let lazy = lazy(&opened, "3, 1", Choice::default(), None);
    check(folder.path(), &opened, &lazy, &replacing());
    let again = open(folder.path().join("out.tet"), &OpenOptions::default()).unwrap();
    let attrs = &again.catalog.datasets()[0].attrs;
    assert_eq!(attrs.get("tet:scalar"), Some(&AttrText::Text("1".to_owned())));
    let header = fs::read(folder.path().join("out.npy")).unwrap();
    assert!(String::from_utf8_lossy(&header).contains("'shape': ()"));
}

/// Types without a place in `.tet` are stored as others, and come back.
#[test]
fn foreign_types_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("|i1", vec![0_u8, 1, 0xff, 0x80], DType::Int16, DType::Int8, "ff"),
        ("|b1", vec![0, 1, 1, 0], DType::UInt8, DType::Bool, "01"),
    ];
    for (descr, elements, stored, wanted, third) in cases {
        let path = folder.path().join("in.npy");
        fs::write(&path, npy(descr, "False", "(4,)", &elements)).unwrap();
        let opened = open(&path, &OpenOptions::default()).unwrap();
        let lazy = lazy(&opened, ":", Choice::default(), None);
        let out = folder.path().join("out.tet");
        let written = write_result(&opened, &lazy, "tet", &out, &replacing()).unwrap();
        let [Note::Widened { to, .. } | Note::AsBits { to, .. }] = &written.notes[..] else {
            panic!("{:?}", written.notes)
        };
        assert_eq!(*to, stored);
        let again = open(&out, &OpenOptions::default()).unwrap();
        let dataset = &again.catalog.datasets()[0];
        let array = dataset.read(&Hyperslab::whole(&[4]), &Execution::default());
        let array = array.unwrap();
        let size = array.bytes().len() / 4;
        let found = array.bytes()[2 * size..3 * size].iter().map(|it| format!("{it:02x}"));
        assert_eq!((array.dtype(), found.collect::<String>().as_str()), (wanted, third));
        drop(opened);
    }
}

#[test]
fn zero_denominators_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let opened = source(folder.path(), DType::Int32, &[6], &[6], CodecChoice::Raw);
    let lazy = lazy(&opened, "2:3", Choice::default(), Some((Method::MinMax, Axes::All)));
    let path = folder.path().join("out.npy");
    let written = write_result(&opened, &lazy, "npy", &path, &replacing()).unwrap();
    let wanted = Note::ZeroDenominators { dataset: "temp".to_owned(), method: "minmax", count: 1 };
    let is_loss = |note: &&Note| !matches!(note, Note::LeftBehind { .. });
    let found: Vec<&Note> = written.notes.iter().filter(is_loss).collect();
    assert_eq!(found, [&Note::Unchecked, &wanted]);
    assert_eq!(whole(&lazy).get(0).unwrap().to_f64().map(f64::is_nan), Some(true));
}

#[test]
fn what_may_not_be_written_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let opened = source(folder.path(), DType::Float32, &[6, 4], &[2, 4], CodecChoice::Raw);
    let input = folder.path().join("in.tet");
    let before = fs::read(&input).unwrap();
    let lazy = lazy(&opened, ":", Choice::default(), None);
    let there = folder.path().join("there");
    fs::write(&there, "x").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let progress = Progress::default().with_cancel(Arc::new(AtomicBool::new(true)));
    let canceled = Execution { progress, ..Execution::default() };
    let tiny = Execution { memory_budget: 3, ..Execution::default() };
    for target in TARGETS {
        let refused = |path: &Path, options: &ResultOptions, wanted: Kind| {
            let outcome = write_result(&opened, &lazy, target, path, options);
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), wanted, "{target:?} {}: {error}", path.display());
        };
        let force = replacing();
        refused(&input, &force, Kind::Usage);
        refused(&there, &ResultOptions::default(), Kind::Usage);
        refused(&elsewhere.path().join("x"), &force, Kind::Usage);
        refused(&folder.path().join("gone/x"), &force, Kind::Io);
        refused(folder.path(), &force, Kind::Usage);
        let new = folder.path().join("new");
        refused(&new, &ResultOptions { execution: canceled.clone(), ..force.clone() }, Kind::Usage);
        refused(&new, &ResultOptions { execution: tiny.clone(), ..force.clone() }, Kind::Limit);
    }
    assert_eq!(fs::read(&input).unwrap(), before);
    assert_eq!(fs::read(&there).unwrap(), b"x");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["in.tet", "there"]);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// A request to stop that comes while blocks are written.
#[test]
fn a_late_request_to_stop_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shape = [3000, 4096];
    let opened = source(folder.path(), DType::Float32, &shape, &[64, 4096], CodecChoice::Raw);
    let lazy = lazy(&opened, ":", Choice::default(), Some((Method::Sqrt, Axes::All)));
    for target in TARGETS {
        let cancel = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&cancel);
        let progress = Progress::new(move |_, _| late.store(true, Ordering::Relaxed));
        let progress = progress.with_cancel(cancel);
        let execution = Execution { progress, ..Execution::default() };
        let options = ResultOptions { execution, ..ResultOptions::default() };
        let path = folder.path().join("out");
        let outcome = write_result(&opened, &lazy, target, &path, &options);
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("canceled"), "{error}");
        assert!(matches!(error, Error::Canceled), "{target:?}: {error:?}");
        assert!(!path.exists());
    }
}

#[test]
fn cells_of_reductions_are_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let opened = source(folder.path(), DType::Int32, &[6, 4], &[2, 4], CodecChoice::Raw);
    let dataset = &opened.catalog.datasets()[0];
    let reduce = |op, text: &str| {
        let reduction = Reduction::along(op, vec![0]);
        let slab = slab(&opened, text);
        dataset.reduce(&slab, &reduction, &Execution::default()).unwrap()
    };
    for (op, text, dtype, notes) in [
        (Op::Count, ":", DType::UInt64, 0),
        (Op::Sum, ":", DType::Int64, 0),
        (Op::Mean, ":", DType::Float64, 0),
        (Op::Max, ":", DType::Int32, 0),
        (Op::Mean, "2:2", DType::Float64, 1),
        (Op::Max, "2:2", DType::Float64, 1),
    ] {
        let reduced = reduce(op, text);
        let (array, found) = reduced_array("temp", &reduced).unwrap();
        assert_eq!((array.dtype(), array.shape().to_vec()), (dtype, vec![4]), "{op:?}");
        assert_eq!(found.len(), notes);
        for at in 0..4 {
            let wanted = reduced.values.get(at).unwrap().to_f64();
            let found = array.get(at).unwrap().to_f64();
            assert!(found == wanted || wanted.is_none() && found.unwrap().is_nan());
        }
        let path = folder.path().join("out.npy");
        let (slab, reduced) = (slab(&opened, text), Arc::new(reduced));
        let result =
            ResultCatalog::of_reduced(&opened.catalog, dataset, &slab, &reduced, &replacing());
        let written = result.unwrap().write(&path, &replacing());
        assert_eq!(written.unwrap().bytes, fs::metadata(&path).unwrap().len());
        let again = open(&path, &OpenOptions::default()).unwrap();
        let dataset = &again.catalog.datasets()[0];
        let slab = Hyperslab::whole(dataset.shape());
        let read = dataset.read(&slab, &Execution::default()).unwrap();
        assert_eq!(read.value, array);
    }
    let mut wide = reduce(Op::Sum, ":");
    for (integer, dtype) in [(i128::from(u64::MAX), Some(DType::UInt64)), (1 << 64, None)] {
        wide.value.values = tet_query::Values::new(tet_query::Cells::Int(vec![integer; 4]));
        match (reduced_array("temp", &wide), dtype) {
            (Ok((array, _)), Some(dtype)) => assert_eq!(array.dtype(), dtype),
            (Err(Error::TooWide { .. }), None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }
}
