//! Shared code of the suites: the fixtures, their true values, and reading an output back.
#![allow(dead_code, reason = "each suite uses its part")]

pub(crate) mod csv;
pub(crate) mod fits;
pub(crate) mod made;
pub(crate) mod world;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use half::f16;
use tet_convert::{
    ConvertOptions, ImportOptions, ImportReport, OpenOptions, Opened, PayloadCodec, Result,
    convert, open, verify,
};
use tet_io::{Progress, Source};
use tet_query::{Array, Execution, Hyperslab};
use tet_verify::{Level, VerifyOptions};

/// The dtype codes of the fixtures and the dtypes they become.
pub(crate) const DTYPES: [(&str, &str); 12] = [
    ("f2", "float16"),
    ("f4", "float32"),
    ("f8", "float64"),
    ("i1", "int8"),
    ("i2", "int16"),
    ("i4", "int32"),
    ("i8", "int64"),
    ("u1", "uint8"),
    ("u2", "uint16"),
    ("u4", "uint32"),
    ("u8", "uint64"),
    ("b1", "bool"),
];

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The elements of a fixture's array row-major.
pub(crate) fn elements(code: &str, count: i64) -> Vec<u8> {
    (0..count)
        .flat_map(|i| {
            let value = (i * 37 + 11) % 101 - 50;
            match code {
                "f2" => f16::from_f64(value as f64).to_le_bytes().to_vec(),
                "f4" => (value as f32).to_le_bytes().to_vec(),
                "f8" => (value as f64).to_le_bytes().to_vec(),
                "i1" => vec![(value as i8) as u8],
                "i2" => (value as i16).to_le_bytes().to_vec(),
                "i4" => (value as i32).to_le_bytes().to_vec(),
                "i8" => value.to_le_bytes().to_vec(),
                "u1" => vec![(value + 50) as u8],
                "u2" => ((value + 50) as u16).to_le_bytes().to_vec(),
                "u4" => ((value + 50) as u32).to_le_bytes().to_vec(),
                "u8" => (value + 50).to_le_bytes().to_vec(),
                "b1" => vec![value.rem_euclid(2) as u8],
                _ => panic!("no such code: {code}"),
            }
        })
        .collect()
}

/// A `.npy` file of version 1.0.
pub(crate) fn npy(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend(u16::try_from(dict.len()).expect("a short dict").to_le_bytes());
    file.extend(dict.as_bytes());
    file.extend(elements);
    file
}

/// A check of all bytes.
pub(crate) fn deep() -> VerifyOptions {
    VerifyOptions { level: Level::Deep, ..VerifyOptions::default() }
}

/// The codes of the findings of a check of all bytes.
pub(crate) fn codes(bytes: &[u8]) -> Vec<String> {
    let report = verify(&Source::from_bytes(bytes), &deep()).expect("it is read");
    report.findings.iter().map(|it| it.code.to_string()).collect()
}

/// Converts `input`.
pub(crate) fn to_tet(input: &Path, output: &Path, tet: &ImportOptions) -> Result<ImportReport> {
    let mut options = ConvertOptions::default();
    options.tet = tet.clone();
    convert(input, output, &options)
}

/// A progress, and what it reported last.
pub(crate) fn watched() -> (Progress, Arc<Mutex<(u64, u64)>>) {
    let last = Arc::new(Mutex::new((0, 0)));
    let seen = Arc::clone(&last);
    (Progress::new(move |done, all| *seen.lock().expect("no panic") = (done, all)), last)
}

/// Converts `input` to a new `.tet` file and opens that.
pub(crate) fn imported(folder: &Path, input: &Path, options: &ImportOptions) -> Result<Opened> {
    imported_as(PayloadCodec::Raw, folder, input, options)
}

/// Converts `input` with this codec to a new `.tet` file, and opens that.
pub(crate) fn imported_as(
    codec: PayloadCodec,
    folder: &Path,
    input: &Path,
    options: &ImportOptions,
) -> Result<Opened> {
    let output = folder.join("out.tet");
    if output.exists() {
        std::fs::remove_file(&output).expect("it exists");
    }
    let mut how = ConvertOptions::default();
    how.tet = options.clone();
    how.storage.codec = Some(codec);
    convert(input, &output, &how)?;
    open(&output, &OpenOptions::default())
}

/// A file that opens.
pub(crate) fn opened(path: &Path) -> Opened {
    open(path, &OpenOptions::default()).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// All elements of a dataset.
pub(crate) fn read(opened: &Opened, name: &str) -> Array {
    let dataset = opened.catalog.find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default());
    array.unwrap_or_else(|error| panic!("{name}: {error}")).value
}
