//! Messages assembled by hand, byte by byte and without the writers of the crate: valid ones, and
//! changed ones for tests.

pub(crate) mod objects;

use tet_cbor::{Value, encode};
use tet_io::Source;

use crate::{Level, Limits, Report, Result, TensogramFile, VerifyOptions, scan, verify};

pub(crate) fn be16(number: u64) -> Vec<u8> {
    number.to_le_bytes()[..2].iter().rev().copied().collect()
}

pub(crate) fn be64(number: u64) -> Vec<u8> {
    number.to_le_bytes().iter().rev().copied().collect()
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(crate) fn map(pairs: &[(&str, Value)]) -> Value {
    Value::Map(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
}

pub(crate) fn uints(numbers: &[u64]) -> Value {
    Value::Array(numbers.iter().map(|number| Value::Int((*number).into())).collect())
}

pub(crate) fn cbor(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, &mut out);
    out
}

/// A frame in parts, so that a test can damage them one by one.
#[derive(Clone, Debug)]
pub(crate) struct FrameDraft {
    pub(crate) kind: u64,
    pub(crate) version: u64,
    pub(crate) flags: u64,
    pub(crate) body: Vec<u8>,
    pub(crate) descriptor_offset: Option<u64>,
    pub(crate) hash: u64,
    /// Added to the true length.
    pub(crate) len_more: u64,
    /// Bytes after it; by default zeros to the next multiple of 8.
    pub(crate) padding: Option<Vec<u8>>,
}

impl FrameDraft {
    pub(crate) fn new(kind: u64, body: &[u8]) -> Self {
        let (body, hash) = (body.to_vec(), tet_codec::digest(body).xxh3);
        let (version, flags, descriptor_offset) = (1, 2, None);
        FrameDraft {
            kind,
            version,
            flags,
            body,
            descriptor_offset,
            hash,
            len_more: 0,
            padding: None,
        }
    }

    pub(crate) fn cbor(kind: u64, value: &Value) -> Self {
        FrameDraft::new(kind, &cbor(value))
    }

    /// A tensor with its descriptor behind the payload.
    pub(crate) fn tensor(payload: &[u8], descriptor: &[u8]) -> Self {
        let part = FrameDraft::new(9, &[payload, descriptor].concat());
        FrameDraft { flags: 3, descriptor_offset: Some(16 + payload.len() as u64), ..part }
    }

    /// A tensor with its descriptor before the payload.
    pub(crate) fn tensor_behind(descriptor: &[u8], payload: &[u8]) -> Self {
        let part = FrameDraft::new(9, &[descriptor, payload].concat());
        FrameDraft { descriptor_offset: Some(16), ..part }
    }

    pub(crate) fn unhashed(mut self) -> Self {
        self.flags &= !2;
        self
    }

    pub(crate) fn padded(mut self, padding: &[u8]) -> Self {
        self.padding = Some(padding.to_vec());
        self
    }

    pub(crate) fn len(&self) -> u64 {
        28 + 8 * u64::from(self.descriptor_offset.is_some()) + self.body.len() as u64
    }

    /// The frame, without padding.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let head = [b"FR".to_vec(), be16(self.kind), be16(self.version), be16(self.flags)].concat();
        let len = be64(self.len().wrapping_add(self.len_more));
        let offset = self.descriptor_offset.map(be64).unwrap_or_default();
        [head, len, self.body.clone(), offset, be64(self.hash), b"ENDF".to_vec()].concat()
    }
}

/// A message in parts.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) version: u64,
    pub(crate) flags: u64,
    pub(crate) parts: Vec<FrameDraft>,
    /// The lengths in the preamble and the postamble; by default the true one.
    pub(crate) total_len: [Option<u64>; 2],
    pub(crate) footer_offset: Option<u64>,
}

impl Draft {
    pub(crate) fn new(parts: &[FrameDraft]) -> Self {
        let mut flags = 0x80;
        for (kind, bit) in [(1, 0), (7, 1), (2, 2), (6, 3), (3, 4), (5, 5), (8, 6)] {
            flags |= u64::from(parts.iter().any(|part| part.kind == kind)) << bit;
        }
        let (parts, total_len) = (parts.to_vec(), [None, None]);
        Draft { version: 3, flags, parts, total_len, footer_offset: None }
    }

    /// Removes the length, as a streaming writer writes it.
    pub(crate) fn stream(mut self) -> Self {
        self.total_len = [Some(0), Some(0)];
        self
    }

    /// The offset of the frame of each part.
    pub(crate) fn offsets(&self) -> Vec<u64> {
        let mut at = 24;
        let place = |part: &FrameDraft| {
            let start = at;
            at += part.len();
            at += part.padding.as_ref().map_or(at.wrapping_neg() & 7, |it| it.len() as u64);
            start
        };
        self.parts.iter().map(place).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut frames = Vec::new();
        let mut footer_at = None;
        for (part, at) in self.parts.iter().zip(self.offsets()) {
            assert_eq!(24 + frames.len() as u64, at);
            if (5..8).contains(&part.kind) {
                footer_at.get_or_insert(at);
            }
            frames.extend(part.bytes());
            match &part.padding {
                Some(padding) => frames.extend(padding),
                None => frames.resize(frames.len().next_multiple_of(8), 0),
            }
        }
        let end = 24 + frames.len() as u64;
        let [first, last] = self.total_len.map(|len| be64(len.unwrap_or(end + 24)));
        let footer = be64(self.footer_offset.unwrap_or(footer_at.unwrap_or(end)));
        let head = [b"TENSOGRM".to_vec(), be16(self.version), be16(self.flags), vec![0; 4], first];
        [head.concat(), frames, footer, last, b"39277777".to_vec()].concat()
    }
}

/// A minimal descriptor of a tensor.
pub(crate) fn descriptor(len: u64) -> Vec<u8> {
    cbor(&map(&[
        ("ndim", Value::Int(1)),
        ("type", text("ntensor")),
        ("dtype", text("uint8")),
        ("shape", uints(&[len])),
        ("strides", uints(&[1])),
        ("encoding", text("none")),
        ("filter", text("none")),
        ("compression", text("none")),
    ]))
}

pub(crate) fn tensor(payload: &[u8]) -> FrameDraft {
    FrameDraft::tensor(payload, &descriptor(payload.len() as u64))
}

pub(crate) fn metadata(kind: u64, base: &[Value]) -> FrameDraft {
    let extra = map(&[("who", text("me"))]);
    FrameDraft::cbor(kind, &map(&[("base", Value::Array(base.to_vec())), ("_extra_", extra)]))
}

pub(crate) fn step(number: i128) -> Value {
    map(&[("step", Value::Int(number))])
}

pub(crate) fn hex(hashes: &[u64]) -> Value {
    Value::Array(hashes.iter().map(|hash| text(&format!("{hash:016x}"))).collect())
}

pub(crate) fn list(kind: u64, tensors: &[FrameDraft]) -> FrameDraft {
    let hashes: Vec<u64> = tensors.iter().map(|part| part.hash).collect();
    FrameDraft::cbor(kind, &map(&[("hashes", hex(&hashes)), ("algorithm", text("xxh3"))]))
}

pub(crate) fn index(kind: u64, offsets: &[u64], lengths: &[u64]) -> FrameDraft {
    FrameDraft::cbor(kind, &map(&[("lengths", uints(lengths)), ("offsets", uints(offsets))]))
}

pub(crate) fn tensors() -> Vec<FrameDraft> {
    vec![tensor(&[1, 2, 3, 4, 5]), tensor(b"0123456789abcdef")]
}

/// A buffered message: metadata, index, hashes, tensors.
pub(crate) fn buffered(tensors: &[FrameDraft]) -> Draft {
    let base: Vec<Value> = (0..tensors.len()).map(|number| step(number as i128)).collect();
    let lengths: Vec<u64> = tensors.iter().map(FrameDraft::len).collect();
    let mut offsets = vec![300; tensors.len()];
    for _ in 0..3 {
        let mut parts = vec![metadata(1, &base), index(2, &offsets, &lengths), list(3, tensors)];
        parts.extend_from_slice(tensors);
        let draft = Draft::new(&parts);
        let found = draft.offsets().split_off(3);
        if found == offsets {
            return draft;
        }
        offsets = found;
    }
    panic!("the offsets do not settle");
}

/// A streamed message: metadata, tensors of which the first has a preceder, metadata, hashes, index.
pub(crate) fn streamed(tensors: &[FrameDraft]) -> Draft {
    let preceder = FrameDraft::cbor(8, &map(&[("base", Value::Array(vec![step(7)]))]));
    let mut parts = vec![FrameDraft::cbor(1, &map(&[])), preceder];
    parts.extend_from_slice(tensors);
    let offsets = Draft::new(&parts).offsets().split_off(2);
    let base: Vec<Value> = (0..tensors.len()).map(|number| step(number as i128)).collect();
    let lengths: Vec<u64> = tensors.iter().map(FrameDraft::len).collect();
    parts.extend([metadata(7, &base), list(5, tensors), index(6, &offsets, &lengths)]);
    Draft::new(&parts).stream()
}

pub(crate) fn open(bytes: &[u8]) -> Result<TensogramFile> {
    TensogramFile::open(Source::from_bytes(bytes), &Limits::default())
}

pub(crate) fn check(bytes: &[u8]) -> Report {
    verify(&Source::from_bytes(bytes), &checksums()).expect("memory can be read")
}

/// Bytes are compared with their hashes.
pub(crate) fn checksums() -> VerifyOptions {
    VerifyOptions { level: Level::Checksums, ..VerifyOptions::default() }
}

/// The number of intact messages of a file, and of damaged ones.
pub(crate) fn message_counts(bytes: &[u8]) -> (usize, u64) {
    let scan = scan(&Source::from_bytes(bytes), &Limits::default()).expect("memory can be read");
    (scan.messages.len(), scan.damage_count)
}

/// The ids of all findings.
pub(crate) fn ids(bytes: &[u8]) -> Vec<&'static str> {
    check(bytes).findings.iter().map(|finding| finding.code.id()).collect()
}

/// Region, descriptor and hash of the objects of all messages.
pub(crate) type Spans = Vec<(usize, std::ops::Range<u64>, std::ops::Range<u64>, Option<u64>)>;

/// The objects of all messages of a file, unless one of them has a fault.
pub(crate) fn spans(bytes: &[u8]) -> Option<Spans> {
    let file = open(bytes).ok()?;
    let mut spans = Vec::new();
    for number in 0..file.len() {
        let message = file.message(number).ok()?;
        if message.fault().is_some() {
            return None;
        }
        for object in file.objects(number).ok()? {
            if object.fault.is_some() {
                return None;
            }
            let (region, descriptor) = (object.region.range(), object.descriptor.range());
            spans.push((number, region, descriptor, object.hash));
        }
    }
    Some(spans)
}
