//! The superblock: the first 32 bytes of every file (format section 2).

use crate::error::{Error, Faults, Result, Strict};
use crate::layout;
use crate::note::{Note, NoteCode, note_nonzero};
pub use crate::records::WireSuperblock;
use crate::rule::Rule;
use crate::span::Span;
use crate::wire;
use alloc::vec::Vec;

/// The superblock's length in the file.
pub const LEN: u64 = WireSuperblock::LEN as u64;

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"TETR";

/// The `layout_version` this crate reads and writes.
pub const LAYOUT_VERSION: u32 = 1;

/// The flag bit for a footer at the end of the file.
pub const FLAG_FOOTER: u32 = 1;

/// A valid superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Records in the directory.
    pub dataset_count: u32,
    /// All flag bits, known or not: edits preserve them.
    pub flags: u32,
    /// The offset of the index.
    pub index_offset: u64,
    /// The length of the index.
    pub index_len: u64,
}

impl Superblock {
    /// Reads the superblock from the first bytes of a file of `file_len` bytes.
    ///
    /// `bytes` may be longer than 32 bytes; fewer are a truncated file.
    ///
    /// # Errors
    ///
    /// The first rule of section 2 that the file breaks.
    pub fn read(bytes: &[u8], file_len: u64) -> Result<Superblock> {
        let Some(bytes) = bytes.first_chunk() else {
            let found = wire::len_of(bytes);
            return Err(Error { rule: Rule::Truncated, at: 0, found, wanted: LEN });
        };
        let wire = WireSuperblock::decode(bytes);
        check(&wire, file_len, &mut Strict)?;
        let WireSuperblock { dataset_count, flags, index_offset, index_len, .. } = wire;
        Ok(Superblock { dataset_count, flags, index_offset, index_len })
    }

    /// Whether the file declares a footer.
    #[must_use]
    pub const fn has_footer(&self) -> bool {
        self.flags & FLAG_FOOTER != 0
    }

    /// One past the last byte of the index.
    #[must_use]
    pub const fn index_end(&self) -> u64 {
        self.index_offset.saturating_add(self.index_len)
    }

    /// The directory with its padding, `[32, index_offset)`; empty without datasets.
    #[must_use]
    pub const fn directory_span(&self) -> Span {
        match Span::from_range(LEN..self.index_offset) {
            Some(span) => span,
            None => EMPTY,
        }
    }

    /// The index, empty without datasets.
    #[must_use]
    pub const fn index_span(&self) -> Span {
        match Span::new(self.index_offset, self.index_len) {
            Some(span) => span,
            None => EMPTY,
        }
    }

    /// The superblock's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; WireSuperblock::LEN] {
        let &Superblock { dataset_count, flags, index_offset, index_len } = self;
        WireSuperblock {
            magic: MAGIC,
            layout_version: LAYOUT_VERSION,
            dataset_count,
            flags,
            index_offset,
            index_len,
        }
        .encode()
    }
}

const EMPTY: Span = match Span::new(LEN, 0) {
    Some(span) => span,
    None => panic!("32 fits"),
};

/// Checks the rules of section 2.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check(wire: &WireSuperblock, file_len: u64, faults: &mut impl Faults) -> Result<()> {
    let index_at = const { WireSuperblock::offset_of("index_offset") };
    if wire.magic != MAGIC {
        let [found, wanted] = [wire.magic, MAGIC].map(u32::from_le_bytes).map(u64::from);
        faults.fault(Error { rule: Rule::Magic, at: 0, found, wanted })?;
    }
    if wire.layout_version != LAYOUT_VERSION {
        let at = const { WireSuperblock::offset_of("layout_version") };
        let [found, wanted] = [wire.layout_version, LAYOUT_VERSION].map(u64::from);
        faults.fault(Error { rule: Rule::LayoutVersion, at, found, wanted })?;
    }
    let found = wire.index_offset.checked_add(wire.index_len);
    if found.is_none_or(|end| end > file_len) {
        let found = found.unwrap_or(u64::MAX);
        faults.fault(Error { rule: Rule::IndexBounds, at: index_at, found, wanted: file_len })?;
    }
    if wire.dataset_count == 0 {
        check_empty(wire, faults)
    } else if wire.index_offset < layout::RECORDS_OFFSET {
        let [found, wanted] = [wire.index_offset, layout::RECORDS_OFFSET];
        faults.fault(Error { rule: Rule::DirectoryRoom, at: index_at, found, wanted })
    } else {
        Ok(())
    }
}

fn check_empty(wire: &WireSuperblock, faults: &mut impl Faults) -> Result<()> {
    let rule = Rule::EmptyLayout;
    if wire.index_offset != LEN {
        let at = const { WireSuperblock::offset_of("index_offset") };
        faults.fault(Error { rule, at, found: wire.index_offset, wanted: LEN })?;
    }
    if wire.index_len != 0 {
        let at = const { WireSuperblock::offset_of("index_len") };
        faults.fault(Error { rule, at, found: wire.index_len, wanted: 0 })?;
    }
    Ok(())
}

/// Notes about a superblock: unknown flags.
pub fn notes(wire: &WireSuperblock, notes: &mut Vec<Note>) {
    let at = const { WireSuperblock::offset_of("flags") };
    note_nonzero(NoteCode::UnknownFlags, at, u64::from(wire.flags & !FLAG_FOOTER), notes);
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_FILE: WireSuperblock = WireSuperblock {
        magic: MAGIC,
        layout_version: 1,
        dataset_count: 0,
        flags: 0,
        index_offset: 32,
        index_len: 0,
    };
    const FILLED: WireSuperblock =
        WireSuperblock { dataset_count: 1, index_offset: 72, index_len: 136, ..EMPTY_FILE };

    #[test]
    fn every_prefix_is_truncated() {
        let file = EMPTY_FILE.encode();
        for len in 0..file.len() {
            let found = len as u64;
            let wanted = Error { rule: Rule::Truncated, at: 0, found, wanted: 32 };
            assert_eq!(Superblock::read(&file[..len], found), Err(wanted));
        }
        assert!(!Superblock::read(&file, 32).unwrap().has_footer());
    }

    #[test]
    fn each_rule_breaks_alone_and_holds_one_byte_away() {
        let huge = WireSuperblock { index_len: u64::MAX, ..FILLED };
        let cases = [
            (WireSuperblock { magic: *b"TETS", ..EMPTY_FILE }, 32, Rule::Magic, 0),
            (WireSuperblock { layout_version: 2, ..EMPTY_FILE }, 32, Rule::LayoutVersion, 4),
            (FILLED, 207, Rule::IndexBounds, 16),
            (huge, u64::MAX, Rule::IndexBounds, 16),
            (WireSuperblock { index_offset: 33, ..EMPTY_FILE }, 40, Rule::EmptyLayout, 16),
            (WireSuperblock { index_len: 1, ..EMPTY_FILE }, 40, Rule::EmptyLayout, 24),
            (WireSuperblock { index_offset: 39, ..FILLED }, 208, Rule::DirectoryRoom, 16),
        ];
        for (wire, file_len, rule, at) in cases {
            let mut faults = Vec::new();
            check(&wire, file_len, &mut faults).unwrap();
            assert_eq!(faults.len(), 1, "{rule} alone: {faults:?}");
            assert_eq!((faults[0].rule, faults[0].at), (rule, at));
            assert_eq!(Superblock::read(&wire.encode(), file_len), Err(faults[0]));
        }
        let near = [
            (EMPTY_FILE, 32),
            (FILLED, 208),
            (WireSuperblock { index_len: u64::MAX - 72, ..FILLED }, u64::MAX),
            (WireSuperblock { index_offset: 40, ..FILLED }, 208),
        ];
        for (wire, file_len) in near {
            let read = Superblock::read(&wire.encode(), file_len).unwrap();
            assert_eq!(read.encode(), wire.encode());
        }
    }

    #[test]
    fn a_reader_stops_and_a_verifier_collects() {
        let broken = WireSuperblock { magic: *b"XXXX", layout_version: 9, ..FILLED };
        let mut all = Vec::new();
        check(&broken, 32, &mut all).unwrap();
        let rules: Vec<Rule> = all.iter().map(|fault| fault.rule).collect();
        assert_eq!(rules, [Rule::Magic, Rule::LayoutVersion, Rule::IndexBounds]);
        assert_eq!(Superblock::read(&broken.encode(), 32), Err(all[0]));
    }

    #[test]
    fn spans_follow_the_superblock() {
        let superblock = Superblock::read(&FILLED.encode(), 300).unwrap();
        assert_eq!(superblock.directory_span().range(), 32..72);
        assert_eq!(superblock.index_span().range(), 72..208);
        assert_eq!(superblock.index_end(), 208);
        let empty = Superblock::read(&EMPTY_FILE.encode(), 300).unwrap();
        assert!(empty.directory_span().is_empty() && empty.index_span().is_empty());
    }

    #[test]
    fn flags_other_than_the_footer_are_kept_and_noted() {
        let wire = WireSuperblock { flags: 0x8000_0003, ..EMPTY_FILE };
        let superblock = Superblock::read(&wire.encode(), 32).unwrap();
        assert!(superblock.has_footer());
        assert_eq!(superblock.encode(), wire.encode());
        let mut seen = Vec::new();
        notes(&wire, &mut seen);
        let wanted = Note { code: NoteCode::UnknownFlags, at: 12, found: 0x8000_0002 };
        assert_eq!(seen, [wanted]);
        seen.clear();
        notes(&WireSuperblock { flags: 1, ..EMPTY_FILE }, &mut seen);
        assert_eq!(seen, []);
    }
}
