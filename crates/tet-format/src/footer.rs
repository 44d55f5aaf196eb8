//! The footer's framing: tail, JSON and spills (format section 6).
//!
//! ```text
//!   ... payloads | spills | JSON | json_len: u64 | footer_version: u32 | "THST"
//!                                  \________________ tail, 16 bytes __________/
//! ```
//!
//! This module reads only the positions; `tet-file` reads the JSON.

use crate::error::{Error, Faults, Result, Strict};
use crate::layout;
use crate::note::{Note, NoteCode};
pub use crate::records::WireTail;
use crate::rule::Rule;
use crate::span::Span;
use crate::superblock::{FLAG_FOOTER, WireSuperblock};
use alloc::vec::Vec;

/// The tail's length in the file.
pub const TAIL_LEN: u64 = WireTail::LEN as u64;

/// The last four bytes of a file with a footer.
pub const MAGIC: [u8; 4] = *b"THST";

/// The `footer_version` that this crate writes; every reader accepts it.
pub const FOOTER_VERSION: u32 = 1;

/// The greatest `footer_version` this crate reads.
pub const FOOTER_VERSION_MAX: u32 = 2;

/// A valid tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The length of the JSON.
    pub json_len: u64,
    /// 1 or 2.
    pub version: u32,
}

impl Tail {
    /// Reads the tail from the last 16 bytes of a file of `file_len` bytes whose index ends at
    /// `index_end`.
    ///
    /// If there are more than 16 bytes, the last ones are used.
    ///
    /// # Errors
    ///
    /// The first rule of section 6 that the tail breaks.
    pub fn read(bytes: &[u8], index_end: u64, file_len: u64) -> Result<Tail> {
        match read_tail(bytes, index_end, file_len, &mut Strict)? {
            Some(WireTail { json_len, footer_version: version, .. }) => {
                Ok(Tail { json_len, version })
            }
            None => Err(no_room(index_end, file_len)),
        }
    }

    /// The bytes of the JSON in a file of `file_len` bytes.
    #[must_use]
    pub fn json_span(&self, file_len: u64) -> Span {
        let start = layout::json_offset(file_len, self.json_len).unwrap_or(0);
        let end = file_len.saturating_sub(TAIL_LEN);
        Span::from_range(start..end.max(start)).unwrap_or(EMPTY)
    }

    /// The end of the area for payloads, in a file of `file_len` bytes.
    #[must_use]
    pub fn payload_end(&self, file_len: u64, spills: &Spills) -> u64 {
        let json_offset = self.json_span(file_len).start();
        spills
            .present(self.version)
            .fold(json_offset, |end, (_, spill)| end.saturating_sub(spill.len))
    }

    /// The tail's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; WireTail::LEN] {
        let &Tail { json_len, version: footer_version } = self;
        WireTail { json_len, footer_version, magic: MAGIC }.encode()
    }
}

const EMPTY: Span = match Span::new(0, 0) {
    Some(span) => span,
    None => panic!("0 fits"),
};

/// Reads the tail and checks its rules; `None` if its bytes are incomplete.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn read_tail(
    bytes: &[u8],
    index_end: u64,
    file_len: u64,
    faults: &mut impl Faults,
) -> Result<Option<WireTail>> {
    let room = file_len.saturating_sub(index_end).checked_sub(TAIL_LEN);
    let (Some(room), Some(bytes)) = (room, bytes.last_chunk()) else {
        faults.fault(no_room(index_end, file_len))?;
        return Ok(None);
    };
    let tail = WireTail::decode(bytes);
    let at = file_len.saturating_sub(TAIL_LEN);
    if tail.magic != MAGIC {
        let at = at.saturating_add(const { WireTail::offset_of("magic") });
        let [found, wanted] = [tail.magic, MAGIC].map(u32::from_le_bytes).map(u64::from);
        faults.fault(Error { rule: Rule::TailMagic, at, found, wanted })?;
    }
    if tail.footer_version == 0 || tail.footer_version > FOOTER_VERSION_MAX {
        let at = at.saturating_add(const { WireTail::offset_of("footer_version") });
        let [found, wanted] = [tail.footer_version, FOOTER_VERSION_MAX].map(u64::from);
        faults.fault(Error { rule: Rule::FooterVersion, at, found, wanted })?;
    }
    if tail.json_len > room {
        faults.fault(Error { rule: Rule::JsonBounds, at, found: tail.json_len, wanted: room })?;
    }
    Ok(Some(tail))
}

fn no_room(index_end: u64, file_len: u64) -> Error {
    let at = const { WireSuperblock::offset_of("flags") };
    let found = file_len.saturating_sub(index_end);
    Error { rule: Rule::TailRoom, at, found, wanted: TAIL_LEN }
}

/// The position of a spill, as stated in the JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spill {
    /// Its file offset.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
}

/// The spills that the JSON refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spills {
    /// `metadata_ref`.
    pub metadata: Option<Spill>,
    /// `zone_maps_ref`, only in version 2.
    pub zone_maps: Option<Spill>,
    /// `secondary_index_ref`, only in version 2.
    pub secondary_index: Option<Spill>,
    /// `statistics`, where the digests name it.
    pub statistics: Option<Spill>,
}

impl Spills {
    /// The spills that exist in a footer of this version, with the keys that refer to them.
    pub fn present(&self, version: u32) -> impl Iterator<Item = (&'static str, Spill)> {
        let newer = move |spill: Option<Spill>| spill.filter(|_| version >= 2);
        [
            ("metadata_ref", self.metadata),
            ("zone_maps_ref", newer(self.zone_maps)),
            ("secondary_index_ref", newer(self.secondary_index)),
            ("statistics", self.statistics),
        ]
        .into_iter()
        .filter_map(|(key, spill)| Some((key, spill?)))
    }
}

/// Checks the positions of spills.
///
/// `floor` is the end of the last payload, or of the index if payloads are not known yet;
/// `json_offset` is the start of the JSON, and the offset of the faults.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_spills(
    spills: &Spills,
    version: u32,
    floor: u64,
    json_offset: u64,
    faults: &mut impl Faults,
) -> Result<()> {
    let at = json_offset;
    let mut seen: Vec<Span> = Vec::new();
    for (_, Spill { offset, len }) in spills.present(version) {
        if offset < floor {
            let [found, wanted] = [offset, floor];
            faults.fault(Error { rule: Rule::SpillBounds, at, found, wanted })?;
        }
        let Some(span) = Span::new(offset, len).filter(|span| span.end() <= json_offset) else {
            let [found, wanted] = [offset.saturating_add(len), json_offset];
            faults.fault(Error { rule: Rule::SpillBounds, at, found, wanted })?;
            continue;
        };
        if let Some(other) = seen.iter().find(|other| other.overlaps(span)) {
            let [found, wanted] = [span.start(), other.end()];
            faults.fault(Error { rule: Rule::SpillOverlap, at, found, wanted })?;
        }
        seen.push(span);
    }
    Ok(())
}

/// Notes a tail that the superblock does not announce: its bytes are treated as payload.
///
/// `bytes` are the last 16 of a file of `file_len` bytes, `flags` those of the superblock.
pub fn notes(bytes: &[u8], flags: u32, index_end: u64, file_len: u64, notes: &mut Vec<Note>) {
    if flags & FLAG_FOOTER == 0 && Tail::read(bytes, index_end, file_len).is_ok() {
        let at = file_len.saturating_sub(TAIL_LEN);
        notes.push(Note { code: NoteCode::UndeclaredTail, at, found: flags.into() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    const GOOD: WireTail = WireTail { json_len: 20, footer_version: 1, magic: MAGIC };

    #[test]
    fn each_rule_breaks_alone_and_holds_one_byte_away() {
        let cases = [
            (WireTail { magic: *b"THSU", ..GOOD }, Rule::TailMagic, 136 - 4),
            (WireTail { footer_version: 0, ..GOOD }, Rule::FooterVersion, 136 - 8),
            (WireTail { footer_version: 3, ..GOOD }, Rule::FooterVersion, 136 - 8),
            (WireTail { json_len: 21, ..GOOD }, Rule::JsonBounds, 136 - 16),
            (WireTail { json_len: u64::MAX, ..GOOD }, Rule::JsonBounds, 136 - 16),
        ];
        for (wire, rule, at) in cases {
            let mut faults = Vec::new();
            read_tail(&wire.encode(), 100, 136, &mut faults).unwrap();
            assert_eq!(faults.len(), 1, "{rule} alone: {faults:?}");
            assert_eq!((faults[0].rule, faults[0].at), (rule, at));
            assert_eq!(Tail::read(&wire.encode(), 100, 136), Err(faults[0]));
        }
        for version in [1, 2] {
            let wire = WireTail { footer_version: version, ..GOOD };
            let tail = Tail::read(&wire.encode(), 100, 136).unwrap();
            assert_eq!(tail, Tail { json_len: 20, version });
            assert_eq!(tail.encode(), wire.encode());
            assert_eq!(tail.json_span(136).range(), 100..120);
        }
    }

    #[test]
    fn the_tail_lies_after_the_index() {
        let tail = WireTail { json_len: 0, ..GOOD }.encode();
        assert!(Tail::read(&tail, 100, 116).is_ok());
        let wanted = Error { rule: Rule::TailRoom, at: 12, found: 15, wanted: 16 };
        assert_eq!(Tail::read(&tail, 100, 115), Err(wanted));
        assert_eq!(Tail::read(&tail, 100, 50).unwrap_err().found, 0);
        for len in 0..16 {
            let rule = Tail::read(&tail[..len], 100, 200).unwrap_err().rule;
            assert_eq!(rule, Rule::TailRoom);
        }
    }

    #[test]
    fn only_version_2_takes_room_for_its_own_spills() {
        let spill = |offset, len| Some(Spill { offset, len });
        let spills = Spills {
            metadata: spill(110, 5),
            zone_maps: spill(105, 5),
            secondary_index: spill(100, 3),
            statistics: None,
        };
        let ends = [1, 2].map(|version| {
            let tail = Tail { json_len: 20, version };
            (tail.payload_end(156, &Spills::default()), tail.payload_end(156, &spills))
        });
        assert_eq!(ends, [(120, 115), (120, 107)]);
        let huge = Spills { metadata: spill(0, u64::MAX), ..Spills::default() };
        assert_eq!(Tail { json_len: 20, version: 1 }.payload_end(156, &huge), 0);
    }

    #[test]
    fn spills_lie_between_payloads_and_json_and_apart() {
        let check = |metadata: [u64; 2], zone_maps: [u64; 2]| {
            let spill = |[offset, len]: [u64; 2]| Some(Spill { offset, len });
            let spills = Spills {
                metadata: spill(metadata),
                zone_maps: spill(zone_maps),
                secondary_index: None,
                statistics: None,
            };
            let mut faults = Vec::new();
            check_spills(&spills, 2, 100, 120, &mut faults).unwrap();
            faults.iter().map(|fault| (fault.rule, fault.found, fault.wanted)).collect::<Vec<_>>()
        };
        assert_eq!(check([100, 10], [110, 10]), []);
        assert_eq!(check([99, 10], [110, 10]), [(Rule::SpillBounds, 99, 100)]);
        assert_eq!(check([100, 10], [110, 11]), [(Rule::SpillBounds, 121, 120)]);
        assert_eq!(check([100, u64::MAX], [110, 5]), [(Rule::SpillBounds, u64::MAX, 120)]);
        assert_eq!(check([100, 11], [110, 10]), [(Rule::SpillOverlap, 110, 111)]);
        assert_eq!(check([100, 20], [105, 0]), vec![]);
    }

    #[test]
    fn a_tail_that_nobody_announced_is_noted() {
        let seen = |flags, magic| {
            let mut seen = Vec::new();
            notes(&WireTail { magic, ..GOOD }.encode(), flags, 100, 136, &mut seen);
            seen
        };
        let wanted = Note { code: NoteCode::UndeclaredTail, at: 120, found: 2 };
        assert_eq!(seen(2, MAGIC), [wanted]);
        assert_eq!(seen(1, MAGIC), []);
        assert_eq!(seen(2, *b"THSU"), []);
    }
}
