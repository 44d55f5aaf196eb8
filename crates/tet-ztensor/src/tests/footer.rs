//! Files that are none, and footers that lead nowhere (ZT-C1 to ZT-C5).

use tet_format::ForeignRule;

use crate::testing::{Fields, array, deep, file, open, refused, rules, with_entries};
use crate::{is_ztensor, rule};

fn empty() -> Vec<u8> {
    file(&[], &[0x80])
}

fn one() -> Vec<u8> {
    with_entries(&[1, 2, 3], &[Fields::dense("t", 64, 3, "uint8", &[3]).entry()])
}

fn with_footer(mut bytes: Vec<u8>, index_len: u64) -> Vec<u8> {
    let at = bytes.len() - 8;
    bytes[at..].copy_from_slice(&index_len.to_le_bytes());
    bytes
}

#[test]
fn a_file_without_tensors_has_17_bytes() {
    let wanted = *b"ZTEN0001\x80\x01\0\0\0\0\0\0\0";
    assert_eq!(empty(), wanted);
    assert!(open(&wanted).unwrap().is_empty());
    assert!(deep(&wanted).findings.is_empty());
}

#[test]
fn short_files_are_truncated() {
    for len in [0, 1, 7] {
        refused(&empty()[..len], &rule::TRUNCATED);
    }
    for len in 8..16 {
        refused(&one()[..len], &rule::TRUNCATED);
    }
}

#[test]
fn magics_of_others_are_told_apart() {
    let others: [(&[u8; 8], &'static ForeignRule); 7] = [
        (b"ZTEN1000", &rule::OTHER_VERSION),
        (b"\x89ZT2\r\n\x1A\n", &rule::OTHER_VERSION),
        (b"ZTEN0002", &rule::MAGIC),
        (b"zten0001", &rule::MAGIC),
        (b"\x40\0\0\0\0\0\0\0", &rule::MAGIC),
        (b"GGUF\x03\0\0\0", &rule::MAGIC),
        (b"PK\x03\x04\x14\0\0\0", &rule::MAGIC),
    ];
    for (magic, rule) in others {
        let bytes = [&magic[..], &one()[8..]].concat();
        refused(&bytes, rule);
        let foreign = [&rule::MAGIC, &rule::OTHER_VERSION, &rule::TRUNCATED];
        assert!(foreign.contains(&deep(&bytes).findings[0].rule().unwrap()));
        assert_eq!(is_ztensor(&bytes), rule == &rule::OTHER_VERSION);
    }
    assert!(is_ztensor(&one()) && !is_ztensor(b"ZTEN000"));
}

#[test]
fn a_footer_of_zero_is_no_index() {
    // A file that is cut after its magic and the zeros that follow.
    refused(b"ZTEN0001\0\0\0\0\0\0\0\0", &rule::INDEX_MISSING);
    refused(&with_footer(empty(), 0), &rule::INDEX_MISSING);
    refused(&with_footer(one(), 0), &rule::INDEX_MISSING);
}

#[test]
fn an_index_must_lie_in_the_file() {
    let len = one().len() as u64;
    let all = [len - 15, len, 1 << 40, 1 << 60, 1 << 63, u64::MAX, 1_u64.swap_bytes()];
    for index_len in all {
        refused(&with_footer(one(), index_len), &rule::INDEX_LEN);
    }
}

#[test]
fn an_index_of_another_length_is_noticed() {
    let index_len = u64::from(*one().iter().rev().nth(7).unwrap());
    refused(&with_footer(one(), index_len - 1), &rule::INDEX_ARRAY);
    // A zero of the blob's padding, or the blob's last byte, is no array either.
    refused(&with_footer(one(), index_len + 1), &rule::INDEX_ARRAY);
    refused(&with_footer(one(), one().len() as u64 - 16), &rule::INDEX_ARRAY);
}

#[test]
fn bytes_after_the_footer_or_missing_are_noticed() {
    for tail in [&b"\0"[..], b"\r\n", b"\x80"] {
        assert!(open(&[&one(), tail].concat()).is_err());
    }
    for len in 0..one().len() {
        assert!(open(&one()[..len]).is_err(), "{len} bytes");
    }
    // Of two files one after the other the last one's index is found, and its places are wrong.
    let twice = [one(), one()].concat();
    assert_eq!(open(&twice).unwrap().tensor(0).unwrap().fault(), None);
    assert!(rules(&twice).contains(&&rule::GAP_BYTES));
}

#[test]
fn an_index_is_an_array_and_nothing_else() {
    for index in [&[0xA0][..], &[0xF6], &[0x00], &[0x40], &[0x60]] {
        refused(&file(&[], index), &rule::INDEX_ARRAY);
    }
    for tail in [0x80, 0x00, 0xF6] {
        refused(&file(&[], &[0x80, tail]), &rule::INDEX_TRAILING);
    }
    let entry = Fields::dense("t", 64, 3, "uint8", &[3]).entry();
    refused(&file(&[&[1; 3]], &[array(&[entry]), vec![0]].concat()), &rule::INDEX_TRAILING);
}
