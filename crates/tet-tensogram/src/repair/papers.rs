//! Metadata, indices and lists of hashes of a damaged message: which stay, and which are written anew.

use tet_format::Span;
use tet_report::Proof;

use super::Salvage;
use super::build::Outcome;
use super::edit::{Action, Loss};
use super::frames::Remains;
use super::layout::Part;
use super::message::{Paper, Said, Thing};
use crate::error::Result;
use crate::frame::FrameKind;
use crate::message::is_hashed;
use crate::metadata::{Metadata, Pairs};
use crate::rule;
use crate::write::{VersionKey, metadata_bytes};
use crate::{HashList, Index, Value};

/// The key that programs of 0.17 look for.
const VERSION_KEY: &str = "version";

/// Whether a message says of itself that it has no objects, and nothing else.
pub(super) fn is_bare(said: &Said) -> bool {
    let is_none = |metadata: &Metadata| metadata.base.is_empty();
    let has_index = |index: &Index| !index.entries().is_empty();
    let has_hash = |list: &HashList| !list.hashes().is_empty();
    !said.metadata.is_empty()
        && said.metadata.iter().all(|it| it.sound().is_some_and(is_none))
        && !said.indices.iter().any(|it| it.said.as_ref().is_ok_and(has_index))
        && !said.lists.iter().any(|it| it.said.as_ref().is_ok_and(has_hash))
}

/// Metadata frames, with the entries of the objects that are left.
pub(super) fn metadata(
    said: &Said,
    salvage: Salvage,
    is_cut: bool,
    parts: &mut Vec<Part>,
    out: &mut Outcome,
) -> Result<()> {
    let mut is_guess = false;
    for paper in &said.metadata {
        let frame = paper.whole.frame;
        let loss = |rule| Loss::Metadata { offset: frame.at(), rule };
        let read = match &paper.said {
            Ok(read) => read,
            Err(rule) => {
                let why = (*rule, Action::WriteMetadata, Proof::None);
                out.edit(why, frame.span, vec![loss(rule)]);
                continue;
            }
        };
        let is_same = entries(read, said) == read.base;
        is_guess |= !read.base.is_empty() && (is_cut || !is_same);
        if is_same && paper.is_true {
            parts.push(Part::Old(paper.whole));
            continue;
        }
        if is_same && salvage == Salvage::None {
            out.lost.push(loss(&rule::HASH));
            parts.push(Part::Old(paper.whole));
            continue;
        }
        parts.push(Part::New(frame.kind(), selected(read, said)?));
        let has_lost = is_cut || out.edits.iter().any(|it| it.action == Action::DropObjects);
        let (rule, losses) = match paper.is_true {
            false => (&rule::HASH, vec![loss(&rule::HASH)]),
            true if has_lost => (&rule::BASE_COUNT, Vec::new()),
            true => (&rule::BASE_COUNT, vec![loss(&rule::BASE_COUNT)]),
        };
        let proof = if losses.is_empty() { Proof::Rest } else { Proof::None };
        out.edit((rule, Action::WriteMetadata, proof), frame.span, losses);
    }
    let nameless = said.things.iter().filter(|it| it.number.is_none()).count() as u64;
    if is_guess && nameless != 0 {
        let at = said.metadata.first().map(|it| it.whole.frame.span);
        let losses = vec![Loss::Entries { count: nameless }];
        let why = (&rule::BASE_COUNT, Action::WriteMetadata, Proof::None);
        at.into_iter().for_each(|span| out.edit(why, span, losses.clone()));
    }
    if parts.is_empty() {
        let empty = metadata_bytes(&Metadata::default(), VersionKey::Absent)?;
        parts.push(Part::New(FrameKind::HeaderMetadata, empty));
        let is_told = out.edits.iter().any(|it| it.action == Action::WriteMetadata);
        let first = said.things.first().map(|it| it.whole.frame.span);
        if let Some(span) = first.filter(|_| !is_told) {
            let why = (&rule::METADATA_MISSING, Action::WriteMetadata, Proof::None);
            let count = said.things.iter().filter(|it| it.preceder.is_none()).count() as u64;
            let losses = if count == 0 { Vec::new() } else { vec![Loss::Entries { count }] };
            out.edit(why, span, losses);
        }
    }
    Ok(())
}

/// The entries of the objects that are left, as many as there were at most.
fn entries(read: &Metadata, said: &Said) -> Vec<Pairs> {
    let entry = |it: &Thing| it.number.and_then(|number| read.base.get(number)).cloned();
    let entries = said.things.iter().map(|it| entry(it).unwrap_or_default());
    let mut entries: Vec<Pairs> = entries.collect();
    while read.base.len() < entries.len() && entries.last().is_some_and(Pairs::is_empty) {
        entries.pop();
    }
    entries
}

/// Metadata of which only the entries of objects are left that are.
fn selected(read: &Metadata, said: &Said) -> Result<Vec<u8>> {
    let mut metadata = Metadata { base: entries(read, said), ..read.clone() };
    while metadata.base.last().is_some_and(Pairs::is_empty) {
        metadata.base.pop();
    }
    let is_old = metadata
        .extra
        .iter()
        .any(|(key, value)| key == VERSION_KEY && *value == Value::Int(crate::VERSION.into()));
    let version = if is_old { VersionKey::Written } else { VersionKey::Absent };
    metadata_bytes(&metadata, version)
}

/// Tells which indices and lists of hashes say what is not so; all are written anew, but for `kept`.
pub(super) fn note_indices(
    remains: &Remains,
    said: &Said,
    is_cut: bool,
    kept: &[FrameKind],
    out: &mut Outcome,
) {
    let has_lost = is_cut || out.edits.iter().any(|it| it.action == Action::DropObjects);
    let mut tell = |span: Span, rule, action| {
        out.edit((rule, action, Proof::Rest), span, Vec::new());
    };
    for paper in &said.indices {
        let (span, action) = (paper.whole.frame.span, Action::WriteIndex);
        match (paper.rule(), &paper.said) {
            (Some(rule), _) => tell(span, rule, action),
            (None, Ok(index)) if !has_lost && !leads(index, said, remains) => {
                tell(span, &rule::INDEX_OFFSET, action);
            }
            _ => {}
        }
    }
    for paper in said.lists.iter().filter(|it| !kept.contains(&it.whole.frame.kind())) {
        let (span, action) = (paper.whole.frame.span, Action::WriteHashes);
        match (paper.rule(), &paper.said) {
            (Some(rule), _) => tell(span, rule, action),
            (None, Ok(list)) if !has_lost && list.is_known() && !lists(paper, said) => {
                tell(span, &rule::HASH_LISTED, action);
            }
            _ => {}
        }
    }
}

/// Whether an index leads to the tensors.
fn leads(index: &Index, said: &Said, remains: &Remains) -> bool {
    let mut both = index.entries().iter().zip(&said.things);
    let is_at = |offset: u64, at: u64| remains.start.checked_add(offset) == Some(at);
    index.entries().len() == said.things.len()
        && both.all(|(entry, thing)| {
            let frame = thing.whole.frame;
            is_at(entry.offset, frame.at()) && entry.len == frame.header.len
        })
}

/// Whether a list has the hashes of the tensors.
fn lists(paper: &Paper<HashList>, said: &Said) -> bool {
    let Ok(list) = &paper.said else { return false };
    let mut both = list.hashes().iter().zip(&said.things);
    list.hashes().len() == said.things.len()
        && both.all(|(hash, thing)| {
            let frame = &thing.whole.frame;
            !is_hashed(said.hash_rule, frame) || *hash == frame.tail.hash
        })
}
