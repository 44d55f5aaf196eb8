//! The types an element may have in memory, and the step from a `DType` to one of them.

use std::fmt::Debug;

use bytemuck::Pod;
use half::{bf16, f16};
use tet_format::DType;

/// Lanes of every unrolled loop: the same on every machine, so that the same bits come out.
pub(crate) const LANES: usize = 16;

/// The most elements that are widened together.
pub(crate) const ROOM_LEN: usize = 2048;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that holds one element: the ten dtypes of `.tet`, int8 and bfloat16.
pub trait Element: Pod + PartialEq + Debug + Send + Sync + sealed::Sealed + 'static {
    /// The dtype whose elements these are.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),+ $(,)?) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )+};
}

elements! {
    f16 => Float16, bf16 => BFloat16, f32 => Float32, f64 => Float64,
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    u8 => UInt8, u16 => UInt16, u32 => UInt32, u64 => UInt64,
}

/// Names the element type of a dtype and evaluates an expression with it: `Some(expression)`, or
/// `None` for a dtype whose elements are not numbers here. Booleans are bytes, made 0 or 1 by
/// [`make_truths`] before anything is computed with them.
macro_rules! dispatch {
    ($dtype:expr, $element:ident => $body:expr) => {
        $crate::element::dispatch!(@table $dtype, $element, $body,
            Float16 => ::half::f16, BFloat16 => ::half::bf16, Float32 => f32, Float64 => f64,
            Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
            UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64, Bool => u8)
    };
    (@table $dtype:expr, $element:ident, $body:expr, $($name:ident => $type:ty),+) => {
        match $dtype {
            $(::tet_format::DType::$name => {
                type $element = $type;
                Some($body)
            })+
            _ => None,
        }
    };
}
pub(crate) use dispatch;

/// Booleans as they are stored become 0 and 1: any byte but 0 is true.
pub(crate) fn make_truths(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = u8::from(*byte != 0);
    }
}

/// Floats whose every value is a float32 too.
pub(crate) trait Single: Element {
    /// Significant bits of a value.
    const DIGITS: u32;
    /// The most elements that are widened together; none where nothing is widened.
    const ROOM_LEN: usize = ROOM_LEN;
    /// The value as float32; a NaN stays a NaN.
    fn widen(self) -> f32;

    /// All of `elements`, in `room` if they are not float32 already; there is room for them.
    #[inline(always)]
    fn widen_all<'a>(elements: &'a [Self], room: &'a mut [f32]) -> &'a [f32] {
        let room = &mut room[..elements.len()];
        for (wide, element) in room.iter_mut().zip(elements) {
            *wide = element.widen();
        }
        room
    }
}

impl Single for f32 {
    const DIGITS: u32 = 24;
    const ROOM_LEN: usize = 0;

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn widen_all<'a>(elements: &'a [Self], _room: &'a mut [f32]) -> &'a [f32] {
        elements
    }
}

impl Single for bf16 {
    const DIGITS: u32 = 8;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
}

impl Single for f16 {
    const DIGITS: u32 = 11;

    #[inline(always)]
    fn widen(self) -> f32 {
        /// 2^112 moves the exponent of a float16 to that of a float32, subnormals included.
        const REBIAS: f32 = f32::from_bits((112 + 127) << 23);
        let half = u32::from(self.to_bits());
        let magnitude = (half & 0x7fff) << 13;
        let finite = (f32::from_bits(magnitude) * REBIAS).to_bits();
        let special = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
        f32::from_bits(finite | special | ((half & 0x8000) << 16))
    }
}

/// The float16 nearest to a double, rounded once.
#[must_use]
#[inline(always)]
pub fn nearest_f16(value: f64) -> f16 {
    f16::from_f32(odd(value))
}

/// The bfloat16 nearest to a double, rounded once.
#[must_use]
#[inline(always)]
pub fn nearest_bf16(value: f64) -> bf16 {
    bf16::from_f32(odd(value))
}

/// The float32 toward zero, made odd where a bit is lost: rounding it once more then gives what
/// rounding the double would. `from_f64` of the two types loses bits on some machines.
#[allow(clippy::cast_possible_truncation, reason = "corrected right after")]
#[inline(always)]
fn odd(value: f64) -> f32 {
    let near = value as f32;
    let wide = f64::from(near);
    if wide == value || value.is_nan() {
        return near;
    }
    let toward_zero = if wide.abs() > value.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between two neighbors the nearer one is taken, and of two as near the even one.
    fn check_nearest(name: &str, infinity: u16, wide: fn(u16) -> f64, nearest: fn(f64) -> u16) {
        for low in 0..infinity {
            let (below, above) = (wide(low), wide(low + 1));
            // Infinity has the bits that the next number would have.
            let above = if above.is_infinite() { 2.0 * below - wide(low - 1) } else { above };
            let middle = f64::midpoint(below, above);
            let even = low + (low & 1);
            for (value, wanted) in [
                (below, low),
                (below.next_up(), low),
                (middle.next_down(), low),
                (middle, even),
                (middle.next_up(), low + 1),
                (above.next_down(), low + 1),
            ] {
                assert_eq!(nearest(value), wanted, "{name}: {value:e}");
                assert_eq!(nearest(-value), wanted | 0x8000, "{name}: -{value:e}");
            }
        }
        for (value, wanted) in [(f64::INFINITY, infinity), (f64::MAX, infinity), (5e-324, 0)] {
            assert_eq!(nearest(value), wanted, "{name}: {value:e}");
        }
        assert!(wide(nearest(f64::NAN)).is_nan());
    }

    #[test]
    fn doubles_are_rounded_once() {
        check_nearest(
            "float16",
            f16::INFINITY.to_bits(),
            |bits| f16::from_bits(bits).widen().into(),
            |value| nearest_f16(value).to_bits(),
        );
        check_nearest(
            "bfloat16",
            bf16::INFINITY.to_bits(),
            |bits| bf16::from_bits(bits).widen().into(),
            |value| nearest_bf16(value).to_bits(),
        );
    }

    #[test]
    fn every_half_widens_like_the_half_crate() {
        for bits in 0..=u16::MAX {
            let wide = f16::from_bits(bits).widen();
            let wanted = f16::from_bits(bits).to_f32();
            assert!(
                wide.to_bits() == wanted.to_bits() || wide.is_nan() && wanted.is_nan(),
                "{bits:04x}"
            );
            let wide = bf16::from_bits(bits).widen();
            let wanted = bf16::from_bits(bits).to_f32();
            assert!(
                wide.to_bits() == wanted.to_bits() || wide.is_nan() && wanted.is_nan(),
                "{bits:04x}"
            );
        }
    }

    #[test]
    fn dispatch_names_every_numeric_dtype() {
        for &dtype in DType::ALL {
            let named = dispatch!(dtype, T => T::DTYPE);
            match dtype {
                DType::Complex64 | DType::Complex128 | DType::Bitmask => assert_eq!(named, None),
                DType::Bool => assert_eq!(named, Some(DType::UInt8)),
                _ => assert_eq!(named, Some(dtype)),
            }
        }
    }
}
