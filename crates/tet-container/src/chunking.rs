//! The chunk shape of a dataset that comes without one.
//!
//! The rule of `auto`: a chunk is a **slab**, at most 4 MiB decoded.
//!
//! 1. Trailing axes are taken whole while they fit.
//! 2. The first axis that does not fit is cut. The cut is its largest divisor in the upper half
//!    of what fits, so that no chunk is clipped; without such a divisor, the fewest chunks that
//!    fit, as equal as can be.
//! 3. Axes before it have extent 1.
//!
//! Slabs follow one another in the file as rows do in the array: a whole raw dataset is one
//! stream, an import reads its input once and in order, and rows are cheap to read.

use tet_format::Shape;

/// A chunk of `auto` has at most this many decoded bytes, unless one element has more.
pub const AUTO_LEN_MAX: u64 = 4 << 20;

/// The chunk shape of `auto`; every extent is at least 1.
///
/// ```
/// // Of 181 x 360 float32, 16 fit: 365 has no divisor from 8 to 16, 360 has 15.
/// assert_eq!(tet_container::chunking::auto(&[365, 181, 360], 4), [16, 181, 360]);
/// assert_eq!(tet_container::chunking::auto(&[360, 181, 360], 4), [15, 181, 360]);
/// ```
#[must_use]
pub fn auto(shape: &[u64], element_size: u64) -> Vec<u64> {
    slab(shape, (AUTO_LEN_MAX / element_size.max(1)).max(1), cut)
}

/// The chunk shape of an array that is read in place: as [`auto`], but that nothing is clipped is
/// not sought, for nothing is stored by it.
#[must_use]
pub fn in_place(shape: &[u64], element_size: u64) -> Vec<u64> {
    within(shape, element_size, AUTO_LEN_MAX)
}

/// A chunk shape of at most `len_max` decoded bytes.
pub fn within(shape: &[u64], element_size: u64, len_max: u64) -> Vec<u64> {
    slab(shape, (len_max / element_size.max(1)).max(1), |_, room| room)
}

/// The slab of at most `element_count_max` elements; `cut` says how far it goes along the axis that does
/// not fit.
fn slab(shape: &[u64], element_count_max: u64, cut: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    let mut room = element_count_max;
    let mut chunk_shape = vec![1; shape.len()];
    for (axis, &extent) in shape.iter().enumerate().rev() {
        if extent > room {
            chunk_shape[axis] = cut(extent, room);
            break;
        }
        chunk_shape[axis] = extent.max(1);
        room /= extent.max(1);
    }
    chunk_shape
}

/// Sets the extents of a chunk along the axes that are open, so that it has at most this many elements: as
/// [`auto`] does it for all axes.
pub fn filled(shape: &[u64], chunk_shape: &mut [u64], is_open: &[bool], element_count_max: u64) {
    let axes = || chunk_shape.iter().zip(shape).zip(is_open);
    let fixed = axes().filter(|(_, is_open)| !**is_open);
    let fixed = fixed.map(|((&chunk, &extent), _)| chunk.min(extent).max(1));
    let room = (element_count_max / fixed.fold(1, u64::saturating_mul)).max(1);
    let open: Vec<u64> = axes().filter(|(_, is_open)| **is_open).map(|(it, _)| *it.1).collect();
    let mut extents = slab(&open, room, cut).into_iter();
    for (chunk, _) in chunk_shape.iter_mut().zip(is_open).filter(|(_, is_open)| **is_open) {
        *chunk = extents.next().unwrap_or(1);
    }
}

/// The shape of the slabs of an array that are `len` bytes long.
pub fn of_len(shape: &[u64], element_size: u64, len: u64) -> Option<Shape> {
    for axis in 0..shape.len() {
        let inner = shape[axis + 1..].iter().try_fold(element_size, |a, &b| a.checked_mul(b))?;
        let outer = shape[..axis].iter().try_fold(1_u64, |a, &b| a.checked_mul(b))?;
        if inner == 0 || !len.is_multiple_of(inner) {
            continue;
        }
        let rows = len / inner;
        let fits = rows <= shape[axis] && (outer == 1 || shape[axis].is_multiple_of(rows));
        if fits {
            let head = shape[..axis].iter().map(|_| 1);
            return Some(head.chain([rows]).chain(shape[axis + 1..].iter().copied()).collect());
        }
    }
    None
}

/// How far one chunk goes along an axis of `extent` when at most `room` fits; `room < extent`.
fn cut(extent: u64, room: u64) -> u64 {
    let divisor = (room.div_ceil(2)..=room).rev().find(|&divisor| extent.is_multiple_of(divisor));
    divisor.unwrap_or_else(|| extent.div_ceil(extent.div_ceil(room)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(shape: &[u64]) -> u64 {
        shape.iter().product()
    }

    /// States the rule in its own words: by trying all chunk shapes of a small world.
    fn check(shape: &[u64], room: u64) {
        let chunk = slab(shape, room, cut);
        let what = format!("{shape:?} in {room}: {chunk:?}");
        assert_eq!(chunk.len(), shape.len(), "{what}");
        assert!(product(&chunk) <= room, "fits: {what}");
        assert!(chunk.iter().zip(shape).all(|(c, s)| (1..=*s).contains(c)), "inside: {what}");
        // A slab: ones, then one axis cut, then whole axes.
        let cut_axis = chunk.iter().zip(shape).rposition(|(c, s)| c != s);
        let Some(cut_axis) = cut_axis else { return };
        assert!(chunk[..cut_axis].iter().all(|&c| c == 1), "slab: {what}");
        let inner = product(&shape[cut_axis + 1..]);
        assert!(inner * shape[cut_axis] > room, "whole axes are not cut: {what}");
        let (extent, taken) = (shape[cut_axis], chunk[cut_axis]);
        let most = room / inner;
        assert!(2 * taken >= most, "at least half of what fits: {what}");
        let divisors = (1..=most).filter(|d| 2 * d >= most && extent % d == 0);
        match divisors.max() {
            Some(divisor) => assert_eq!(taken, divisor, "{what}"),
            None => {
                let count = extent.div_ceil(taken);
                assert_eq!(count, extent.div_ceil(most), "the fewest chunks: {what}");
                assert!(extent.div_ceil(count) == taken, "as equal as can be: {what}");
            }
        }
    }

    #[test]
    fn every_small_shape_follows_the_rule() {
        for room in 1..=40 {
            for a in 1..=30 {
                check(&[a], room);
                for b in 1..=12 {
                    check(&[a, b], room);
                    for c in 1..=5 {
                        check(&[a, b, c], room);
                    }
                }
            }
        }
    }

    #[test]
    fn chunks_are_about_four_mebibytes() {
        for (shape, size, chunk) in [
            (&[1_000_000][..], 4, &[1_000_000][..]),
            (&[1 << 30], 4, &[1 << 20]),
            (&[1000, 1000], 8, &[500, 1000]),
            (&[10, 3, 700_000], 4, &[1, 1, 700_000]),
            (&[2, 5_000_000], 1, &[1, 2_500_000]),
            (&[5], 8, &[5]),
        ] {
            assert_eq!(auto(shape, size), chunk, "{shape:?} of {size}");
        }
    }

    #[test]
    fn arrays_in_place_are_cut_into_the_same_slabs_or_longer_ones() {
        let shapes: [&[u64]; 7] =
            [&[], &[0], &[1 << 30], &[1000, 1000], &[10, 3, 700_000], &[u64::MAX, 7], &[5, 0, 3]];
        for shape in shapes {
            let (stored, read) = (auto(shape, 4), in_place(shape, 4));
            let differing = stored.iter().zip(&read).filter(|(a, b)| a != b);
            assert!(differing.clone().count() <= 1, "one axis is cut: {shape:?}");
            assert!(differing.into_iter().all(|(a, b)| a < b && *b <= 2 * *a), "{shape:?}");
            assert!(product(&read) * 4 <= AUTO_LEN_MAX, "{shape:?}");
        }
    }

    #[test]
    fn hostile_extents_neither_overflow_nor_hang() {
        for shape in [&[u64::MAX][..], &[u64::MAX, u64::MAX], &[0, u64::MAX], &[0], &[]] {
            let chunk = auto(shape, 1);
            assert!(chunk.iter().all(|&c| (1..=AUTO_LEN_MAX).contains(&c)), "{shape:?}: {chunk:?}");
        }
    }

    #[test]
    fn slabs_follow_one_another_in_the_array() {
        let of = |shape: &[u64], len| of_len(shape, 4, len).map(|shape| shape.to_vec());
        assert_eq!(of(&[100, 25], 1000), Some(vec![10, 25]));
        assert_eq!(of(&[100, 25], 1100), Some(vec![11, 25]));
        assert_eq!(of(&[100, 25], 50), None);
        assert_eq!(of(&[100, 25], 20), Some(vec![1, 5]));
        assert_eq!(of(&[100, 25], 24), None);
        assert_eq!(of(&[1, 1, 1000], 24), Some(vec![1, 1, 6]));
        assert_eq!(of(&[4, 6, 5], 120), Some(vec![1, 6, 5]));
        assert_eq!(of(&[4, 6, 5], 60), Some(vec![1, 3, 5]));
        assert_eq!(of(&[4, 6, 5], 80), None);
        assert_eq!(of(&[], 4), None);
    }
}
