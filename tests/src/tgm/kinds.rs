//! Sound files of every kind that `docs/spec/tensogram.md` names.

use super::{Frame, Hashes, Message, Object, objects};
use crate::zt::cbor::{entry, head, text, uint};

/// Objects of a message, at most: files stay short.
const OBJECTS_MAX: usize = 5;

/// A file of each kind, and what the kind is called.
#[must_use]
pub fn kinds() -> Vec<(&'static str, Vec<u8>)> {
    let all: Vec<Object> = objects().into_iter().map(|(_, object)| object).collect();
    let mut files = Vec::new();
    for part in all.chunks(OBJECTS_MAX) {
        files.push(("whole", Message::whole(part, Hashes::Frames).bytes()));
        files.push(("stream", Message::stream(part, Hashes::Frames).bytes()));
    }
    let few = &all[2..5];
    files.push(("without hashes", Message::whole(few, Hashes::None).bytes()));
    files.push(("stream without hashes", Message::stream(few, Hashes::None).bytes()));
    let old = Message::whole(few, Hashes::Preamble);
    files.push(("hashes as of old", old.bytes()));
    files.push(("stream, hashes as of old", Message::stream(few, Hashes::Preamble).bytes()));
    files.push(("without objects", Message::stream(&[], Hashes::Frames).bytes()));
    let mut both = Message::stream(few, Hashes::Frames);
    both.is_stream = false;
    files.push(("stream with its length", both.bytes()));
    files.push(("unknown frame", unknown(few)));
    files.push(("old spelling", Message::whole(&[old_packed()], Hashes::Preamble).bytes()));
    let one = Message::whole(&few[..1], Hashes::Frames).bytes();
    let two = Message::stream(&few[1..], Hashes::Frames).bytes();
    files.push(("many messages", [&one[..], &two, &[0; 16], &one].concat()));
    files
}

/// A frame of a type that nobody knows, behind the objects.
fn unknown(objects: &[Object]) -> Vec<u8> {
    let mut message = Message::whole(objects, Hashes::Frames);
    message.frames.push(Frame::cbor(77, vec![0xa0]));
    message.bytes()
}

/// Packed numbers as programs before 0.19 named them.
fn old_packed() -> Object {
    let object = super::packed(8, 10);
    let mut fields = object.fields;
    fields.retain(|(key, _)| !key[1..].starts_with(b"sp_"));
    fields.push((text("reference_value"), uint(3)));
    fields.push((text("binary_scale_factor"), head(1, 0)));
    fields.push((text("decimal_scale_factor"), uint(0)));
    fields.push((text("bits_per_value"), uint(8)));
    let said = entry(&[(text("a"), uint(1))], false);
    fields.push((text("other"), said));
    Object { fields, ..object }
}
