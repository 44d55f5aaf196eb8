//! Reads items as values.

use super::decode::{Head, Items, Reader};
use crate::fault::Fault;
use crate::value::Value;

/// Reads an item at `depth`, of at most `left` items; `None` if it has more.
///
/// In text that is not UTF-8 the invalid bytes are replaced, and the reader notes it.
///
/// # Errors
///
/// Returns a fault where there is no well-formed item.
pub fn value(
    reader: &mut Reader<'_>,
    depth: u32,
    left: &mut usize,
) -> Result<Option<Value>, Fault> {
    let Some(fewer) = left.checked_sub(1) else { return Ok(None) };
    *left = fewer;
    let start = reader.at();
    let head = reader.head()?;
    let value = match head {
        Head::Unsigned(number) => Value::Int(number.into()),
        Head::Negative(number) => Value::Int(-1 - i128::from(number)),
        Head::Bytes(_) => Value::Bytes(reader.string(head)?.into_owned()),
        Head::Text(_) => {
            let text = reader.string(head)?;
            Value::Text(String::from_utf8_lossy(&text).into_owned())
        }
        Head::Simple(20) => Value::Bool(false),
        Head::Simple(21) => Value::Bool(true),
        Head::Simple(22) => Value::Null,
        Head::Simple(23) => Value::Undefined,
        Head::Simple(number) => Value::Simple(number),
        Head::Float(number) => Value::Float(number),
        Head::Array(count) => return array(reader, count, depth, left),
        Head::Map(count) => return map(reader, count, depth, left),
        Head::Tag(tag) => {
            let inside = reader.deeper(depth)?;
            return Ok(value(reader, inside, left)?.map(|value| Value::Tag(tag, Box::new(value))));
        }
        Head::Break => {
            reader.skip_rest(head, start, depth)?;
            return Ok(None);
        }
    };
    Ok(Some(value))
}

fn array(
    reader: &mut Reader<'_>,
    count: Option<u64>,
    depth: u32,
    left: &mut usize,
) -> Result<Option<Value>, Fault> {
    let inside = reader.deeper(depth)?;
    let (mut items, mut values) = (Items::new(count), Vec::new());
    while items.next(reader) {
        let Some(item) = value(reader, inside, left)? else { return Ok(None) };
        values.push(item);
    }
    Ok(Some(Value::Array(values)))
}

fn map(
    reader: &mut Reader<'_>,
    count: Option<u64>,
    depth: u32,
    left: &mut usize,
) -> Result<Option<Value>, Fault> {
    let inside = reader.deeper(depth)?;
    let (mut items, mut pairs) = (Items::new(count), Vec::new());
    while items.next(reader) {
        let Some(key) = value(reader, inside, left)? else { return Ok(None) };
        let Some(item) = value(reader, inside, left)? else { return Ok(None) };
        pairs.push((key, item));
    }
    Ok(Some(Value::Map(pairs)))
}
