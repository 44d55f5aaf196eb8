//! Hostile headers, each with the rule it breaks; truncations; headers against a reading without care.

mod hostile;
mod naive;

use std::path::Path;

use tet_io::Source;
use tet_query::{Execution, Hyperslab};
use tet_verify::{Severity, VerifyOptions};

use super::catalog::open;
use super::check::verify;
use tet_container::read::opened::Opened;
use tet_container::{Error, Result};

/// A file with this header and buffer.
pub(super) fn file(header: &str, buffer: &[u8]) -> Vec<u8> {
    with_len(u64::try_from(header.len()).unwrap(), header.as_bytes(), buffer)
}

pub(super) fn with_len(len: u64, header: &[u8], buffer: &[u8]) -> Vec<u8> {
    [&len.to_le_bytes()[..], header, buffer].concat()
}

pub(super) fn opened(bytes: &[u8]) -> Result<Opened> {
    open(Path::new("x.safetensors"), Source::from_bytes(bytes))
}

/// The code for which a file is refused.
pub(super) fn refused(bytes: &[u8]) -> Option<&'static str> {
    match opened(bytes) {
        Ok(_) => None,
        Err(Error::Foreign { fault, .. }) => Some(fault.rule.id),
        Err(error) => panic!("{error}"),
    }
}

/// The codes of what `verify` finds, and where.
pub(super) fn found(bytes: &[u8], options: &VerifyOptions) -> Vec<(&'static str, u64)> {
    let report = verify(&Source::from_bytes(bytes), options).unwrap();
    report.findings.iter().map(|finding| (finding.code.id(), finding.place.offset)).collect()
}

/// The errors among them.
pub(super) fn errors(bytes: &[u8]) -> Vec<&'static str> {
    let report = verify(&Source::from_bytes(bytes), &VerifyOptions::default()).unwrap();
    let errors = report.findings.iter().filter(|it| it.severity == Severity::Error);
    errors.map(|finding| finding.code.id()).collect()
}

pub(super) const TWO: &str = "{\"__metadata__\":{\"made\":\"by hand\"},\
    \"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},\
    \"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[24,27]}}";

#[test]
fn tensors_are_read_where_they_lie() {
    let bytes = file(TWO, &(0..27).collect::<Vec<u8>>());
    let Opened { catalog, .. } = opened(&bytes).unwrap();
    let names: Vec<&str> = catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["w", "b"]);
    assert_eq!(catalog.attrs().len(), 1);
    for (name, wanted) in [("w", 0..24), ("b", 24..27)] {
        let dataset = catalog.find(name).unwrap();
        let slab = Hyperslab::whole(dataset.shape());
        let array = dataset.read(&slab, &Execution::default()).unwrap();
        assert_eq!(array.bytes(), wanted.collect::<Vec<u8>>());
    }
    assert!(errors(&bytes).is_empty());
}

#[test]
fn every_prefix_is_refused() {
    let bytes = file(TWO, &[0; 27]);
    for len in 0..bytes.len() {
        let code = refused(&bytes[..len]);
        let wanted = match len {
            0..8 => "ST-H1",
            _ if len < bytes.len() - 27 => "ST-H2",
            _ => "ST-B1",
        };
        assert_eq!(code, Some(wanted), "the first {len} bytes");
        assert!(errors(&bytes[..len]).contains(&wanted));
    }
    assert_eq!(refused(&bytes), None);
}

#[test]
fn what_nothing_computes_with_is_listed_and_has_its_bytes() {
    let header = "{\"q\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]},\
        \"h\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[4,7]},\
        \"n\":{\"dtype\":\"NEW\",\"shape\":[1],\"data_offsets\":[7,8]},\
        \"r\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[8,9]}}";
    let bytes = file(header, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let Opened { catalog, findings, .. } = opened(&bytes).unwrap();
    let why = |name: &str| catalog.find(name).unwrap().why().map(ToString::to_string);
    assert!(why("q").unwrap().contains("float8_e4m3fn"), "{:?}", why("q"));
    assert!(why("h").unwrap().contains("float4_e2m1fn"), "{:?}", why("h"));
    assert!(why("n").unwrap().contains("ST-T2"), "{:?}", why("n"));
    assert_eq!(why("r"), None);
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code.id()).collect();
    assert_eq!(codes, ["ST-N4", "ST-T2"]);
    for (name, range) in [("q", 0..4), ("h", 4..7), ("r", 8..9)] {
        let dataset = catalog.find(name).unwrap();
        let mut places = Vec::new();
        dataset.chunks.locate(&[0], &mut places).unwrap();
        let start = u64::try_from(bytes.len()).unwrap() - 9;
        let span = start + range.start..start + range.end;
        assert_eq!(places[0].stored.range(), span, "{name}");
    }
}

#[test]
fn odd_bools_are_found_by_looking_at_elements() {
    let header = "{\"t\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}} ";
    assert!(header.len().is_multiple_of(8));
    let bytes = file(header, &[0, 1, 2, 255]);
    let at = u64::try_from(bytes.len()).unwrap() - 2;
    assert_eq!(found(&bytes, &VerifyOptions::default()), []);
    let deep = VerifyOptions { level: tet_verify::Level::Deep, ..VerifyOptions::default() };
    assert_eq!(found(&bytes, &deep), [("ST-N5", at)]);
}
