//! Some elements of a dense tensor.

use std::ops::Range;

use tet_io::Source;

use super::{Sound, dense, with_stored, zeroed};
use crate::error::Result;
use crate::frames::{self, Frame};

/// Reads raw elements.
pub(super) fn raw(
    source: &Source,
    sound: &Sound<'_>,
    bytes: Range<u64>,
    out: &mut [u8],
) -> Result<()> {
    source.read_exact_at(sound.stored.start().saturating_add(bytes.start), out)?;
    dense::order(sound, out);
    Ok(())
}

/// Decodes the frames that hold the elements, or all of the blob where nobody can tell which do.
pub(super) fn zstd(
    source: &Source,
    sound: &Sound<'_>,
    bytes: Range<u64>,
    out: &mut [u8],
) -> Result<()> {
    let len = sound.decoded_len;
    let frames = frames::frames(source, sound.stored, Some(len))?;
    let whole = [Frame { stored: sound.stored, decoded: 0..len }];
    let covering = match &frames {
        Some(frames) => frames.covering(bytes.clone()),
        None => &whole,
    };
    for frame in covering {
        one(source, sound, frame, &bytes, out)?;
    }
    Ok(())
}

/// Decodes a frame, and takes of it what is asked for.
fn one(
    source: &Source,
    sound: &Sound<'_>,
    frame: &Frame,
    bytes: &Range<u64>,
    out: &mut [u8],
) -> Result<()> {
    let decoded = &frame.decoded;
    let (start, end) = (decoded.start.max(bytes.start), decoded.end.min(bytes.end));
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let mine = out.get_mut(index(start - bytes.start)..index(end - bytes.start));
    let mine = mine.unwrap_or_default();
    with_stored(source, frame.stored, |stored| {
        if *decoded == (start..end) {
            return dense::decode(sound, frame.stored, stored, mine);
        }
        let mut all = zeroed(decoded.end - decoded.start)?;
        dense::decode(sound, frame.stored, stored, &mut all)?;
        let wanted = all.get(index(start - decoded.start)..index(end - decoded.start));
        mine.copy_from_slice(wanted.unwrap_or_default());
        Ok(())
    })
}
