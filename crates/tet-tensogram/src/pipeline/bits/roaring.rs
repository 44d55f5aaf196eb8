//! Bits as a set of the positions of ones, in the portable Roaring bitmap format.
//!
//! ```text
//!   12346 | count | keys and sizes | offsets | containers
//!   12347, count - 1 | which are runs | keys and sizes | offsets, if there are 4 or more | containers
//! ```
//!
//! Everything is little-endian. Containers are read in order; their offsets are redundant. The
//! crate `roaring` writes sets; this module reads them, bit by bit into a buffer of known length.

use ::roaring::RoaringBitmap;

use super::set;
use crate::error::{Error, Fault, Result};
use crate::rule;

const COOKIE: u32 = 12_346;
const COOKIE_WITH_RUNS: u32 = 12_347;
/// With runs, fewer containers than this have no offsets.
const OFFSETS_MIN: usize = 4;
/// The most positions in a list container.
const LIST_MAX: u32 = 4096;
/// The length of a bitmap container in bytes.
const BITS_LEN: usize = 8192;

/// Decodes a set into the first `count` bits of `out`; those after them are 0.
pub(crate) fn decode(stored: &[u8], count: u64, out: &mut [u8], at: u64) -> Result<(), Fault> {
    out.fill(0);
    let mut parts = Parts { rest: stored };
    let done = containers(&mut parts, count, out);
    if done.is_some() && parts.rest.is_empty() {
        return Ok(());
    }
    let place = (stored.len() - parts.rest.len()) as u64;
    let (rule, found) = (&rule::BIT_SET, stored.len() as u64);
    Err(Fault { rule, at: at.saturating_add(place), found, wanted: count })
}

/// The unread part of a set.
struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().copied().map(u16::from_le_bytes)
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().copied().map(u32::from_le_bytes)
    }
}

fn containers(parts: &mut Parts<'_>, count: u64, out: &mut [u8]) -> Option<()> {
    let cookie = parts.word()?;
    let mut flags: &[u8] = &[];
    let mut has_offsets = true;
    let len = if cookie & 0xFFFF == COOKIE_WITH_RUNS {
        let len = (cookie >> 16) as usize + 1;
        flags = parts.take(len.div_ceil(8))?;
        has_offsets = OFFSETS_MIN <= len;
        len
    } else if cookie == COOKIE {
        parts.word()? as usize
    } else {
        return None;
    };
    let heads = parts.take(len.checked_mul(4)?)?;
    if has_offsets {
        parts.take(len.checked_mul(4)?)?;
    }
    let mut key_min = 0_u32;
    for (number, [a, b, c, d]) in heads.as_chunks::<4>().0.iter().enumerate() {
        let key = u32::from(u16::from_le_bytes([*a, *b]));
        let size = u32::from(u16::from_le_bytes([*c, *d])) + 1;
        if key < key_min {
            return None;
        }
        key_min = key + 1;
        let base = u64::from(key) << 16;
        let is_runs = flags.get(number / 8).is_some_and(|byte| byte >> (number % 8) & 1 == 1);
        if is_runs {
            runs(parts, base, count, out)?;
        } else if size <= LIST_MAX {
            list(parts, base, size, count, out)?;
        } else {
            bits(parts, base, size, count, out)?;
        }
    }
    Some(())
}

fn runs(parts: &mut Parts<'_>, base: u64, count: u64, out: &mut [u8]) -> Option<()> {
    let run_count = parts.short()?;
    let mut low_min = 0;
    for _ in 0..run_count {
        let (low, more) = (u64::from(parts.short()?), u64::from(parts.short()?));
        let (start, end) = (base + low, base + low + more + 1);
        if low < low_min || 1 << 16 < low + more + 1 || count < end {
            return None;
        }
        low_min = low + more + 1;
        set(out, start, end);
    }
    Some(())
}

fn list(parts: &mut Parts<'_>, base: u64, size: u32, count: u64, out: &mut [u8]) -> Option<()> {
    let places = parts.take(size as usize * 2)?;
    let mut low_min = 0;
    for low in places.as_chunks().0 {
        let low = u64::from(u16::from_le_bytes(*low));
        if low < low_min || count <= base + low {
            return None;
        }
        low_min = low + 1;
        set(out, base + low, base + low + 1);
    }
    Some(())
}

/// A bitmap container, the lowest bit of each byte first.
fn bits(parts: &mut Parts<'_>, base: u64, size: u32, count: u64, out: &mut [u8]) -> Option<()> {
    let bytes = parts.take(BITS_LEN)?;
    let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    let last = bytes.iter().rposition(|byte| *byte != 0)?;
    let in_last = u64::from(7 - bytes.get(last)?.leading_zeros());
    if ones != size || count <= base + last as u64 * 8 + in_last {
        return None;
    }
    let places = out.get_mut(crate::pipeline::index(base / 8)..)?;
    for (place, byte) in places.iter_mut().zip(bytes) {
        *place = byte.reverse_bits();
    }
    Some(())
}

/// Appends the set of the positions of ones among the first `count` bits, in its smallest form.
pub(crate) fn encode(bits: &[u8], count: u64, out: &mut Vec<u8>) -> Result<()> {
    let why = "roaring has places for less than 2^32 elements";
    if 1 << 32 <= count {
        return Err(Error::Unwritable { why });
    }
    let mut turned: Vec<u8> = bits.iter().map(|byte| byte.reverse_bits()).collect();
    let whole = crate::pipeline::index(count / 8);
    if let Some(last) = turned.get_mut(whole) {
        *last &= !(0xFF << (count % 8));
    }
    turned.truncate(crate::pipeline::index(count.div_ceil(8)));
    let mut set = RoaringBitmap::from_lsb0_bytes(0, &turned);
    set.optimize();
    let memory = |_| Error::Memory { len: set.serialized_size() as u64 };
    set.serialize_into(out).map_err(memory)
}
