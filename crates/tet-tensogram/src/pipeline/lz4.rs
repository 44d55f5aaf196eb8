//! lz4: the raw length as a little-endian `u32`, and one block.

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

/// Appends the payload of bytes.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let why = "lz4 takes no more than 4 GiB";
    let len = u32::try_from(bytes.len()).map_err(|_| Error::Unwritable { why })?;
    out.extend(len.to_le_bytes());
    let start = out.len();
    let room = lz4_flex::block::get_maximum_output_size(bytes.len());
    out.try_reserve_exact(room).map_err(|_| Error::Memory { len: room as u64 })?;
    out.resize(start + room, 0);
    let place = out.get_mut(start..).unwrap_or_default();
    // The room is for what compresses worst.
    let len = lz4_flex::block::compress_into(bytes, place);
    let len = len.map_err(|_| Error::Memory { len: room as u64 })?;
    out.truncate(start + len);
    Ok(())
}
