//! The dtypes of safetensors, and which of ours they are.

use tet_format::DType;
use tet_query::Dataset;

use tet_container::model::dtype::bits_of;

/// A dtype of safetensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredType {
    /// Name in the header.
    pub(crate) name: &'static str,
    /// Name here, as in NumPy and its extensions.
    pub(crate) ours: &'static str,
    /// Bits of one element.
    pub(crate) bits: u64,
    /// Its place in the order in which the reference library writes tensors, the last one first.
    pub(crate) rank: usize,
}

/// Name and our name, in the order of the reference library.
const TYPES: [(&str, &str); 22] = [
    ("BOOL", "bool"),
    ("F4", "float4_e2m1fn"),
    ("F6_E2M3", "float6_e2m3fn"),
    ("F6_E3M2", "float6_e3m2fn"),
    ("U8", "uint8"),
    ("I8", "int8"),
    ("F8_E5M2", "float8_e5m2"),
    ("F8_E4M3", "float8_e4m3fn"),
    ("F8_E8M0", "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
    ("I16", "int16"),
    ("U16", "uint16"),
    ("F16", "float16"),
    ("BF16", "bfloat16"),
    ("I32", "int32"),
    ("U32", "uint32"),
    ("F32", "float32"),
    ("C64", "complex64"),
    ("F64", "float64"),
    ("I64", "int64"),
    ("U64", "uint64"),
];

impl StoredType {
    /// The dtype of this name in a header.
    pub(crate) fn from_name(name: &str) -> Option<StoredType> {
        StoredType::find(|&(theirs, _)| theirs == name)
    }

    /// The dtype that we call so.
    pub(crate) fn from_ours(name: &str) -> Option<StoredType> {
        StoredType::find(|&(_, ours)| ours == name)
    }

    fn find(is: impl Fn(&(&str, &str)) -> bool) -> Option<StoredType> {
        let rank = TYPES.iter().position(is)?;
        let (name, ours) = TYPES[rank];
        let bits = bits_of(ours)?;
        Some(StoredType { name, ours, bits, rank })
    }

    /// The dtype we compute with, where there is one.
    pub(crate) fn dtype(self) -> Option<DType> {
        DType::from_name(self.ours)
    }

    /// Bytes of a number of elements; `None` when they fill no whole bytes, or 2^63 of them.
    pub(crate) fn byte_len(self, shape: &[u64]) -> Option<u64> {
        let bits = shape.iter().try_fold(u128::from(self.bits), |bits, &extent| {
            // No product of a real tensor comes near it, and none wraps.
            bits.checked_mul(u128::from(extent)).filter(|&bits| bits < 1 << 66)
        });
        let bits = if shape.contains(&0) { Some(0) } else { bits };
        bits.filter(|bits| bits.is_multiple_of(8))
            .and_then(|bits| u64::try_from(bits / 8).ok())
            .filter(|&len| len < 1 << 63)
    }
}

/// Type of a dataset of any container in safetensors, if it has one.
pub(crate) fn of_dataset(dataset: &Dataset) -> Option<StoredType> {
    StoredType::from_ours(&dataset.dtype_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_both_names() {
        for (name, ours) in TYPES {
            let of_name = StoredType::from_name(name).unwrap();
            assert_eq!(StoredType::from_ours(ours), Some(of_name));
        }
        assert_eq!(StoredType::from_name("f32"), None);
        let unknown = DType::ALL.iter().filter(|it| StoredType::from_ours(it.name()).is_none());
        assert!(unknown.eq(&[DType::Complex128, DType::Bitmask]));
    }

    #[test]
    fn elements_fill_whole_bytes_or_are_refused() {
        let len = |name, shape: &[u64]| StoredType::from_name(name).unwrap().byte_len(shape);
        assert_eq!(len("F32", &[]), Some(4));
        assert_eq!(len("F4", &[3]), None);
        assert_eq!(len("F4", &[3, 2]), Some(3));
        assert_eq!(len("F6_E2M3", &[4]), Some(3));
        assert_eq!(len("F6_E2M3", &[5]), None);
        assert_eq!(len("U8", &[(1 << 63) - 1]), Some((1 << 63) - 1));
        assert_eq!(len("U8", &[1 << 63]), None);
        assert_eq!(len("F64", &[1 << 60]), None);
        assert_eq!(len("F64", &[u64::MAX, u64::MAX, u64::MAX]), None);
        assert_eq!(len("F64", &[u64::MAX, 0, u64::MAX]), Some(0));
    }
}
