//! How wide the elements of a type are, also of types that nothing here computes with.

use tet_format::DType;

/// Elements that are stored together, and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Elements of a block.
    pub count: u64,
    /// Bytes of a block.
    pub len: u64,
}

impl Unit {
    /// The fewest elements of so many bits that fill whole bytes.
    pub fn of_bits(bits: u64) -> Option<Unit> {
        let count = (1..=8).find(|count| bits.saturating_mul(*count).is_multiple_of(8))?;
        Some(Unit { count, len: bits.checked_mul(count)? / 8 })
    }
}

/// Types without a [`DType`], as NumPy and its extensions call them, and the bits of an element.
const FLOATS: [(&str, u64); 8] = [
    ("float4_e2m1fn", 4),
    ("float6_e2m3fn", 6),
    ("float6_e3m2fn", 6),
    ("float8_e5m2", 8),
    ("float8_e4m3fn", 8),
    ("float8_e8m0fnu", 8),
    ("float8_e4m3fnuz", 8),
    ("float8_e5m2fnuz", 8),
];

/// The quantized types of ggml: name, elements of a block, bytes of a block.
const BLOCKS: [(&str, u64, u64); 26] = [
    ("Q4_0", 32, 18),
    ("Q4_1", 32, 20),
    ("Q5_0", 32, 22),
    ("Q5_1", 32, 24),
    ("Q8_0", 32, 34),
    ("Q8_1", 32, 36),
    ("Q2_K", 256, 84),
    ("Q3_K", 256, 110),
    ("Q4_K", 256, 144),
    ("Q5_K", 256, 176),
    ("Q6_K", 256, 210),
    ("Q8_K", 256, 292),
    ("IQ2_XXS", 256, 66),
    ("IQ2_XS", 256, 74),
    ("IQ3_XXS", 256, 98),
    ("IQ1_S", 256, 50),
    ("IQ4_NL", 32, 18),
    ("IQ3_S", 256, 110),
    ("IQ2_S", 256, 82),
    ("IQ4_XS", 256, 136),
    ("IQ1_M", 256, 56),
    ("TQ1_0", 256, 54),
    ("TQ2_0", 256, 66),
    ("MXFP4", 32, 17),
    ("NVFP4", 64, 36),
    ("Q1_0", 128, 18),
];

/// Bits of one element of the type of this name.
pub fn bits_of(name: &str) -> Option<u64> {
    let known = DType::from_name(name).map(|dtype| u64::from(dtype.bit_width()));
    known.or_else(|| FLOATS.iter().find(|(float, _)| *float == name).map(|(_, bits)| *bits))
}

/// How to get at elements of as many bytes that have no type: those of ml_dtypes become such in files that lack them.
pub const fn untyped_advice(len: u64) -> &'static str {
    match len {
        1 => {
            "if they are float8, save the bits, `a.view('uint8')`, or with ml_dtypes the numbers, such as \
             `a.view(ml_dtypes.float8_e4m3fn).astype('float32')`"
        }
        2 => {
            "if it is bfloat16, save the bits, `a.view('uint16')`, or with ml_dtypes the numbers, \
             `a.view(ml_dtypes.bfloat16).astype('float32')`"
        }
        _ => "save `a.view()` of an integer dtype of its size",
    }
}

/// Whether elements of quantized blocks of this name are decoded to numbers.
pub fn is_decoded(name: &str) -> bool {
    tet_codec::NumberBlock::from_name(name).is_some()
}

/// The fewest elements of a type without a [`DType`] that fill whole bytes.
pub fn unit_of(name: &str) -> Option<Unit> {
    if DType::from_name(name).is_some() {
        return None;
    }
    if let Some(bits) = bits_of(name) {
        return Unit::of_bits(bits);
    }
    let &(_, count, len) = BLOCKS.iter().find(|(block, ..)| *block == name)?;
    Some(Unit { count, len })
}

#[cfg(test)]
mod tests {
    use tet_codec::NumberBlock;

    use super::*;

    #[test]
    fn units_are_those_of_the_decoders() {
        let names = FLOATS.iter().map(|it| it.0).chain(BLOCKS.iter().map(|it| it.0));
        let mut decoded = 0;
        for name in names {
            let unit = unit_of(name).unwrap();
            if let Some(number) = NumberBlock::from_name(name) {
                assert_eq!(unit, Unit { count: number.count(), len: number.len() }, "{name}");
                decoded += 1;
            }
        }
        assert_eq!(decoded, 16);
        assert_eq!(unit_of("float6_e2m3fn"), Some(Unit { count: 4, len: 3 }));
        assert_eq!((unit_of("float32"), unit_of("Q9_9")), (None, None));
    }
}
