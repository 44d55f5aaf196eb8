//! Bytes lost at the boundary of messages: no object gets the metadata of another.

use tet_cbor::Value;

use super::{check, metadata_of, objects};
use crate::Pairs;
use crate::repair::Loss;
use crate::testing::{Draft, FrameDraft, cbor, index, list, map, metadata, open, step, tensor};

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Buffered,
    Streamed,
    Backfilled,
}

const FORMS: [Form; 3] = [Form::Buffered, Form::Streamed, Form::Backfilled];

/// Which frames contain the positions of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clue {
    All,
    Index,
    List,
    None,
}

/// A message of two objects, of which number `n` says `first + n`; all have the same lengths.
fn message(form: Form, clue: Clue, first: i128) -> Draft {
    let byte = u8::try_from(first).unwrap();
    let tensors = [tensor(&[byte; 40]), tensor(&[byte + 1; 40])];
    let base = [step(first), step(first + 1)];
    let is_buffered = form == Form::Buffered;
    let mut offsets = vec![300; 2];
    loop {
        let index = index(if is_buffered { 2 } else { 6 }, &offsets, &[tensors[0].len(); 2]);
        let list = list(if is_buffered { 3 } else { 5 }, &tensors);
        let mut clues = match clue {
            Clue::All => vec![index, list],
            Clue::Index => vec![index],
            Clue::List => vec![list],
            Clue::None => vec![],
        };
        let parts = if is_buffered {
            clues.insert(0, metadata(1, &base));
            [clues, tensors.to_vec()].concat()
        } else {
            clues.reverse();
            clues.insert(0, metadata(7, &base));
            [vec![FrameDraft::cbor(1, &map(&[]))], tensors.to_vec(), clues].concat()
        };
        let draft = Draft::new(&parts);
        let places = draft.parts.iter().zip(draft.offsets()).filter(|it| it.0.kind == 9);
        let found: Vec<u64> = places.map(|(_, at)| at).collect();
        if found == offsets {
            return if form == Form::Streamed { draft.stream() } else { draft };
        }
        offsets = found;
    }
}

/// The metadata of each object, by the byte that fills its payload.
fn entries(bytes: &[u8]) -> Vec<(i128, Pairs)> {
    let Ok(file) = open(bytes) else { return Vec::new() };
    let mut entries = Vec::new();
    for message in 0..file.len() {
        let base = metadata_of(bytes, message).base;
        for (number, it) in file.objects(message).unwrap().into_iter().enumerate() {
            let region = file.source().read_vec(it.region.start(), it.region.len()).unwrap();
            let entry = base.get(number).cloned().unwrap_or_default();
            entries.push((region[0].into(), entry));
        }
    }
    entries
}

/// That objects have their own entry or none, and how many have one.
fn own_entries(bytes: &[u8], what: &dyn Fn() -> String) -> usize {
    let mut count = 0;
    for (byte, entry) in entries(bytes) {
        if let Some((_, number)) = entry.first() {
            assert_eq!(*number, Value::Int(byte), "{}", what());
            count += 1;
        }
    }
    count
}

/// Each way to lose a stretch.
fn damaged(bytes: &[u8], start: usize, end: usize) -> [Vec<u8>; 3] {
    let (head, tail) = (&bytes[..start], &bytes[end..]);
    let (zeros, noise) = (vec![0; end - start], vec![0xA5; end - start]);
    [[head, &zeros, tail].concat(), [head, &noise, tail].concat(), [head, tail].concat()]
}

/// The ends of two messages are gone: both keep their own.
#[test]
fn no_object_has_the_entry_of_another() {
    for clue in [Clue::All, Clue::Index, Clue::List, Clue::None] {
        for (one, two) in FORMS.into_iter().flat_map(|one| FORMS.map(|two| (one, two))) {
            let first = message(one, clue, 1).bytes();
            let bytes = [&first[..], &message(two, clue, 11).bytes()].concat();
            let boundary = first.len();
            for start in (40..boundary).step_by(23) {
                for end in (boundary + 24..bytes.len() - 30).step_by(29) {
                    // Objects at the old positions of others cannot be distinguished.
                    let pitch = tensor(&[0; 40]).bytes().len().next_multiple_of(8);
                    let is_splice =
                        (end - start).abs_diff(boundary) < 8 || (end - start).is_multiple_of(pitch);
                    let count = if is_splice || clue == Clue::None { 2 } else { 3 };
                    for (way, bad) in damaged(&bytes, start, end).iter().take(count).enumerate() {
                        let what = || format!("{one:?} {two:?} {clue:?} {start}..{end} {way}");
                        let (plan, repaired) = check(bad, &what);
                        // What does not match its hash and stays may be of two messages; so may be what
                        // breaks no rule.
                        if plan.is_whole() && !plan.edits.is_empty() {
                            own_entries(&repaired, &what);
                        }
                    }
                }
            }
        }
    }
}

/// Objects before the loss keep their entries, and so do objects in a list.
#[test]
fn entries_outlive_the_end_of_a_message() {
    for (one, two) in FORMS.into_iter().flat_map(|one| FORMS.map(|two| (one, two))) {
        let first = message(one, Clue::All, 1).bytes();
        let mut bytes = [&first[..], &message(two, Clue::All, 11).bytes()].concat();
        let boundary = first.len();
        bytes[boundary - 24..boundary + 26].fill(0);
        let what = || format!("{one:?} {two:?}");
        let (plan, repaired) = check(&bytes, &what);
        assert_eq!(objects(&repaired).len(), 4, "{}", what());
        let is_gone = two == Form::Buffered;
        let count = if is_gone { 2 } else { 4 };
        assert_eq!(own_entries(&repaired, &what), count, "{}: {:?}", what(), plan.edits);
        let is_told = plan.losses().any(|it| it == Loss::Entries { count: 2 });
        assert_eq!(is_told, is_gone, "{}: {:?}", what(), plan.edits);
    }
}

/// What a preceder says is of the object right behind it, which may be lost.
#[test]
fn a_preceder_outlives_no_loss() {
    let mut draft = message(Form::Backfilled, Clue::List, 1);
    let preceder = map(&[("base", Value::Array(vec![step(1)]))]);
    draft.parts.insert(1, FrameDraft::new(8, &cbor(&preceder)));
    let draft = Draft::new(&draft.parts);
    let at = usize::try_from(draft.offsets()[2]).unwrap();
    let mut bytes = draft.bytes();
    bytes[at..at + 30].fill(0);
    let (plan, repaired) = check(&bytes, &String::new);
    assert_eq!(objects(&repaired).len(), 1);
    assert_eq!(entries(&repaired)[0].1, metadata_of(&draft.bytes(), 0).base[1]);
    let file = open(&repaired).unwrap();
    let message = file.message(0).unwrap();
    let has_preceder = message.frames().iter().any(|it| it.kind().code() == 8);
    assert!(!has_preceder, "{:?}", plan.edits);
}
