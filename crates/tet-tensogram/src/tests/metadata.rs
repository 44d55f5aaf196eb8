//! Metadata, index and hash frames, sound and not.

use tet_cbor::Value;

use crate::hashes::HashList;
use crate::index::{Index, IndexEntry};
use crate::testing::{
    Draft, FrameDraft, buffered, cbor, check, hex, ids, index, list, map, metadata, open, step,
    streamed, tensor, tensors, text, uints,
};
use crate::{Limits, Metadata};

/// A message whose frame of a kind has another body.
fn with(draft: &Draft, kind: u64, body: &[u8]) -> Vec<u8> {
    let mut draft = draft.clone();
    let part = draft.parts.iter_mut().find(|part| part.kind == kind).unwrap();
    let padding = part.padding.clone();
    *part = FrameDraft { padding, ..FrameDraft::new(kind, body) };
    draft.bytes()
}

#[track_caller]
fn finds(bytes: &[u8], wanted: &str) {
    let report = check(bytes);
    assert!(ids(bytes).contains(&wanted), "{wanted}: {:?}", report.findings);
}

#[test]
fn headers_footers_and_preceders_are_merged() {
    let file = open(&streamed(&tensors()).bytes()).unwrap();
    let merged = file.metadata(0).unwrap();
    let steps: Vec<_> = merged.base.iter().map(|entry| entry[0].1.as_u64()).collect();
    assert_eq!(steps, [Some(7), Some(1)]);
    assert_eq!(merged.extra, [("who".to_owned(), text("me"))]);
    let reserved = |number: i128| map(&[("_reserved_", Value::Int(number)), ("a", Value::Int(1))]);
    let base = |entries: &[Value]| map(&[("base", Value::Array(entries.to_vec()))]);
    let parts = [
        FrameDraft::cbor(1, &map(&[("free", Value::Int(1)), ("both", text("header"))])),
        FrameDraft::cbor(8, &base(&[reserved(1)])),
        tensor(b"x"),
        tensor(b"y"),
        FrameDraft::cbor(
            7,
            &map(&[("base", Value::Array(vec![reserved(2)])), ("both", text("footer"))]),
        ),
    ];
    let bytes = Draft::new(&parts).bytes();
    let merged = open(&bytes).unwrap().metadata(0).unwrap();
    let pair = |key: &str, value: Value| (key.to_owned(), value);
    assert_eq!(merged.extra, [pair("free", Value::Int(1)), pair("both", text("footer"))]);
    // Keys that the library sets for an object are refused in a preceder.
    let first = vec![pair("_reserved_", Value::Int(2)), pair("a", Value::Int(1))];
    assert_eq!(merged.base, [first, vec![]]);
    assert_eq!(ids(&bytes), ["TGM-N8"]);
}

#[test]
fn integers_and_dialects_are_kept_exactly() {
    let big = Value::Int((1 << 64) - 1);
    let bytes = cbor(&map(&[("big", big.clone()), ("low", Value::Int(-(1 << 64)))]));
    let read = Metadata::read(&bytes, 0, &Limits::default()).unwrap();
    assert_eq!(read.extra[0].1, big);
    assert_eq!(read.extra[1].1, Value::Int(-(1 << 64)));
    // No counts, text in pieces, tags, and keys in any order.
    let odd =
        b"\xbf\xd9\x01\x02\x7f\x62ba\x62se\xff\x9f\xbf\x61k\xf9\x3e\x00\xff\xff\x61z\x41\x07\xff";
    let read = Metadata::read(odd, 0, &Limits::default()).unwrap();
    assert_eq!(read.base, [vec![("k".to_owned(), Value::Float(1.5))]]);
    assert_eq!(read.extra, [("z".to_owned(), Value::Bytes(vec![7]))]);
}

#[test]
fn what_is_wrong_with_metadata_is_told() {
    let int_key = Value::Map(vec![(Value::Int(1), Value::Null)]);
    let long = Value::Array(vec![step(1), step(2), step(3)]);
    let cases: [(&[u8], &str); 12] = [
        (b"", "TGM-M1"),
        (b"\xa1", "TGM-M1"),
        (b"\xa1\x61a\x1c", "TGM-M1"),
        (b"\x80", "TGM-M2"),
        (&cbor(&int_key), "TGM-M3"),
        (&cbor(&map(&[("base", Value::Array(vec![int_key.clone()]))])), "TGM-M3"),
        (&cbor(&map(&[("base", Value::Int(1))])), "TGM-M4"),
        (&cbor(&map(&[("base", uints(&[1]))])), "TGM-M4"),
        (&cbor(&map(&[("base", long)])), "TGM-M5"),
        (&cbor(&map(&[("_reserved_", Value::Int(1))])), "TGM-M7"),
        (&cbor(&map(&[("_extra_", Value::Array(vec![]))])), "TGM-M7"),
        (&cbor(&map(&[("_extra_", step(1)), ("step", Value::Int(2))])), "TGM-M8"),
    ];
    for (body, wanted) in cases {
        for (draft, kind) in [(buffered(&tensors()), 1), (streamed(&tensors()), 7)] {
            let bytes = with(&draft, kind, body);
            finds(&bytes, wanted);
            let file = open(&bytes).unwrap();
            let error = file.metadata(0).unwrap_err();
            assert!(matches!(error, crate::Error::Format(it) if it.rule.id == wanted), "{error}");
            assert_eq!(file.objects(0).unwrap().len(), 2, "objects are read nevertheless");
        }
    }
    let stream = streamed(&tensors());
    for base in [vec![], vec![step(1), step(2)]] {
        let bytes = with(&stream, 8, &cbor(&map(&[("base", Value::Array(base))])));
        finds(&bytes, "TGM-M6");
        assert!(open(&bytes).unwrap().metadata(0).is_err());
    }
}

#[test]
fn what_is_odd_about_metadata_is_noted() {
    let sound = buffered(&tensors());
    for (body, wanted) in [
        (&b"\xa2\x61a\x01\x61a\x02"[..], "TGM-N9"),
        (b"\xa2\x64base\x80\x64base\x80", "TGM-N9"),
        (b"\xa1\x64base\x81\xa2\x61a\x01\x61a\x02", "TGM-N9"),
        (b"\xa0\0\0", "TGM-N10"),
        (b"\xa1\x61\xff\x01", "TGM-N15"),
        (b"\xa1\x64base\x81\xa1\x6a_reserved_\xa1\x61a\x01", "TGM-N16"),
        (b"\xa1\x61a\x62\xc3\x28", "TGM-N15"),
    ] {
        let bytes = with(&sound, 1, body);
        finds(&bytes, wanted);
        assert!(open(&bytes).unwrap().metadata(0).is_ok());
    }
    let last = Metadata::read(b"\xa2\x61a\x01\x61a\x02", 0, &Limits::default()).unwrap();
    assert_eq!(last.extra, [("a".to_owned(), Value::Int(2))]);
}

#[test]
fn of_several_frames_the_last_one_counts() {
    let mut draft = buffered(&tensors());
    draft.parts.insert(1, metadata(1, &[step(5)]));
    let bytes = draft.bytes();
    let merged = open(&bytes).unwrap().metadata(0).unwrap();
    assert_eq!(merged.base[0][0].1, Value::Int(5));
    assert_eq!(merged.base[1], []);
    finds(&bytes, "TGM-N7");
}

#[test]
fn what_is_wrong_with_an_index_is_told() {
    let sound = buffered(&tensors());
    let offsets = sound.offsets().split_off(3);
    let lengths: Vec<u64> = sound.parts[3..].iter().map(FrameDraft::len).collect();
    let [one, two] = [offsets[0], offsets[1]];
    let cases: [(FrameDraft, &str); 9] = [
        (index(2, &[one], &lengths), "TGM-M10"),
        (FrameDraft::cbor(2, &map(&[("offsets", text("x"))])), "TGM-M10"),
        (FrameDraft::cbor(2, &map(&[("offsets", Value::Array(vec![Value::Int(-1)]))])), "TGM-M10"),
        (
            FrameDraft::cbor(2, &map(&[("offsets", Value::Array(vec![Value::Float(1.0)]))])),
            "TGM-M10",
        ),
        (index(2, &[one], &lengths[..1]), "TGM-M11"),
        (index(2, &[one, two + 8], &lengths), "TGM-M12"),
        (index(2, &[two, one], &lengths), "TGM-M12"),
        (index(2, &[one, u64::MAX], &lengths), "TGM-M12"),
        (index(2, &offsets, &[lengths[0], lengths[1] + 1]), "TGM-M13"),
    ];
    let wanted = open(&sound.bytes()).unwrap();
    for (part, rule) in cases {
        let padding = vec![0; usize::try_from(sound.parts[1].len() + 100 - part.len()).unwrap()];
        let mut draft = sound.clone();
        let shift = |draft: &Draft| draft.offsets()[3] - one;
        draft.parts[1] = part.padded(&padding);
        let moved = shift(&draft);
        let bytes = draft.bytes();
        finds(&bytes, rule);
        // No object is other than the walk has it, whatever the index says.
        let file = open(&bytes).unwrap();
        for number in 0..2 {
            let (found, wanted) =
                (file.object(0, number).unwrap(), wanted.object(0, number).unwrap());
            assert_eq!(found.region.start(), wanted.region.start() + moved, "{rule}");
        }
    }
}

#[test]
fn what_is_wrong_with_hashes_is_told() {
    let (sound, parts) = (buffered(&tensors()), tensors());
    let (one, two) = (parts[0].hash, parts[1].hash);
    let hashes = |hashes: Value, algorithm: &str| {
        cbor(&map(&[("hashes", hashes), ("algorithm", text(algorithm))]))
    };
    let cases = [
        (hashes(uints(&[1, 2]), "xxh3"), "TGM-M14"),
        (hashes(Value::Array(vec![text("12"), text("34")]), "xxh3"), "TGM-M14"),
        (hashes(Value::Array(vec![text(&"x".repeat(16)); 2]), "xxh3"), "TGM-M14"),
        (hashes(text("12"), "xxh3"), "TGM-M14"),
        (hashes(hex(&[one]), "xxh3"), "TGM-M15"),
        (hashes(hex(&[one, two, two]), "xxh3"), "TGM-M15"),
        (hashes(hex(&[two, one]), "xxh3"), "TGM-M16"),
        (hashes(text("12"), "sha1024"), "TGM-M14"),
        (hashes(Value::Array(vec![text("12"), text("34")]), "sha1024"), "TGM-N14"),
    ];
    for (body, wanted) in cases {
        finds(&with(&sound, 3, &body), wanted);
    }
}

/// Where the slots are empty, a list of hashes is as good.
#[test]
fn a_list_speaks_for_frames_without_hashes() {
    let parts: Vec<FrameDraft> = tensors().into_iter().map(FrameDraft::unhashed).collect();
    let mut draft = buffered(&parts);
    draft.parts = draft.parts.into_iter().map(FrameDraft::unhashed).collect();
    draft.flags &= !0x80;
    assert_eq!(ids(&draft.bytes()), [""; 0]);
    draft.parts[4].body[3] ^= 1;
    assert_eq!(ids(&draft.bytes()), ["TGM-M16"]);
}

#[test]
fn what_is_written_is_what_is_read() {
    let entries =
        [IndexEntry { offset: 376, len: 169 }, IndexEntry { offset: 70_000, len: 1 << 40 }];
    let (mut bytes, limits) = (Vec::new(), Limits::default());
    Index::write(&entries, &mut bytes);
    assert_eq!(Index::read(&bytes, 0, &limits).unwrap().entries(), entries);
    assert_eq!(bytes, index(2, &[376, 70_000], &[169, 1 << 40]).body);
    bytes.clear();
    HashList::write(&[1, u64::MAX], &mut bytes);
    let read = HashList::read(&bytes, 0, &limits).unwrap();
    assert_eq!((read.hashes(), read.is_known()), (&[1, u64::MAX][..], true));
    let part = |hash| FrameDraft { hash, ..tensor(b"") };
    assert_eq!(bytes, list(3, &[part(1), part(u64::MAX)]).body);
}

#[test]
fn limits_are_kept() {
    let deep = [vec![0xA1, 0x61, b'k'], vec![0x81; 300], vec![0]].concat();
    let limits = Limits::default().with_depth_max(20);
    assert_eq!(Metadata::read(&deep, 0, &limits).unwrap_err().rule.id, "TGM-L3");
    let limits = Limits::default().with_item_count_max(10);
    let rule = |bytes: &[u8]| Metadata::read(bytes, 0, &limits).unwrap_err().rule.id;
    assert_eq!(rule(&cbor(&map(&[("a", uints(&[0; 11]))]))), "TGM-L2");
    assert_eq!(rule(&cbor(&map(&[("base", Value::Array(vec![map(&[]); 11]))]))), "TGM-L2");
    let many = index(2, &[0; 6], &[0; 6]).body;
    assert_eq!(Index::read(&many, 0, &limits).unwrap_err().rule.id, "TGM-L2");
    let source = tet_io::Source::from_bytes(buffered(&tensors()).bytes());
    let limits = Limits::default().with_cbor_len_max(8);
    let file = crate::TensogramFile::open(source, &limits).unwrap();
    assert_eq!(file.metadata(0).unwrap_err().kind(), crate::Kind::Limit);
    assert_eq!(file.object(0, 1).unwrap().number, 1, "the walk finds it");
    // A count that is not so is not believed.
    assert_eq!(rule(b"\xa1\x61a\x9b\x0f\xff\xff\xff\xff\xff\xff\xff"), "TGM-M1");
}
