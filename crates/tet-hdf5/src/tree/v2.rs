//! B-trees of version 2: links, attributes, huge objects and chunks of new files (section III.A.2).

use std::collections::BTreeSet;

use crate::error::{Result, fault};
use crate::reader::{Piece, Reader, width_of};
use crate::rule;

/// A tree: its shape, from which the lengths in its nodes follow.
#[derive(Clone, Debug)]
pub(crate) struct TreeV2 {
    kind: u8,
    pub(crate) record_len: usize,
    node_len: u64,
    depth: u16,
    root: Option<u64>,
    root_count: u64,
    /// Bytes of a number of records of a child.
    count_width: usize,
    /// Bytes of the number of all records below a child, by the level of the child.
    total_widths: Vec<usize>,
    at: u64,
}

/// A node: its records, and its children with their numbers of records.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) level: u16,
    pub(crate) records: Vec<Piece>,
    pub(crate) children: Vec<(u64, u64)>,
}

impl TreeV2 {
    /// The tree at an address, whose records are of this type.
    pub(crate) fn read(reader: &Reader, address: u64, kind: u8) -> Result<TreeV2> {
        let sizes = reader.sizes;
        let len = 4 + 1 + 1 + 4 + 2 + 2 + 1 + 1 + sizes.offset + 2 + sizes.length + 4;
        let head = reader.sealed(address, len as u64, &rule::TREE_CUT, &rule::TREE_CHECKSUM)?;
        let mut fields = head.fields();
        fields.signature(b"BTHD", &rule::TREE_NODE)?;
        fields.take(1)?;
        let at = fields.at();
        let found = fields.byte()?;
        if found != kind {
            return Err(fault(&rule::TREE_NODE, at, found.into(), kind.into()));
        }
        let node_len = u64::from(fields.u32()?);
        let record_len = usize::from(fields.u16()?);
        let depth = fields.u16()?;
        fields.take(2)?;
        let root = fields.address()?;
        let root_count = u64::from(fields.u16()?);
        let misfit = || fault(&rule::TREE_NODE, at, node_len, record_len as u64);
        let room = node_len.checked_sub(10).ok_or_else(misfit)?;
        if record_len == 0 || room < record_len as u64 || 64 < depth {
            return Err(misfit());
        }
        let leaf_count = room / record_len as u64;
        let count_width = width_of(leaf_count);
        let mut total_widths = vec![0];
        let mut total = leaf_count;
        for level in 1..depth {
            let below = total_widths.last().copied().unwrap_or(0);
            let pointer = (sizes.offset + count_width + below) as u64;
            let count = room.saturating_sub(pointer) / (record_len as u64 + pointer);
            total = total.saturating_mul(count.saturating_add(1)).saturating_add(count);
            let _ = level;
            total_widths.push(width_of(total));
        }
        let at = head.at;
        let tree = TreeV2 {
            kind,
            record_len,
            node_len,
            depth,
            root,
            root_count,
            count_width,
            total_widths,
            at,
        };
        Ok(tree)
    }

    /// The root; `None` for an empty tree.
    pub(crate) fn root(&self, reader: &Reader) -> Result<Option<Node>> {
        match self.root {
            Some(root) => self.node(reader, root, self.root_count, self.depth).map(Some),
            None => Ok(None),
        }
    }

    /// The node at an address with so many records, of a level; leaves have level 0.
    pub(crate) fn node(
        &self,
        reader: &Reader,
        address: u64,
        count: u64,
        level: u16,
    ) -> Result<Node> {
        let below = usize::from(level.saturating_sub(1));
        let total_width = self.total_widths.get(below).copied().unwrap_or(0);
        let pointer = reader.sizes.offset + self.count_width + total_width;
        let records_len = count.saturating_mul(self.record_len as u64);
        let pointers = if level == 0 { 0 } else { count.saturating_add(1) };
        let len = pointers.saturating_mul(pointer as u64).saturating_add(records_len);
        let len = len.saturating_add(10);
        if self.node_len < len {
            return Err(fault(&rule::TREE_NODE, self.at, len, self.node_len));
        }
        let node = reader.sealed(address, len, &rule::TREE_CUT, &rule::TREE_CHECKSUM)?;
        let mut fields = node.fields();
        fields.signature(if level == 0 { b"BTLF" } else { b"BTIN" }, &rule::TREE_NODE)?;
        fields.take(1)?;
        let at = fields.at();
        let kind = fields.byte()?;
        if kind != self.kind {
            return Err(fault(&rule::TREE_NODE, at, kind.into(), self.kind.into()));
        }
        let mut records = Vec::new();
        for _ in 0..count {
            records.push(node.part(fields.position(), self.record_len, &rule::TREE_CUT)?);
            fields.take(self.record_len)?;
        }
        let mut children = Vec::new();
        for _ in 0..pointers {
            let at = fields.at();
            let child =
                fields.address()?.ok_or_else(|| fault(&rule::TREE_NODE, at, u64::MAX, 0))?;
            children.push((child, fields.uint(self.count_width)?));
            fields.take(total_width)?;
        }
        Ok(Node { level, records, children })
    }

    /// Calls `take` with every record, in order.
    pub(crate) fn each(
        &self,
        reader: &Reader,
        take: &mut dyn FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        let Some(root) = self.root(reader)? else { return Ok(()) };
        // A node that several parents lead to would be walked by each of them, and nodes that share bytes as often
        // as there are bytes.
        let (mut count, count_max) = (0_u64, reader.source.len());
        let begin = reader.given();
        let mut seen = BTreeSet::new();
        // Each node with the number of its next child; levels fall, so the stack is no deeper.
        let mut stack = vec![(root, 0_usize)];
        while let Some((node, next)) = stack.last_mut() {
            let number = *next;
            *next += 1;
            if let Some(record) = number.checked_sub(1).and_then(|at| node.records.get(at)) {
                take(record)?;
                count = count.saturating_add(1);
                if count_max < count {
                    return Err(fault(&rule::TREE_SHARED, self.at, count, count_max));
                }
                reader.check_work(begin)?;
            }
            match node.children.get(number) {
                Some(&(address, count)) => {
                    let level = node.level.saturating_sub(1);
                    if !seen.insert(address) {
                        return Err(fault(&rule::TREE_SHARED, self.at, address, 0));
                    }
                    let child = self.node(reader, address, count, level)?;
                    stack.push((child, 0));
                }
                None if number < node.records.len() => {}
                None => {
                    stack.pop();
                }
            }
        }
        Ok(())
    }
}
