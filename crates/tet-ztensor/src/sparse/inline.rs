//! Positions stored in the entry: `indptr` and `indices` for csr, `indices` for coo.

use tet_cbor::{Head, Items, Reader};
use tet_sparse::Places;

use crate::error::Fault;
use crate::rule;
use crate::tensor::Tensor;
use crate::words::Layout;

/// The numbers of a field, and the length of its rows if it has rows.
struct Numbers {
    all: Vec<u64>,
    row_len: Option<u64>,
}

/// The positions in an entry; `None` if the blob has them.
pub(super) fn read(tensor: &Tensor<'_>) -> Result<Option<Places>, Fault> {
    let layout = tensor.layout();
    if !matches!(layout, Some(Layout::Csr | Layout::Coo)) {
        return Ok(None);
    }
    let (indptr, indices) = (numbers(tensor, b"indptr")?, numbers(tensor, b"indices")?);
    let fault = |found: u64, wanted: u64| Fault {
        rule: &rule::SPARSE_INLINE,
        at: tensor.entry_at(),
        found,
        wanted,
    };
    match (layout, indptr, indices) {
        (_, None, None) => Ok(None),
        (Some(Layout::Csr), Some(indptr), Some(indices)) => match (indptr.row_len, indices.row_len)
        {
            (None, None) => Ok(Some(Places::Csr { indptr: indptr.all, indices: indices.all })),
            (found, other) => Err(fault(found.or(other).unwrap_or(0), 0)),
        },
        (Some(Layout::Coo), None, Some(indices)) => {
            let rank = tensor.shape().len() as u64;
            match indices.row_len {
                Some(row_len) if row_len != rank => Err(fault(row_len, rank)),
                _ => Ok(Some(Places::Coo { coords: indices.all })),
            }
        }
        _ => Err(fault(1, 2)),
    }
}

/// The numbers under a key of the entry, if the key exists.
fn numbers(tensor: &Tensor<'_>, wanted: &[u8]) -> Result<Option<Numbers>, Fault> {
    let index = tensor.index();
    index.for_fields(tensor.entry(), |key, reader, depth| {
        if *key != *wanted {
            return Ok(None);
        }
        let mut numbers = Numbers { all: Vec::new(), row_len: None };
        let Head::Array(count) = reader.untagged(depth)? else { return Err(wrong(reader)) };
        let inside = reader.deeper(depth)?;
        let mut items = Items::new(count);
        while items.next(reader) {
            match reader.untagged(inside)? {
                Head::Unsigned(number) if numbers.row_len.is_none() => numbers.all.push(number),
                Head::Array(count) => row(reader, count, inside, &mut numbers)?,
                _ => return Err(wrong(reader)),
            }
        }
        Ok(Some(numbers))
    })
}

/// A row of numbers, as long as the previous one.
fn row(
    reader: &mut Reader<'_>,
    count: Option<u64>,
    depth: u32,
    numbers: &mut Numbers,
) -> Result<(), Fault> {
    if numbers.row_len.is_none() && !numbers.all.is_empty() {
        return Err(wrong(reader));
    }
    let (inside, before) = (reader.deeper(depth)?, numbers.all.len());
    let mut items = Items::new(count);
    while items.next(reader) {
        let Head::Unsigned(number) = reader.untagged(inside)? else { return Err(wrong(reader)) };
        numbers.all.push(number);
    }
    let len = (numbers.all.len() - before) as u64;
    match *numbers.row_len.get_or_insert(len) {
        wanted if wanted == len => Ok(()),
        _ => Err(wrong(reader)),
    }
}

fn wrong(reader: &Reader<'_>) -> Fault {
    Fault { rule: &rule::SPARSE_INLINE, at: reader.place(reader.at()), found: 0, wanted: 0 }
}
