//! Sparse tensors: every spelling, and every way to break one (ZT-S1 to ZT-S5).

use tet_format::ForeignRule;
use tet_io::Source;

use crate::testing::{
    Fields, array, deep, open, read, rules, tensor_refused, text, uint, uints, with_good, zstd,
};
use crate::{Check, Finding, Level, Limits, Places, VerifyOptions, ZTensorFile, rule, verify};

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A csr tensor of 2 by 3 float32: 1.0 at (0, 2), 2.0 at (1, 0).
fn csr_blob(indptr: &[u64], indices: &[u64]) -> Vec<u8> {
    let values = [1.0_f32, 2.0].map(f32::to_le_bytes).concat();
    [words(indptr), words(indices), values].concat()
}

fn csr(blob: &[u8]) -> Fields {
    let fields = Fields::dense("t", 64, blob.len() as u64, "float32", &[2, 3]);
    fields.with("layout", text("sparsecsr"))
}

fn coo_blob() -> Vec<u8> {
    let record = |place: &[u64], value: f32| [&words(place)[..], &value.to_le_bytes()].concat();
    [record(&[0, 2], 1.0), record(&[1, 0], 2.0)].concat()
}

fn coo(blob: &[u8]) -> Fields {
    csr(blob).with("layout", text("sparsecoo"))
}

fn newer(fields: Fields, format: &str) -> Fields {
    fields.with("layout", text("sparse")).with("sparse_format", text(format))
}

fn wanted() -> Vec<u8> {
    [0.0_f32, 0.0, 1.0, 2.0, 0.0, 0.0].map(f32::to_le_bytes).concat()
}

#[test]
fn all_spellings_of_one_tensor_are_one_tensor() {
    let values = &csr_blob(&[], &[]);
    let (csr_blob, coo_blob) = (csr_blob(&[0, 1, 2], &[2, 0]), coo_blob());
    let (packed_csr, packed_coo) = (zstd(&csr_blob), zstd(&coo_blob));
    let packed = |fields: Fields| fields.with("encoding", text("zstd"));
    let inline = newer(csr(values), "csr").with("indptr", uints(&[0, 1, 2]));
    let nested = array(&[uints(&[0, 2]), uints(&[1, 0])]);
    let cases = [
        (&csr_blob, csr(&csr_blob)),
        (&csr_blob, newer(csr(&csr_blob), "csr").with("nnz", uint(2))),
        (&packed_csr, packed(csr(&packed_csr))),
        (&coo_blob, coo(&coo_blob)),
        (&coo_blob, newer(coo(&coo_blob), "coo")),
        (&packed_coo, packed(coo(&packed_coo))),
        (values, inline.with("indices", uints(&[2, 0]))),
        (values, newer(coo(values), "coo").with("indices", uints(&[0, 2, 1, 0]))),
        (values, newer(coo(values), "coo").with("indices", nested)),
    ];
    for (blob, fields) in cases {
        let bytes = with_good(blob, &fields);
        assert_eq!(read(&bytes, 1).unwrap(), wanted());
        assert!(deep(&bytes).is_ok(), "{:?}", deep(&bytes).findings);
    }
}

/// Old programs turn the blob around in pieces of an element, words of places included.
#[test]
fn big_endian_blobs_are_turned_around_in_pieces_of_an_element() {
    for (layout, blob) in [("sparsecsr", csr_blob(&[0, 1, 2], &[2, 0])), ("sparsecoo", coo_blob())]
    {
        let big: Vec<u8> = blob.chunks(4).flat_map(|it| it.iter().rev().copied()).collect();
        let fields = csr(&big).with("layout", text(layout));
        let bytes = with_good(&big, &fields.with("data_endianness", text("big")));
        assert_eq!(read(&bytes, 1).unwrap(), wanted());
        assert!(rules(&bytes).contains(&&rule::BYTE_ORDER_BIG));
    }
}

#[track_caller]
fn broken(blob: &[u8], fields: &Fields, rule: &'static ForeignRule) {
    tensor_refused(&with_good(blob, fields), rule);
}

#[test]
fn csr_tensors_that_break_a_rule() {
    let good = csr_blob(&[0, 1, 2], &[2, 0]);
    for shape in [&[][..], &[6], &[2, 3, 1]] {
        broken(&good, &csr(&good).with("shape", uints(shape)), &rule::SPARSE_RANK);
    }
    for (indptr, rule) in [
        ([1, 1, 2], &rule::SPARSE_INDPTR),
        ([0, 2, 1], &rule::SPARSE_INDPTR),
        ([0, 3, 2], &rule::SPARSE_INDPTR),
        ([0, 1, 1], &rule::SPARSE_LEN),
        ([0, 1, 3], &rule::SPARSE_LEN),
        ([0, 1, 1 << 61], &rule::SPARSE_LEN),
        ([0, 1, u64::MAX], &rule::SPARSE_LEN),
    ] {
        let blob = csr_blob(&indptr, &[2, 0]);
        broken(&blob, &csr(&blob), rule);
    }
    for column in [3, 1 << 61, u64::MAX] {
        let blob = csr_blob(&[0, 1, 2], &[2, column]);
        broken(&blob, &csr(&blob), &rule::SPARSE_RANGE);
    }
    for rows in [1, 3, 1 << 20] {
        let fields = csr(&good).with("shape", uints(&[rows, 3]));
        let error = read(&with_good(&good, &fields), 1).unwrap_err();
        let rule = error.rule().unwrap();
        assert!([&rule::SPARSE_LEN, &rule::SPARSE_INDPTR].contains(&rule));
    }
    for rows in [1 << 61, u64::MAX] {
        broken(&good, &csr(&good).with("shape", uints(&[rows, 3])), &rule::SHAPE_PRODUCT);
        broken(&good, &csr(&good).with("shape", uints(&[rows, 0])), &rule::SPARSE_LEN);
    }
    for len in [0, 7, 23, good.len() - 1] {
        broken(&good[..len], &csr(&good[..len]), &rule::SPARSE_LEN);
    }
}

#[test]
fn coo_tensors_that_break_a_rule() {
    let good = coo_blob();
    broken(&good, &coo(&good).with("shape", uints(&[])), &rule::SPARSE_RANK);
    broken(&good, &coo(&good).with("shape", uints(&[2, 3, 1])), &rule::SPARSE_LEN);
    for len in [1, 19, 39] {
        broken(&good[..len], &coo(&good[..len]), &rule::SPARSE_LEN);
    }
    for shape in [[1, 3], [2, 2], [2, 0]] {
        broken(&good, &coo(&good).with("shape", uints(&shape)), &rule::SPARSE_RANGE);
    }
    let none = coo(&[]);
    let bytes = with_good(&[], &none);
    assert_eq!(read(&bytes, 1).unwrap(), [0; 24]);
}

#[test]
fn places_in_the_entry_that_break_a_rule() {
    let values = csr_blob(&[], &[]);
    let inline = |indptr: Vec<u8>, indices: Vec<u8>| {
        let fields = newer(csr(&values), "csr");
        fields.with("indptr", indptr).with("indices", indices)
    };
    let (indptr, indices) = (|| uints(&[0, 1, 2]), || uints(&[2, 0]));
    let cases = [
        (inline(uints(&[0, 1]), indices()), &rule::SPARSE_LEN),
        (inline(uints(&[0, 1, 2, 2]), indices()), &rule::SPARSE_LEN),
        (inline(uints(&[0, 2, 1]), indices()), &rule::SPARSE_INDPTR),
        (inline(indptr(), uints(&[2])), &rule::SPARSE_LEN),
        (inline(indptr(), uints(&[2, 3])), &rule::SPARSE_RANGE),
        (inline(uints(&[0, 1, 3]), uints(&[2, 0, 0])), &rule::SPARSE_LEN),
        (inline(text("no"), indices()), &rule::SPARSE_INLINE),
        (inline(indptr(), array(&[vec![0x20], uint(0)])), &rule::SPARSE_INLINE),
        (inline(indptr(), array(&[uints(&[2]), uints(&[0])])), &rule::SPARSE_INLINE),
        (newer(csr(&values), "csr").with("indptr", indptr()), &rule::SPARSE_INLINE),
        (newer(csr(&values), "csr").with("indices", indices()), &rule::SPARSE_INLINE),
    ];
    for (fields, rule) in cases {
        broken(&values, &fields, rule);
    }
    let coo = |indices: Vec<u8>| newer(coo(&values), "coo").with("indices", indices);
    let cases = [
        (coo(uints(&[0, 2, 1])), &rule::SPARSE_LEN),
        (coo(uints(&[0, 2])), &rule::SPARSE_LEN),
        (coo(uints(&[0, 3, 1, 0])), &rule::SPARSE_RANGE),
        (coo(array(&[uints(&[0, 2]), uints(&[1])])), &rule::SPARSE_INLINE),
        (coo(array(&[uints(&[0, 2, 1]), uints(&[1, 0, 0])])), &rule::SPARSE_INLINE),
        (coo(array(&[uints(&[0, 2]), uint(1)])), &rule::SPARSE_INLINE),
        (coo(array(&[uint(1), uints(&[0, 2])])), &rule::SPARSE_INLINE),
        (coo(uints(&[0, 2, 1, 0])).with("indptr", indptr()), &rule::SPARSE_INLINE),
    ];
    for (fields, rule) in cases {
        broken(&values, &fields, rule);
    }
}

#[test]
fn of_two_values_in_one_place_the_last_one_counts() {
    let record = |value: f32| [&words(&[1, 1])[..], &value.to_le_bytes()].concat();
    let blob = [record(1.0), record(2.0)].concat();
    let bytes = with_good(&blob, &coo(&blob));
    let mut wanted = [0.0_f32; 6];
    wanted[4] = 2.0;
    assert_eq!(read(&bytes, 1).unwrap(), wanted.map(f32::to_le_bytes).concat());
    assert!(rules(&bytes).contains(&&rule::COORD_TWICE) && deep(&bytes).is_ok());
    let blob = csr_blob(&[0, 2, 2], &[1, 1]);
    let bytes = with_good(&blob, &csr(&blob));
    assert_eq!(read(&bytes, 1).unwrap()[4..8], 2.0_f32.to_le_bytes());
    assert!(rules(&bytes).contains(&&rule::COORD_TWICE));
}

#[test]
fn what_a_sparse_tensor_comes_to_is_bounded() {
    let blob = coo_blob();
    let wide = coo(&blob).with("shape", uints(&[1 << 30, 1 << 29]));
    let bytes = with_good(&blob, &wide);
    assert_eq!(read(&bytes, 1).unwrap_err().rule(), Some(&rule::LIMIT_SPARSE));
    assert!(deep(&bytes).is_ok(), "what is stored is sound");
    let file = open(&bytes).unwrap();
    let sparse = file.read_sparse(file.tensor(1).unwrap(), Check::Always).unwrap();
    assert_eq!(sparse.places, Places::Coo { coords: vec![0, 2, 1, 0] });
    assert_eq!(sparse.value_count(), 2);
    let zeros = zstd(&vec![0; 1 << 20]);
    let fields = coo(&zeros).with("encoding", text("zstd")).with("shape", uints(&[5]));
    let bytes = with_good(&zeros, &fields);
    let limits = Limits { sparse_len_max: 1 << 19, ..Limits::default() };
    let file = ZTensorFile::open(tet_io::Source::from_bytes(bytes), &limits).unwrap();
    let error = file.read_sparse(file.tensor(1).unwrap(), Check::Always).unwrap_err();
    assert_eq!(error.rule(), Some(&rule::LIMIT_SPARSE));
    assert!(file.read_sparse(file.tensor(0).unwrap(), Check::Always).is_err(), "it is dense");
}

/// Whether the count of values fits is known before anything is decoded: `len` zeros in one frame.
#[test]
fn a_blob_of_the_wrong_length_is_not_decoded() {
    // Blocks of 128 KiB that are one byte each, and a header that says what they come to.
    let bomb = |blocks: u32| {
        let len = u64::from(blocks) << 17;
        let mut out = vec![0x28, 0xB5, 0x2F, 0xFD, 0xE0];
        out.extend(len.to_le_bytes());
        for nth in 0..blocks {
            let last = u32::from(nth + 1 == blocks);
            out.extend(&((1_u32 << 20) | 1 << 1 | last).to_le_bytes()[..3]);
            out.push(0);
        }
        out
    };
    let blob = bomb(8);
    let (rows, len) = ((1_u64 << 17) - 1, 1_u64 << 20);
    for (shape, wanted) in [([rows - 1, 4], len - 8), ([rows + 1, 4], len + 8)] {
        let fields = csr(&blob).with("encoding", text("zstd")).with("shape", uints(&shape));
        let found = deep(&with_good(&blob, &fields)).findings;
        let found = found.iter().find(|it| it.rule() == Some(&rule::SPARSE_LEN)).unwrap();
        assert_eq!((found.found, found.wanted), (len, Some(wanted)));
    }
    // As long as it has to be: an empty tensor of many rows.
    let fields = csr(&blob).with("encoding", text("zstd")).with("shape", uints(&[rows, 4]));
    assert!(deep(&with_good(&blob, &fields)).is_ok());
}

/// A warning about a value does not hide a broken position behind it, checked in memory or in pieces.
#[test]
fn an_odd_bool_hides_no_broken_position() {
    let record = |place: &[u64], value: u8| [&words(place)[..], &[value]].concat();
    let blob = [record(&[0, 2], 4), record(&[1, 0], 9), record(&[1, 3], 1)].concat();
    let bytes = with_good(&blob, &coo(&blob).with("dtype", text("bool")));
    for memory_budget in [0, 1 << 20] {
        let level = Level::Deep;
        let options = VerifyOptions { level, memory_budget, ..VerifyOptions::default() };
        let report = verify(&Source::from_bytes(bytes.clone()), &options).unwrap();
        let found: Vec<_> = report.findings.iter().filter_map(Finding::rule).collect();
        assert!(found.contains(&&rule::SPARSE_RANGE), "{memory_budget}: {found:?}");
        assert_eq!(found.contains(&&rule::BOOL_BYTE), memory_budget == 0);
    }
}
