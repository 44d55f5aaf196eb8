//! Sparse tensors in dense parts: parts that do not fit together are reported (ZT-S6 to ZT-S8).

use crate::testing::{Fields, array, deep, file, rules, text, uints, zstd};
use crate::{Declaration, Places, WriteOptions, Writer, rule, verify};
use tet_format::DType;
use tet_io::Source;

/// One dense part: its name, its dtype, its shape, its bytes.
struct DensePart(&'static str, &'static str, Vec<u64>, Vec<u8>);

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn values(count: u8) -> DensePart {
    DensePart("values", "uint8", vec![count.into()], (1..=count).collect())
}

fn numbers(part: &'static str, shape: &[u64], numbers: &[u64]) -> DensePart {
    DensePart(part, "uint64", shape.to_vec(), words(numbers))
}

/// A file of parts of `m`; `spoil` changes the entries.
fn parts(
    format: &str,
    shape: &[u64],
    parts: &[DensePart],
    spoil: impl Fn(&str, Fields) -> Fields,
) -> Vec<u8> {
    let (mut at, mut entries, mut blobs) = (64, Vec::new(), Vec::new());
    for DensePart(part, dtype, extents, bytes) in parts {
        let len = bytes.len() as u64;
        let mut fields = Fields::dense(&format!("m.{part}"), at, len, dtype, extents)
            .with("sparse_of", text("m"))
            .with("sparse_part", text(part));
        if *part == "values" {
            fields = fields.with("sparse_format", text(format)).with("sparse_shape", uints(shape));
        }
        entries.push(spoil(part, fields).entry());
        blobs.push(&**bytes);
        at = (at + len).next_multiple_of(64);
    }
    file(&blobs, &array(&entries))
}

fn csr(indptr: &[u64], indices: &[u64]) -> Vec<DensePart> {
    let rows = indptr.len() as u64;
    let count = indices.len() as u64;
    vec![numbers("indptr", &[rows], indptr), numbers("indices", &[count], indices), values(3)]
}

fn as_is(_: &str, fields: Fields) -> Fields {
    fields
}

#[test]
fn parts_that_belong_together_are_sound() {
    for bytes in [
        parts("csr", &[3, 4], &csr(&[0, 2, 2, 3], &[0, 3, 1]), as_is),
        parts("coo", &[2, 3], &[numbers("coords", &[2, 2], &[0, 2, 1, 0]), values(2)], as_is),
    ] {
        let found = rules(&bytes);
        assert!(found.is_empty(), "{found:?}");
    }
    for encoding in [crate::EncodingChoice::Raw, crate::EncodingChoice::zstd()] {
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        let mut writer = Writer::new(Vec::new(), &options).unwrap();
        let places = Places::Csr { indptr: vec![0, 2, 2, 3], indices: vec![0, 3, 1] };
        writer.sparse(Declaration::new("m", DType::UInt8, [3, 4]), &places, &[1, 2, 3]).unwrap();
        let found = rules(&writer.finish().unwrap().0);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn numbers_of_parts_must_fit() {
    let csr = |indptr: &[u64], indices: &[u64]| parts("csr", &[3, 4], &csr(indptr, indices), as_is);
    let cases = [
        (csr(&[1, 2, 2, 3], &[0, 3, 1]), &rule::PART_INDPTR, (64, 1, 0)),
        (csr(&[0, 2, 1, 3], &[0, 3, 1]), &rule::PART_INDPTR, (64 + 16, 1, 2)),
        (csr(&[0, 2, 2, 2], &[0, 3, 1]), &rule::PART_INDPTR, (64 + 24, 2, 3)),
        (csr(&[0, 2, 2, 9], &[0, 3, 1]), &rule::PART_INDPTR, (64 + 24, 9, 3)),
        (csr(&[0, 2, 2, 3], &[0, 4, 1]), &rule::PART_RANGE, (128 + 8, 4, 4)),
    ];
    for (bytes, rule, numbers) in cases {
        let report = deep(&bytes);
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|it| (it.rule().unwrap(), (it.place.offset, it.found, it.wanted.unwrap())))
            .collect();
        assert_eq!(found, [(rule, numbers)]);
        assert!(!report.is_ok());
        // Without a look at the elements nothing is seen.
        assert!(verify(&Source::from_bytes(&*bytes), &Default::default()).unwrap().is_ok());
    }
    let coo = [numbers("coords", &[3, 2], &[0, 2, 1, 3, 0, 0]), values(3)];
    assert_eq!(rules(&parts("coo", &[2, 3], &coo, as_is)), [&rule::PART_RANGE]);
    let packed = |part: &str, fields: Fields| match part {
        "indices" => fields.with("encoding", text("zstd")),
        _ => fields,
    };
    let mut zipped = self::csr(&[0, 2, 2, 3], &[0, 4, 1]);
    zipped[1].3 = zstd(&words(&[0, 4, 1]));
    assert_eq!(rules(&parts("csr", &[3, 4], &zipped, packed)), [&rule::PART_RANGE]);
    let big = |part: &str, fields: Fields| match part {
        "indptr" => fields.with("data_endianness", text("big")),
        _ => fields,
    };
    let mut turned = self::csr(&[0, 2, 2, 3], &[0, 3, 1]);
    turned[0].3.chunks_mut(8).for_each(<[u8]>::reverse);
    assert_eq!(rules(&parts("csr", &[3, 4], &turned, big)), [&rule::BYTE_ORDER_BIG]);
}

#[test]
fn shapes_and_types_of_parts_must_fit() {
    let whole = || csr(&[0, 2, 2, 3], &[0, 3, 1]);
    let findings = |shape: &[u64], parts: &[DensePart], spoil: &dyn Fn(&str, Fields) -> Fields| {
        let bytes = self::parts("csr", shape, parts, spoil);
        let report = verify(&Source::from_bytes(&*bytes), &Default::default()).unwrap();
        report
            .findings
            .iter()
            .map(|it| (it.rule().unwrap(), it.place.field, it.found, it.wanted.unwrap()))
            .collect::<Vec<_>>()
    };
    let fit =
        |field: &'static str, found: u64, wanted: u64| [(&rule::PART_FIT, field, found, wanted)];
    assert_eq!(findings(&[4, 4], &whole(), &as_is), fit("shape", 4, 5));
    assert_eq!(findings(&[3, 4, 1], &whole(), &as_is), fit("sparse_shape", 3, 2));
    assert_eq!(findings(&[], &whole(), &as_is), fit("sparse_shape", 0, 2));
    let mut short = whole();
    short[1] = numbers("indices", &[2], &[0, 3]);
    assert_eq!(findings(&[3, 4], &short, &as_is), fit("shape", 2, 3));
    let mut floats = whole();
    floats[0].1 = "float64";
    assert_eq!(findings(&[3, 4], &floats, &as_is), fit("dtype", 8, 8));
    let with = |wanted: &'static str, key: &'static str, value: Vec<u8>| {
        move |part: &str, fields: Fields| {
            if part == wanted { fields.with(key, value.clone()) } else { fields }
        }
    };
    let coo = with("values", "sparse_format", text("coo"));
    assert_eq!(findings(&[3, 4], &whole(), &coo), fit("sparse_format", 0, 1));
    let odd = with("values", "sparse_shape", text("3,4"));
    assert_eq!(findings(&[3, 4], &whole(), &odd), fit("sparse_shape", 0, 1));
    let twice = with("indptr", "sparse_part", text("indices"));
    assert_eq!(findings(&[3, 4], &whole(), &twice), fit("sparse_part", 2, 1));
    assert_eq!(findings(&[1 << 62, 4], &whole(), &as_is).len(), 1);
}

#[test]
fn parts_may_stand_alone() {
    for left in 0..3 {
        let mut some = csr(&[0, 2, 2, 3], &[0, 3, 1]);
        some.remove(left);
        let report = deep(&parts("csr", &[3, 4], &some, as_is));
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|it| (it.rule().unwrap(), it.place.dataset, it.found))
            .collect();
        assert_eq!(found, [(&rule::PART_MISSING, Some(0), 2)]);
        assert!(report.is_ok());
    }
}
