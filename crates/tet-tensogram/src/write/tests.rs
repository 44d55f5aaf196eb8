//! Written messages are sound, canonical, and equal to those of other programs.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use proptest::prelude::*;
use tet_cbor::Value;

use super::{
    HashChoice, ListPlace, RegionSource, StreamWriter, Tensor, VersionKey, WriteOptions,
    encode_message, write_message,
};
use crate::hashes::HashList;
use crate::testing::{check, descriptor, ids, open};
use crate::{Error, Flags, FrameKind, Kind, Limits, Metadata, Pairs, Postamble, TensogramFile};

fn sample(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    std::fs::read(folder.join(format!("{name}.tgm"))).unwrap()
}

fn tight() -> WriteOptions {
    WriteOptions { align: 8, ..WriteOptions::default() }
}

fn pair(key: &str, value: i128) -> (String, Value) {
    (key.to_owned(), Value::Int(value))
}

/// Descriptor and region of every object of a message.
fn contents(file: &TensogramFile, bytes: &[u8], message: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let piece = |span: tet_format::Span| {
        let range = span.range();
        bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()].to_vec()
    };
    let objects = file.objects(message).unwrap();
    objects.iter().map(|object| (piece(object.descriptor), piece(object.region))).collect()
}

fn as_tensors(contents: &[(Vec<u8>, Vec<u8>)]) -> Vec<Tensor<'_>> {
    let mut tensors = Vec::new();
    for (descriptor, region) in contents {
        // In two pieces, as payload and masks may come.
        let (payload, masks) = region.split_at(region.len() / 2);
        tensors.push(Tensor { descriptor, region: RegionSource::Pieces(vec![payload, masks]) });
    }
    tensors
}

/// Whole messages of the last versions, written anew from what they say.
#[test]
fn whole_messages_are_those_of_the_reference() {
    let list = [
        ("shape_0d_scalar", ListPlace::Usual),
        ("multi_object_mixed", ListPlace::Header),
        ("multi_message_3", ListPlace::Usual),
        ("mask_roaring_f64", ListPlace::Usual),
        ("sp16_szip_f64", ListPlace::Usual),
        ("hash_aggregate_both", ListPlace::Both),
    ];
    for (name, list) in list {
        let bytes = sample(name);
        let file = open(&bytes).unwrap();
        let mut written = Vec::new();
        for number in 0..file.len() {
            let contents = contents(&file, &bytes, number);
            let metadata = file.metadata(number).unwrap();
            let options = WriteOptions { list, ..tight() };
            written.extend(encode_message(&metadata, as_tensors(&contents), &options).unwrap());
        }
        assert_eq!(written, bytes, "{name}");
    }
}

#[test]
fn streams_are_those_of_the_reference() {
    for name in ["stream_finish_hash", "stream_finish_backfilled_hash"] {
        let bytes = sample(name);
        let file = open(&bytes).unwrap();
        let message = file.message(0).unwrap();
        let metadata_of = |kind| {
            let body = message.frames_of(kind).next().unwrap().body();
            let cbor = file.source().read_vec(body.start(), body.len()).unwrap();
            Metadata::read(&cbor, 0, &Limits::default()).unwrap()
        };
        let (header, footer) =
            (metadata_of(FrameKind::HeaderMetadata), metadata_of(FrameKind::FooterMetadata));
        // The message does not start where the sink does.
        let mut sink = Cursor::new(b"eight, 8".to_vec());
        sink.set_position(8);
        let mut writer = StreamWriter::new(sink, &header, &tight()).unwrap();
        for (descriptor, region) in contents(&file, &bytes, 0) {
            writer.whole(&descriptor, &region).unwrap();
        }
        let (sink, len) = match name {
            "stream_finish_hash" => writer.finish(&footer).unwrap(),
            _ => writer.finish_backfilled(&footer).unwrap(),
        };
        assert_eq!((&sink.get_ref()[8..], len), (&bytes[..], bytes.len() as u64), "{name}");
        assert_eq!(sink.position(), sink.get_ref().len() as u64);
    }
}

#[test]
fn payloads_are_aligned_in_their_file() {
    let (one, two) = ([7_u8; 100], [8_u8; 33]);
    let described = [descriptor(100), descriptor(33)];
    for (align, start) in [(8, 0), (64, 0), (64, 8), (64, 1000), (4096, 24), (1 << 21, 0)] {
        let options = WriteOptions { align, start, ..WriteOptions::default() };
        let tensors = || {
            let regions = [RegionSource::from(&one[..]), RegionSource::from(&two[..])];
            let both = described.iter().zip(regions);
            both.map(|(descriptor, region)| Tensor { descriptor, region }).collect::<Vec<_>>()
        };
        let whole = encode_message(&Metadata::default(), tensors(), &options).unwrap();
        let mut writer = StreamWriter::new(Vec::new(), &Metadata::default(), &options).unwrap();
        writer.whole(&described[0], &one).unwrap();
        writer.preceder(&vec![pair("a", 1)]).unwrap();
        writer.whole(&described[1], &two).unwrap();
        let stream = writer.finish(&Metadata::default()).unwrap().0;
        for bytes in [whole, stream] {
            assert_eq!(ids(&bytes), [""; 0], "{align} {start}");
            let message = open(&bytes).unwrap().message(0).unwrap();
            for object in message.objects() {
                assert_eq!((object.region.start() + start) % align, 0, "{align} {start}");
            }
            assert!(message.frames().iter().all(|frame| frame.at() % 8 == 0));
            assert_eq!(bytes.len() % 8, 0);
        }
    }
}

#[test]
fn lists_stand_where_they_are_asked_for() {
    let body = [1_u8, 2, 3];
    let described = descriptor(3);
    for (list, hash, flags) in [
        (ListPlace::Usual, HashChoice::Xxh3, 0x95),
        (ListPlace::Header, HashChoice::Xxh3, 0x95),
        (ListPlace::Footer, HashChoice::Xxh3, 0xA5),
        (ListPlace::Both, HashChoice::Xxh3, 0xB5),
        (ListPlace::Nowhere, HashChoice::Xxh3, 0x85),
        (ListPlace::Both, HashChoice::None, 0x05),
    ] {
        let options = WriteOptions { list, hash, ..tight() };
        let tensor = Tensor { descriptor: &described, region: RegionSource::from(&body[..]) };
        let bytes = encode_message(&Metadata::default(), vec![tensor], &options).unwrap();
        assert_eq!(open(&bytes).unwrap().message(0).unwrap().preamble().flags.bits(), flags);
        assert_eq!(ids(&bytes), [""; 0], "{list:?}");
        let empty = encode_message(&Metadata::default(), vec![], &options).unwrap();
        let wanted = if hash == HashChoice::None { 0x01 } else { 0x81 };
        assert_eq!(open(&empty).unwrap().message(0).unwrap().preamble().flags.bits(), wanted);
        let stream = StreamWriter::new(Vec::new(), &Metadata::default(), &options);
        let Ok(mut stream) = stream else {
            assert!(list.is_header());
            continue;
        };
        assert!(stream.is_empty());
        stream.whole(&described, &body).unwrap();
        assert_eq!(stream.len(), 1);
        assert_eq!(ids(&stream.finish(&Metadata::default()).unwrap().0), [""; 0], "{list:?}");
    }
    let options = tight();
    let empty = StreamWriter::new(Vec::new(), &Metadata::default(), &options).unwrap();
    let bytes = empty.finish(&Metadata::default()).unwrap().0;
    assert_eq!(ids(&bytes), [""; 0]);
    let message = open(&bytes).unwrap().message(0).unwrap();
    assert!(message.preamble().flags.contains(Flags::FOOTER_HASHES));
    assert_eq!(message.frames_of(FrameKind::FooterHashes).count(), 0);
}

#[test]
fn what_is_read_while_it_is_written_is_hashed() {
    let region: Vec<u8> = (0..600_000_u32).map(|at| (at >> 3) as u8).collect();
    let described = descriptor(region.len() as u64);
    let from = |reader: &mut dyn Read, list| {
        let region = RegionSource::Reader(reader, 600_000);
        let tensors = vec![Tensor { descriptor: &described, region }];
        encode_message(&Metadata::default(), tensors, &WriteOptions { list, ..tight() })
    };
    let bytes = from(&mut &region[..], ListPlace::Usual).unwrap();
    assert_eq!(ids(&bytes), [""; 0]);
    let file = open(&bytes).unwrap();
    assert_eq!(contents(&file, &bytes, 0), [(described.clone(), region.clone())]);
    let message = file.message(0).unwrap();
    let body = message.frames_of(FrameKind::FooterHashes).next().unwrap().body();
    let list = file.source().read_vec(body.start(), body.len()).unwrap();
    let list = HashList::read(&list, 0, &Limits::default()).unwrap();
    assert_eq!(list.hashes(), [file.object(0, 0).unwrap().hash.unwrap()]);
    assert!(matches!(from(&mut &region[..], ListPlace::Header), Err(Error::Unwritable { .. })));
    assert_eq!(from(&mut &region[1..], ListPlace::Usual).unwrap_err().kind(), Kind::Io);
}

#[test]
fn programs_of_0_17_find_their_version() {
    let options = WriteOptions { version_key: VersionKey::Written, ..tight() };
    let metadata =
        Metadata { extra: vec![pair("version", 9), pair("a", 1)], ..Metadata::default() };
    let mut writer = StreamWriter::new(Vec::new(), &metadata, &options).unwrap();
    writer.preceder(&vec![pair("a", 2)]).unwrap();
    writer.whole(&crate::testing::descriptor(0), b"").unwrap();
    let bytes = writer.finish(&metadata).unwrap().0;
    assert_eq!(ids(&bytes), [""; 0]);
    assert_eq!(bytes.windows(9).filter(|it| it == b"gversion\x03").count(), 3);
    let read = open(&bytes).unwrap().metadata(0).unwrap();
    assert_eq!(read.extra, [pair("a", 1), pair("version", 3)]);
}

#[test]
fn what_cannot_be_said_is_not_written() {
    let whole = |metadata: Metadata, descriptor: &[u8], options: WriteOptions| {
        let tensors = vec![Tensor { descriptor, region: RegionSource::from(&b"x"[..]) }];
        encode_message(&metadata, tensors, &options).map(|_| ()).unwrap_err().kind()
    };
    let none = Metadata::default;
    for descriptor in [&b""[..], b"\x80", b"\xa0\xa0", b"\xa1\x61", b"\xa1\x61k"] {
        assert_eq!(whole(none(), descriptor, tight()), Kind::Usage);
        let mut stream = StreamWriter::new(Vec::new(), &none(), &tight()).unwrap();
        assert!(stream.whole(descriptor, b"x").is_err());
        assert!(stream.finish(&none()).is_ok(), "nothing was begun");
    }
    for align in [0, 1, 4, 24, 1 << 22, u64::MAX] {
        assert_eq!(whole(none(), b"\xa0", WriteOptions { align, ..tight() }), Kind::Usage);
    }
    assert_eq!(whole(none(), b"\xa0", WriteOptions { start: 4, ..tight() }), Kind::Usage);
    let twice: Pairs = vec![pair("a", 1), pair("a", 2)];
    for metadata in [
        Metadata { base: vec![vec![], vec![]], ..none() },
        Metadata { extra: twice.clone(), ..none() },
        Metadata { base: vec![twice.clone()], ..none() },
        Metadata { reserved: vec![pair("a", 1 << 70)], ..none() },
    ] {
        assert_eq!(whole(metadata.clone(), b"\xa0", tight()), Kind::Usage);
        let stream = StreamWriter::new(Vec::new(), &none(), &tight()).unwrap();
        assert!(stream.finish(&metadata).is_err());
    }
    let stream = || StreamWriter::new(Vec::new(), &none(), &tight()).unwrap();
    assert!(stream().preceder(&twice).is_err());
    assert!(stream().preceder(&vec![pair("_reserved_", 1)]).is_err());
    let mut dangling = stream();
    dangling.preceder(&vec![]).unwrap();
    assert!(dangling.preceder(&vec![]).is_err());
    assert!(dangling.finish(&none()).is_err());
    let mut short = stream();
    let mut tensor = short.tensor(b"\xa0", 3).unwrap();
    assert!(tensor.write(b"four").is_err());
    tensor.write(b"ab").unwrap();
    assert!(tensor.finish().is_err());
    assert!(short.tensor(b"\xa0", 3).is_err() && short.preceder(&vec![]).is_err());
    assert!(short.finish(&none()).is_err());
    assert!(stream().tensor(b"\xa0", u64::MAX).is_err());
}

/// A sink that takes so many bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_sink_is_an_error() {
    let (described, region) = (descriptor(100_000), vec![1; 100_000]);
    for room in [0, 1000, 100_000, 100_200] {
        let tensor = Tensor { descriptor: &described, region: RegionSource::from(&region[..]) };
        let written = write_message(Full(room), &Metadata::default(), vec![tensor], &tight());
        assert_eq!(written.map(|_| ()).unwrap_err().kind(), Kind::Io);
        let mut stream = StreamWriter::new(Full(room), &Metadata::default(), &tight()).unwrap();
        let written = stream.whole(&described, &region);
        let written = written.and_then(|()| stream.finish(&Metadata::default()).map(|_| ()));
        assert_eq!(written.unwrap_err().kind(), Kind::Io);
    }
}

#[test]
fn postambles_are_written_as_they_are_read() {
    let postamble = Postamble { first_footer_offset: 1 << 40, total_len: 77 };
    let mut bytes = Vec::new();
    postamble.write(&mut bytes);
    assert_eq!(Postamble::read(&bytes, 0), Ok(postamble));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(
        regions in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..40),
        align in (3..10_u32).prop_map(|log| 1_u64 << log),
        lists in prop::sample::select(&[ListPlace::Usual, ListPlace::Footer, ListPlace::Nowhere][..]),
        hash in prop::sample::select(&[HashChoice::Xxh3, HashChoice::None][..]),
        steps in prop::collection::vec(any::<i64>(), 0..40),
    ) {
        let list = lists;
        let options = WriteOptions { align, list, hash, ..WriteOptions::default() };
        let wanted: Vec<(Vec<u8>, Vec<u8>)> =
            regions.into_iter().map(|region| (descriptor(region.len() as u64), region)).collect();
        let steps = steps.into_iter().take(wanted.len());
        let base: Vec<Pairs> = steps.map(|step| vec![pair("step", step.into())]).collect();
        let metadata = Metadata { base: base.clone(), extra: vec![pair("n", 1)], ..Metadata::default() };
        let whole = encode_message(&metadata, as_tensors(&wanted), &options).unwrap();
        let mut stream = StreamWriter::new(Vec::new(), &Metadata::default(), &options).unwrap();
        for (number, (descriptor, region)) in wanted.iter().enumerate() {
            if number % 3 == 1 && let Some(entry) = base.get(number) {
                stream.preceder(entry).unwrap();
            }
            stream.whole(descriptor, region).unwrap();
        }
        let stream = stream.finish(&metadata).unwrap().0;
        let bytes = [whole, stream].concat();
        prop_assert!(check(&bytes).findings.is_empty(), "{:?}", check(&bytes).findings);
        let file = open(&bytes).unwrap();
        for message in 0..2 {
            prop_assert_eq!(&contents(&file, &bytes, message), &wanted);
            let read = file.metadata(message).unwrap();
            prop_assert_eq!(&read.base[..base.len()], &base[..]);
            prop_assert!(read.base[base.len()..].iter().all(Vec::is_empty));
            let fresh = open(&bytes).unwrap();
            for number in (0..wanted.len()).rev() {
                let (found, walked) = (fresh.object(message, number), file.object(message, number));
                prop_assert_eq!(found.unwrap(), walked.unwrap());
            }
        }
    }
}
