//! lz4: the raw length as a little-endian `u32`, and one block.

use super::{index, sized};
use crate::error::{Error, Fault, Result};
use crate::rule;

const PREFIX_LEN: u64 = 4;

/// Decodes a payload into exactly `out`.
pub(crate) fn decode(payload: &[u8], out: &mut [u8], at: u64) -> Result<(), Fault> {
    let wanted = out.len() as u64;
    let (stated, block) = match payload.split_first_chunk() {
        Some((stated, block)) => (u32::from_le_bytes(*stated), block),
        None => {
            let (rule, found) = (&rule::LZ4_LEN, payload.len() as u64);
            return Err(Fault { rule, at, found, wanted });
        }
    };
    if u64::from(stated) != wanted {
        return Err(Fault { rule: &rule::LZ4_LEN, at, found: stated.into(), wanted });
    }
    let found = lz4_flex::block::decompress_into(block, out);
    let (rule, at) = (&rule::LZ4_BLOCK, at.saturating_add(PREFIX_LEN));
    match found {
        Ok(found) if found as u64 == wanted => Ok(()),
        Ok(found) => Err(Fault { rule, at, found: found as u64, wanted }),
        Err(_) => Err(Fault { rule, at, found: 0, wanted }),
    }
}

/// Compresses bytes into a payload; `room` is a buffer to reuse.
pub(crate) fn encode(bytes: &[u8], room: Vec<u8>) -> Result<Vec<u8>> {
    let why = "lz4 takes no more than 4 GiB";
    let len = u32::try_from(bytes.len()).map_err(|_| Error::Unwritable { why })?;
    let worst = lz4_flex::block::get_maximum_output_size(bytes.len()) as u64;
    let mut out = sized(room, PREFIX_LEN.saturating_add(worst))?;
    let Some((prefix, block)) = out.split_first_chunk_mut() else { return Ok(out) };
    *prefix = len.to_le_bytes();
    // The buffer is large enough for incompressible data.
    let len = lz4_flex::block::compress_into(bytes, block);
    let len = len.map_err(|_| Error::Memory { len: worst })?;
    out.truncate(index(PREFIX_LEN).saturating_add(len));
    Ok(out)
}
