//! Checks, opens and reads of any bytes agree: a file that is called sound is read, and the whole of a dataset
//! is its halves.

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::{AXES_MAX, Dataset, Error, Hyperslab, Kind};
use tet_verify::{Level, Severity, VerifyOptions};

use super::halves::{halves, numbers_of};
use crate::ask;

/// Datasets of more bytes are not read as a whole.
const LEN_MAX: u64 = 1 << 18;

/// Bytes that a dataset of a file may have; those of filters and of views that repeat elements have no bound.
#[derive(Clone, Copy)]
pub(super) enum DatasetLen {
    Unbounded,
    Max(u64),
}

/// Checks, opens and reads a file.
pub(super) fn agree(file: &[u8], len_max: DatasetLen) {
    agree_of(Source::from_bytes(file), len_max);
}

/// Checks, opens and reads a source.
pub(super) fn agree_of(source: Source, len_max: DatasetLen) {
    let (level, findings_max) = (Level::Deep, usize::MAX);
    let options = VerifyOptions { level, threads: 1, findings_max, ..Default::default() };
    // Few bytes may decode to more than a check may read.
    let report = tet_convert::verify(&source, &options).ok();
    let is_sound = report.as_ref().is_some_and(|report| report.is_ok());
    let opened = match tet_convert::open_source(source, &OpenOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!is_sound, "called sound: {error}");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let findings = report.iter().flat_map(|report| &report.findings).collect::<Vec<_>>();
    assert!(findings.iter().all(|it| !it.to_string().is_empty()));
    assert!(opened.findings.iter().all(|it| !it.to_string().is_empty()));
    for (dataset, at) in opened.catalog.datasets().iter().zip(0..) {
        let is_named = findings
            .iter()
            .any(|it| it.severity == Severity::Error && it.place.dataset == Some(at));
        match dataset.why() {
            None => read(dataset, is_sound && !is_named, len_max),
            Some(error) => {
                let is_deep = AXES_MAX < dataset.shape().len();
                let is_told = is_named || is_deep || !is_damage(error);
                assert!(!is_sound || is_told, "called sound: {dataset:?}");
            }
        }
    }
    for part in opened.catalog.parts() {
        read(part, false, DatasetLen::Unbounded);
    }
}

/// Whether the file is damaged, and not only beyond a limit or what is supported.
fn is_damage(error: &Error) -> bool {
    let is_of_bytes = matches!(
        error,
        Error::Foreign { .. }
            | Error::Shard { .. }
            | Error::Codec { .. }
            | Error::Chunk { .. }
            | Error::MissingChunk { .. }
            | Error::DuplicateChunk { .. }
    );
    is_of_bytes && error.kind() == Kind::Format
}

/// The whole of a sound dataset is its halves; of text, that of its bytes.
fn read(dataset: &Dataset, is_sound: bool, len_max: DatasetLen) {
    let Some(dataset) = numbers_of(dataset) else { return };
    let shape = dataset.shape();
    let Some(size) = dataset.dtype.and_then(|dtype| dtype.size()) else { return };
    let len = shape.iter().try_fold(size, |len, extent| len.checked_mul(*extent));
    if let DatasetLen::Max(len_max) = len_max {
        let is_within = len.is_some_and(|len| len <= len_max);
        assert!(shape.contains(&0) || is_within, "more than the file");
    }
    if len.is_none_or(|len| LEN_MAX < len) {
        return;
    }
    let (slab, how) = (Hyperslab::whole(shape), ask::small());
    match dataset.read(&slab, &how) {
        Ok(whole) => {
            let halves = halves(dataset, &how).expect("the whole was read");
            assert_eq!(whole.value.bytes(), halves);
        }
        Err(error) => assert!(!is_sound || !is_damage(&error), "called sound: {error}"),
    }
}
