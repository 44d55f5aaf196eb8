//! Notes about an index.

use super::{IndexHeader, IndexRow};
use crate::note::{Note, NoteCode, note_nonzero};
use alloc::vec::Vec;

/// All memory of a host, in 1/100 percent.
const HINT_BPS_MAX: u16 = 10_000;

/// Notes about the header of an index at `base`: a hint of more than all memory, reserved fields.
pub fn notes(header: &IndexHeader, base: u64, notes: &mut Vec<Note>) {
    if header.memory_budget_bps > HINT_BPS_MAX {
        let at = base.saturating_add(const { IndexHeader::offset_of("memory_budget_bps") });
        notes.push(Note { code: NoteCode::MemoryHint, at, found: header.memory_budget_bps.into() });
    }
    let fields = [
        (const { IndexHeader::offset_of("reserved") }, header.reserved.into()),
        (const { IndexHeader::offset_of("reserved_tail") }, header.reserved_tail),
    ];
    for (offset, found) in fields {
        note_nonzero(NoteCode::IndexReserved, base.saturating_add(offset), found, notes);
    }
}

/// Notes about a row at `at` of a dataset of this rank: the reserved field and unused coordinate
/// slots.
pub fn row_notes(row: &IndexRow, at: u64, rank: usize, notes: &mut Vec<Note>) {
    let coord_at = at.saturating_add(const { IndexRow::offset_of("coord") });
    for (slot, &found) in (0_u64..).zip(&row.coord).skip(rank) {
        let at = coord_at.saturating_add(slot.saturating_mul(8));
        note_nonzero(NoteCode::RowSlots, at, found, notes);
    }
    let reserved_at = at.saturating_add(const { IndexRow::offset_of("reserved") });
    note_nonzero(NoteCode::RowReserved, reserved_at, row.reserved.into(), notes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_fields_are_noted_where_they_are() {
        let mut seen = Vec::new();
        notes(&IndexHeader::new(9), 96, &mut seen);
        assert_eq!(seen, []);
        notes(&IndexHeader { reserved: 1, reserved_tail: 2, ..IndexHeader::new(9) }, 96, &mut seen);
        let note = |at, found| Note { code: NoteCode::IndexReserved, at, found };
        assert_eq!(seen, [note(114, 1), note(120, 2)]);
    }

    #[test]
    fn hints_over_all_there_is_are_noted() {
        let noted = |memory_budget_bps| {
            let mut seen = Vec::new();
            notes(&IndexHeader { memory_budget_bps, ..IndexHeader::new(9) }, 96, &mut seen);
            seen
        };
        assert_eq!(noted(10_000), []);
        assert_eq!(noted(10_001), [Note { code: NoteCode::MemoryHint, at: 112, found: 10_001 }]);
    }

    #[test]
    fn slots_past_the_rank_are_noted_where_they_are() {
        let mut seen = Vec::new();
        let row = IndexRow { coord: [1, 2, 0, 4, 0, 0, 0, 0], ..IndexRow::decode(&[0; 104]) };
        row_notes(&row, 1000, 4, &mut seen);
        assert_eq!(seen, []);
        row_notes(&IndexRow { reserved: 7, ..row }, 1000, 1, &mut seen);
        let note = |code, at, found| Note { code, at, found };
        let wanted = [
            note(NoteCode::RowSlots, 1016, 2),
            note(NoteCode::RowSlots, 1032, 4),
            note(NoteCode::RowReserved, 1100, 7),
        ];
        assert_eq!(seen, wanted);
    }
}
