//! The footer of an edited file: its members are copied, its offsets and digests are new.

use std::sync::Arc;

use tet_format::digest::head_end;
use tet_format::footer::{Spill, Spills, Tail, check_spills};
use tet_format::superblock::FLAG_FOOTER;
use tet_format::{Digest, Error as Fault, Limits, Rule, Span, Strict, Superblock};
use tet_io::{Image, Progress};

use super::unused::payload_spans;
use crate::error::{Error, Result};
use crate::footer::{FooterJson, Value};
use crate::integrity::{IntegrityBlock, IntegrityBuilder, IntegrityKey, Listed, digest_of};
use crate::open::{FooterMode, OpenOptions, TetFile};
use crate::statistics::{self, StatisticsKey};
use crate::write::DigestChoice;
use crate::write::footer::{JSON_LEN_MAX, together};

/// The footer of an edited file.
#[derive(Clone, Debug)]
pub struct FooterEdit {
    /// 1 or 2.
    pub version: u32,
    /// The members of the JSON in order, without the digests.
    pub members: Vec<(String, Member)>,
    /// Whether the file gets digests.
    pub digests: DigestChoice,
}

/// The value of a member.
#[derive(Clone, Debug)]
pub enum Member {
    /// JSON text, unchanged.
    Text(String),
    /// A reference to a spill at this span of the image; its other members are unchanged. It keeps this digest, so
    /// that one that is damaged stays so; `None` where it gets a digest of its bytes.
    Spill(Span, String, Option<Digest>),
    /// A reference to a new spill.
    New(Arc<[u8]>),
    /// A reference to a new block of statistics of the payloads.
    Statistics(Arc<[u8]>),
}

impl FooterEdit {
    /// A footer without members.
    #[must_use]
    pub fn empty(digests: DigestChoice) -> Self {
        let version = tet_format::footer::FOOTER_VERSION;
        FooterEdit { version, members: Vec::new(), digests }
    }

    /// The footer of a file, unchanged; `None` if it has none.
    ///
    /// # Errors
    ///
    /// Returns the first rule that its JSON breaks, [`Error::UnknownSpill`] when it cannot be
    /// moved, and errors of the source.
    pub fn from_file(file: &TetFile, limits: &Limits) -> Result<Option<Self>> {
        let footer = file.footer();
        if footer.version == 0 {
            return Ok(None);
        }
        let tail = crate::footer::read_tail(file.source(), file.superblock())?;
        let span = tail.json_span(file.file_len());
        let json = file.source().read_vec(span.start(), span.len())?;
        Self::read(&json, tail.version, file.index_end(), span.start(), limits).map(Some)
    }

    /// Reads a JSON at `json_at`, with its spills at `floor` or later.
    ///
    /// # Errors
    ///
    /// Returns the first rule that it breaks, and [`Error::UnknownSpill`] when it lists a spill
    /// without a known reference.
    pub fn read(
        json: &[u8],
        version: u32,
        floor: u64,
        json_at: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let root = Value::read(json, json_at, limits, Rule::JsonSyntax, &mut Strict)?;
        let members = root.and_then(Value::members).unwrap_or_default();
        let spills = root.map(|root| FooterJson::read(root, &mut Strict)).transpose()?;
        let mut spills = spills.map_or_else(Spills::default, |json| json.spills);
        let integrity = IntegrityKey::find(json);
        let statistics = root.map(|root| StatisticsKey::read(root, integrity.as_ref()));
        spills.statistics = statistics.and_then(StatisticsKey::spill);
        check_spills(&spills, version, floor, json_at, &mut Strict)?;
        let mut edit = FooterEdit { version, ..FooterEdit::empty(DigestChoice::Left) };
        for (key, value) in members {
            if key == "integrity" {
                edit.digests = DigestChoice::Written;
                check_known(integrity.as_ref(), &spills, version)?;
                continue;
            }
            let text = value.text().to_owned();
            let spill = spills.present(version).find(|(known, _)| *known == key);
            let span = spill.and_then(|(_, Spill { offset, len })| Span::new(offset, len));
            let member = match span {
                Some(span) => Member::Spill(span, text, digest_in(integrity.as_ref(), span)),
                None => Member::Text(text),
            };
            edit.members.push((key, member));
        }
        Ok(edit)
    }
}

/// The digest of a spill, where the file has one.
fn digest_in(key: Option<&IntegrityKey>, span: Span) -> Option<Digest> {
    let spill = Spill { offset: span.start(), len: span.len() };
    key?.spills.iter().find(|listed| listed.spill == spill).map(|listed| listed.digest)
}

/// Refuses a listed spill without a known reference.
fn check_known(key: Option<&IntegrityKey>, spills: &Spills, version: u32) -> Result<()> {
    let listed = key.map(|key| key.spills.as_slice()).unwrap_or_default();
    let is_known = |listed: &Listed| spills.present(version).any(|(_, it)| it == listed.spill);
    match listed.iter().find(|listed| !is_known(listed)) {
        None => Ok(()),
        Some(Listed { spill: Spill { offset, len }, .. }) => {
            Err(Error::UnknownSpill { offset: *offset, len: *len })
        }
    }
}

/// An image with this footer directly after its payloads, or without a footer. The old footer is
/// left out.
///
/// # Errors
///
/// Returns the first rule that the structure of the file breaks, errors of the source, and
/// [`Error::Canceled`].
pub fn with_footer(
    image: &Image,
    footer: Option<&FooterEdit>,
    limits: &Limits,
    progress: &Progress,
) -> Result<Image> {
    with_known_digests(image, footer, None, limits, progress)
}

/// Checks the footer with the digests of the payloads in the order of their rows, if they are given: payloads are not
/// read then.
pub(super) fn with_known_digests(
    image: &Image,
    footer: Option<&FooterEdit>,
    known: Option<&[Digest]>,
    limits: &Limits,
    progress: &Progress,
) -> Result<Image> {
    let options = OpenOptions { limits: *limits, footer: FooterMode::Ignore };
    let file = TetFile::open(image.to_source(), &options)?;
    let spans = payload_spans(file.index())?;
    let end = spans.iter().map(|span| span.end()).max().unwrap_or_else(|| file.index_end());
    if image.len() < end {
        let (rule, at) = (Rule::PayloadBounds, file.index_end());
        return Err(Fault { rule, at, found: end, wanted: image.len() }.into());
    }
    let mut out = image.clone();
    out.resize(end);
    let before = *file.superblock();
    let flag = if footer.is_some() { FLAG_FOOTER } else { 0 };
    let superblock = Superblock { flags: before.flags & !FLAG_FOOTER | flag, ..before };
    out.put(0, superblock.encode());
    let Some(footer) = footer else { return Ok(out) };
    let block = match footer.digests {
        DigestChoice::Written => Some(protect(&file, &out, end, known, progress)?),
        DigestChoice::Left => None,
    };
    if let Some(block) = &block {
        out.append(block.block.as_slice());
    }
    let key = block.map(|block| block.key);
    let footer = with_fitting_statistics(footer, key.as_ref());
    let json = place_members(image, &mut out, &footer, key.as_ref())?;
    let tail = Tail { json_len: json.len() as u64, version: footer.version };
    out.append(json.into_bytes());
    out.append(tail.encode());
    Ok(out)
}

/// Drops statistics of payloads with other digests.
fn with_fitting_statistics(footer: &FooterEdit, key: Option<&IntegrityKey>) -> FooterEdit {
    let mut footer = footer.clone();
    footer.members.retain(|(name, member)| match member {
        Member::Spill(_, text, _) if name == statistics::KEY => {
            key.is_some_and(|key| statistics::is_of(text, key.chunks))
        }
        Member::Text(text) => name != statistics::KEY || !statistics::is_ours(text),
        Member::Statistics(_) => key.is_some(),
        _ => true,
    });
    footer
}

/// The digests of a file whose payloads end at `end`; `out` is the new file, `known` are the digests of
/// payloads that need not be read.
fn protect(
    file: &TetFile,
    out: &Image,
    end: u64,
    known: Option<&[Digest]>,
    progress: &Progress,
) -> Result<IntegrityBlock> {
    let source = out.to_source();
    let mut builder = IntegrityBuilder::default();
    let mut rows = Vec::new();
    let (row_count, mut next) = (file.index().row_count(), 0);
    let mut known = known.map(|digests| digests.iter().copied());
    let unread = if known.is_some() { 0 } else { file.index().stored_len()? };
    let progress = progress.begin(unread);
    while next < row_count {
        rows.clear();
        file.index().rows(next..next.saturating_add(1024), &mut rows)?;
        next = next.saturating_add(1024);
        for row in &rows {
            if let Some(digest) = known.as_mut().and_then(Iterator::next) {
                builder.push(row, digest);
                continue;
            }
            let end = row.payload_offset.saturating_add(row.stored_len);
            let digest = digest_of(&source, row.payload_offset..end)?;
            builder.push(row, digest);
            progress.advance(row.stored_len)?;
        }
    }
    let head = source.read_vec(0, head_end(file.superblock()))?;
    Ok(builder.finish(&head, end))
}

/// Copies the spills of `footer` to the end of `out`, in their order in `image`. Returns the JSON
/// that refers to them.
fn place_members(
    image: &Image,
    out: &mut Image,
    footer: &FooterEdit,
    key: Option<&IntegrityKey>,
) -> Result<String> {
    let mut placed = out.clone();
    let mut order: Vec<(u64, usize)> = Vec::new();
    for (number, (_, member)) in footer.members.iter().enumerate() {
        match member {
            Member::Text(_) => {}
            Member::Spill(span, ..) => order.push((span.start(), number)),
            Member::New(_) | Member::Statistics(_) => order.push((u64::MAX, number)),
        }
    }
    order.sort_unstable();
    let mut spills = vec![None; footer.members.len()];
    for (_, number) in order {
        let offset = placed.len();
        match footer.members.get(number) {
            Some((_, Member::Spill(span, ..))) => placed.append_part(image, *span),
            Some((_, Member::New(bytes) | Member::Statistics(bytes))) => {
                placed.append(Arc::clone(bytes));
            }
            _ => {}
        }
        if let Some(spill) = spills.get_mut(number) {
            *spill = Some(Spill { offset, len: placed.len() - offset });
        }
    }
    let source = placed.to_source();
    let mut listed = Vec::new();
    for ((_, member), spill) in footer.members.iter().zip(&spills).filter(|_| key.is_some()) {
        let Some(spill @ Spill { offset, len }) = *spill else { continue };
        let digest = match member {
            Member::Spill(_, _, Some(known)) => *known,
            _ => digest_of(&source, offset..offset.saturating_add(len))?,
        };
        listed.push(Listed { spill, digest });
    }
    let members = footer.members.iter().zip(spills);
    let members = members.map(|((name, member), spill)| {
        let name = serde_json::Value::from(name.as_str());
        let value = match (member, spill, key) {
            (Member::Statistics(_), Some(spill), Some(key)) => {
                statistics::key_text(spill, key.chunks)
            }
            _ => text_of(member, spill),
        };
        format!("{name}:{value}")
    });
    let json = together(members.collect(), key, &listed, footer.version);
    let has_room = json.len() <= JSON_LEN_MAX;
    let Some(spilled) = spilled(footer).filter(|_| !has_room && key.is_some()) else {
        *out = placed;
        return Ok(json);
    };
    place_members(image, out, &spilled, key)
}

/// Moves the inline metadata to a spill; `None` if there is none.
fn spilled(footer: &FooterEdit) -> Option<FooterEdit> {
    let mut footer = footer.clone();
    let has_ref = footer.members.iter().any(|(key, _)| key == "metadata_ref");
    let inline = footer.members.iter_mut().find(|(key, _)| key == "metadata" && !has_ref)?;
    let Member::Text(text) = &inline.1 else { return None };
    *inline = ("metadata_ref".to_owned(), Member::New(text.as_bytes().into()));
    Some(footer)
}

/// The value of a member, with its spill at `spill`.
fn text_of(member: &Member, spill: Option<Spill>) -> String {
    let Some(Spill { offset, len }) = spill else {
        return match member {
            Member::Text(text) | Member::Spill(_, text, _) => text.clone(),
            Member::New(_) | Member::Statistics(_) => "null".to_owned(),
        };
    };
    let old = match member {
        Member::Text(text) | Member::Spill(_, text, _) => text.as_str(),
        Member::New(_) | Member::Statistics(_) => "{}",
    };
    let limits = Limits::default();
    let root = Value::read(old.as_bytes(), 0, &limits, Rule::SpillRef, &mut Strict);
    let members = root.ok().flatten().and_then(Value::members).unwrap_or_default();
    let others = members.into_iter().filter(|(key, _)| key != "offset" && key != "len");
    let others = others
        .map(|(key, value)| format!(",{}:{}", serde_json::Value::from(key.as_str()), value.text()));
    format!("{{\"offset\":{offset},\"len\":{len}{}}}", others.collect::<String>())
}
