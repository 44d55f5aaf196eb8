//! Encodes metadata as canonical CBOR, and checks it.

use tet_cbor::{Head, Reader, Value, check_wide_value, encode};

use super::options::VersionKey;
use crate::error::{Error, Result};
use crate::metadata::{BASE_KEY, EXTRA_KEY, Metadata, Pairs, RESERVED_KEY};
use crate::preamble::VERSION;

/// The key that programs of 0.17 look for.
const VERSION_KEY: &str = "version";

/// The CBOR of metadata, without empty maps.
pub(crate) fn metadata_bytes(metadata: &Metadata, version_key: VersionKey) -> Result<Vec<u8>> {
    let mut pairs = Vec::new();
    let mut push = |key: &str, value| pairs.push((Value::Text(key.to_owned()), value));
    if !metadata.base.is_empty() {
        push(BASE_KEY, Value::Array(metadata.base.iter().map(map).collect()));
    }
    if !metadata.reserved.is_empty() {
        push(RESERVED_KEY, map(&metadata.reserved));
    }
    let mut extra = metadata.extra.clone();
    if version_key == VersionKey::Written {
        extra.retain(|(key, _)| key != VERSION_KEY);
        push(VERSION_KEY, Value::Int(VERSION.into()));
    }
    if !extra.is_empty() {
        push(EXTRA_KEY, map(&extra));
    }
    let value = Value::Map(pairs);
    check_wide_value(&value).map_err(|why| Error::Unwritable { why })?;
    let mut bytes = Vec::new();
    encode(&value, &mut bytes);
    Ok(bytes)
}

/// The CBOR of a preceder.
pub(super) fn preceder_bytes(entry: &Pairs, version_key: VersionKey) -> Result<Vec<u8>> {
    if entry.iter().any(|(key, _)| key == RESERVED_KEY) {
        return Err(Error::Unwritable { why: "a preceder must not contain `_reserved_`" });
    }
    let metadata = Metadata { base: vec![entry.clone()], ..Metadata::default() };
    metadata_bytes(&metadata, version_key)
}

/// Checks that bytes are exactly one map.
pub(super) fn check_descriptor(bytes: &[u8]) -> Result<()> {
    let mut reader = Reader::new(bytes, 0, 0, DEPTH_MAX);
    let is_map = matches!(reader.head(), Ok(Head::Map(_)));
    let mut reader = Reader::new(bytes, 0, 0, DEPTH_MAX);
    if is_map && reader.skip(0).is_ok() && reader.is_at_end() {
        return Ok(());
    }
    Err(Error::Unwritable { why: "a descriptor is one CBOR map and nothing else" })
}

/// No reader supports more levels.
const DEPTH_MAX: u32 = 256;

/// Checks that there is no entry for an object that does not exist.
pub(super) fn check_base(metadata: &Metadata, count: usize) -> Result<()> {
    let (found, wanted) = (metadata.base.len() as u64, count as u64);
    if found <= wanted {
        return Ok(());
    }
    Err(Error::Usage { what: "entries of `base`, one for each object", found, wanted })
}

fn map(pairs: &Pairs) -> Value {
    Value::Map(pairs.iter().map(|(key, value)| (Value::Text(key.clone()), value.clone())).collect())
}
