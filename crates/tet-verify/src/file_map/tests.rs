//! A small file is taken apart, whole, cut and changed: every byte has one name.

use std::io::Cursor;

use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
use tet_format::{Codec, DType};

use super::*;
use crate::Code;
use tet_format::{NoteCode, Rule};

/// Six payloads of two datasets, with gaps, a spill and a footer.
fn file() -> Vec<u8> {
    let specs = [
        DatasetSpec::new("wide", DType::Float32, [4, 6], [2, 4]),
        DatasetSpec::new("tiny", DType::UInt8, [3], [2]),
    ];
    let layout = Declaration::new(specs).layout().unwrap();
    let spill_at = layout.index_end().next_multiple_of(64) + 128 + 3;
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    for len in [32, 16, 32, 16, 2, 1] {
        writer.push(Codec::Raw, len, &vec![7; usize::try_from(len).unwrap()]).unwrap();
    }
    let json = format!("{{\"metadata_ref\":{{\"offset\":{spill_at},\"len\":2}}}}");
    let parts = FooterParts { block: &[], spill: b"{}", json: json.as_bytes(), version: 1 };
    writer.finish(Some(parts)).unwrap().into_inner()
}

fn source(bytes: &[u8]) -> Source {
    Source::from_bytes(bytes)
}

fn taken_apart(source: &Source) -> FileMap<'_> {
    FileMap::read(source, &Limits::default()).unwrap()
}

/// All segments in file order: the map's, and between index and footer the body's.
fn segments(map: &FileMap<'_>) -> Vec<Segment> {
    let body = map.map().body_span();
    let plain = |place| Segment { place, row: None, spill: None, annotations: Vec::new() };
    let mut places = map.map().places();
    let before = places.clone().take_while(|place| place.offset < body.start()).map(plain);
    let mut all: Vec<Segment> = before.collect();
    all.extend(map.body().map(Result::unwrap));
    places.skip_to(body.end());
    all.extend(places.map(plain));
    all
}

#[test]
fn every_byte_of_a_sound_file_is_in_one_segment() {
    let bytes = file();
    let source = source(&bytes);
    let map = taken_apart(&source);
    assert_eq!(map.annotations(), []);
    let mut reach = 0;
    for segment in segments(&map) {
        assert_eq!(segment.place.offset, reach, "{segment:?} follows on");
        reach = segment.place.end();
        for at in [segment.place.offset, reach - 1] {
            assert_eq!(map.at(at).unwrap().unwrap().place, segment.place, "byte {at}");
        }
    }
    assert_eq!(reach, bytes.len() as u64);
    assert_eq!(map.at(reach).unwrap(), None);
}

#[test]
fn the_body_is_payloads_spills_and_gaps_in_file_order() {
    let bytes = file();
    let source = source(&bytes);
    let map = taken_apart(&source);
    let described = |segment: &Segment| {
        let row = segment.row.map(|(number, _)| number);
        (segment.place.field, row, segment.spill, segment.place.len)
    };
    let body: Vec<_> = map.body().map(|segment| described(&segment.unwrap())).collect();
    let payload = |row, len| ("stored", Some(row), None, len);
    let wanted = [
        body[0],
        payload(0, 32),
        payload(1, 16),
        payload(2, 32),
        payload(3, 16),
        ("unused", None, None, 32),
        payload(4, 2),
        payload(5, 1),
        ("spill", None, Some("metadata_ref"), 2),
    ];
    assert_eq!(body, wanted);
    assert_eq!(body[0].0, "unused");
    let tiny: Vec<_> = map.body().of_dataset(1).map(|it| described(&it.unwrap())).collect();
    assert_eq!(tiny, [payload(4, 2), payload(5, 1)]);
    assert_eq!(map.dataset(1).unwrap().name(), "tiny");
    assert_eq!((map.dataset_count(), map.row_count()), (2, 6));
}

/// Any cut and any changed byte gives an answer for every byte there is.
#[test]
fn damage_is_taken_apart_too() {
    let bytes = file();
    for at in 0..bytes.len() {
        look_over(&bytes[..at]);
        for value in [0, 1, 0xff, bytes[at] ^ 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            look_over(&damaged);
        }
    }
}

fn look_over(bytes: &[u8]) {
    let source = source(bytes);
    let map = taken_apart(&source);
    let all = segments(&map);
    let file_len = bytes.len() as u64;
    let mut named = vec![false; bytes.len()];
    for segment in &all {
        let end = segment.place.end();
        assert!(end <= file_len || segment.place.len == 0, "{segment:?} is in the file");
        let range = segment.place.offset.min(file_len)..end.min(file_len);
        for at in range {
            named[usize::try_from(at).unwrap()] = true;
        }
    }
    assert!(named.iter().all(|&named| named), "all bytes are named");
    for at in (0..file_len).step_by(37) {
        let place = map.at(at).unwrap().unwrap().place;
        assert!(place.offset <= at && at < place.end(), "byte {at} is in {place:?}");
    }
    for number in 0..map.row_count() {
        if let Some(row) = map.row(number).unwrap() {
            map.row_annotations(number, &row).unwrap();
        }
    }
}

#[test]
fn payloads_in_any_order_come_in_file_order() {
    let mut bytes = file();
    let index = taken_apart(&source(&bytes)).map().index_span();
    let start = usize::try_from(index.start() + HEADER_LEN).unwrap();
    let rows = &mut bytes[start..usize::try_from(index.end()).unwrap()];
    rows.as_chunks_mut::<104>().0.reverse();
    let source = source(&bytes);
    let map = taken_apart(&source);
    let rows: Vec<u64> = map.body().filter_map(|segment| Some(segment.unwrap().row?.0)).collect();
    assert_eq!(rows, [5, 4, 3, 2, 1, 0]);
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let row_at = |bytes: &[u8], row| {
        let at = taken_apart(&source(bytes)).map().index_span().start();
        usize::try_from(layout::row_at(at, row)).unwrap()
    };
    let codes = |bytes: &[u8]| -> Vec<Code> {
        let source = source(bytes);
        let map = taken_apart(&source);
        let mut codes: Vec<Code> = map.annotations().iter().map(|it| it.code).collect();
        for number in 0..map.row_count() {
            let row = map.row(number).unwrap().unwrap();
            codes.extend(map.row_annotations(number, &row).unwrap().iter().map(|it| it.code));
        }
        codes.extend(map.body().flat_map(|it| it.unwrap().annotations).map(|it| it.code));
        codes
    };
    type Case = (fn(&mut Vec<u8>, usize), &'static [Code]);
    let cases: [Case; 8] = [
        (|it, _| it[0] = b'?', &[Code::Rule(Rule::Magic)]),
        (|it, _| it[4] = 9, &[Code::Rule(Rule::LayoutVersion)]),
        (|it, _| it[44] = 99, &[Code::Rule(Rule::DTypeTag)]),
        (|it, _| it.truncate(500), &[Code::Rule(Rule::IndexBounds)]),
        (|it, row| it[row] = 9, &[Code::Rule(Rule::RowDataset)]),
        (|it, row| it[row + 96] = 9, &[Code::Rule(Rule::RowCodec)]),
        (|it, row| it[row + 100] = 9, &[Code::Note(NoteCode::RowReserved)]),
        (|it, row| it[row + 72] += 16, &[Code::Rule(Rule::PayloadOverlap)]),
    ];
    for (change, wanted) in cases {
        let mut bytes = file();
        let at = row_at(&bytes, 1);
        change(&mut bytes, at);
        assert_eq!(codes(&bytes)[..1], wanted[..1]);
    }
}
