//! NetCDF classic files: what is checked, opened and read of any bytes agrees.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::{Dataset, Hyperslab};
use tet_verify::{Severity, VerifyOptions};

use super::halves::{halves, numbers_of};
use crate::ask;

/// Variables of more bytes are not read as a whole.
const LEN_MAX: u64 = 1 << 20;

/// Checks, opens and reads the bytes; those without a magic get one.
pub fn netcdf(bytes: &[u8]) {
    let version = [1, 2, 5][usize::from(bytes.first().copied().unwrap_or(0)) % 3];
    let file = match bytes {
        [b'C', b'D', b'F', ..] => bytes.to_vec(),
        bytes => [&[b'C', b'D', b'F', version], bytes].concat(),
    };
    if !matches!(file.get(3), Some(1 | 2 | 5)) {
        return;
    }
    let source = Source::from_bytes(file.as_slice());
    let options = VerifyOptions { threads: 1, findings_max: usize::MAX, ..Default::default() };
    let report = tet_convert::verify(&source, &options).expect("bytes in memory are read");
    let opened = match tet_convert::open_source(source, &OpenOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!report.is_ok(), "called sound: {error}");
            return;
        }
    };
    for (dataset, at) in opened.catalog.datasets().iter().zip(0..) {
        let mut findings = report.findings.iter();
        let is_named =
            findings.any(|it| it.severity == Severity::Error && it.place.dataset == Some(at));
        let is_deep = tet_query::AXES_MAX < dataset.shape().len();
        assert!(dataset.fault.is_none() || is_named || is_deep, "called sound: {dataset:?}");
        if dataset.fault.is_none() {
            read(dataset, file.len() as u64);
        }
    }
}

/// The whole of a sound variable is its halves; of text, that of its bytes.
pub(super) fn read(dataset: &Dataset, file_len: u64) {
    let Some(dataset) = numbers_of(dataset) else { return };
    let shape = dataset.shape();
    let size = dataset.dtype.and_then(|dtype| dtype.size()).expect("a known type");
    let len = shape.iter().try_fold(size, |len, extent| len.checked_mul(*extent));
    assert!(shape.contains(&0) || len.is_some_and(|len| len <= file_len), "more than the file");
    if len.is_none_or(|len| LEN_MAX < len) {
        return;
    }
    let slab = Hyperslab::whole(shape);
    let how = ask::small();
    let whole = dataset.read(&slab, &how).expect("it has no fault").value;
    let halves = halves(dataset, &how).expect("it has no fault");
    assert_eq!(whole.bytes(), halves);
}

/// Sound files of every version.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in [1, 2, 5] {
        for count in [0, 1, 3] {
            seeds.push(seed(version, count));
        }
    }
    seeds
}

/// A dimension of records and one of 3, an attribute, and a variable of each kind.
fn seed(version: u8, records: u8) -> Vec<u8> {
    let number = |number: usize| {
        let bytes = (number as u64).to_be_bytes();
        if version == 5 { bytes.to_vec() } else { bytes[4..].to_vec() }
    };
    let tag = |tag: u32| tag.to_be_bytes().to_vec();
    let name = |name: &str| [number(name.len()), name.as_bytes().to_vec(), vec![0; 3]].concat();
    let variable = |letter: &str, dims: &[usize], kind: u32, begin: usize| {
        let mut entry = [name(letter), number(dims.len())].concat();
        dims.iter().for_each(|&dim| entry.extend(number(dim)));
        let attrs = [tag(12), number(1), name("u"), tag(3), number(1), vec![1, 2, 0, 0]].concat();
        let begin = begin as u64;
        let begin = if version == 1 {
            begin.to_be_bytes()[4..].to_vec()
        } else {
            begin.to_be_bytes().to_vec()
        };
        entry.extend([attrs, tag(kind), number(8), begin].concat());
        entry
    };
    let header = |at: usize| {
        let dims = [tag(10), number(2), name("t"), number(0), name("x"), number(3)].concat();
        let attrs = [tag(12), number(1), name("a"), tag(2), number(4), b"text".to_vec()].concat();
        let variables = [
            variable("x", &[1], 3, at),
            variable("p", &[0, 1], 5, at + 8),
            variable("q", &[0], 6, at + 20),
        ];
        let head = [vec![b'C', b'D', b'F', version], number(usize::from(records))].concat();
        [head, dims, attrs, tag(11), number(3), variables.concat()].concat()
    };
    let len = header(0).len();
    let data = (0..8 + 20 * records).collect::<Vec<u8>>();
    [header(len), data].concat()
}
