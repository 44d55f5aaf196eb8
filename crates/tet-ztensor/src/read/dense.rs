//! Reads all elements of a dense tensor.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tet_codec::{Decode, Zstd};
use tet_format::Span;
use tet_io::Source;

use crate::error::Result;
use crate::frames::{self, Frame};
use crate::stored::{Check, Sound, begin, compare, end, order, with_stored};

/// Bytes that are read and compared while they are in the nearest caches.
const PIECE_LEN: usize = 256 << 10;
/// The longest tensor that is decoded on one thread.
const ALONE_LEN_MAX: u64 = 1 << 20;

/// Reads raw elements.
pub(super) fn raw(source: &Source, sound: &Sound<'_>, out: &mut [u8], check: Check) -> Result<()> {
    let mut comparison = begin(sound, check);
    let mut at = sound.stored.start();
    let piece_len = if comparison.is_some() { PIECE_LEN } else { usize::MAX };
    for piece in out.chunks_mut(piece_len) {
        source.read_exact_at(at, piece)?;
        at = at.saturating_add(piece.len() as u64);
        if let Some(comparison) = &mut comparison {
            comparison.update(piece);
        }
    }
    end(sound, comparison)?;
    order(sound, out);
    Ok(())
}

/// Decodes zstd frames: independently and on several threads if the frames are known.
pub(super) fn zstd(source: &Source, sound: &Sound<'_>, out: &mut [u8], check: Check) -> Result<()> {
    let frames = match sound.decoded_len {
        ..ALONE_LEN_MAX => None,
        len => frames::frames(source, sound.stored, Some(len))?,
    };
    with_stored(source, sound.stored, |stored| {
        compare(sound, stored, check)?;
        match frames.filter(|frames| frames.list().len() > 1) {
            Some(frames) => together(sound, stored, frames.list(), out),
            None => decode(sound, sound.stored, stored, out),
        }
    })
}

/// Decodes a span of whole frames.
pub(super) fn decode(sound: &Sound<'_>, at: Span, stored: &[u8], out: &mut [u8]) -> Result<()> {
    Zstd.decode(stored, out).map_err(|fault| sound.codec(at.start(), fault))
}

/// Decodes frames on several threads; returns the error that is first in the file.
fn together(sound: &Sound<'_>, stored: &[u8], frames: &[Frame], out: &mut [u8]) -> Result<()> {
    let mut tasks = Vec::with_capacity(frames.len());
    let mut rest = out;
    for frame in frames {
        let len = usize::try_from(frame.decoded.end - frame.decoded.start).unwrap_or(usize::MAX);
        // The frames decode to the length of the tensor, which is that of the buffer.
        let Some((mine, after)) = rest.split_at_mut_checked(len) else { break };
        rest = after;
        let place = |at: u64| usize::try_from(at - sound.stored.start()).unwrap_or(usize::MAX);
        let bytes = stored.get(place(frame.stored.start())..place(frame.stored.end()));
        tasks.push((frame.stored, bytes.unwrap_or_default(), mine));
    }
    let decode = |(at, bytes, out)| decode(sound, at, bytes, out);
    tet_report::ensure_threads();
    let done: Vec<Result<()>> = tasks.into_par_iter().map(decode).collect();
    done.into_iter().collect()
}
