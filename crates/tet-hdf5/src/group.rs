//! The links of a group: in the header, in a heap with a tree of names, or in a table of symbols (sections
//! III.B, III.C and IV.A.2.g).

use std::collections::BTreeSet;

use tet_format::ForeignFault;

use crate::error::{Error, Result, StoredFault, fault};
use crate::header::{Message, kind};
use crate::heap::fractal::FractalHeap;
use crate::heap::local::LocalHeap;
use crate::message::link::{self, Link, Target};
use crate::reader::{Fields, Piece, Reader};
use crate::rule;
use crate::tree::v1::{Keys, Node};
use crate::tree::v2::TreeV2;

/// The most links of a group.
const LINK_COUNT_MAX: usize = 10_000_000;

/// The links of the group with these messages, in the order of making where that is kept, else by name;
/// what is damaged is a finding.
pub(crate) fn links(
    reader: &Reader,
    messages: &[Message],
    found: &mut dyn FnMut(StoredFault),
) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    let mut result = Ok(());
    for message in messages {
        let mut fields = message.body.fields().with_rule(&rule::MESSAGE_CUT);
        let done = match message.kind {
            kind::LINK => link::read(&mut fields).map(|link| links.push(link)),
            kind::LINK_INFO => dense(reader, message, &mut links),
            kind::SYMBOL_TABLE => symbols(reader, &mut fields, &mut links),
            _ => Ok(()),
        };
        match done {
            Err(Error::Fault(fault)) => found(StoredFault { fault, path: None, attribute: None }),
            Err(error) => result = Err(error),
            Ok(()) => {}
        }
    }
    result?;
    let is_named = |link: &Link| {
        let fault = ForeignFault { rule: &rule::LINK, at: link.at, found: 0, wanted: 1 };
        if link.name.is_empty() {
            found(StoredFault { fault, path: None, attribute: None });
        }
        !link.name.is_empty()
    };
    links.retain(is_named);
    if links.iter().all(|link| link.order.is_some()) {
        links.sort_by_key(|link| link.order);
    } else {
        links.sort_by(|one, next| one.name.cmp(&next.name));
    }
    Ok(links)
}

/// Links in a heap.
fn dense(reader: &Reader, message: &Message, links: &mut Vec<Link>) -> Result<()> {
    let mut names = Names { reader, len: 0 };
    dense_links(reader, message, &mut |object| {
        let link = link::read(&mut object.fields().with_rule(&rule::GROUP_CUT))?;
        names.add(&link)?;
        links.push(link);
        bounded(links, object.at)
    })
}

/// The messages of the links in the heap that a message names, if it names one.
pub(crate) fn dense_links(
    reader: &Reader,
    message: &Message,
    take: &mut dyn FnMut(&Piece) -> Result<()>,
) -> Result<()> {
    let mut fields = message.body.fields().with_rule(&rule::MESSAGE_CUT);
    let Some(dense) = link::link_info(&mut fields)? else { return Ok(()) };
    let heap = FractalHeap::read(reader, dense.heap)?;
    let damaged = heap.fault(reader)?;
    TreeV2::read(reader, dense.names, 5)?.each(reader, &mut |record| {
        let mut fields = record.fields();
        fields.take(4)?;
        take(&heap.object(reader, fields.rest())?)
    })?;
    damaged.map_or(Ok(()), Err)
}

fn bounded(links: &[Link], at: u64) -> Result<()> {
    let count = links.len();
    if count <= LINK_COUNT_MAX {
        return Ok(());
    }
    Err(fault(&rule::LIMIT_DEPTH, at, count as u64, LINK_COUNT_MAX as u64))
}

/// The bytes of the names and targets of links, which have bytes of their own in the file.
struct Names<'a> {
    reader: &'a Reader,
    len: u64,
}

impl Names<'_> {
    fn add(&mut self, link: &Link) -> Result<()> {
        let target = if let Target::Path(path) = &link.target { path.len() } else { 0 };
        self.len = self.len.saturating_add((link.name.len().saturating_add(target)) as u64);
        // Bytes that are no UTF-8 become three.
        let wanted = self.reader.source.len().saturating_mul(3);
        if self.len <= wanted {
            return Ok(());
        }
        Err(fault(&rule::LINK_NAMES, link.at, self.len, wanted))
    }
}

/// Links in a table of symbols.
fn symbols(reader: &Reader, fields: &mut Fields<'_>, links: &mut Vec<Link>) -> Result<()> {
    let at = fields.at();
    let lost = || fault(&rule::GROUP_CUT, at, u64::MAX, 0);
    let tree = fields.address()?.ok_or_else(lost)?;
    let heap = LocalHeap::read(reader, fields.address()?.ok_or_else(lost)?)?;
    // Nodes with the number of the next child; levels fall, so the stack is no deeper.
    let mut stack = vec![(Node::read(reader, tree, Keys::Links, None)?, 0)];
    let mut seen = BTreeSet::new();
    let (mut names, begin) = (Names { reader, len: 0 }, reader.given());
    while let Some((node, next)) = stack.last_mut() {
        let number = *next;
        *next += 1;
        if node.len() <= number {
            stack.pop();
            continue;
        }
        let Some(child) = node.entry(number)?.child else { continue };
        if !seen.insert(child) {
            return Err(fault(&rule::TREE_SHARED, at, child, 0));
        }
        if node.level == 0 {
            symbol_node(reader, child, &heap, links, &mut names)?;
            bounded(links, at)?;
            reader.check_work(begin)?;
        } else {
            let level = node.level;
            stack.push((Node::read(reader, child, Keys::Links, Some(level))?, 0));
        }
    }
    Ok(())
}

fn symbol_node(
    reader: &Reader,
    address: u64,
    heap: &LocalHeap,
    links: &mut Vec<Link>,
    names: &mut Names<'_>,
) -> Result<()> {
    let head = reader.piece(address, 8, &rule::GROUP_CUT)?;
    let mut fields = head.fields();
    fields.signature(b"SNOD", &rule::TREE_NODE)?;
    fields.take(2)?;
    let count = u64::from(fields.u16()?);
    let entry_len = (reader.sizes.length + reader.sizes.offset + 4 + 4 + 16) as u64;
    let entries = reader.piece(address.saturating_add(8), count * entry_len, &rule::GROUP_CUT)?;
    let mut fields = entries.fields();
    for _ in 0..count {
        let at = fields.at();
        let name = heap.text(fields.length()?)?;
        let object = fields.address()?;
        let cache = fields.u32()?;
        fields.take(4)?;
        let mut scratch = fields.part(16)?;
        let target = match (cache, object) {
            (2, _) => Target::Path(heap.text(scratch.u32()?.into())?),
            (_, Some(object)) => Target::Object(object),
            (_, None) => return Err(fault(&rule::LINK, at, u64::MAX, 0)),
        };
        let link = Link { name, order: None, target, at };
        names.add(&link)?;
        links.push(link);
    }
    Ok(())
}
