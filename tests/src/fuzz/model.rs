//! Sound files that are changed a little.

use tet_io::{Kind, Source};
use tet_verify::repair::{Plan, RepairOptions};

use super::feed::Feed;
use super::verified;
use crate::ask;
use crate::assemble::{Assembled, Dataset, Sheet, Stored};

/// Makes a sound file of the first bytes, changes it as the others say, and verifies it.
pub fn model(bytes: &[u8]) {
    let mut feed = Feed(bytes);
    let (_, file) = sheet(&mut feed);
    let mut damaged = file.bytes.clone();
    for _ in 0..feed.below(4) {
        change(&mut damaged, &mut feed);
    }
    let report = verified(&damaged);
    assert!(report.is_ok() || damaged != file.bytes, "a sound file is sound");
}

/// Makes a sound file, changes it, and mends it: what is called whole needs no more, and
/// after a single change in a file with digests it holds what it held unless a loss is named.
pub fn repair(bytes: &[u8]) {
    let mut feed = Feed(bytes);
    let (is_sealed, file) = sheet(&mut feed);
    let mut damaged = file.bytes.clone();
    let change_count = 1 + feed.below(3);
    for _ in 0..change_count {
        change(&mut damaged, &mut feed);
    }
    let Some(plan) = plan(&damaged) else { return };
    let losses = plan.losses().count();
    if !plan.is_whole() {
        assert!(!is_sealed || change_count > 1 || losses + plan.remaining.len() > 0);
        return;
    }
    let mended = bytes_of(&plan);
    let again = self::plan(&mended).map(|plan| (plan.edits, plan.lost, plan.remaining));
    let is_sound = again.as_ref().is_some_and(|(edits, lost, remaining)| {
        edits.is_empty() && lost.is_empty() && remaining.is_empty()
    });
    assert!(is_sound, "after {:?} still {again:?}", plan.edits);
    if is_sealed && change_count == 1 && losses == 0 {
        let values = |bytes: &[u8]| {
            let catalog = ask::open_bytes(bytes).unwrap();
            let all = catalog.datasets().iter();
            all.map(|dataset| ask::read_all(dataset).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(values(&mended), values(&file.bytes), "it holds what it held");
    }
}

/// Options that let a repair lose what it must.
fn allowed() -> RepairOptions {
    RepairOptions { losses: tet_format::Losses::Allowed, ..RepairOptions::default() }
}

/// The plan for a file; none when it passes a limit.
fn plan(bytes: &[u8]) -> Option<Plan> {
    match tet_verify::repair::plan(&Source::from_bytes(bytes), &allowed()) {
        Err(error) if error.kind() == Kind::Limit => None,
        plan => Some(plan.unwrap()),
    }
}

fn bytes_of(plan: &Plan) -> Vec<u8> {
    let source = plan.repaired();
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
    source.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// A sound file, and whether it has digests.
fn sheet(feed: &mut Feed<'_>) -> (bool, Assembled) {
    let count = 1 + feed.below(2);
    let datasets: Vec<Dataset> = (0..count).map(|nth| dataset(nth, feed)).collect();
    let mut sheet = Sheet { gap_len: feed.below(3), ..Sheet::new(&datasets) };
    match feed.below(4) {
        0 => {}
        1 => sheet = sheet.footer("{}"),
        2 => {
            sheet = sheet.footer(r#"{"metadata":{"datasets":{"0":{"attrs":{"u":"K"}}}}}"#).sealed()
        }
        _ => sheet = sheet.footer("{}").sealed(),
    }
    (sheet.sealed, sheet.assemble())
}

fn dataset(nth: usize, feed: &mut Feed<'_>) -> Dataset {
    let (tag, _, element_len) = crate::values::TYPES[feed.below(10)];
    let rank = 1 + feed.below(3);
    let (shape, chunk_shape) = (feed.extents(rank), feed.extents(rank));
    let stored = [Stored::Raw, Stored::Frame, Stored::Frames][feed.below(3)];
    Dataset::new(&nth.to_string(), tag, element_len, &shape).chunked(&chunk_shape).stored(stored)
}

/// One change: a bit, a number at a boundary, a cut, bytes that moved.
pub(super) fn change(bytes: &mut Vec<u8>, feed: &mut Feed<'_>) {
    if bytes.is_empty() {
        return;
    }
    let at = feed.wide() % bytes.len();
    let room = bytes.len() - at;
    match feed.below(5) {
        0 => bytes[at] ^= 1 << feed.below(8),
        1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][feed.below(5)],
        2 => {
            let width = 8.min(room);
            let value = [0, 1, u64::MAX, bytes.len() as u64, 1 << feed.below(64)][feed.below(5)];
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        3 => bytes.truncate(at),
        _ => {
            let to = feed.wide() % bytes.len();
            let len = room.min(bytes.len() - to).min(1 + feed.below(64));
            bytes.copy_within(at..at + len, to);
        }
    }
}
