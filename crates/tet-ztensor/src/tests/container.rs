//! Files that are none, and footers that lead nowhere (ZT-C1 to ZT-C5).

use crate::testing::{Fields, array, deep, file, open, refused, rules, with_entries};
use crate::{Rule, is_ztensor};

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
        refused(&empty()[..len], Rule::Truncated);
    }
    for len in 8..16 {
        refused(&one()[..len], Rule::Truncated);
    }
}

#[test]
fn magics_of_others_are_told_apart() {
    let others: [(&[u8; 8], Rule); 7] = [
        (b"ZTEN1000", Rule::OtherVersion),
        (b"\x89ZT2\r\n\x1A\n", Rule::OtherVersion),
        (b"ZTEN0002", Rule::Magic),
        (b"zten0001", Rule::Magic),
        (b"\x40\0\0\0\0\0\0\0", Rule::Magic),
        (b"GGUF\x03\0\0\0", Rule::Magic),
        (b"PK\x03\x04\x14\0\0\0", Rule::Magic),
    ];
    for (magic, rule) in others {
        let bytes = [&magic[..], &one()[8..]].concat();
        refused(&bytes, rule);
        assert!(deep(&bytes).is_foreign());
        assert_eq!(is_ztensor(&bytes), rule == Rule::OtherVersion);
    }
    assert!(is_ztensor(&one()) && !is_ztensor(b"ZTEN000"));
}

#[test]
fn a_footer_of_zero_is_empty_in_16_bytes_and_nowhere_else() {
    let bare = with_footer(vec![0; 16], 0);
    let bare = [b"ZTEN0001", &bare[8..]].concat();
    assert!(open(&bare).unwrap().is_empty());
    assert_eq!(rules(&bare), [Rule::FooterZero]);
    assert!(deep(&bare).is_ok());
    refused(&with_footer(empty(), 0), Rule::IndexMissing);
    refused(&with_footer(one(), 0), Rule::IndexMissing);
}

#[test]
fn an_index_must_lie_in_the_file() {
    let len = one().len() as u64;
    let all = [len - 15, len, 1 << 40, 1 << 60, 1 << 63, u64::MAX, 1_u64.swap_bytes()];
    for index_len in all {
        refused(&with_footer(one(), index_len), Rule::IndexLen);
    }
}

#[test]
fn an_index_of_another_length_is_noticed() {
    let index_len = u64::from(*one().iter().rev().nth(7).unwrap());
    refused(&with_footer(one(), index_len - 1), Rule::IndexArray);
    // A zero of the blob's padding, or the blob's last byte, is no array either.
    refused(&with_footer(one(), index_len + 1), Rule::IndexArray);
    refused(&with_footer(one(), one().len() as u64 - 16), Rule::IndexArray);
}

#[test]
fn bytes_after_the_footer_or_missing_are_noticed() {
    for tail in [&b"\0"[..], b"\r\n", b"\x80"] {
        assert!(open(&[&one(), tail].concat()).is_err());
    }
    // Of 16 bytes, magic and zeros, nobody can tell that there were more.
    for len in (0..one().len()).filter(|len| *len != 16) {
        assert!(open(&one()[..len]).is_err(), "{len} bytes");
    }
    // Of two files one after the other the last one's index is found, and its places are wrong.
    let twice = [one(), one()].concat();
    assert_eq!(open(&twice).unwrap().tensor(0).unwrap().fault(), None);
    assert!(rules(&twice).contains(&Rule::GapBytes));
}

#[test]
fn an_index_is_an_array_and_nothing_else() {
    for index in [&[0xA0][..], &[0xF6], &[0x00], &[0x40], &[0x60]] {
        refused(&file(&[], index), Rule::IndexArray);
    }
    for tail in [0x80, 0x00, 0xF6] {
        refused(&file(&[], &[0x80, tail]), Rule::IndexTrailing);
    }
    let entry = Fields::dense("t", 64, 3, "uint8", &[3]).entry();
    refused(&file(&[&[1; 3]], &[array(&[entry]), vec![0]].concat()), Rule::IndexTrailing);
}
