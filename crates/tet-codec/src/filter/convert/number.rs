//! Types of numbers by their names in NumPy, and conversions between them.

/// A type of numbers.
///
/// ```
/// use tet_codec::NumberType;
///
/// assert_eq!(NumberType::parse(">i4").map(NumberType::size), Some(4));
/// assert_eq!(NumberType::parse("<U3"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberType {
    kind: Kind,
    is_big: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

/// A number of any type, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    pub(super) fn float(self) -> f64 {
        match self {
            // As NumPy does: rounded to the nearest.
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
        }
    }

    pub(super) fn plus(self, other: Value) -> Value {
        match (self, other) {
            (Value::Int(one), Value::Int(two)) => Value::Int(one.wrapping_add(two)),
            _ => Value::Float(self.float() + other.float()),
        }
    }
}

impl NumberType {
    /// The type of this name: `<i4`, `>f8`, `|u1`, or as in Zarr v3, `int32`.
    #[must_use]
    pub fn parse(name: &str) -> Option<NumberType> {
        let (is_big, short) = match name.strip_prefix(['<', '|', '=']) {
            Some(short) => (false, short),
            None => name.strip_prefix('>').map_or((false, name), |short| (true, short)),
        };
        let kind = match short {
            "i1" | "int8" => Kind::I8,
            "i2" | "int16" => Kind::I16,
            "i4" | "int32" => Kind::I32,
            "i8" | "int64" => Kind::I64,
            "u1" | "uint8" | "b1" | "bool" => Kind::U8,
            "u2" | "uint16" => Kind::U16,
            "u4" | "uint32" => Kind::U32,
            "u8" | "uint64" => Kind::U64,
            "f4" | "float32" => Kind::F32,
            "f8" | "float64" => Kind::F64,
            _ => return None,
        };
        Some(NumberType { kind, is_big })
    }

    /// The length in bytes.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self.kind {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    pub(super) const fn is_single(self) -> bool {
        matches!(self.kind, Kind::F32)
    }

    /// The value as this type has it: integers wrap, fractions are cut off.
    pub(super) fn cast(self, value: Value) -> Value {
        let bytes = self.bytes(value);
        self.value(bytes.get(..self.width()).unwrap_or_default())
    }

    const fn width(self) -> usize {
        match self.kind {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    fn value(self, bytes: &[u8]) -> Value {
        let word = if self.is_big {
            bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
        } else {
            bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        let unused = u32::try_from(64 - 8 * self.width()).unwrap_or_default();
        match self.kind {
            Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
                Value::Int(((word << unused).cast_signed() >> unused).into())
            }
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => Value::Int(word.into()),
            Kind::F32 => {
                Value::Float(f32::from_bits(u32::try_from(word).unwrap_or_default()).into())
            }
            Kind::F64 => Value::Float(f64::from_bits(word)),
        }
    }

    /// The bytes of a value; the first ones, as many as the type has.
    fn bytes(self, value: Value) -> [u8; 8] {
        let word = match (self.kind, value) {
            (Kind::F32, Value::Float(number)) => u64::from((number as f32).to_bits()),
            (Kind::F32, Value::Int(number)) => u64::from((number as f32).to_bits()),
            (Kind::F64, value) => value.float().to_bits(),
            (_, Value::Int(number)) => (number & i128::from(u64::MAX)) as u64,
            (Kind::U64, Value::Float(number)) if 0.0 <= number => number as u64,
            (_, Value::Float(number)) => (number as i64).cast_unsigned(),
        };
        let mut bytes = word.to_le_bytes();
        if self.is_big {
            bytes.get_mut(..self.width()).unwrap_or_default().reverse();
        }
        bytes
    }
}

/// Converts numbers one by one.
pub(super) fn each(
    from: NumberType,
    stored: &[u8],
    to: NumberType,
    out: &mut [u8],
    mut convert: impl FnMut(Value) -> Value,
) {
    let places = out.chunks_exact_mut(to.width());
    for (place, bytes) in places.zip(stored.chunks_exact(from.width())) {
        let bytes = to.bytes(convert(from.value(bytes)));
        place.copy_from_slice(bytes.get(..to.width()).unwrap_or_default());
    }
}
