//! Filters: blocks whose bytes or bits were grouped by their position in the element.

use crate::shuffle;

/// The grouping, with the element size in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// All first bytes, then all second bytes.
    Bytes(u8),
    /// All first bits of the first bytes, then all second bits.
    Bits(u8),
}

impl Order {
    /// Restores a block; both sides have the same length. A remainder that is no whole element (for
    /// bits: fewer than eight elements) is stored unchanged at the end.
    pub(crate) fn undo(self, block: &[u8], out: &mut [u8]) {
        let (size, unit) = match self {
            Order::Bytes(size) => (usize::from(size), usize::from(size)),
            Order::Bits(size) => (usize::from(size), usize::from(size) * 8),
        };
        let whole = out.len() - out.len().checked_rem(unit).unwrap_or(0);
        let (Some((block, behind)), Some((out, rest))) =
            (block.split_at_checked(whole), out.split_at_mut_checked(whole))
        else {
            return;
        };
        match self {
            Order::Bytes(_) => shuffle::inverse(block, size as u64, out),
            Order::Bits(_) => bits(block, size, out),
        }
        if rest.len() == behind.len() {
            rest.copy_from_slice(behind);
        }
    }
}

/// Transposes rows of bits, the lowest first: eight rows hold one byte of all elements.
fn bits(block: &[u8], size: usize, out: &mut [u8]) {
    let Some(row_len) = block.len().checked_div(size * 8).filter(|len| *len != 0) else { return };
    for (at, rows) in block.chunks_exact(row_len * 8).enumerate() {
        for (group, elements) in out.chunks_exact_mut(size * 8).enumerate() {
            let mut eight = [0; 8];
            for (byte, row) in eight.iter_mut().zip(rows.chunks_exact(row_len)) {
                *byte = row.get(group).copied().unwrap_or_default();
            }
            let bytes = transposed(u64::from_le_bytes(eight)).to_le_bytes();
            for (element, byte) in elements.chunks_exact_mut(size).zip(bytes) {
                if let Some(place) = element.get_mut(at) {
                    *place = byte;
                }
            }
        }
    }
}

/// Transposes 8 bytes: bit k of byte n becomes bit n of byte k.
const fn transposed(mut bits: u64) -> u64 {
    let near = (bits ^ bits >> 7) & 0x00AA_00AA_00AA_00AA;
    bits ^= near ^ near << 7;
    let next = (bits ^ bits >> 14) & 0x0000_CCCC_0000_CCCC;
    bits ^= next ^ next << 14;
    let far = (bits ^ bits >> 28) & 0x0000_0000_F0F0_F0F0;
    bits ^ far ^ far << 28
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_gathered_by_their_place_in_the_element() {
        for size in [1_usize, 2, 4, 5, 8] {
            for len in [0, 1, 7, 8 * size, 40 * size, 40 * size + size, 43 * size + size / 2] {
                let block: Vec<u8> = (0..len).map(|at| (at * 73 + at / 7) as u8).collect();
                let mut out = vec![0; len];
                Order::Bits(size as u8).undo(&block, &mut out);
                let whole = len - len % (8 * size);
                let count = whole / size;
                for element in 0..count {
                    for bit in 0..8 * size {
                        let at = bit * count / 8 + element / 8;
                        let wanted = block[at] >> (element % 8) & 1;
                        let found = out[element * size + bit / 8] >> (bit % 8) & 1;
                        assert_eq!(found, wanted, "{size} {len} {element} {bit}");
                    }
                }
                assert_eq!(out[whole..], block[whole..]);
            }
        }
    }
}
