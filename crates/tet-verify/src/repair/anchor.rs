//! Finds a footer that matches its own digest `self`, unchanged or repaired.
//!
//! Its digests prove all other parts, so it is searched first and independently: no other part of
//! the file has to be valid for that.

use tet_codec::digest;
use tet_file::integrity::{IntegrityKey, SelfDigest, self_digest};
use tet_format::footer::{FOOTER_VERSION_MAX, MAGIC, TAIL_LEN, Tail, WireTail};
use tet_format::{Region, Rule, superblock};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::context::RepairContext;
use super::edit::{Action, Change, Loss, new_edit, put_edit};
use super::flip::flipped_bit;
use crate::error::Result;

/// The longest JSON that is repaired.
const JSON_LEN_MAX: u64 = 1 << 20;
/// How far before the end of the file a footer is searched for.
const BEHIND_LEN_MAX: u64 = 64 << 20;
/// The number of bytes that are hashed to find the start of a JSON.
const TRIED_LEN_MAX: u64 = 256 << 20;
/// The text before the digits of `self`.
const SELF_BEFORE: &[u8] = b"\"self\":\"";

/// A footer that matches its own digest.
#[derive(Debug)]
pub(super) struct Anchor {
    /// The digests in the JSON, if their version is known.
    pub(super) key: Option<IntegrityKey>,
    /// The offset of the JSON.
    pub(super) json_at: u64,
}

impl Anchor {
    fn new(json_at: u64, json: &[u8]) -> Self {
        Anchor { key: IntegrityKey::find(json), json_at }
    }
}

/// Finds the footer that matches its own digest, and repairs it if it is damaged.
pub(super) fn find(context: &mut RepairContext<'_>) -> Result<Option<Anchor>> {
    let source = context.source();
    let end = source.len();
    if let Some(anchor) = unchanged(&source, end)? {
        return Ok(Some(anchor));
    }
    if let Some(anchor) = flipped_json(context, &source)? {
        return Ok(Some(anchor));
    }
    if let Some(anchor) = flipped_tail(context, &source)? {
        return Ok(Some(anchor));
    }
    if let Some(anchor) = without_tail(context, &source)? {
        return Ok(Some(anchor));
    }
    buried(context, &source)
}

/// The offset of the JSON, the JSON, and the tail.
type FooterBytes = (u64, Vec<u8>, Vec<u8>);

/// Tail and JSON of a file that ends at `end`, if the tail is valid.
fn footer_at(source: &Source, end: u64, len_max: u64) -> Result<Option<FooterBytes>> {
    let Some(tail_at) = end.checked_sub(TAIL_LEN).filter(|&at| superblock::LEN <= at) else {
        return Ok(None);
    };
    let bytes = source.read_vec(tail_at, TAIL_LEN)?;
    let Ok(tail) = Tail::read(&bytes, superblock::LEN, end) else { return Ok(None) };
    if len_max < tail.json_len {
        return Ok(None);
    }
    let json_at = tail_at.saturating_sub(tail.json_len);
    Ok(Some((json_at, source.read_vec(json_at, tail.json_len)?, bytes)))
}

fn unchanged(source: &Source, end: u64) -> Result<Option<Anchor>> {
    let footer = footer_at(source, end, JSON_LEN_MAX << 4)?;
    Ok(footer.and_then(|(json_at, json, tail)| {
        let holds = self_digest(&json, &tail).is_some_and(|sealed| sealed.holds());
        holds.then(|| Anchor::new(json_at, &json))
    }))
}

/// Corrects one bit of the JSON: near the digits of `self` by trial, elsewhere from its CRC.
fn flipped_json(context: &mut RepairContext<'_>, source: &Source) -> Result<Option<Anchor>> {
    let Some((json_at, mut json, tail)) = footer_at(source, source.len(), JSON_LEN_MAX)? else {
        return Ok(None);
    };
    let seal_len = SELF_BEFORE.len() + SelfDigest::END_LEN;
    let seal_at = json.len().saturating_sub(seal_len);
    let mut place = None;
    for at in (seal_at * 8)..(json.len() * 8) {
        let Some(byte) = json.get_mut(at / 8) else { continue };
        *byte ^= 1 << (at % 8);
        if self_digest(&json, &tail).is_some_and(|sealed| sealed.holds()) {
            place = Some(at);
            break;
        }
        if let Some(byte) = json.get_mut(at / 8) {
            *byte ^= 1 << (at % 8);
        }
    }
    if place.is_none() {
        let Some(SelfDigest { stated, .. }) = self_digest(&json, &tail) else { return Ok(None) };
        // The digest covers the JSON with zeros for the digits of `self`, followed by the tail.
        let mut seen = json.clone();
        let digits = json.len() - SelfDigest::END_LEN;
        seen.iter_mut().skip(digits).take(2 * tet_format::Digest::LEN).for_each(|it| *it = b'0');
        seen.extend(&tail);
        debug_assert_eq!(Some(digest(&seen)), self_digest(&json, &tail).map(|sealed| sealed.found));
        if let Some(bit) = flipped_bit(&seen, stated).filter(|bit| bit.byte < digits) {
            if let Some(byte) = json.get_mut(bit.byte) {
                *byte ^= 1 << bit.bit;
            }
            place = Some(bit.byte * 8 + usize::from(bit.bit));
        }
    }
    let Some(place) = place else { return Ok(None) };
    let (byte, bit) = (place / 8, u8::try_from(place % 8).unwrap_or(0));
    let at = json_at.saturating_add(byte as u64);
    let new = json.get(byte..=byte).unwrap_or_default();
    let code = Code::Rule(Rule::SelfDigest);
    let edit = put_edit(code, Region::Footer, at, new, Action::FlipBit { bit });
    context.apply(edit.proof(Proof::Digest))?;
    Ok(Some(Anchor::new(json_at, &json)))
}

/// Corrects one bit of the tail, by trial.
fn flipped_tail(context: &mut RepairContext<'_>, source: &Source) -> Result<Option<Anchor>> {
    let end = source.len();
    let Some(tail_at) = end.checked_sub(TAIL_LEN) else { return Ok(None) };
    let damaged = source.read_vec(tail_at, TAIL_LEN)?;
    for place in 0..damaged.len() * 8 {
        let mut bytes = damaged.clone();
        let Some(byte) = bytes.get_mut(place / 8) else { continue };
        *byte ^= 1 << (place % 8);
        let Ok(tail) = Tail::read(&bytes, superblock::LEN, end) else { continue };
        if JSON_LEN_MAX < tail.json_len {
            continue;
        }
        let json_at = tail_at.saturating_sub(tail.json_len);
        let json = source.read_vec(json_at, tail.json_len)?;
        if self_digest(&json, &bytes).is_some_and(|sealed| sealed.holds()) {
            let at = tail_at.saturating_add((place / 8) as u64);
            let new = bytes.get(place / 8..=place / 8).unwrap_or_default();
            let action = Action::FlipBit { bit: u8::try_from(place % 8).unwrap_or(0) };
            let edit = put_edit(tail_code(&damaged), Region::Footer, at, new, action);
            context.apply(edit.proof(Proof::Digest))?;
            return Ok(Some(Anchor::new(json_at, &json)));
        }
    }
    Ok(None)
}

/// The rule that a damaged tail breaks.
pub(super) fn tail_code(bytes: &[u8]) -> Code {
    let wire = bytes.last_chunk().map(WireTail::decode);
    Code::Rule(match wire {
        Some(wire) if wire.magic != MAGIC => Rule::TailMagic,
        Some(wire) if !(1..=FOOTER_VERSION_MAX).contains(&wire.footer_version) => {
            Rule::FooterVersion
        }
        Some(_) => Rule::JsonBounds,
        None => Rule::TailRoom,
    })
}

/// A JSON whose tail is missing or overwritten; its own digest determines its start.
fn without_tail(context: &mut RepairContext<'_>, source: &Source) -> Result<Option<Anchor>> {
    let end = source.len();
    let start = end.saturating_sub(JSON_LEN_MAX << 1).max(superblock::LEN.min(end));
    let bytes = source.read_vec(start, end - start)?;
    let Some(json_end) = last_self_end(&bytes) else { return Ok(None) };
    let mut tried = 0_u64;
    for at in (0..json_end).rev() {
        if bytes.get(at) != Some(&b'{') {
            continue;
        }
        let json = bytes.get(at..json_end).unwrap_or_default();
        tried = tried.saturating_add(2 * json.len() as u64);
        if TRIED_LEN_MAX < tried {
            break;
        }
        for version in 1..=FOOTER_VERSION_MAX {
            let tail = Tail { json_len: json.len() as u64, version }.encode();
            if self_digest(json, &tail).is_some_and(|sealed| sealed.holds()) {
                let tail_at = start.saturating_add(json_end as u64);
                restore_tail(context, source, tail_at, &tail)?;
                return Ok(Some(Anchor::new(start.saturating_add(at as u64), json)));
            }
        }
    }
    Ok(None)
}

/// The end of the last JSON with digits of `self`.
fn last_self_end(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(SELF_BEFORE.len()).rposition(|window| window == SELF_BEFORE)?;
    let end = at + SELF_BEFORE.len() + SelfDigest::END_LEN;
    (end <= bytes.len()).then_some(end)
}

fn restore_tail(
    context: &mut RepairContext<'_>,
    source: &Source,
    at: u64,
    tail: &[u8],
) -> Result<()> {
    let end = at.saturating_add(TAIL_LEN);
    let there = source.read_vec(at, source.len().min(end) - at)?;
    let code =
        if there.len() < tail.len() { Code::Rule(Rule::TailMagic) } else { tail_code(&there) };
    let edit = put_edit(code, Region::Footer, at, tail, Action::RestoreTail);
    context.apply(edit.proof(Proof::Digest))?;
    cut_off(context, source, end)
}

/// Truncates the file at `end`, the end of its footer.
fn cut_off(context: &mut RepairContext<'_>, source: &Source, end: u64) -> Result<()> {
    let len = source.len().saturating_sub(end);
    if len == 0 {
        return Ok(());
    }
    let edit = new_edit(Code::Rule(Rule::TailMagic), Region::Footer, end, len, Action::CutOff);
    let edit = edit.change(Change::Resize(end)).lose(Loss::Bytes { offset: end, len });
    context.apply(edit.proof(Proof::Digest))?;
    Ok(())
}

/// A footer that is followed by other bytes.
fn buried(context: &mut RepairContext<'_>, source: &Source) -> Result<Option<Anchor>> {
    for end in tail_ends(source)? {
        if let Some(anchor) = unchanged(source, end)? {
            cut_off(context, source, end)?;
            return Ok(Some(anchor));
        }
    }
    Ok(None)
}

/// The possible ends of tails before the end of the file, the last one first.
pub(super) fn tail_ends(source: &Source) -> Result<Vec<u64>> {
    let end = source.len();
    let start = end.saturating_sub(BEHIND_LEN_MAX).max(superblock::LEN.min(end));
    let bytes = source.read_vec(start, end - start)?;
    let places = bytes.windows(MAGIC.len()).enumerate().rev();
    let places = places.filter(|(_, window)| *window == MAGIC);
    let ends = places.map(|(at, window)| start.saturating_add((at + window.len()) as u64));
    Ok(ends.filter(|&it| it < end).take(1000).collect())
}
