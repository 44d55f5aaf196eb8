//! Datatypes: all classes, as a tree (section IV.A.2.d).

use crate::error::{Result, fault};
use crate::reader::{Fields, width_of};
use crate::rule;

/// Datatypes are read to this depth.
const DEPTH_MAX: u32 = 32;

/// The type of elements.
///
/// # Examples
///
/// ```
/// use tet_hdf5::{Class, Datatype, NumberOrder};
///
/// let class = Class::Integer { order: NumberOrder::Little, is_signed: true, offset: 0, precision: 16 };
/// let int16 = Datatype { size: 2, class };
/// assert!(int16.is_plain_integer());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// Bytes of an element.
    pub size: u32,
    /// The class of the type.
    pub class: Class,
}

/// The order of the bytes of a number.
///
/// # Examples
///
/// ```
/// assert_ne!(tet_hdf5::NumberOrder::Little, tet_hdf5::NumberOrder::Big);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberOrder {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
    /// Pairs of bytes swapped, as on a VAX.
    Vax,
}

/// Where the bits of a floating-point number are.
///
/// # Examples
///
/// ```
/// use tet_hdf5::FloatBits;
///
/// let float32 = FloatBits { sign_at: 31, exponent_at: 23, exponent_len: 8, mantissa_at: 0, mantissa_len: 23, bias: 127 };
/// assert_eq!(float32, FloatBits::FLOAT32);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatBits {
    /// The position of the sign.
    pub sign_at: u8,
    /// The lowest bit of the exponent.
    pub exponent_at: u8,
    /// Bits of the exponent.
    pub exponent_len: u8,
    /// The lowest bit of the mantissa.
    pub mantissa_at: u8,
    /// Bits of the mantissa.
    pub mantissa_len: u8,
    /// The exponent bias.
    pub bias: u32,
}

impl FloatBits {
    /// IEEE 754 half precision.
    pub const FLOAT16: FloatBits = FloatBits::new(15, 10, 5, 15);
    /// The upper half of a `float32`.
    pub const BFLOAT16: FloatBits = FloatBits::new(15, 7, 8, 127);
    /// IEEE 754 single precision.
    pub const FLOAT32: FloatBits = FloatBits::new(31, 23, 8, 127);
    /// IEEE 754 double precision.
    pub const FLOAT64: FloatBits = FloatBits::new(63, 52, 11, 1023);

    const fn new(sign_at: u8, exponent_at: u8, exponent_len: u8, bias: u32) -> FloatBits {
        let (mantissa_at, mantissa_len) = (0, exponent_at);
        FloatBits { sign_at, exponent_at, exponent_len, mantissa_at, mantissa_len, bias }
    }
}

/// A member of a compound.
///
/// # Examples
///
/// ```
/// use tet_hdf5::{Class, Datatype, StoredMember, TextEnd};
///
/// let datatype = Datatype { size: 8, class: Class::Text { end: TextEnd::Null, is_utf8: true } };
/// let member = StoredMember { name: "station".to_owned(), offset: 0, datatype };
/// assert_eq!(member.datatype.size, 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredMember {
    /// Its name.
    pub name: String,
    /// Its first byte in the compound.
    pub offset: u32,
    /// Its type.
    pub datatype: Datatype,
}

/// How a text of fixed length ends.
///
/// # Examples
///
/// ```
/// assert_ne!(tet_hdf5::TextEnd::Null, tet_hdf5::TextEnd::Spaces);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextEnd {
    /// At the first zero.
    Null,
    /// Padded with zeros.
    Zeros,
    /// Padded with spaces.
    Spaces,
}

/// Class of a datatype: the meaning of the bytes of an element.
///
/// # Examples
///
/// ```
/// use tet_hdf5::{Class, TextEnd};
///
/// let class = Class::Text { end: TextEnd::Zeros, is_utf8: false };
/// assert!(matches!(class, Class::Text { is_utf8: false, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// An integer.
    Integer {
        /// The order of its bytes.
        order: NumberOrder,
        /// Whether it has a sign.
        is_signed: bool,
        /// The lowest bit that counts.
        offset: u16,
        /// How many bits count.
        precision: u16,
    },
    /// A floating-point number.
    Float {
        /// The order of its bytes.
        order: NumberOrder,
        /// The lowest bit that counts.
        offset: u16,
        /// How many bits count.
        precision: u16,
        /// Where its bits are.
        bits: FloatBits,
    },
    /// A time, of no agreed meaning.
    Time,
    /// Text of a fixed length.
    Text {
        /// How it ends.
        end: TextEnd,
        /// UTF-8; otherwise ASCII.
        is_utf8: bool,
    },
    /// Bits.
    Bits {
        /// The order of the bytes.
        order: NumberOrder,
    },
    /// Bytes without a meaning that the file says.
    Opaque,
    /// Members side by side.
    Compound(Vec<StoredMember>),
    /// A reference: 0 to an object, 1 to a region, 2 to 4 of the newer kind.
    Reference(u8),
    /// Integers with names.
    Enum {
        /// The type of the values.
        base: Box<Datatype>,
        /// Names, and values as stored.
        members: Vec<(String, Vec<u8>)>,
    },
    /// A list of any length.
    List(Box<Datatype>),
    /// A text of any length.
    VariableText {
        /// UTF-8; otherwise ASCII.
        is_utf8: bool,
    },
    /// An array in each element.
    Array {
        /// Its extents.
        shape: Vec<u64>,
        /// The type of its elements.
        base: Box<Datatype>,
    },
    /// Two numbers: real, imaginary.
    Complex(Box<Datatype>),
}

impl Datatype {
    /// Whether it is an integer of which all bits count.
    #[must_use]
    pub const fn is_plain_integer(&self) -> bool {
        let bits = self.size.saturating_mul(8);
        matches!(self.class, Class::Integer { offset: 0, precision, .. } if precision as u32 == bits)
    }
}

/// Reads a datatype.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Datatype> {
    at_depth(fields, 0)
}

fn at_depth(fields: &mut Fields<'_>, depth: u32) -> Result<Datatype> {
    let at = fields.at();
    if depth == DEPTH_MAX {
        return Err(fault(&rule::LIMIT_TYPE, at, depth.into(), DEPTH_MAX.into()));
    }
    let head = fields.byte()?;
    let (version, number) = (head >> 4, head & 15);
    if version == 0 || 5 < version {
        return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 5));
    }
    let [low, middle, high] = [fields.byte()?, fields.byte()?, fields.byte()?];
    let size = fields.u32()?;
    let misfit = || fault(&rule::DATATYPE, at, number.into(), size.into());
    if size == 0 || size > i32::MAX.unsigned_abs() {
        return Err(misfit());
    }
    let order = if low & 1 == 0 { NumberOrder::Little } else { NumberOrder::Big };
    let count = u16::from_le_bytes([low, middle]);
    let class = match number {
        0 => {
            let (offset, precision) = (fields.u16()?, fields.u16()?);
            Class::Integer { order, is_signed: low & 8 != 0, offset, precision }
        }
        1 => float(fields, low, middle)?,
        2 => {
            fields.take(2)?;
            Class::Time
        }
        3 => text(low).ok_or_else(misfit)?,
        4 => {
            fields.take(4)?;
            Class::Bits { order }
        }
        5 => {
            fields.take(usize::from(low).next_multiple_of(8).min(fields.left()))?;
            Class::Opaque
        }
        6 => Class::Compound(compound(fields, version, count, size, depth)?),
        7 => Class::Reference(low & 15),
        8 => named(fields, version, count, depth)?,
        9 => {
            let base = at_depth(fields, depth + 1)?;
            match low & 15 {
                1 => Class::VariableText { is_utf8: middle & 15 == 1 },
                _ => Class::List(Box::new(base)),
            }
        }
        10 => array(fields, version, depth)?,
        11 => Class::Complex(Box::new(at_depth(fields, depth + 1)?)),
        _ => return Err(misfit()),
    };
    let _ = high;
    let datatype = Datatype { size, class };
    if fits(&datatype) { Ok(datatype) } else { Err(misfit()) }
}

/// Whether the parts of a type fit its size.
fn fits(datatype: &Datatype) -> bool {
    let size = u64::from(datatype.size);
    match &datatype.class {
        Class::Compound(members) => {
            members.iter().all(|it| u64::from(it.offset) + u64::from(it.datatype.size) <= size)
        }
        Class::Enum { base, .. } => u64::from(base.size) == size,
        Class::Array { shape, base } => {
            let count = shape.iter().try_fold(1_u64, |count, &it| count.checked_mul(it));
            count.and_then(|count| count.checked_mul(base.size.into())) == Some(size)
        }
        Class::Complex(base) => u64::from(base.size) * 2 == size,
        _ => true,
    }
}

fn float(fields: &mut Fields<'_>, low: u8, sign_at: u8) -> Result<Class> {
    let (offset, precision) = (fields.u16()?, fields.u16()?);
    let [exponent_at, exponent_len, mantissa_at, mantissa_len] =
        [fields.byte()?, fields.byte()?, fields.byte()?, fields.byte()?];
    let bias = fields.u32()?;
    let order = match (low & 1, low & 0x40) {
        (0, _) => NumberOrder::Little,
        (_, 0) => NumberOrder::Big,
        _ => NumberOrder::Vax,
    };
    let bits = FloatBits { sign_at, exponent_at, exponent_len, mantissa_at, mantissa_len, bias };
    Ok(Class::Float { order, offset, precision, bits })
}

const fn text(low: u8) -> Option<Class> {
    let end = match low & 15 {
        0 => TextEnd::Null,
        1 => TextEnd::Zeros,
        2 => TextEnd::Spaces,
        _ => return None,
    };
    Some(Class::Text { end, is_utf8: low >> 4 == 1 })
}

/// A name, padded to 8 bytes before version 3.
fn name(fields: &mut Fields<'_>, version: u8) -> Result<String> {
    let start = fields.position();
    let name = fields.text()?;
    if version < 3 {
        let len = fields.position() - start;
        fields.take(len.next_multiple_of(8) - len)?;
    }
    Ok(name)
}

fn compound(
    fields: &mut Fields<'_>,
    version: u8,
    count: u16,
    size: u32,
    depth: u32,
) -> Result<Vec<StoredMember>> {
    let mut members = Vec::new();
    for _ in 0..count {
        let name = name(fields, version)?;
        let width = if version < 3 { 4 } else { width_of(size.into()) };
        let at = fields.at();
        let offset = fields.uint(width)?;
        let offset =
            u32::try_from(offset).map_err(|_| fault(&rule::DATATYPE, at, offset, size.into()))?;
        let mut shape = Vec::new();
        if version == 1 {
            let rank = usize::from(fields.byte()?);
            fields.take(3 + 4 + 4)?;
            let extents = [fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?];
            shape.extend(extents.into_iter().take(rank).map(u64::from));
        }
        let mut datatype = at_depth(fields, depth + 1)?;
        if !shape.is_empty() {
            let count = shape.iter().try_fold(1_u64, |count, &it| count.checked_mul(it));
            let size = count.and_then(|count| count.checked_mul(datatype.size.into()));
            let size = size.and_then(|size| u32::try_from(size).ok());
            let size = size.ok_or_else(|| fault(&rule::DATATYPE, at, u64::MAX, 0))?;
            datatype = Datatype { size, class: Class::Array { shape, base: Box::new(datatype) } };
        }
        members.push(StoredMember { name, offset, datatype });
    }
    Ok(members)
}

fn named(fields: &mut Fields<'_>, version: u8, count: u16, depth: u32) -> Result<Class> {
    let base = at_depth(fields, depth + 1)?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(name(fields, version)?);
    }
    let len = usize::try_from(base.size).unwrap_or(usize::MAX);
    let mut members = Vec::new();
    for name in names {
        members.push((name, fields.take(len)?.to_vec()));
    }
    Ok(Class::Enum { base: Box::new(base), members })
}

fn array(fields: &mut Fields<'_>, version: u8, depth: u32) -> Result<Class> {
    let rank = usize::from(fields.byte()?);
    if version < 3 {
        fields.take(3)?;
    }
    let mut shape = Vec::new();
    for _ in 0..rank {
        shape.push(u64::from(fields.u32()?));
    }
    if version < 3 {
        fields.take(rank.saturating_mul(4))?;
    }
    let base = Box::new(at_depth(fields, depth + 1)?);
    Ok(Class::Array { shape, base })
}
