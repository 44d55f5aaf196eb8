//! Hierarchies that zarr-python wrote, whole and with damaged bytes.

use tet_format::ForeignFault;
use tet_io::{Folder, Source};
use tet_zarr::{Hierarchy, Result, Store, check};

const V2: &[u8] = include_bytes!("fixtures/v2.zarr.zip");
const V3: &[u8] = include_bytes!("fixtures/v3.zarr.zip");

/// Chunks with their names, and findings.
type ReadOut = (Vec<(String, Vec<u8>)>, Vec<ForeignFault>);

/// The stored bytes of all chunks, and all findings.
fn read_all(store: Store) -> Result<ReadOut> {
    let hierarchy = Hierarchy::open(store)?;
    let mut findings: Vec<ForeignFault> =
        hierarchy.findings().iter().map(|found| found.fault).collect();
    let mut chunks = Vec::new();
    for array in hierarchy.arrays() {
        let finder = hierarchy.finder(array);
        for number in 0..array.chunk_count().min(64) {
            let (mut rest, mut at) = (number, vec![0; array.shape.rank()]);
            for (at, count) in at.iter_mut().zip(array.grid.counts()).rev() {
                (*at, rest) = (rest % count, rest / count);
            }
            if let Ok(Some(found)) = finder.find(&at) {
                let source = finder.object(found.object)?;
                let bytes = source.read_vec(found.span.start(), found.span.len())?;
                chunks.push((format!("{} {at:?}", array.path), bytes));
            }
        }
        check(&finder, &mut |found| findings.push(found.fault))?;
    }
    Ok((chunks, findings))
}

fn zip(bytes: &[u8]) -> Result<ReadOut> {
    read_all(Store::zip(Source::from_bytes(bytes))?)
}

#[test]
fn chunks_are_those_that_were_written() {
    let (chunks, findings) = zip(V2).unwrap();
    assert_eq!(findings, []);
    let wanted =
        [("a [0, 0]", vec![0, 0, 0, 1, 0, 4, 0, 5]), ("a [0, 1]", vec![0, 2, 0, 3, 0, 6, 0, 7])];
    assert_eq!(chunks, wanted.map(|(name, bytes)| (name.to_owned(), bytes)));
    let (chunks, findings) = zip(V3).unwrap();
    assert_eq!(findings, []);
    let wanted = [
        ("a [0, 0]", vec![0, 0, 1, 0, 4, 0, 5, 0]),
        ("a [0, 1]", vec![2, 0, 3, 0, 6, 0, 7, 0]),
        ("g/s [0, 0]", vec![0, 1, 3, 4]),
        ("g/s [0, 1]", vec![2, 7, 5, 7]),
    ];
    assert_eq!(chunks, wanted.map(|(name, bytes)| (name.to_owned(), bytes)));
}

/// Each damaged byte of the shard breaks a checksum, or is a byte of a chunk.
#[test]
fn a_damaged_shard_index_is_found() {
    let shard = {
        let zip = Store::zip(Source::from_bytes(V3)).unwrap();
        zip.locate("g/s/c/0/0").unwrap().unwrap().part.unwrap()
    };
    let at = usize::try_from(shard.start()).unwrap();
    let mut bytes = V3.to_vec();
    bytes[at] ^= 1;
    let (_, findings) = zip(&bytes).unwrap();
    let ids: Vec<&str> = findings.iter().map(|fault| fault.rule.id).collect();
    assert_eq!(ids, ["ZR-S4"]);
}

#[test]
fn an_entry_of_a_zip_file_that_hides_the_next_is_an_error() {
    let mut bytes = V3.to_vec();
    let is_entry = |&at: &usize| V3[at..].starts_with(b"PK\x01\x02");
    let entries: Vec<usize> = (0..V3.len()).filter(is_entry).collect();
    // The second entry becomes the comment of the first.
    bytes[entries[0] + 32] = u8::try_from(entries[2] - entries[1]).unwrap();
    let error = zip(&bytes).unwrap_err().to_string();
    assert!(error.contains("ZR-Z9"), "{error}");
}

#[test]
fn references_stay_below_the_folder() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("x.bin"), [9; 8]).unwrap();
    let open = |reference: &str| {
        let text =
            format!(r#"{{"version": 1, "templates": {{"u": "x"}}, "refs": {{"k": {reference}}}}}"#);
        let folder = Folder::open(root.path()).unwrap();
        let store = Store::references(&Source::from_bytes(text.into_bytes()), folder).unwrap();
        store.locate("k").map(|place| place.is_some())
    };
    assert!(open(r#"["{{u}}.bin", 0, 4]"#).unwrap());
    assert!(open(r#""base64:AAAA""#).unwrap());
    let inside = format!(r#"["file://{}/x.bin"]"#, root.path().display());
    assert!(open(&inside).unwrap());
    for (reference, id) in [
        (r#"["../x.bin"]"#, "ZR-R3"),
        (r#"["file:///etc/hostname"]"#, "ZR-R3"),
        (r#"["/etc/hostname"]"#, "ZR-R3"),
        (r#"["s3://bucket/x"]"#, "ZR-R3"),
        (r#"["https://example.org/x"]"#, "ZR-R3"),
        (r#"["{{v}}.bin"]"#, "ZR-R4"),
        (r#"["x.bin", 1]"#, "ZR-R2"),
        (r#"["x.bin", 18446744073709551615, 2]"#, "ZR-R2"),
    ] {
        let error = open(reference).unwrap_err().to_string();
        assert!(error.contains(id), "{reference}: {error}");
    }
}
