//! Changes that nothing guides.

use crate::values::Seeded;

/// Numbers at which sizes, counts and signs turn over.
const EDGES: [u64; 12] =
    [0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 32, i64::MAX as u64, u64::MAX];

/// No mutant is longer.
const LEN_MAX: usize = 8192;

/// One of the files with a few changes.
///
/// # Panics
///
/// Panics when there are no files.
#[must_use]
pub fn mutant(files: &[Vec<u8>], seeded: &mut Seeded) -> Vec<u8> {
    let mut bytes = files[seeded.index(files.len())].clone();
    for _ in 0..1 + seeded.index(5) {
        change(&mut bytes, files, seeded);
    }
    bytes.truncate(LEN_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, files: &[Vec<u8>], seeded: &mut Seeded) {
    let at = seeded.index(bytes.len() + 1);
    let room = bytes.len() - at;
    let len = seeded.index(16).min(room);
    match seeded.below(9) {
        0 if room > 0 => bytes[at] ^= 1 << seeded.below(8),
        1 if room > 0 => bytes[at] = seeded.bits() as u8,
        2 | 3 => {
            let width = [1, 2, 4, 8][seeded.index(4)].min(room);
            let edge =
                EDGES[seeded.index(EDGES.len())].wrapping_add(seeded.below(3)).wrapping_sub(1);
            bytes[at..at + width].copy_from_slice(&edge.to_le_bytes()[..width]);
        }
        4 => drop(bytes.drain(at..at + len)),
        5 => drop(bytes.splice(at..at, (0..len).map(|_| seeded.bits() as u8))),
        6 if room > len => {
            let to = at + seeded.index(room - len);
            bytes.copy_within(at..at + len, to);
        }
        7 if seeded.below(8) == 0 => bytes.truncate(at),
        _ => {
            let other = &files[seeded.index(files.len())];
            let start = seeded.index(other.len() + 1);
            let len = seeded.index(64).min(other.len() - start).min(room);
            bytes[at..at + len].copy_from_slice(&other[start..start + len]);
        }
    }
}
