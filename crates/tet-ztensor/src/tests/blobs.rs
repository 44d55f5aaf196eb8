//! Blobs that are not what their entries say (ZT-B4 to ZT-B7), and checksums.

use crate::testing::{
    Fields, deep, open, read, rules, seek_table, tensor_refused, text, uint, with_good, zstd,
    zstd_bare,
};
use crate::{Check, Checksum, Error, rule};

const ELEMENTS: &[u8] = b"0123456789abcdef";

/// A zstd tensor of 16 bytes with these stored bytes.
fn stored(blob: &[u8]) -> Vec<u8> {
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[16]);
    with_good(blob, &fields.with("encoding", text("zstd")))
}

fn with_checksum(blob: &[u8], checksum: &str) -> Vec<u8> {
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[blob.len() as u64]);
    with_good(blob, &fields.with("checksum", text(checksum)))
}

#[test]
fn zstd_blobs_of_all_kinds_are_read() {
    let (a, b) = ELEMENTS.split_at(5);
    let skippable = [&[0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let blobs = [
        zstd(ELEMENTS),
        zstd_bare(ELEMENTS),
        [zstd(a), zstd(b)].concat(),
        [zstd_bare(a), zstd(b), zstd(&[])].concat(),
        [skippable.clone(), zstd_bare(a), zstd_bare(b), skippable.clone()].concat(),
        [zstd(a), zstd(b), seek_table(&[(18, 5), (24, 11)])].concat(),
    ];
    for blob in blobs {
        assert_eq!(read(&stored(&blob), 1).unwrap(), ELEMENTS);
        assert!(deep(&stored(&blob)).is_ok());
    }
    assert!(rules(&stored(&[zstd(ELEMENTS), skippable].concat())).contains(&&rule::ZSTD_SKIPPABLE));
}

#[test]
fn zstd_blobs_that_are_damaged_are_refused() {
    let whole = zstd(ELEMENTS);
    for len in 1..whole.len() {
        tensor_refused(&stored(&whole[..len]), &rule::ZSTD_FRAMES);
    }
    let mut checksum = whole.clone();
    *checksum.last_mut().unwrap() ^= 1;
    let dictionary = vec![0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 1, 0, 0];
    let window = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 21 << 3, 1, 0, 0];
    let garbage = vec![0xA5; 40];
    let trailing = [whole.clone(), vec![0]].concat();
    for blob in [checksum, dictionary, window, garbage, trailing, ELEMENTS.to_vec()] {
        tensor_refused(&stored(&blob), &rule::ZSTD_FRAMES);
    }
    tensor_refused(&stored(&[]), &rule::ZSTD_LEN);
    for len in [0, 1, 15, 17, 100_000] {
        let decoded = vec![1; len];
        tensor_refused(&stored(&zstd(&decoded)), &rule::ZSTD_LEN);
        tensor_refused(&stored(&zstd_bare(&decoded)), &rule::ZSTD_LEN);
    }
}

#[test]
fn a_bomb_is_refused_before_it_is_decoded() {
    // A frame of blocks that each repeat a byte 128 KiB often: 2 GiB from 64 KiB.
    let mut bomb = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
    for at in 0..16_384_u32 {
        let last = u32::from(at == 16_383);
        bomb.extend(&(131_072 << 3 | 1 << 1 | last).to_le_bytes()[..3]);
        bomb.push(0);
    }
    tensor_refused(&stored(&bomb), &rule::ZSTD_LEN);
}

#[test]
fn honest_zeros_are_read() {
    let len = 64 << 20;
    let blob = zstd(&vec![0; len]);
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[len as u64]);
    let bytes = with_good(&blob, &fields.with("encoding", text("zstd")));
    assert!(read(&bytes, 1).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_blob_too_short_for_its_elements_is_refused_unread() {
    let blob = zstd(ELEMENTS);
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[1 << 40]);
    let fields = fields.with("encoding", text("zstd"));
    tensor_refused(&with_good(&blob, &fields), &rule::ZSTD_BOUND);
}

#[test]
fn checksums_cover_the_stored_bytes() {
    let Checksum::Crc32c(crc) = Checksum::crc32c(b"123456789") else { panic!() };
    assert_eq!(crc, 0xE306_9283);
    let sha = Checksum::sha256(ELEMENTS).to_string();
    let crc = Checksum::crc32c(ELEMENTS).to_string();
    let Checksum::Crc32c(number) = Checksum::crc32c(ELEMENTS) else { panic!() };
    let lower = format!("crc32c:0x{number:x}");
    for checksum in [&crc, &lower, &sha, &sha.to_uppercase().replace("SHA", "sha")] {
        let bytes = with_checksum(ELEMENTS, checksum);
        assert_eq!(read(&bytes, 1).unwrap(), ELEMENTS, "{checksum}");
        assert!(deep(&bytes).is_ok());
    }
    let other = Checksum::sha256(b"other").to_string();
    // The other CRC of 32 bits; and the right one, a bit away.
    let wrong = [
        "crc32c:0x0".to_owned(),
        "crc32c:0x0EB2A7F4".to_owned(),
        format!("crc32c:0x{:08X}", number ^ 1),
        other,
    ];
    for checksum in wrong {
        let bytes = with_checksum(ELEMENTS, &checksum);
        tensor_refused(&bytes, &rule::BLOB_CHECKSUM);
        let file = open(&bytes).unwrap();
        let tensor = file.find("t").unwrap();
        assert_eq!(file.read(tensor, Check::Never).unwrap(), ELEMENTS);
    }
    assert_eq!(Checksum::crc32c(&[]).to_string(), "crc32c:0x00000000");
}

#[test]
fn the_checksum_of_decoded_bytes_is_wrong() {
    let blob = zstd(ELEMENTS);
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[16]);
    let fields = fields.with("encoding", text("zstd"));
    let sealed = |bytes: &[u8]| {
        let checksum = text(&Checksum::crc32c(bytes).to_string());
        with_good(&blob, &fields.clone().with("checksum", checksum))
    };
    assert_eq!(read(&sealed(&blob), 1).unwrap(), ELEMENTS);
    tensor_refused(&sealed(ELEMENTS), &rule::BLOB_CHECKSUM);
}

#[test]
fn a_blob_of_a_dtype_nobody_knows_is_compared() {
    let checksum = text("crc32c:0x0");
    let fields = Fields::dense("t", 64, 16, "float8", &[16]).with("checksum", checksum);
    let rules = rules(&with_good(ELEMENTS, &fields));
    assert!(rules.contains(&&rule::DTYPE_KNOWN) && rules.contains(&&rule::BLOB_CHECKSUM));
}

#[test]
fn big_endian_numbers_are_turned_around() {
    for (dtype, size) in [("uint8", 1), ("bool", 1), ("int16", 2), ("float32", 4), ("uint64", 8)] {
        let fields = Fields::dense("t", 64, 16, dtype, &[16 / size as u64]);
        let fields = fields.with("data_endianness", text("big"));
        let bytes = with_good(ELEMENTS, &fields);
        let wanted: Vec<u8> =
            ELEMENTS.chunks(size).flat_map(|number| number.iter().rev().copied()).collect();
        assert_eq!(read(&bytes, 1).unwrap(), wanted, "{dtype}");
        let found = rules(&bytes);
        assert_eq!(found.contains(&&rule::BYTE_ORDER_BIG), size > 1);
        assert_eq!(found.contains(&&rule::BYTE_ORDER_MOOT), size == 1);
        let little = with_good(ELEMENTS, &fields.with("data_endianness", text("little")));
        assert_eq!(read(&little, 1).unwrap(), ELEMENTS);
    }
}

#[test]
fn the_order_of_zstd_bytes_is_little_whatever_is_said() {
    let blob = zstd(ELEMENTS);
    let fields = Fields::dense("t", 64, blob.len() as u64, "float32", &[4]);
    let fields = fields.with("encoding", text("zstd")).with("data_endianness", text("big"));
    let bytes = with_good(&blob, &fields);
    assert_eq!(read(&bytes, 1).unwrap(), ELEMENTS);
    assert!(rules(&bytes).contains(&&rule::BYTE_ORDER_MOOT));
}

#[test]
fn bools_are_bytes_as_they_are() {
    let blob = [0, 1, 2, 255];
    let fields = Fields::dense("t", 64, 4, "bool", &[4]);
    let bytes = with_good(&blob, &fields);
    assert_eq!(read(&bytes, 1).unwrap(), blob);
    let report = deep(&bytes);
    let odd = report.findings.iter().find(|it| it.rule() == Some(&rule::BOOL_BYTE)).unwrap();
    assert_eq!((odd.place.offset, odd.found), (66, 2));
    let packed = zstd(&blob);
    let fields = fields.with("encoding", text("zstd")).with("size", uint(packed.len() as u64));
    let bytes = with_good(&packed, &fields);
    assert_eq!(read(&bytes, 1).unwrap(), blob);
    assert!(rules(&bytes).contains(&&rule::BOOL_BYTE));
}

#[test]
fn a_view_is_the_bytes_of_the_file() {
    let fields = Fields::dense("t", 64, 16, "float32", &[4]);
    let bytes = with_good(ELEMENTS, &fields);
    let file = open(&bytes).unwrap();
    let view = file.view(file.find("t").unwrap()).unwrap().unwrap();
    assert_eq!(&*view, ELEMENTS);
    let bytes = with_good(ELEMENTS, &fields.with("data_endianness", text("big")));
    let file = open(&bytes).unwrap();
    assert!(file.view(file.find("t").unwrap()).unwrap().is_none());
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    let bytes = with_good(ELEMENTS, &Fields::dense("t", 64, 16, "float32", &[4]));
    let file = open(&bytes).unwrap();
    let tensor = file.find("t").unwrap();
    for len in [0, 15, 17] {
        let error = file.read_into(tensor, &mut vec![0; len], Check::Always);
        assert!(matches!(error, Err(Error::Usage { wanted: 16, .. })));
    }
}
