//! Values of keys: numbers, text, and lists of either.

use tet_format::{DType, ForeignFault};
use tet_query::AttrText;

use super::cursor::Cursor;
use super::rule;
use tet_container::entry::ByteOrder;
use tet_container::read::header::{HeaderError, Parsed};

/// Longer lists are given by their length and type alone,
pub(crate) const LIST_COUNT_MAX: u64 = 1024;
/// and those whose text takes more bytes.
const LIST_LEN_MAX: usize = 64 << 10;
/// Lists of lists may be as deep.
const DEPTH_MAX: u64 = 8;

/// The value of a key.
pub(super) struct Value {
    pub(super) attr: AttrText,
    /// The value, if it is a `uint32`.
    pub(super) word: Option<u64>,
    /// The number of values of a list that is not shown.
    pub(super) hidden: Option<u64>,
}

const BOOL: u32 = 7;
const STRING: u32 = 8;
const LIST: u32 = 9;
const WORD: u32 = 4;

/// The type of numbers of a tag.
const fn dtype(tag: u32) -> Option<DType> {
    Some(match tag {
        0 => DType::UInt8,
        1 => DType::Int8,
        2 => DType::UInt16,
        3 => DType::Int16,
        WORD => DType::UInt32,
        5 => DType::Int32,
        6 => DType::Float32,
        BOOL => DType::Bool,
        10 => DType::UInt64,
        11 => DType::Int64,
        12 => DType::Float64,
        _ => return None,
    })
}

/// Reads a value of the type whose tag is next.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Parsed<Value> {
    let at = cursor.at();
    match cursor.word()? {
        STRING => {
            let text = String::from_utf8_lossy(cursor.text()?).into_owned();
            Ok(Value { attr: AttrText::Text(text), word: None, hidden: None })
        }
        LIST => list(cursor, 1),
        tag => {
            let dtype = number_type(tag, at)?;
            let bytes = numbers(cursor, dtype, 1)?;
            let attr = AttrText::number(dtype, &bytes);
            let word = bytes.first_chunk().filter(|_| tag == WORD).copied();
            let word = word.map(u32::from_le_bytes).map(u64::from);
            let attr = if tag == BOOL { AttrText::Json(attr.text().to_owned()) } else { attr };
            Ok(Value { attr, word, hidden: None })
        }
    }
}

fn number_type(tag: u32, at: u64) -> Parsed<DType> {
    let fault = ForeignFault { rule: &rule::VALUE_TYPE, at, found: u64::from(tag), wanted: 12 };
    dtype(tag).ok_or(HeaderError::Fault(fault))
}

/// The little-endian bytes of some numbers.
fn numbers(cursor: &mut Cursor<'_>, dtype: DType, count: u64) -> Parsed<Vec<u8>> {
    let order = cursor.order;
    let size = dtype.size().unwrap_or(1);
    let mut bytes = cursor.take(count.saturating_mul(size))?.to_vec();
    if order == ByteOrder::Big {
        let size = usize::try_from(size).unwrap_or(1);
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

fn list(cursor: &mut Cursor<'_>, depth: u64) -> Parsed<Value> {
    let at = cursor.at();
    if DEPTH_MAX < depth {
        let rule = &rule::LIMIT_NESTED;
        return Err(HeaderError::Fault(ForeignFault { rule, at, found: depth, wanted: DEPTH_MAX }));
    }
    let tag = cursor.word()?;
    let count = cursor.number()?;
    let is_short = count <= LIST_COUNT_MAX;
    let (attr, kind) = match tag {
        STRING => (strings(cursor, count)?, "strings"),
        LIST => (lists(cursor, count, depth)?, "lists"),
        tag => {
            let dtype = number_type(tag, at)?;
            if is_short {
                let bytes = numbers(cursor, dtype, count)?;
                let attr = AttrText::numbers(dtype, &bytes);
                let is_bool = tag == BOOL;
                let plain = |attr: &AttrText| AttrText::Json(attr.text().to_owned());
                (Some(if is_bool { plain(&attr) } else { attr }), dtype.name())
            } else {
                cursor.take(count.saturating_mul(dtype.size().unwrap_or(1)))?;
                (None, dtype.name())
            }
        }
    };
    let hidden = attr.is_none().then_some(count);
    let attr = attr.unwrap_or_else(|| AttrText::Text(format!("(a list of {count} {kind})")));
    Ok(Value { attr, word: None, hidden })
}

/// A list of strings as JSON; `None` for a long one.
fn strings(cursor: &mut Cursor<'_>, count: u64) -> Parsed<Option<AttrText>> {
    let mut json = (count <= LIST_COUNT_MAX).then(|| "[".to_owned());
    for number in 0..count {
        let text = cursor.text()?;
        let Some(list) = &mut json else { continue };
        if LIST_LEN_MAX < list.len().saturating_add(text.len()) {
            json = None;
            continue;
        }
        list.push_str(if number == 0 { "" } else { "," });
        let text = serde_json::Value::from(String::from_utf8_lossy(text));
        list.push_str(&text.to_string());
    }
    Ok(json.map(|list| AttrText::Json(list + "]")))
}

/// A list of lists as JSON; `None` for a long one.
fn lists(cursor: &mut Cursor<'_>, count: u64, depth: u64) -> Parsed<Option<AttrText>> {
    let mut json = (count <= LIST_COUNT_MAX).then(|| "[".to_owned());
    for number in 0..count {
        let inner = list(cursor, depth.saturating_add(1))?;
        let Some(list) = &mut json else { continue };
        let text = inner.attr.text();
        if inner.hidden.is_some() || LIST_LEN_MAX < list.len().saturating_add(text.len()) {
            json = None;
            continue;
        }
        list.push_str(if number == 0 { "" } else { "," });
        list.push_str(text);
    }
    Ok(json.map(|list| AttrText::Json(list + "]")))
}
