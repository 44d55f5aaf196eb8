//! How wide the elements of a type are, also of types that nothing here computes with.

use tet_format::DType;

/// Types without a [`DType`], as NumPy and its extensions call them, and the bits of an element.
const OPAQUE: [(&str, u64); 8] = [
    ("float4_e2m1fn", 4),
    ("float6_e2m3fn", 6),
    ("float6_e3m2fn", 6),
    ("float8_e5m2", 8),
    ("float8_e4m3fn", 8),
    ("float8_e8m0fnu", 8),
    ("float8_e4m3fnuz", 8),
    ("float8_e5m2fnuz", 8),
];

/// Bits of one element of the type of this name.
pub(crate) fn bits_of(name: &str) -> Option<u64> {
    let known = DType::from_name(name).map(|dtype| u64::from(dtype.bit_width()));
    known.or_else(|| OPAQUE.iter().find(|(opaque, _)| *opaque == name).map(|(_, bits)| *bits))
}
