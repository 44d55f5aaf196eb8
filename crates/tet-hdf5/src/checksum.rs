//! The checksum of metadata: Bob Jenkins' lookup3 (HDF5 File Format Specification, appendix A), over
//! bytes in little-endian words, with the initial value 0.

/// The checksum of these bytes.
pub(crate) fn lookup3(bytes: &[u8]) -> u32 {
    // The initial state depends on the length modulo 2^32.
    #[allow(clippy::cast_possible_truncation, reason = "the algorithm takes 32 bits of the length")]
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<12>()
        && !after.is_empty()
    {
        add(&mut state, block);
        mix(&mut state);
        rest = after;
    }
    if rest.is_empty() {
        return state[2];
    }
    let mut last = [0; 12];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    add(&mut state, &last);
    finish(&mut state);
    state[2]
}

fn add(state: &mut [u32; 3], block: &[u8; 12]) {
    for (word, bytes) in state.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    fn step(x: &mut u32, y: &mut u32, z: u32, turn: u32) {
        // x, y and z change places from step to step: y is read, then z is added to it.
        *x = x.wrapping_sub(*y) ^ y.rotate_left(turn);
        *y = y.wrapping_add(z);
    }
    step(a, c, *b, 4);
    step(b, a, *c, 6);
    step(c, b, *a, 8);
    step(a, c, *b, 16);
    step(b, a, *c, 19);
    step(c, b, *a, 4);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, turn: u32| {
        *x ^= y;
        *x = x.wrapping_sub(y.rotate_left(turn));
    };
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
