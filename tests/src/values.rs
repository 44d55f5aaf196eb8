//! Seeded bytes for every element type.

/// The ten element types of the format: tag, name, bytes of one element.
pub const TYPES: [(u32, &str, u64); 10] = [
    (1, "float32", 4),
    (2, "float64", 8),
    (3, "int32", 4),
    (4, "int64", 8),
    (5, "uint8", 1),
    (6, "uint16", 2),
    (7, "int16", 2),
    (8, "uint32", 4),
    (9, "float16", 2),
    (10, "uint64", 8),
];

/// A small generator (SplitMix64): the same numbers on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Seeded(pub u64);

impl Seeded {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// An index below `bound`, which is not zero.
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }
}

/// `count` small different values of the type with this tag, little-endian.
///
/// Floats are quarters of whole numbers, some below zero, so that every sum of a few is exact.
#[must_use]
pub fn plain(tag: u32, count: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for position in 0..count {
        let small = i32::try_from(position * 7 % 101).unwrap() - 20;
        match tag {
            1 => out.extend((small as f32 / 4.0).to_le_bytes()),
            2 => out.extend((f64::from(small) / 4.0).to_le_bytes()),
            3 => out.extend(small.to_le_bytes()),
            4 => out.extend(i64::from(small).to_le_bytes()),
            6 => out.extend((small.unsigned_abs() as u16).to_le_bytes()),
            7 => out.extend((small as i16).to_le_bytes()),
            8 => out.extend(small.unsigned_abs().to_le_bytes()),
            9 => out.extend(half_bits(small).to_le_bytes()),
            10 => out.extend(u64::from(small.unsigned_abs()).to_le_bytes()),
            _ => out.push(small.unsigned_abs() as u8),
        }
    }
    out
}

/// `len` bytes with nothing in common.
#[must_use]
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut seeded = Seeded(seed);
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        out.extend(seeded.bits().to_le_bytes());
    }
    out.truncate(len);
    out
}

/// The bits of infinity, of floats.
#[must_use]
pub fn infinity(tag: u32) -> Option<u64> {
    match tag {
        1 => Some(f32::INFINITY.to_bits().into()),
        2 => Some(f64::INFINITY.to_bits()),
        9 => Some(0x7c00),
        _ => None,
    }
}

/// The bits of an element of `len` bytes without its sign.
#[must_use]
pub fn magnitude(len: u64, bits: u64) -> u64 {
    bits & (u64::MAX >> (65 - 8 * len))
}

/// A number that orders the elements of a type as their values do, -0.0 before 0.0; of an integer its value.
#[must_use]
pub fn rank(tag: u32, len: u64, bits: u64) -> i128 {
    let magnitude = i128::from(magnitude(len, bits));
    let is_unsigned = matches!(tag, 5 | 6 | 8 | 10);
    match (i128::from(bits) == magnitude || is_unsigned, infinity(tag)) {
        (true, _) => bits.into(),
        (false, Some(_)) => -1 - magnitude,
        (false, None) => magnitude - (1 << (8 * len - 1)),
    }
}

/// The bits of a small whole number as IEEE half: exact below 2048.
fn half_bits(value: i32) -> u16 {
    let sign = u16::from(value < 0) << 15;
    let magnitude = value.unsigned_abs();
    if magnitude == 0 {
        return sign;
    }
    let exponent = 31 - magnitude.leading_zeros();
    let fraction = (magnitude << (10 - exponent)) & 0x3ff;
    sign | ((exponent + 15) << 10) as u16 | fraction as u16
}
