//! The types of elements: the whole family that the readers of this project share.

use core::fmt;

macro_rules! dtypes {
    ($( $(#[$meta:meta])* $variant:ident $name:literal $bits:literal $tag:expr; )*) => {
        /// The type of an element.
        ///
        /// A `.tet` v1 file can store those with a [`tet_tag`](DType::tet_tag); the others are from
        /// other containers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType {
            $( $(#[$meta])* $variant, )*
        }

        impl DType {
            /// Every type.
            pub const ALL: &'static [DType] = &[ $( DType::$variant, )* ];

            /// The tag of the type in a directory record; `None` when v1 has none.
            #[must_use]
            pub const fn tet_tag(self) -> Option<u32> {
                match self { $( DType::$variant => $tag, )* }
            }

            /// The NumPy name of the type.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( DType::$variant => $name, )* }
            }

            /// The type with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<DType> {
                match name { $( $name => Some(DType::$variant), )* _ => None }
            }

            /// The number of bits of an element.
            #[must_use]
            pub const fn bit_width(self) -> u32 {
                match self { $( DType::$variant => $bits, )* }
            }
        }
    };
}

dtypes! {
    /// IEEE 754 half precision.
    Float16 "float16" 16 Some(9);
    /// The upper half of a `float32`.
    BFloat16 "bfloat16" 16 None;
    /// IEEE 754 single precision.
    Float32 "float32" 32 Some(1);
    /// IEEE 754 double precision.
    Float64 "float64" 64 Some(2);
    /// Signed, 8 bits.
    Int8 "int8" 8 None;
    /// Signed, 16 bits.
    Int16 "int16" 16 Some(7);
    /// Signed, 32 bits.
    Int32 "int32" 32 Some(3);
    /// Signed, 64 bits.
    Int64 "int64" 64 Some(4);
    /// Unsigned, 8 bits.
    UInt8 "uint8" 8 Some(5);
    /// Unsigned, 16 bits.
    UInt16 "uint16" 16 Some(6);
    /// Unsigned, 32 bits.
    UInt32 "uint32" 32 Some(8);
    /// Unsigned, 64 bits.
    UInt64 "uint64" 64 Some(10);
    /// One byte, 0 or 1.
    Bool "bool" 8 None;
    /// Two `float32`: real, imaginary.
    Complex64 "complex64" 64 None;
    /// Two `float64`: real, imaginary.
    Complex128 "complex128" 128 None;
    /// One bit.
    Bitmask "bitmask" 1 None;
}

impl DType {
    /// The type with this tag in a directory record.
    #[must_use]
    pub const fn from_tet_tag(tag: u32) -> Option<DType> {
        Some(match tag {
            1 => DType::Float32,
            2 => DType::Float64,
            3 => DType::Int32,
            4 => DType::Int64,
            5 => DType::UInt8,
            6 => DType::UInt16,
            7 => DType::Int16,
            8 => DType::UInt32,
            9 => DType::Float16,
            10 => DType::UInt64,
            _ => return None,
        })
    }

    /// The number of bytes of an element; `None` for [`DType::Bitmask`].
    #[must_use]
    pub const fn size(self) -> Option<u64> {
        match self.bit_width() {
            8 => Some(1),
            16 => Some(2),
            32 => Some(4),
            64 => Some(8),
            128 => Some(16),
            _ => None,
        }
    }

    /// Whether the type is a real floating-point number.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
    }

    /// Whether the type is a signed or unsigned integer; `Bool` is not one.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// Whether the type is a signed integer.
    #[must_use]
    pub const fn is_signed_integer(self) -> bool {
        matches!(self, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64)
    }

    /// Whether the type is an unsigned integer; `Bool` is not one.
    #[must_use]
    pub const fn is_unsigned_integer(self) -> bool {
        matches!(self, DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64)
    }

    /// Whether the type is a complex number.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::Complex64 | DType::Complex128)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_names_go_both_ways() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            if let Some(tag) = dtype.tet_tag() {
                assert_eq!(DType::from_tet_tag(tag), Some(dtype));
            }
        }
        let tagged = (0..100).filter(|&tag| DType::from_tet_tag(tag).is_some());
        assert!(tagged.eq(1..=10));
        assert_eq!(DType::from_name("f32"), None);
    }

    #[test]
    fn sizes_are_the_widths_in_bytes() {
        for &dtype in DType::ALL {
            let bits = u64::from(dtype.bit_width());
            assert_eq!(dtype.size(), (bits % 8 == 0).then_some(bits / 8), "{dtype}");
        }
    }

    #[test]
    fn the_kinds_do_not_overlap() {
        for &dtype in DType::ALL {
            let kinds = [dtype.is_float(), dtype.is_integer(), dtype.is_complex()];
            let rest = matches!(dtype, DType::Bool | DType::Bitmask);
            assert_eq!(kinds.iter().filter(|kind| **kind).count(), usize::from(!rest), "{dtype}");
        }
    }
}
