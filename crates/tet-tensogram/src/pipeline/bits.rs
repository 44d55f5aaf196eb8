//! Packed bits, the highest first: encoded as runs, or as a set of the positions of ones.
//!
//! ```text
//!   runs: first bit | length | length | ...          lengths of alternating bits, in 7 bits a byte
//!   set:  header | containers of 65536 places each   the portable form of Roaring bitmaps
//! ```
//!
//! In a bitmask the number of bits precedes them; in a mask it does not.

mod roaring;
mod runs;

pub(crate) use roaring::{decode as roaring_decode, encode as roaring_encode};
pub(crate) use runs::{decode as rle_decode, encode as rle_encode};

use crate::error::{Error, Fault, Result};
use crate::rule;

/// Removes the bit count from the payload of a bitmask: it must be that of `len` whole bytes.
pub(super) fn strip_count(payload: &[u8], len: usize, at: u64) -> Result<&[u8], Fault> {
    let wanted = (len as u64).saturating_mul(8);
    let rule = &rule::BIT_COUNT;
    let Some((stated, rest)) = payload.split_first_chunk() else {
        return Err(Fault { rule, at, found: payload.len() as u64, wanted });
    };
    let found = u64::from(u32::from_le_bytes(*stated).swap_bytes());
    if found != wanted {
        return Err(Fault { rule, at, found, wanted });
    }
    Ok(rest)
}

/// Appends the bit count of `len` bytes.
pub(crate) fn push_count(len: usize, out: &mut Vec<u8>) -> Result<()> {
    let bits = (len as u64).checked_mul(8).and_then(|bits| u32::try_from(bits).ok());
    let bits = bits.ok_or(Error::Unwritable { why: "a bitmask has less than 2^32 bits" })?;
    out.extend(bits.swap_bytes().to_le_bytes());
    Ok(())
}

/// Sets the bits of a range, which must be within `out`.
fn set(out: &mut [u8], start: u64, end: u64) {
    if end <= start {
        return;
    }
    let byte = |bit: u64| super::index(bit / 8);
    let head = 0xFF_u8 >> (start % 8);
    let tail = !(0x7F_u8 >> ((end - 1) % 8));
    let (first, last) = (byte(start), byte(end - 1));
    if first == last {
        if let Some(place) = out.get_mut(first) {
            *place |= head & tail;
        }
        return;
    }
    if let Some([first, middle @ .., last]) = out.get_mut(first..=last) {
        *first |= head;
        middle.fill(0xFF);
        *last |= tail;
    }
}

#[cfg(test)]
mod tests;
