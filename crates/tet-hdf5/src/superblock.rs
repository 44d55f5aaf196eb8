//! The superblock: where addresses count from, how wide they are, and where the root group is (section II.A).

use tet_io::Source;

use crate::checksum::lookup3;
use crate::error::{Result, fault};
use crate::reader::{Fields, Reader, Sizes};
use crate::rule;

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Fields of the superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    /// The byte that addresses count from: where the superblock is.
    pub(crate) base: u64,
    pub(crate) version: u8,
    pub(crate) sizes: Sizes,
    pub(crate) root: u64,
    pub(crate) extension: Option<u64>,
    /// The length of the file.
    pub(crate) end: u64,
    /// Whether a writer has not closed the file.
    pub(crate) is_open: bool,
}

/// Where the superblock is; `None` where there is none, and the file is no HDF5 file.
///
/// # Errors
///
/// Returns an error when the file cannot be read.
pub fn find(source: &Source) -> Result<Option<u64>> {
    let mut at = 0_u64;
    while at.saturating_add(8) <= source.len() {
        let mut found = [0; 8];
        source.read_exact_at(at, &mut found)?;
        if found == *SIGNATURE {
            return Ok(Some(at));
        }
        at = if at == 0 { 512 } else { at.saturating_mul(2) };
    }
    Ok(None)
}

/// Reads the superblock.
pub(crate) fn read(source: &Source) -> Result<Superblock> {
    let missing = || fault(&rule::SUPERBLOCK_MISSING, 0, 0, 0);
    let base = find(source)?.ok_or_else(missing)?;
    // The widths are not known before they are read.
    let narrow = Sizes { offset: 8, length: 8 };
    let head = Reader::new(source.clone(), base, narrow).up_to(0, 128, &rule::SUPERBLOCK_CUT)?;
    let mut fields = head.fields();
    fields.take(8)?;
    let version = fields.byte()?;
    match version {
        0 | 1 => old(&mut fields, base, version),
        2 | 3 => {
            let superblock = new(&mut fields, base, version)?;
            let len = fields.position().saturating_add(4);
            head.part(0, len, &rule::SUPERBLOCK_CUT)?.unseal(&rule::SUPERBLOCK_CHECKSUM)?;
            Ok(superblock)
        }
        _ => Err(fault(&rule::SUPERBLOCK_VERSION, base.saturating_add(8), version.into(), 3)),
    }
}

impl Superblock {
    /// The bytes that change with the length of the file, each with its place.
    pub(crate) fn with_len(&self, source: &Source, file_len: u64) -> Result<Vec<(u64, Vec<u8>)>> {
        let width = self.sizes.offset as u64;
        let (base_at, end_at) = match self.version {
            0 => (24, 24 + 2 * width),
            1 => (28, 28 + 2 * width),
            _ => (12, 12 + 2 * width),
        };
        let head = Reader::new(source.clone(), self.base, self.sizes);
        let mut head = head.piece(0, end_at + 2 * width, &rule::SUPERBLOCK_CUT)?;
        let mut fields = head.fields();
        fields.take(usize::try_from(base_at).unwrap_or(usize::MAX))?;
        let stored_base = fields.address()?.unwrap_or(0);
        let end = file_len.saturating_sub(self.base.saturating_sub(stored_base)).to_le_bytes();
        let end = end.get(..self.sizes.offset).unwrap_or_default();
        let start = usize::try_from(end_at).unwrap_or(usize::MAX);
        if let Some(place) = head.bytes.get_mut(start..start.saturating_add(end.len())) {
            place.copy_from_slice(end);
        }
        let mut patches = vec![(self.base.saturating_add(end_at), end.to_vec())];
        if 2 <= self.version {
            let at = self.base.saturating_add(head.bytes.len() as u64);
            patches.push((at, lookup3(&head.bytes).to_le_bytes().to_vec()));
        }
        Ok(patches)
    }

    /// Where versions 0 and 1 say whether they know how the links of the root group are stored.
    pub(crate) fn root_cache(&self) -> Option<u64> {
        let widths = (5 * self.sizes.offset + self.sizes.length) as u64;
        let head = match self.version {
            0 => 24,
            1 => 28,
            _ => return None,
        };
        Some(self.base.saturating_add(head + widths))
    }
}

fn sizes(fields: &mut Fields<'_>) -> Result<Sizes> {
    let at = fields.at();
    let sizes = [fields.byte()?, fields.byte()?];
    match sizes {
        [offset @ (2 | 4 | 8), length @ (2 | 4 | 8)] => {
            Ok(Sizes { offset: offset.into(), length: length.into() })
        }
        [offset, _] => Err(fault(&rule::SIZES, at, offset.into(), 8)),
    }
}

/// The length of the file: its end, moved by as much as the superblock was moved by a user block that was
/// added later.
fn length(fields: &mut Fields<'_>, base: u64, stored_base: u64) -> Result<u64> {
    let end = fields.address()?.unwrap_or(0);
    Ok(end.saturating_add(base.saturating_sub(stored_base)))
}

/// Versions 0 and 1.
fn old(fields: &mut Fields<'_>, base: u64, version: u8) -> Result<Superblock> {
    fields.take(4)?;
    fields.sizes = sizes(fields)?;
    // A reserved byte, the sizes of the nodes of groups, and flags.
    fields.take(1 + 2 + 2 + 4)?;
    if version == 1 {
        fields.take(4)?;
    }
    let stored_base = fields.address()?.unwrap_or(0);
    let _free_space = fields.address()?;
    let end = length(fields, base, stored_base)?;
    let _driver = fields.address()?;
    let _name = fields.length()?;
    let at = fields.at();
    let root = fields.address()?.ok_or_else(|| fault(&rule::SUPERBLOCK_CUT, at, u64::MAX, 0))?;
    let sizes = fields.sizes;
    Ok(Superblock { base, version, sizes, root, extension: None, end, is_open: false })
}

/// Versions 2 and 3.
fn new(fields: &mut Fields<'_>, base: u64, version: u8) -> Result<Superblock> {
    fields.sizes = sizes(fields)?;
    let flags = fields.byte()?;
    let stored_base = fields.address()?.unwrap_or(0);
    let extension = fields.address()?;
    let end = length(fields, base, stored_base)?;
    let at = fields.at();
    let root = fields.address()?.ok_or_else(|| fault(&rule::SUPERBLOCK_CUT, at, u64::MAX, 0))?;
    // Bit 0: open for writing; bit 2: for writing while others read.
    let is_open = version == 3 && flags & 0b101 != 0;
    Ok(Superblock { base, version, sizes: fields.sizes, root, extension, end, is_open })
}
