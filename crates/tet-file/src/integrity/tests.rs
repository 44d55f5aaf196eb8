use tet_codec::Strength;
use tet_format::digest::block_len;
use tet_format::footer::TAIL_LEN;
use tet_format::{NoteCode, Rule};
use tet_io::Source;

use super::*;
use crate::open::{FooterMode, OpenOptions, TetFile};
use crate::testing::written;
use crate::warning::Warning;
use crate::write::DigestChoice;

fn open_as(bytes: &[u8], footer: FooterMode) -> Result<TetFile> {
    let source = Source::from_bytes(bytes.to_vec());
    TetFile::open(source, &OpenOptions { footer, ..OpenOptions::default() })
}

fn open(bytes: &[u8]) -> Result<TetFile> {
    open_as(bytes, FooterMode::Required)
}

#[test]
fn what_is_written_matches_its_digests() {
    for attr_len in [0, 10, 70_000] {
        let bytes = written(attr_len, DigestChoice::Written);
        let file = open(&bytes).unwrap();
        assert_eq!(file.warnings(), []);
        let digests = file.protection().digests().unwrap().clone();
        let mut rows = Vec::new();
        file.index().rows(0..4, &mut rows).unwrap();
        let found: Vec<_> = (0..4).map(|row| digests.of_row(row).unwrap()).collect();
        for (row, &digest) in rows.iter().zip(&found) {
            let range = row.payload_offset as usize..(row.payload_offset + row.stored_len) as usize;
            assert_eq!(tet_codec::compare(&bytes[range], digest, Strength::Full), None);
        }
        let key = digests.key();
        assert_eq!(rows_digest(rows.iter().copied().zip(found)), key.chunks);
        let last = rows.iter().map(|row| row.payload_offset + row.stored_len).max().unwrap();
        assert_eq!((key.block.offset, key.block.len), (last, block_len(4).unwrap()));
        assert_eq!(key.spills.len(), usize::from(attr_len > 60_000));
    }
}

/// Payloads and their digests are compared by whoever reads them, gaps by verify; every other byte
/// counts when a file is opened.
#[test]
fn every_flipped_bit_of_the_structure_is_refused_at_open() {
    let bytes = written(10, DigestChoice::Written);
    let file = open(&bytes).unwrap();
    let key = file.protection().digests().unwrap().key().clone();
    let (index_end, block_end) = (file.index_end(), key.block.offset + key.block.len);
    let free = index_end..key.block.offset;
    let chunks = block_end - 4 * 12..block_end;
    let integrity = bytes.windows(11).position(|it| it == b"\"integrity\"").unwrap() as u64;
    for at in 0..bytes.len() as u64 {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at as usize] ^= 1 << bit;
            let opened = open(&bad);
            if free.contains(&at) || chunks.contains(&at) {
                assert!(opened.unwrap().protection().digests().is_some());
            } else if let Ok(file) = opened {
                // A key of another name, version or algorithm is ignored, and reported.
                assert!((integrity..integrity + 40).contains(&at), "byte {at} bit {bit}");
                let protection = file.protection();
                assert!(matches!(protection, Protection::Stale | Protection::Unknown), "{at}");
                assert_eq!(file.warnings().len(), 1);
            }
        }
    }
}

#[test]
fn each_part_has_its_rule() {
    let bytes = written(70_000, DigestChoice::Written);
    let key = open(&bytes).unwrap().protection().digests().unwrap().key().clone();
    let json = bytes.len() - TAIL_LEN as usize - 40;
    let (block, spill) = (key.block.offset as usize, key.spills[0].spill.offset as usize);
    for (at, rule) in [
        (41, Rule::HeadDigest),
        (300, Rule::PageDigest),
        (block, Rule::DigestBlock),
        (block + 24, Rule::PagesDigest),
        (spill + 40, Rule::SpillDigest),
        (json, Rule::SelfDigest),
    ] {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        let fault = *open(&bad).unwrap_err().as_format().unwrap();
        // The name's length is a rule of its own; the index's row is not.
        assert!(fault.rule == rule || at == 41 || at == json, "{fault:?} wanted {rule}");
        let lenient = open_as(&bad, FooterMode::Lenient);
        if let Ok(file) = lenient {
            let broken = matches!(file.protection(), Protection::Broken(_) | Protection::Unknown);
            assert!(broken, "{:?}", file.protection());
        }
        if rule != Rule::HeadDigest {
            assert!(open_as(&bad, FooterMode::Ignore).is_ok(), "{rule}");
        }
    }
}

#[test]
fn a_cleared_flag_is_found_by_the_footer_that_it_hides() {
    let mut bytes = written(10, DigestChoice::Written);
    bytes[12] ^= 1;
    let fault = *open(&bytes).unwrap_err().as_format().unwrap();
    assert_eq!((fault.rule, fault.at), (Rule::FlagCleared, 12));
    assert!(open_as(&bytes, FooterMode::Ignore).is_ok());
    let file = open_as(&bytes, FooterMode::Lenient).unwrap();
    assert_eq!(file.footer_fault(), Some(&fault));
    // Without digests nothing seals the footer, which is then only odd.
    let mut bytes = written(10, DigestChoice::Left);
    bytes[12] ^= 1;
    assert_eq!(open(&bytes).unwrap().warnings().len(), 1);
}

#[test]
fn digests_that_no_footer_names_are_stale() {
    let bytes = written(0, DigestChoice::Written);
    let file = open(&bytes).unwrap();
    let key = file.protection().digests().unwrap().key().clone();
    let end = (key.block.offset + key.block.len) as usize;
    // As the reference's `tet index` leaves it: the block stays, the key goes.
    let mut stale = bytes[..end].to_vec();
    stale.extend(br#"{"history":[]}"#);
    stale.extend(tet_format::footer::Tail { json_len: 14, version: 2 }.encode());
    let file = open(&stale).unwrap();
    assert!(matches!(file.protection(), Protection::Stale));
    let Warning::Note(note) = file.warnings()[0] else { panic!("{:?}", file.warnings()) };
    assert_eq!((note.code, note.at), (NoteCode::DigestsStale, key.block.offset));
    let plain = open(&written(10, DigestChoice::Left)).unwrap();
    assert!(matches!(plain.protection(), Protection::None));
}
