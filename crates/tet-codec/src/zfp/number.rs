//! The types of elements.

/// The type of the elements of a stream.
///
/// ```
/// use tet_codec::ZfpNumber;
///
/// assert_eq!(ZfpNumber::Float64.size(), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZfpNumber {
    /// Signed integers of 32 bits.
    Int32,
    /// Signed integers of 64 bits.
    Int64,
    /// Floats of 32 bits.
    Float32,
    /// Floats of 64 bits.
    Float64,
}

impl ZfpNumber {
    /// Bytes of an element.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            ZfpNumber::Int32 | ZfpNumber::Float32 => 4,
            ZfpNumber::Int64 | ZfpNumber::Float64 => 8,
        }
    }

    /// Bits before the coefficients of a block that is not zero.
    pub(super) const fn header_bits(self) -> u32 {
        match self {
            ZfpNumber::Int32 | ZfpNumber::Int64 => 0,
            ZfpNumber::Float32 => 9,
            ZfpNumber::Float64 => 12,
        }
    }
}
