//! PLIO_1: a list of 16-bit instructions that write runs of a value (section 10.4.3 of the standard).
//!
//! ```text
//!   _ | length of the header | negative, or the length | length, low 15 bits | high bits | ... | instructions
//!   instruction: 4 bits of what to do, 12 bits of data; the value begins with 1
//! ```

#![allow(clippy::big_endian_bytes, reason = "the instructions are big-endian")]

use tet_codec::{Error, Result};

pub(super) const NAME: &str = "PLIO_1";

/// The most pixels that an instruction writes.
const RUN_MAX: u64 = 4095;
/// Bits of the data of an instruction.
const DATA_BITS: u32 = 12;

/// The most pixels of `stored_len` bytes.
pub(super) fn count_max(stored_len: u64) -> u64 {
    (stored_len / 2).saturating_mul(RUN_MAX)
}

/// The little-endian pixels of a tile of `count` pixels, of four bytes each. Pixels that no instruction
/// writes are zero.
pub(super) fn decode(stored: &[u8], count: usize) -> Result<Vec<u8>> {
    let (words, rest) = stored.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(corrupt("half an instruction"));
    }
    let words: Vec<i16> = words.iter().map(|word| i16::from_be_bytes(*word)).collect();
    let mut out = Vec::new();
    let len = count.checked_mul(4).ok_or(Error::Memory { codec: NAME })?;
    out.try_reserve_exact(len).map_err(|_| Error::Memory { codec: NAME })?;
    let mut words = instructions(&words)?.iter();
    let mut value = 1_i32;
    while let Some(&word) = words.next() {
        let [high, low] = word.to_be_bytes();
        let data = i32::from(high & 0x0f) << 8 | i32::from(low);
        let code = high >> 4;
        let run = usize::try_from(data).unwrap_or(0);
        match code {
            0 => put(&mut out, len, 0, run)?,
            1 => {
                let high = words.next().ok_or(corrupt("a value is cut short"))?;
                value = i32::from(*high).wrapping_shl(DATA_BITS) | data;
            }
            2 | 6 => value = value.wrapping_add(data),
            3 | 7 => value = value.wrapping_sub(data),
            4 => put(&mut out, len, value, run)?,
            5 => {
                put(&mut out, len, 0, run.saturating_sub(1))?;
                put(&mut out, len, value, run.min(1))?;
            }
            _ => return Err(corrupt("there is no such instruction")),
        }
        if code == 6 || code == 7 {
            put(&mut out, len, value, 1)?;
        }
    }
    out.resize(len, 0);
    Ok(out)
}

/// The instructions behind the header, up to the length that it states.
fn instructions(words: &[i16]) -> Result<&[i16]> {
    let word = |at: usize| words.get(at).copied().ok_or(corrupt("the header is cut short"));
    let (begin, end) = if word(2)? > 0 {
        (3, i64::from(word(2)?))
    } else {
        let begin = usize::try_from(word(1)?).map_err(|_| corrupt("its header has no length"))?;
        (begin, i64::from(word(3)?) | i64::from(word(4)?) << 15)
    };
    let end = usize::try_from(end).map_err(|_| corrupt("it has no length"))?;
    words.get(begin..end).ok_or(corrupt("cut short"))
}

/// Writes a run of a value.
fn put(out: &mut Vec<u8>, len: usize, value: i32, run: usize) -> Result<()> {
    if len.saturating_sub(out.len()) / 4 < run {
        return Err(corrupt("it writes more pixels than the tile has"));
    }
    for _ in 0..run {
        out.extend(value.to_le_bytes());
    }
    Ok(())
}

const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(instructions: &[u16]) -> Vec<u8> {
        let len = u16::try_from(7 + instructions.len()).unwrap();
        let header = [0, 7, 0_u16.wrapping_sub(100), len, 0, 0, 0];
        header.iter().chain(instructions).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn instructions_write_runs() {
        // 2 zeros; the value 4097 + 2; 3 of it; 1 less, once; 2 zeros and 1 value; 1 more, once.
        let stored = list(&[0x0002, 0x1001, 1, 0x2002, 0x4003, 0x7001, 0x5003, 0x6001]);
        let wanted = [0, 0, 4099, 4099, 4099, 4098, 0, 0, 4098, 4099, 0, 0];
        let wanted: Vec<u8> = wanted.iter().flat_map(|it: &i32| it.to_le_bytes()).collect();
        assert_eq!(decode(&stored, 12).unwrap(), wanted);
        assert!(decode(&stored, 9).is_err());
        assert!(decode(&stored[..stored.len() - 2], 12).is_err());
        assert!(decode(&stored[..stored.len() - 1], 12).is_err());
        assert!(decode(&list(&[0x8001]), 12).is_err() && decode(&list(&[0x1001]), 12).is_err());
    }
}
