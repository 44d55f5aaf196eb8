//! A plan for any bytes, and the file that it makes.

use std::collections::HashMap;

use tet_format::Losses;
use tet_io::{Kind, Source};
use tet_ztensor::repair::{Action, Edit, Loss, Plan, RepairOptions, Salvage, plan};
use tet_ztensor::{Check, Finding, Severity, ZTensorFile, rule};

use super::{LEN_MAX, limits, verified};

/// Makes a plan of each kind: the repaired file needs no more of it, keeps every tensor that could be
/// read, and is as sound as is claimed.
pub(super) fn repair(bytes: &[u8]) {
    let before = values(bytes);
    for salvage in [Salvage::None, Salvage::Entries, Salvage::Blobs] {
        let losses = Losses::Allowed;
        let options =
            RepairOptions { limits: limits(), salvage, losses, ..RepairOptions::default() };
        let Some(plan) = planned(bytes, &options) else { continue };
        assert!(plan.losses().all(|loss| !loss.to_string().is_empty()));
        let repaired = plan.repaired();
        let repaired = repaired.read_vec(0, repaired.len()).unwrap();
        assert!(repaired == bytes || !plan.edits.is_empty());
        if plan.edits.is_empty() {
            continue;
        }
        let Some(again) = planned(&repaired, &options) else { continue };
        assert!(again.edits.is_empty(), "{salvage:?}: {:?}, then {:?}", plan.edits, again.edits);
        assert_eq!(again.remaining, [], "{salvage:?}: {:?}", plan.edits);
        kept(&plan, before.as_ref(), &repaired);
        if plan.is_whole() {
            check_sound(&repaired, salvage);
        }
    }
}

/// The plan for a file; none when it passes a limit.
fn planned(bytes: &[u8], options: &RepairOptions) -> Option<Plan> {
    match plan(&Source::from_bytes(bytes), options) {
        Err(error) if error.kind() == Kind::Limit => None,
        plan => Some(plan.unwrap()),
    }
}

/// What can be read of a file by the bytes of its entries; nothing of one that does not open.
fn values(bytes: &[u8]) -> Option<HashMap<Vec<u8>, Vec<u8>>> {
    let file = ZTensorFile::open(Source::from_bytes(bytes), &limits()).ok()?;
    let short = |len: u64| len <= LEN_MAX;
    let tensors = file.tensors().filter(|tensor| tensor.decoded_len().is_some_and(short));
    let value = |tensor: tet_ztensor::Tensor<'_>| {
        let elements = file.read(tensor, Check::Always).ok()?;
        Some((tensor.entry_bytes().to_vec(), elements))
    };
    Some(tensors.filter_map(value).collect())
}

/// Every tensor that could be read is still there, with its elements.
fn kept(plan: &Plan, before: Option<&HashMap<Vec<u8>, Vec<u8>>>, repaired: &[u8]) {
    let Some(before) = before else { return };
    let after = values(repaired).unwrap();
    let is_flip = |edit: &Edit| {
        matches!(edit.action, Action::FlipIndexBit { .. } | Action::FlipBlobBit { .. })
    };
    let is_flipped = plan.edits.iter().any(is_flip);
    for (entry, elements) in before {
        // A bit that is flipped back may be one of the entry: its elements are still there.
        let found = after.get(entry) == Some(elements)
            || is_flipped && after.values().any(|it| it == elements);
        assert!(found, "a tensor is lost by {:?}", plan.edits);
    }
    let tensor = |loss: &&Loss| matches!(loss, Loss::Tensor { .. });
    let is_lost = plan.edits.iter().flat_map(|edit| &edit.losses).any(|loss| tensor(&loss));
    assert!(is_lost || is_flipped, "{:?}", plan.edits);
}

/// A file that is called whole has no error left that its plan is about.
fn check_sound(repaired: &[u8], salvage: Salvage) {
    let report = verified(repaired);
    let kinds =
        [&rule::DTYPE_KNOWN, &rule::ENCODING_KNOWN, &rule::LAYOUT_KNOWN, &rule::FORMAT_KNOWN];
    for finding in report.findings.iter().filter(|it| it.severity == Severity::Error) {
        let rule = finding.rule().unwrap();
        let is_blob = rule.region == "blob" || rule == &rule::SPARSE_INLINE;
        let is_left = match salvage {
            Salvage::Blobs => rule == &rule::LIMIT_SPARSE,
            Salvage::None | Salvage::Entries => is_blob,
        };
        // One of a kind that is not known stays, whatever else is wrong with it.
        let is_here = |it: &Finding| it.place.dataset == finding.place.dataset;
        let is_known = |it: &Finding| !(kinds.contains(&it.rule().unwrap()) && is_here(it));
        let is_other = !report.findings.iter().all(is_known) || rule == &rule::NAME_TWICE;
        assert!(is_left || is_other, "called whole: {finding:?}");
    }
}
