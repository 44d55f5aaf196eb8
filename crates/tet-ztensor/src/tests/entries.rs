//! Entries that break a rule: each costs its tensor, and no other (ZT-T1 to ZT-T13, ZT-B1 to ZT-B3).

use tet_format::{DType, ForeignRule};

use crate::testing::{
    Fields, array, deep, file, head, open, read, rules, tensor_refused, text, uint, uints,
    with_entries, with_good,
};
use crate::{Encoding, Error, Layout, rule};

const BLOB: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8];

fn entry() -> Fields {
    Fields::dense("t", 64, 8, "float32", &[2])
}

#[track_caller]
fn broken(fields: &Fields, rule: &'static ForeignRule) {
    tensor_refused(&with_good(BLOB, fields), rule);
}

#[track_caller]
fn sound(fields: &Fields) {
    let bytes = with_good(BLOB, fields);
    assert!(read(&bytes, 1).is_ok(), "{:?}", deep(&bytes).findings);
    assert!(deep(&bytes).is_ok(), "{:?}", deep(&bytes).findings);
}

#[test]
fn the_twin_of_all_that_follows_is_sound() {
    sound(&entry());
}

#[test]
fn an_entry_is_a_map_and_keys_that_are_no_text_are_ignored() {
    for item in [uint(1), text("t"), array(&[]), vec![0xF6], vec![0xC1, 0x80]] {
        let good = Fields::dense("good", 64, 8, "uint8", &[8]).entry();
        tensor_refused(&with_entries(BLOB, &[good, item]), &rule::ENTRY_MAP);
    }
    for key in [uint(7), vec![0x41, b'x'], vec![0xF6], array(&[uint(1)])] {
        sound(&entry().and(key, uint(1)));
    }
}

#[test]
fn a_key_stands_once() {
    for (key, value) in entry().0 {
        broken(&entry().and(key, value), &rule::KEY_TWICE);
    }
    broken(&entry().and(text("x"), uint(1)).and(text("x"), uint(2)), &rule::KEY_TWICE);
    let pieces = [vec![0x7F], text("x"), vec![0xFF]].concat();
    broken(&entry().and(text("x"), uint(1)).and(pieces.clone(), uint(1)), &rule::KEY_TWICE);
    broken(&entry().and(pieces.clone(), uint(1)).and(pieces, uint(1)), &rule::KEY_TWICE);
    sound(&entry().and(text("x"), uint(1)).and(text("y"), uint(1)));
}

#[test]
fn each_required_key_is_required() {
    for key in ["name", "offset", "size", "dtype", "shape", "encoding"] {
        let fields = entry().without(key);
        broken(&fields, &rule::KEY_MISSING);
        let report = deep(&with_good(BLOB, &fields));
        let missing =
            report.findings.iter().find(|it| it.rule() == Some(&rule::KEY_MISSING)).unwrap();
        assert_eq!(missing.place.field, key);
    }
    let dialect = entry().without("layout");
    sound(&dialect);
    assert_eq!(rules(&with_good(BLOB, &dialect)), [&rule::LAYOUT_MISSING, &rule::BLOB_SHARED]);
}

#[test]
fn fields_are_of_their_types() {
    let not_text = [uint(1), vec![0x41, b't'], vec![0xF5], vec![0xF6], array(&[])];
    for value in &not_text {
        for key in ["name", "dtype", "encoding"] {
            broken(&entry().with(key, value.clone()), &rule::KEY_TYPE);
        }
        for key in ["layout", "checksum", "data_endianness"] {
            let fields = entry().with(key, value.clone());
            // Null is as good as nothing where nothing is needed.
            match value.as_slice() {
                [0xF6] => sound(&fields),
                _ => broken(&fields, &rule::KEY_TYPE),
            }
        }
    }
    let bignum = vec![0xC2, 0x41, 64];
    let not_numbers =
        [text("64"), vec![0xF9, 0x54, 0], vec![0x20], bignum, vec![0xF6], uints(&[64])];
    for value in not_numbers {
        for key in ["offset", "size"] {
            broken(&entry().with(key, value.clone()), &rule::KEY_TYPE);
        }
        if value[0] != 0x81 {
            broken(&entry().with("shape", value.clone()), &rule::KEY_TYPE);
        }
        broken(&entry().with("shape", array(&[uint(2), value])), &rule::KEY_TYPE);
    }
    broken(&entry().with("shape", vec![0xA0]), &rule::KEY_TYPE);
}

#[test]
fn words_that_are_not_known_cost_one_tensor() {
    for word in ["Float32", "FLOAT32", "float8_e4m3", "f32", "complex64", "bitmask", ""] {
        let fields = entry().with("dtype", text(word));
        broken(&fields, &rule::DTYPE_KNOWN);
        let file = open(&with_good(BLOB, &fields)).unwrap();
        let tensor = file.find("t").unwrap();
        assert_eq!((tensor.dtype(), &*tensor.dtype_word()), (None, word));
        assert_eq!((tensor.shape(), tensor.stored().map(|it| it.len())), (&[2][..], Some(8)));
    }
    for word in ["lz4", "RAW", "zt.zstd-seekable/1", ""] {
        broken(&entry().with("encoding", text(word)), &rule::ENCODING_KNOWN);
    }
    for word in ["Dense", "sparse_csr", "quantized_group", ""] {
        broken(&entry().with("layout", text(word)), &rule::LAYOUT_KNOWN);
    }
    let sparse = entry().with("layout", text("sparse"));
    broken(&sparse, &rule::FORMAT_KNOWN);
    for word in [text("CSR"), text("bsr"), text(""), uint(1), vec![0xF6]] {
        broken(&sparse.clone().with("sparse_format", word), &rule::FORMAT_KNOWN);
    }
    for word in ["Little", "BIG", "native", ""] {
        broken(&entry().with("data_endianness", text(word)), &rule::BYTE_ORDER_KNOWN);
    }
}

#[test]
fn a_sparse_format_of_a_dense_tensor_is_a_custom_field() {
    let fields = entry().with("sparse_format", text("not really"));
    sound(&fields);
    let file = open(&with_good(BLOB, &fields)).unwrap();
    assert_eq!(file.find("t").unwrap().custom().unwrap().len(), 1);
    let fields = entry().with("layout", text("sparse")).with("sparse_format", text("coo"));
    let file = open(&with_good(BLOB, &fields)).unwrap();
    let tensor = file.find("t").unwrap();
    assert_eq!(tensor.layout(), Some(Layout::Coo));
    assert!(tensor.custom().unwrap().is_empty() && tensor.custom_bytes().is_empty());
}

#[test]
fn checksums_have_a_form() {
    let bad = [
        "",
        "crc32c",
        "crc32c:",
        "crc32c:0x",
        "crc32c:12345678",
        "crc32c:0x+1234567",
        "crc32c:0x123456789",
        "crc32c:0xGHIJKLMN",
        "crc32c:0X12345678",
        "crc32c: 0x12345678",
        "sha256:",
        "sha256:12",
        ":0x12",
        "12345678",
    ];
    for text_ in bad {
        broken(&entry().with("checksum", text(text_)), &rule::CHECKSUM_FORM);
    }
    let short = "a".repeat(63);
    broken(&entry().with("checksum", text(&format!("sha256:{short}"))), &rule::CHECKSUM_FORM);
    broken(&entry().with("checksum", text(&format!("sha256:+{short}"))), &rule::CHECKSUM_FORM);
    broken(&entry().with("checksum", text(&format!("sha256:0x{short}"))), &rule::CHECKSUM_FORM);
    let unknown = entry().with("checksum", text("xxh3:0x1234"));
    sound(&unknown);
    assert!(rules(&with_good(BLOB, &unknown)).contains(&&rule::CHECKSUM_UNKNOWN));
}

#[test]
fn products_are_those_of_numbers_without_bound() {
    let big = 1 << 62;
    let wrapping = [
        vec![1 << 32, 1 << 32],
        vec![1 << 63, 2],
        vec![u64::MAX, u64::MAX],
        vec![big, 4, 2],
        vec![(1 << 61) + 1, 8],
        vec![big],
        vec![1 << 63],
    ];
    for shape in wrapping {
        broken(&entry().with("shape", uints(&shape)), &rule::SHAPE_PRODUCT);
    }
    // Bytes that wrap to the right number.
    broken(&entry().with("shape", uints(&[(1 << 62) + 2])), &rule::SHAPE_PRODUCT);
    for shape in [vec![0, 1 << 63, 1 << 63], vec![1 << 63, 1 << 63, 0], vec![0]] {
        sound(&entry().with("shape", uints(&shape)).with("size", uint(0)));
    }
    broken(&entry().with("shape", uints(&[3])), &rule::BLOB_LEN);
    broken(&entry().with("shape", uints(&[1])), &rule::BLOB_LEN);
    broken(&entry().with("shape", uints(&[])), &rule::BLOB_LEN);
    sound(&entry().with("shape", uints(&[1, 2, 1])));
    sound(&entry().with("shape", uints(&[])).with("size", uint(4)));
    sound(&entry().with("shape", uints(&[vec![1; 63], vec![2]].concat())));
    // The library reads more axes, and a catalog of datasets does not.
    let many = entry().with("shape", uints(&[vec![1; 64], vec![2]].concat()));
    let bytes = with_good(BLOB, &many);
    assert!(rules(&bytes).contains(&&rule::LIMIT_AXES));
    assert_eq!(read(&bytes, 1).unwrap(), BLOB);
}

#[test]
fn blobs_lie_between_magic_and_index() {
    for offset in [0, 8, 1, 63, 65, 100, u64::MAX] {
        broken(&entry().with("offset", uint(offset)), &rule::BLOB_ALIGNED);
    }
    for offset in [128, 1 << 20, 1 << 63, u64::MAX - 63] {
        broken(&entry().with("offset", uint(offset)), &rule::BLOB_BOUNDS);
        let empty = entry().with("shape", uints(&[0])).with("size", uint(0));
        broken(&empty.with("offset", uint(offset)), &rule::BLOB_BOUNDS);
    }
    for size in [9, 16, 40 << 30, 1 << 60, u64::MAX - 64, u64::MAX] {
        let bytes = with_good(BLOB, &entry().with("size", uint(size)).with("dtype", text("?")));
        let rules = rules(&bytes);
        assert!(rules.contains(&&rule::BLOB_BOUNDS), "{rules:?}");
    }
    let zstd = entry().with("encoding", text("zstd")).with("size", uint(9));
    broken(&zstd, &rule::BLOB_BOUNDS);
    // Past the blob there is the index, and an empty blob may lie where that starts.
    let empty = Fields::dense("t", 128, 0, "float32", &[0]);
    let bytes = file(&[&[7; 64]], &array(&[empty.entry()]));
    assert!(deep(&bytes).is_ok() && read(&bytes, 0).unwrap().is_empty());
}

#[test]
fn a_damaged_entry_says_what_it_can() {
    let fields = entry().with("shape", text("no")).with("encoding", text("zstd"));
    let file = open(&with_good(BLOB, &fields)).unwrap();
    let tensor = file.find("t").unwrap();
    assert_eq!(tensor.fault().map(|fault| fault.rule), Some(&rule::KEY_TYPE));
    assert_eq!(tensor.dtype(), Some(DType::Float32));
    assert_eq!(tensor.encoding(), Some(Encoding::Zstd));
    assert_eq!(
        (tensor.shape(), tensor.element_count(), tensor.decoded_len()),
        (&[][..], None, None)
    );
    assert_eq!((tensor.offset(), tensor.size()), (Some(64), Some(8)));
    let fields = entry().and(uint(7), uint(7));
    let file = open(&with_good(BLOB, &fields)).unwrap();
    let tensor = file.find("t").unwrap();
    assert_eq!((tensor.layout(), tensor.decoded_len()), (Some(Layout::Dense), Some(8)));
}

#[test]
fn names_are_looked_up_and_positions_where_there_is_no_name() {
    let named = |name: &str| Fields::dense(name, 64, 8, "uint8", &[8]);
    let names = ["a", "", "b", "a", "#0", "\0x", "../up", "\x1b[2J", "caf\u{e9}"];
    let entries: Vec<Vec<u8>> = names.iter().map(|name| named(name).entry()).collect();
    let bytes = with_entries(BLOB, &entries);
    let file = open(&bytes).unwrap();
    let position = |name: &str| file.find(name).map(|tensor| tensor.position());
    for name in ["", "b", "\0x", "../up", "\x1b[2J", "caf\u{e9}"] {
        assert_eq!(position(name).ok(), names.iter().position(|it| *it == name));
    }
    assert_eq!(position("#0").unwrap(), 4, "a name goes before a position");
    assert_eq!(position("#3").unwrap(), 3);
    assert!(matches!(position("#9"), Err(Error::NoSuchTensor { .. })));
    assert!(matches!(position("c"), Err(Error::NoSuchTensor { .. })));
    let Err(Error::Ambiguous { positions, .. }) = position("a") else { panic!() };
    assert_eq!(positions, [0, 3]);
    let report = deep(&bytes);
    let twice: Vec<_> =
        report.findings.iter().filter(|it| it.rule() == Some(&rule::NAME_TWICE)).collect();
    assert_eq!((twice.len(), twice[0].place.dataset, twice[0].wanted), (1, Some(3), Some(0)));
    let odd = report.findings.iter().filter(|it| it.rule() == Some(&rule::NAME_ODD));
    assert!(odd.map(|it| it.place.dataset.unwrap()).eq([5, 6, 7]));
    assert!(
        report
            .findings
            .iter()
            .any(|it| it.rule() == Some(&rule::NAME_EMPTY) && it.place.dataset == Some(1))
    );
    let long = "n".repeat(60_000);
    let bytes = with_entries(BLOB, &[named(&long).entry()]);
    assert_eq!(open(&bytes).unwrap().find(&long).unwrap().position(), 0);
    assert_eq!(head(3, 60_000).len(), 3);
}
