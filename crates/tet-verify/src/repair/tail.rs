//! Repairs a footer without a digest to prove it: its readable parts, and the footer flag.

use tet_file::check_statistics;
use tet_file::edit::{FooterEdit, FooterFragment, payload_spans};
use tet_file::write::DigestChoice;
use tet_format::digest::{BLOCK_MAGIC, block_len};
use tet_format::footer::{FOOTER_VERSION, FOOTER_VERSION_MAX, Spill, TAIL_LEN, Tail};
use tet_format::superblock::{FLAG_FOOTER, WireSuperblock};
use tet_format::{NoteCode, Region, Rule, Superblock, statistics};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::anchor::{tail_code, tail_ends};
use super::context::RepairContext;
use super::edit::{Action, Change, Loss, new_edit, put_edit};
use super::rows;
use crate::error::Result;

/// How far before the end of the file parts of a footer are searched for.
const LEFT_LEN_MAX: u64 = 32 << 20;

/// The area after the payloads.
struct Behind {
    source: Source,
    superblock: Superblock,
    /// The end of the payloads.
    end: u64,
    /// The end of the block of digests, or of the payloads without one.
    block_end: u64,
}

/// Repairs flag and footer of a file whose footer does not match its digest.
pub(super) fn repair(context: &mut RepairContext<'_>) -> Result<()> {
    let file = rows::open(context)?;
    let source = context.source();
    let spans = payload_spans(file.index())?;
    let end = spans.iter().map(|span| span.end()).max().unwrap_or_else(|| file.index_end());
    let superblock = *file.superblock();
    let block_end = block_end(&source, file.index().row_count(), end)?;
    let behind = Behind { source, superblock, end, block_end };
    if behind.source.len() < end {
        // The file is truncated inside the payloads, so nothing that followed them is left.
        return if superblock.has_footer() { clear_flag(context, &behind, None) } else { Ok(()) };
    }
    match behind.readable(context, behind.source.len())? {
        Some(_) if superblock.has_footer() => Ok(()),
        Some(json_at) => {
            let code = Code::Note(NoteCode::UndeclaredTail);
            set_flag(context, superblock, code, json_at)
        }
        None => behind.repair(context),
    }
}

/// The end of the blocks of digests and statistics at `end`, if they are there.
fn block_end(source: &Source, row_count: u64, end: u64) -> Result<u64> {
    let block_end = block_len(row_count).and_then(|len| end.checked_add(len));
    let Some(block_end) = block_end.filter(|&block_end| block_end <= source.len()) else {
        return Ok(end);
    };
    let magic = source.read_vec(end, BLOCK_MAGIC.len() as u64)?;
    if magic != BLOCK_MAGIC {
        return Ok(end);
    }
    // Statistics come behind it.
    let len = statistics::block_len(row_count).unwrap_or(u64::MAX);
    let spill = Spill { offset: block_end, len };
    let is_inside = block_end.checked_add(len).is_some_and(|end| end <= source.len());
    let is_there = is_inside && check_statistics(source, spill, row_count).is_ok();
    Ok(if is_there { block_end.saturating_add(len) } else { block_end })
}

/// Sets the flag of an existing footer.
pub(super) fn set_flag(
    context: &mut RepairContext<'_>,
    superblock: Superblock,
    code: Code,
    _json_at: u64,
) -> Result<()> {
    let at = const { WireSuperblock::offset_of("flags") };
    let new = (superblock.flags | FLAG_FOOTER).to_le_bytes();
    context.apply(put_edit(code, Region::Superblock, at, &new, Action::SetFlag))?;
    Ok(())
}

/// Clears the flag and truncates the file after the payloads.
fn clear_flag(context: &mut RepairContext<'_>, behind: &Behind, cut: Option<u64>) -> Result<()> {
    let end = behind.source.len();
    let lost_len = cut.map_or(0, |cut| end.saturating_sub(cut));
    let at = const { WireSuperblock::offset_of("flags") };
    let new = (behind.superblock.flags & !FLAG_FOOTER).to_le_bytes();
    let code = Code::Rule(Rule::TailMagic);
    let edit = put_edit(code, Region::Superblock, at, &new, Action::ClearFlag);
    let edit = edit.lose(Loss::Footer("all"));
    let edit = match cut {
        Some(end) => edit.change(Change::Resize(end)),
        None => edit,
    };
    let edit = match cut.filter(|_| lost_len != 0) {
        Some(offset) => edit.lose(Loss::Bytes { offset, len: lost_len }),
        None => edit,
    };
    context.apply(edit.proof(Proof::None))?;
    Ok(())
}

impl Behind {
    /// The offset of the JSON of a readable footer in a file that ends at `end`.
    fn readable(&self, context: &RepairContext<'_>, end: u64) -> Result<Option<u64>> {
        let Some(tail_at) = end.checked_sub(TAIL_LEN).filter(|&at| self.end <= at) else {
            return Ok(None);
        };
        let bytes = self.source.read_vec(tail_at, TAIL_LEN)?;
        let Ok(tail) = Tail::read(&bytes, self.end, end) else { return Ok(None) };
        let span = tail.json_span(end);
        if context.limits().check_json_len(span.len(), span.start()).is_err() {
            return Ok(None);
        }
        let json = self.source.read_vec(span.start(), span.len())?;
        let read = FooterEdit::read(&json, tail.version, self.end, span.start(), context.limits());
        Ok(read.is_ok().then(|| span.start()))
    }

    fn repair(&self, context: &mut RepairContext<'_>) -> Result<()> {
        let len = self.source.len();
        for end in tail_ends(&self.source)?.into_iter().take_while(|&end| self.end < end) {
            let Some(json_at) = self.readable(context, end)? else { continue };
            let loss = Loss::Bytes { offset: end, len: len - end };
            let code = Code::Rule(Rule::TailMagic);
            let edit = new_edit(code, Region::Footer, end, len - end, Action::CutOff);
            if !context.apply(edit.change(Change::Resize(end)).lose(loss))? {
                return Ok(());
            }
            let code = Code::Note(NoteCode::UndeclaredTail);
            let has_footer = self.superblock.has_footer();
            return if has_footer {
                Ok(())
            } else {
                set_flag(context, self.superblock, code, json_at)
            };
        }
        let start = self.block_end.max(len.saturating_sub(LEFT_LEN_MAX)).min(len);
        let bytes = self.source.read_vec(start, len - start)?;
        let left = FooterFragment::find(&bytes, start, context.limits());
        if left.is_empty() && self.block_end == self.end {
            // Bytes that are no footer are handled as gaps.
            let has_footer = self.superblock.has_footer();
            return if has_footer { clear_flag(context, self, Some(self.end)) } else { Ok(()) };
        }
        self.anew(context, &left)
    }

    /// Builds a footer from the readable parts of the old one.
    fn anew(&self, context: &mut RepairContext<'_>, left: &FooterFragment) -> Result<()> {
        let len = self.source.len();
        let version = if left.is_newer { FOOTER_VERSION_MAX } else { FOOTER_VERSION };
        if let Some(span) = left.json.filter(|_| self.block_end == self.end) {
            // The JSON is complete: only what follows it is wrong.
            let tail = Tail { json_len: span.len(), version }.encode();
            let there = self.source.read_vec(span.end(), TAIL_LEN.min(len - span.end()))?;
            let code = if there.len() < tail.len() {
                Code::Rule(Rule::TailMagic)
            } else {
                tail_code(&there)
            };
            let end = span.end().saturating_add(TAIL_LEN);
            let edit = put_edit(code, Region::Footer, span.end(), &tail, Action::RestoreTail);
            let edit = edit.change(Change::Resize(end));
            let edit = match len.checked_sub(end).filter(|&len| len != 0) {
                Some(len) => edit.lose(Loss::Bytes { offset: end, len }),
                None => edit,
            };
            let is_made = context.apply(edit)?;
            let code = Code::Note(NoteCode::UndeclaredTail);
            let has_footer = self.superblock.has_footer() || !is_made;
            return if has_footer { Ok(()) } else { set_flag(context, self.superblock, code, 0) };
        }
        let had_digests = self.block_end != self.end;
        let digests = if had_digests { DigestChoice::Written } else { DigestChoice::Left };
        let mut footer = FooterEdit { members: left.members.clone(), ..FooterEdit::empty(digests) };
        if let Some(span) = left.json {
            let json = self.source.read_vec(span.start(), span.len())?;
            if let Ok(whole) =
                FooterEdit::read(&json, version, self.end, span.start(), context.limits())
            {
                footer.members = whole.members;
            }
        }
        let code = Code::Rule(
            match Tail::read(
                &self.source.read_vec(len.saturating_sub(TAIL_LEN), TAIL_LEN.min(len))?,
                self.end,
                len,
            ) {
                Ok(_) => Rule::JsonSyntax,
                Err(fault) => fault.rule,
            },
        );
        let mut edit = new_edit(code, Region::Footer, self.end, len - self.end, Action::MakeFooter);
        edit = edit.change(Change::Footer(Some(footer))).proof(Proof::None);
        if left.json.is_none() {
            edit = edit.lose(Loss::Footer("members that cannot be read"));
        }
        if had_digests {
            edit = edit.lose(Loss::Digests);
        }
        context.apply(edit)?;
        Ok(())
    }
}
