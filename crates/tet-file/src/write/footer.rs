//! The footer of a new file (format section 5): version 1, inline or spilled.

use tet_format::footer::{FOOTER_VERSION, Spill, Tail};

use crate::error::{Error, Result};
use crate::integrity::{IntegrityKey, Listed, fill_self};
use crate::metadata::{HistoryRow, Metadata, encode, encode_history};
use crate::statistics;

/// The longest footer JSON that every reader accepts.
pub(crate) const JSON_LEN_MAX: usize = 64 << 10;
/// The longest metadata spill that every reader accepts.
pub(crate) const SPILL_LEN_MAX: usize = 16 << 20;
/// The most history rows that every reader accepts.
pub(crate) const HISTORY_COUNT_MAX: usize = 4096;

/// The parts of a footer that depend on the metadata of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FooterText {
    pub(super) spill: String,
    pub(super) json: String,
}

/// Encodes the footer of a file whose spill would start at `spill_offset`, with its integrity key;
/// `None` if the footer would be empty.
pub(super) fn footer_text(
    metadata: &Metadata,
    history: &[HistoryRow],
    spill_offset: u64,
    key: Option<&IntegrityKey>,
    statistics: Option<&Listed>,
) -> Result<Option<FooterText>> {
    if metadata.is_empty() && history.is_empty() && key.is_none() {
        return Ok(None);
    }
    bound("history, in rows,", history.len(), HISTORY_COUNT_MAX)?;
    let mut members = Vec::new();
    if !history.is_empty() {
        members.push(format!("\"history\":{}", encode_history(history)?));
    }
    let mut listed: Vec<Listed> = statistics.copied().into_iter().collect();
    members.extend(key.zip(statistics).map(|(key, listed)| {
        format!("\"{}\":{}", statistics::KEY, statistics::key_text(listed.spill, key.chunks))
    }));
    let history_only = members.clone();
    let metadata = if metadata.is_empty() { String::new() } else { encode(metadata)? };
    if !metadata.is_empty() {
        members.push(format!("\"metadata\":{metadata}"));
    }
    let json = together(members, key, &listed, FOOTER_VERSION);
    if json.len() <= JSON_LEN_MAX {
        return Ok(Some(FooterText { spill: String::new(), json }));
    }
    let mut members = history_only;
    if !metadata.is_empty() {
        let spill = Spill { offset: spill_offset, len: metadata.len() as u64 };
        let Spill { offset, len } = spill;
        members.push(format!("\"metadata_ref\":{{\"offset\":{offset},\"len\":{len}}}"));
        listed.push(Listed { spill, digest: tet_codec::digest(metadata.as_bytes()) });
    }
    let json = together(members, key, &listed, FOOTER_VERSION);
    bound("JSON, in bytes,", json.len(), JSON_LEN_MAX)?;
    bound("metadata, in bytes,", metadata.len(), SPILL_LEN_MAX)?;
    Ok(Some(FooterText { spill: metadata, json }))
}

/// Joins members; the integrity key is the last one and covers all.
pub(crate) fn together(
    mut members: Vec<String>,
    key: Option<&IntegrityKey>,
    spills: &[Listed],
    version: u32,
) -> String {
    members.extend(key.map(|key| {
        let spills = spills.to_vec();
        IntegrityKey { spills, ..key.clone() }.encode()
    }));
    let json = format!("{{{}}}", members.join(","));
    if key.is_none() {
        return json;
    }
    let tail = Tail { json_len: json.len() as u64, version };
    fill_self(json, &tail.encode())
}

pub(crate) fn bound(what: &'static str, found: usize, wanted: usize) -> Result<()> {
    if found <= wanted {
        return Ok(());
    }
    Err(Error::FooterLimit { what, found: found as u64, wanted: wanted as u64 })
}
