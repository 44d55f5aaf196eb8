//! Attributes (section IV.A.2.m).

use crate::error::{Result, fault};
use crate::header::{SharedMessages, kind};
use crate::message::datatype::{self, Datatype};
use crate::message::space::{self, Space};
use crate::reader::{Piece, Reader};
use crate::rule;

/// A named value of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAttribute {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub datatype: Datatype,
    /// Its shape.
    pub space: Space,
    /// The elements as stored.
    pub bytes: Vec<u8>,
    /// Where they are in the file.
    pub at: u64,
}

/// The name of an attribute whose other fields may be damaged.
pub(crate) fn name(body: &[u8]) -> Option<String> {
    let [version, _, low, high, ..] = body else { return None };
    let start = if *version == 3 { 9 } else { 8 };
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    let bytes = body.get(start..)?.get(..len)?;
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Where the elements of an attribute begin in its message.
pub(crate) fn elements_at(body: &[u8]) -> Option<usize> {
    let (version, lens) = (body.first()?, body.get(2..8)?);
    let padded = |len: &[u8; 2]| {
        let len = usize::from(u16::from_le_bytes(*len));
        if *version == 1 { len.next_multiple_of(8) } else { len }
    };
    let start = if *version == 3 { 9 } else { 8 };
    Some(start + lens.as_chunks::<2>().0.iter().map(padded).sum::<usize>())
}

/// How much larger a datatype in memory is than its message.
const DATATYPE_TIMES: usize = 4;

/// Reads an attribute; gives it with about the bytes that it takes.
pub(crate) fn read(
    reader: &Reader,
    shared: &SharedMessages,
    body: &Piece,
) -> Result<(StoredAttribute, usize)> {
    let mut fields = body.fields().with_rule(&rule::MESSAGE_CUT);
    let at = fields.at();
    let version = fields.byte()?;
    let flags = fields.byte()?;
    let lens = [fields.u16()?, fields.u16()?, fields.u16()?].map(usize::from);
    match version {
        1 | 2 => {}
        3 => {
            fields.take(1)?;
        }
        _ => return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 3)),
    }
    // Version 1 pads each part to 8 bytes.
    let padded = |len: usize| if version == 1 { len.next_multiple_of(8) } else { len };
    let flags = if version == 1 { 0 } else { flags };
    let name = fields.take(padded(lens[0]))?;
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let mut part = |len: usize, kind: u16, is_shared: bool| -> Result<Piece> {
        let piece = body.part(fields.position(), len, &rule::MESSAGE_CUT)?;
        fields.take(padded(len))?;
        if is_shared { shared.resolve(reader, kind, &piece) } else { Ok(piece) }
    };
    let datatype = part(lens[1], kind::DATATYPE, flags & 1 != 0)?;
    let space = part(lens[2], kind::DATASPACE, flags & 2 != 0)?;
    let cost = body.bytes.len().saturating_add(datatype.bytes.len().saturating_mul(DATATYPE_TIMES));
    let datatype = datatype::read(&mut datatype.fields().with_rule(&rule::MESSAGE_CUT))?;
    let space = space::read(&mut space.fields().with_rule(&rule::MESSAGE_CUT))?;
    let len = space.element_count().and_then(|count| count.checked_mul(datatype.size.into()));
    let len = len.and_then(|len| usize::try_from(len).ok());
    let at = fields.at();
    let len = len.ok_or_else(|| fault(&rule::DATASPACE, at, u64::MAX, 0))?;
    let bytes = fields.take(len)?.to_vec();
    Ok((StoredAttribute { name, datatype, space, bytes, at }, cost))
}
