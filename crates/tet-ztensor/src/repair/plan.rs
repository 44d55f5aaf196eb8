//! The repair plan of a file, complete before the first byte is written.

use std::borrow::Cow;
use std::collections::HashMap;

use tet_cbor as cbor;
use tet_format::{ForeignRule, Losses, Severity, Span};
use tet_io::{Image, Source};
use tet_report::{Finding, Proof, Report};

use super::context::{RepairContext, damage, image_of, position_of};
use super::edit::{Action, Edit, Loss, new_edit};
use super::flip::{self, Flip};
use super::salvage::Salvaged;
use super::{RepairOptions, Salvage, older, salvage, tail};
use crate::check::{VerifyOptions, verify, whole_finding};
use crate::container::{FOOTER_LEN, MAGIC, MAGIC_LEN, index_span};
use crate::error::{Error, Fault, Result};
use crate::index::Index;
use crate::limits::Limits;
use crate::rule;
use crate::tensor::Tensor;

/// All possible repairs of a file.
pub type Plan = tet_report::Plan<Edit, Loss, RepairOptions>;

/// Whether an edit is allowed; if not, adds it to the withheld ones.
fn allows(plan: &mut Plan, edit: &Edit) -> bool {
    let is_lossy = edit.is_lossy() || edit.proof == Proof::None;
    let is_allowed = !is_lossy || plan.options.losses == Losses::Allowed;
    plan.withheld.extend((!is_allowed).then(|| edit.clone()));
    is_allowed
}

/// Flips a bit back. Returns the new index if the bit is in the index.
fn flip_back(plan: &mut Plan, flip: Flip, rule: &'static ForeignRule) -> Option<Index> {
    let Flip { at, bit, byte, proof, index } = flip;
    let action = match index {
        Some(_) => Action::FlipIndexBit { bit },
        None => Action::FlipBlobBit { bit },
    };
    plan.image.put(at, [byte]);
    plan.edits.push(new_edit(rule, (at, 1), action).proof(proof));
    index
}

/// Truncates the image to `kept_len` bytes and appends this index and its length.
fn end_with(image: &mut Image, kept_len: u64, index: &[u8]) {
    image.resize(kept_len);
    image.append(index);
    image.append((index.len() as u64).to_le_bytes());
}

/// Plans the repair of a file. Nothing is written.
///
/// A change may reveal more faults, so the repaired file is checked again until there is nothing
/// more to change: the plan for a repaired file is empty.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or a limit is exceeded. Faults of the file are
/// in the plan; they are no error of this call.
pub fn plan(source: &Source, options: &RepairOptions) -> Result<Plan> {
    let mut plan = Plan::new(source, image_of(source), options.clone());
    for round in 0_usize.. {
        let (count, file) = (plan.edits.len(), plan.repaired());
        match next_edits(&mut plan, &file, round < FLIP_ROUNDS_MAX) {
            Err(Error::Format(fault)) if plan.edits.is_empty() => {
                plan.remaining = vec![whole_finding(fault)];
            }
            planned => planned?,
        }
        if count == plan.edits.len() {
            break;
        }
    }
    source.check_unchanged()?;
    Ok(plan)
}

/// Adds the next edits: those that make the index readable, else flipped bits of tensors, else the
/// removal of tensors.
fn next_edits(plan: &mut Plan, file: &Source, may_flip: bool) -> Result<()> {
    let options = plan.options.clone();
    let progress = options.progress.begin(file.len());
    let mut context = RepairContext::new(file, &options.limits, &progress);
    let count = plan.edits.len();
    let index = readable_index(plan, &mut context)?;
    if count != plan.edits.len() {
        return Ok(());
    }
    let report = verified(plan)?;
    if may_flip {
        flip_tensors(plan, &mut context, &index, &report)?;
    }
    if count == plan.edits.len() {
        drop_tensors(plan, &index, &report)?;
        plan.error_count = report.count(Severity::Error);
    }
    Ok(())
}

/// The index, after the edits that make it readable.
fn readable_index(plan: &mut Plan, context: &mut RepairContext<'_>) -> Result<Index> {
    let magic = restored_magic(context.source)?;
    let index = match footer_index(context) {
        Ok(index) => index,
        Err(Error::Format(fault)) => match flipped_index(plan, context, fault)? {
            Some(index) => index,
            None => find(plan, context, fault)?,
        },
        Err(error) => return Err(error),
    };
    let Some(fault) = magic else { return Ok(index) };
    // An empty index does not prove that this is a zTensor file.
    if index.is_empty() {
        plan.edits.clear();
        return Err(fault.into());
    }
    plan.edits.insert(0, new_edit(fault.rule, (0, MAGIC_LEN), Action::RestoreMagic));
    Ok(index)
}

/// The `verify` report of the repaired file.
fn verified(plan: &Plan) -> Result<Report> {
    let options = VerifyOptions { findings_max: FINDINGS_MAX, ..plan.options.verify() };
    verify(&plan.repaired(), &options)
}

/// The index that the footer points to, after correcting the flipped bit that makes it unreadable.
fn flipped_index(
    plan: &mut Plan,
    context: &mut RepairContext<'_>,
    fault: Fault,
) -> Result<Option<Index>> {
    let Some(span) = footer_span(context).ok().filter(|span| !span.is_empty()) else {
        return Ok(None);
    };
    let found = flip::of_index(context, span, fault.at)?;
    Ok(found.and_then(|flip| flip_back(plan, flip, fault.rule)))
}

/// Corrects flipped bits of single tensors, if that makes the tensors valid.
fn flip_tensors(
    plan: &mut Plan,
    context: &mut RepairContext<'_>,
    index: &Index,
    report: &Report,
) -> Result<()> {
    let is_wrong = |it: &&Finding| {
        it.severity == Severity::Error || it.rule() == Some(&rule::CHECKSUM_UNKNOWN)
    };
    let mut wrong: Vec<(usize, &'static ForeignRule)> = Vec::new();
    for finding in report.findings.iter().filter(is_wrong) {
        let new = position_of(finding).filter(|it| !wrong.iter().any(|(other, _)| other == it));
        wrong.extend(new.zip(finding.rule()));
        if FLIPPED_MAX <= wrong.len() {
            break;
        }
    }
    let (count, image) = (plan.edits.len(), plan.image.clone());
    loop {
        let mut index = Cow::Borrowed(index);
        for &(position, rule) in &wrong {
            let flip = flip::of_tensor(context, &index, position)?;
            if let Some(flip) = flip.filter(|flip| !is_of_sound(flip, &index, &wrong)) {
                index = flip_back(plan, flip, rule).map_or(index, Cow::Owned);
            }
        }
        if count == plan.edits.len() {
            return Ok(());
        }
        let report = verified(plan)?;
        let left: Vec<usize> =
            report.findings.iter().filter(is_wrong).filter_map(position_of).collect();
        let tried = wrong.len();
        wrong.retain(|(position, _)| !left.contains(position));
        if tried == wrong.len() {
            return Ok(());
        }
        // A flip that does not make its tensor valid was wrong: try again without those.
        plan.edits.truncate(count);
        plan.image = image.clone();
    }
}

/// Whether a bit is also in the blob of a tensor that is not damaged.
fn is_of_sound(flip: &Flip, index: &Index, wrong: &[(usize, &'static ForeignRule)]) -> bool {
    let covers = |tensor: &Tensor<'_>| {
        tensor.stored().is_some_and(|stored| stored.range().contains(&flip.at))
    };
    let is_wrong = |tensor: &Tensor<'_>| wrong.iter().any(|(at, _)| *at == tensor.position());
    flip.index.is_none() && index.tensors().any(|it| covers(&it) && !is_wrong(&it))
}

/// The most tensors that are listed as lost; the rest are counted.
const LOSSES_MAX: usize = 4096;
/// The most findings that are stored for each rule.
const FINDINGS_MAX: usize = 1 << 16;
/// The most rounds of searching for flipped bits: one may hide another.
const FLIP_ROUNDS_MAX: usize = 8;
/// The most tensors whose entries and blobs are searched for flipped bits.
const FLIPPED_MAX: usize = 64;

/// The fault of a magic that may be rewritten; that of another version may not.
fn restored_magic(source: &Source) -> Result<Option<Fault>> {
    let head = source.read_vec(0, MAGIC_LEN.min(source.len()))?;
    let any = Limits { index_len_max: u64::MAX, ..Limits::default() };
    match index_span(&head, &[0; 8], source.len(), &any) {
        Err(fault) if fault.rule == &rule::MAGIC => Ok(Some(fault)),
        Err(fault) if [&rule::OTHER_VERSION, &rule::TRUNCATED].contains(&fault.rule) => {
            // A short file with a valid magic may be truncated.
            if head == MAGIC { Ok(None) } else { Err(fault.into()) }
        }
        _ => Ok(None),
    }
}

/// The index that the footer points to.
fn footer_index(context: &RepairContext<'_>) -> Result<Index> {
    let span = footer_span(context)?;
    let bytes = context.source.read_vec(span.start(), span.len())?;
    Ok(Index::read(bytes, span.start(), context.limits)?)
}

fn footer_span(context: &RepairContext<'_>) -> Result<Span> {
    let file_len = context.source.len();
    let tail_len = FOOTER_LEN.min(file_len);
    let tail = context.source.read_vec(file_len.saturating_sub(tail_len), tail_len)?;
    Ok(index_span(&MAGIC, &tail, file_len, context.limits)?)
}

/// Finds an index if the footer does not point to a readable one.
fn find(plan: &mut Plan, context: &mut RepairContext<'_>, fault: Fault) -> Result<Index> {
    let (rule, file_len) = (fault.rule, context.source.len());
    let place = |offset: u64| (offset, file_len.saturating_sub(offset));
    if let Some(index) = tail::find(context)? {
        let (kept_len, index_len) = index.span().map_or((0, 0), |it| (it.end(), it.len()));
        plan.image.resize(kept_len);
        plan.image.append(index_len.to_le_bytes());
        plan.edits.push(new_edit(rule, place(kept_len), Action::RestoreFooter));
        return Ok(index);
    }
    let named = footer_span(context).ok().filter(|span| !span.is_empty());
    if let Some(salvaged) = named.map(|span| salvage::of_span(context, span)).transpose()?.flatten()
    {
        return make_index(plan, context, fault, salvaged);
    }
    if let Some(index) = older::find(context)? {
        let kept_len = index.span().map_or(0, Span::end).saturating_add(FOOTER_LEN);
        let (offset, len) = place(kept_len);
        let edit = new_edit(rule, (offset, len), Action::CutToOlder);
        let edit = edit.lose(Loss::Bytes { offset, len });
        if !allows(plan, &edit) {
            return Err(fault.into());
        }
        plan.image.resize(kept_len);
        plan.edits.push(edit);
        return Ok(index);
    }
    match salvage::of_tail(context)? {
        Some(salvaged) => make_index(plan, context, fault, salvaged),
        None => Err(fault.into()),
    }
}

fn make_index(
    plan: &mut Plan,
    context: &RepairContext<'_>,
    fault: Fault,
    salvaged: Salvaged,
) -> Result<Index> {
    let bytes = salvaged.index_bytes();
    let gone = salvaged.gone();
    let Salvaged { start, mut losses, .. } = salvaged;
    losses.extend(gone);
    let len = context.source.len().saturating_sub(start);
    let edit = new_edit(fault.rule, (start, len), Action::MakeIndex);
    let edit = edit.losses(losses).proof(Proof::None);
    if !allows(plan, &edit) {
        return Err(fault.into());
    }
    end_with(&mut plan.image, start, &bytes);
    plan.edits.push(edit);
    Ok(Index::read(bytes, start, context.limits)?)
}

/// Removes damaged tensors from the index, if requested, and lists those that stay.
fn drop_tensors(plan: &mut Plan, index: &Index, report: &Report) -> Result<()> {
    let blobs = match plan.options.salvage {
        Salvage::Blobs | Salvage::None => damaged_blobs(report),
        Salvage::Entries => HashMap::new(),
    };
    let (mut kept, mut count, mut losses, mut more) = (Vec::new(), 0_u64, Vec::new(), 0_u64);
    for tensor in index.tensors() {
        let entry = damage(&tensor).map(|fault| fault.rule);
        match entry.or_else(|| blobs.get(&tensor.position()).copied()) {
            Some(rule) if losses.len() < LOSSES_MAX => losses.push(Loss::by(&tensor, rule)),
            Some(_) => more += 1,
            None => {
                kept.extend_from_slice(tensor.entry_bytes());
                count += 1;
            }
        }
    }
    losses.extend((more != 0).then_some(Loss::Entries { count: more }));
    let first = losses.iter().find_map(|loss| match loss {
        Loss::Tensor { rule, .. } => Some(*rule),
        _ => None,
    });
    let (Some(rule), true) = (first, plan.options.salvage != Salvage::None) else {
        plan.lost = losses;
        return Ok(());
    };
    let span = index.span();
    let (offset, len) = span.map_or((0, 0), |span| (span.start(), span.len()));
    let mut bytes = Vec::new();
    cbor::array_head(count, &mut bytes);
    bytes.extend_from_slice(&kept);
    let edit = new_edit(rule, (offset, len), Action::DropTensors).losses(losses);
    if !allows(plan, &edit) {
        return Ok(());
    }
    end_with(&mut plan.image, offset, &bytes);
    plan.edits.push(edit);
    Ok(())
}

/// The damaged tensors by position, with the first rule that each blob breaks.
fn damaged_blobs(report: &Report) -> HashMap<usize, &'static ForeignRule> {
    let mut damaged = HashMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        let Some((rule, position)) = finding.rule().zip(position_of(finding)) else { continue };
        // Positions stored in an entry are checked together with its blob.
        let is_blob = rule.region == "blob" || rule == &rule::SPARSE_INLINE;
        // Parts can be read separately, and a limit of the reader is no fault of the file.
        let harmless = [&rule::PART_INDPTR, &rule::PART_RANGE, &rule::LIMIT_SPARSE];
        if is_blob && !harmless.contains(&rule) {
            damaged.entry(position).or_insert(rule);
        }
    }
    damaged
}
