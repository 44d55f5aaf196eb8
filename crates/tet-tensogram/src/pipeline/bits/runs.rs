//! Bits as run lengths.

use super::set;
use crate::error::Fault;
use crate::rule;

/// Decodes runs into the first `count` bits of `out`; those after them are 0.
pub(crate) fn decode(runs: &[u8], count: u64, out: &mut [u8], at: u64) -> Result<(), Fault> {
    let fault = |place: usize, found: u64| {
        let (rule, at) = (&rule::BIT_RUNS, at.saturating_add(place as u64));
        Err(Fault { rule, at, found, wanted: count })
    };
    out.fill(0);
    let Some((first, mut rest)) = runs.split_first() else {
        return if count == 0 { Ok(()) } else { fault(0, 0) };
    };
    let mut bit = match first {
        0 | 1 => *first,
        _ => return fault(0, u64::from(*first)),
    };
    let mut done = 0_u64;
    while !rest.is_empty() {
        let place = runs.len() - rest.len();
        let Some(len) = length(&mut rest).filter(|len| *len != 0) else {
            return fault(place, done);
        };
        let Some(end) = done.checked_add(len).filter(|end| *end <= count) else {
            return fault(place, done.saturating_add(len));
        };
        if bit == 1 {
            set(out, done, end);
        }
        (done, bit) = (end, 1 - bit);
    }
    if done == count { Ok(()) } else { fault(runs.len(), done) }
}

/// Reads a length: 7 bits per byte, the lowest first; the last byte has its highest bit clear.
fn length(rest: &mut &[u8]) -> Option<u64> {
    let (mut len, mut shift) = (0_u64, 0_u32);
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        let part = u64::from(byte & 0x7F);
        // The shift would silently drop bits.
        if part != 0 && part.leading_zeros() < shift {
            return None;
        }
        len |= part.checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(len);
        }
        shift = shift.saturating_add(7);
        // 64 bits need at most 10 bytes.
        if 63 < shift {
            return None;
        }
    }
}

/// Appends the first `count` bits as runs.
pub(crate) fn encode(bits: &[u8], count: u64, out: &mut Vec<u8>) {
    let first = bits.first().map_or(0, |byte| byte >> 7);
    if count == 0 {
        return;
    }
    out.push(first);
    let (mut bit, mut start) = (first, 0);
    while start < count {
        let end = run_end(bits, start, count, bit);
        let mut len = end - start;
        loop {
            let low = len.to_le_bytes()[0];
            len >>= 7;
            if len == 0 {
                out.push(low & 0x7F);
                break;
            }
            out.push(low | 0x80);
        }
        (bit, start) = (1 - bit, end);
    }
}

/// The end of the run of a bit that starts at `start`.
fn run_end(bits: &[u8], start: u64, count: u64, bit: u8) -> u64 {
    let same = if bit == 1 { 0xFF } else { 0 };
    let mut at = start;
    while at < count {
        // Clears the bits that equal the bit of the run, and those before `at`.
        let byte = bits.get(crate::pipeline::index(at / 8)).copied().unwrap_or_default();
        let other = (byte ^ same) & (0xFF >> (at % 8));
        if other != 0 {
            return (at / 8 * 8 + u64::from(other.leading_zeros())).min(count);
        }
        at = at / 8 * 8 + 8;
    }
    count
}
