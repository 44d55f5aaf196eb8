//! Files of other programs: `.tet` files hold the values they are said to hold, others are none.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tet_format::Rule;
use tet_io::Source;
use tet_query::{Axes, Catalog, Execution, Hyperslab, Op, Reduction};
use tet_tests::npy::{Array, read_npz};
use tet_tests::{ask, values};

#[test]
fn tet_samples_hold_their_values() {
    let paths = samples("tet", "tet");
    assert_eq!(paths.len(), 9, "all samples are there");
    for path in paths {
        check_sample(&path);
    }
}

fn check_sample(path: &Path) {
    let name = path.display();
    let facts = facts(path);
    let arrays = read_npz(&path.with_extension("npz"));
    let catalog = open(path);
    let listed = facts["datasets"].as_array().unwrap();
    assert_eq!(catalog.datasets().len(), listed.len(), "{name}");
    for (dataset, fact) in catalog.datasets().iter().zip(listed) {
        let key = fact["npz_key"].as_str().unwrap();
        let (_, array) = arrays.iter().find(|(found, _)| found == key).unwrap();
        assert_eq!(dataset.name, fact["name"].as_str().unwrap(), "{name}");
        assert_eq!(dataset.shape(), extents(&fact["shape"]), "{name}");
        assert_eq!(&dataset.grid.chunk_shape()[..], extents(&fact["chunk_shape"]), "{name}");
        assert_eq!(short(&dataset.dtype_name), fact["dtype"].as_str().unwrap(), "{name}");
        assert_eq!(dataset.shape(), array.shape, "{name}");
        let bytes = ask::read_all(dataset).unwrap();
        assert_eq!(bytes, array.bytes, "{name}: {}", dataset.name);
        check_codecs(&catalog, dataset.index, fact);
    }
}

/// The codecs of the chunks are those of the facts.
fn check_codecs(catalog: &Catalog, number: usize, fact: &Value) {
    let dataset = &catalog.datasets()[number];
    let slab = Hyperslab::whole(dataset.shape());
    let plan = tet_query::plan(dataset, &slab, tet_query::Coalesce::NONE).unwrap();
    let mut found: Vec<u64> = plan
        .chunks()
        .iter()
        .map(|chunk| match dataset.chunks.decoder(chunk.linear, &chunk.place).name() {
            "raw" => 0,
            "zstd" => 1,
            other => panic!("codec {other}"),
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, extents(&fact["codecs"]), "{}", dataset.name);
}

#[test]
fn footers_of_samples_say_what_they_said() {
    for path in samples("tet", "tet") {
        let facts = facts(&path);
        let file = tet_file::TetFile::open(
            Source::open(&path).unwrap(),
            &tet_file::OpenOptions::default(),
        )
        .unwrap();
        let history = facts["history"].as_array().cloned().unwrap_or_default();
        assert_eq!(file.history().len(), history.len(), "{}", path.display());
        for (row, fact) in file.history().iter().zip(&history) {
            assert_eq!(row.op, fact["op"].as_str().unwrap());
            assert_eq!(row.source, fact["source"].as_str().unwrap());
            assert_eq!(row.at, fact["at"].as_str().unwrap());
        }
        for name in facts["metadata"]["datasets"].as_array().into_iter().flatten() {
            assert!(file.metadata().datasets.contains_key(name.as_str().unwrap()));
        }
        let Some(annotated) = facts["metadata"]["datasets"].as_object() else { continue };
        for (name, fact) in annotated {
            let found = &file.metadata().datasets[name];
            let dims: Vec<&str> = fact["dim_names"]
                .as_array()
                .map(|dims| dims.iter().map(|dim| dim.as_str().unwrap()).collect())
                .unwrap_or_default();
            assert_eq!(found.dim_names, dims, "{}", path.display());
            let attrs = fact["attrs"].as_object().map_or(0, serde_json::Map::len);
            assert_eq!(found.attrs.len(), attrs, "{}", path.display());
        }
    }
}

/// The reductions of the samples, as NumPy knows them.
#[test]
fn queries_of_samples_agree_with_numpy() {
    let mut checked = 0;
    for path in samples("tet", "tet") {
        let catalog = open(&path);
        for query in facts(&path)["queries"].as_array().unwrap() {
            checked += usize::from(check_query(&catalog, query, &path));
        }
    }
    assert!(checked >= 36, "only {checked} queries could be compared");
}

fn check_query(catalog: &Catalog, query: &Value, path: &Path) -> bool {
    let doc = query["doc"].as_object().unwrap();
    let Some(&op) = Op::ALL.iter().find(|op| doc.contains_key(op.name())) else { return false };
    assert_eq!(doc.len(), 2, "{doc:?} asks for a dataset and a reduction");
    let axes: Vec<usize> =
        extents(&doc[op.name()]).iter().map(|&axis| usize::try_from(axis).unwrap()).collect();
    let wanted: Vec<f64> = match &query["numpy"] {
        Value::String(text) if text == "see npz" => return false,
        Value::Array(cells) => cells.iter().map(number).collect(),
        cell => vec![number(cell)],
    };
    let dataset = catalog.find(doc["dataset"].as_str().unwrap()).unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    let axes = if axes.is_empty() { Axes::All } else { Axes::Some(axes) };
    let reduction = Reduction { axes, ..Reduction::all(op) };
    let reduced = dataset.reduce(&slab, &reduction, &Execution::default()).unwrap();
    for (at, &wanted) in wanted.iter().enumerate() {
        let found = reduced.values.get(at).unwrap().to_f64().unwrap();
        let close = (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0);
        let same = found == wanted || found.is_nan() && wanted.is_nan() || close;
        assert!(same, "{}: {doc:?} is {found}, NumPy says {wanted}", path.display());
    }
    true
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        &Value::Bool(truth) => f64::from(u8::from(truth)),
        Value::Array(cells) => panic!("{cells:?} is deeper than a row"),
        other => other.as_f64().unwrap(),
    }
}

#[test]
fn files_of_other_formats_are_no_tet_files() {
    let paths = [samples("tgm", "tgm"), samples("zt", "zt")].concat();
    assert!(paths.len() >= 30, "all samples are there");
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let error = ask::open_bytes(&bytes).unwrap_err();
        assert_eq!(ask::broken(&error), Some((Rule::Magic, Some(0))), "{}", path.display());
    }
}

#[test]
fn the_npy_reader_reads_what_numpy_wrote() {
    let mut seen = Vec::new();
    for path in samples("tet", "tet") {
        for (key, Array { descr, shape, bytes }) in read_npz(&path.with_extension("npz")) {
            let width: u64 = descr[2..].parse().unwrap();
            assert_eq!(bytes.len() as u64, shape.iter().product::<u64>() * width, "{key}");
            seen.push(descr);
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), values::TYPES.len(), "{seen:?}");
}

fn open(path: &Path) -> Catalog {
    ask::open(Source::open(path).unwrap(), tet_format::Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn facts(path: &Path) -> Value {
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn extents(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}

/// The reference's name of an element type.
fn short(name: &str) -> String {
    name.replace("float", "f").replace("uint", "u").replace("int", "i")
}

fn samples(folder: &str, suffix: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/rivals").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == suffix))
        .collect();
    paths.sort();
    paths
}
