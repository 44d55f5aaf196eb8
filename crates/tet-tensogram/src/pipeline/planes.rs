//! Unshuffles zstd frames without holding all of them in memory.
//!
//! ```text
//!   payload:  | frame | frame | frame | frame |     all first bytes, then all second bytes
//!               a       a       b       b           one frame of each is in memory
//! ```

use super::zstd::{Frames, decode};
use super::{buffer, index};
use crate::error::Result;
use tet_codec::shuffle;

/// The bytes at one position of the elements, one frame at a time.
struct Plane {
    /// The position of the next byte in the decoded frames.
    at: u64,
    /// The current frame, and its start and end there.
    bytes: Vec<u8>,
    start: u64,
    end: u64,
}

/// Whether elements of this size can be unshuffled this way, within the memory limit.
pub(super) fn is_apt(frames: &Frames, size: u64, decoded_len: u64) -> bool {
    let held = frames.frame_len().saturating_mul(size);
    matches!(size, 2 | 4 | 8) && held <= decoded_len / 2
}

/// Decodes a payload that starts at `payload_at` into elements of `size` bytes.
pub(super) fn read(
    frames: &Frames,
    payload: &[u8],
    size: u64,
    out: &mut [u8],
    payload_at: u64,
) -> Result<()> {
    let count = (out.len() as u64).checked_div(size).unwrap_or(0);
    let plane = |number| Plane { at: number * count, bytes: Vec::new(), start: 0, end: 0 };
    let mut planes: Vec<Plane> = (0..size).map(plane).collect();
    let mut rest = out;
    let mut left = count;
    while left != 0 {
        let mut step = left;
        for plane in &mut planes {
            if plane.at < plane.start || plane.end <= plane.at {
                plane.load(frames, payload, payload_at)?;
            }
            step = step.min(plane.end.saturating_sub(plane.at));
        }
        if step == 0 {
            // The frames cover all bytes, as was checked when they were planned.
            break;
        }
        let mut parts: [&[u8]; 8] = [&[]; 8];
        for (part, plane) in parts.iter_mut().zip(&planes) {
            let first = index(plane.at - plane.start);
            *part = plane.bytes.get(first..first + index(step)).unwrap_or_default();
        }
        let (mine, after) = rest.split_at_mut(index(step.saturating_mul(size)).min(rest.len()));
        shuffle::gather(parts, index(size), mine);
        planes.iter_mut().for_each(|plane| plane.at += step);
        rest = after;
        left -= step;
    }
    // After the frames only zstd frames without content may follow.
    let behind = payload.get(index(frames.end())..).unwrap_or_default();
    let at = payload_at.saturating_add(frames.end());
    if behind.is_empty() { Ok(()) } else { decode(behind, &mut [], at) }
}

impl Plane {
    fn load(&mut self, frames: &Frames, payload: &[u8], payload_at: u64) -> Result<()> {
        let Some((place, held)) = frames.holding(self.at) else { return Ok(()) };
        let len = held.end.saturating_sub(held.start);
        if self.bytes.len() as u64 != len {
            self.bytes = buffer(len)?;
        }
        let frame = payload.get(index(place.start)..index(place.end)).unwrap_or_default();
        decode(frame, &mut self.bytes, payload_at.saturating_add(place.start))?;
        (self.start, self.end) = (held.start, held.end);
        Ok(())
    }
}
