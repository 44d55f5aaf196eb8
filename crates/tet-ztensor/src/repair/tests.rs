//! Damage that is known, and what comes of it.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tet_cbor::Value;
use tet_format::{DType, Losses};
use tet_io::{Publish, Source};

use super::*;
use crate::edit::{Draft, Output};
use crate::limits::Limits;
use crate::open::ZTensorFile;
use crate::rule;
use crate::testing::{Fields, text, uints, with_entries, with_good};
use crate::write::{ChecksumChoice, Declaration, EncodingChoice, WriteOptions, Writer};

fn tensor(name: &str, len: u64) -> Declaration {
    Declaration::new(name, DType::UInt8, [len]).with("of", Value::Text(name.to_owned()))
}

fn file_with(options: &WriteOptions) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), options).unwrap();
    for (name, len) in [("a", 100), ("b", 300), ("c", 10)] {
        let elements: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
        writer.whole(tensor(name, len), &elements).unwrap();
    }
    writer.finish().unwrap().0
}

fn file() -> Vec<u8> {
    file_with(&WriteOptions::default())
}

fn plan_of(bytes: &[u8], salvage: Salvage) -> Plan {
    let losses = Losses::Allowed;
    let options = RepairOptions { salvage, losses, ..RepairOptions::default() };
    plan(&Source::from_bytes(bytes), &options).unwrap()
}

/// The file that a plan makes; it needs nothing more.
fn repaired(plan: &Plan) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.zt");
    let applied = apply(plan, Output::NewFile(&path), &Publish::default()).unwrap();
    assert_eq!(applied.edit_count, plan.edits.len());
    let bytes = fs::read(&path).unwrap();
    assert_eq!(applied.file_len, bytes.len() as u64);
    let again = super::plan(&Source::from_bytes(bytes.clone()), &plan.options).unwrap();
    assert!(again.edits.is_empty(), "once is enough");
    bytes
}

fn actions(plan: &Plan) -> Vec<Action> {
    plan.edits.iter().map(|edit| edit.action).collect()
}

fn names(bytes: &[u8]) -> Vec<String> {
    let file = ZTensorFile::open(Source::from_bytes(bytes), &Limits::default()).unwrap();
    file.tensors().map(|tensor| tensor.name().to_owned()).collect()
}

fn index_start(bytes: &[u8]) -> usize {
    let len = u64::from_le_bytes(*bytes.last_chunk().unwrap());
    bytes.len() - 8 - usize::try_from(len).unwrap()
}

#[test]
fn a_file_that_cannot_be_mended_stays_as_it_is() {
    for bytes in [&b"NONE0001 and more bytes"[..], b"ZTEN", b"ZTEN1000 of another version"] {
        let plan = plan_of(bytes, Salvage::Blobs);
        assert!(plan.edits.is_empty() && !plan.remaining.is_empty());
        assert_eq!(plan.repaired().read_vec(0, plan.repaired().len()).unwrap(), bytes);
    }
}

/// They belong to the blob, whose values they place, wherever they stand.
#[test]
fn a_sparse_tensor_whose_places_do_not_belong_together_is_damaged() {
    let inline = Fields::dense("s", 64, 4, "uint8", &[2, 4]).with("layout", text("sparse"));
    let inline = inline.with("sparse_format", text("csr")).with("indices", uints(&[0, 1, 2, 3]));
    let bytes = with_good(&[1, 2, 3, 4], &inline);
    assert!(plan_of(&bytes, Salvage::Entries).is_sound());
    let plan = plan_of(&bytes, Salvage::Blobs);
    assert_eq!(actions(&plan), [Action::DropTensors]);
    assert_eq!(plan.edits[0].code.foreign(), Some(&rule::SPARSE_INLINE));
    assert_eq!(names(&repaired(&plan)), ["good"]);
}

#[test]
fn a_sound_file_needs_nothing() {
    let empty = Writer::new(Vec::new(), &WriteOptions::default()).unwrap().finish().unwrap().0;
    let zstd = WriteOptions { encoding: EncodingChoice::zstd(), ..WriteOptions::default() };
    for bytes in [file(), file_with(&zstd), file_with(&WriteOptions::v01x()), empty] {
        for salvage in [Salvage::None, Salvage::Entries, Salvage::Blobs] {
            assert!(plan_of(&bytes, salvage).is_sound());
        }
    }
}

#[test]
fn any_wrong_footer_is_written_anew() {
    let sound = file();
    let footer_at = sound.len() - 8;
    let empty = b"ZTEN0001\x80\x01\0\0\0\0\0\0\0";
    for sound in [sound.as_slice(), empty] {
        let footer_at = sound.len() - 8;
        for wrong in [0, 1, 2, 7, 300, u64::MAX, 1 << 63, sound.len() as u64] {
            let mut bytes = sound.to_vec();
            bytes[footer_at..].copy_from_slice(&wrong.to_le_bytes());
            if bytes == sound {
                continue;
            }
            let plan = plan_of(&bytes, Salvage::None);
            assert_eq!(actions(&plan), [Action::RestoreFooter], "{wrong}");
            assert_eq!(plan.losses().count(), 0);
            assert!(repaired(&plan) == sound);
        }
        for cut in footer_at..sound.len() {
            assert!(repaired(&plan_of(&sound[..cut], Salvage::None)) == sound);
        }
    }
    for bit in 0..64 {
        let mut bytes = sound.clone();
        bytes[footer_at + bit / 8] ^= 1 << (bit % 8);
        assert!(repaired(&plan_of(&bytes, Salvage::None)) == sound, "{bit}");
    }
}

#[test]
fn a_damaged_magic_is_written_anew_and_another_version_left_alone() {
    for bit in 0..64 {
        let mut bytes = file();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let plan = plan_of(&bytes, Salvage::None);
        assert_eq!(actions(&plan), [Action::RestoreMagic]);
        assert!(repaired(&plan) == file());
    }
    let mut bytes = file();
    bytes[..8].copy_from_slice(b"ZTEN1000");
    let plan = plan_of(&bytes, Salvage::None);
    assert_eq!(plan.remaining[0].rule(), Some(&rule::OTHER_VERSION));
    assert!(plan.edits.is_empty());
    for bytes in [&b""[..], b"ZTEN", b"ZTEN0001", b"not a file of tensors at all"] {
        let plan = plan_of(bytes, Salvage::Blobs);
        assert!(plan.edits.is_empty() && !plan.remaining.is_empty(), "{bytes:?}");
    }
}

#[test]
fn bytes_behind_the_file_are_cut_off() {
    for behind in [&b"\n"[..], b"\r\n", &[0; 100], &[0xff; 3000]] {
        let plan = plan_of(&[&file(), behind].concat(), Salvage::None);
        assert_eq!(actions(&plan), [Action::CutToOlder]);
        let (offset, len) = (file().len() as u64, behind.len() as u64);
        assert_eq!(plan.edits[0].losses, [Loss::Bytes { offset, len }]);
        assert!(repaired(&plan) == file());
    }
}

/// The file with tensors and a new index behind its index.
fn appended(old: &[u8], name: &str) -> Vec<u8> {
    let draft = Draft::open(&Source::from_bytes(old), &Limits::default()).unwrap();
    let (options, resumed) = (WriteOptions::default(), draft.resumed(None).unwrap());
    let (at, target) = (old.len() as u64, Path::new("a.zt"));
    let mut writer = Writer::resume(old.to_vec(), &options, target, at, resumed);
    writer.whole(tensor(name, 333), &[5; 333]).unwrap();
    writer.whole(tensor("empty", 0), &[]).unwrap();
    writer.finish().unwrap().0
}

#[test]
fn an_append_cut_at_every_byte_gives_the_old_file_or_the_new_one() {
    let old = file();
    let new = appended(&old, "new");
    for cut in old.len() + 1..new.len() {
        let plan = plan_of(&new[..cut], Salvage::None);
        let wanted = if cut < new.len() - 8 { &old } else { &new };
        let image = repaired(&plan);
        assert!(image == *wanted, "{cut} of {}", new.len());
    }
    // The bytes have a place, and were never written.
    for cut in (old.len() + 1..new.len() - 8).step_by(17) {
        let mut bytes = new.clone();
        bytes[cut..].fill(0);
        assert!(repaired(&plan_of(&bytes, Salvage::None)) == old, "{cut}");
    }
}

#[test]
fn a_file_cut_inside_its_index_gives_the_tensors_before_that() {
    for checksum in [ChecksumChoice::Crc32c, ChecksumChoice::Sha256] {
        let bytes = file_with(&WriteOptions { checksum, ..WriteOptions::default() });
        let start = index_start(&bytes);
        let mut seen = Vec::new();
        for cut in start..bytes.len() - 8 {
            let plan = plan_of(&bytes[..cut], Salvage::None);
            if plan.edits.is_empty() {
                assert!(!plan.remaining.is_empty());
                seen.push(0);
                continue;
            }
            assert_eq!(actions(&plan), [Action::MakeIndex]);
            let left = names(&repaired(&plan));
            assert_eq!(left, ["a", "b", "c"][..left.len()]);
            // Missing entries that the index counts are reported.
            let gone = plan.edits[0].losses.iter().map(|loss| match loss {
                Loss::Entries { count } => *count,
                Loss::Name { .. } => 1,
                _ => 0,
            });
            assert_eq!(gone.sum::<u64>(), 3 - left.len() as u64);
            seen.push(left.len());
        }
        assert!(
            seen.is_sorted() && seen.first() == Some(&0) && seen.last() == Some(&2),
            "{seen:?}"
        );
    }
}

#[test]
fn an_index_with_a_damaged_entry_keeps_the_others() {
    let bytes = file();
    let start = index_start(&bytes);
    let at = start + bytes[start..].windows(7).position(|it| it == b"\x64name\x61b").unwrap();
    // No item begins with this byte.
    let mut damaged = bytes.clone();
    damaged[at] = 0xfc;
    let plan = plan_of(&damaged, Salvage::None);
    assert_eq!(actions(&plan), [Action::MakeIndex]);
    let losses = &plan.edits[0].losses[..];
    assert!(matches!(losses, [Loss::Bytes { .. }, Loss::Entries { count: 1 }]), "{losses:?}");
    assert_eq!(names(&repaired(&plan)), ["a", "c"]);
    // The entry can be read past, and its tensor not: it is reported, and dropped on request.
    let mut damaged = bytes.clone();
    damaged[at + 6] = 0xff;
    let plan = plan_of(&damaged, Salvage::None);
    assert!(plan.edits.is_empty() && !plan.is_whole());
    assert!(matches!(
        plan.lost[..],
        [Loss::Tensor { position: 1, rule, .. }] if rule == &rule::NAME_TEXT
    ));
    let plan = plan_of(&damaged, Salvage::Entries);
    assert_eq!(actions(&plan), [Action::DropTensors]);
    assert_eq!(names(&repaired(&plan)), ["a", "c"]);
}

#[test]
fn tensors_with_damaged_blobs_are_dropped_when_asked_for() {
    let zstd = WriteOptions { encoding: EncodingChoice::zstd(), ..WriteOptions::default() };
    let bare = WriteOptions { checksum: ChecksumChoice::Left, ..zstd };
    for (options, rule) in [
        (WriteOptions::default(), &rule::BLOB_CHECKSUM),
        (zstd, &rule::BLOB_CHECKSUM),
        (bare, &rule::ZSTD_FRAMES),
    ] {
        let mut bytes = file_with(&options);
        let file = ZTensorFile::open(Source::from_bytes(bytes.clone()), &Limits::default());
        let span = file.unwrap().find("b").unwrap().stored().unwrap();
        bytes[usize::try_from(span.end()).unwrap() - 1] ^= 0x5b;
        assert!(plan_of(&bytes, Salvage::Entries).is_sound(), "blobs are not checked");
        let plan = plan_of(&bytes, Salvage::Blobs);
        let name = "b".to_owned();
        assert_eq!(plan.edits[0].losses, [Loss::Tensor { position: 1, name, rule }]);
        assert_eq!(names(&repaired(&plan)), ["a", "c"]);
    }
}

#[test]
fn a_bit_of_a_blob_that_is_right_for_another_tensor_stays() {
    let entry = |name: &str, bytes: &[u8]| {
        let checksum = format!("crc32c:0x{:08X}", tet_codec::Crc32c::checksum(bytes));
        Fields::dense(name, 64, 4, "uint8", &[4]).with("checksum", text(&checksum)).entry()
    };
    let bytes = with_entries(&[7; 4], &[entry("a", &[7; 4]), entry("b", &[7, 7, 7, 6])]);
    let plan = plan_of(&bytes, Salvage::None);
    assert!(plan.edits.is_empty(), "{:?}", plan.edits);
    assert_eq!(plan.lost.len(), 1);
}

#[test]
fn tensors_of_kinds_that_are_not_known_stay() {
    let mut bytes = file();
    let at = bytes.windows(6).position(|it| it == b"\x65uint8").unwrap();
    bytes[at + 5] = b'Q';
    assert!(plan_of(&bytes, Salvage::Blobs).is_sound());
}

#[test]
fn a_file_within_the_file_is_not_taken_for_it() {
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    let inner = file();
    writer.whole(tensor("inner", inner.len() as u64), &inner).unwrap();
    let outer = writer.finish().unwrap().0;
    for cut in 64 + index_start(&inner)..index_start(&outer) + 30 {
        // The index looks complete; only its blobs show the loss.
        if cut == 64 + inner.len() {
            assert!(!plan_of(&outer[..cut], Salvage::Blobs).is_sound());
            continue;
        }
        let plan = plan_of(&outer[..cut], Salvage::None);
        assert!(plan.edits.is_empty() && !plan.remaining.is_empty(), "{cut}");
    }
}

#[test]
fn a_repair_in_place_takes_the_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zt");
    fs::write(&path, &file()[..file().len() - 3]).unwrap();
    let source = Source::open(&path).unwrap();
    let plan = plan(&source, &RepairOptions::default()).unwrap();
    apply(&plan, Output::InPlace(&path), &Publish::default()).unwrap();
    assert!(fs::read(&path).unwrap() == file());
}

proptest! {
    /// Whatever the bytes, a plan is made, and what it makes of them is a file that can be opened.
    #[test]
    fn any_damage_has_a_plan(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        behind in prop::collection::vec(any::<u8>(), 0..20),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = file();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes.extend(behind);
        for salvage in [Salvage::None, Salvage::Blobs] {
            let plan = plan_of(&bytes, salvage);
            if plan.remaining.is_empty() {
                let again = super::plan(&plan.repaired(), &plan.options).unwrap();
                prop_assert!(again.edits.is_empty() && again.remaining.is_empty());
            }
            if salvage == Salvage::Blobs && !plan.edits.is_empty() {
                prop_assert!(plan.is_whole());
            }
        }
    }
}
