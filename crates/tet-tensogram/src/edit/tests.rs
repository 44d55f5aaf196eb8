//! Edits of messages of every dialect: tensor frames are the same bytes, hashes hold, values are what
//! they were.

mod hostile;
mod keys;

use std::path::PathBuf;

use tet_cbor::Value;
use tet_io::Source;

use super::*;
use crate::testing::{check, ids};
use crate::{Limits, Metadata, Result, TensogramFile};

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

pub(super) fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A file in which each object gets these values; its messages are written anew.
pub(super) fn set(file: &TensogramFile, values: &[(&str, Value)]) -> Result<Image> {
    check_sound(file)?;
    let mut image = Image::for_file(file);
    for number in 0..file.len() {
        let mut draft = Draft::from_message(file, number)?;
        for object in 0..file.objects(number)?.len() {
            values.iter().try_for_each(|(at, value)| draft.set(Some(object), &key(at), value))?;
        }
        let next = (number + 1 < file.len()).then(|| file.span(number + 1).unwrap().start());
        image.push(&draft, next)?;
    }
    Ok(image)
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
        let values =
            [("units", text("K")), ("mars.steps.range", text("0-6")), ("extra.edited", text("7"))];
        let after = set(&file(&before), &values).unwrap().bytes();
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
        let reserved = [&before, &after].map(|it| sorted(file(it).metadata(0).unwrap().reserved));
        assert_eq!(reserved[0], reserved[1], "{name}");
        // Once more, and nothing is left to do.
        assert!(set(&file(&after), &values).unwrap().bytes() == after);
    }
}

#[test]
fn messages_written_anew_have_no_footer() {
    for (name, before) in samples() {
        let after = set(&file(&before), &[]).unwrap().bytes();
        is_as_sound(&name, &before, &after);
        assert!(frames(&before) == frames(&after), "{name}");
        assert_eq!(all_metadata(&before), all_metadata(&after), "{name}");
        let new = file(&after);
        for number in 0..new.len() {
            let message = new.message(number).unwrap();
            assert_eq!(message.preamble().total_len, message.span().len());
        }
    }
}

/// Old frames say in a new message that they have a hash, and that is all that is changed in them.
#[test]
fn frames_of_several_dialects_are_hashed_in_one_message() {
    let (old, new) = (sample("legacy_0_17_0_f32_hash"), sample("dt_float32_be"));
    for [into, from] in [[&old, &new], [&new, &old]] {
        let mut draft = Draft::from_message(&file(into), 0).unwrap();
        assert!(draft.is_hashed(0) && !draft.is_hashed(1));
        draft.replace(0, Draft::from_message(&file(from), 0).unwrap()).unwrap();
        let mut image = Image::for_file(&file(into));
        image.push(&draft, None).unwrap();
        let after = image.bytes();
        assert!(ids(&after).is_empty(), "{:?}", ids(&after));
        let ((found, hashed), source) = (frames(&after), frames(from).0.remove(0));
        assert_eq!(hashed, 1);
        assert_eq!((&found[0][..7], &found[0][8..]), (&source[..7], &source[8..]));
        assert_eq!(found[0][7], source[7] | 2);
        assert!(draft.replace(1, Draft::from_message(&file(from), 0).unwrap()).is_err());
    }
}

#[test]
fn what_has_no_hash_gets_none() {
    use crate::testing::{Draft as Parts, metadata, step, tensor};
    let bare = [metadata(1, &[step(0)]).unhashed(), tensor(b"unhashed").unhashed()];
    let mut bare = Parts::new(&bare);
    bare.flags &= !0x80;
    let after = set(&file(&bare.bytes()), &[]).unwrap().bytes();
    assert!(ids(&after).is_empty(), "{:?}", ids(&after));
    assert_eq!(frames(&after).1, 0);
    assert!(file(&after).message(0).unwrap().frames().iter().all(|it| it.tail.hash != 1));
}
