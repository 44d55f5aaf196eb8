//! Shuffled bytes: all first bytes of the elements, then all second bytes, and so on.
//!
//! ```
//! let mut out = [0; 6];
//! tet_codec::shuffle::inverse(&[1, 2, 3, 11, 12, 13], 2, &mut out);
//! assert_eq!(out, [1, 11, 2, 12, 3, 13]);
//! ```

use multiversion::multiversion;

use crate::scratch::index;

/// Elements that are unshuffled at a time, so that all their bytes stay in the L1 cache.
const BLOCK: usize = 512;

/// Unshuffles elements of `size` bytes; both sides have the same length, a multiple of `size`.
pub fn inverse(planes: &[u8], size: u64, out: &mut [u8]) {
    let size = index(size);
    let count = planes.len().checked_div(size).unwrap_or(0);
    if count == 0 || planes.len() != out.len() {
        return;
    }
    if matches!(size, 2 | 4 | 8) {
        let mut places = [&planes[..0]; 8];
        places.iter_mut().zip(planes.chunks_exact(count)).for_each(|(to, plane)| *to = plane);
        return gather(places, size, out);
    }
    if size == 1 {
        return out.copy_from_slice(planes);
    }
    for (number, out) in out.chunks_mut(size * BLOCK).enumerate() {
        let start = number * BLOCK;
        for (at, plane) in planes.chunks_exact(count).enumerate() {
            let bytes = plane.get(start..).unwrap_or_default();
            let elements = out.chunks_exact_mut(size);
            for (element, byte) in elements.zip(bytes) {
                if let Some(place) = element.get_mut(at) {
                    *place = *byte;
                }
            }
        }
    }
}

/// Interleaves 2, 4 or 8 separate planes.
pub fn gather(planes: [&[u8]; 8], size: usize, out: &mut [u8]) {
    let [a, b, c, d, e, f, g, h] = planes;
    match size {
        2 => two([a, b], out),
        4 => four([a, b, c, d], out),
        _ => eight([a, b, c, d], [e, f, g, h], out),
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn two([a, b]: [&[u8]; 2], out: &mut [u8]) {
    for (out, (a, b)) in out.as_chunks_mut().0.iter_mut().zip(a.iter().zip(b)) {
        *out = [*a, *b];
    }
}

/// Combined as integers, which processors can vectorize.
#[multiversion(targets("x86_64+avx+avx2"))]
fn four([a, b, c, d]: [&[u8]; 4], out: &mut [u8]) {
    let planes = a.iter().zip(b).zip(c.iter().zip(d));
    for (out, ((a, b), (c, d))) in out.as_chunks_mut().0.iter_mut().zip(planes) {
        let low = u32::from(*a) | u32::from(*b) << 8;
        let high = u32::from(*c) | u32::from(*d) << 8;
        *out = (low | high << 16).to_le_bytes();
    }
}

/// Combines two halves of each element, block by block, then the elements.
#[multiversion(targets("x86_64+avx+avx2"))]
fn eight([a, b, c, d]: [&[u8]; 4], [e, f, g, h]: [&[u8]; 4], out: &mut [u8]) {
    let mut halves = [[0; 4 * BLOCK]; 2];
    for (number, out) in out.chunks_mut(8 * BLOCK).enumerate() {
        let start = number * BLOCK;
        let block = |plane: &'_ [u8]| start..plane.len().min(start + BLOCK);
        let block = |plane| <[u8]>::get(plane, block(plane)).unwrap_or_default();
        let [low, high] = &mut halves;
        four([a, b, c, d].map(block), low);
        four([e, f, g, h].map(block), high);
        let halves = low.as_chunks().0.iter().zip(high.as_chunks().0);
        for (out, (low, high)) in out.as_chunks_mut().0.iter_mut().zip(halves) {
            let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
            *out = (u64::from(low) | u64::from(high) << 32).to_le_bytes();
        }
    }
}

/// Shuffles the bytes of elements of `size` bytes; both sides have the same length.
pub fn forward(elements: &[u8], size: u64, out: &mut [u8]) {
    let size = index(size);
    let count = elements.len().checked_div(size).unwrap_or(0);
    if count == 0 || elements.len() != out.len() {
        return;
    }
    for (number, elements) in elements.chunks(size * BLOCK).enumerate() {
        let start = number * BLOCK;
        for (at, plane) in out.chunks_exact_mut(count).enumerate() {
            let end = (start + BLOCK).min(count);
            pick(elements, size, at, plane.get_mut(start..end).unwrap_or_default());
        }
    }
}

/// The part of the output of [`forward`] from `start` on; the elements must be whole.
pub fn part(elements: &[u8], size: usize, start: usize, out: &mut [u8]) {
    let count = elements.len().checked_div(size).unwrap_or(0);
    let (mut start, mut rest) = (start, out);
    while count != 0 && !rest.is_empty() {
        let (at, first) = (start / count, start % count);
        let len = rest.len().min(count - first);
        let (mine, after) = rest.split_at_mut(len);
        pick(elements.get(first * size..).unwrap_or_default(), size, at, mine);
        (start, rest) = (start + len, after);
    }
}

/// The bytes at one position of elements. Shifts integers, which processors can vectorize.
#[multiversion(targets("x86_64+avx+avx2"))]
fn pick(elements: &[u8], size: usize, at: usize, out: &mut [u8]) {
    let shift = u32::try_from(at).map_or(0, |at| at * 8);
    match size {
        2 => each(elements, out, |it| (u16::from_le_bytes(it) >> shift).to_le_bytes()[0]),
        4 => each(elements, out, |it| (u32::from_le_bytes(it) >> shift).to_le_bytes()[0]),
        8 => each(elements, out, |it| (u64::from_le_bytes(it) >> shift).to_le_bytes()[0]),
        _ => {
            for (byte, element) in out.iter_mut().zip(elements.chunks_exact(size)) {
                *byte = element.get(at).copied().unwrap_or_default();
            }
        }
    }
}

#[inline(always)]
fn each<const SIZE: usize>(elements: &[u8], out: &mut [u8], byte: impl Fn([u8; SIZE]) -> u8) {
    for (out, element) in out.iter_mut().zip(elements.as_chunks::<SIZE>().0) {
        *out = byte(*element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_gathered_by_their_place_in_the_element() {
        for size in [1_usize, 2, 3, 4, 5, 8, 16, 1000] {
            for count in [0_usize, 1, 2, 7, 511, 512, 513, 1300] {
                let planes: Vec<u8> =
                    (0..size * count).map(|at| (at * 7 + at / 251) as u8).collect();
                let mut out = vec![0; planes.len()];
                inverse(&planes, size as u64, &mut out);
                for at in 0..planes.len() {
                    assert_eq!(
                        out[at],
                        planes[at % size * count + at / size],
                        "{size} {count} {at}"
                    );
                }
                let mut back = vec![0; planes.len()];
                forward(&out, size as u64, &mut back);
                assert_eq!(back, planes);
                for start in [0, planes.len() / 3, planes.len() / 2] {
                    let mut some = vec![0; planes.len() / 2];
                    part(&out, size, start, &mut some);
                    assert!(some == planes[start..start + some.len()]);
                }
            }
        }
    }
}
