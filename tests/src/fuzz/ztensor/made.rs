//! A file of a known kind in which some items are others, and whose places and checksums fit.

use std::sync::LazyLock;

use super::super::feed::Feed;
use crate::values::noise;
use crate::zt::cbor::{array, head_of, odd_items, text, uint, uints};
use crate::zt::{BlobPlace, Seal, Tensor, assemble, kinds};

/// Keys that mean something.
const KEYS: [&str; 14] = [
    "name",
    "offset",
    "size",
    "dtype",
    "layout",
    "shape",
    "encoding",
    "data_endianness",
    "checksum",
    "sparse_format",
    "indptr",
    "indices",
    "logical_dtype",
    "dims",
];

/// Words that mean something.
const WORDS: [&str; 19] = [
    "float64",
    "float32",
    "bfloat16",
    "int16",
    "uint8",
    "bool",
    "raw",
    "zstd",
    "dense",
    "sparse",
    "sparsecsr",
    "sparsecoo",
    "csr",
    "coo",
    "little",
    "big",
    "good",
    "complex64",
    "",
];

/// A file made of choices.
pub(super) fn file(feed: &mut Feed<'_>) -> Vec<u8> {
    static KINDS: LazyLock<Vec<(&str, Vec<Tensor>)>> = LazyLock::new(kinds);
    let mut tensors = KINDS[feed.below(KINDS.len())].1.clone();
    // A few of them: a tensor that is shared is the first.
    let count = 1 + feed.below(4);
    let skipped = feed.below(tensors.len().max(1));
    if tensors.iter().all(|tensor| matches!(tensor.place, BlobPlace::Next(_))) {
        tensors.drain(..skipped);
    }
    tensors.truncate(count);
    for _ in 0..feed.below(4) {
        if tensors.is_empty() {
            break;
        }
        let at = feed.below(tensors.len());
        change(&mut tensors[at], feed);
    }
    let (mut bytes, index_start) = assemble(&tensors);
    match feed.below(6) {
        0 => bytes.truncate(index_start + feed.wide() % (bytes.len() - index_start)),
        // A second index behind the first one, as of a file that was appended to.
        1 => {
            let index = bytes[index_start..bytes.len() - 8].to_vec();
            bytes.extend_from_slice(&index);
            bytes.extend((index.len() as u64).to_le_bytes());
        }
        2 => {
            let at = feed.wide() % bytes.len();
            bytes[at] ^= 1 << feed.below(8);
        }
        _ => {}
    }
    bytes
}

fn change(tensor: &mut Tensor, feed: &mut Feed<'_>) {
    let key = KEYS[feed.below(KEYS.len())];
    match feed.below(8) {
        0 => {
            let at = feed.wide() % tensor.blob.len().max(1);
            if let Some(byte) = tensor.blob.get_mut(at) {
                *byte ^= 1 << feed.below(8);
            }
        }
        1 => tensor.blob.truncate(feed.wide() % (tensor.blob.len() + 1)),
        2 => tensor.place = BlobPlace::Next([64, 64, 1, 128][feed.below(4)]),
        3 => tensor.seal = [Seal::None, Seal::Crc32c, Seal::Sha256][feed.below(3)],
        4 => *tensor = tensor.clone().without(key),
        5 => {
            let twice = (text(key), item(feed));
            tensor.fields.push(twice);
        }
        _ => *tensor = tensor.clone().with(key, item(feed)),
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
        4 => array(&[uints(&[number(feed), number(feed)]), uints(&[number(feed), number(feed)])]),
        _ => {
            let items = odd_items();
            items[feed.below(items.len())].clone()
        }
    }
}

fn number(feed: &mut Feed<'_>) -> u64 {
    let small = feed.below(256) as u64;
    match feed.below(6) {
        0 => 64 * small,
        1 => 1 << (small % 64),
        2 => (1_u64 << (small % 64)).wrapping_neg(),
        3 => u64::MAX - small,
        _ => small % 16,
    }
}

/// Bytes that a file is made of, and that are none themselves.
pub(in super::super) fn seed(nth: u64) -> Vec<u8> {
    let mut bytes = noise(nth, 48);
    bytes[0] = u8::try_from(nth % 64).unwrap();
    bytes
}
