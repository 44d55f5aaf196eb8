//! Values.

/// A CBOR item, exactly as stored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing.
    Null,
    /// The value `undefined`.
    Undefined,
    /// True or false.
    Bool(bool),
    /// An integer of -2^64 to 2^64 - 1.
    Int(i128),
    /// A floating-point number; NaN preserves the bits that fit in an `f64`.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Value>),
    /// Pairs, in the order of the file.
    Map(Vec<(Value, Value)>),
    /// An item under a tag.
    Tag(u64, Box<Value>),
    /// A simple value other than false, true, null and undefined.
    Simple(u8),
}

impl Value {
    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }
}
