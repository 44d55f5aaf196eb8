//! HCOMPRESS_1: a wavelet transform of an image, its coefficients by bits (section 10.4.4 of the standard; White,
//! Postman and Lattanzi 1992).
//!
//! ```text
//!   dd 99 | rows | columns | scale | sum of the pixels | bits of coefficients, by quadrant | quadrants | 0000 | signs
//!           i32    i32       i32     i64                 u8, u8, u8
//! ```
//!
//! The first quadrant has the coefficients of larger blocks, the second and third those along one axis, the fourth
//! those along both.

#![allow(clippy::big_endian_bytes, reason = "the numbers of the header are big-endian")]

mod block;
mod quadtree;
mod smooth;
mod transform;

use std::num::Wrapping;

use tet_codec::{Error, Result};

use super::bits::Bits;
use quadtree::Quadrant;

pub(super) const NAME: &str = "HCOMPRESS_1";

/// The bytes before the quadrants.
const HEADER_LEN: usize = 25;
const MAGIC: [u8; 2] = [0xdd, 0x99];
/// The most bits of a coefficient.
const PLANES_MAX: u8 = 62;
/// The most pixels of a byte that are believed: a tile of one value has 26 bytes.
const PIXELS_MAX: u64 = 1 << 22;

/// Numbers of a file: sums and differences of any pixels.
type Number = Wrapping<i64>;

/// Values in rows.
struct Table {
    values: Vec<Number>,
    rows: usize,
    columns: usize,
}

impl Table {
    fn new(rows: usize, columns: usize) -> Result<Table> {
        let memory = Error::Memory { codec: NAME };
        let len = rows.checked_mul(columns).ok_or(memory)?;
        let mut values = Vec::new();
        let reserved = values.try_reserve_exact(len);
        reserved.map_err(|_| Error::Memory { codec: NAME })?;
        values.resize(len, Wrapping(0));
        Ok(Table { values, rows, columns })
    }

    fn get(&self, row: usize, column: usize) -> Option<Number> {
        self.values.get(row.checked_mul(self.columns)?.checked_add(column)?).copied()
    }
}

/// The most pixels of `stored_len` bytes.
pub(super) fn count_max(stored_len: u64) -> u64 {
    stored_len.saturating_mul(PIXELS_MAX)
}

/// How the bytes of a tile begin.
struct Header {
    rows: usize,
    columns: usize,
    /// Divisor of the coefficients; at most 1 where nothing was lost.
    scale: i32,
    sum: i64,
    planes: [u8; 3],
}

impl Header {
    fn read(stored: &[u8]) -> Option<Header> {
        let (magic, rest) = stored.split_first_chunk::<2>()?;
        let (rows, rest) = rest.split_first_chunk::<4>()?;
        let (columns, rest) = rest.split_first_chunk::<4>()?;
        let (scale, rest) = rest.split_first_chunk::<4>()?;
        let (sum, rest) = rest.split_first_chunk::<8>()?;
        let extent = |bytes: &[u8; 4]| usize::try_from(i32::from_be_bytes(*bytes)).ok();
        Some(Header {
            rows: extent(rows).filter(|_| *magic == MAGIC)?,
            columns: extent(columns)?,
            scale: i32::from_be_bytes(*scale),
            sum: i64::from_be_bytes(*sum),
            planes: *rest.first_chunk()?,
        })
    }
}

/// The pixels of a tile.
pub(super) struct Decoded {
    /// Little-endian, of four bytes each.
    pub(super) bytes: Vec<u8>,
    /// Whether they are near the pixels that were compressed, but not the same.
    pub(super) is_lossy: bool,
}

/// The pixels of a tile of `count` pixels, smoothed if the header of the file requests it.
pub(super) fn decode(stored: &[u8], count: usize, smoothing: Smoothing) -> Result<Decoded> {
    let header = Header::read(stored).ok_or(corrupt("it has no header"))?;
    if header.rows.checked_mul(header.columns) != Some(count) {
        return Err(corrupt("it has another number of pixels than the tile"));
    }
    if header.rows < 2 || header.columns < 2 {
        return Err(corrupt("it has less than two rows or columns"));
    }
    let mut coefficients = coefficients(&header, stored.get(HEADER_LEN..).unwrap_or_default())?;
    let is_lossy = 1 < header.scale;
    if is_lossy {
        let scale = Wrapping(i64::from(header.scale));
        coefficients.values.iter_mut().for_each(|it| *it *= scale);
    }
    let change_max = match smoothing {
        Smoothing::Requested if is_lossy => Some(Wrapping(i64::from(header.scale / 2))),
        _ => None,
    };
    let pixels = transform::inverse(&coefficients, change_max)?;
    drop(coefficients);
    let mut bytes = Vec::new();
    let len = count.checked_mul(4).ok_or(Error::Memory { codec: NAME })?;
    bytes.try_reserve_exact(len).map_err(|_| Error::Memory { codec: NAME })?;
    for Wrapping(pixel) in pixels.values {
        let nearest = pixel.clamp(i32::MIN.into(), i32::MAX.into());
        let fits = nearest == pixel || is_lossy;
        let pixel = i32::try_from(nearest).ok().filter(|_| fits);
        bytes.extend(pixel.ok_or(corrupt("a pixel has more than 32 bits"))?.to_le_bytes());
    }
    Ok(Decoded { bytes, is_lossy })
}

/// Whether coefficients are made similar to their neighbors, as far as the scale leaves them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Smoothing {
    None,
    Requested,
}

/// The coefficients: quadrants, then the signs of those that are not zero.
fn coefficients(header: &Header, stored: &[u8]) -> Result<Table> {
    if header.planes.iter().any(|planes| PLANES_MAX < *planes) {
        return Err(corrupt("its coefficients have more than 62 bits"));
    }
    let [both, one, none] = header.planes;
    let (rows, columns) = (header.rows, header.columns);
    let mut table = Table::new(rows, columns)?;
    let mut bits = Bits::new(stored);
    let (upper, left) = (rows.div_ceil(2), columns.div_ceil(2));
    for (planes, rows, columns) in [
        (both, 0..upper, 0..left),
        (one, 0..upper, left..columns),
        (one, upper..rows, 0..left),
        (none, upper..rows, left..columns),
    ] {
        Quadrant { table: &mut table, rows, columns }.read(planes, &mut bits)?;
    }
    if bits.take(4).ok_or(CUT_SHORT)? != 0 {
        return Err(corrupt("its quadrants have no end"));
    }
    bits.align();
    for value in table.values.iter_mut().filter(|it| it.0 != 0) {
        if bits.take(1).ok_or(CUT_SHORT)? == 1 {
            *value = -*value;
        }
    }
    if let Some(first) = table.values.first_mut() {
        *first = Wrapping(header.sum);
    }
    Ok(table)
}

const CUT_SHORT: Error = corrupt("cut short");

const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

/// The logarithm to the base 2, rounded up.
fn levels(extent: usize) -> u32 {
    usize::BITS - extent.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests;
