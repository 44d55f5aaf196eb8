//! Squares of integers, in planes: plane `k` counts multiples of `2^(32 k)`.
//!
//! ```text
//!   8, 16 bits   square < 2^32    1 plane
//!   32 bits      square < 2^64    2 planes
//!   64 bits      square < 2^128   4 planes, from products of 32-bit halves
//! ```

use multiversion::multiversion;

use crate::element::Element;
use crate::kernel::strip::Strip;

/// Planes of the widest elements.
pub(super) const PLANES_MAX: usize = 4;
/// Elements of a run added in lanes: less than `2^34` each in 64 bits, less than `2^16` in 32.
pub(super) const BLOCK: usize = 1 << 16;
/// Lanes: so many that the compiler keeps each in its place.
const NARROW_LANES: usize = 32;
const HALF_LANES: usize = 16;
const WHOLE_LANES: usize = 8;
/// Elements tried as small ones together.
const TRIAL: usize = 1024;
/// Where squares of 64 bits are cut for two lanes of 64.
const CUT: u32 = 20;
const BELOW_CUT: u64 = (1 << CUT) - 1;

/// What an element adds to each plane, or what some elements add.
pub(in crate::kernel) type Planes = [u64; PLANES_MAX];

/// An integer whose square adds to planes.
pub(in crate::kernel) trait Square: Element {
    /// How many planes its square reaches.
    const PLANES: usize;
    fn magnitude(self) -> u64;
    /// What its square adds to them.
    fn square(self) -> Planes;
    /// The square of one of 32 bits, and some number of any other.
    fn small_square(self) -> u64;
    /// At most 32 bits exactly if it is one of 32 bits.
    fn small_bits(self) -> u64;
    /// What at most [`BLOCK`] elements add.
    fn total(block: &[Self]) -> Planes;
}

macro_rules! square {
    (signed $($type:ty, $planes:literal, $square:ident, $total:ident;)+) => {$(
        impl Square for $type {
            const PLANES: usize = $planes;
            #[inline(always)]
            fn magnitude(self) -> u64 {
                self.unsigned_abs().into()
            }
            #[inline(always)]
            fn square(self) -> Planes {
                $square(self.magnitude())
            }
            #[inline(always)]
            fn small_square(self) -> u64 {
                let low = i64::from(self as i32);
                (low * low) as u64
            }
            #[inline(always)]
            fn small_bits(self) -> u64 {
                (i64::from(self) as u64).wrapping_add(1 << 31)
            }
            fn total(block: &[Self]) -> Planes {
                $total(block)
            }
        }
    )+};
    (unsigned $($type:ty, $planes:literal, $square:ident, $total:ident;)+) => {$(
        impl Square for $type {
            const PLANES: usize = $planes;
            #[inline(always)]
            fn magnitude(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn square(self) -> Planes {
                $square(self.magnitude())
            }
            #[inline(always)]
            fn small_square(self) -> u64 {
                let low = u64::from(self) & HALF;
                low * low
            }
            #[inline(always)]
            fn small_bits(self) -> u64 {
                self.into()
            }
            fn total(block: &[Self]) -> Planes {
                $total(block)
            }
        }
    )+};
}

square! { signed
    i8, 1, square_of_quarter, total_of_quarters;
    i16, 1, square_of_quarter, total_of_pairs;
    i32, 2, square_of_half, total_of_halves;
    i64, 4, square_of_whole, total_of_wholes;
}
square! { unsigned
    u8, 1, square_of_quarter, total_of_quarters;
    u16, 1, square_of_quarter, total_of_quarters;
    u32, 2, square_of_half, total_of_halves;
    u64, 4, square_of_whole, total_of_wholes;
}

pub(super) const HALF: u64 = 0xffff_ffff;

/// The square of what fits 16 bits.
#[inline(always)]
fn square_of_quarter(magnitude: u64) -> Planes {
    let magnitude = magnitude as u32;
    [u64::from(magnitude.wrapping_mul(magnitude)), 0, 0, 0]
}

/// The square of what fits 32 bits.
#[inline(always)]
fn square_of_half(magnitude: u64) -> Planes {
    let square = (magnitude & HALF) * (magnitude & HALF);
    [square & HALF, square >> 32, 0, 0]
}

#[inline(always)]
fn square_of_whole(magnitude: u64) -> Planes {
    let (low, high) = (magnitude & HALF, magnitude >> 32);
    let (lows, mixed, highs) = (low * low, low * high, high * high);
    let second = (lows >> 32) + 2 * (mixed & HALF);
    [lows & HALF, second, 2 * (mixed >> 32) + (highs & HALF), highs >> 32]
}

/// The rest of a block, element by element.
fn total_of_few<T: Square>(tail: &[T]) -> Planes {
    let mut planes = [0; PLANES_MAX];
    for element in tail {
        planes.iter_mut().zip(element.square()).for_each(|(to, from)| *to += from);
    }
    planes
}

/// What was cut, together again.
fn total_of_cut<const N: usize>([lows, highs]: &[[u64; N]; 2]) -> Planes {
    let sum = |lanes: &[u64; N]| u128::from(lanes.iter().sum::<u64>());
    let total = sum(lows) + (sum(highs) << CUT);
    [total as u64 & HALF, (total >> 32) as u64, 0, 0]
}

fn plus(mut planes: Planes, more: Planes) -> Planes {
    planes.iter_mut().zip(more).for_each(|(to, from)| *to += from);
    planes
}

/// Squares of 8 and 16 bits: their halves in lanes of 32.
fn total_of_quarters<T: Square>(block: &[T]) -> Planes {
    let mut lanes = [[0; NARROW_LANES]; 2];
    let (rows, tail) = block.as_chunks();
    add_quarters(&mut lanes, rows);
    plus(total_of_lanes(&lanes), total_of_few(tail))
}

fn total_of_lanes([lows, highs]: &[[u32; NARROW_LANES]; 2]) -> Planes {
    let sum = |lanes: &[u32; NARROW_LANES]| lanes.iter().copied().map(u64::from).sum::<u64>();
    [sum(lows) + (sum(highs) << 16), 0, 0, 0]
}

// All lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_quarters<T: Square>(lanes: &mut [[u32; NARROW_LANES]; 2], rows: &[[T; NARROW_LANES]]) {
    let [mut lows, mut highs] = *lanes;
    for row in rows {
        for i in 0..NARROW_LANES {
            let square = row[i].square()[0] as u32;
            lows[i] += square & 0xffff;
            highs[i] += square >> 16;
        }
    }
    *lanes = [lows, highs];
}

/// The same for signed ones in pairs, which registers multiply and add in one step.
fn total_of_pairs(block: &[i16]) -> Planes {
    let mut lanes = [[0; NARROW_LANES]; 2];
    let (rows, tail) = block.as_chunks();
    add_pairs(&mut lanes, rows);
    plus(total_of_lanes(&lanes), total_of_few(tail))
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn add_pairs(lanes: &mut [[u32; NARROW_LANES]; 2], rows: &[[i16; 2 * NARROW_LANES]]) {
    let [mut lows, mut highs] = *lanes;
    for row in rows {
        for i in 0..NARROW_LANES {
            let (a, b) = (i32::from(row[2 * i]), i32::from(row[2 * i + 1]));
            // At most 2^31, which the sign bit of the sum holds.
            let squares = (a * a).wrapping_add(b * b) as u32;
            lows[i] += squares & 0xffff;
            highs[i] += squares >> 16;
        }
    }
    *lanes = [lows, highs];
}

/// Squares of 32 bits, two to a lane.
fn total_of_halves<T: Square>(block: &[T]) -> Planes {
    let mut lanes = [[0; HALF_LANES]; 2];
    let (rows, tail) = block.as_chunks();
    add_halves(&mut lanes, rows);
    plus(total_of_cut(&lanes), total_of_few(tail))
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn add_halves<T: Square>(lanes: &mut [[u64; HALF_LANES]; 2], rows: &[[T; 2 * HALF_LANES]]) {
    let [mut lows, mut highs] = *lanes;
    for row in rows {
        for i in 0..HALF_LANES {
            let (a, b) = (row[2 * i].small_square(), row[2 * i + 1].small_square());
            lows[i] += (a & BELOW_CUT) + (b & BELOW_CUT);
            highs[i] += (a >> CUT) + (b >> CUT);
        }
    }
    *lanes = [lows, highs];
}

/// Squares of 64 bits; those of elements that fit 32 are made faster, as long as all of some do.
fn total_of_wholes<T: Square>(block: &[T]) -> Planes {
    let (rows, tail) = block.as_chunks();
    let mut planes = total_of_few(tail);
    let mut small = true;
    for rows in rows.chunks(TRIAL / WHOLE_LANES) {
        let mut lanes = [[0; WHOLE_LANES]; 2];
        if small && add_small(&mut lanes, rows) {
            planes = plus(planes, total_of_cut(&lanes));
            continue;
        }
        let mut lanes = [[0; WHOLE_LANES]; 6];
        add_wholes(&mut lanes, rows);
        let [low, low_over, mixed, mixed_over, high, high_over] =
            lanes.map(|lanes| lanes.iter().sum::<u64>());
        small = [mixed, mixed_over, high, high_over] == [0; 4];
        planes = plus(planes, [low, low_over + 2 * mixed, 2 * mixed_over + high, high_over]);
    }
    planes
}

/// Adds squares of elements of 32 bits, and says whether all were.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_small<T: Square>(lanes: &mut [[u64; WHOLE_LANES]; 2], rows: &[[T; WHOLE_LANES]]) -> bool {
    let [mut lows, mut highs] = *lanes;
    let mut bits = [0; WHOLE_LANES];
    for row in rows {
        for i in 0..WHOLE_LANES {
            let square = row[i].small_square();
            lows[i] += square & BELOW_CUT;
            highs[i] += square >> CUT;
            bits[i] |= row[i].small_bits();
        }
    }
    *lanes = [lows, highs];
    bits.into_iter().fold(0, std::ops::BitOr::bitor) <= HALF
}

/// Adds the halves of the products of halves.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_wholes<T: Square>(lanes: &mut [[u64; WHOLE_LANES]; 6], rows: &[[T; WHOLE_LANES]]) {
    let mut held = *lanes;
    for row in rows {
        for i in 0..WHOLE_LANES {
            let magnitude = row[i].magnitude();
            let (low, high) = (magnitude & HALF, magnitude >> 32);
            let products = [low * low, low * high, high * high];
            for (nth, product) in products.into_iter().enumerate() {
                held[2 * nth][i] += product & HALF;
                held[2 * nth + 1][i] += product >> 32;
            }
        }
    }
    *lanes = held;
}

/// Adds a strip to the cells of each plane.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn fold_strip<T: Square>(
    strip: Strip<'_, T>,
    first: usize,
    planes: &mut [Vec<u64>; PLANES_MAX],
) {
    for lane in (0..strip.lanes).step_by(WHOLE_LANES) {
        let mut lanes = [[0_u64; WHOLE_LANES]; PLANES_MAX];
        for row in 0..strip.rows {
            let row = strip.row::<WHOLE_LANES>(row, lane, T::zeroed());
            for i in 0..WHOLE_LANES {
                let square = row[i].square();
                for plane in 0..T::PLANES {
                    lanes[plane][i] += square[plane];
                }
            }
        }
        let width = WHOLE_LANES.min(strip.lanes - lane);
        for (cells, lanes) in planes.iter_mut().zip(&lanes).take(T::PLANES) {
            let cells = &mut cells[first + lane..][..width];
            cells.iter_mut().zip(lanes).for_each(|(to, from)| *to += from);
        }
    }
}
