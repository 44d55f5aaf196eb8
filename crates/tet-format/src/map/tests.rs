//! Every byte of a file has one name, however the file is damaged.

use super::*;
use crate::codec::Codec;
use crate::dtype::DType;
use crate::wire;
use crate::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
use std::io::Cursor;
use std::vec;
use std::vec::Vec;

/// 3 x 2 uint8 in two chunks, with a footer: payloads at 384..388 and 388..390.
fn file() -> Vec<u8> {
    let spec = DatasetSpec::new("ab", DType::UInt8, [3, 2], [2, 2]);
    let layout = Declaration::new([spec]).layout().unwrap();
    assert_eq!((layout.index_offset(), layout.index_end()), (96, 336));
    let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
    writer.push(Codec::Raw, 4, &[1; 4]).unwrap();
    writer.push(Codec::Raw, 2, &[2; 2]).unwrap();
    let parts = FooterParts { block: b"blk", spill: &[], json: b"{\"a\":1}", version: 1 };
    writer.finish(Some(parts)).unwrap().into_inner()
}

fn locate(file: &[u8], offset: u64) -> Option<ByteField> {
    Map::new(file, file, wire::len_of(file)).locate(offset)
}

#[test]
fn every_field_of_a_file_is_named() {
    let file = file();
    let cases = [
        (0, Region::Superblock, None, "magic", 0, 4),
        (31, Region::Superblock, None, "index_len", 24, 8),
        (32, Region::Directory, None, "records_len", 32, 8),
        (44, Region::Directory, Some(0), "dtype", 44, 4),
        (56, Region::Directory, Some(0), "name", 56, 2),
        (58, Region::Directory, Some(0), "name_padding", 58, 6),
        (70, Region::Directory, Some(0), "shape", 64, 16),
        (80, Region::Directory, Some(0), "chunk_shape", 80, 16),
        (96, Region::Index, None, "magic", 96, 4),
        (104, Region::Index, None, "row_count", 104, 8),
        (128, Region::Index, Some(0), "dataset_id", 128, 8),
        (335, Region::Index, Some(1), "reserved", 332, 4),
        (336, Region::Payload, None, "payloads", 336, 57),
        (392, Region::Payload, None, "payloads", 336, 57),
        (393, Region::Footer, None, "json", 393, 7),
        (400, Region::Footer, None, "json_len", 400, 8),
        (415, Region::Footer, None, "magic", 412, 4),
    ];
    for (at, region, record, field, offset, len) in cases {
        let wanted = ByteField { region, record, field, offset, len };
        assert_eq!(locate(&file, at), Some(wanted), "byte {at}");
    }
    assert_eq!(locate(&file, 416), None);
}

/// Every byte has a place that holds it, and places follow each other to the end, however the
/// file is damaged: every byte set to 0, 1 and 255, and the file cut at every length.
#[test]
fn places_tile_any_file() {
    let file = file();
    check_tiling(&file);
    for at in 0..file.len() {
        for value in [0, 1, 0xff] {
            let mut damaged = file.clone();
            damaged[at] = value;
            check_tiling(&damaged);
        }
        check_tiling(&file[..at]);
    }
}

fn check_tiling(file: &[u8]) {
    let mut reach = 0;
    for at in 0..file.len() as u64 {
        let place = locate(file, at).unwrap();
        let end = place.offset + place.len;
        assert!(place.offset <= at && at < end, "byte {at} is in {place:?}");
        if at == reach {
            reach = end.min(file.len() as u64);
        }
    }
    assert_eq!(reach, file.len() as u64);
    assert_eq!(locate(file, reach), None);
}

#[test]
fn the_ends_are_enough_for_the_structure() {
    let file = file();
    let map = Map::new(&file[..96], &file[400..], 416);
    assert_eq!(map.locate(60), locate(&file, 60));
    assert_eq!(map.locate(300), locate(&file, 300));
    assert_eq!(map.locate(395), locate(&file, 395));
}

/// Without datasets the JSON, and without JSON the tail, may start where the superblock ends.
#[test]
fn a_footer_may_follow_the_superblock() {
    for (json, field) in [(&b"{}"[..], "json"), (b"", "json_len")] {
        let layout = Declaration::default().layout().unwrap();
        let writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        let parts = FooterParts { block: &[], spill: &[], json, version: 1 };
        let file = writer.finish(Some(parts)).unwrap().into_inner();
        let place = locate(&file, 32).unwrap();
        assert_eq!((place.region, place.field), (Region::Footer, field));
    }
}

/// Places listed one after the other are those that every byte has, none is missing, none comes
/// twice; also in a file that is damaged, or of which only the ends are present.
#[test]
fn places_name_every_byte_once() {
    let file = file();
    check_places(&file);
    for at in 0..file.len() {
        for value in [0, 1, 0x7f, 0xff, !file[at]] {
            let mut damaged = file.clone();
            damaged[at] = value;
            check_places(&damaged);
        }
        check_places(&file[..at]);
        let mut huge = file.clone();
        huge.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xff);
        check_places(&huge);
    }
}

fn check_places(file: &[u8]) {
    let file_len = file.len() as u64;
    let tail = &file[file.len().saturating_sub(16)..];
    for head_len in [0, 20, 96, 130].map(|len: usize| len.min(file.len())) {
        let map = Map::new(&file[..head_len], tail, file_len);
        let mut reach = 0;
        for place in map.places() {
            assert_eq!(place.offset, reach, "{place:?} follows on");
            assert!(0 < place.len, "{place:?} holds a byte");
            for at in [place.offset, place.end() - 1] {
                assert_eq!(map.locate(at), Some(place), "byte {at}");
            }
            let start = usize::try_from(place.offset).unwrap();
            let _ = value(&place, &file[start..usize::try_from(place.end()).unwrap()]);
            reach = place.end();
        }
        assert_eq!(reach, file_len, "all bytes are named");
        let body = map.body_span();
        assert!(map.index_span().end() == body.start() && body.end() <= file_len);
    }
}

#[test]
fn places_are_skipped_forward() {
    let file = file();
    let map = Map::new(&file[..96], &file[400..], 416);
    let mut places = map.places();
    places.skip_to(61);
    assert_eq!(places.next().unwrap().field, "name_padding");
    places.skip_to(0);
    assert_eq!(places.next().unwrap().field, "shape");
    places.skip_to(393);
    let rest: Vec<_> = places.map(|place| place.field).collect();
    assert_eq!(rest, ["json", "json_len", "footer_version", "magic"]);
}

/// The fixed fields of a record that does not fit say why it does not.
#[test]
fn of_a_record_cut_short_the_fixed_fields_are_named() {
    let mut file = file();
    file[42] = 1;
    let place = |at| locate(&file, at).unwrap();
    assert_eq!((place(41).record, place(41).field, place(41).len), (Some(0), "name_len", 4));
    assert_eq!((place(56).record, place(56).field), (None, "records"));
    assert_eq!((place(56).offset, place(56).len), (56, 40));
}

#[test]
fn a_file_of_another_format_is_a_stretch_after_its_superblock() {
    let png = [&b"\x89PNG\r\n\x1a\n"[..], &[0xff; 100]].concat();
    let place = locate(&png, 32).unwrap();
    assert_eq!((place.region, place.field, place.len), (Region::Gap, "unused", 76));
    assert!(Map::new(&png, &png, 108).is_foreign());
    let mut file = file();
    file[0] = b'?';
    assert!(!Map::new(&file, &file, 416).is_foreign());
    assert_eq!(locate(&file, 44).unwrap().field, "dtype");
}

#[test]
fn fields_say_what_they_say() {
    let file = file();
    let place_at = |at: u64| {
        let place = locate(&file, at).unwrap();
        let start = usize::try_from(place.offset).unwrap();
        match value(&place, &file[start..][..usize::try_from(place.len).unwrap()]) {
            Value::Number(number) => std::format!("{number}"),
            Value::Numbers(numbers) => std::format!("{:?}", numbers.collect::<Vec<_>>()),
            Value::Flags(bits) => std::format!("flags {bits}"),
            Value::DType(tag) => std::format!("dtype {tag}"),
            Value::Codec(tag) => std::format!("codec {tag}"),
            Value::Text(text) => std::format!("{:?}", core::str::from_utf8(text).unwrap()),
            Value::Bytes(bytes) => std::format!("{} bytes", bytes.len()),
        }
    };
    let cases = [
        (0, "\"TETR\""),
        (4, "1"),
        (12, "flags 1"),
        (16, "96"),
        (44, "dtype 5"),
        (56, "\"ab\""),
        (58, "6 bytes"),
        (64, "[3, 2]"),
        (112, "0"),
        (136, "[0, 0, 0, 0, 0, 0, 0, 0]"),
        (224, "codec 0"),
        (340, "57 bytes"),
        (393, "\"{\\\"a\\\":1}\""),
        (400, "7"),
    ];
    for (at, wanted) in cases {
        assert_eq!(place_at(at), wanted, "byte {at}");
    }
    let place = ByteField { len: 3, ..locate(&file, 4).unwrap() };
    assert!(matches!(value(&place, &file[4..7]), Value::Bytes([1, 0, 0])), "a field cut off");
}

#[test]
fn the_fields_of_the_digests_are_numbers() {
    let place =
        |field, len| ByteField { region: Region::Footer, record: None, field, offset: 7, len };
    let version = value(&place("version", 4), &[1, 0, 0, 0]);
    assert!(matches!(version, Value::Number(1)), "{version:?}");
    let pages = value(&place("page_count", 8), &[2, 0, 0, 0, 0, 0, 0, 0]);
    assert!(matches!(pages, Value::Number(2)), "{pages:?}");
    assert!(matches!(value(&place("magic", 4), b"TDIG"), Value::Text(b"TDIG")));
    assert!(matches!(value(&place("pages", 12), &[0; 12]), Value::Bytes(_)));
}
