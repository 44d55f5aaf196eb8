//! Data types: type strings of version 2, names of version 3.

use serde_json::Value;
use tet_format::DType;

use crate::error::{Broken, broken};
use crate::rule;

/// The order of the bytes of a number.
///
/// ```
/// assert_ne!(tet_zarr::ZarrOrder::Little, tet_zarr::ZarrOrder::Big);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZarrOrder {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

/// Type of an element.
///
/// ```
/// use tet_zarr::ZarrElement;
///
/// assert_eq!(ZarrElement::Raw { size: 3 }.size(), Some(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZarrElement {
    /// A number, or a boolean value of one byte.
    Number(DType),
    /// A date or a duration: a signed integer of 64 bits that counts `scale` times `unit`, whose
    /// lowest value is no time.
    Time {
        /// Whether it is a duration (`timedelta64`) or a date since 1970 (`datetime64`).
        kind: TimeKind,
        /// The unit as NumPy names it, such as `ns`; `generic` without one.
        unit: String,
        /// How many units one step has.
        scale: u64,
    },
    /// Bytes without a meaning: `r16` and others of version 3, `|V2` of version 2.
    Raw {
        /// The number of bytes.
        size: u64,
    },
    /// A text of a fixed number of bytes, with zeros at its end: `|S5` and `<U5` of version 2,
    /// `null_terminated_bytes` and `fixed_length_utf32` of version 3.
    FixedText {
        /// The number of bytes.
        size: u64,
        /// Whether a character is a code point of four bytes; otherwise the text is in bytes.
        is_points: bool,
    },
    /// A text of any length: `string` of version 3, and objects of version 2 that the filter
    /// `vlen-utf8` makes texts of.
    Text,
    /// Fields one behind the other.
    Structure {
        /// The number of bytes.
        size: u64,
        /// The fields.
        fields: Vec<ZarrField>,
    },
    /// A type that is not read: objects, and others.
    Unsupported {
        /// Its name in the document.
        name: String,
    },
}

/// A field of a structure.
///
/// ```
/// use tet_format::DType;
/// use tet_zarr::{ZarrElement, ZarrField, ZarrOrder};
///
/// let (name, element) = ("t".to_owned(), ZarrElement::Number(DType::Float32));
/// let field = ZarrField { name, start: 0, element, order: ZarrOrder::Little, axes: vec![3] };
/// assert_eq!(field.size(), Some(12));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZarrField {
    /// Its name.
    pub name: String,
    /// Its first byte in the structure.
    pub start: u64,
    /// The type of its elements.
    pub element: ZarrElement,
    /// The order of the bytes of its numbers.
    pub order: ZarrOrder,
    /// The extents of an array of elements; none for one element.
    pub axes: Vec<u64>,
}

impl ZarrField {
    /// Its number of bytes; `None` for a type that is not read.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let size = self.element.size()?;
        self.axes.iter().try_fold(size, |size, &extent| size.checked_mul(extent))
    }
}

/// Meaning of a number of time.
///
/// ```
/// assert_ne!(tet_zarr::TimeKind::Date, tet_zarr::TimeKind::Duration);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// A time since 1970-01-01.
    Date,
    /// A duration.
    Duration,
}

impl ZarrElement {
    /// The number of bytes; `None` for a text of any length, and for a type that is not read.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            ZarrElement::Number(dtype) => dtype.size(),
            ZarrElement::Time { .. } => Some(8),
            ZarrElement::Raw { size }
            | ZarrElement::FixedText { size, .. }
            | ZarrElement::Structure { size, .. } => Some(*size),
            ZarrElement::Text | ZarrElement::Unsupported { .. } => None,
        }
    }

    /// The type of the stored numbers: that of integers for times; `None` for other elements.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        match self {
            ZarrElement::Number(dtype) => Some(*dtype),
            ZarrElement::Time { .. } => Some(DType::Int64),
            _ => None,
        }
    }

    fn unsupported(value: &Value) -> ZarrElement {
        let mut name = match value {
            Value::String(name) => name.clone(),
            Value::Object(object) => match object.get("name") {
                Some(Value::String(name)) => name.clone(),
                _ => value.to_string(),
            },
            _ => value.to_string(),
        };
        if let Some((at, _)) = name.char_indices().nth(200) {
            name.truncate(at);
        }
        ZarrElement::Unsupported { name }
    }

    /// The type of `dtype` in a `.zarray`, with its order of bytes.
    pub(crate) fn of_v2(value: &Value) -> Result<(ZarrElement, ZarrOrder), Broken> {
        let text = match value {
            Value::String(text) => text.as_str(),
            Value::Array(fields) => {
                let fields = structure(fields, 0, &|value| ZarrElement::of_v2(value).ok());
                let element = fields.unwrap_or_else(|| ZarrElement::unsupported(value));
                return Ok((element, ZarrOrder::Little));
            }
            _ => return Err(broken(&rule::DATA_TYPE, 0, 0)),
        };
        let order = if text.starts_with('>') { ZarrOrder::Big } else { ZarrOrder::Little };
        let number = |dtype| ZarrElement::Number(dtype);
        let element = match text.trim_start_matches(['<', '>', '|', '=']) {
            "b1" => number(DType::Bool),
            "i1" => number(DType::Int8),
            "i2" => number(DType::Int16),
            "i4" => number(DType::Int32),
            "i8" => number(DType::Int64),
            "u1" => number(DType::UInt8),
            "u2" => number(DType::UInt16),
            "u4" => number(DType::UInt32),
            "u8" => number(DType::UInt64),
            "f2" => number(DType::Float16),
            "f4" => number(DType::Float32),
            "f8" => number(DType::Float64),
            "c8" => number(DType::Complex64),
            "c16" => number(DType::Complex128),
            // As tensorstore writes it.
            "bfloat16" => number(DType::BFloat16),
            other => match v2_other(other) {
                Some(element) => element,
                None => ZarrElement::unsupported(value),
            },
        };
        Ok((element, order))
    }

    /// The type of `data_type` in a `zarr.json`.
    pub(crate) fn of_v3(value: &Value) -> Result<ZarrElement, Broken> {
        let (name, configuration) = match value {
            Value::String(name) => (name.as_str(), None),
            Value::Object(object) => match object.get("name") {
                Some(Value::String(name)) => (name.as_str(), object.get("configuration")),
                _ => return Err(broken(&rule::DATA_TYPE, 0, 0)),
            },
            _ => return Err(broken(&rule::DATA_TYPE, 0, 0)),
        };
        if let Some(dtype) = DType::from_name(name).filter(|dtype| *dtype != DType::Bitmask) {
            return Ok(ZarrElement::Number(dtype));
        }
        let kind = match name {
            "numpy.datetime64" => Some(TimeKind::Date),
            "numpy.timedelta64" => Some(TimeKind::Duration),
            _ => None,
        };
        if let Some(kind) = kind {
            let member = |name| configuration.and_then(|it| it.get(name));
            let unit = member("unit").and_then(Value::as_str).unwrap_or("generic").to_owned();
            let scale = member("scale_factor").and_then(Value::as_u64).unwrap_or(1);
            return Ok(ZarrElement::Time { kind, unit, scale });
        }
        if name == "structured" {
            let fields = configuration.and_then(|it| it.get("fields")?.as_array());
            let of = |value: &Value| Some((ZarrElement::of_v3(value).ok()?, ZarrOrder::Little));
            let fields = fields.and_then(|fields| structure(fields, 0, &of));
            return Ok(fields.unwrap_or_else(|| ZarrElement::unsupported(value)));
        }
        let length = || configuration.and_then(|it| it.get("length_bytes")?.as_u64());
        let text = match name {
            "string" => Some(ZarrElement::Text),
            "null_terminated_bytes" => length().and_then(|len| fixed_text(len, 1)),
            "fixed_length_utf32" => length().and_then(|len| fixed_text(len / 4, 4)),
            _ => None,
        };
        if let Some(text) = text {
            return Ok(text);
        }
        if name == "raw_bytes" {
            let size = configuration.and_then(|it| it.get("length_bytes")?.as_u64());
            return Ok(size.and_then(raw).unwrap_or_else(|| ZarrElement::unsupported(value)));
        }
        let bits = name.strip_prefix('r').and_then(|bits| bits.parse::<u64>().ok());
        Ok(match bits.and_then(|bits| raw(bits.checked_div(8).filter(|_| bits % 8 == 0)?)) {
            Some(element) => element,
            None => ZarrElement::unsupported(value),
        })
    }
}

/// Raw bytes, if it is a number of them that fits a signed 32-bit number, as in NumPy.
fn raw(size: u64) -> Option<ZarrElement> {
    (0 < size && size <= u64::from(u32::MAX >> 1)).then_some(ZarrElement::Raw { size })
}

/// The most fields of a structure, and the deepest structures within each other.
const FIELDS_MAX: usize = 1024;
const DEPTH_MAX: u32 = 8;

/// A list of fields as a structure: `[name, type]`, or `[name, type, extents]`; `None` for another list.
fn structure(
    list: &[Value],
    depth: u32,
    of: &dyn Fn(&Value) -> Option<(ZarrElement, ZarrOrder)>,
) -> Option<ZarrElement> {
    if FIELDS_MAX < list.len() || DEPTH_MAX < depth {
        return None;
    }
    let (mut fields, mut size) = (Vec::new(), 0_u64);
    for field in list {
        let [Value::String(name), dtype, axes @ ..] = field.as_array()?.as_slice() else {
            return None;
        };
        let (element, order) = match dtype {
            Value::Array(inner) => (structure(inner, depth + 1, of)?, ZarrOrder::Little),
            dtype => of(dtype)?,
        };
        let axes = match axes {
            [] => Vec::new(),
            [Value::Array(axes)] => axes.iter().map(Value::as_u64).collect::<Option<Vec<_>>>()?,
            [extent] => vec![extent.as_u64()?],
            _ => return None,
        };
        let field = ZarrField { name: name.clone(), start: size, element, order, axes };
        size = size.checked_add(field.size()?)?;
        fields.push(field);
    }
    let is_known = 0 < size && size <= u64::from(u32::MAX >> 1);
    is_known.then_some(ZarrElement::Structure { size, fields })
}

/// Texts of this many characters.
fn fixed_text(count: u64, width: u64) -> Option<ZarrElement> {
    let size = count.checked_mul(width)?;
    let is_known = 0 < size && size <= u64::from(u32::MAX >> 1);
    is_known.then_some(ZarrElement::FixedText { size, is_points: width == 4 })
}

fn v2_other(name: &str) -> Option<ZarrElement> {
    if let Some(count) = name.strip_prefix('S') {
        return fixed_text(count.parse().ok()?, 1);
    }
    if let Some(count) = name.strip_prefix('U') {
        return fixed_text(count.parse().ok()?, 4);
    }
    if let Some(size) = name.strip_prefix('V') {
        return raw(size.parse().ok()?);
    }
    let (kind, rest) = match name.split_at_checked(2)? {
        ("M8", rest) => (TimeKind::Date, rest),
        ("m8", rest) => (TimeKind::Duration, rest),
        _ => return None,
    };
    if rest.is_empty() {
        return Some(ZarrElement::Time { kind, unit: "generic".to_owned(), scale: 1 });
    }
    let inside = rest.strip_prefix('[')?.strip_suffix(']')?;
    let at = inside.find(|c: char| !c.is_ascii_digit())?;
    let (scale, unit) = inside.split_at(at);
    let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    let known = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u{3bc}s", "ns", "ps", "fs", "as"];
    let unit = unit.to_owned();
    (known.contains(&unit.as_str()) && scale != 0).then_some(ZarrElement::Time {
        kind,
        unit,
        scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn type_strings_have_their_order_of_bytes() {
        let of = |text: &str| ZarrElement::of_v2(&json!(text)).unwrap();
        assert_eq!(of("<f4"), (ZarrElement::Number(DType::Float32), ZarrOrder::Little));
        assert_eq!(of(">c16"), (ZarrElement::Number(DType::Complex128), ZarrOrder::Big));
        let (unit, kind) = ("ns".to_owned(), TimeKind::Date);
        assert_eq!(of(">M8[25ns]").0, ZarrElement::Time { kind, unit, scale: 25 });
        assert_eq!(of("|V3").0, ZarrElement::Raw { size: 3 });
        assert_eq!(of(">U4").0, ZarrElement::FixedText { size: 16, is_points: true });
        assert_eq!(of("|S3").0, ZarrElement::FixedText { size: 3, is_points: false });
        for name in
            ["<U0", "|S", "<U999999999999", "|O", "<f16", "|V0", "<M8[x]", "<M8[0s]", "\u{e9}", ""]
        {
            assert_eq!(of(name).0, ZarrElement::Unsupported { name: name.to_owned() });
        }
        assert!(ZarrElement::of_v2(&json!(3)).is_err());
    }

    #[test]
    fn lists_of_fields_are_structures() {
        let dtype =
            json!([["t", ">f4"], ["at", [["x", "<i2"], ["name", "|S3"]], [2]], ["n", "|u1", 3]]);
        let (element, _) = ZarrElement::of_v2(&dtype).unwrap();
        let ZarrElement::Structure { size, fields } = element else { panic!("no structure") };
        assert_eq!(size, 4 + 2 * 5 + 3);
        let places: Vec<_> = fields.iter().map(|it| (it.start, it.size().unwrap())).collect();
        assert_eq!(places, [(0, 4), (4, 10), (14, 3)]);
        assert_eq!((fields[0].order, &*fields[2].axes), (ZarrOrder::Big, &[3][..]));
        let fields = json!([["t", "float64"], ["k", "int8"]]);
        let v3 = json!({"name": "structured", "configuration": {"fields": fields}});
        assert_eq!(ZarrElement::of_v3(&v3).unwrap().size(), Some(9));
        let deep = (0..12).fold(json!("|u1"), |inner, _| json!([["x", inner]]));
        for odd in [
            json!([]),
            json!([["t"]]),
            json!([["t", "|O"]]),
            json!([["t", "<f4", -1]]),
            json!([["t", "<f4", [u64::MAX, 2]]]),
            json!([["t", "<f8", [u64::MAX / 8]], ["u", "<f8"]]),
            json!([["t", "<f4", 0]]),
            deep,
        ] {
            let (element, _) = ZarrElement::of_v2(&odd).unwrap();
            assert!(matches!(element, ZarrElement::Unsupported { .. }), "{odd}");
        }
    }

    #[test]
    fn names_are_types() {
        let of = |value: Value| ZarrElement::of_v3(&value);
        assert_eq!(of(json!("bfloat16")), Ok(ZarrElement::Number(DType::BFloat16)));
        assert_eq!(of(json!("r24")), Ok(ZarrElement::Raw { size: 3 }));
        assert_eq!(of(json!("string")), Ok(ZarrElement::Text));
        let fixed = |name: &str| of(json!({"name": name, "configuration": {"length_bytes": 8}}));
        let text = |is_points| Ok(ZarrElement::FixedText { size: 8, is_points });
        assert_eq!(fixed("null_terminated_bytes"), text(false));
        assert_eq!(fixed("fixed_length_utf32"), text(true));
        for name in ["r0", "r7", "fixed_length_utf32", "bitmask", "r99999999999999999999"] {
            assert_eq!(of(json!(name)), Ok(ZarrElement::Unsupported { name: name.to_owned() }));
        }
        let time = of(
            json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}),
        );
        assert_eq!(time.unwrap().dtype(), Some(DType::Int64));
        assert!(of(json!({"configuration": {}})).is_err());
    }
}
