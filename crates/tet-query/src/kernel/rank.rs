//! Ranks: unsigned integers in the order of the elements, in which values lie side by side.
//!
//! ```text
//!   floats     NaN | -inf .. -0.0 0.0 .. inf | NaN      integers     least .. greatest
//! ```
//!
//! Every test of an element is a test of its rank.

use std::fmt::Debug;
use std::ops::Range;

use half::{bf16, f16};
use multiversion::multiversion;

use super::extrema::Ordered;
use crate::element::{Single, nearest_bf16, nearest_f16};
use crate::reduction::Number;

/// An element with a rank.
pub(crate) trait Ranked: Ordered {
    /// A signed integer as wide as the element.
    type Word: Word;
    /// Mask that turns the sign bit of a key into that of a rank.
    const TOP: u64;
    /// The ranks of what is not NaN.
    const VALUES: (u64, u64);
    /// The key, bit by bit.
    fn word(self) -> Self::Word;
    /// The rank.
    fn rank(self) -> u64;
    /// The element of a rank.
    fn from_rank(rank: u64) -> Self;
    /// The nearest double.
    fn wide(self) -> f64;
    /// The ranks of what equals a number; where that is none, an empty range between what is less
    /// and what is greater. `None` for NaN.
    fn place(number: Number) -> Option<Range<i128>>;
    /// How many elements of a block lie in how many of some ranges.
    fn count_in<const N: usize>(block: &[Self], ranges: &[Within<Self::Word>; N]) -> u64;
}

/// Elements that numbers of documents are rounded to.
pub(crate) trait Numeric: Ranked {
    /// The nearest element to a number.
    fn from_number(number: Number) -> Self;
}

macro_rules! numeric {
    ($($type:ty => $from:expr;)+) => {$(
        impl Numeric for $type {
            fn from_number(number: Number) -> Self {
                let from: fn(Number) -> $type = $from;
                from(number)
            }
        }
    )+};
    (integers $($type:ty),+) => {$(
        impl Numeric for $type {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss,
                    reason = "`as` goes to the nearest integer there is")]
            fn from_number(number: Number) -> Self {
                match number {
                    Number::Int(integer) => {
                        integer.clamp(<$type>::MIN.into(), <$type>::MAX.into()) as $type
                    }
                    Number::Float(float) => float.round() as $type,
                }
            }
        }
    )+};
}

numeric! {
    f16 => |number| nearest_f16(number.to_f64());
    bf16 => |number| nearest_bf16(number.to_f64());
    f32 => |number| number.to_f64() as f32;
    f64 => Number::to_f64;
}
numeric!(integers i8, i16, i32, i64, u8, u16, u32, u64);

/// Elements that are counted together: no counter of a lane overflows.
pub(super) const BLOCK: usize = 4096;

/// Keys as they are compared in vectors: signed.
pub(crate) trait Word: Copy + Ord + Debug + Default + Send + Sync + 'static {
    /// Bits of a word.
    const BITS: u32;
    /// The lowest bits of `bits`.
    fn of_bits(bits: u64) -> Self;
    /// 1 where the word lies in the range, 0 otherwise.
    fn is_within(self, range: Within<Self>) -> Self;
    /// 0 where the word lies in the range, 1 otherwise.
    fn is_outside(self, range: Within<Self>) -> Self;
    /// The sum of small numbers.
    fn plus(self, other: Self) -> Self;
    /// A small number.
    fn small(self) -> u32;
}

/// A closed range of ranks, shifted so that one signed comparison decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<W> {
    bias: W,
    limit: W,
}

impl<W: Word> Within<W> {
    /// The ranks from `first` to `last` of elements with this [`Ranked::TOP`].
    pub(crate) fn new(first: u64, last: u64, top: u64) -> Self {
        let sign = 1 << (W::BITS - 1);
        Within { bias: W::of_bits(first ^ top ^ sign), limit: W::of_bits((last - first) ^ sign) }
    }
}

macro_rules! words {
    ($($word:ty => $bits:ty),+) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap,
                clippy::cast_sign_loss, clippy::cast_lossless, reason = "bits, not numbers")]
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;
            #[inline(always)]
            fn of_bits(bits: u64) -> Self {
                bits as $bits as Self
            }
            #[inline(always)]
            fn is_within(self, range: Within<Self>) -> Self {
                (self.wrapping_sub(range.bias) <= range.limit).into()
            }
            #[inline(always)]
            fn is_outside(self, range: Within<Self>) -> Self {
                (self.wrapping_sub(range.bias) > range.limit).into()
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn small(self) -> u32 {
                self as u32
            }
        }
    )+};
}

words!(i8 => u8, i16 => u16, i32 => u32, i64 => u64);

/// Items common to integers and floats.
macro_rules! common {
    ($word:ty, $bits:ty, $lanes:literal) => {
        type Word = $word;
        #[inline(always)]
        fn word(self) -> $word {
            self.key() as $word
        }
        #[inline(always)]
        fn rank(self) -> u64 {
            u64::from(self.key() as $bits) ^ Self::TOP
        }
        #[inline(always)]
        fn from_rank(rank: u64) -> Self {
            Self::from_key((rank ^ Self::TOP) as $bits as Self::Key)
        }
        // As many lanes as registers hold; a lane counts no further than a word does.
        fn count_in<const N: usize>(block: &[Self], ranges: &[Within<$word>; N]) -> u64 {
            count_in_lanes::<Self, N, $lanes>(block, ranges)
        }
    };
}

macro_rules! integers {
    ($($type:ty => $word:ty, $bits:ty, $lanes:literal;)+) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap,
                clippy::cast_sign_loss, clippy::unnecessary_cast, clippy::cast_precision_loss,
                clippy::cast_lossless, reason = "bits, not numbers; the nearest number is meant")]
        impl Ranked for $type {
            common!($word, $bits, $lanes);
            const TOP: u64 = if <$type>::MIN == 0 { 0 } else { 1 << (<$type>::BITS - 1) };
            const VALUES: (u64, u64) = (0, <$bits>::MAX as u64);
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            fn place(number: Number) -> Option<Range<i128>> {
                let (start, end) = match number {
                    Number::Int(integer) => (integer, integer.saturating_add(1)),
                    Number::Float(float) if float.is_nan() => return None,
                    Number::Float(float) => {
                        (float.ceil() as i128, (float.floor() as i128).saturating_add(1))
                    }
                };
                let rank = |value: i128| {
                    value.saturating_sub(<$type>::MIN.into()).clamp(0, 1 << <$type>::BITS)
                };
                Some(rank(start)..rank(end))
            }
        }
    )+};
}

macro_rules! floats {
    ($($type:ty => $word:ty, $bits:ty, $lanes:literal, $wide:expr, $nearest:expr;)+) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap,
                clippy::cast_sign_loss, clippy::unnecessary_cast, clippy::cast_lossless,
                reason = "bits, not numbers; the nearest number is meant")]
        impl Ranked for $type {
            common!($word, $bits, $lanes);
            const TOP: u64 = 1 << (<$word>::BITS - 1);
            const VALUES: (u64, u64) = {
                let infinite = <$type>::INFINITY.to_bits() as u64;
                (Self::TOP - 1 - infinite, Self::TOP + infinite)
            };
            #[inline(always)]
            fn wide(self) -> f64 {
                let wide: fn($type) -> f64 = $wide;
                wide(self)
            }
            fn place(number: Number) -> Option<Range<i128>> {
                let value = number.to_f64();
                if value.is_nan() {
                    return None;
                }
                let nearest: fn(f64) -> $type = $nearest;
                let nearest = nearest(value);
                let rank = i128::from(nearest.rank());
                let (least, greatest) = (i128::from(Self::VALUES.0), i128::from(Self::VALUES.1));
                Some(match nearest.wide() {
                    // Greater than all finite elements, yet less than infinity; or the opposite.
                    wide if wide.is_infinite() && value.is_finite() => {
                        if value > 0.0 { greatest..greatest } else { least + 1..least + 1 }
                    }
                    0.0 => i128::from(Self::TOP) - 1..i128::from(Self::TOP) + 1,
                    _ => rank..rank + 1,
                })
            }
        }
    )+};
}

integers! {
    i8 => i8, u8, 128;
    u8 => i8, u8, 128;
    i16 => i16, u16, 64;
    u16 => i16, u16, 64;
    i32 => i32, u32, 32;
    u32 => i32, u32, 32;
    i64 => i64, u64, 16;
    u64 => i64, u64, 16;
}

floats! {
    f16 => i16, u16, 64, |half| half.widen().into(), nearest_f16;
    bf16 => i16, u16, 64, |half| half.widen().into(), nearest_bf16;
    f32 => i32, u32, 32, f64::from, |value| value as f32;
    f64 => i64, u64, 16, |value| value, |value| value;
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn count_in_lanes<T: Ranked, const N: usize, const L: usize>(
    block: &[T],
    ranges: &[Within<T::Word>; N],
) -> u64 {
    let ranges = *ranges;
    let mut outside = 0;
    for block in block.chunks(BLOCK) {
        let mut counts = [T::Word::default(); L];
        let (rows, tail) = block.as_chunks::<L>();
        for row in rows {
            for i in 0..L {
                let word = row[i].word();
                for range in ranges {
                    counts[i] = counts[i].plus(word.is_outside(range));
                }
            }
        }
        for (i, element) in tail.iter().enumerate() {
            for range in ranges {
                counts[i] = counts[i].plus(element.word().is_outside(range));
            }
        }
        outside += counts.iter().map(|count| u64::from(count.small())).sum::<u64>();
    }
    N as u64 * block.len() as u64 - outside
}
