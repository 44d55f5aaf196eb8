//! The `integrity` key of the footer JSON, read and written.

use std::fmt::Write;

use tet_codec::{Digester, Strength};
use tet_format::footer::Spill;
use tet_format::{Digest, Error as Fault, Faults, Limits, Result, Rule, Strict};

use crate::footer::Value;

/// The version of the key.
const VERSION: u64 = 1;
/// The algorithms of its digests.
const ALGORITHMS: &str = "crc32c+xxh3";
/// The end of the JSON before the hexadecimal digits of `self`.
const SELF_BEFORE: &[u8] = b"\"self\":\"";
const SELF_AFTER: &[u8] = b"\"}}";
const HEX_LEN: usize = 2 * Digest::LEN;
const ZEROS: [u8; HEX_LEN] = [b'0'; HEX_LEN];

/// The `integrity` key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityKey {
    /// The digest of superblock, directory and index header.
    pub head: Digest,
    /// The digest of the digests of the index's pages.
    pub index: Digest,
    /// The digest of all rows and their payload digests.
    pub chunks: Digest,
    /// The position of the digests of pages and payloads.
    pub block: Spill,
    /// The spills with their digests.
    pub spills: Vec<Listed>,
}

/// A spill with its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its position.
    pub spill: Spill,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// The integrity key of a footer, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyState {
    /// The footer has no key.
    #[default]
    Absent,
    /// A key of an unknown version.
    Unknown,
    /// A key of this version.
    Key(Box<IntegrityKey>),
}

impl KeyState {
    /// Parses `value`, the key of a footer JSON, and compares JSON and tail with `self`. The other
    /// arguments are the bytes of the JSON and of the tail.
    pub(crate) fn read(
        value: Value<'_>,
        json: &[u8],
        tail: &[u8],
        faults: &mut impl Faults,
    ) -> Result<KeyState> {
        let text = |key| value.member(key).and_then(Value::string);
        let version = value.member("v").and_then(Value::unsigned);
        if version.is_some_and(|version| version != VERSION)
            || text("alg").is_some_and(|names| names != ALGORITHMS)
        {
            return Ok(KeyState::Unknown);
        }
        let key = version.and(text("alg")).and_then(|_| IntegrityKey::read(value));
        let (Some(key), Some(SelfDigest { stated, found })) = (key, self_digest(json, tail)) else {
            let rule = Rule::IntegrityKey;
            faults.fault(Fault { rule, at: value.at(), found: 0, wanted: 0 })?;
            return Ok(KeyState::Unknown);
        };
        if let Some((found, wanted)) = found.differs(stated) {
            let rule = Rule::SelfDigest;
            faults.fault(Fault { rule, at: value.at(), found, wanted })?;
        }
        Ok(KeyState::Key(Box::new(key)))
    }

    /// The key, if its version is known.
    #[must_use]
    pub fn key(&self) -> Option<&IntegrityKey> {
        match self {
            KeyState::Key(key) => Some(key),
            _ => None,
        }
    }
}

impl IntegrityKey {
    /// The key in a footer JSON; `None` if it has none of this version.
    #[must_use]
    pub fn find(json: &[u8]) -> Option<Self> {
        let root =
            Value::read(json, 0, &Limits::default(), Rule::JsonSyntax, &mut Strict).ok()??;
        let value = root.member("integrity")?;
        let is_known = value.member("v")?.unsigned()? == VERSION
            && value.member("alg")?.string()? == ALGORITHMS;
        is_known.then(|| IntegrityKey::read(value)).flatten()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let digest = |key| Digest::from_hex(&value.member(key)?.string()?);
        let spills = value.member("spills")?.items()?;
        Some(IntegrityKey {
            head: digest("head")?,
            index: digest("index")?,
            chunks: digest("chunks")?,
            block: value.member("block")?.spill()?,
            spills: spills.into_iter().map(listed).collect::<Option<_>>()?,
        })
    }

    /// The key and its value, with zeros for `self`.
    pub(crate) fn encode(&self) -> String {
        let IntegrityKey { head, index, chunks, block, spills } = self;
        let Spill { offset, len } = block;
        let mut out = format!(
            "\"integrity\":{{\"v\":{VERSION},\"alg\":\"{ALGORITHMS}\",\"head\":\"{head}\",\
             \"index\":\"{index}\",\"chunks\":\"{chunks}\",\
             \"block\":{{\"offset\":{offset},\"len\":{len}}},\"spills\":["
        );
        for (nth, Listed { spill: Spill { offset, len }, digest }) in spills.iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ =
                write!(out, "{comma}{{\"offset\":{offset},\"len\":{len},\"digest\":\"{digest}\"}}");
        }
        out + "],\"self\":\"" + &"0".repeat(HEX_LEN) + "\"}"
    }
}

fn listed(value: Value<'_>) -> Option<Listed> {
    let digest = Digest::from_hex(&value.member("digest")?.string()?)?;
    Some(Listed { spill: value.spill()?, digest })
}

/// The bytes before the digits of `self`, the digits, and the bytes after them.
fn parts(json: &[u8]) -> Option<(&[u8], &[u8; HEX_LEN])> {
    let (before, digits) = json.strip_suffix(SELF_AFTER)?.split_last_chunk()?;
    before.ends_with(SELF_BEFORE).then_some((before, digits))
}

fn digest_of_footer(before: &[u8], tail: &[u8]) -> Digest {
    let mut digester = Digester::new(Strength::Full);
    for part in [before, &ZEROS, SELF_AFTER, tail] {
        digester.update(part);
    }
    digester.finish()
}

/// The digest `self` of a footer JSON, stated and computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfDigest {
    /// The digest stated in the JSON.
    pub stated: Digest,
    /// The digest of JSON and tail.
    pub found: Digest,
}

impl SelfDigest {
    /// The length of the end of the JSON, from the digits of `self` on.
    pub const END_LEN: usize = HEX_LEN + SELF_AFTER.len();

    /// Whether both are equal: JSON and tail are unchanged.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.stated == self.found
    }
}

/// Compares a footer JSON and its tail with `self` at the end of the JSON; `None` if there is no
/// `self`.
#[must_use]
pub fn self_digest(json: &[u8], tail: &[u8]) -> Option<SelfDigest> {
    let (before, digits) = parts(json)?;
    let stated = Digest::from_hex(str::from_utf8(digits).ok()?)?;
    Some(SelfDigest { stated, found: digest_of_footer(before, tail) })
}

/// Replaces the zeros of `self` at the end of the JSON by the digest of JSON and tail.
pub(crate) fn fill_self(json: String, tail: &[u8]) -> String {
    let Some((before, _)) = parts(json.as_bytes()) else { return json };
    let (digest, len) = (digest_of_footer(before, tail), before.len());
    let after = String::from_utf8_lossy(SELF_AFTER);
    format!("{}{digest}{after}", &json[..len])
}
