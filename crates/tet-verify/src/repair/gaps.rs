//! Bytes that belong to no structure, and digests that the footer does not refer to.

use tet_file::edit::{FooterEdit, payload_spans, unused_spans};
use tet_file::write::DigestChoice;
use tet_file::{FooterMode, OpenOptions, Protection, TetFile, Warning};
use tet_format::digest::{DigestBlock, WireDigestBlock, block_len};
use tet_format::{NoteCode, Region, Rule, Span};
use tet_report::{Code, Proof};

use super::block;
use super::context::RepairContext;
use super::edit::{Action, Change, Loss, new_edit};
use super::payload::{self, Damaged};
use crate::error::Result;

/// The file with its footer, if that can be read.
pub(super) fn open(context: &RepairContext<'_>) -> Result<TetFile> {
    let options = OpenOptions { limits: *context.limits(), footer: FooterMode::Lenient };
    Ok(TetFile::open(context.source(), &options)?)
}

/// The nonzero bytes that belong to no structure, in a file with a readable footer or none; and the
/// end of the payloads.
pub(crate) fn unused(file: &TetFile) -> Result<(Vec<Span>, u64)> {
    let (source, footer) = (file.source(), file.footer());
    let mut used = payload_spans(file.index())?;
    let payloads_end = used.iter().map(|span| span.end()).max();
    let payloads_end = payloads_end.unwrap_or_else(|| file.index_end());
    let spills = footer.json.spills.present(footer.version);
    used.extend(spills.filter_map(|(_, spill)| Span::new(spill.offset, spill.len)));
    if let Some(key) = footer.integrity.key() {
        let listed = key.spills.iter().map(|it| it.spill).chain([key.block]);
        used.extend(listed.filter_map(|spill| Span::new(spill.offset, spill.len)));
    }
    if let Some(at) = stale_block(file) {
        let len = block_len(file.index().row_count()).unwrap_or(0);
        used.extend(Span::new(at, len));
    }
    let end = if footer.version != 0 { footer.json_at } else { source.len() };
    let within = Span::from_range(file.index_end()..end.max(file.index_end()));
    let within = within.map(|within| unused_spans(source, &mut used, within)).transpose()?;
    Ok((within.unwrap_or_default(), payloads_end))
}

/// Clears gaps in a file with digests, which require zeros there, and truncates the file after its
/// last structure. Without digests, gaps may contain intended bytes; if chunks with unproven rows
/// are lost, gaps may contain payloads.
pub(super) fn clear(context: &mut RepairContext<'_>, damaged: &[Damaged]) -> Result<()> {
    let file = open(context)?;
    let is_in_doubt = matches!(file.protection(), Protection::Broken(_)) && !damaged.is_empty();
    if file.footer_fault().is_some() || is_in_doubt {
        return Ok(());
    }
    let has_footer = file.footer().version != 0;
    let is_protected = file.footer().integrity.key().is_some();
    let code = match is_protected {
        true => Code::Rule(Rule::GapZero),
        false => Code::Note(NoteCode::BytesUnused),
    };
    let (spans, payloads_end) = unused(&file)?;
    for span in spans {
        let (offset, len) = (span.start(), span.len());
        let is_behind = !has_footer && payloads_end <= offset;
        let edit = if is_behind {
            let len = file.file_len() - payloads_end;
            let edit = new_edit(code, Region::Gap, payloads_end, len, Action::CutOff);
            edit.change(Change::Resize(payloads_end))
        } else if is_protected {
            new_edit(code, Region::Gap, offset, len, Action::Clear).change(Change::Zero(span))
        } else {
            continue;
        };
        let proof = if is_protected { Proof::Digest } else { Proof::None };
        context.apply(edit.lose(Loss::Bytes { offset, len }).proof(proof))?;
    }
    Ok(())
}

/// The offset of digests that no footer refers to.
fn stale_block(file: &TetFile) -> Option<u64> {
    let is_stale = matches!(file.protection(), Protection::Stale);
    file.warnings().iter().filter(|_| is_stale).find_map(|warning| match warning {
        Warning::Note(note) if note.code == NoteCode::DigestsStale => Some(note.at),
        _ => None,
    })
}

/// Recomputes digests that are stale, or do not match and cannot be proven.
pub(super) fn protect(
    context: &mut RepairContext<'_>,
    damaged: &[Damaged],
) -> Result<Vec<Damaged>> {
    let file = open(context)?;
    let mut found = Vec::new();
    let code = match file.protection() {
        Protection::Stale => {
            found = by_stale_block(context, &file)?;
            Code::Note(NoteCode::DigestsStale)
        }
        Protection::Broken(fault) if damaged.is_empty() => Code::Rule(fault.rule),
        _ => return Ok(found),
    };
    if !found.is_empty() {
        // It is unknown what changed these payloads: new digests would hide the change.
        return Ok(found);
    }
    anew(context, code)?;
    Ok(found)
}

/// The payloads that do not match digests to which no footer refers.
fn by_stale_block(context: &mut RepairContext<'_>, file: &TetFile) -> Result<Vec<Damaged>> {
    let Some(at) = stale_block(file) else { return Ok(Vec::new()) };
    let header = context.source().read_vec(at, WireDigestBlock::LEN as u64)?;
    let header = header.first_chunk().copied().unwrap_or_default();
    let Ok(block) = DigestBlock::read(&header, at, file.index().row_count()) else {
        return Ok(Vec::new());
    };
    let wrong = block::mismatches(context, file, &block)?;
    payload::flip(context, wrong)
}

/// Computes digests of the current content.
pub(super) fn anew(context: &mut RepairContext<'_>, code: Code) -> Result<()> {
    let file = open(context)?;
    let footer = FooterEdit::from_file(&file, context.limits())?;
    let Some(footer) = footer else { return Ok(()) };
    let footer = FooterEdit { digests: DigestChoice::Written, ..footer };
    let (at, len) = (file.payload_end(), file.file_len().saturating_sub(file.payload_end()));
    let edit = new_edit(code, Region::Footer, at, len, Action::MakeDigests);
    let edit = edit.change(Change::Footer(Some(footer))).proof(Proof::None);
    // No information is lost if all payloads match the stale digests.
    let is_stale = code == Code::Note(NoteCode::DigestsStale);
    context.apply(if is_stale { edit } else { edit.lose(Loss::Digests) })?;
    Ok(())
}
