//! The types of elements: storage types, and the logical types that they stand for.

use super::container::Version;

/// The type of the elements of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    /// Its name, as NumPy and its extensions have it.
    pub name: &'static str,
    /// Bits of one element.
    pub bits: u64,
    /// Bytes of the number that it is stored as.
    pub storage_len: u64,
    /// Whether it is the storage type itself, without a logical type.
    pub is_plain: bool,
}

/// The storage types: their word, our name, and their bytes.
const STORAGE: [(&str, &str, u64); 12] = [
    ("f64", "float64", 8),
    ("f32", "float32", 4),
    ("f16", "float16", 2),
    ("bf16", "bfloat16", 2),
    ("i64", "int64", 8),
    ("i32", "int32", 4),
    ("i16", "int16", 2),
    ("i8", "int8", 1),
    ("u64", "uint64", 8),
    ("u32", "uint32", 4),
    ("u16", "uint16", 2),
    ("u8", "uint8", 1),
];

/// The logical types: their word, the word of their storage type, our name, and bits.
const LOGICAL: [(&str, &str, &str, u64); 9] = [
    ("bool", "u8", "bool", 8),
    ("f8_e4m3fn", "u8", "float8_e4m3fn", 8),
    ("f8_e5m2", "u8", "float8_e5m2", 8),
    ("f8_e4m3fnuz", "u8", "float8_e4m3fnuz", 8),
    ("f8_e5m2fnuz", "u8", "float8_e5m2fnuz", 8),
    ("f8_e8m0", "u8", "float8_e8m0fnu", 8),
    ("f4_e2m1", "u8", "float4_e2m1fn", 4),
    ("complex64", "f32", "complex64", 64),
    ("complex128", "f64", "complex128", 128),
];

/// The storage types of version 1 that are logical types of version 2.
const FIRST: [(&str, &str); 5] = [
    ("bool", "bool"),
    ("f8_e4m3", "f8_e4m3fn"),
    ("f8_e5m2", "f8_e5m2"),
    ("complex64", "complex64"),
    ("complex128", "complex128"),
];

/// Type of a part, as stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A known type.
    Known(ElementType),
    /// A logical type that is not known, stored as numbers of this many bytes.
    Unknown(u64),
    /// No storage type of the format.
    NoStorage,
    /// A logical type that must be stored as another dtype.
    Misfit,
}

/// The type that a dtype and a logical type state.
pub(super) fn of_words(version: Version, dtype: &str, logical: Option<&str>) -> Typed {
    let first = FIRST.iter().find(|(word, _)| version == Version::One && *word == dtype);
    if let Some((_, word)) = first {
        let known = LOGICAL.iter().find(|(logical, ..)| logical == word);
        return known.map_or(Typed::NoStorage, |(_, storage, name, bits)| {
            let storage_len = storage_len(storage).unwrap_or(1);
            Typed::Known(ElementType { name, bits: *bits, storage_len, is_plain: false })
        });
    }
    let Some((word, name, storage_len)) = STORAGE.iter().find(|(word, ..)| *word == dtype) else {
        return Typed::NoStorage;
    };
    // In version 2 the storage types are no logical types.
    let is_same = |logical: &&str| version == Version::One && logical == word;
    let Some(logical) = logical.filter(|logical| !is_same(logical)) else {
        let (bits, storage_len) = (storage_len.saturating_mul(8), *storage_len);
        return Typed::Known(ElementType { name, bits, storage_len, is_plain: true });
    };
    match LOGICAL.iter().find(|(word, ..)| *word == logical) {
        None => Typed::Unknown(*storage_len),
        Some((_, storage, ..)) if storage != word => Typed::Misfit,
        Some((_, _, name, bits)) => {
            let storage_len = *storage_len;
            Typed::Known(ElementType { name, bits: *bits, storage_len, is_plain: false })
        }
    }
}

fn storage_len(word: &str) -> Option<u64> {
    STORAGE.iter().find(|(it, ..)| *it == word).map(|(.., len)| *len)
}

impl ElementType {
    /// Bytes of `count` elements; `None` for 2^63 and more.
    #[must_use]
    pub fn byte_len(&self, count: u64) -> Option<u64> {
        let bits = u128::from(count).checked_mul(u128::from(self.bits))?;
        u64::try_from(bits.div_ceil(8)).ok().filter(|len| *len < 1 << 63)
    }
}
