//! zTensor files: any bytes, and files of known kinds with some items put in the place of others.

mod made;

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::{Dataset, DigestPolicy, Error as Asked, Execution, Hyperslab};
use tet_ztensor::{
    Check, Level, Limits, RANK_MAX, Report, Severity, Tensor, VerifyOptions, ZTensorFile, rule,
};

use super::feed::Feed;
use crate::ask;

pub(super) use made::seed as made_seed;

/// Tensors of more bytes are not read as a whole: a few bytes of a file may stand for them.
const LEN_MAX: u64 = 1 << 20;

/// Opens, reads and verifies the bytes if they begin as a file; else a file made of them.
pub fn ztensor(bytes: &[u8]) {
    of_file(bytes, read);
}

fn of_file(bytes: &[u8], ask: fn(&[u8])) {
    match bytes {
        [b'Z', ..] => ask(bytes),
        bytes => ask(&made::file(&mut Feed(bytes))),
    }
}

fn read(bytes: &[u8]) {
    let report = verified(bytes);
    match ZTensorFile::open(Source::from_bytes(bytes), &limits()) {
        Ok(file) => opened(bytes, &file, &report),
        Err(error) => {
            assert!(!report.is_ok(), "called sound: {error}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Limits of a small machine.
fn limits() -> Limits {
    Limits { sparse_len_max: LEN_MAX, ..Limits::default() }
}

/// All that there is to say of a file.
fn verified(bytes: &[u8]) -> Report {
    let options = VerifyOptions {
        level: Level::Deep,
        limits: limits(),
        threads: 1,
        findings_max: usize::MAX,
        ..VerifyOptions::default()
    };
    tet_ztensor::verify(&Source::from_bytes(bytes), &options).unwrap()
}

/// Whether an error is told of the tensor at a position.
fn is_named(report: &Report, position: usize) -> bool {
    let mut findings = report.findings.iter();
    findings.any(|it| it.severity == Severity::Error && it.place.dataset == Some(position as u64))
}

/// A file that opens here opens as a catalog, and what one reader reads the other does.
fn opened(bytes: &[u8], file: &ZTensorFile, report: &Report) {
    let opened = tet_convert::open_source(Source::from_bytes(bytes), &OpenOptions::default());
    let opened = opened.unwrap_or_else(|error| panic!("it opens otherwise: {error}"));
    let catalog = &opened.catalog;
    assert_eq!(catalog.datasets().len(), file.len());
    for (tensor, dataset) in file.tensors().zip(catalog.datasets()) {
        assert_eq!(dataset.name, tensor.name());
        assert!(!format!("{:?}", dataset.why()).is_empty());
        let is_sound = !is_named(report, tensor.position());
        if let Ok(fields) = tensor.custom() {
            assert_eq!(fields.len(), tensor.custom_bytes().len());
        }
        assert!(file.find(&format!("#{}", tensor.position())).is_ok() || !report.is_ok());
        if tensor.decoded_len().is_some_and(|len| LEN_MAX < len) {
            continue;
        }
        match file.read(tensor, Check::Always) {
            Ok(elements) => {
                in_parts(file, tensor, &elements);
                same(dataset, tensor, &elements);
            }
            Err(error) => {
                assert!(!is_sound, "tensor {} called sound: {error}", tensor.position());
                assert!(!error.to_string().is_empty());
                // The catalog has no chunks of a tensor without elements, and looks at no bytes.
                let is_empty = tensor.element_count() == Some(0);
                let is_large = error.rule() == Some(&rule::LIMIT_SPARSE);
                assert!(is_empty || is_large || asked(dataset).is_err(), "read otherwise: {error}");
            }
        }
    }
}

/// The elements of a dataset, compared with their checksum.
fn asked(dataset: &Dataset) -> Result<Vec<u8>, Asked> {
    let how = Execution { digests: DigestPolicy::Always, ..ask::small() };
    let slab = Hyperslab::whole(dataset.shape());
    Ok(dataset.read(&slab, &how)?.bytes().to_vec())
}

/// The catalog reads the same elements, where it takes the tensor for what it is.
fn same(dataset: &Dataset, tensor: Tensor<'_>, elements: &[u8]) {
    let is_as_stored = dataset.dtype == tensor.dtype() && dataset.shape() == tensor.shape();
    if !is_as_stored || RANK_MAX < tensor.shape().len() {
        return;
    }
    let found = asked(dataset);
    let found = found.unwrap_or_else(|error| panic!("tensor {}: {error}", tensor.position()));
    assert!(found == elements, "tensor {} is read otherwise", tensor.position());
}

/// Whatever way a tensor is read gives the same elements.
fn in_parts(file: &ZTensorFile, tensor: Tensor<'_>, elements: &[u8]) {
    if let Some(view) = file.view(tensor).unwrap() {
        assert!(*view == *elements);
    }
    if tensor.is_sparse() {
        let sparse = file.read_sparse(tensor, Check::Always).unwrap();
        let count = elements.len() as u64 / sparse.element_size;
        for range in [0..count, count / 3..count - count / 4, count..count] {
            let at = |element: u64| usize::try_from(element * sparse.element_size).unwrap();
            let mut out = vec![0xa5; at(range.end - range.start)];
            sparse.scatter(range.clone(), &mut out);
            assert!(out == elements[at(range.start)..at(range.end)], "{range:?} is read otherwise");
        }
    } else if let Some(frames) = file.frames(tensor).unwrap() {
        assert_eq!(frames.decoded_len(), elements.len() as u64);
    }
}
