//! Where the elements of a dataset are stored (section IV.A.2.i and IV.A.2.h).

use crate::error::{Result, fault};
use crate::reader::{Fields, Piece};
use crate::rule;

/// The layout as the message has it: addresses are not yet places in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// In the message itself.
    Compact {
        /// The first byte in the file, and how many.
        at: u64,
        len: u64,
    },
    Contiguous {
        address: Option<u64>,
        len: Option<u64>,
    },
    Chunked(Chunked),
    Virtual,
}

/// Chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunked {
    /// The extents of a chunk, without the axis of the bytes of an element.
    pub(crate) shape: Vec<u64>,
    pub(crate) element_size: u64,
    pub(crate) address: Option<u64>,
    pub(crate) index: IndexKind,
    /// Whether filters leave out chunks that are cut by the edge.
    pub(crate) are_edges_plain: bool,
    /// Whether the stored length of a filtered chunk is as wide as the lengths of the file.
    pub(crate) has_lengths: bool,
}

/// How chunks are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexKind {
    Tree1,
    /// One chunk; with filters their stored length and mask.
    Single(Option<(u64, u32)>),
    Implicit,
    Fixed,
    Extensible,
    Tree2,
}

/// Reads a layout.
pub(crate) fn read(body: &Piece) -> Result<Stored> {
    let mut fields = body.fields().with_rule(&rule::MESSAGE_CUT);
    let at = fields.at();
    let version = fields.byte()?;
    match version {
        1 | 2 => old(&mut fields),
        3..=5 => {
            let class = fields.byte()?;
            match class {
                0 => {
                    let len = u64::from(fields.u16()?);
                    let stored = Stored::Compact { at: fields.at(), len };
                    fields.take(usize::try_from(len).unwrap_or(usize::MAX))?;
                    Ok(stored)
                }
                1 => {
                    let address = fields.address()?;
                    Ok(Stored::Contiguous { address, len: Some(fields.length()?) })
                }
                2 if version == 3 => {
                    let rank = usize::from(fields.byte()?);
                    let address = fields.address()?;
                    tree1(&mut fields, rank, address)
                }
                2 => chunked(&mut fields, version),
                3 => Ok(Stored::Virtual),
                _ => Err(fault(&rule::LAYOUT, at.saturating_add(1), class.into(), 3)),
            }
        }
        _ => Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 5)),
    }
}

/// Versions 1 and 2: the rank before the address.
fn old(fields: &mut Fields<'_>) -> Result<Stored> {
    let at = fields.at();
    let rank = usize::from(fields.byte()?);
    let class = fields.byte()?;
    fields.take(5)?;
    let address = if class == 0 { None } else { fields.address()? };
    match class {
        0 => {
            fields.take(rank.saturating_mul(4))?;
            let len = u64::from(fields.u32()?);
            let stored = Stored::Compact { at: fields.at(), len };
            fields.take(usize::try_from(len).unwrap_or(usize::MAX))?;
            Ok(stored)
        }
        1 => Ok(Stored::Contiguous { address, len: None }),
        2 => tree1(fields, rank, address),
        _ => Err(fault(&rule::LAYOUT, at.saturating_add(1), class.into(), 2)),
    }
}

/// The extents of chunks; the last number is the size of an element.
fn split(mut extents: Vec<u64>, at: u64) -> Result<(Vec<u64>, u64)> {
    let misfit = || fault(&rule::LAYOUT, at, 0, 1);
    let element_size = extents.pop().ok_or_else(misfit)?;
    if extents.contains(&0) || element_size == 0 {
        return Err(misfit());
    }
    Ok((extents, element_size))
}

fn tree1(fields: &mut Fields<'_>, rank: usize, address: Option<u64>) -> Result<Stored> {
    let at = fields.at();
    let mut extents = Vec::new();
    for _ in 0..rank {
        extents.push(u64::from(fields.u32()?));
    }
    let (shape, element_size) = split(extents, at)?;
    Ok(Stored::Chunked(Chunked {
        shape,
        element_size,
        address,
        index: IndexKind::Tree1,
        are_edges_plain: false,
        has_lengths: false,
    }))
}

/// Chunks of versions 4 and 5.
fn chunked(fields: &mut Fields<'_>, version: u8) -> Result<Stored> {
    let flags = fields.byte()?;
    let rank = usize::from(fields.byte()?);
    let at = fields.at();
    let width = usize::from(fields.byte()?);
    if width == 0 || 8 < width {
        return Err(fault(&rule::LAYOUT, at, width as u64, 8));
    }
    let mut extents = Vec::new();
    for _ in 0..rank {
        extents.push(fields.uint(width)?);
    }
    let (shape, element_size) = split(extents, at)?;
    let kind_at = fields.at();
    let kind = fields.byte()?;
    let index = match kind {
        1 if flags & 2 != 0 => IndexKind::Single(Some((fields.length()?, fields.u32()?))),
        1 => IndexKind::Single(None),
        2 => IndexKind::Implicit,
        3 => {
            fields.take(1)?;
            IndexKind::Fixed
        }
        4 => {
            fields.take(5)?;
            IndexKind::Extensible
        }
        5 => {
            fields.take(6)?;
            IndexKind::Tree2
        }
        _ => return Err(fault(&rule::LAYOUT, kind_at, kind.into(), 5)),
    };
    Ok(Stored::Chunked(Chunked {
        shape,
        element_size,
        address: fields.address()?,
        index,
        are_edges_plain: flags & 1 != 0,
        has_lengths: version == 5,
    }))
}

/// A part of a dataset in another file.
///
/// # Examples
///
/// ```
/// use tet_hdf5::ExternalPart;
///
/// let part = ExternalPart { file: "raw.bin".to_owned(), offset: 0, len: Some(4096) };
/// assert_eq!(part.len, Some(4096));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPart {
    /// The name of the file, as stored.
    pub file: String,
    /// The first byte there.
    pub offset: u64,
    /// How many bytes; `None` is unlimited.
    pub len: Option<u64>,
}

/// The slots of an external file list: the heap of the names, and for each part the offset of its name,
/// its first byte and its length.
pub(crate) type ExternalSlots = (u64, Vec<(u64, u64, Option<u64>)>);

/// Reads an external file list.
pub(crate) fn external(fields: &mut Fields<'_>) -> Result<ExternalSlots> {
    let at = fields.at();
    fields.take(4)?;
    let _allocated = fields.u16()?;
    let count = fields.u16()?;
    let heap = fields.address()?.ok_or_else(|| fault(&rule::LAYOUT, at, u64::MAX, 0))?;
    let mut slots = Vec::new();
    for _ in 0..count {
        slots.push((fields.length()?, fields.length()?, fields.length_or_none()?));
    }
    Ok((heap, slots))
}
