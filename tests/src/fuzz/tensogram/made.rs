//! Objects and files of known kinds in which something is something else, and whose lengths and
//! hashes fit.

use std::sync::LazyLock;

use super::super::feed::Feed;
use crate::tgm::{Hashes, Message, Object, objects};
use crate::zt::cbor::{array, entry, head, head_of, odd_items, text, uint, uints};

/// Keys that mean something.
const KEYS: [&str; 20] = [
    "type",
    "ndim",
    "dtype",
    "shape",
    "strides",
    "byte_order",
    "encoding",
    "filter",
    "compression",
    "masks",
    "shuffle_element_size",
    "sp_reference_value",
    "sp_binary_scale_factor",
    "sp_decimal_scale_factor",
    "sp_bits_per_value",
    "szip_rsi",
    "szip_block_size",
    "szip_flags",
    "szip_block_offsets",
    "zstd_frame_offsets",
];
/// Words that mean something.
const WORDS: [&str; 25] = [
    "none",
    "zstd",
    "lz4",
    "szip",
    "blosc2",
    "rle",
    "roaring",
    "shuffle",
    "simple_packing",
    "little",
    "big",
    "ntensor",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "uint8",
    "int16",
    "uint32",
    "int64",
    "bitmask",
    "zfp",
    "sz3",
    "",
];

static OBJECTS: LazyLock<Vec<Object>> =
    LazyLock::new(|| objects().into_iter().map(|(_, object)| object).collect());

/// A file made of choices.
pub(super) fn file(feed: &mut Feed<'_>) -> Vec<u8> {
    let count = feed.below(4);
    let mut all: Vec<Object> =
        (0..count).map(|_| OBJECTS[feed.below(OBJECTS.len())].clone()).collect();
    for _ in 0..feed.below(5) {
        if all.is_empty() {
            break;
        }
        let at = feed.below(all.len());
        change(&mut all[at], feed);
    }
    let hashes = [Hashes::Frames, Hashes::None, Hashes::Preamble][feed.below(3)];
    let message = [Message::whole, Message::stream][feed.below(2)](&all, hashes);
    let mut bytes = message.bytes();
    if feed.below(4) == 0 {
        let at = feed.wide() % bytes.len();
        bytes[at] ^= 1 << feed.below(8);
    }
    bytes
}

fn change(object: &mut Object, feed: &mut Feed<'_>) {
    let key = KEYS[feed.below(KEYS.len())];
    match feed.below(8) {
        0 => {
            let at = feed.wide() % object.payload.len().max(1);
            if let Some(byte) = object.payload.get_mut(at) {
                *byte ^= 1 << feed.below(8);
            }
        }
        1 => object.payload.truncate(feed.wide() % (object.payload.len() + 1)),
        2 => object.is_descriptor_first ^= true,
        3 => {
            for (_, _, blob) in &mut object.masks {
                let at = feed.wide() % blob.len().max(1);
                if let Some(byte) = blob.get_mut(at) {
                    *byte ^= 1 << feed.below(8);
                }
            }
        }
        _ => *object = object.clone().with(key, item(feed)),
    }
}

fn item(feed: &mut Feed<'_>) -> Vec<u8> {
    match feed.below(6) {
        0 => uint(number(feed)),
        1 => head_of([0, 1, 2, 3, 4, 5, 6, 7][feed.below(8)], number(feed), feed.below(4) as u8),
        2 => text(WORDS[feed.below(WORDS.len())]),
        3 => {
            let count = feed.below(5);
            uints(&(0..count).map(|_| number(feed)).collect::<Vec<_>>())
        }
        4 => {
            let pairs = [("method", text(WORDS[feed.below(8)])), ("offset", uint(number(feed)))];
            let mut pairs = pairs.map(|(key, item)| (text(key), item)).to_vec();
            pairs.push((text("length"), uint(number(feed))));
            let kind = ["nan", "inf+", "inf-", "odd"][feed.below(4)];
            entry(&[(text(kind), entry(&pairs, true))], true)
        }
        _ => {
            let items = odd_items();
            items[feed.below(items.len())].clone()
        }
    }
}

fn number(feed: &mut Feed<'_>) -> u64 {
    let small = feed.below(256) as u64;
    match feed.below(6) {
        0 => 8 * small,
        1 => 1 << (small % 64),
        2 => (1_u64 << (small % 64)).wrapping_neg(),
        3 => u64::MAX - small,
        _ => small % 16,
    }
}

/// The object that the first bytes choose, and where the payload starts behind them.
pub(super) fn object(bytes: &[u8]) -> Option<(Object, usize)> {
    let (&[which, count, bits], _) = bytes.split_first_chunk()?;
    let object = &OBJECTS[usize::from(which) % OBJECTS.len()];
    let object = match count {
        // As many elements as there were.
        0..128 => object.clone(),
        _ => object.clone().with("shape", uints(&[u64::from(count) * 7])),
    };
    let has = |key| object.fields.iter().any(|(found, _)| *found == text(key));
    let object = match bits {
        0..128 => object,
        _ if has("sp_bits_per_value") => {
            object.with("sp_bits_per_value", uint(u64::from(bits) - 128))
        }
        _ if has("szip_flags") => object.with("szip_flags", uint(u64::from(bits))),
        _ => object.stored("byte_order", "big"),
    };
    Some((object, 3))
}

/// Every payload that is known, behind the number of its object.
pub(in super::super) fn pipeline_seeds() -> Vec<Vec<u8>> {
    let seed = |(at, object): (usize, &Object)| {
        [&[u8::try_from(at).unwrap(), 0, 0], &object.payload[..]].concat()
    };
    OBJECTS.iter().enumerate().map(seed).collect()
}

/// Items that metadata, indexes and lists of hashes may be.
pub(in super::super) fn metadata_seeds() -> Vec<Vec<u8>> {
    let map = |pairs: &[(&str, Vec<u8>)]| {
        let pairs: Vec<_> = pairs.iter().map(|(key, item)| (text(key), item.clone())).collect();
        entry(&pairs, pairs.len() % 2 == 0)
    };
    let step = map(&[("step", uint(3))]);
    let mut seeds = vec![
        map(&[("base", array(std::slice::from_ref(&step)))]),
        map(&[("base", array(std::slice::from_ref(&step))), ("_extra_", step.clone())]),
        map(&[("base", array(&[])), ("version", uint(3)), ("_reserved_", step.clone())]),
        map(&[("lengths", uints(&[100])), ("offsets", uints(&[64]))]),
        map(&[("offsets", uints(&[64, 72])), ("lengths", uints(&[36, 36])), ("more", step)]),
        map(&[("hashes", array(&[text("00000000000000ff")])), ("algorithm", text("xxh3"))]),
        map(&[("hashes", array(&[text("odd"), head(6, 1)])), ("algorithm", text("sha1"))]),
        head(5, 0),
    ];
    seeds.extend(odd_items().into_iter().map(|item| map(&[("_extra_", map(&[("odd", item)]))])));
    seeds.extend(odd_items().into_iter().map(|item| map(&[("base", item)])));
    seeds
}
