//! Hostile Tensogram files: small bytes, large claims. Each says what must become of it.

use super::objects::{lz4, roaring, szip};
use super::{Frame, Hashes, Message, Object, packed};
use crate::frame;
use crate::zt::cbor::{array, entry, head, text, uint, uints};

/// A hostile file.
#[derive(Clone, Debug)]
pub struct Animal {
    /// The claim in words.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// Expected outcome.
    pub fate: Fate,
}

/// Expected outcome of a hostile file; rules by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It does not open, by this rule.
    Closed(&'static str),
    /// It opens and its first object cannot be read, by this rule.
    Unreadable(&'static str),
    /// Its first object is read, and a check names this rule.
    Named(&'static str),
    /// It is read, and sound.
    Harmless,
}

/// More elements than any machine has memory for.
const HUGE: u64 = 1 << 42;

/// All of them.
#[must_use]
pub fn animals() -> Vec<Animal> {
    let mut all = bombs();
    all.extend(bits());
    all.extend(claims());
    all.extend(masks());
    all.extend(frames());
    all.extend(said());
    all
}

fn animal(name: &'static str, bytes: Vec<u8>, fate: Fate) -> Animal {
    Animal { name, bytes, fate }
}

/// A file of one object.
fn object_file(object: &Object) -> Vec<u8> {
    Message::whole(std::slice::from_ref(object), Hashes::Frames).bytes()
}

fn unreadable(name: &'static str, object: &Object, rule: &'static str) -> Animal {
    animal(name, object_file(object), Fate::Unreadable(rule))
}

fn bytes(shape: u64, payload: Vec<u8>, codec: &str) -> Object {
    Object::new("uint8", &[shape], payload).stored("compression", codec)
}

/// Payloads that come to more than was declared, or cannot come to it.
fn bombs() -> Vec<Animal> {
    let szip = |shape, payload| {
        let object = bytes(shape, payload, "szip").with("szip_rsi", uint(4096));
        object.with("szip_block_size", uint(64)).with("szip_flags", uint(8))
    };
    let many = [u32::MAX.to_le_bytes().to_vec(), vec![0x1f; 64]].concat();
    // Four literals, and a match of a thousand times their length.
    let mut block = [16_u32.to_le_bytes().to_vec(), b"\x4fabcd\x04\x00".to_vec()].concat();
    block.extend([255; 200]);
    block.push(0);
    let bomb = frame::bomb(1000);
    vec![
        unreadable("zstd: 128 MB in a declared byte", &bytes(1, bomb.clone(), "zstd"), "TGM-C7"),
        unreadable("zstd: more than a payload comes to", &bytes(HUGE, bomb, "zstd"), "TGM-C5"),
        unreadable("zstd: nothing at all", &bytes(8, Vec::new(), "zstd"), "TGM-C7"),
        unreadable(
            "zstd: a window of 2 GiB",
            &bytes(8, frame::with_window(&[0; 8], 31), "zstd"),
            "TGM-C6",
        ),
        unreadable("lz4: 4 GiB are stated", &bytes(8, many, "lz4"), "TGM-C8"),
        unreadable("lz4: a match past the end", &bytes(16, block, "lz4"), "TGM-C9"),
        unreadable("lz4: more than a payload comes to", &bytes(HUGE, lz4(&[1]), "lz4"), "TGM-C5"),
        unreadable("szip: more than a payload comes to", &szip(HUGE, vec![0; 40]), "TGM-C5"),
        unreadable("szip: zeros are no stream", &szip(64, vec![0; 40]), "TGM-C10"),
        unreadable("packing: no bits at all", &packed(0, HUGE), "TGM-L6"),
        unreadable("packing: 65 bits", &packed(8, 8).with("sp_bits_per_value", uint(65)), "TGM-C2"),
        unreadable("packing: too few", &packed(8, 8).with("shape", uints(&[HUGE])), "TGM-C4"),
        unreadable("raw: too few", &bytes(HUGE, vec![0; 8], "none"), "TGM-C4"),
        unreadable(
            "shuffle: elements of 2^62 bytes",
            &Object::new("uint8", &[8], vec![0; 8])
                .stored("filter", "shuffle")
                .with("shuffle_element_size", uint(1 << 62)),
            "TGM-C12",
        ),
        animal(
            "szip: blocks that nobody asks for",
            object_file(
                &Object { payload: self::szip(&[7; 64]), ..szip(8, Vec::new()) }
                    .with("szip_block_size", uint(8))
                    .with("szip_flags", uint(0)),
            ),
            Fate::Harmless,
        ),
    ]
}

/// Bits in runs and as sets.
fn bits() -> Vec<Animal> {
    let bitmask = |shape: u64, payload: Vec<u8>, codec| {
        Object::new("bitmask", &[shape], payload).stored("compression", codec)
    };
    let count = |count: u8, rest: &[u8]| [&[0, 0, 0, count], rest].concat();
    let containers = [12346_u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    let far = roaring(&[1, 9000]);
    vec![
        unreadable("rle: next to nothing", &bitmask(HUGE, count(8, &[0, 8]), "rle"), "TGM-L6"),
        unreadable("rle: another count", &bitmask(8, count(16, &[0, 16]), "rle"), "TGM-C13"),
        unreadable(
            "rle: a run past the end",
            &bitmask(8, count(8, &[1, 255, 127]), "rle"),
            "TGM-C14",
        ),
        unreadable(
            "rle: a length without an end",
            &bitmask(8, count(8, &[0x80; 40]), "rle"),
            "TGM-C14",
        ),
        unreadable("rle: runs of no bits", &bitmask(8, count(8, &[0; 40]), "rle"), "TGM-C14"),
        unreadable("roaring: next to nothing", &bitmask(HUGE, count(8, &far), "roaring"), "TGM-L6"),
        unreadable(
            "roaring: 2^32 containers",
            &bitmask(8, count(8, &containers), "roaring"),
            "TGM-C15",
        ),
        unreadable(
            "roaring: a place past the end",
            &bitmask(8, count(8, &far), "roaring"),
            "TGM-C15",
        ),
    ]
}

/// Descriptors.
fn claims() -> Vec<Animal> {
    let plain = || Object::new("uint8", &[8], vec![7; 8]);
    let deep = |depth: usize| [vec![0x81; depth], vec![0]].concat();
    let twice = {
        let mut object = plain();
        object.fields.push((text("shape"), uints(&[4])));
        object
    };
    let shape = |shape: &[u64]| plain().with("shape", uints(shape));
    let empty = Object::new("uint8", &[1 << 63, 4, 0], Vec::new());
    vec![
        unreadable("elements that wrap to none", &shape(&[1 << 32, 1 << 32]), "TGM-D9"),
        unreadable("elements that wrap to eight", &shape(&[(1 << 63) + 4, 2]), "TGM-D9"),
        unreadable("an extent of 2^63", &shape(&[1 << 63]), "TGM-D9"),
        animal("2^63 by 4 by none", object_file(&empty), Fate::Harmless),
        unreadable("a key twice", &twice, "TGM-D3"),
        unreadable("300 levels", &plain().with("deep", deep(300)), "TGM-D10"),
        unreadable("a million levels", &plain().with("deep", deep(1 << 20)), "TGM-D10"),
        unreadable("an array of 2^62", &plain().with("shape", head(4, 1 << 62)), "TGM-D1"),
        unreadable("text of 2^62 bytes", &plain().with("other", head(3, 1 << 62)), "TGM-D1"),
        unreadable("a map of 2^62", &plain().with("other", head(5, 1 << 62)), "TGM-D1"),
        unreadable("an unknown codec", &plain().stored("compression", "\x1b[2J"), "TGM-C1"),
        unreadable("an unknown type", &plain().stored("dtype", "\u{202e}8tniu"), "TGM-D7"),
    ]
}

/// Masks.
fn masks() -> Vec<Animal> {
    let floats = || Object::new("float32", &[2], vec![0; 8]);
    let blobs = || floats().masked("nan", "none", vec![0x40]).masked("inf+", "none", vec![0x80]);
    let placed = |offsets: [(u64, u64); 2]| {
        let [nan, inf] = offsets.map(|(offset, len)| {
            let pairs = [("method", text("none")), ("offset", uint(offset)), ("length", uint(len))];
            entry(&pairs.map(|(key, item)| (text(key), item)), true)
        });
        blobs().with("masks", entry(&[(text("nan"), nan), (text("inf+"), inf)], true))
    };
    let one = |method, blob| floats().masked("nan", method, blob);
    vec![
        unreadable("masks that overlap", &placed([(8, 2), (8, 1)]), "TGM-K3"),
        unreadable("a mask in the payload", &placed([(4, 4), (8, 2)]), "TGM-C4"),
        unreadable("a mask past the region", &placed([(8, 1), (9, 1 << 40)]), "TGM-K2"),
        unreadable("a mask at the end of numbers", &placed([(8, 1), (u64::MAX, 1)]), "TGM-K2"),
        unreadable("a gap between masks", &placed([(8, 0), (9, 1)]), "TGM-K4"),
        unreadable("a mask of too many bits", &one("none", vec![0, 0]), "TGM-K7"),
        unreadable("a mask of runs past the end", &one("rle", vec![1, 0xff, 0x7f]), "TGM-K7"),
        unreadable("a mask that is a bomb", &one("zstd", frame::bomb(1000)), "TGM-K7"),
        unreadable("a mask of 4 GiB", &one("lz4", vec![255; 40]), "TGM-K7"),
        unreadable("a mask of no known method", &one("blosc9", vec![0]), "TGM-K5"),
    ]
}

/// Messages and frames.
fn frames() -> Vec<Animal> {
    let plain = || Object::new("uint8", &[8], vec![7; 8]);
    let magic = |magic: &[u8]| Object::new("uint8", &[64], magic.repeat(8));
    let sound = || Message::whole(&[plain(), plain()], Hashes::Frames);
    let stated = |len: u64| {
        let mut message = sound();
        message.frames.last_mut().unwrap().len = Some(len);
        message.bytes()
    };
    let total = |len: u64| {
        let mut bytes = sound().bytes();
        bytes[16..24].copy_from_slice(&len.swap_bytes().to_le_bytes());
        bytes
    };
    let streamed = |content| Message::stream(&[magic(content)], Hashes::Frames).bytes();
    let whole = |content| object_file(&magic(content));
    vec![
        animal("a frame of no length", stated(0), Fate::Named("TGM-F2")),
        animal("a frame that ends before it starts", stated(u64::MAX), Fate::Named("TGM-F3")),
        animal("a frame past the end", stated(1 << 40), Fate::Named("TGM-F3")),
        animal("a frame that ends in another", stated(64), Fate::Named("TGM-F4")),
        animal("a message of 8 bytes", total(8), Fate::Closed("TGM-P6")),
        animal("a message past the end", total(1 << 60), Fate::Closed("TGM-P5")),
        animal("a message at the end of numbers", total(u64::MAX), Fate::Closed("TGM-P5")),
        animal("nothing but magic", b"TENSOGRM".repeat(1 << 13), Fate::Closed("TGM-P3")),
        animal("nothing but preambles", preambles(1 << 13), Fate::Closed("TGM-F9")),
        animal("the end magic in a payload", whole(b"39277777"), Fate::Harmless),
        animal("the same in a stream", streamed(b"39277777"), Fate::Harmless),
        animal("a magic in a payload", whole(b"TENSOGRM"), Fate::Harmless),
        animal("the same in a stream too", streamed(b"TENSOGRM"), Fate::Harmless),
        animal("the end of a frame in a payload", streamed(b"ENDFFR\0\x09"), Fate::Harmless),
    ]
}

/// Streams that were begun, one after the other.
fn preambles(count: usize) -> Vec<u8> {
    let mut one = b"TENSOGRM\0\x03".to_vec();
    one.resize(24, 0);
    one.repeat(count)
}

/// Metadata and index.
fn said() -> Vec<Animal> {
    let plain = || Object::new("uint8", &[8], vec![7; 8]);
    let with = |at: usize, frame: Frame| {
        let mut message = Message::whole(&[plain(), plain()], Hashes::Frames);
        message.frames[at] = frame;
        message.bytes()
    };
    let metadata = |extra: Vec<u8>| with(0, Frame::cbor(1, entry(&[(text("a"), extra)], true)));
    let index = |offsets: &[u64], lengths: &[u64]| {
        let pairs = [(text("lengths"), uints(lengths)), (text("offsets"), uints(offsets))];
        with(1, Frame::cbor(2, entry(&pairs, true)))
    };
    let entries = entry(&[(text("base"), array(&vec![vec![0xa0]; 40]))], true);
    vec![
        animal(
            "metadata of 300 levels",
            metadata([vec![0x81; 300], vec![0]].concat()),
            Fate::Named("TGM-L3"),
        ),
        animal(
            "metadata of a million levels",
            metadata([vec![0x81; 1 << 20], vec![0]].concat()),
            Fate::Named("TGM-L3"),
        ),
        animal("metadata with an array of 2^62", metadata(head(4, 1 << 62)), Fate::Named("TGM-M1")),
        animal("metadata with bytes of 2^62", metadata(head(2, 1 << 62)), Fate::Named("TGM-M1")),
        animal("metadata without an end", metadata(vec![0x9f, 0x01]), Fate::Named("TGM-M1")),
        animal(
            "more is said than there is",
            with(0, Frame::cbor(1, entries)),
            Fate::Named("TGM-M5"),
        ),
        animal(
            "an index past the end",
            index(&[1 << 60, 1 << 61], &[36, 36]),
            Fate::Named("TGM-M12"),
        ),
        animal("an index of one place", index(&[300, 300], &[36, 36]), Fate::Named("TGM-M12")),
        animal(
            "an index at the end of numbers",
            index(&[u64::MAX, 24], &[36, 36]),
            Fate::Named("TGM-M12"),
        ),
        animal("an index of other counts", index(&[24], &[36, 36]), Fate::Named("TGM-M10")),
    ]
}
