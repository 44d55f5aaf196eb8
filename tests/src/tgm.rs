//! Tensogram files put together by hand from `docs/spec/tensogram.md`.
//!
//! ```text
//! kinds     sound files of every kind that the document names
//! hostile   small files with large claims, and what must become of them
//! ```
//!
//! A message is kept in frames, and a descriptor as a list of fields, so that a test can put anything
//! in the place of something else and still have lengths and hashes that fit.

mod hostile;
mod kinds;
mod objects;

use xxhash_rust::xxh3::xxh3_64;

use crate::zt::cbor::{array, entry, head, text, uint, uints};

pub use self::hostile::{Animal, Fate, animals};
pub use self::kinds::kinds;
pub use self::objects::{objects, packed};

/// Whether a read failed because a frame does not match its hash.
#[must_use]
pub fn is_of_hash(error: &tet_query::Error) -> bool {
    let wanted = &tet_tensogram::rule::HASH;
    matches!(error, tet_query::Error::Foreign { fault, .. } if fault.rule.id == wanted.id)
}

/// Contents of hash slots, and the flags that announce them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hashes {
    /// Nothing.
    None,
    /// Hashes, as each frame says.
    Frames,
    /// Hashes, as the preamble alone says.
    Preamble,
}

/// A frame in parts.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its type.
    pub kind: u16,
    /// Its flags, but for that of the hash.
    pub flags: u16,
    /// Payload, masks and descriptor of a tensor, or CBOR.
    pub body: Vec<u8>,
    /// Where the descriptor of a tensor starts, from the start of the frame.
    pub descriptor_offset: Option<u64>,
    /// The length that is stated; the truth where nothing is said.
    pub len: Option<u64>,
}

impl Frame {
    /// A frame of CBOR.
    #[must_use]
    pub fn cbor(kind: u16, item: Vec<u8>) -> Self {
        Frame { kind, flags: 0, body: item, descriptor_offset: None, len: None }
    }

    /// Its length, without padding.
    #[must_use]
    pub fn len(&self) -> u64 {
        28 + 8 * u64::from(self.descriptor_offset.is_some()) + self.body.len() as u64
    }

    /// Whether it has no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    fn bytes(&self, hashes: Hashes) -> Vec<u8> {
        let flags = self.flags | if hashes == Hashes::Frames { 2 } else { 0 };
        let hash = if hashes == Hashes::None { 0 } else { xxh3_64(&self.body) };
        let head = [b"FR".to_vec(), be(self.kind.into(), 2), be(1, 2), be(flags.into(), 2)];
        let offset = self.descriptor_offset.map(|offset| be(offset, 8)).unwrap_or_default();
        let tail = [offset, be(hash, 8), b"ENDF".to_vec()].concat();
        [head.concat(), be(self.len.unwrap_or(self.len()), 8), self.body.clone(), tail].concat()
    }
}

/// The low bytes of a number, the highest first.
fn be(number: u64, len: usize) -> Vec<u8> {
    number.to_le_bytes()[..len].iter().rev().copied().collect()
}

/// An object in parts.
#[derive(Clone, Debug)]
pub struct Object {
    /// Keys and values of its descriptor, as items.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// The payload.
    pub payload: Vec<u8>,
    /// Kind, method and blob of its masks.
    pub masks: Vec<(&'static str, &'static str, Vec<u8>)>,
    /// Whether the descriptor stands before the payload.
    pub is_descriptor_first: bool,
}

impl Object {
    /// An object that is stored as it is.
    #[must_use]
    pub fn new(dtype: &str, shape: &[u64], payload: Vec<u8>) -> Self {
        let mut strides = vec![1_u64; shape.len()];
        for at in (1..shape.len()).rev() {
            strides[at - 1] = strides[at].saturating_mul(shape[at]);
        }
        let words = ["encoding", "filter", "compression"].map(|key| (text(key), text("none")));
        let mut fields = vec![
            (text("ndim"), uint(shape.len() as u64)),
            (text("type"), text("ntensor")),
            (text("dtype"), text(dtype)),
            (text("shape"), uints(shape)),
            (text("strides"), uints(&strides)),
            (text("byte_order"), text("little")),
        ];
        fields.extend(words);
        Object { fields, payload, masks: Vec::new(), is_descriptor_first: false }
    }

    /// Sets the value of a key, or adds it at the end.
    #[must_use]
    pub fn with(mut self, key: &str, value: Vec<u8>) -> Self {
        let key = text(key);
        match self.fields.iter_mut().find(|(found, _)| *found == key) {
            Some((_, held)) => *held = value,
            None => self.fields.push((key, value)),
        }
        self
    }

    /// This object under another codec.
    #[must_use]
    pub fn stored(self, key: &str, word: &str) -> Self {
        self.with(key, text(word))
    }

    /// This object with one mask more.
    #[must_use]
    pub fn masked(mut self, kind: &'static str, method: &'static str, blob: Vec<u8>) -> Self {
        self.masks.push((kind, method, blob));
        self
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> Vec<u8> {
        let mut fields = self.fields.clone();
        let mut offset = self.payload.len() as u64;
        let mask = |(kind, method, blob): &(&str, &str, Vec<u8>)| {
            let len = blob.len() as u64;
            let pairs = [("method", text(method)), ("offset", uint(offset)), ("length", uint(len))];
            offset += len;
            (text(kind), entry(&pairs.map(|(key, item)| (text(key), item)), true))
        };
        let masks: Vec<_> = self.masks.iter().map(mask).collect();
        // One that a test put there stays.
        if !masks.is_empty() && !fields.iter().any(|(key, _)| *key == text("masks")) {
            fields.push((text("masks"), entry(&masks, true)));
        }
        fields.sort();
        entry(&fields, true)
    }

    /// Its frame.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let descriptor = self.descriptor();
        let mut region = self.payload.clone();
        self.masks.iter().for_each(|(_, _, blob)| region.extend_from_slice(blob));
        let (flags, offset, body) = if self.is_descriptor_first {
            (0, 16, [descriptor, region].concat())
        } else {
            (1, 16 + region.len() as u64, [region, descriptor].concat())
        };
        Frame { kind: 9, flags, body, descriptor_offset: Some(offset), len: None }
    }
}

/// A message in frames.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its frames, in their order.
    pub frames: Vec<Frame>,
    /// Contents of its slots.
    pub hashes: Hashes,
    /// Whether it says how long it is.
    pub is_stream: bool,
}

impl Message {
    /// A message of which all is known: metadata, index, hashes, objects.
    #[must_use]
    pub fn whole(objects: &[Object], hashes: Hashes) -> Self {
        let tensors: Vec<Frame> = objects.iter().map(Object::frame).collect();
        let mut front = vec![said(1, objects.len()), Frame::cbor(2, Vec::new())];
        if hashes != Hashes::None {
            front.push(list(3, &tensors));
        }
        let mut offsets = vec![300; tensors.len()];
        // Places change the length of the index, and that the places.
        let mut turns = 0..8;
        loop {
            front[1] = index(2, &offsets, &tensors);
            let frames = [front.clone(), tensors.clone()].concat();
            let message = Message { frames, hashes, is_stream: false };
            let found = message.offsets().split_off(front.len());
            if found == offsets || turns.next().is_none() {
                return message;
            }
            offsets = found;
        }
    }

    /// A message as it comes: metadata, preceder and objects, metadata, hashes, index.
    #[must_use]
    pub fn stream(objects: &[Object], hashes: Hashes) -> Self {
        let tensors: Vec<Frame> = objects.iter().map(Object::frame).collect();
        let mut frames = vec![Frame::cbor(1, vec![0xa0])];
        if !tensors.is_empty() {
            frames.push(Frame::cbor(8, entry(&[(text("base"), array(&[step(7)]))], true)));
        }
        frames.extend(tensors.clone());
        let mut message = Message { frames, hashes, is_stream: true };
        let mut offsets = message.offsets();
        let offsets = offsets.split_off(offsets.len() - tensors.len());
        message.frames.push(said(7, objects.len()));
        if hashes != Hashes::None {
            message.frames.push(list(5, &tensors));
        }
        message.frames.push(index(6, &offsets, &tensors));
        message
    }

    /// Where each frame starts.
    #[must_use]
    pub fn offsets(&self) -> Vec<u64> {
        let mut at = 24;
        let place = |frame: &Frame| {
            let start = at;
            at = (at + frame.len()).next_multiple_of(8);
            start
        };
        self.frames.iter().map(place).collect()
    }

    /// The message.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut flags = if self.hashes == Hashes::None { 0 } else { 0x80 };
        for (kind, bit) in [(1, 0), (7, 1), (2, 2), (6, 3), (3, 4), (5, 5), (8, 6)] {
            flags |= u64::from(self.frames.iter().any(|frame| frame.kind == kind)) << bit;
        }
        let (mut frames, mut footer_at) = (Vec::new(), None);
        for (frame, at) in self.frames.iter().zip(self.offsets()) {
            if (5..8).contains(&frame.kind) {
                footer_at.get_or_insert(at);
            }
            frames.extend(frame.bytes(self.hashes));
            frames.resize(frames.len().next_multiple_of(8), 0);
        }
        let end = 24 + frames.len() as u64;
        let total_len = if self.is_stream { 0 } else { end + 24 };
        let head = [b"TENSOGRM".to_vec(), be(3, 2), be(flags, 2), vec![0; 4], be(total_len, 8)];
        let tail = [be(footer_at.unwrap_or(end), 8), be(total_len, 8), b"39277777".to_vec()];
        [head.concat(), frames, tail.concat()].concat()
    }
}

/// Metadata: something of the message and of each object.
fn said(kind: u16, count: usize) -> Frame {
    let base: Vec<Vec<u8>> = (0..count as u64).map(step).collect();
    let extra = entry(&[(text("who"), text("me"))], true);
    Frame::cbor(kind, entry(&[(text("base"), array(&base)), (text("_extra_"), extra)], true))
}

fn step(number: u64) -> Vec<u8> {
    entry(&[(text("step"), uint(number))], true)
}

fn index(kind: u16, offsets: &[u64], tensors: &[Frame]) -> Frame {
    let lengths: Vec<u64> = tensors.iter().map(Frame::len).collect();
    let pairs = [(text("lengths"), uints(&lengths)), (text("offsets"), uints(offsets))];
    Frame::cbor(kind, entry(&pairs, true))
}

fn list(kind: u16, tensors: &[Frame]) -> Frame {
    let hash = |frame: &Frame| text(&format!("{:016x}", xxh3_64(&frame.body)));
    let hashes: Vec<Vec<u8>> = tensors.iter().map(hash).collect();
    let pairs = [(text("hashes"), array(&hashes)), (text("algorithm"), text("xxh3"))];
    Frame::cbor(kind, [head(5, 2), pairs.map(|(key, item)| [key, item].concat()).concat()].concat())
}
