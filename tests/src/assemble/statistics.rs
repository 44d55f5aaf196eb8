//! Statistics of a dataset, by `docs/spec/format.md` section 6.3.

use super::{Assembled, Dataset, Sheet, push_u32, push_u64, resealed};
use crate::values::{infinity, magnitude, rank};

/// The block of statistics of a dataset, element by element.
#[must_use]
pub fn block(dataset: &Dataset) -> Vec<u8> {
    let chunks = dataset.chunks();
    let mut out = b"TSTA".to_vec();
    push_u32(&mut out, 1);
    push_u64(&mut out, chunks.len() as u64);
    for (_, elements) in chunks {
        record(dataset, &elements, &mut out);
    }
    out
}

fn record(dataset: &Dataset, elements: &[u8], out: &mut Vec<u8>) {
    let (tag, len) = (dataset.tag, dataset.element_len);
    let bits = |element: &[u8]| {
        let mut bits = [0; 8];
        bits[..element.len()].copy_from_slice(element);
        u64::from_le_bytes(bits)
    };
    let elements = elements.chunks(usize::try_from(len).unwrap()).map(bits);
    let is_nan = |&bits: &u64| infinity(tag).is_some_and(|end| end < magnitude(len, bits));
    let (nan, values): (Vec<u64>, Vec<u64>) = elements.partition(is_nan);
    let ranks = || values.iter().map(|&bits| (rank(tag, len, bits), bits));
    push_u64(out, ranks().min().map_or(0, |(_, bits)| bits));
    push_u64(out, ranks().max().map_or(0, |(_, bits)| bits));
    let Some(infinity) = infinity(tag) else {
        return out.extend(ranks().map(|(rank, _)| rank).sum::<i128>().to_le_bytes());
    };
    let infinite = values.iter().filter(|&&bits| magnitude(len, bits) == infinity);
    push_u64(out, nan.len() as u64);
    push_u64(out, infinite.count() as u64);
}

/// A file with digests and a block of statistics that is not bound to its payloads yet.
#[must_use]
pub fn unbound(dataset: &Dataset, block: &[u8]) -> Assembled {
    let zeros = "0".repeat(24);
    let json = format!(r#"{{"statistics":{{"v":1,"offset":@0@,"len":#0#,"chunks":"{zeros}"}}}}"#);
    Sheet::new(std::slice::from_ref(dataset)).footer_of(1, &json, &[block]).sealed().assemble()
}

/// This file, its statistics bound to its payloads.
#[must_use]
pub fn bound(file: &Assembled) -> Vec<u8> {
    let at = |at: u64| usize::try_from(at).unwrap();
    let json = str::from_utf8(&file.bytes[at(file.marks.json)..at(file.marks.tail)]).unwrap();
    let chunks = json.rfind("\"chunks\":\"").unwrap() + 10;
    let json = json.replacen(&"0".repeat(24), &json[chunks..chunks + 24], 1);
    resealed(&file.bytes, file.marks.json, &json)
}
