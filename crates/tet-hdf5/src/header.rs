//! Object headers: the messages of an object, out of all blocks of its header (section IV.A).

mod shared;

use std::collections::{BTreeSet, VecDeque};

use tet_format::ForeignFault;

use crate::error::{Result, fault};
use crate::reader::{Piece, Reader};
use crate::rule;

/// The most bytes of the continuations of a header.
const HEADER_LEN_MAX: u64 = 64 << 20;
/// The most messages of a header of version 1, which counts them in 16 bits.
const MESSAGE_COUNT_MAX: usize = 65_535;
/// The most messages of a header, but for attributes, that are stored elsewhere: there is one of each type.
const SHARED_COUNT_MAX: u64 = 64;

pub(crate) use self::shared::SharedMessages;

/// The types of messages that are read.
pub(crate) mod kind {
    pub(crate) const EMPTY: u16 = 0x00;
    pub(crate) const DATASPACE: u16 = 0x01;
    pub(crate) const LINK_INFO: u16 = 0x02;
    pub(crate) const DATATYPE: u16 = 0x03;
    pub(crate) const FILL_OLD: u16 = 0x04;
    pub(crate) const FILL: u16 = 0x05;
    pub(crate) const LINK: u16 = 0x06;
    pub(crate) const EXTERNAL_FILES: u16 = 0x07;
    pub(crate) const LAYOUT: u16 = 0x08;
    pub(crate) const GROUP_INFO: u16 = 0x0a;
    pub(crate) const FILTERS: u16 = 0x0b;
    pub(crate) const ATTRIBUTE: u16 = 0x0c;
    pub(crate) const SHARED_TABLE: u16 = 0x0f;
    pub(crate) const CONTINUATION: u16 = 0x10;
    pub(crate) const SYMBOL_TABLE: u16 = 0x11;
    pub(crate) const ATTRIBUTE_INFO: u16 = 0x15;
    pub(crate) const FREE_SPACE: u16 = 0x17;
    pub(crate) const CACHE_IMAGE: u16 = 0x18;

    /// Whether users lose nothing by a message that is not read: its type is one of those above, or of times, counts
    /// and places of the library's own.
    pub(crate) const fn is_of_library(kind: u16) -> bool {
        matches!(kind, 0x00..=0x08 | 0x0a..=0x0c | 0x0e..=0x18)
    }
}

/// The header of an object.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) messages: Vec<Message>,
    /// That it counts more messages than it has.
    pub(crate) lack: Option<ForeignFault>,
    pub(crate) first: FirstBlock,
}

/// The first block of a header, which is at the address of the object.
#[derive(Clone, Debug)]
pub(crate) struct FirstBlock {
    /// The byte of the file that it begins at.
    pub(crate) at: u64,
    /// Bytes before the messages.
    pub(crate) head: Vec<u8>,
    /// Bytes of the messages, with what is empty.
    pub(crate) len: usize,
    /// The flags of a header of version 2.
    pub(crate) flags: Option<u8>,
}

/// A message of an object.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) kind: u16,
    /// Its number in the order in which messages of its type were made, where that is kept.
    pub(crate) order: Option<u16>,
    pub(crate) flags: u8,
    pub(crate) is_shared: bool,
    pub(crate) body: Piece,
}

/// The header of the object at an address, with the messages that several objects share resolved.
pub(crate) fn read(reader: &Reader, shared: &SharedMessages, address: u64) -> Result<Header> {
    let mut header = raw(reader, address)?;
    let mut count = 0;
    for message in &mut header.messages {
        if message.is_shared && message.kind != kind::ATTRIBUTE {
            count += 1;
            if SHARED_COUNT_MAX < count {
                return Err(fault(&rule::SHARED, message.body.at, count, SHARED_COUNT_MAX));
            }
            message.body = shared.resolve(reader, message.kind, &message.body)?;
            message.is_shared = false;
        }
    }
    Ok(header)
}

/// The header as it is stored.
pub(crate) fn raw(reader: &Reader, address: u64) -> Result<Header> {
    let head = reader.up_to(address, 4, &rule::HEADER_CUT)?;
    if head.bytes == *b"OHDR" {
        return new(reader, address);
    }
    match head.bytes.first() {
        Some(1) => old(reader, address),
        version => {
            let version = version.copied().map_or(0, u64::from);
            Err(fault(&rule::HEADER_VERSION, head.at, version, 2))
        }
    }
}

/// The blocks of a header that are still to be read.
struct Blocks {
    left: VecDeque<(u64, u64)>,
    seen: BTreeSet<u64>,
    /// The bytes of all blocks.
    len: u64,
}

impl Blocks {
    fn new() -> Blocks {
        Blocks { left: VecDeque::new(), seen: BTreeSet::new(), len: 0 }
    }

    /// Adds the block that a continuation message names.
    fn add(&mut self, body: &Piece) -> Result<()> {
        let mut fields = body.fields().with_rule(&rule::MESSAGE_CUT);
        let at = fields.at();
        let address =
            fields.address()?.ok_or_else(|| fault(&rule::CONTINUATION, at, u64::MAX, 0))?;
        let len = fields.length()?;
        if !self.seen.insert(address) {
            return Err(fault(&rule::CONTINUATION, at, address, 0));
        }
        // Blocks that overlap could hold the same bytes many times.
        self.len = self.len.saturating_add(len);
        if HEADER_LEN_MAX < self.len {
            return Err(fault(&rule::LIMIT_BLOCK, at, self.len, HEADER_LEN_MAX));
        }
        self.left.push_back((address, len));
        Ok(())
    }
}

/// Version 1.
fn old(reader: &Reader, address: u64) -> Result<Header> {
    let head = reader.piece(address, 16, &rule::HEADER_CUT)?;
    let mut fields = head.fields();
    fields.take(2)?;
    let counted = fields.u16()?;
    fields.take(4)?;
    let len = fields.u32()?;
    let mut count = 0_u64;
    let mut blocks = Blocks::new();
    blocks.left.push_back((address.saturating_add(16), len.into()));
    let mut messages = Vec::new();
    while let Some((address, len)) = blocks.left.pop_front() {
        let block = reader.piece(address, len, &rule::HEADER_CUT)?;
        let mut fields = block.fields();
        while 8 <= fields.left() {
            let kind = fields.u16()?;
            let len = usize::from(fields.u16()?);
            if len % 8 != 0 {
                return Err(fields.fault(&rule::MESSAGE_ALIGNED, len as u64, 8));
            }
            count += 1;
            let flags = fields.byte()?;
            fields.take(3)?;
            let body = block.part(fields.position(), len, &rule::MESSAGE_CUT)?;
            fields.take(len)?;
            if kind == kind::CONTINUATION {
                blocks.add(&body)?;
            }
            if kind == kind::EMPTY {
                continue;
            }
            if MESSAGE_COUNT_MAX <= messages.len() {
                let (rule, wanted) = (&rule::LIMIT_BLOCK, MESSAGE_COUNT_MAX as u64);
                return Err(fault(rule, body.at, wanted.saturating_add(1), wanted));
            }
            let is_shared = flags & 2 != 0;
            messages.push(Message { kind, order: None, flags, is_shared, body });
        }
    }
    let wanted = u64::from(counted);
    let lack = (count < wanted).then_some(ForeignFault {
        rule: &rule::MESSAGES,
        at: head.at,
        found: count,
        wanted,
    });
    let first = FirstBlock {
        at: head.at,
        head: head.bytes,
        len: usize::try_from(len).unwrap_or(usize::MAX),
        flags: None,
    };
    Ok(Header { messages, lack, first })
}

/// Version 2.
fn new(reader: &Reader, address: u64) -> Result<Header> {
    let head = reader.up_to(address, 34, &rule::HEADER_CUT)?;
    let mut fields = head.fields();
    fields.take(4)?;
    let version = fields.byte()?;
    if version != 2 {
        return Err(fields.fault(&rule::HEADER_VERSION, version.into(), 2));
    }
    let flags = fields.byte()?;
    let times = if flags & 0x20 == 0 { 0 } else { 16 };
    let phases = if flags & 0x10 == 0 { 0 } else { 4 };
    fields.take(times + phases)?;
    let len = fields.uint(1 << (flags & 3))?;
    let start = fields.position();
    let has_order = flags & 4 != 0;
    let whole = len.saturating_add(start as u64).saturating_add(4);
    let mut block = reader.sealed(address, whole, &rule::HEADER_CUT, &rule::HEADER_CHECKSUM)?;
    let first = FirstBlock {
        at: head.at,
        head: block.bytes.get(..start).unwrap_or_default().to_vec(),
        len: block.bytes.len().saturating_sub(start),
        flags: Some(flags),
    };
    let mut blocks = Blocks::new();
    let mut messages = Vec::new();
    new_messages(&block, start, has_order, &mut blocks, &mut messages)?;
    while let Some((address, len)) = blocks.left.pop_front() {
        block = reader.sealed(address, len, &rule::HEADER_CUT, &rule::HEADER_CHECKSUM)?;
        let mut fields = block.fields();
        fields.signature(b"OCHK", &rule::HEADER_VERSION)?;
        new_messages(&block, 4, has_order, &mut blocks, &mut messages)?;
    }
    Ok(Header { messages, lack: None, first })
}

/// Adds the messages of a block of version 2.
fn new_messages(
    block: &Piece,
    start: usize,
    has_order: bool,
    blocks: &mut Blocks,
    messages: &mut Vec<Message>,
) -> Result<()> {
    let mut fields = block.fields();
    fields.take(start)?;
    let head_len = if has_order { 6 } else { 4 };
    // Bytes shorter than the head of a message are a gap.
    while head_len <= fields.left() {
        let kind = u16::from(fields.byte()?);
        let len = usize::from(fields.u16()?);
        let flags = fields.byte()?;
        let order = if has_order { Some(fields.u16()?) } else { None };
        let body = block.part(fields.position(), len, &rule::MESSAGE_CUT)?;
        fields.take(len)?;
        if kind == kind::CONTINUATION {
            blocks.add(&body)?;
        }
        messages.push(Message { kind, order, flags, is_shared: flags & 2 != 0, body });
    }
    Ok(())
}
