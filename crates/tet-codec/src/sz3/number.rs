//! The types of elements, and their arithmetic as the reference library computes it on x86-64.

/// The type of the elements of a stream.
///
/// ```
/// use tet_codec::Sz3Number;
///
/// assert_eq!(Sz3Number::Float64.size(), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sz3Number {
    /// Floats of 32 bits.
    Float32,
    /// Floats of 64 bits.
    Float64,
    /// Unsigned integers of 8 bits.
    Uint8,
    /// Signed integers of 8 bits.
    Int8,
    /// Unsigned integers of 16 bits.
    Uint16,
    /// Signed integers of 16 bits.
    Int16,
    /// Unsigned integers of 32 bits.
    Uint32,
    /// Signed integers of 32 bits.
    Int32,
    /// Unsigned integers of 64 bits.
    Uint64,
    /// Signed integers of 64 bits.
    Int64,
}

impl Sz3Number {
    /// The type with this number in client data of HDF5.
    pub(crate) fn of_id(id: u32) -> Option<Sz3Number> {
        Some(match id {
            0 => Sz3Number::Float32,
            1 => Sz3Number::Float64,
            2 => Sz3Number::Uint8,
            3 => Sz3Number::Int8,
            4 => Sz3Number::Uint16,
            5 => Sz3Number::Int16,
            6 => Sz3Number::Uint32,
            7 => Sz3Number::Int32,
            8 => Sz3Number::Uint64,
            9 => Sz3Number::Int64,
            _ => return None,
        })
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Sz3Number::Uint8 | Sz3Number::Int8 => 1,
            Sz3Number::Uint16 | Sz3Number::Int16 => 2,
            Sz3Number::Float32 | Sz3Number::Uint32 | Sz3Number::Int32 => 4,
            Sz3Number::Float64 | Sz3Number::Uint64 | Sz3Number::Int64 => 8,
        }
    }
}

/// A number that is predicted from others. Integers wrap around; the order of operations of floats is fixed.
pub(super) trait Value: Copy + Default {
    /// Bytes of a value.
    const SIZE: usize;

    /// The value of exactly these bytes; 0 for another number of bytes.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the value to exactly these bytes.
    fn write(self, out: &mut [u8]);

    /// The value of a float, cut to a whole number by integers.
    fn of_f64(number: f64) -> Self;

    /// The value plus this number of bounds, computed as a float of 64 bits.
    fn plus_bounds(self, count: i32, bound: f64) -> Self;

    /// The value plus a multiple of another.
    fn plus(self, factor: i32, other: Self) -> Self;

    /// The value plus a slope times a distance.
    fn plus_slope(self, slope: Self, distance: usize) -> Self;

    /// The middle of two neighbors.
    fn linear(a: Self, b: Self) -> Self;

    /// Beyond the second of two neighbors.
    fn beyond(a: Self, b: Self) -> Self;

    /// Between the first two of three neighbors.
    fn quadratic_first(a: Self, b: Self, c: Self) -> Self;

    /// Between the last two of three neighbors.
    fn quadratic_last(a: Self, b: Self, c: Self) -> Self;

    /// Beyond the last of three neighbors.
    fn quadratic_beyond(a: Self, b: Self, c: Self) -> Self;

    /// The middle of four neighbors.
    fn cubic(a: Self, b: Self, c: Self, d: Self) -> Self;
}

macro_rules! bytes_of {
    ($number:ty) => {
        const SIZE: usize = size_of::<$number>();

        fn read(bytes: &[u8]) -> Self {
            bytes.try_into().map_or_else(|_| Self::default(), <$number>::from_le_bytes)
        }

        fn write(self, out: &mut [u8]) {
            out.copy_from_slice(&self.to_le_bytes());
        }
    };
}

macro_rules! floats {
    ($($number:ty)*) => {
        $(impl Value for $number {
            bytes_of!($number);

            fn of_f64(number: f64) -> Self {
                number as $number
            }

            fn plus_bounds(self, count: i32, bound: f64) -> Self {
                Self::of_f64(f64::from(self) + f64::from(count) * bound)
            }

            fn plus(self, factor: i32, other: Self) -> Self {
                // Factors are -4 to 8.
                self + factor as $number * other
            }

            fn plus_slope(self, slope: Self, distance: usize) -> Self {
                self + slope * distance as $number
            }

            fn linear(a: Self, b: Self) -> Self {
                (a + b) / 2.0
            }

            fn beyond(a: Self, b: Self) -> Self {
                Self::of_f64(-0.5 * f64::from(a) + 1.5 * f64::from(b))
            }

            fn quadratic_first(a: Self, b: Self, c: Self) -> Self {
                (3.0 * a + 6.0 * b - c) / 8.0
            }

            fn quadratic_last(a: Self, b: Self, c: Self) -> Self {
                (-a + 6.0 * b + 3.0 * c) / 8.0
            }

            fn quadratic_beyond(a: Self, b: Self, c: Self) -> Self {
                (3.0 * a - 10.0 * b + 15.0 * c) / 8.0
            }

            fn cubic(a: Self, b: Self, c: Self, d: Self) -> Self {
                (-a + 9.0 * b + 9.0 * c - d) / 16.0
            }
        })*
    };
}

/// Integers: sums are of the type to which C++ promotes, and conversions are those of x86-64. Casts cut to the low bits.
macro_rules! integers {
    ($($number:ty as $wide:ty, $of_f64:ident;)*) => {
        $(impl Value for $number {
            bytes_of!($number);

            fn of_f64(number: f64) -> Self {
                $of_f64(number) as $number
            }

            fn plus_bounds(self, count: i32, bound: f64) -> Self {
                Self::of_f64(self as f64 + f64::from(count) * bound)
            }

            fn plus(self, factor: i32, other: Self) -> Self {
                self.wrapping_add(other.wrapping_mul(factor as $number))
            }

            fn plus_slope(self, slope: Self, distance: usize) -> Self {
                self.wrapping_add(slope.wrapping_mul(distance as $number))
            }

            fn linear(a: Self, b: Self) -> Self {
                ((a as $wide).wrapping_add(b as $wide) / 2) as $number
            }

            fn beyond(a: Self, b: Self) -> Self {
                Self::of_f64(-0.5 * a as f64 + 1.5 * b as f64)
            }

            fn quadratic_first(a: Self, b: Self, c: Self) -> Self {
                let sum = (a as $wide).wrapping_mul(3).wrapping_add((b as $wide).wrapping_mul(6));
                (sum.wrapping_sub(c as $wide) / 8) as $number
            }

            fn quadratic_last(a: Self, b: Self, c: Self) -> Self {
                let sum = (b as $wide).wrapping_mul(6).wrapping_sub(a as $wide);
                (sum.wrapping_add((c as $wide).wrapping_mul(3)) / 8) as $number
            }

            fn quadratic_beyond(a: Self, b: Self, c: Self) -> Self {
                let sum = (a as $wide).wrapping_mul(3).wrapping_sub((b as $wide).wrapping_mul(10));
                (sum.wrapping_add((c as $wide).wrapping_mul(15)) / 8) as $number
            }

            fn cubic(a: Self, b: Self, c: Self, d: Self) -> Self {
                let inner = (b as $wide).wrapping_add(c as $wide).wrapping_mul(9);
                (inner.wrapping_sub(a as $wide).wrapping_sub(d as $wide) / 16) as $number
            }
        })*
    };
}

floats!(f32 f64);
integers! {
    i8 as i32, to_i32;
    u8 as i32, to_i32;
    i16 as i32, to_i32;
    u16 as i32, to_i32;
    i32 as i32, to_i32;
    u32 as u32, to_i64;
    i64 as i64, to_i64;
    u64 as u64, to_u64;
}

/// Cuts to 32 bits; a number outside them, or no number, is the lowest.
fn to_i32(number: f64) -> i32 {
    if (-2_147_483_648.0..2_147_483_648.0).contains(&number.trunc()) {
        number as i32
    } else {
        i32::MIN
    }
}

/// 2 to the power of 63.
const HALF: f64 = 9_223_372_036_854_775_808.0;

/// Cuts to 64 bits; a number outside them, or no number, is the lowest.
fn to_i64(number: f64) -> i64 {
    if (-HALF..HALF).contains(&number) { number as i64 } else { i64::MIN }
}

/// Cuts to 64 bits without a sign.
fn to_u64(number: f64) -> u64 {
    if HALF <= number { to_i64(number - HALF) as u64 ^ 1 << 63 } else { to_i64(number) as u64 }
}
