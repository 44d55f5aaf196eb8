//! Messages of the real programs, of every version, with what is known of them.

use std::path::PathBuf;

use serde_json::Value as Json;
use tet_cbor::Value;
use tet_format::Severity;
use tet_io::Source;

use crate::testing::check;
use crate::{HashRule, Level, Limits, TensogramFile, VerifyOptions, verify};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm")
}

/// Name, bytes and facts of each.
fn samples() -> Vec<(String, Vec<u8>, Json)> {
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "tgm") {
            let facts = std::fs::read(path.with_extension("json")).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let bytes = std::fs::read(&path).unwrap();
            samples.push((name, bytes, serde_json::from_slice(&facts).unwrap()));
        }
    }
    assert_eq!(samples.len(), 23);
    samples
}

fn from_disk(name: &str) -> TensogramFile {
    let source = Source::open(folder().join(format!("{name}.tgm"))).unwrap();
    TensogramFile::open(source, &Limits::default()).unwrap()
}

#[test]
fn every_frame_of_every_sample_is_found() {
    for (name, _, facts) in samples() {
        let (file, messages) = (from_disk(&name), facts["messages"].as_array().unwrap());
        assert_eq!(file.len(), messages.len(), "{name}");
        assert!(file.gaps().is_empty() && file.damages().is_empty());
        for (number, facts) in messages.iter().enumerate() {
            let message = file.message(number).unwrap();
            assert_eq!(message.fault(), None, "{name}");
            assert_eq!(message.span().start(), facts["offset"]);
            assert_eq!(message.span().len(), facts["length"]);
            let wire = &facts["wire"];
            assert_eq!(message.preamble().flags.bits(), wire["flags"]);
            assert_eq!(message.preamble().total_len, wire["total_length"]);
            let postamble = message.postamble().unwrap();
            assert_eq!(postamble.first_footer_offset, wire["postamble"]["first_footer_offset"]);
            assert_eq!(postamble.total_len, wire["postamble"]["total_length"]);
            let frames = wire["frames"].as_array().unwrap();
            assert_eq!(message.frames().len(), frames.len(), "{name}");
            for (frame, facts) in message.frames().iter().zip(frames) {
                assert_eq!(frame.at() - message.span().start(), facts["at"]);
                assert_eq!(frame.kind().code(), facts["type"]);
                assert_eq!(frame.header.version, facts["version"]);
                assert_eq!(frame.header.flags.bits(), facts["flags"]);
                assert_eq!(frame.header.len, facts["len"]);
                assert_eq!(format!("{:016x}", frame.tail.hash), facts["hash"]);
                if let Some(offset) = facts["cbor_offset"].as_u64() {
                    assert_eq!(frame.tail.descriptor_offset, Some(offset));
                }
            }
            let regions = frames.iter().filter_map(|facts| facts["region_len"].as_u64());
            let found = message.objects().iter().map(|object| object.region.len());
            assert!(regions.eq(found), "{name}");
        }
    }
}

#[test]
fn every_metadata_of_every_sample_is_merged() {
    for (name, _, facts) in samples() {
        let file = from_disk(&name);
        for (number, facts) in facts["messages"].as_array().unwrap().iter().enumerate() {
            let (metadata, facts) = (file.metadata(number).unwrap(), &facts["metadata"]);
            let base = facts["base"].as_array().unwrap();
            assert_eq!(metadata.base.len(), base.len(), "{name}");
            for (pairs, facts) in metadata.base.iter().zip(base) {
                says(pairs, facts, &name);
            }
            says(&metadata.extra, &facts["extra"], &name);
            says(&metadata.reserved, &facts["reserved"], &name);
        }
    }
}

fn says(pairs: &[(String, Value)], facts: &Json, name: &str) {
    let facts = facts.as_object().unwrap();
    assert_eq!(pairs.len(), facts.len(), "{name}: {pairs:?} {facts:?}");
    for (key, value) in pairs {
        assert!(is(value, &facts[key]), "{name}, {key}: {value:?} {:?}", facts[key]);
    }
}

fn is(value: &Value, facts: &Json) -> bool {
    match value {
        Value::Null => facts.is_null(),
        Value::Bool(truth) => facts == truth,
        Value::Int(number) => {
            let facts = facts.as_i64().map(i128::from).or(facts.as_u64().map(i128::from));
            facts == Some(*number)
        }
        Value::Float(number) => facts.as_f64() == Some(*number),
        Value::Text(text) => facts == text,
        Value::Array(items) => {
            let facts = facts.as_array().unwrap();
            items.len() == facts.len() && items.iter().zip(facts).all(|(item, it)| is(item, it))
        }
        Value::Map(pairs) => {
            pairs.len() == facts.as_object().unwrap().len()
                && pairs.iter().all(|(key, value)| is(value, &facts[key.as_text().unwrap()]))
        }
        _ => false,
    }
}

/// Every hash of every frame is compared, those of old programs too.
#[test]
fn every_sample_is_sound() {
    for (name, bytes, facts) in samples() {
        let report = check(&bytes);
        assert!(report.is_ok(), "{name}: {:?}", report.findings);
        let is_old = name.starts_with("legacy");
        let notes = report.findings.iter().map(|it| it.code.id());
        // A codec that is not built in is reported, and is no error.
        let notes: Vec<_> = notes.filter(|id| *id != "TGM-N28").collect();
        assert_eq!(notes, if is_old { vec!["TGM-N11"] } else { vec![] }, "{name}");
        assert_eq!(report.count(Severity::Note), u64::from(is_old));
        let file = from_disk(&name);
        let mut hashed = 0;
        for (number, facts) in facts["messages"].as_array().unwrap().iter().enumerate() {
            let (message, frames) = (file.message(number).unwrap(), &facts["wire"]["frames"]);
            let rule = if is_old { HashRule::Preamble } else { HashRule::Frames };
            assert_eq!(message.hash_rule(), rule, "{name}");
            for (frame, facts) in message.frames().iter().zip(frames.as_array().unwrap()) {
                assert_eq!(message.hash(frame).is_some(), facts["hash_ok"] == true, "{name}");
                hashed += frame.body().len();
            }
        }
        assert_eq!((report.checked_len, report.unverified_count), (hashed, 0), "{name}");
    }
}

/// The index leads to the same objects as the walk.
#[test]
fn objects_are_the_same_by_index_and_by_walk() {
    for (name, bytes, facts) in samples() {
        let walked = from_disk(&name);
        let file = TensogramFile::open(Source::from_bytes(bytes), &Limits::default()).unwrap();
        for (number, facts) in facts["messages"].as_array().unwrap().iter().enumerate() {
            let objects = walked.objects(number).unwrap();
            assert_eq!(objects.len(), facts["objects"].as_array().unwrap().len());
            for (at, object) in objects.iter().enumerate().rev() {
                assert_eq!(file.object(number, at).unwrap(), *object, "{name}");
                let descriptor = file.read_descriptor(object).unwrap();
                assert_eq!(descriptor.len() as u64, object.descriptor.len());
            }
            assert!(file.object(number, objects.len()).is_err());
        }
        assert!(file.object(file.len(), 0).is_err() && file.metadata(file.len()).is_err());
    }
}

/// One letter of metadata, which the programs of the format do not notice.
#[test]
fn tampered_metadata_is_found() {
    for (name, bytes, _) in samples() {
        let at = bytes.windows(9).position(|it| it == b"tensogram").or_else(|| {
            let preceder = name == "craft_preceder";
            preceder.then(|| bytes.windows(5).position(|it| it == b"param").unwrap())
        });
        let Some(at) = at else { continue };
        let mut tampered = bytes.clone();
        tampered[at] = b'x';
        let report = check(&tampered);
        let rules: Vec<_> = report.findings.iter().map(|it| it.code.id()).collect();
        assert!(rules.contains(&"TGM-F10"), "{name}: {rules:?}");
        let options = VerifyOptions { level: Level::Structure, ..VerifyOptions::default() };
        assert!(verify(&Source::from_bytes(tampered), &options).unwrap().is_ok());
    }
}
