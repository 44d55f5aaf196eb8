//! Types of elements: by the class of a storage, or by the name of a type.

use tet_format::DType;

/// The name of a type, as NumPy and its extensions have it.
const CLASSES: [(&str, &str); 12] = [
    ("DoubleStorage", "float64"),
    ("FloatStorage", "float32"),
    ("HalfStorage", "float16"),
    ("BFloat16Storage", "bfloat16"),
    ("LongStorage", "int64"),
    ("IntStorage", "int32"),
    ("ShortStorage", "int16"),
    ("CharStorage", "int8"),
    ("ByteStorage", "uint8"),
    ("BoolStorage", "bool"),
    ("ComplexFloatStorage", "complex64"),
    ("ComplexDoubleStorage", "complex128"),
];

/// Names of types that PyTorch has in addition to those of NumPy.
const ALIASES: [(&str, &str); 8] = [
    ("double", "float64"),
    ("float", "float32"),
    ("half", "float16"),
    ("long", "int64"),
    ("int", "int32"),
    ("short", "int16"),
    ("cfloat", "complex64"),
    ("cdouble", "complex128"),
];

/// The type of the elements of a storage; `None` for classes of quantized elements, and others.
pub(super) fn of_class(class: &str) -> Option<&'static str> {
    CLASSES.iter().find(|(name, _)| *name == class).map(|(_, ours)| *ours)
}

/// Types of a byte that nothing here computes with.
const NARROW: [&str; 5] =
    ["float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"];

/// The type of a name of `torch`.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, ours)| ours);
    let known = DType::from_name(name).filter(|dtype| dtype.size().is_some()).map(DType::name);
    known.or_else(|| NARROW.into_iter().find(|narrow| *narrow == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_type() {
        for (class, ours) in CLASSES {
            assert_eq!(of_class(class), Some(ours));
            assert!(tet_container::model::dtype::bits_of(ours).is_some(), "{ours}");
        }
        assert_eq!(of_class("QInt8Storage"), None);
        assert_eq!((of_name("half"), of_name("uint16")), (Some("float16"), Some("uint16")));
        assert_eq!((of_name("float8_e5m2"), of_name("bitmask")), (Some("float8_e5m2"), None));
    }
}
