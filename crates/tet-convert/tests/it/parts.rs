//! Sparse tensors in parts: put together again, converted through other containers, and refused where
//! they do not fit.

use std::fs;

use crate::common::opened;
use crate::tensors::{World, bytes, words};
use tet_convert::{
    Attribute, ConvertOptions, DimNames, Error, Note, OpenOptions, SparseLayout, SparseOutput,
    SparseStorage, open, sparse_tensors,
};
use tet_format::DType;
use tet_query::{Execution, Hyperslab};
use tet_ztensor::{Declaration, Places, SparseChoice, Value, WriteOptions, Writer};

/// `m`, csr, and `c`, coo.
fn sparse(choice: SparseChoice) -> Writer<Vec<u8>> {
    let options = WriteOptions { sparse: choice, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).expect("written");
    let csr = Places::Csr { indptr: vec![0, 2, 2, 3], indices: vec![0, 3, 1] };
    let values: Vec<u8> = [1.5_f32, 2.5, 3.5].into_iter().flat_map(f32::to_le_bytes).collect();
    let kind = Value::Text("adapter".to_owned());
    let m = Declaration::new("m", DType::Float32, [3, 4]).with("kind", kind);
    writer.sparse(m, &csr, &values).expect("written");
    let coo = Places::Coo { coords: vec![1, 1, 0, 2, 1, 0] };
    writer.sparse(Declaration::new("c", DType::UInt8, [2, 3]), &coo, &[7, 8, 9]).expect("written");
    writer
}

fn how(sparse: SparseOutput, choice: SparseLayout) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.sparse = sparse;
    options.storage.sparse = choice;
    options
}

#[test]
fn parts_of_any_container_are_put_together_again() {
    let world = World::new();
    let native = world.put("native.zt", sparse(SparseChoice::Native));
    let split = world.put("split.zt", sparse(SparseChoice::Split));
    let plain = ConvertOptions::default();
    world.go(&split, "split.tet", &plain);
    let report = world.go(&split, "split.safetensors", &plain);
    // The attributes that tie the parts are written; the others are noted.
    let kinds = |note: &Note| matches!(note, Note::LeftBehind { dataset, count: 1, .. } if dataset == "m.values");
    assert!(report.notes.iter().all(kinds), "{:?}", report.notes);
    world.go(&split, "split.safetensors.index.json", &plain);
    let a = opened(&native);
    for name in ["split.zt", "split.tet", "split.safetensors", "split.safetensors.index.json"] {
        let input = world.path(name);
        let found = sparse_tensors(&opened(&input).catalog);
        assert_eq!(found.len(), 2, "{name}");
        assert!(found.iter().all(|it| it.storage == SparseStorage::Split));
        for (to, options) in [
            ("out.zt", how(SparseOutput::Sparse, SparseLayout::Native)),
            ("dense.zt", how(SparseOutput::Dense, SparseLayout::Parts)),
            ("dense.tet", how(SparseOutput::Dense, SparseLayout::Parts)),
            ("dense.npz", how(SparseOutput::Dense, SparseLayout::Parts)),
        ] {
            let report = world.go(&input, to, &options);
            let mut names: Vec<_> = report.datasets.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["c", "m"], "{name} to {to}");
            if to == "dense.npz" {
                continue;
            }
            let out = opened(&world.path(to));
            assert_eq!(bytes(&out, "m"), bytes(&a, "m"), "{name} to {to}");
            assert_eq!(bytes(&out, "c"), bytes(&a, "c"), "{name} to {to}");
            let kept = out.catalog.find("m").unwrap().attrs.keys().cloned().collect::<Vec<_>>();
            let wanted: &[&str] = if name.contains("safetensors") { &[] } else { &["kind"] };
            assert_eq!(kept, wanted, "{name} to {to}");
        }
        assert_eq!(bytes(&opened(&world.path("out.zt")), "m.indices"), words(&[0, 3, 1]));
    }
    // A second, equal file.
    world.go(&world.path("split.safetensors"), "again.zt", &plain);
    world.go(&world.path("again.zt"), "again.safetensors", &plain);
    let [one, other] =
        ["split.safetensors", "again.safetensors"].map(|name| fs::read(world.path(name)).unwrap());
    assert_eq!(one, other);
}

#[test]
fn parts_that_do_not_fit_are_refused_and_some_stay_parts() {
    let world = World::new();
    let native = how(SparseOutput::Sparse, SparseLayout::Native);
    let split = world.put("split.zt", sparse(SparseChoice::Split));
    let mut some = native.clone();
    some.tet.exclude = vec!["m.indices".to_owned()];
    let report = world.go(&split, "some.zt", &some);
    let names: Vec<_> = report.datasets.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["m.indptr", "m.values", "c"]);
    // A column that is none.
    let mut file = fs::read(&split).unwrap();
    let at = file.windows(24).position(|it| *it == *words(&[0, 3, 1])).unwrap();
    file[at + 8] = 4;
    fs::write(world.path("odd.zt"), &file).unwrap();
    let mut never = native.clone();
    never.execution.digests = tet_query::DigestPolicy::Never;
    match world.try_go(&world.path("odd.zt"), "out.zt", &never) {
        Err(Error::Parts { dataset, rule }) => {
            assert_eq!((dataset.as_str(), rule.id), ("m", "ZT-S8"));
        }
        other => panic!("{other:?}"),
    }
    // Memory that does not hold them.
    let mut small = native;
    small.execution.memory_budget = 64;
    assert!(matches!(
        world.try_go(&split, "out.zt", &small),
        Err(Error::Query(tet_query::Error::Budget { budget: 64, .. }))
    ));
}

#[test]
fn what_a_sparse_tensor_takes_is_bounded() {
    let world = World::new();
    let options = WriteOptions { sparse: SparseChoice::Native, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    let places = Places::Coo { coords: vec![5, 1 << 39] };
    let long = Declaration::new("m", DType::UInt8, [1 << 40]);
    writer.sparse(long, &places, &[7, 8]).unwrap();
    let path = world.put("long.zt", writer);
    let dense = world.try_go(&path, "out.tet", &ConvertOptions::default());
    assert!(matches!(dense, Err(Error::Dense { wanted: 0x100_0000_0000, .. })), "{dense:?}");
    // A part of it takes a band, and no more.
    let how = Execution { memory_budget: 64 << 20, threads: 1, ..Execution::default() };
    let opened = opened(&path);
    let dataset = opened.catalog.find("m").unwrap();
    let axis = tet_query::AxisSlice { start: 5, stop: 7, step: 1, axis: Default::default() };
    let slab = Hyperslab::new(vec![axis], dataset.shape()).unwrap();
    assert_eq!(dataset.read(&slab, &how).unwrap().bytes(), [7, 0]);
    let mut options = OpenOptions::default();
    options.memory_budget = 16;
    let small = open(&path, &options).unwrap();
    let read = small.catalog.find("m").unwrap().read(&slab, &how);
    assert!(matches!(read, Err(tet_query::Error::Budget { wanted: 54, budget: 16 })), "{read:?}");
}

#[test]
fn names_that_are_not_there_are_refused_and_nothing_is_no_file() {
    let world = World::new();
    let path = world.put("native.zt", sparse(SparseChoice::Native));
    for to in ["out.zt", "out.tet", "out.safetensors"] {
        let mut options = ConvertOptions::default();
        let dims = DimNames { dataset: Some("k".to_owned()), names: vec!["x".to_owned()] };
        options.tet.dims = vec![dims];
        let found = world.try_go(&path, to, &options);
        assert!(
            matches!(found, Err(Error::Query(tet_query::Error::NoSuchDataset { .. }))),
            "{to}: {found:?}"
        );
        let (key, value) = ("a".to_owned(), "b".into());
        let attr = Attribute { dataset: Some("k".to_owned()), key, value };
        (options.tet.dims, options.tet.attrs) = (Vec::new(), vec![attr]);
        let found = world.try_go(&path, to, &options);
        assert!(
            matches!(found, Err(Error::Query(tet_query::Error::NoSuchDataset { .. }))),
            "{to}: {found:?}"
        );
        options.tet.attrs.clear();
        options.tet.include = vec!["m".to_owned()];
        options.tet.exclude = vec!["m".to_owned()];
        let found = world.try_go(&path, to, &options);
        assert!(matches!(found, Err(Error::NoArrays { .. })), "{to}: {found:?}");
    }
}

#[test]
fn a_tensor_without_elements_is_judged_too() {
    let world = World::new();
    let options = WriteOptions { sparse: SparseChoice::Native, ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    let places = Places::Coo { coords: vec![1, 0] };
    writer.sparse(Declaration::new("m", DType::UInt8, [4, 1]), &places, &[7]).unwrap();
    let path = world.put("a.zt", writer);
    let mut file = fs::read(&path).unwrap();
    let at = file.windows(6).position(|it| *it == *b"\x65shape").unwrap() + 8;
    assert_eq!(file[at], 1, "the last extent");
    file[at] = 0;
    fs::write(&path, &file).unwrap();
    let opened = opened(&path);
    let why = opened.catalog.find("m").unwrap().why().map(ToString::to_string);
    assert!(why.as_ref().is_some_and(|why| why.contains("ZT-S4")), "{why:?}");
}
