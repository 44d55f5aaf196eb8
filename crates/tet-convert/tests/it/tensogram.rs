//! Tensogram files read in place, and converted into other containers.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::common::opened;
use crate::common::world::archive;
use tet_convert::{ConvertOptions, OpenOptions, convert, open_source, verify};
use tet_io::Source;
use tet_query::{AxisSlice, Execution, Hyperslab, Op, Reduction};
use tet_verify::{Level, VerifyOptions};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    let files = fs::read_dir(folder).expect("the samples");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "tgm")).collect();
    paths.sort();
    assert!(paths.len() >= 22);
    paths
}

/// The true values of an array, which come last in its member.
fn values(sample: &Path, key: &str, len: usize) -> Vec<u8> {
    let npz = fs::File::open(sample.with_extension("npz")).expect("the values");
    let mut npz = zip::ZipArchive::new(npz).expect("an archive");
    let mut npy = Vec::new();
    npz.by_name(&format!("{key}.npy")).expect("an array").read_to_end(&mut npy).expect("bytes");
    npy.split_off(npy.len() - len)
}

#[test]
fn samples_are_read_in_place_value_for_value() {
    let mut read = 0;
    for path in samples() {
        let facts = fs::read_to_string(path.with_extension("json")).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let messages = facts["messages"].as_array().unwrap();
        let objects: Vec<_> =
            messages.iter().flat_map(|it| it["objects"].as_array().unwrap()).collect();
        let opened = opened(&path);
        let datasets = opened.catalog.datasets();
        assert_eq!(datasets.len(), objects.len(), "{path:?}");
        for (dataset, object) in datasets.iter().zip(objects) {
            // Bits are read as the bytes that hold them.
            let dtype = object["dtype"].as_str().unwrap().replace("bitmask", "uint8");
            assert_eq!(dataset.dtype_name, dtype);
            assert!(dataset.why().is_none(), "{path:?}: {:?}", dataset.why());
            let slab = Hyperslab::whole(dataset.shape());
            let array = dataset.read(&slab, &Execution::default());
            let array = array.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let wanted = values(&path, object["npz_key"].as_str().unwrap(), array.bytes().len());
            assert!(array.bytes() == wanted, "{path:?}");
            // A part is that part of the whole.
            if let [rows, inner @ ..] = dataset.shape()
                && *rows > 2
            {
                let middle = AxisSlice { start: 1, stop: rows - 1, ..AxisSlice::whole(*rows) };
                let inner = inner.iter().map(|&extent| AxisSlice::whole(extent));
                let axes: Vec<AxisSlice> = std::iter::once(middle).chain(inner).collect();
                let slab = Hyperslab::new(axes, dataset.grid.shape()).unwrap();
                let part = dataset.read(&slab, &Execution::default()).unwrap();
                let row_len = wanted.len() / usize::try_from(*rows).unwrap();
                assert!(part.bytes() == &wanted[row_len..wanted.len() - row_len], "{path:?}");
            }
            read += 1;
        }
    }
    assert!(read >= 29, "{read}");
}

#[test]
fn objects_are_found_by_what_is_said_of_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    let opened = opened(&folder.join("craft_preceder.tgm"));
    let dataset = opened.catalog.find("2t").unwrap();
    assert_eq!((dataset.index, dataset.shape()), (0, &[4_u64][..]));
    assert!(dataset.attrs.contains_key("mars") && dataset.attrs.contains_key("step"));
    let mean = Reduction::along(Op::Mean, [0]);
    let slab = Hyperslab::whole(dataset.shape());
    let how = Execution::default();
    let reduced = dataset.reduce(&slab, &mean, &how).unwrap();
    let array = dataset.read(&slab, &how).unwrap();
    let sum: f64 = (0..4).map(|at| array.get(at).unwrap().to_f64().unwrap()).sum();
    assert_eq!(reduced.values.get(0).unwrap().to_f64(), Some(sum / 4.0));
    assert_eq!(opened.catalog.find("m0_o1").unwrap().index, 1);
}

#[test]
fn samples_verify_and_damage_is_reported() {
    for path in samples() {
        let how = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
        let report = verify(&Source::open(&path).unwrap(), &how).unwrap();
        assert!(report.is_ok(), "{path:?}: {:?}", report.findings);
        let bytes = fs::read(&path).unwrap();
        let cut = Source::from_bytes(bytes[..bytes.len() - 5].to_vec());
        let report = verify(&cut, &how).unwrap();
        assert!(
            !report.is_ok() && report.findings[0].code.to_string().starts_with("TGM-"),
            "{path:?}"
        );
    }
}

/// A finding says which dataset it is about as the catalog does, in whatever message that is.
#[test]
fn findings_name_the_datasets_of_the_catalog() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let (before, named) = (read("multi_message_3.tgm"), read("craft_preceder.tgm"));
    let mut bytes = [before.clone(), named, before].concat();
    let source = Source::from_bytes(bytes.clone());
    let opened = open_source(source, &OpenOptions::default()).unwrap();
    let how = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let datasets = opened.catalog.datasets();
    assert!(datasets.iter().any(|it| it.name == "2t" && it.index != 0));
    for dataset in datasets {
        let mut places = Vec::new();
        dataset.chunks.locate(&[0], &mut places).unwrap();
        let at = usize::try_from(places[0].stored.start()).unwrap();
        bytes[at] ^= 1;
        let report = verify(&Source::from_bytes(bytes.clone()), &how).unwrap();
        assert!(!report.is_ok());
        let found = &report.findings[0].place;
        assert_eq!(found.dataset, Some(dataset.index as u64));
        assert_eq!(found.dataset_name.as_deref(), Some(dataset.name.as_str()));
        bytes[at] ^= 1;
    }
}

#[test]
fn objects_are_converted_into_other_containers() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/rivals/tgm/multi_object_mixed.tgm");
    let held = |path: &Path| -> Vec<(String, Vec<u64>, Vec<u8>)> {
        let opened = opened(path);
        let datasets = opened.catalog.datasets().iter().filter(|it| it.name != "__metadata__");
        let read = datasets.map(|dataset| {
            let slab = Hyperslab::whole(dataset.shape());
            let array = dataset.read(&slab, &Execution::default()).unwrap();
            // A `.tet` file has a scalar as one element.
            let is_scalar = dataset.attrs.contains_key("tet:scalar");
            let shape = if is_scalar { Vec::new() } else { dataset.shape().to_vec() };
            (dataset.name.clone(), shape, array.bytes().to_vec())
        });
        read.collect()
    };
    let wanted = held(&mixed);
    for name in ["x.zt", "x.tet", "x.safetensors"] {
        let output = folder.path().join(name);
        convert(&mixed, &output, &ConvertOptions::default()).unwrap();
        let mut found = held(&output);
        found.sort_by_key(|it| wanted.iter().position(|other| other.0 == it.0));
        assert!(found == wanted, "{name}");
    }
}

/// Counts its reads.
struct Counting {
    bytes: Vec<u8>,
    read_count: std::sync::atomic::AtomicU64,
}

impl tet_io::ReadAt for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.read_count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let start = usize::try_from(offset).expect("it fits");
        out.copy_from_slice(&self.bytes[start..start + out.len()]);
        Ok(())
    }
}

#[test]
fn one_object_of_many_takes_few_reads() {
    let folder = tempfile::tempdir().unwrap();
    let array = |at: u32| {
        let elements: Vec<u8> = (0..500).flat_map(|it| (it ^ at).to_le_bytes()).collect();
        (format!("x{at}"), crate::common::npy("<u4", "False", "(500,)", &elements))
    };
    archive(&folder.path().join("in.npz"), &(0..2000).map(array).collect::<Vec<_>>());
    let path = folder.path().join("x.tgm");
    let options = ConvertOptions::default();
    convert(&folder.path().join("in.npz"), &path, &options).unwrap();
    let whole = opened(&path);
    for position in [0_usize, 999, 1999] {
        let counting = std::sync::Arc::new(Counting {
            bytes: fs::read(&path).unwrap(),
            read_count: Default::default(),
        });
        let source = Source::from_reader(std::sync::Arc::<Counting>::clone(&counting));
        let mut how = OpenOptions::default();
        how.only = Some(position);
        let one = open_source(source, &how).unwrap();
        let name = format!("#{position}");
        let (found, wanted) =
            (one.catalog.find(&name).unwrap(), whole.catalog.find(&name).unwrap());
        assert_eq!((&found.name, found.index), (&wanted.name, position));
        assert_eq!(
            crate::common::read(&one, &name).bytes(),
            crate::common::read(&whole, &name).bytes()
        );
        let read_count = counting.read_count.load(std::sync::atomic::Ordering::Relaxed);
        assert!(read_count <= 32, "{position}: {read_count} reads");
    }
    let mut how = OpenOptions::default();
    how.only = Some(2000);
    let whole = open_source(Source::open(&path).unwrap(), &how).unwrap();
    assert_eq!(whole.catalog.datasets().len(), 2000, "where there is no such one, all are listed");
}

#[test]
fn objects_of_other_units_are_not_stacked() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("t.npy");
    fs::write(&input, crate::common::npy("<f8", "False", "(1,)", &[0; 8])).unwrap();
    let message = |units: &str| {
        let path = folder.path().join(format!("{units}.tgm"));
        let mut options = ConvertOptions::default();
        let (key, value) =
            ("units".to_owned(), tet_file::metadata::AttrValue::Text(units.to_owned()));
        options.tet.attrs.push(tet_convert::Attribute { dataset: None, key, value });
        convert(&input, &path, &options).unwrap();
        fs::read(&path).unwrap()
    };
    let (kelvin, celsius) = (message("K"), message("degC"));
    let mut options = ConvertOptions::default();
    options.stack = Some("time".to_owned());
    for (name, second, is_same) in [("same", &kelvin, true), ("other", &celsius, false)] {
        let path = folder.path().join(format!("{name}.tgm"));
        fs::write(&path, [&kelvin[..], second].concat()).unwrap();
        let stacked = convert(&path, &folder.path().join(format!("{name}.tet")), &options);
        match stacked {
            Ok(report) => assert!(is_same && report.datasets[0].shape == [2, 1], "{name}"),
            Err(error) => {
                let text = error.to_string();
                assert!(!is_same && text.contains("units") && text.contains("degC"), "{text}");
            }
        }
    }
}
