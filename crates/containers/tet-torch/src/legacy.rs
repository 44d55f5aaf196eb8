//! Checkpoints of before PyTorch 1.6: pickles one after the other, and then the storages.
//!
//! ```text
//!   magic | version | system | what was saved | keys of storages | count, elements | count, elements | ...
//! ```
//!
//! Storages are little-endian, in the order of the list of their keys, and there are no checksums.

use std::collections::{BTreeMap, HashMap};

use tet_format::Span;
use tet_io::Source;

use super::checkpoint::{Checkpoint, Member, PICKLE_LEN_MAX, Stop};
use super::element;
use super::pickle::{self, Pickle, Value};
use tet_container::entry::ByteOrder;
use tet_container::model::dtype::bits_of;

/// The first pickle, by its protocol: the number that all such files begin with. Those of 0 and 1 have it as text, those of 4 and 5 have a
/// frame around it.
pub(super) const MAGICS: [&[u8]; 5] = [
    b"L119547037146038",
    b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
    b"\x80\x03\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
    b"\x80\x04\x95\x0d\0\0\0\0\0\0\0\x8a\x0a\x6c\xfc\x9c",
    b"\x80\x05\x95\x0d\0\0\0\0\0\0\0\x8a\x0a\x6c\xfc\x9c",
];
/// The magics of such files behind another one.
pub(super) const fn magics(first: &'static [u8]) -> [&'static [u8]; 6] {
    let [zero, two, three, four, five] = MAGICS;
    [first, zero, two, three, four, five]
}
/// The pickles before that of what was saved: the magic, the version and the system.
const PICKLES_BEFORE: usize = 3;
/// Bytes of the count before each storage.
const COUNT_LEN: u64 = 8;

/// Reads all but the storages.
pub(super) fn read(source: &Source) -> Result<Checkpoint, Stop> {
    let mut bytes = source.read_vec(0, source.len().min(PICKLE_LEN_MAX))?;
    let mut at = 0;
    for _ in 0..PICKLES_BEFORE {
        let (pickle, end) = pickle::read(bytes, at).map_err(Stop::Fault)?;
        (bytes, at) = (pickle.bytes, end);
    }
    let (pickle, keys_at) = pickle::read(bytes, at).map_err(Stop::Fault)?;
    // Texts of both pickles are ranges of the same bytes.
    let (keys, end) = pickle::read(pickle.bytes.clone(), keys_at).map_err(Stop::Fault)?;
    let sizes = element_sizes(&pickle);
    let mut storages = BTreeMap::new();
    let mut at = u64::try_from(end).unwrap_or(u64::MAX);
    for key in keys.texts() {
        let begin = at.saturating_add(COUNT_LEN);
        let count =
            if begin <= source.len() { source.read_vec(at, COUNT_LEN)? } else { Vec::new() };
        let count = count.first_chunk().copied().map(u64::from_le_bytes);
        let size = sizes.get(key.as_str()).copied().flatten();
        let len = count.zip(size).and_then(|(count, size)| count.checked_mul(size));
        let span = len.and_then(|len| Span::new(begin, len)).filter(|it| it.end() <= source.len());
        let Some(span) = span else {
            // Where the next ones begin is not known.
            break;
        };
        at = span.end();
        storages.insert(key, Some(Member { unpacked: None, span, sealed: None }));
    }
    let (order, members) = (ByteOrder::Little, Vec::new());
    Ok(Checkpoint { pickle, pickle_at: 0, order, storages, constant_count: 0, members })
}

/// The sizes of the elements of all storages, by their keys; `None` for a class that is not known.
fn element_sizes(pickle: &Pickle) -> HashMap<String, Option<u64>> {
    let storages = pickle.values().iter().filter_map(|value| match value {
        Value::Storage(storage) => Some(storage),
        _ => None,
    });
    let sized = storages.map(|storage| {
        let class = pickle.text(&storage.class);
        let size = match class.as_ref() {
            "QInt8Storage" | "QUInt8Storage" => Some(1),
            "QInt32Storage" => Some(4),
            class => element::of_class(class).and_then(bits_of).map(|bits| bits / 8),
        };
        (pickle.text(&storage.key).into_owned(), size)
    });
    sized.collect()
}
