//! The footer: tail, JSON and metadata spill (format section 5).
//!
//! ```text
//!   ... payloads | spills | JSON | tail
//!                     ^------' metadata_ref
//! ```

pub(crate) mod json;
mod value;

pub use json::FooterJson;

use tet_codec::Strength;
use tet_format::footer::{Spill, TAIL_LEN, Tail, WireTail, check_spills};
use tet_format::superblock::{FLAG_FOOTER, WireSuperblock};
use tet_format::{Error as Fault, Faults, Limits, Rule, Strict, Superblock};
use tet_io::Source;

use crate::error::Result;
use crate::integrity::{KeyState, Listed, self_digest};
use crate::metadata::Metadata;
use crate::statistics::StatisticsKey;
pub(crate) use value::{Value, check_text, wrong_type};

/// A footer that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// The content of the JSON.
    pub json: FooterJson,
    /// The content of the metadata spill, if the JSON refers to one.
    pub spilled: Option<Metadata>,
    /// The footer's version, 1 or 2; 0 without a footer.
    pub version: u32,
    /// The file offset of the JSON.
    pub json_at: u64,
    /// The file offset of the metadata JSON.
    pub metadata_at: u64,
    /// The integrity key of the JSON.
    pub integrity: KeyState,
    /// The statistics key of the JSON.
    pub statistics: StatisticsKey,
}

impl Footer {
    /// The metadata in effect: spilled metadata takes precedence over inline metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        static EMPTY: Metadata = Metadata::new();
        self.spilled.as_ref().or(self.json.metadata.as_ref()).unwrap_or(&EMPTY)
    }

    /// Checks that metadata is stored only once. A reader uses the spilled one without this check.
    ///
    /// # Errors
    ///
    /// A fault, only when `faults` asks to stop.
    pub fn check_metadata_twice(&self, faults: &mut impl Faults) -> tet_format::Result<()> {
        let FooterJson { metadata, spills, .. } = &self.json;
        if metadata.is_some() && spills.metadata.is_some() {
            let rule = Rule::MetadataTwice;
            faults.fault(Fault { rule, at: self.json_at, found: 2, wanted: 1 })?;
        }
        Ok(())
    }
}

/// Reads the tail of a file that declares a footer.
///
/// # Errors
///
/// Returns the first rule the tail breaks, and errors of the source.
pub fn read_tail(source: &Source, superblock: &Superblock) -> Result<Tail> {
    let file_len = source.len();
    let mut bytes = [0; WireTail::LEN];
    let len = usize::try_from(file_len.min(TAIL_LEN)).unwrap_or(0);
    let bytes = bytes.get_mut(..len).unwrap_or_default();
    source.read_exact_at(file_len - len as u64, bytes)?;
    Ok(Tail::read(bytes, superblock.index_end(), file_len)?)
}

/// Reads the footer of a file that declares one.
///
/// # Errors
///
/// Returns the first rule or limit the footer breaks, and errors of the source.
pub fn read(source: &Source, superblock: &Superblock, limits: &Limits) -> Result<(Tail, Footer)> {
    let tail = read_tail(source, superblock)?;
    let footer = check(source, superblock, tail, limits, &mut Strict)?;
    Ok((tail, footer))
}

/// The fault of a file whose footer flag is clear although it ends with a footer that matches its
/// own digest; `tail` are its last bytes.
///
/// # Errors
///
/// Returns errors of the source.
pub fn cleared_flag(
    source: &Source,
    tail: &[u8; WireTail::LEN],
    index_end: u64,
    file_len: u64,
    limits: &Limits,
) -> Result<Option<Fault>> {
    let Ok(read) = Tail::read(tail, index_end, file_len) else { return Ok(None) };
    let span = read.json_span(file_len);
    if limits.check_json_len(span.len(), span.start()).is_err() {
        return Ok(None);
    }
    let json = source.read_vec(span.start(), span.len())?;
    let is_sealed = self_digest(&json, tail).is_some_and(|sealed| sealed.holds());
    let at = const { WireSuperblock::offset_of("flags") };
    let fault = Fault { rule: Rule::FlagCleared, at, found: 0, wanted: FLAG_FOOTER.into() };
    Ok(is_sealed.then_some(fault))
}

/// Reads the footer before a tail and checks its rules.
///
/// Spills must be after the end of the index. Whether they are after the last payload is another
/// check, which needs all rows ([`check_spills`]).
///
/// # Errors
///
/// A fault, only when `faults` asks to stop; errors of the source.
pub fn check(
    source: &Source,
    superblock: &Superblock,
    tail: Tail,
    limits: &Limits,
    faults: &mut impl Faults,
) -> Result<Footer> {
    let span = tail.json_span(source.len());
    let json_at = span.start();
    let mut footer = Footer { version: tail.version, json_at, ..Footer::default() };
    if let Err(fault) = limits.check_json_len(span.len(), json_at) {
        faults.fault(fault)?;
        return Ok(footer);
    }
    let bytes = source.read_vec(json_at, span.len())?;
    let Some(root) = Value::read(&bytes, json_at, limits, Rule::JsonSyntax, faults)? else {
        return Ok(footer);
    };
    if let Some(value) = root.member("integrity") {
        footer.integrity = KeyState::read(value, &bytes, &tail.encode(), faults)?;
    }
    footer.json = FooterJson::read(root, faults)?;
    footer.statistics = StatisticsKey::read(root, footer.integrity.key());
    footer.json.spills.statistics = footer.statistics.spill();
    footer.metadata_at = root.member("metadata").map_or(json_at, |value| value.at());
    let spills = &footer.json.spills;
    check_spills(spills, tail.version, superblock.index_end(), json_at, faults)?;
    let Some(spill) = spills.metadata else { return Ok(footer) };
    let is_inside = superblock.index_end() <= spill.offset
        && spill.offset.checked_add(spill.len).is_some_and(|end| end <= json_at);
    if let Err(fault) = limits.check_spill_len(spill.len, spill.offset) {
        faults.fault(fault)?;
    } else if is_inside {
        let bytes = source.read_vec(spill.offset, spill.len)?;
        if let KeyState::Key(key) = &footer.integrity {
            check_spill(spill, &bytes, &key.spills, json_at, faults)?;
        }
        let root = Value::read(&bytes, spill.offset, limits, Rule::SpillJson, faults)?;
        footer.spilled = root.map(|root| Metadata::read(root, faults)).transpose()?;
        footer.metadata_at = spill.offset;
    }
    Ok(footer)
}

/// Compares a spill with its digest, which must be listed.
fn check_spill(
    spill: Spill,
    bytes: &[u8],
    listed: &[Listed],
    json_at: u64,
    faults: &mut impl Faults,
) -> tet_format::Result<()> {
    let rule = Rule::SpillDigest;
    match listed.iter().find(|listed| listed.spill == spill) {
        None => faults.fault(Fault { rule, at: json_at, found: spill.offset, wanted: 0 }),
        Some(listed) => match tet_codec::compare(bytes, listed.digest, Strength::Full) {
            None => Ok(()),
            Some((found, wanted)) => faults.fault(Fault { rule, at: spill.offset, found, wanted }),
        },
    }
}

#[cfg(test)]
mod tests;
