//! Scaling of stored values by BSCALE, BZERO and BLANK, with the types that astropy chooses.
//!
//! Unsigned integers are stored as signed ones with a BZERO of half their range: such images have the unsigned
//! type. Other scales become the attributes of the CF conventions, by which values are decoded where something
//! is computed with them: in float32 for images of 8 and 16 bits and of float32, in float64 for the others.

use std::collections::BTreeMap;

use tet_format::DType;
use tet_query::AttrText;

use super::unit::{Kind, Unit};

/// The type of an image, and whether the sign bit of its pixels is turned.
pub(super) fn pixel_type(unit: &Unit) -> (DType, bool) {
    let number = |key: &str| unit.header.value(key).and_then(super::card::Value::number);
    let is_unscaled = number("BSCALE").is_none_or(|scale| scale == 1.0);
    let zero = number("BZERO").unwrap_or(0.0);
    let (stored, turned, half) = match unit.bitpix {
        8 => (DType::UInt8, DType::Int8, -128.0),
        16 => (DType::Int16, DType::UInt16, 32_768.0),
        32 => (DType::Int32, DType::UInt32, 2_147_483_648.0),
        64 => (DType::Int64, DType::UInt64, 9_223_372_036_854_775_808.0),
        -32 => return (DType::Float32, false),
        _ => return (DType::Float64, false),
    };
    let is_image = matches!(unit.kind, Kind::Image | Kind::Compressed);
    let is_turned = is_image && is_unscaled && zero == half;
    (if is_turned { turned } else { stored }, is_turned)
}

/// Adds the attributes by which the values of an image are decoded.
#[allow(clippy::cast_possible_truncation, reason = "astropy computes in float32 too")]
pub(super) fn describe(unit: &Unit, attrs: &mut BTreeMap<String, AttrText>) {
    let (dtype, is_turned) = pixel_type(unit);
    if is_turned {
        // The type contains what the cards say.
        attrs.remove("BSCALE");
        attrs.remove("BZERO");
        return;
    }
    let is_narrow = matches!(unit.bitpix, 8 | 16 | -32);
    let float = |value: f64| {
        if is_narrow {
            AttrText::number(DType::Float32, &(value as f32).to_le_bytes())
        } else {
            AttrText::number(DType::Float64, &value.to_le_bytes())
        }
    };
    let number = |key: &str| unit.header.value(key).and_then(super::card::Value::number);
    let (scale, zero) = (number("BSCALE").unwrap_or(1.0), number("BZERO").unwrap_or(0.0));
    if scale != 1.0 || zero != 0.0 {
        attrs.entry("scale_factor".to_owned()).or_insert_with(|| float(scale));
    }
    if zero != 0.0 {
        attrs.entry("add_offset".to_owned()).or_insert_with(|| float(zero));
    }
    let blank = unit.header.integer("BLANK").filter(|_| unit.bitpix > 0);
    if let Some(blank) = blank.and_then(|blank| in_type(blank, dtype)) {
        attrs.entry("_FillValue".to_owned()).or_insert(blank);
    }
}

/// An integer of a type; `None` for one that the type does not have: no pixel is equal to it.
fn in_type(value: i64, dtype: DType) -> Option<AttrText> {
    let attr = |bytes: &[u8]| AttrText::number(dtype, bytes);
    match dtype {
        DType::UInt8 => u8::try_from(value).ok().map(|it| attr(&it.to_le_bytes())),
        DType::Int16 => i16::try_from(value).ok().map(|it| attr(&it.to_le_bytes())),
        DType::Int32 => i32::try_from(value).ok().map(|it| attr(&it.to_le_bytes())),
        DType::Int64 => Some(attr(&value.to_le_bytes())),
        _ => None,
    }
}
