//! How far an element is from a pivot, as a float64 that is rounded once.
//!
//! A 64-bit integer becomes two floats, one for either half, by writing the half where the digits
//! of a large float lie. Halves subtract exactly, so nothing overflows and close ones stay apart.

use std::fmt::Debug;

use half::{bf16, f16};

use super::block;
use super::part::Part;
use crate::element::{Element, Single};
use crate::kernel::special::{Found, LaneFound, Sieve};
use crate::kernel::sum::two_sum;

/// Elements with the type they are measured as.
pub(in crate::kernel) trait Widened: Element {
    /// A float32 for what is narrower, else the type itself.
    type Wide: Distant;
    /// Elements that are widened in one go, at most; none where nothing is widened.
    const ROOM_LEN: usize = 0;
    /// The same value.
    fn wide(self) -> Self::Wide;
    /// All of `elements`, in `room` if they are not wide already; there is room for them.
    fn wide_all<'a>(elements: &'a [Self], room: &'a mut [f32]) -> &'a [Self::Wide];
}

macro_rules! widened {
    (singles $($type:ty),+) => {$(
        impl Widened for $type {
            type Wide = f32;
            const ROOM_LEN: usize = <$type as Single>::ROOM_LEN;
            #[inline(always)]
            fn wide(self) -> f32 {
                self.widen()
            }
            #[inline(always)]
            fn wide_all<'a>(elements: &'a [Self], room: &'a mut [f32]) -> &'a [f32] {
                Self::widen_all(elements, room)
            }
        }
    )+};
    (others $($type:ty),+) => {$(
        impl Widened for $type {
            type Wide = $type;
            #[inline(always)]
            fn wide(self) -> $type {
                self
            }
            #[inline(always)]
            fn wide_all<'a>(elements: &'a [Self], _room: &'a mut [f32]) -> &'a [$type] {
                elements
            }
        }
    )+};
}

widened!(singles f16, bf16, f32);
widened!(others f64, i32, u32, i64, u64);

/// A value that has a distance from a pivot.
pub(in crate::kernel) trait Distant:
    Copy + Default + Debug + Send + 'static
{
    type Pivot: Copy;
    /// The pivot at this value.
    fn pivot(self) -> Self::Pivot;
    /// A pivot halfway to another value.
    fn between(self, other: Self) -> Self::Pivot;
    /// A pivot that lies so far from another, about.
    fn moved(pivot: Self::Pivot, by: f64) -> Self::Pivot;
    /// The distance, rounded once.
    fn minus(self, pivot: Self::Pivot) -> f64;
    /// The sum of pivot and offset, as two floats.
    fn mean(pivot: Self::Pivot, offset: f64) -> (f64, f64);

    /// Whether it is neither NaN nor infinite.
    #[inline(always)]
    fn is_known(self) -> bool {
        true
    }

    /// Writes down what is not finite in a row whose first value belongs to `lane`.
    #[inline(always)]
    fn note<const N: usize>(_found: &mut LaneFound, _lane: usize, _row: [Self; N]) {}

    /// The finite values of a block; the others are noted. Integers never need it.
    fn measure_odd(block: &[Self], _found: &mut Found) -> Part<1> {
        block::measure(block).unwrap_or(Part::EMPTY)
    }
}

macro_rules! near {
    ($($type:ty { $($more:item)* })+) => {$(
        impl Distant for $type {
            type Pivot = f64;
            #[inline(always)]
            fn pivot(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn between(self, other: Self) -> f64 {
                f64::from(self) * 0.5 + f64::from(other) * 0.5
            }
            #[inline(always)]
            fn moved(pivot: f64, by: f64) -> f64 {
                pivot + by
            }
            #[inline(always)]
            fn minus(self, pivot: f64) -> f64 {
                f64::from(self) - pivot
            }
            #[inline(always)]
            fn mean(pivot: f64, offset: f64) -> (f64, f64) {
                two_sum(pivot, offset)
            }
            $($more)*
        }
    )+};
    (floats $($type:ty),+) => {
        near! {$(
            $type {
                #[inline(always)]
                fn is_known(self) -> bool {
                    self.is_finite()
                }
                #[inline(always)]
                fn note<const N: usize>(found: &mut LaneFound, lane: usize, row: [Self; N]) {
                    found.pass(lane, row);
                }
                fn measure_odd(block: &[Self], found: &mut Found) -> Part<1> {
                    block::measure_known(block, found)
                }
            }
        )+}
    };
}

near!(floats f32, f64);
near!(i32 {} u32 {});

/// 2^52, whose last digit counts ones.
const LOW: u64 = 0x4330 << 48;
/// 2^84, whose last digit counts 2^32.
const HIGH: u64 = 0x4530 << 48;

macro_rules! far {
    ($($type:ty, $add:ident, $flipped:literal;)+) => {$(
        impl Distant for $type {
            type Pivot = $type;
            #[inline(always)]
            fn pivot(self) -> $type {
                self
            }
            #[inline(always)]
            fn between(self, other: Self) -> $type {
                self.midpoint(other)
            }
            #[inline(always)]
            fn moved(pivot: $type, by: f64) -> $type {
                // `as` goes to the nearest integer there is.
                pivot.$add(by.round() as i64)
            }
            #[inline(always)]
            fn minus(self, pivot: $type) -> f64 {
                let (high, low) = halves(self as u64 ^ $flipped);
                let (pivot_high, pivot_low) = halves(pivot as u64 ^ $flipped);
                (high - pivot_high) + (low - pivot_low)
            }
            #[inline(always)]
            fn mean(pivot: $type, offset: f64) -> (f64, f64) {
                let (high, low) = halves(pivot as u64 ^ $flipped);
                let (zero_high, zero_low) = halves($flipped);
                let (sum, lost) = two_sum(high - zero_high, low - zero_low);
                two_sum(sum, lost + offset)
            }
        }
    )+};
}

// The flipped bit makes unsigned numbers of signed ones, in the same order.
far! {
    i64, saturating_add, 0x8000_0000_0000_0000;
    u64, saturating_add_signed, 0;
}

/// The halves of 64 bits above 2^84 and 2^52.
#[inline(always)]
fn halves(bits: u64) -> (f64, f64) {
    (f64::from_bits(bits >> 32 | HIGH), f64::from_bits(bits & 0xffff_ffff | LOW))
}
