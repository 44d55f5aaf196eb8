//! Finds elements that are not finite, for encoding.

use std::ops::BitOr;

use half::{bf16, f16};
use multiversion::multiversion;
use tet_format::DType;

use crate::descriptor::MaskKind;
use crate::error::Result;
use crate::pipeline::{buffer, index};

/// Elements checked together: nearly always all of them are finite.
const BLOCK: usize = 1024;
/// The exponent of a double that is not finite.
const INFINITE: u64 = 0x7FF << 52;

/// The elements of an object that are not finite.
#[derive(Debug, Default)]
pub(crate) struct NonFiniteMasks {
    /// The first element of each kind, if there is one.
    pub(crate) first: [Option<u64>; 3],
    /// Their bits, if there are any.
    pub(crate) bits: [Option<Vec<u8>>; 3],
}

/// Finds the elements that are not finite; none if the dtype has none.
///
/// Adds the lowest exponent bit: the sum carries into the sign bit, which was cleared, only if all
/// bits of the exponent are set. The sums of many elements are combined by OR.
pub(crate) fn find(dtype: DType, elements: &[u8]) -> Result<NonFiniteMasks> {
    match dtype {
        DType::Float16 => each(
            elements,
            |it| (u16::from_le_bytes(it) & 0x7C00) + 0x0400,
            |carry_bits| carry_bits >> 15 == 0,
            |it| kind_of(f16::from_le_bytes(it).to_f32().into()),
        ),
        DType::BFloat16 => each(
            elements,
            |it| (u16::from_le_bytes(it) & 0x7F80) + 0x0080,
            |carry_bits| carry_bits >> 15 == 0,
            |it| kind_of(bf16::from_le_bytes(it).to_f32().into()),
        ),
        DType::Float32 => each(
            elements,
            |it| single(u32::from_le_bytes(it)),
            |carry_bits| carry_bits >> 31 == 0,
            |it| kind_of(f32::from_le_bytes(it).into()),
        ),
        DType::Float64 => each(
            elements,
            |it| double(u64::from_le_bytes(it)),
            |carry_bits| carry_bits >> 63 == 0,
            |it| kind_of(f64::from_le_bytes(it)),
        ),
        DType::Complex64 => each(
            elements,
            |[a, b, c, d, e, f, g, h]: [u8; 8]| {
                let [real, imaginary] = [[a, b, c, d], [e, f, g, h]].map(u32::from_le_bytes);
                single(real) | single(imaginary)
            },
            |carry_bits| carry_bits >> 31 == 0,
            |[a, b, c, d, e, f, g, h]| {
                let parts = [[a, b, c, d], [e, f, g, h]].map(f32::from_le_bytes);
                of_parts(parts.map(|part| kind_of(part.into())))
            },
        ),
        DType::Complex128 => each(
            elements,
            |element: [u8; 16]| {
                let parts = element.as_chunks().0.iter();
                parts.fold(0, |all, part| all | double(u64::from_le_bytes(*part)))
            },
            |carry_bits| carry_bits >> 63 == 0,
            |element: [u8; 16]| {
                let (parts, _) = element.as_chunks::<8>();
                let part = |at: usize| parts.get(at).map(|part| f64::from_le_bytes(*part));
                of_parts([part(0), part(1)].map(|part| part.and_then(kind_of)))
            },
        ),
        _ => Ok(NonFiniteMasks::default()),
    }
}

const fn single(bits: u32) -> u32 {
    (bits & 0x7F80_0000) + 0x0080_0000
}

const fn double(bits: u64) -> u64 {
    (bits & INFINITE) + (1 << 52)
}

fn kind_of(value: f64) -> Option<MaskKind> {
    if value.is_finite() {
        None
    } else if value.is_nan() {
        Some(MaskKind::Nan)
    } else if 0.0 < value {
        Some(MaskKind::PosInf)
    } else {
        Some(MaskKind::NegInf)
    }
}

/// NaN in a part takes precedence over infinities, positive over negative.
fn of_parts([real, imaginary]: [Option<MaskKind>; 2]) -> Option<MaskKind> {
    match (real, imaginary) {
        (Some(real), Some(imaginary)) => Some(real.min(imaginary)),
        (one, other) => one.or(other),
    }
}

fn each<const SIZE: usize, Word: Default + BitOr<Output = Word>>(
    elements: &[u8],
    carry: impl Fn([u8; SIZE]) -> Word,
    is_clear: impl Fn(Word) -> bool,
    kind: impl Fn([u8; SIZE]) -> Option<MaskKind>,
) -> Result<NonFiniteMasks> {
    let mut found = NonFiniteMasks::default();
    let elements = elements.as_chunks::<SIZE>().0;
    let len = (elements.len() as u64).div_ceil(8);
    let is_finite = |block: &[[u8; SIZE]]| is_clear(carry_bits(block, &carry));
    let blocks = elements.chunks(BLOCK).enumerate().filter(|(_, block)| !is_finite(block));
    let others = blocks.flat_map(|(number, block)| (number * BLOCK..).zip(block));
    for (element, bytes) in others {
        let Some(kind) = kind(*bytes) else { continue };
        let slots = found.first.get_mut(kind as usize).zip(found.bits.get_mut(kind as usize));
        let Some((first, bits)) = slots else { continue };
        first.get_or_insert(element as u64);
        if bits.is_none() {
            *bits = Some(buffer(len)?);
        }
        let byte = bits.as_mut().and_then(|bits| bits.get_mut(index(element as u64 / 8)));
        if let Some(byte) = byte {
            *byte |= 0x80 >> (element % 8);
        }
    }
    Ok(found)
}

/// The carry bits of all elements, combined.
#[multiversion(targets("x86_64+avx+avx2"))]
fn carry_bits<const SIZE: usize, Word, Carry>(elements: &[[u8; SIZE]], carry: &Carry) -> Word
where
    Word: Default + BitOr<Output = Word>,
    Carry: Fn([u8; SIZE]) -> Word,
{
    let mut all = Word::default();
    for element in elements {
        all = all | carry(*element);
    }
    all
}
