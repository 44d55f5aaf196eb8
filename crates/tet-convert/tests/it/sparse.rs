//! Tied weights and sparse tensors of zTensor files: written once, in parts, and in bands.

use std::path::Path;

use crate::common::{deep, opened};
use crate::tensors::{World, bytes, words};
use tet_convert::{
    Conflict, ConvertOptions, DTypeRule, Error, ImportReport, Note, SparseLayout, SparseOutput,
    SparseStorage, convert, convert_merged, sparse_tensors, verify,
};
use tet_format::DType;
use tet_io::Source;
use tet_query::{AxisSlice, Execution, Hyperslab};
use tet_ztensor::{
    Declaration, EncodingChoice, Limits, Places, SparseChoice, WriteOptions, Writer, ZTensorFile,
};

/// Where the blob of a tensor lies.
fn place(path: &Path, name: &str) -> (u64, u64) {
    let source = Source::open(path).expect("a file");
    let file = ZTensorFile::open(source, &Limits::default()).expect("it is sound");
    let stored = file.find(name).expect("the tensor").stored().expect("it is sound");
    (stored.start(), stored.len())
}

#[test]
fn tied_tensors_are_written_once_where_they_can_be() {
    let world = World::new();
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        let mut writer = Writer::new(Vec::new(), &options).unwrap();
        let tensor = |name: &str, shape: &[u64]| Declaration::new(name, DType::Float32, shape);
        let elements: Vec<u8> = (0..96).collect();
        writer.whole(tensor("embed", &[6, 4]), &elements).unwrap();
        writer.whole(tensor("equal", &[6, 4]), &elements).unwrap();
        writer.alias(tensor("head", &[6, 4]), "embed").unwrap();
        writer.alias(tensor("flat", &[24]), "embed").unwrap();
        writer.alias(Declaration::new("bits", DType::UInt32, [6, 4]), "embed").unwrap();
        writer.whole(tensor("none", &[0]), &[]).unwrap();
        writer.alias(tensor("nothing", &[0]), "none").unwrap();
        let path = world.put("a.zt", writer);
        let report = world.go(&path, "b.zt", &ConvertOptions::default());
        assert_eq!(report.notes, []);
        let b = world.path("b.zt");
        assert_eq!(place(&b, "head"), place(&b, "embed"));
        assert_eq!(place(&b, "flat"), place(&b, "embed"));
        // Equal bytes of another type in one place are tied too.
        assert_eq!(place(&b, "bits"), place(&b, "embed"));
        // Equal bytes in two places are no tie.
        assert_ne!(place(&b, "equal"), place(&b, "embed"));
        // One that is left out ties nothing; the first that stays is the one that is written.
        let mut some = ConvertOptions::default();
        some.tet.exclude = vec!["embed".to_owned()];
        world.go(&path, "c.zt", &some);
        let c = world.path("c.zt");
        assert_eq!(place(&c, "flat"), place(&c, "head"));
        let untied = |report: &ImportReport| -> Vec<(String, String)> {
            let ties = report.notes.iter().filter_map(|note| match note {
                Note::Untied { dataset, of } => Some((dataset.clone(), of.clone())),
                _ => None,
            });
            ties.collect()
        };
        let wanted = ["head", "flat", "bits"].map(|name| (name.to_owned(), "embed".to_owned()));
        for name in ["d.safetensors", "d.tet", "d.npz"] {
            let of_head = ["flat", "bits"].map(|name| (name.to_owned(), "head".to_owned()));
            assert_eq!(untied(&world.go(&path, name, &some)), of_head);
            let report = world.go(&path, name, &ConvertOptions::default());
            assert_eq!(untied(&report), wanted, "{name}");
        }
        let mut old = ConvertOptions::default();
        old.storage.variant = Some("0.1.x".to_owned());
        assert_eq!(untied(&world.go(&path, "e.zt", &old)), wanted);
        for name in ["b.zt", "d.tet", "d.safetensors", "e.zt"] {
            let opened = opened(&world.path(name));
            for tensor in ["embed", "head", "flat", "equal"] {
                assert_eq!(bytes(&opened, tensor), elements, "{name} {tensor}");
            }
        }
    }
}

/// `m`, csr, and `c`, coo, as native sparse tensors.
fn native(encoding: EncodingChoice) -> Writer<Vec<u8>> {
    let sparse = SparseChoice::Native;
    let options = WriteOptions { encoding, sparse, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).expect("written");
    let csr = Places::Csr { indptr: vec![0, 2, 2, 3], indices: vec![0, 3, 1] };
    let values: Vec<u8> = [1.5_f32, 2.5, 3.5].into_iter().flat_map(f32::to_le_bytes).collect();
    writer.sparse(Declaration::new("m", DType::Float32, [3, 4]), &csr, &values).expect("written");
    let coo = Places::Coo { coords: vec![1, 1, 0, 2, 1, 1] };
    writer.sparse(Declaration::new("c", DType::UInt8, [2, 3]), &coo, &[7, 8, 9]).expect("written");
    writer
}

const PARTS: [(&str, &[u64]); 3] =
    [("m.indptr", &[0, 2, 2, 3]), ("m.indices", &[0, 3, 1]), ("c.coords", &[1, 1, 0, 2, 1, 1])];

#[test]
fn parts_of_native_tensors_are_found_by_name_and_not_listed() {
    let world = World::new();
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        let opened = opened(&world.put("a.zt", native(encoding)));
        assert_eq!(opened.catalog.datasets().len(), 2);
        for (name, numbers) in PARTS {
            assert_eq!(bytes(&opened, name), words(numbers), "{name}");
            assert_eq!(opened.catalog.find(name).unwrap().dtype, Some(DType::UInt64));
        }
        let values: Vec<u8> = [1.5_f32, 2.5, 3.5].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(bytes(&opened, "m.values"), values);
        assert_eq!(bytes(&opened, "c.values"), [7, 8, 9]);
        assert_eq!(opened.catalog.find("c.coords").unwrap().shape(), [3, 2]);
        // Of two values in one place the last one counts.
        assert_eq!(bytes(&opened, "c"), [0, 0, 8, 0, 9, 0]);
        assert!(opened.catalog.find("m.coords").is_err());
        let found = sparse_tensors(&opened.catalog);
        let found: Vec<_> =
            found.iter().map(|it| (&*it.name, it.format, it.value_count, it.storage)).collect();
        let native = SparseStorage::Native;
        assert_eq!(found, [("m", "csr", 3, native), ("c", "coo", 3, native)]);
    }
    // A tensor of the file has its name.
    let mut writer = native(EncodingChoice::Raw);
    writer.whole(Declaration::new("m.values", DType::UInt8, [1]), &[42]).unwrap();
    assert_eq!(bytes(&opened(&world.put("a.zt", writer)), "m.values"), [42]);
}

#[test]
fn native_tensors_become_parts_that_are_told_as_sparse() {
    let world = World::new();
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        let path = world.put("a.zt", native(encoding));
        let a = opened(&path);
        let report = world.go(&path, "split.zt", &ConvertOptions::default());
        let parts = |name: &str, parts: &[&str]| Note::InParts {
            dataset: name.to_owned(),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        };
        let wanted = [
            parts("m", &["m.indptr", "m.indices", "m.values"]),
            parts("c", &["c.coords", "c.values"]),
        ];
        assert_eq!(report.notes, wanted);
        let split = opened(&world.path("split.zt"));
        let names: Vec<&str> = split.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["m.indptr", "m.indices", "m.values", "c.coords", "c.values"]);
        for name in names {
            assert_eq!(bytes(&split, name), bytes(&a, name), "{name}");
        }
        let found = sparse_tensors(&split.catalog);
        let found: Vec<_> =
            found.iter().map(|it| (&*it.name, it.storage, it.shape.clone())).collect();
        let kept = SparseStorage::Split;
        assert_eq!(found, [("m", kept, vec![3, 4]), ("c", kept, vec![2, 3])]);
        // Copies of the parts are parts.
        for (from, to) in
            [("split.zt", "again.zt"), ("split.zt", "parts.tet"), ("parts.tet", "back.zt")]
        {
            let mut how = ConvertOptions::default();
            how.tet.overwrite = tet_io::Overwrite::Replace;
            world.go(&world.path(from), to, &how);
            let copy = world.path(to);
            let report = verify(&Source::open(&copy).unwrap(), &deep()).unwrap();
            assert!(report.is_ok(), "{to}: {:?}", report.findings);
            assert_eq!(sparse_tensors(&opened(&copy).catalog).len(), 2, "{to}");
        }
        // Values may become another type, their places stay.
        let mut floats = ConvertOptions::default();
        floats.dtypes = vec![DTypeRule { dataset: None, dtype: DType::Float64 }];
        world.go(&world.path("split.zt"), "floats.zt", &floats);
        let path64 = world.path("floats.zt");
        let report = verify(&Source::open(&path64).unwrap(), &deep()).unwrap();
        assert!(report.is_ok(), "{:?}", report.findings);
        assert_eq!(opened(&path64).catalog.find("m.values").unwrap().dtype, Some(DType::Float64));
        floats.dtypes = vec![DTypeRule { dataset: Some("m.*".into()), dtype: DType::Float64 }];
        let refused = convert(&world.path("split.zt"), &world.path("none.zt"), &floats);
        assert!(matches!(refused, Err(Error::SparsePlaces { dataset }) if dataset == "m.indices"));
        // Parts that do not fit together are not found.
        let mut some = ConvertOptions::default();
        some.tet.exclude = vec!["m.indices".to_owned()];
        world.go(&world.path("split.zt"), "some.zt", &some);
        assert_eq!(sparse_tensors(&opened(&world.path("some.zt")).catalog).len(), 1);
        // A part can be taken alone, and says what it is of.
        let mut one = ConvertOptions::default();
        one.tet.include = vec!["m.values".to_owned()];
        assert_eq!(world.go(&path, "one.npz", &one).datasets[0].name, "m.values");
        let mut how = ConvertOptions::default();
        how.sparse = SparseOutput::Dense;
        assert_eq!(world.go(&path, "dense.zt", &how).notes, []);
        how.sparse = SparseOutput::Sparse;
        how.storage.sparse = SparseLayout::Native;
        assert_eq!(world.go(&path, "native.zt", &how).notes, []);
        let fields = opened(&world.path("native.zt")).catalog.find("m").unwrap().attrs.clone();
        assert!(fields.is_empty(), "how it is stored is no attribute: {fields:?}");
        for name in ["dense.zt", "native.zt"] {
            let opened = opened(&world.path(name));
            assert_eq!(bytes(&opened, "m"), bytes(&a, "m"), "{name}");
            assert_eq!(bytes(&opened, "c"), bytes(&a, "c"), "{name}");
            let native = if name == "native.zt" { 2 } else { 0 };
            assert_eq!(sparse_tensors(&opened.catalog).len(), native);
        }
    }
}

#[test]
fn native_tensors_of_several_files_stay_native() {
    let world = World::new();
    let first = world.put("a.zt", native(EncodingChoice::Raw));
    let sparse = SparseChoice::Native;
    let options = WriteOptions { sparse, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    let csr = Places::Csr { indptr: vec![0, 0, 0, 1], indices: vec![2] };
    let tensor = Declaration::new("m", DType::Float32, [3, 4]);
    writer.sparse(tensor, &csr, &9.0_f32.to_le_bytes()).unwrap();
    writer.whole(Declaration::new("e", DType::UInt8, [3]), &[1, 2, 3]).unwrap();
    writer.alias(Declaration::new("h", DType::UInt8, [3]), "e").unwrap();
    let second = world.put("b.zt", writer);
    let mut how = ConvertOptions::default();
    (how.sparse, how.storage.sparse) = (SparseOutput::Sparse, SparseLayout::Native);
    how.conflict = Conflict::First;
    let to = world.path("both.zt");
    let report = convert_merged(&[first.clone(), second], &to, &how).unwrap();
    // Bytes are shared within one file alone.
    let untied = Note::Untied { dataset: "h".to_owned(), of: "e".to_owned() };
    assert_eq!(report.notes, [untied]);
    let (both, a) = (opened(&to), opened(&first));
    let tensors: Vec<_> =
        sparse_tensors(&both.catalog).into_iter().map(|it| (it.name, it.value_count)).collect();
    assert_eq!(tensors, [("m".to_owned(), 3), ("c".to_owned(), 3)]);
    for name in ["m", "c"] {
        assert_eq!(bytes(&both, name), bytes(&a, name), "{name}");
    }
    assert_eq!(bytes(&both, "h"), [1, 2, 3]);
}

#[test]
fn a_sparse_tensor_above_the_budget_is_read_in_bands() {
    let world = World::new();
    let (rows, columns) = (6000_u64, 1000_u64);
    let step = 997;
    let places: Vec<u64> = (0..rows * columns).step_by(step).collect();
    let indptr = (0..=rows).map(|row| places.partition_point(|it| *it < row * columns) as u64);
    let csr = Places::Csr {
        indptr: indptr.collect(),
        indices: places.iter().map(|it| it % columns).collect(),
    };
    // Backwards: the order in a file has no meaning.
    let coords = places.iter().rev().flat_map(|it| [it / columns, it % columns]).collect();
    let value = |place: u64| (place as f64).to_le_bytes();
    let forward: Vec<u8> = places.iter().flat_map(|it| value(*it)).collect();
    let backward: Vec<u8> = places.iter().rev().flat_map(|it| value(*it)).collect();
    let mut dense = vec![0; usize::try_from(rows * columns * 8).unwrap()];
    for place in &places {
        let at = usize::try_from(place * 8).unwrap();
        dense[at..at + 8].copy_from_slice(&value(*place));
    }
    let options = WriteOptions { sparse: SparseChoice::Native, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    let tensor = |name: &str| Declaration::new(name, DType::Float64, [rows, columns]);
    writer.sparse(tensor("csr"), &csr, &forward).unwrap();
    writer.sparse(tensor("coo"), &Places::Coo { coords }, &backward).unwrap();
    let path = world.put("a.zt", writer);
    let opened = opened(&path);
    // All elements are three times what may be used.
    let how = Execution { memory_budget: 16 << 20, threads: 1, ..Execution::default() };
    for name in ["csr", "coo"] {
        let dataset = opened.catalog.find(name).unwrap();
        assert!(dataset.grid.chunk_count() > 8, "{:?}", dataset.grid);
        for (start, stop) in [(0, 1), (523, 526), (5000, 6000)] {
            let rows = AxisSlice { start, stop, step: 1, axis: Default::default() };
            let all = AxisSlice { start: 0, stop: columns, step: 1, axis: Default::default() };
            let slab = Hyperslab::new(vec![rows, all], dataset.shape()).unwrap();
            let read = dataset.read(&slab, &how).unwrap();
            let row_len = usize::try_from(columns * 8).unwrap();
            let range =
                usize::try_from(start).unwrap() * row_len..usize::try_from(stop).unwrap() * row_len;
            assert!(read.bytes() == &dense[range], "{name} {start}..{stop}");
        }
    }
    let mut options = ConvertOptions::default();
    options.execution = how;
    for name in ["b.safetensors", "b.tet"] {
        world.go(&path, name, &options);
        let opened = crate::common::opened(&world.path(name));
        assert!(bytes(&opened, "csr") == dense && bytes(&opened, "coo") == dense, "{name}");
    }
}

#[test]
fn dense_arrays_become_sparse_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    // A negative zero is no zero.
    let elements = [0.0_f32, 2.0, 0.0, -0.0, 0.0, f32::NAN];
    let bytes: Vec<u8> = elements.iter().flat_map(|it| it.to_le_bytes()).collect();
    for (shape, format) in
        [("(2, 3)", "csr"), ("(6,)", "coo"), ("(1, 3, 2)", "coo"), ("(6, 1)", "csr")]
    {
        let input = folder.path().join("x.npy");
        std::fs::write(&input, crate::common::npy("<f4", "False", shape, &bytes)).unwrap();
        for choice in [tet_convert::SparseLayout::Native, tet_convert::SparseLayout::Parts] {
            let mut options = tet_convert::ConvertOptions::default();
            options.dense = tet_convert::DenseOutput::Sparse;
            options.storage.sparse = choice;
            options.tet.overwrite = tet_io::Overwrite::Replace;
            let output = folder.path().join("x.zt");
            tet_convert::convert(&input, &output, &options).unwrap();
            let opened = crate::common::opened(&output);
            let [tensor] = &tet_convert::sparse_tensors(&opened.catalog)[..] else {
                panic!("{shape} {choice:?}: one sparse tensor")
            };
            assert_eq!((tensor.format, tensor.value_count), (format, 3), "{shape} {choice:?}");
            let mut dense = tet_convert::ConvertOptions::default();
            dense.sparse = tet_convert::SparseOutput::Dense;
            dense.tet.overwrite = tet_io::Overwrite::Replace;
            let back = folder.path().join("back.zt");
            tet_convert::convert(&output, &back, &dense).unwrap();
            let found = crate::common::read(&crate::common::opened(&back), "x");
            assert_eq!(found.bytes(), bytes, "{shape} {choice:?}");
        }
    }
}
