//! Operations on any bytes: a function for each fuzz target. A panic is a finding.
//!
//! `tests/world/fuzz.rs` gives them every file that is known here, and the corpus of `fuzz/`.

mod agree;
mod arrays;
pub mod change;
mod containers;
mod feed;
mod filters;
mod halves;
mod model;
mod netcdf;
mod roundtrip;
mod seeds;
mod stats;
mod tensogram;
mod torch;
mod ztensor;
mod ztensor2;

use tet_document::Query;
use tet_io::Source;
use tet_query::{DigestPolicy, Error, Execution, Hyperslab, Op, Reduction};
use tet_verify::{Level, Report, VerifyOptions};

use crate::ask;
use crate::assemble::{Dataset, Sheet, Stored, put, refooted, resealed};

pub use arrays::{hdf5, zarr};
pub use containers::{csv, fits, gguf};
pub use filters::pipeline;
pub use model::{model, repair};
pub use netcdf::netcdf;
pub use roundtrip::roundtrip;
pub use seeds::{corpus, known, read_only, seeds};
pub use stats::{answers_by_statistics, stats};
pub use tensogram::{tgm_decode, tgm_metadata, tgm_pipeline, tgm_scan};
pub use torch::torch;
pub use ztensor::ztensor;
pub use ztensor2::ztensor2;

/// A fuzz target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 23] = [
    ("open", open),
    ("footer", footer),
    ("decode", decode),
    ("verify", verify),
    ("query_doc", query_doc),
    ("model", model),
    ("repair", repair),
    ("roundtrip", roundtrip),
    ("ztensor", ztensor),
    ("tgm_scan", tgm_scan),
    ("tgm_decode", tgm_decode),
    ("tgm_metadata", tgm_metadata),
    ("tgm_pipeline", tgm_pipeline),
    ("netcdf", netcdf),
    ("gguf", gguf),
    ("hdf5", hdf5),
    ("zarr", zarr),
    ("pipeline", pipeline),
    ("ztensor2", ztensor2),
    ("fits", fits),
    ("torch", torch),
    ("csv", csv),
    ("stats", stats),
];

/// Opens a file, and lists what is in it.
pub fn open(bytes: &[u8]) {
    let Ok(catalog) = ask::open_bytes(bytes) else { return };
    for dataset in catalog.datasets() {
        assert!(!format!("{dataset:?} {:?}", dataset.why()).is_empty());
        // The first and the last chunk, if there are any.
        let last = dataset.grid.chunk_count().saturating_sub(1);
        for linear in [0, last].into_iter().filter(|_| dataset.grid.chunk_count() > 0) {
            let mut places = Vec::new();
            drop(dataset.chunks.locate(&[linear], &mut places));
        }
    }
}

/// Opens a sound file with these bytes as its footer JSON; as one whose digest of itself matches too,
/// if it has one.
pub fn footer(bytes: &[u8]) {
    let file = Sheet::new(&[Dataset::new("a", 2, 8, &[4, 3])]).footer("{}").sealed().assemble();
    let mut damaged = file.bytes[..usize::try_from(file.marks.json).unwrap()].to_vec();
    damaged.extend(bytes);
    damaged.extend((bytes.len() as u64).to_le_bytes());
    damaged.extend([1, 0, 0, 0]);
    damaged.extend(b"THST");
    open(&damaged);
    let Ok(json) = str::from_utf8(bytes) else { return };
    assert_eq!(refooted(&file.bytes, file.marks.json, json), damaged);
    if is_sealed(json) {
        open(&resealed(&file.bytes, file.marks.json, json));
    }
}

/// Whether JSON ends as that of a footer with digests.
fn is_sealed(json: &str) -> bool {
    let seal = json.strip_suffix("\"}}").and_then(|front| front.as_bytes().split_last_chunk());
    seal.is_some_and(|(_, seal): (_, &[u8; 24])| seal.iter().all(u8::is_ascii_hexdigit))
}

/// Decodes these bytes as the payload of a chunk of as many elements as the first two bytes say.
pub fn decode(bytes: &[u8]) {
    let Some((count, frame @ [_, ..])) = bytes.split_first_chunk::<2>() else { return };
    let count = u64::from(u16::from_le_bytes(*count)) + 1;
    let stored = Dataset::new("z", 5, 1, &[frame.len() as u64]).stored(Stored::Other(1));
    let file = Sheet::new(&[stored.elements(frame.to_vec())]).assemble();
    let extents = [count, count].map(u64::to_le_bytes).concat();
    let bytes = put(&file.bytes, file.marks.records[0] + 24, &extents);
    let bytes = put(&bytes, file.marks.rows[0] + 80, &count.to_le_bytes());
    if let Ok(catalog) = ask::open_bytes(&bytes)
        && let Ok(values) = ask::read_all(&catalog.datasets()[0])
    {
        assert_eq!(values.len() as u64, count);
    }
}

/// Verifies a file; one that is called sound answers whatever it is asked.
pub fn verify(bytes: &[u8]) {
    verified(bytes);
}

fn verified(bytes: &[u8]) -> Report {
    let report = report(bytes);
    let opened = ask::open_bytes(bytes);
    let catalog = match opened {
        Ok(catalog) => catalog,
        Err(error) => {
            assert!(!report.is_ok(), "called sound: {error}");
            return report;
        }
    };
    let how = Execution { digests: DigestPolicy::Always, ..ask::small() };
    // Files that are too large for this little memory are not damaged.
    let damaged = |error: &Error| ask::broken(error).is_some();
    // Each file is asked for something else.
    let op = Op::ALL[bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>() % Op::ALL.len()];
    for dataset in catalog.datasets() {
        let slab = Hyperslab::whole(dataset.shape());
        let read = dataset.read(&slab, &how).err().filter(damaged);
        assert!(!report.is_ok() || read.is_none(), "called sound: {read:?}");
        let fault = dataset.reduce(&slab, &Reduction::all(op), &how).err();
        let fault = fault.filter(damaged);
        assert!(!report.is_ok() || fault.is_none(), "called sound: {op:?} {fault:?}");
    }
    report
}

/// All that there is to say of a file, said.
fn report(bytes: &[u8]) -> Report {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    let report = tet_verify::verify(&Source::from_bytes(bytes), &options).unwrap();
    for finding in &report.findings {
        assert!(!finding.to_string().is_empty());
    }
    report
}

/// Reads a query document; what is read is written and read again, and put to a small file.
pub fn query_doc(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let again = Query::from_json(&query.to_json()).unwrap();
    assert_eq!(again.to_json(), query.to_json(), "a document is what it is written as");
    let toml = Query::from_toml(&query.to_toml()).unwrap();
    assert_eq!(toml.to_json(), query.to_json(), "in both syntaxes");
    let file = Sheet::new(&[Dataset::new("a", 1, 4, &[4, 3]).chunked(&[2, 2])]).assemble();
    let catalog = ask::open_bytes(&file.bytes).unwrap();
    drop(query.resolve(&catalog, &ask::small()));
}
