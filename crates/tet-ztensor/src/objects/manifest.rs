//! The manifest: a CBOR map with the objects, the attributes of the file, and its shards.

use std::collections::{HashMap, HashSet};

use tet_cbor::{Head, Irregular, Items, Reader, Value, check_deterministic, value};
use tet_format::{ForeignRule, Span};

use super::container::Version;
use super::object::{ManifestObject, read_attributes};
use super::rule;
use super::shard::Shard;
use crate::error::{Fault, Result};
use crate::limits::Limits;

/// Items of version 2 nest no deeper, counted from the map of the manifest.
const DEPTH_MAX: u32 = 32;
/// The most shards.
pub(crate) const SHARDS_MAX: usize = 4096;

/// Objects, shards and attributes of a manifest.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) objects: Vec<ManifestObject>,
    pub(super) shards: Vec<Shard>,
    pub(super) attributes: Vec<(String, Value)>,
}

/// Reads the bytes of a manifest in `place`.
pub(super) fn read(
    version: Version,
    bytes: &[u8],
    place: Span,
    limits: &Limits,
) -> Result<Manifest, Fault> {
    if version == Version::Two {
        check_deterministic(bytes, place.start(), DEPTH_MAX).map_err(|it| Fault {
            rule: rule_of(it.irregular),
            at: it.at,
            found: 0,
            wanted: 0,
        })?;
    }
    // An empty container may be at the maximum depth.
    let depth_max = limits.depth_max.max(DEPTH_MAX.saturating_add(2));
    let mut reader = Reader::new(bytes, 0, place.start(), depth_max);
    let mut found = Sections::default();
    sections(&mut reader, &mut found)?;
    if !reader.is_at_end() {
        return Err(at(&rule::TRAILING, reader.place(reader.at())));
    }
    let root = at(&rule::ROOT, place.start());
    if version == Version::One && found.version.is_none() {
        return Err(root);
    }
    let objects_at = found.objects.ok_or(root)?;
    let mut manifest = Manifest::default();
    if let Some(start) = found.attributes {
        reader.rewind(start);
        let attributes = item(&mut reader, limits)?;
        let broken = |rule| at(rule, reader.place(start));
        manifest.attributes = read_attributes(version, Some(attributes)).map_err(broken)?;
    }
    if let Some(start) = found.shards.filter(|_| version == Version::Two) {
        reader.rewind(start);
        manifest.shards = read_shards(&mut reader, limits)?;
    }
    reader.rewind(objects_at);
    read_objects(&mut manifest, version, &mut reader, limits)?;
    Ok(manifest)
}

fn at(rule: &'static ForeignRule, at: u64) -> Fault {
    Fault { rule, at, found: 0, wanted: 0 }
}

const fn rule_of(irregular: Irregular) -> &'static ForeignRule {
    match irregular {
        Irregular::Syntax | Irregular::Text => &rule::SYNTAX,
        Irregular::Depth => &rule::DEPTH,
        Irregular::Form | Irregular::Order => &rule::FORM,
        Irregular::KeyTwice => &rule::KEY_TWICE,
        Irregular::Trailing => &rule::TRAILING,
    }
}

fn broken(fault: tet_cbor::Fault) -> Fault {
    let rule = match fault.broken {
        tet_cbor::Broken::Syntax => &rule::SYNTAX,
        tet_cbor::Broken::Depth => &rule::DEPTH,
    };
    Fault { rule, at: fault.at, found: fault.found, wanted: fault.wanted }
}

/// The positions of the values of the outermost map.
#[derive(Default)]
struct Sections {
    version: Option<usize>,
    objects: Option<usize>,
    attributes: Option<usize>,
    shards: Option<usize>,
}

fn sections(reader: &mut Reader<'_>, found: &mut Sections) -> Result<(), Fault> {
    let root = at(&rule::ROOT, reader.place(0));
    let Head::Map(count) = reader.untagged(0).map_err(broken)? else { return Err(root) };
    let mut items = Items::new(count);
    while items.next(reader) {
        let start = reader.at();
        let key = match reader.untagged(1).map_err(broken)? {
            head @ Head::Text(_) => Some(reader.string(head).map_err(broken)?),
            head => {
                reader.skip_rest(head, start, 1).map_err(broken)?;
                None
            }
        };
        let slot = match key.as_deref() {
            Some(b"version") => Some(&mut found.version),
            Some(b"objects") => Some(&mut found.objects),
            Some(b"attributes") => Some(&mut found.attributes),
            Some(b"shards") => Some(&mut found.shards),
            _ => None,
        };
        if let Some(slot) = slot
            && slot.replace(reader.at()).is_some()
        {
            return Err(at(&rule::KEY_TWICE, reader.place(start)));
        }
        reader.skip(1).map_err(broken)?;
    }
    Ok(())
}

/// The item at the position of the reader.
fn item(reader: &mut Reader<'_>, limits: &Limits) -> Result<Value, Fault> {
    let (start, mut left) = (reader.at(), limits.item_count_max);
    let value = value(reader, 1, &mut left).map_err(broken)?;
    let wanted = u64::try_from(limits.item_count_max).unwrap_or(u64::MAX);
    let (rule, at) = (&rule::LIMIT_ITEMS, reader.place(start));
    value.ok_or(Fault { rule, at, found: wanted.saturating_add(1), wanted })
}

fn read_shards(reader: &mut Reader<'_>, limits: &Limits) -> Result<Vec<Shard>, Fault> {
    let start = reader.at();
    let Head::Map(count) = reader.head().map_err(broken)? else {
        return Err(at(&rule::ROOT, reader.place(start)));
    };
    let (mut items, mut shards) = (Items::new(count), Vec::new());
    while items.next(reader) {
        let entry_at = reader.place(reader.at());
        let key = item(reader, limits)?;
        let value = item(reader, limits)?;
        shards.push(Shard::read(&key, &value, entry_at).map_err(|rule| at(rule, entry_at))?);
        if SHARDS_MAX < shards.len() {
            let wanted = u64::try_from(SHARDS_MAX).unwrap_or(u64::MAX);
            let found = wanted.saturating_add(1);
            return Err(Fault { rule: &rule::LIMIT_ENTRIES, at: entry_at, found, wanted });
        }
    }
    Ok(shards)
}

fn read_objects(
    manifest: &mut Manifest,
    version: Version,
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<(), Fault> {
    let start = reader.at();
    let Head::Map(count) = reader.untagged(1).map_err(broken)? else {
        return Err(at(&rule::ROOT, reader.place(start)));
    };
    let shards: HashMap<String, usize> =
        (0..).zip(&manifest.shards).map(|(at, shard)| (shard.name.clone(), at)).collect();
    let shard_at = |name: &str| shards.get(name).copied();
    let (mut items, mut names) = (Items::new(count), HashSet::new());
    let mut entries_left = limits.entry_count_max;
    while items.next(reader) {
        let start = reader.at();
        let entry_at = reader.place(start);
        reader.take_bad_text();
        let Value::Text(name) = item(reader, limits)? else {
            return Err(at(&rule::NAME, entry_at));
        };
        let mut object = ManifestObject::named(name, entry_at);
        let value = item(reader, limits)?;
        let is_new = version == Version::Two || names.insert(object.name.clone());
        let filled = match (is_new, reader.take_bad_text()) {
            (false, _) => Err(&rule::KEY_TWICE),
            (_, Some(_)) => Err(&rule::SYNTAX),
            _ => object.fill(version, value, &shard_at),
        };
        object.fault = filled.err().map(|rule| object.broken(rule, 0, 0));
        let entry_count = object.parts.len().saturating_add(1);
        let Some(left) = entries_left.checked_sub(entry_count) else {
            let wanted = u64::try_from(limits.entry_count_max).unwrap_or(u64::MAX);
            let found = wanted.saturating_add(1);
            return Err(Fault { rule: &rule::LIMIT_ENTRIES, at: entry_at, found, wanted });
        };
        entries_left = left;
        manifest.objects.push(object);
    }
    Ok(())
}
