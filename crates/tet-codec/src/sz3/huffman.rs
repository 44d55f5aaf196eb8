//! Huffman codes: a tree of nodes, then the bits of the symbols, the highest of each byte first.

use super::bytes::Bytes;
use super::fault::{corrupt, unsupported};
use crate::error::Result;
use crate::scratch::index;

/// The bits that are looked up at once, and the fewest symbols for which the table is made.
const TABLE_BITS: u8 = 10;
const TABLE_COUNT_MIN: u64 = 1 << 12;

/// A node: a symbol, or the numbers of two nodes behind it.
#[derive(Clone, Copy, Debug)]
enum Node {
    Leaf(i32),
    Inner([u32; 2]),
}

/// The nodes, the root first.
#[derive(Clone, Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    /// Reads a tree: the smallest symbol, the numbers of nodes and symbols, the byte order, then a column of left
    /// nodes, of right nodes, of symbols and of marks of leaves.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Tree> {
        let smallest = bytes.i32()?;
        // These two are big-endian in all streams.
        let count = bytes.u32()?.swap_bytes();
        bytes.u32()?;
        if bytes.u8()? != 0 {
            return Err(unsupported("the stream of a big-endian machine"));
        }
        let width = match count {
            ..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let count = u64::from(count);
        let (left, right) = (bytes.take(count * width)?, bytes.take(count * width)?);
        let (symbols, marks) = (bytes.take(count * 4)?, bytes.take(count)?);
        let nodes_of = |column: &[u8], at: usize| {
            let width = index(width);
            let cell = column.get(at * width..).and_then(|rest| rest.get(..width));
            cell.unwrap_or_default()
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u32::from(*byte))
        };
        let damaged = corrupt("the Huffman tree is damaged");
        let mut nodes = Vec::new();
        for (at, (symbol, mark)) in symbols.as_chunks().0.iter().zip(marks).enumerate() {
            // The mark of the root is only written to small trees.
            if *mark != 0 && (0 < at || width == 1) {
                nodes.push(Node::Leaf(i32::from_le_bytes(*symbol).wrapping_add(smallest)));
                continue;
            }
            let children = [nodes_of(left, at), nodes_of(right, at)];
            // Nodes come after the node that leads to them, so that every walk ends.
            if children
                .iter()
                .any(|child| u64::from(*child) <= at as u64 || count <= u64::from(*child))
            {
                return Err(damaged);
            }
            nodes.push(Node::Inner(children));
        }
        if nodes.is_empty() {
            return Err(damaged);
        }
        Ok(Tree(nodes))
    }

    fn node(&self, at: u32) -> Result<Node> {
        let node = usize::try_from(at).ok().and_then(|at| self.0.get(at));
        node.copied().ok_or(corrupt("the Huffman tree is damaged"))
    }

    /// The node behind each number of [`TABLE_BITS`] bits, and how many of the bits lead to it.
    fn table(&self) -> Result<Vec<(u32, u8)>> {
        (0..1_u32 << TABLE_BITS)
            .map(|bits| {
                let (mut at, mut used) = (0, 0);
                while used < TABLE_BITS
                    && let Node::Inner(children) = self.node(at)?
                {
                    used += 1;
                    at = children[usize::from(bits >> (TABLE_BITS - used) & 1 == 1)];
                }
                Ok((at, used))
            })
            .collect()
    }
}

/// A number of symbols that are read one by one.
#[derive(Clone, Debug)]
pub(super) struct Symbols<'a> {
    tree: Tree,
    table: Vec<(u32, u8)>,
    bits: &'a [u8],
    /// The next bit.
    at: u64,
    left: u64,
}

impl<'a> Symbols<'a> {
    /// Reads a tree, and takes the bits of `count` symbols behind it.
    pub(super) fn read(bytes: &mut Bytes<'a>, count: u64) -> Result<Self> {
        let tree = Tree::read(bytes)?;
        Self::read_bits(tree, bytes, count)
    }

    /// Takes the length of the bits of `count` symbols, and the bits.
    pub(super) fn read_bits(tree: Tree, bytes: &mut Bytes<'a>, count: u64) -> Result<Self> {
        let len = bytes.u64()?;
        let bits = bytes.take(len)?;
        let table = if count < TABLE_COUNT_MIN { Vec::new() } else { tree.table()? };
        Ok(Symbols { tree, table, bits, at: 0, left: count })
    }

    /// How many symbols are left.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// The next symbol.
    pub(super) fn next(&mut self) -> Result<i32> {
        self.left =
            self.left.checked_sub(1).ok_or(corrupt("there are fewer symbols than needed"))?;
        let mut at = 0;
        if !self.table.is_empty()
            && let Some(ahead) = self.bits.get(index(self.at / 8)..).and_then(<[u8]>::first_chunk)
        {
            let ahead = u32::from_le_bytes(*ahead).swap_bytes() << (self.at % 8);
            let entry = self.table.get(index(u64::from(ahead >> (32 - TABLE_BITS))));
            let (node, used) = entry.copied().unwrap_or_default();
            at = node;
            self.at += u64::from(used);
        }
        loop {
            match self.tree.node(at)? {
                Node::Leaf(symbol) => return Ok(symbol),
                Node::Inner([left, right]) => {
                    let byte = self.bits.get(index(self.at / 8));
                    let byte = byte.ok_or(corrupt("the bits of the symbols are cut short"))?;
                    at = if byte << (self.at % 8) & 0x80 == 0 { left } else { right };
                    self.at += 1;
                }
            }
        }
    }
}
