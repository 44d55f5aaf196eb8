//! The blob of a sparse tensor in memory: decoded, in little-endian order.

use tet_codec::{Decode, Scanned, WINDOW_LOG_MAX, Zstd, ZstdScan};
use tet_io::Source;

use super::check_len;
use crate::error::Result;
use crate::frames;
use crate::limits::Limits;
use crate::stored::{Check, Sound, compare, order, with_stored, zeroed};
use crate::words::Encoding;

pub(super) fn read(
    source: &Source,
    sound: &Sound<'_>,
    limits: &Limits,
    check: Check,
    check_fit: impl Fn(u64) -> Result<()>,
) -> Result<Vec<u8>> {
    if sound.encoding == Encoding::Raw {
        check_fit(sound.stored.len())?;
        let mut bytes = source.read_vec(sound.stored.start(), sound.stored.len())?;
        compare(sound, &bytes, check)?;
        // Old programs swap the bytes of the whole blob, positions too.
        order(sound, &mut bytes);
        return Ok(bytes);
    }
    let frames = frames::frames(source, sound.stored, None)?;
    with_stored(source, sound.stored, |stored| {
        compare(sound, stored, check)?;
        let codec = |fault| sound.codec(sound.stored.start(), fault);
        let len = match frames {
            Some(frames) => frames.decoded_len(),
            None => scan(stored, limits.sparse_len_max).map_err(codec)?.decoded_len,
        };
        check_len(&sound.tensor, limits.sparse_len_max, len)?;
        check_fit(len)?;
        Zstd.check_len(stored.len() as u64, len).map_err(codec)?;
        let mut bytes = zeroed(len)?;
        Zstd.decode(stored, &mut bytes).map_err(codec)?;
        Ok(bytes)
    })
}

/// Decodes only to count the output bytes.
fn scan(stored: &[u8], decoded_max: u64) -> tet_codec::Result<Scanned> {
    let mut scan = ZstdScan::new()?;
    scan.begin(decoded_max.saturating_add(1), WINDOW_LOG_MAX)?;
    scan.update(stored)?;
    scan.finish()
}
