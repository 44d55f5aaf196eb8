//! The elements of a dataset: a type, the order of its bytes, and axes of its own.

use crate::{Class, Datatype, FloatBits, NumberOrder, StoredMember};
use tet_codec::MemberStage;
use tet_format::DType;
use tet_query::Enumeration;

use super::bits::Bits;

/// How the elements of a datatype are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) dtype: DType,
    /// Bytes that are turned around together; 1 where none are.
    pub(super) swapped: u64,
    /// The extents of an array in each element, which become the last axes.
    pub(super) axes: Vec<u64>,
    /// Which bits of an integer count, where not all do.
    pub(super) bits: Option<Bits>,
    /// Which bytes of a stored element it is, where that has others too.
    pub(super) member: Option<MemberStage>,
}

impl Element {
    /// Makes little-endian elements of stored ones, in their place.
    pub(super) fn decode(&self, bytes: &mut [u8]) {
        if let Some(bits) = self.bits {
            bits.extend(bytes);
        }
        let width = usize::try_from(self.swapped).unwrap_or(1);
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

/// How the elements of this type are read; `None` for a type that is not an array of numbers.
pub(super) fn element(datatype: &Datatype) -> Option<Element> {
    let width = u64::from(datatype.size);
    let number = |dtype: DType, order: NumberOrder, width: u64| {
        let swapped = match order {
            NumberOrder::Little => 1,
            NumberOrder::Big => width,
            NumberOrder::Vax => return None,
        };
        Some(Element { dtype, swapped, axes: Vec::new(), bits: None, member: None })
    };
    match &datatype.class {
        Class::Integer { order, is_signed, .. } if datatype.is_plain_integer() => {
            number(integer(width, *is_signed)?, *order, width)
        }
        Class::Integer { order, is_signed, offset, precision } => {
            let fits = (1..=width * 8).contains(&u64::from(*precision))
                && u64::from(*offset) + u64::from(*precision) <= width * 8;
            let element = number(integer(width, *is_signed)?, *order, width).filter(|_| fits)?;
            let (is_big, is_signed) = (*order == NumberOrder::Big, *is_signed);
            let width = usize::try_from(width).ok()?;
            let bits = Bits { width, is_big, is_signed, offset: *offset, precision: *precision };
            Some(Element { bits: Some(bits), ..element })
        }
        Class::Bits { order } => number(integer(width, false)?, *order, width),
        Class::Float { order, offset: 0, precision, bits }
            if u64::from(*precision) == width * 8 =>
        {
            number(float(width, *bits)?, *order, width)
        }
        Class::Enum { base, members } => {
            let names: Vec<(&str, &[u8])> =
                members.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
            if names == [("FALSE", &[0][..]), ("TRUE", &[1][..])] {
                return number(DType::Bool, NumberOrder::Little, 1);
            }
            element(base)
        }
        Class::Complex(base) => complex(base),
        Class::Compound(members) => pair(members, width).and_then(complex),
        Class::Array { shape, base } => {
            let inner = element(base)?;
            let axes = shape.iter().copied().chain(inner.axes).collect();
            Some(Element { axes, ..inner })
        }
        _ => None,
    }
}

/// The names of the integers of a datatype, which are read as `element`; `None` for truths and other types.
pub(super) fn enumeration(datatype: &Datatype, element: &Element) -> Option<Enumeration> {
    let Class::Enum { members, .. } = &datatype.class else { return None };
    let is_integer = element.dtype.is_integer() && element.axes.is_empty();
    let decoded = |(name, value): &(String, Vec<u8>)| {
        let mut value = value.clone();
        element.decode(&mut value);
        (name.clone(), value)
    };
    let members = members.iter().map(decoded).collect();
    is_integer.then_some(Enumeration { dtype: element.dtype, members })
}

/// The type of the texts in each element, and the extents of arrays of them; `None` for other types.
pub(super) fn texts(datatype: &Datatype) -> Option<(&Datatype, Vec<u64>)> {
    match &datatype.class {
        Class::Text { .. } | Class::VariableText { .. } => Some((datatype, Vec::new())),
        Class::Array { shape, base } => {
            let (texts, axes) = texts(base)?;
            Some((texts, shape.iter().copied().chain(axes).collect()))
        }
        _ => None,
    }
}

/// Whether the bytes of an element are all that there is of it: those of a reference, of a list and of a text of any
/// length say where it is in their file.
pub(super) fn is_whole(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::Reference(_) | Class::List(_) | Class::VariableText { .. } => false,
        Class::Array { base, .. } | Class::Enum { base, .. } | Class::Complex(base) => {
            is_whole(base)
        }
        Class::Compound(members) => members.iter().all(|member| is_whole(&member.datatype)),
        _ => datatype.size != 0,
    }
}

/// The bytes of elements of this type, along these axes.
pub(super) const fn bytes(axes: Vec<u64>) -> Element {
    Element { dtype: DType::UInt8, swapped: 1, axes, bits: None, member: None }
}

const fn integer(width: u64, is_signed: bool) -> Option<DType> {
    Some(match (width, is_signed) {
        (1, true) => DType::Int8,
        (2, true) => DType::Int16,
        (4, true) => DType::Int32,
        (8, true) => DType::Int64,
        (1, false) => DType::UInt8,
        (2, false) => DType::UInt16,
        (4, false) => DType::UInt32,
        (8, false) => DType::UInt64,
        _ => return None,
    })
}

fn float(width: u64, bits: FloatBits) -> Option<DType> {
    [
        (2, FloatBits::FLOAT16, DType::Float16),
        (2, FloatBits::BFLOAT16, DType::BFloat16),
        (4, FloatBits::FLOAT32, DType::Float32),
        (8, FloatBits::FLOAT64, DType::Float64),
    ]
    .into_iter()
    .find(|(size, known, _)| *size == width && *known == bits)
    .map(|(_, _, dtype)| dtype)
}

/// The type of both members, where a compound is a complex number as h5py writes it.
fn pair(members: &[StoredMember], width: u64) -> Option<&Datatype> {
    let [real, imaginary] = members else { return None };
    let is_pair = (real.name.as_str(), imaginary.name.as_str()) == ("r", "i");
    let is_dense = real.offset == 0
        && imaginary.offset == real.datatype.size
        && u64::from(real.datatype.size) * 2 == width;
    (is_pair && is_dense && real.datatype == imaginary.datatype).then_some(&real.datatype)
}

fn complex(base: &Datatype) -> Option<Element> {
    let part = element(base)?;
    let dtype = match part.dtype {
        DType::Float32 => DType::Complex64,
        DType::Float64 => DType::Complex128,
        _ => return None,
    };
    Some(Element { dtype, ..part })
}

/// The name, in listings and messages, of a type that is not read as numbers.
pub(super) fn name(datatype: &Datatype) -> String {
    let size = datatype.size;
    match &datatype.class {
        Class::Integer { is_signed: true, precision, .. } => {
            format!("int{precision} in {size} bytes")
        }
        Class::Integer { precision, .. } => format!("uint{precision} in {size} bytes"),
        Class::Float { precision, .. } => format!("float{precision} in {size} bytes"),
        Class::Text { .. } | Class::VariableText { .. } => "string".to_owned(),
        Class::Time => "time".to_owned(),
        Class::Bits { .. } => format!("bits in {size} bytes"),
        Class::Reference(_) => "reference".to_owned(),
        Class::List(base) => format!("list of {}", of_part(base)),
        Class::Array { base, .. } => format!("array of {}", of_part(base)),
        Class::Enum { base, .. } => of_part(base),
        Class::Complex(base) => format!("complex of {}", of_part(base)),
        Class::Compound(members) => {
            let member = |it: &StoredMember| format!("{}: {}", it.name, of_part(&it.datatype));
            let names: Vec<String> = members.iter().take(8).map(member).collect();
            let more = if members.len() > 8 { ", ..." } else { "" };
            format!("compound of {}{more}", names.join(", "))
        }
        _ => format!("opaque of {size} bytes"),
    }
}

fn of_part(datatype: &Datatype) -> String {
    let known = element(datatype).filter(|element| element.axes.is_empty());
    known.map_or_else(|| name(datatype), |element| element.dtype.name().to_owned())
}
