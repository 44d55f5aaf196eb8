//! Notes about a directory.

use super::{Walk, WireRecord};
use crate::note::{Note, NoteCode, note_nonzero};
use alloc::vec::Vec;

/// Notes about the available records: reserved fields, padding, names that are empty, repeated,
/// unprintable or path-like, and extents of 0.
///
/// The arguments are those of [`Directory::read`](super::Directory::read); the bytes may be
/// damaged.
pub fn notes(region: &[u8], base: u64, count: u32, notes: &mut Vec<Note>) {
    let mut names = Vec::new();
    for record in Walk::over(region, base, count).map_while(Result::ok) {
        let reserved_at = record.at.saturating_add(const { WireRecord::offset_of("reserved") });
        let reserved = record.header.reserved.into();
        note_nonzero(NoteCode::RecordReserved, reserved_at, reserved, notes);
        for (at, &byte) in (record.padding_at()..).zip(record.padding) {
            note_nonzero(NoteCode::NamePadding, at, byte.into(), notes);
        }
        let name_at = record.name_at();
        if let Ok(name) = core::str::from_utf8(record.name) {
            note_name(name, name_at, notes);
        }
        names.push((record.name, name_at));
        for (axis, extent) in (0_u64..).zip(record.shape()) {
            if extent == 0 {
                let at = record.shape_at().saturating_add(axis.saturating_mul(8));
                notes.push(Note { code: NoteCode::ExtentZero, at, found: axis });
            }
        }
    }
    note_twins(names, notes);
}

/// Notes each name that an earlier dataset has; `found` is the offset of the first name.
fn note_twins(mut names: Vec<(&[u8], u64)>, notes: &mut Vec<Note>) {
    names.sort_unstable();
    for twins in names.chunk_by(|(a, _), (b, _)| a == b) {
        if let [(_, found), later @ ..] = twins {
            let found = *found;
            notes.extend(later.iter().map(|&(_, at)| Note {
                code: NoteCode::NameTwice,
                at,
                found,
            }));
        }
    }
}

fn note_name(name: &str, at: u64, notes: &mut Vec<Note>) {
    if name.is_empty() {
        notes.push(Note { code: NoteCode::NameEmpty, at, found: 0 });
    }
    if let Some(odd) = name.chars().find(|&char| is_unprintable(char)) {
        notes.push(Note { code: NoteCode::NameUnprintable, at, found: u32::from(odd).into() });
    } else if is_path_like(name) {
        notes.push(Note { code: NoteCode::NamePath, at, found: 0 });
    }
}

/// Whether a character is not printed as itself: controls, line separators, zero-width and
/// bidirectional formatting.
#[must_use]
pub fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether a name, used as a path, would leave its folder: `/` separates groups, but no part may be
/// empty, `.` or `..`, and neither `\` nor a drive may appear.
#[must_use]
pub fn is_path_like(name: &str) -> bool {
    let drive = matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let stray = !name.is_empty() && name.split('/').any(|part| matches!(part, "" | "." | ".."));
    drive || stray || name.contains('\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{directory, record};
    use std::vec;

    fn codes(records: &[Vec<u8>]) -> Vec<NoteCode> {
        let mut seen = Vec::new();
        notes(&directory(records), 32, u32::try_from(records.len()).unwrap(), &mut seen);
        seen.iter().map(|note| note.code).collect()
    }

    #[test]
    fn plain_records_are_not_noted() {
        let names = ["a", "group/name", "b.c", "..d", "\u{00fc}n\u{00ef}", "a b", "e:f"];
        let records = names.map(|name| record(name, 1, &[4], &[2]));
        // "e:f" looks like a drive.
        assert_eq!(codes(&records), [NoteCode::NamePath]);
        assert_eq!(codes(&records[..6]), []);
    }

    #[test]
    fn odd_bits_are_noted_where_they_are() {
        let mut odd = record("a", 1, &[0], &[2]);
        odd[12] = 3;
        odd[20] = 7;
        let mut seen = Vec::new();
        notes(&directory(&[odd]), 32, 1, &mut seen);
        let wanted = [
            Note { code: NoteCode::RecordReserved, at: 52, found: 3 },
            Note { code: NoteCode::NamePadding, at: 60, found: 7 },
            Note { code: NoteCode::ExtentZero, at: 64, found: 0 },
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn odd_names_are_noted() {
        let cases = [
            ("", NoteCode::NameEmpty),
            ("a\nb", NoteCode::NameUnprintable),
            ("\0", NoteCode::NameUnprintable),
            ("a\u{202e}b", NoteCode::NameUnprintable),
            ("\u{9b}31m", NoteCode::NameUnprintable),
            ("..", NoteCode::NamePath),
            ("a/../b", NoteCode::NamePath),
            ("/etc/x", NoteCode::NamePath),
            ("a//b", NoteCode::NamePath),
            ("a\\b", NoteCode::NamePath),
            ("C:x", NoteCode::NamePath),
        ];
        for (name, code) in cases {
            assert_eq!(codes(&[record(name, 1, &[4], &[2])]), vec![code], "{name:?}");
        }
    }

    #[test]
    fn each_later_twin_is_noted() {
        let names = ["a", "b", "a", "a"].map(|name| record(name, 1, &[4], &[2]));
        let mut seen = Vec::new();
        notes(&directory(&names), 32, 4, &mut seen);
        let at = |record: u64| 40 + 40 * record + 16;
        let twin = |record| Note { code: NoteCode::NameTwice, at: at(record), found: at(0) };
        assert_eq!(seen, [twin(2), twin(3)]);
    }
}
