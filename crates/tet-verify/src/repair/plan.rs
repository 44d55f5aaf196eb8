//! Plans the repair of a file, from the footer to the payloads.

use tet_file::edit::{FooterEdit, Member};
use tet_file::integrity::IntegrityKey;
use tet_file::write::DigestChoice;
use tet_format::digest::DigestBlock;
use tet_format::{Region, Rule, Superblock, superblock};
use tet_io::{Image, Kind, Source};
use tet_report::{Code, Finding, Level, Severity};

use super::anchor::{self, Anchor};
use super::context::RepairContext;
use super::edit::{Change, Edit, Lost};
use super::payload::{self, Damaged};
use super::{RepairOptions, block, gaps, head, rows, tail};
use crate::error::{Error, Result};
use crate::{VerifyOptions, verify};

/// All possible repairs of a file, complete before the first byte is written.
pub type Plan = tet_report::Plan<Edit, Lost, RepairOptions>;

/// Plans the repair of a file. Nothing is written.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, a limit is exceeded, or the caller canceled.
/// Faults of the file are in the plan; they are no error of this call.
pub fn plan(source: &Source, options: &RepairOptions) -> Result<Plan> {
    let mut context = RepairContext::new(source, options);
    let mut lost = Vec::new();
    // Salvaged data may reveal more faults: a second repair must find nothing to do.
    for _ in 0..ROUNDS_MAX {
        let count = context.edits.len();
        context.withheld.clear();
        lost = match repair(&mut context) {
            // If the file cannot be read any further, the remaining findings give the reason.
            Err(error) if error.kind() == Kind::Format => Vec::new(),
            lost => lost?,
        };
        let is_changed = context.edits.iter().skip(count).any(Edit::is_lossy);
        if !is_changed || !lost.is_empty() {
            break;
        }
    }
    source.check_unchanged().map_err(Error::Io)?;
    let remaining = remaining(&context.source(), options)?;
    let error_count = remaining.len() as u64;
    let RepairContext { edits, withheld, image, .. } = context;
    let plan = Plan::new(source, image, options.clone());
    Ok(Plan { edits, withheld, lost, remaining, error_count, ..plan })
}

/// The most rounds of repair.
const ROUNDS_MAX: usize = 4;

/// The broken rules of a file, without unusable digests.
pub(crate) fn remaining(source: &Source, options: &RepairOptions) -> Result<Vec<Finding>> {
    let limits = options.limits;
    let level = Level::Deep;
    let options = VerifyOptions {
        limits,
        level,
        progress: options.progress.silent(),
        memory_budget: options.memory_budget,
        decoded_max: options.decoded_max,
        ..VerifyOptions::default()
    };
    let report = verify(source, &options)?;
    let is_error = |finding: &Finding| {
        finding.severity == Severity::Error && !matches!(finding.code, Code::Note(_))
    };
    Ok(report.findings.into_iter().filter(is_error).collect())
}

fn repair(context: &mut RepairContext<'_>) -> Result<Vec<Lost>> {
    let anchor = anchor::find(context)?;
    let key = anchor.as_ref().and_then(|anchor| anchor.key.clone());
    if !head::repair(context, key.as_ref())? {
        return Ok(Vec::new());
    }
    let damaged = match (&anchor, &key) {
        (Some(anchor), Some(key)) => by_digests(context, anchor, key)?,
        _ => by_rules(context, anchor.as_ref())?,
    };
    let mut damaged = payload::take(context, damaged)?;
    if damaged.is_empty() || context.options.salvage.is_none() {
        gaps::clear(context, &damaged)?;
        let found = gaps::protect(context, &damaged)?;
        damaged.extend(payload::take(context, found)?);
    }
    let damaged = salvage(context, damaged)?;
    let file = rows::open(context)?;
    Ok(damaged.iter().map(|it| payload::lost(&file, it, context.options)).collect())
}

/// Repairs a file whose footer proves all digests.
fn by_digests(
    context: &mut RepairContext<'_>,
    anchor: &Anchor,
    key: &IntegrityKey,
) -> Result<Vec<Damaged>> {
    set_flag(context, anchor)?;
    let row_count = rows::open(context)?.index().row_count();
    let place = key.block.offset;
    let Some((block, mut pages)) = block::pages(context, place, row_count)? else {
        return by_rules(context, Some(anchor));
    };
    let is_proven = block::repair_pages(context, &block, &mut pages, key)?;
    if !is_proven || !rows::repair_pages(context, &block, &pages, place)? {
        rows::repair(context)?;
    }
    spills(context, key)?;
    payloads(context, &block, key)
}

fn payloads(
    context: &mut RepairContext<'_>,
    block: &DigestBlock,
    key: &IntegrityKey,
) -> Result<Vec<Damaged>> {
    let file = rows::open(context)?;
    let mut wrong = block::mismatches(context, &file, block)?;
    block::repair_chunks(context, &file, block, key, &mut wrong)?;
    payload::flip(context, wrong)
}

/// Corrects flipped bits in spills.
fn spills(context: &mut RepairContext<'_>, key: &IntegrityKey) -> Result<()> {
    for listed in &key.spills {
        let (at, len) = (listed.spill.offset, listed.spill.len);
        let is_there = at.checked_add(len).is_some_and(|end| end <= context.image.len());
        if !is_there || context.limits().check_spill_len(len, at).is_err() {
            continue;
        }
        let mut bytes = context.source().read_vec(at, len)?;
        if tet_codec::digest(&bytes) != listed.digest {
            context.flip(Rule::SpillDigest, Region::Footer, at, &mut bytes, listed.digest)?;
        }
    }
    Ok(())
}

/// Repairs a file by the rules of the format alone.
fn by_rules(context: &mut RepairContext<'_>, anchor: Option<&Anchor>) -> Result<Vec<Damaged>> {
    rows::repair(context)?;
    match anchor {
        Some(anchor) => set_flag(context, anchor)?,
        None => tail::repair(context)?,
    }
    let file = rows::open(context)?;
    payload::unreadable(context, &file)
}

fn set_flag(context: &mut RepairContext<'_>, anchor: &Anchor) -> Result<()> {
    let head = context.source().read_vec(0, superblock::LEN)?;
    let superblock = Superblock::read(&head, context.image.len()).map_err(tet_file::Error::from)?;
    if superblock.has_footer() {
        return Ok(());
    }
    tail::set_flag(context, superblock, Code::Rule(Rule::FlagCleared), anchor.json_at)
}

/// Fills lost payloads, if requested, and updates the footer.
fn salvage(context: &mut RepairContext<'_>, damaged: Vec<Damaged>) -> Result<Vec<Damaged>> {
    if damaged.is_empty() || context.options.salvage.is_none() {
        return Ok(damaged);
    }
    // Read the footer before filled payloads overwrite its place.
    let file = gaps::open(context)?;
    let (before, old) = (context.image.clone(), file.footer().version != 0);
    let footer = if old { FooterEdit::from_file(&file, context.limits())? } else { None };
    let count = context.edits.len();
    let left = payload::fill(context, damaged)?;
    if let Some(footer) = footer.filter(|_| count < context.edits.len()) {
        let footer = with_spills_of(footer, &before)?;
        let last = context.edits.last().map(|edit| (edit.code, edit.region));
        let (code, region) = last.unwrap_or((Code::Rule(Rule::ChunkDigest), Region::Footer.name()));
        let (at, len) = (file.payload_end(), file.file_len().saturating_sub(file.payload_end()));
        let action = match footer.digests {
            DigestChoice::Written => super::Action::MakeDigests,
            DigestChoice::Left => super::Action::MakeFooter,
        };
        let edit = Edit::new(code, region, at, len, action);
        context.apply(edit.change(Change::Footer(Some(footer))))?;
    }
    if left.is_empty() {
        gaps::clear(context, &left)?;
    }
    Ok(left)
}

/// Loads the spills of the footer into memory, and drops the statistics of filled chunks.
fn with_spills_of(mut footer: FooterEdit, image: &Image) -> Result<FooterEdit> {
    footer.members.retain(|(key, _)| key != "statistics");
    for (_, member) in &mut footer.members {
        if let Member::Spill(span, ..) = member {
            let bytes = image.to_source().read_vec(span.start(), span.len())?;
            *member = Member::New(bytes.into());
        }
    }
    Ok(footer)
}
