//! Files assembled by hand, for the tests of this crate.

use std::vec::Vec;

/// A directory record, valid or not.
pub(crate) fn record(name: &str, dtype: u32, shape: &[u64], chunk_shape: &[u64]) -> Vec<u8> {
    let words = [u32::try_from(name.len()).unwrap(), dtype, u32::try_from(shape.len()).unwrap(), 0];
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(name.as_bytes());
    while !bytes.len().is_multiple_of(8) {
        bytes.push(0);
    }
    bytes.extend(shape.iter().chain(chunk_shape).flat_map(|extent| extent.to_le_bytes()));
    bytes
}

/// A directory region of these records: `[32, index_offset)`.
pub(crate) fn directory(records: &[Vec<u8>]) -> Vec<u8> {
    let records = records.concat();
    let mut region = Vec::from((records.len() as u64).to_le_bytes());
    region.extend(records);
    while !region.len().is_multiple_of(8) {
        region.push(0);
    }
    region
}
