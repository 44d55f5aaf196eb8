//! The bits of a quadrant, a plane of the same bit of all coefficients after the other.
//!
//! A plane is written as it is, four bits for each block of 2 x 2, or as a tree: a code has the bits of a block, each
//! of which is one where a block of the level below is not all zero. The codes of a level come from its end.

use std::num::Wrapping;
use std::ops::Range;

use tet_codec::Result;

use super::{CUT_SHORT, Number, Table, corrupt, levels};
use crate::tiles::bits::Bits;

/// Codes at the start of a plane.
const PLAIN: u32 = 0;
const TREE: u32 = 15;

/// The part of a table that is read.
pub(super) struct Quadrant<'a> {
    pub(super) table: &'a mut Table,
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// A code: four bits of a block of 2 x 2, by row; the first is the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code {
    row: usize,
    column: usize,
    bits: u32,
}

impl Code {
    fn has(self, row: usize, column: usize) -> bool {
        self.bits >> (3 - 2 * row - column) & 1 == 1
    }
}

impl Quadrant<'_> {
    /// Reads this number of planes, the highest first.
    pub(super) fn read(&mut self, planes: u8, bits: &mut Bits<'_>) -> Result<()> {
        for plane in (0..usize::from(planes)).rev() {
            let bit = Wrapping(1_i64) << plane;
            match bits.take(4).ok_or(CUT_SHORT)? {
                PLAIN => self.read_plain(bit, bits)?,
                TREE => self.read_tree(bit, bits)?,
                _ => return Err(corrupt("a plane of bits has no such form")),
            }
        }
        Ok(())
    }

    fn read_plain(&mut self, bit: Number, bits: &mut Bits<'_>) -> Result<()> {
        for row in 0..self.rows.len().div_ceil(2) {
            for column in 0..self.columns.len().div_ceil(2) {
                let code = bits.take(4).ok_or(CUT_SHORT)?;
                self.insert(Code { row, column, bits: code }, bit);
            }
        }
        Ok(())
    }

    /// Reads a tree. Only blocks that are not zero are looked at: this takes no longer than there are codes.
    fn read_tree(&mut self, bit: Number, bits: &mut Bits<'_>) -> Result<()> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let mut codes = vec![Code { row: 0, column: 0, bits: code(bits)? }];
        for level in (1..levels(rows.max(columns))).rev() {
            let mut below = Vec::new();
            let [rows, columns] = [rows, columns].map(|extent| extent.div_ceil(1 << level));
            expand(&codes, rows, columns, &mut below);
            for node in below.iter_mut().rev() {
                node.bits = code(bits)?;
            }
            codes = below;
        }
        for code in codes {
            self.insert(code, bit);
        }
        Ok(())
    }

    /// Sets the bit of the coefficients of the block of a code; those beyond the edge are left out.
    fn insert(&mut self, code: Code, bit: Number) {
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (at_row, at_column) = (2 * code.row + row, 2 * code.column + column);
            if !code.has(row, column)
                || self.rows.len() <= at_row
                || self.columns.len() <= at_column
            {
                continue;
            }
            let at =
                (self.rows.start + at_row) * self.table.columns + self.columns.start + at_column;
            if let Some(value) = self.table.values.get_mut(at) {
                *value |= bit;
            }
        }
    }
}

/// The codes of the next level of blocks that are not zero, by row.
fn expand(codes: &[Code], rows: usize, columns: usize, below: &mut Vec<Code>) {
    for line in codes.chunk_by(|one, next| one.row == next.row) {
        for row in 0..2 {
            for code in line {
                for column in (0..2).filter(|column| code.has(row, *column)) {
                    let (row, column) = (2 * code.row + row, 2 * code.column + column);
                    if row < rows && column < columns {
                        below.push(Code { row, column, bits: 0 });
                    }
                }
            }
        }
    }
}

/// The next code: common ones have fewer bits.
fn code(bits: &mut Bits<'_>) -> Result<u32> {
    let next = bits.peek(6);
    let (code, len) = match (next >> 3, next >> 2, next >> 1) {
        (short @ 0..4, _, _) => (1 << short, 3),
        (_, 8, _) => (3, 4),
        (_, 9, _) => (5, 4),
        (_, 10, _) => (10, 4),
        (_, 11, _) => (12, 4),
        (_, 12, _) => (15, 4),
        (_, _, 26) => (6, 5),
        (_, _, 27) => (7, 5),
        (_, _, 28) => (9, 5),
        (_, _, 29) => (11, 5),
        (_, _, 30) => (13, 5),
        _ if next == 62 => (0, 6),
        _ => (14, 6),
    };
    bits.take(len).map(|_| code).ok_or(CUT_SHORT)
}
