//! Edits of messages of every dialect: tensor frames are the same bytes, hashes hold, values are what
//! they were.

mod asking;
mod hostile;
mod saving;

use std::path::PathBuf;

use tet_cbor::Value;
use tet_io::Source;

use super::*;
use crate::Maker;
use crate::testing::{check, ids};
use crate::{Limits, Metadata, TensogramFile};

pub(super) const NEW: Provenance =
    Provenance::New(Maker { name: "tet", version: "0", time: 1_700_000_000 });

pub(super) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm")
}

pub(super) fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.tgm"))).unwrap()
}

/// Name and bytes of all samples.
fn samples() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let messages = entries.filter(|path| path.extension().is_some_and(|it| it == "tgm"));
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let samples: Vec<_> =
        messages.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect();
    assert_eq!(samples.len(), 23);
    samples
}

pub(super) fn file(bytes: &[u8]) -> TensogramFile {
    TensogramFile::open(Source::from_bytes(bytes), &Limits::default()).unwrap()
}

pub(super) fn bytes(image: &Image) -> Vec<u8> {
    let bytes = image.write_to(Vec::new()).unwrap();
    assert_eq!(bytes.len() as u64, image.len());
    bytes
}

pub(super) fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(super) fn assign(key_text: &str, value: &str) -> Assignment {
    Assignment { key: key(key_text), value: Some(text(value)) }
}

/// The bytes of all tensor frames, and how many of them have a hash.
pub(super) fn frames(bytes: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let (file, mut frames, mut hashed) = (file(bytes), Vec::new(), 0);
    for number in 0..file.len() {
        for object in file.objects(number).unwrap() {
            let range = object.frame.span.range();
            frames.push(bytes[range.start as usize..range.end as usize].to_vec());
            hashed += usize::from(object.hash.is_some());
        }
    }
    (frames, hashed)
}

/// The metadata of all objects and messages, without `_reserved_` of the messages.
pub(super) fn all_metadata(bytes: &[u8]) -> (Vec<crate::Pairs>, Vec<crate::Pairs>) {
    let file = file(bytes);
    let all: Vec<Metadata> = (0..file.len()).map(|it| file.metadata(it).unwrap()).collect();
    let base = all.iter().flat_map(|it| it.base.iter().cloned().map(sorted)).collect();
    (base, all.into_iter().map(|it| sorted(it.extra)).collect())
}

fn sorted(mut pairs: crate::Pairs) -> crate::Pairs {
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    // Maps inside are written in the order of their keys.
    pairs.into_iter().map(|(key, value)| (key, reread(&value))).collect()
}

fn reread(value: &Value) -> Value {
    let (mut bytes, mut left) = (Vec::new(), 1 << 20);
    tet_cbor::encode(value, &mut bytes);
    tet_cbor::value(&mut tet_cbor::Reader::new(&bytes, 0, 0, 256), 0, &mut left).unwrap().unwrap()
}

/// The output is as sound as the input, and its payloads stand at multiples of 64.
#[track_caller]
fn is_as_sound(name: &str, before: &[u8], after: &[u8]) {
    let found = ids(after);
    let known = ids(before);
    assert!(found.iter().all(|id| known.contains(id)), "{name}: {found:?}");
    assert!(
        check(after).is_ok() && check(after).unverified_count == check(before).unverified_count
    );
}

#[track_caller]
fn is_aligned(after: &[u8]) {
    let file = file(after);
    for number in 0..file.len() {
        for object in file.objects(number).unwrap() {
            assert_eq!(object.region.start() % 64, 0);
        }
    }
}

#[test]
fn set_leaves_every_tensor_alone() {
    for (name, before) in samples() {
        let input = file(&before);
        let assignments =
            [assign("units", "K"), assign("mars.steps.range", "0-6"), assign("extra.edited", "7")];
        let (image, changed) = set(&input, &Filter::default(), &assignments, NEW).unwrap();
        assert_eq!(changed, input.len(), "{name}");
        let after = bytes(&image);
        is_as_sound(&name, &before, &after);
        is_aligned(&after);
        assert!(frames(&before) == frames(&after), "{name}");
        let ((base, extra), (new_base, new_extra)) = (all_metadata(&before), all_metadata(&after));
        for (old, new) in base.iter().zip(&new_base) {
            assert_eq!(key("units").find(new), Some(&text("K")));
            assert_eq!(key("mars.steps.range").find(new), Some(&text("0-6")));
            for (old_key, value) in old.iter().filter(|(key, _)| key != "mars" && key != "units") {
                let found = new.iter().find(|(key, _)| key == old_key).map(|(_, value)| value);
                assert_eq!(found, Some(value), "{name} {old_key}");
            }
        }
        for (old, new) in extra.iter().zip(&new_extra) {
            assert_eq!(key("edited").find(new), Some(&text("7")));
            assert!(old.iter().all(|pair| new.contains(pair)), "{name}: {old:?} {new:?}");
        }
        let reserved = file(&after).metadata(0).unwrap().reserved;
        assert_eq!(key("encoder.name").find(&reserved), Some(&text("tet")));
        // Once more, and nothing is left to do.
        let again = set(&file(&after), &Filter::default(), &assignments, NEW).unwrap();
        assert_eq!(again.1, 0);
        assert!(bytes(&again.0) == after);
    }
}

#[test]
fn reshuffle_moves_the_footer_and_nothing_else() {
    for (name, before) in samples() {
        let (image, changed) = reshuffle(&file(&before), Provenance::Kept).unwrap();
        let after = bytes(&image);
        is_as_sound(&name, &before, &after);
        assert!(frames(&before) == frames(&after), "{name}");
        assert_eq!(all_metadata(&before), all_metadata(&after), "{name}");
        let out = ["stream", "craft_preceder", "hash_aggregate_both"];
        assert_eq!(changed != 0, out.iter().any(|it| name.starts_with(it)), "{name}");
        if changed == 0 {
            assert!(before == after);
        }
        for number in 0..image.message_count() {
            let (old, new) = (file(&before), file(&after));
            let reserved = [&old, &new].map(|it| sorted(it.metadata(number).unwrap().reserved));
            assert_eq!(reserved[0], reserved[1], "{name}");
            let message = new.message(number).unwrap();
            assert_eq!(message.preamble().total_len, message.span().len());
        }
        assert_eq!(reshuffle(&file(&after), Provenance::Kept).unwrap().1, 0);
    }
}

#[test]
fn reshuffle_signs_messages_that_are_in_order() {
    let reserved = |bytes: &[u8], number| sorted(file(bytes).metadata(number).unwrap().reserved);
    for (name, before) in samples() {
        let count = file(&before).len();
        let of = |provenance| {
            let (image, changed) = reshuffle(&file(&before), provenance).unwrap();
            let after = bytes(&image);
            is_as_sound(&name, &before, &after);
            assert!(frames(&before) == frames(&after), "{name}");
            assert_eq!(all_metadata(&before), all_metadata(&after), "{name}");
            (after, changed)
        };
        let ((new, changed), (absent, _)) = (of(NEW), of(Provenance::Absent));
        assert_eq!(changed, count, "{name}");
        for number in 0..count {
            let uuid = |bytes: &[u8]| key("uuid").find(&reserved(bytes, number)).cloned();
            assert!(uuid(&new).is_some() && uuid(&new) != uuid(&before), "{name}");
            assert!(reserved(&absent, number).is_empty(), "{name}");
        }
        assert_eq!(reshuffle(&file(&absent), Provenance::Absent).unwrap().1, 0, "{name}");
    }
}

#[test]
fn split_and_merge_are_there_and_back() {
    for (name, before) in samples() {
        let template = Template::parse("[index]").unwrap();
        let parts = split(&file(&before), &template, NEW).unwrap();
        let (all, hashed) = frames(&before);
        assert_eq!(parts.len(), all.len(), "{name}");
        let mut files = Vec::new();
        for ((part, image), frame) in parts.iter().zip(&all) {
            let part_bytes = bytes(image);
            assert_eq!(part, &format!("{:04}", files.len()));
            assert!(check(&part_bytes).is_ok(), "{name}");
            assert!(frames(&part_bytes).0 == [frame.clone()], "{name}");
            files.push(file(&part_bytes));
        }
        let merged = bytes(&merge(&files, Clash::First, NEW).unwrap());
        is_as_sound(&name, &before, &merged);
        is_aligned(&merged);
        assert_eq!(frames(&merged), (all, hashed), "{name}");
        assert_eq!(all_metadata(&merged).0, all_metadata(&before).0, "{name}");
    }
}

#[test]
fn copies_are_the_same_bytes() {
    for (name, before) in samples() {
        let template = Template::parse("out.tgm").unwrap();
        let images = copy(&file(&before), &Filter::default(), &template).unwrap();
        assert_eq!(images.len(), 1);
        assert!(bytes(&images[0].1) == before, "{name}");
        let template = Template::parse("[message]").unwrap();
        let images = copy(&file(&before), &Filter::default(), &template).unwrap();
        let parts: Vec<u8> = images.iter().flat_map(|(_, image)| bytes(image)).collect();
        assert!(parts == before, "{name}");
    }
}

/// Old frames say in a new message that they have a hash, and that is all that is changed in them.
#[test]
fn messages_of_several_dialects_make_one_whose_hashes_hold() {
    let (old, new) = (sample("legacy_0_17_0_f32_hash"), sample("dt_float32_be"));
    let other = sample("legacy_0_19_0_msp");
    let merged = bytes(&merge(&[file(&old), file(&other)], Clash::First, NEW).unwrap());
    assert_eq!(ids(&merged), ["TGM-N11"], "old ones stay what they are");
    assert!(frames(&merged).0 == [frames(&old).0, frames(&other).0].concat());
    for order in [[&old, &new, &other], [&new, &other, &old]] {
        let files = order.map(|bytes| file(bytes));
        let merged = bytes(&merge(&files, Clash::First, NEW).unwrap());
        assert!(ids(&merged).is_empty(), "{:?}", ids(&merged));
        let (found, hashed) = frames(&merged);
        assert_eq!(hashed, 3);
        let sources = order.map(|bytes| frames(bytes).0.remove(0));
        for (found, source) in found.iter().zip(&sources) {
            assert_eq!((&found[..7], &found[8..]), (&source[..7], &source[8..]));
            assert_eq!(found[7], source[7] | 2);
        }
        let first = file(&merged);
        assert_eq!(key("version").find(&first.metadata(0).unwrap().extra), Some(&Value::Int(3)));
        // Programs of 0.17 look for the version next to `_extra_`.
        assert!(merged.windows(9).any(|it| it == b"gversion\x03"));
    }
}

#[test]
fn what_has_no_hash_gets_none() {
    use crate::testing::{Draft as Parts, buffered, metadata, step, tensor, tensors};
    let bare = [metadata(1, &[step(0)]).unhashed(), tensor(b"unhashed").unhashed()];
    let mut bare = Parts::new(&bare);
    bare.flags &= !0x80;
    let (bare, hashed) = (bare.bytes(), buffered(&tensors()).bytes());
    let twice = bytes(&merge(&[file(&bare), file(&bare)], Clash::First, NEW).unwrap());
    assert!(ids(&twice).is_empty(), "{:?}", ids(&twice));
    assert_eq!(frames(&twice).1, 0);
    assert!(file(&twice).message(0).unwrap().frames().iter().all(|it| it.tail.hash != 1));
    let mixed = bytes(&merge(&[file(&hashed), file(&bare)], Clash::First, NEW).unwrap());
    let report = check(&mixed);
    assert!(report.is_ok() && report.unverified_count == 1);
    // The preamble has no hash flag, and there is no list of hashes.
    assert_eq!(ids(&mixed), ["TGM-N4"]);
    assert_eq!(frames(&mixed).1, 2);
    assert!(frames(&mixed).0 == [frames(&hashed).0, frames(&bare).0].concat());
}

#[test]
fn clashes_are_settled_as_is_asked_for() {
    use crate::testing::{Draft as Parts, Part, map, tensor};
    let of = |who: &str, base: &[Value]| {
        let pairs = [("_extra_", map(&[("who", text(who)), ("same", Value::Int(1))]))];
        let mut pairs = pairs.to_vec();
        pairs.push(("base", Value::Array(base.to_vec())));
        Parts::new(&[Part::cbor(1, &map(&pairs)), tensor(b"x"), tensor(b"yz")]).bytes()
    };
    // The first message says something of its first object alone.
    let one = of("me", &[map(&[("step", Value::Int(1))])]);
    let two = of("you", &[map(&[("step", Value::Int(2))]), map(&[("step", Value::Int(3))])]);
    let files = [file(&one), file(&two)];
    for (clash, who) in [(Clash::First, "me"), (Clash::Last, "you")] {
        let merged = bytes(&merge(&files, clash, Provenance::Absent).unwrap());
        let metadata = file(&merged).metadata(0).unwrap();
        assert_eq!(key("who").find(&metadata.extra), Some(&text(who)));
        let steps: Vec<_> = metadata.base.iter().map(|it| key("step").find(it).cloned()).collect();
        let wanted = [Some(1), None, Some(2), Some(3)].map(|it| it.map(Value::Int));
        assert_eq!(steps, wanted, "metadata stays with its object");
        assert!(metadata.reserved.is_empty());
    }
    let refused = merge(&files, Clash::Refused, NEW).unwrap_err();
    assert!(matches!(refused, crate::Error::Clash { ref key } if &**key == "who"));
    assert!(merge(&[file(&one), file(&one)], Clash::Refused, NEW).is_ok());
}
