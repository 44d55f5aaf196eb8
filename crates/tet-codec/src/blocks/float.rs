//! Floats of eight and of four bits, as `ml_dtypes` has them.
//!
//! `fn`: finite, with one pattern for NaN; `uz`: one zero, and NaN in the place of the other.

use super::Block;

/// The highest exponent of float32, that of infinity and NaN.
const SPECIAL: u32 = 0x7f80_0000;
const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Which codes are no finite numbers.
#[derive(Clone, Copy)]
enum Specials {
    /// As those of IEEE 754: the highest exponent is infinity, and NaN.
    Ieee,
    /// The code of only ones is NaN.
    Ones,
    /// Minus zero is NaN.
    MinusZero,
    /// There are none.
    None,
}

/// The values of all codes of a sign, `exponent` bits and `mantissa` bits.
const fn table<const COUNT: usize>(
    exponent: u32,
    mantissa: u32,
    bias: u32,
    specials: Specials,
) -> [f32; COUNT] {
    let mut values = [0.0; COUNT];
    let mut code = 0;
    while code < COUNT {
        values[code] = value(code as u32, exponent, mantissa, bias, specials);
        code += 1;
    }
    values
}

const fn value(code: u32, exponent: u32, mantissa: u32, bias: u32, specials: Specials) -> f32 {
    let sign = (code >> (exponent + mantissa)) << 31;
    let magnitude = code & ((1 << (exponent + mantissa)) - 1);
    let (power, rest) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
    match specials {
        Specials::Ieee if power == (1 << exponent) - 1 => {
            return if rest == 0 { f32::from_bits(sign | SPECIAL) } else { NAN };
        }
        Specials::Ones if magnitude == (1 << (exponent + mantissa)) - 1 => return NAN,
        Specials::MinusZero if sign != 0 && magnitude == 0 => return NAN,
        _ => {}
    }
    let magnitude = if power == 0 {
        // A multiple of the least number, which is a power of two that float32 has.
        rest as f32 * f32::from_bits((127 + 1 - bias - mantissa) << 23)
    } else {
        f32::from_bits(((power + 127 - bias) << 23) | (rest << (23 - mantissa)))
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

/// Powers of two without a sign.
const fn powers() -> [f32; 256] {
    let mut values = [NAN; 256];
    values[0] = f32::from_bits(1 << 22);
    let mut code = 1;
    while code < 255 {
        values[code] = f32::from_bits((code as u32) << 23);
        code += 1;
    }
    values
}

/// Two elements in each byte, the first in the low four bits.
const fn pairs(one: [f32; 16]) -> [[f32; 2]; 256] {
    let mut values = [[0.0; 2]; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = [one[code % 16], one[code / 16]];
        code += 1;
    }
    values
}

macro_rules! floats {
    ($($name:ident $table:expr;)*) => { $(
        pub(super) struct $name;

        impl Block<1, 1> for $name {
            fn values(block: &[u8; 1], values: &mut [f32; 1]) {
                static TABLE: [f32; 256] = $table;
                values[0] = TABLE[usize::from(block[0])];
            }
        }
    )* };
}

floats! {
    E4m3Fn table(4, 3, 7, Specials::Ones);
    E5m2 table(5, 2, 15, Specials::Ieee);
    E4m3FnUz table(4, 3, 8, Specials::MinusZero);
    E5m2FnUz table(5, 2, 16, Specials::MinusZero);
    E8m0FnU powers();
}

pub(super) struct E2m1Fn;

impl Block<2, 1> for E2m1Fn {
    fn values(block: &[u8; 1], values: &mut [f32; 2]) {
        static TABLE: [[f32; 2]; 256] = pairs(table(2, 1, 1, Specials::None));
        *values = TABLE[usize::from(block[0])];
    }
}
