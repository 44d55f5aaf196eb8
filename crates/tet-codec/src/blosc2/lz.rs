//! BloscLZ: literal bytes, and matches in what was decoded before.
//!
//! ```text
//!   000nnnnn                    n + 1 bytes follow
//!   lllddddd [l ...] d [d d]    l + 2 bytes from d + 1 bytes back; l of 7 goes on in bytes of 255
//! ```
//!
//! The top bits of the first byte of a stream have no meaning. After a distance of 8191 follow 16
//! more bits.

use crate::filter::repeat;

/// The distance that is followed by 16 more bits.
const FAR: usize = 8191;
const LITERALS: u8 = 32;

/// Decodes a stream into exactly `out`.
pub(crate) fn decode(stored: &[u8], out: &mut [u8]) -> Option<()> {
    let (first, mut rest) = stored.split_first()?;
    let (mut token, mut at) = (first & (LITERALS - 1), 0_usize);
    loop {
        if token < LITERALS {
            let (bytes, after) = rest.split_at_checked(usize::from(token) + 1)?;
            out.get_mut(at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
            at += bytes.len();
            rest = after;
        } else {
            let (len, distance) = matched(token, &mut rest)?;
            repeat(out, at, len, distance)?;
            at += len;
        }
        match rest.split_first() {
            Some((next, after)) => (token, rest) = (*next, after),
            None => return (at == out.len()).then_some(()),
        }
    }
}

/// The length and the distance of a match.
fn matched(token: u8, rest: &mut &[u8]) -> Option<(usize, usize)> {
    let mut next = || {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        Some(usize::from(*byte))
    };
    let mut len = usize::from(token >> 5);
    if len == 7 {
        loop {
            let more = next()?;
            len = len.checked_add(more)?;
            if more != 255 {
                break;
            }
        }
    }
    let mut distance = usize::from(token & (LITERALS - 1)) << 8 | next()?;
    if distance == FAR {
        distance += next()? << 8 | next()?;
    }
    Some((len.checked_add(2)?, distance + 1))
}
