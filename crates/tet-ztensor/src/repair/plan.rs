//! What a file needs, complete before the first byte is written.

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

/// All that can be done for a file.
pub type Plan = tet_report::Plan<Edit, Loss, RepairOptions>;

/// Whether an edit may be made; one that may not is withheld.
fn allows(plan: &mut Plan, edit: &Edit) -> bool {
    let is_lossy = edit.is_lossy() || edit.proof == Proof::None;
    let is_allowed = !is_lossy || plan.options.losses == Losses::Allowed;
    plan.withheld.extend((!is_allowed).then(|| edit.clone()));
    is_allowed
}

/// Flips a bit back; gives the index as it is then, if the bit is in the index.
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

/// Ends the file behind `kept_len` bytes with this index and its length.
fn end_with(image: &mut Image, kept_len: u64, index: &[u8]) {
    image.resize(kept_len);
    image.append(index);
    image.append((index.len() as u64).to_le_bytes());
}

/// Works out what a file needs. Nothing is written.
///
/// A change may let more be seen of what is wrong, so the file as it will be is looked at again until
/// there is nothing more to change: a plan for the repaired file is empty.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or a limit is passed. What is wrong with the
/// file is no error here: it is in the plan.
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

/// Adds the edits that can be seen to be needed: those that let the index be read, else bits of
/// tensors, else the tensors that are dropped.
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

/// The index, with the edits that let it be read.
fn readable_index(plan: &mut Plan, context: &mut RepairContext<'_>) -> Result<Index> {
    let magic = restored_magic(context.source)?;
    let index = match standing(context) {
        Ok(index) => index,
        Err(Error::Format(fault)) => match flipped_index(plan, context, fault)? {
            Some(index) => index,
            None => find(plan, context, fault)?,
        },
        Err(error) => return Err(error),
    };
    let Some(fault) = magic else { return Ok(index) };
    // An empty index proves nothing about a file of another kind.
    if index.is_empty() {
        plan.edits.clear();
        return Err(fault.into());
    }
    plan.edits.insert(0, new_edit(fault.rule, (0, MAGIC_LEN), Action::RestoreMagic));
    Ok(index)
}

/// What `verify` finds in the file as it will be.
fn verified(plan: &Plan) -> Result<Report> {
    let options = VerifyOptions { findings_max: FINDINGS_MAX, ..plan.options.verify() };
    verify(&plan.repaired(), &options)
}

/// The index that the footer names, with the bit flipped back that keeps it from being read.
fn flipped_index(
    plan: &mut Plan,
    context: &mut RepairContext<'_>,
    fault: Fault,
) -> Result<Option<Index>> {
    let Some(span) = standing_span(context).ok().filter(|span| !span.is_empty()) else {
        return Ok(None);
    };
    let found = flip::of_index(context, span, fault.at)?;
    Ok(found.and_then(|flip| flip_back(plan, flip, fault.rule)))
}

/// Flips the bits back that keep single tensors from being read, where that makes them right.
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
        // A bit that does not make its tensor right was not the one: again without those.
        plan.edits.truncate(count);
        plan.image = image.clone();
    }
}

/// Whether a bit is one of the blob of a tensor that nothing is wrong with, too.
fn is_of_sound(flip: &Flip, index: &Index, wrong: &[(usize, &'static ForeignRule)]) -> bool {
    let covers = |tensor: &Tensor<'_>| {
        tensor.stored().is_some_and(|stored| stored.range().contains(&flip.at))
    };
    let is_wrong = |tensor: &Tensor<'_>| wrong.iter().any(|(at, _)| *at == tensor.position());
    flip.index.is_none() && index.tensors().any(|it| covers(&it) && !is_wrong(&it))
}

/// So many tensors are named among what is lost; the rest is counted.
const LOSSES_MAX: usize = 4096;
/// So many findings of each rule are kept.
const FINDINGS_MAX: usize = 1 << 16;
/// Bits of tensors are looked for in this many rounds: one may hide another.
const FLIP_ROUNDS_MAX: usize = 8;
/// Bits are flipped back in the entries and blobs of so many tensors.
const FLIPPED_MAX: usize = 64;

/// The fault of a magic that may be written anew; that of another version may not.
fn restored_magic(source: &Source) -> Result<Option<Fault>> {
    let head = source.read_vec(0, MAGIC_LEN.min(source.len()))?;
    let any = Limits { index_len_max: u64::MAX, ..Limits::default() };
    match index_span(&head, &[0; 8], source.len(), &any) {
        Err(fault) if fault.rule == &rule::MAGIC => Ok(Some(fault)),
        Err(fault) if [&rule::OTHER_VERSION, &rule::TRUNCATED].contains(&fault.rule) => {
            // A file of some bytes that start right may have lost its end.
            if head == MAGIC { Ok(None) } else { Err(fault.into()) }
        }
        _ => Ok(None),
    }
}

/// The index that the footer names.
fn standing(context: &RepairContext<'_>) -> Result<Index> {
    let span = standing_span(context)?;
    let bytes = context.source.read_vec(span.start(), span.len())?;
    Ok(Index::read(bytes, span.start(), context.limits)?)
}

fn standing_span(context: &RepairContext<'_>) -> Result<Span> {
    let file_len = context.source.len();
    let tail_len = FOOTER_LEN.min(file_len);
    let tail = context.source.read_vec(file_len.saturating_sub(tail_len), tail_len)?;
    Ok(index_span(&MAGIC, &tail, file_len, context.limits)?)
}

/// Finds an index where the footer names none that can be read.
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
    let named = standing_span(context).ok().filter(|span| !span.is_empty());
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

/// Takes damaged tensors out of the index, if that is asked for, and lists those that stay.
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

/// The positions of tensors whose blobs break a rule, and the first one.
fn damaged_blobs(report: &Report) -> HashMap<usize, &'static ForeignRule> {
    let mut damaged = HashMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        let Some((rule, position)) = finding.rule().zip(position_of(finding)) else { continue };
        // Places that stand in an entry are looked at where its blob is.
        let is_blob = rule.region == "blob" || rule == &rule::SPARSE_INLINE;
        // Parts can be read by themselves, and a limit of ours says nothing about the file.
        let harmless = [&rule::PART_INDPTR, &rule::PART_RANGE, &rule::LIMIT_SPARSE];
        if is_blob && !harmless.contains(&rule) {
            damaged.entry(position).or_insert(rule);
        }
    }
    damaged
}
