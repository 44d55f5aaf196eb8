//! The index of a model in several files: which tensor is in which shard.
//!
//! ```text
//!   {"metadata": {"total_size": 123}, "weight_map": {"tensor": "model-00001-of-00002.safetensors"}}
//! ```

use std::collections::{HashMap, HashSet};

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;
use tet_verify::ForeignFound;

use super::header::{Judge, Spot};
use super::rule;
use tet_container::Result;
use tet_container::read::json::{Scanner, Unfit};
use tet_container::read::room::check_datasets;

/// Bytes of an index, at most.
pub(crate) const INDEX_LEN_MAX: u64 = 100_000_000;
/// Shards of a model, at most.
pub(crate) const SHARDS_MAX: usize = 4096;
/// Tensors of a model, at most.
pub(crate) const TENSORS_MAX: usize = 1_000_000;
/// Bytes of a file name, at most: more than any file system takes.
const NAME_LEN_MAX: usize = 1024;
/// The key of where tensors are, by which an index is recognized.
pub const MAP_KEY: &str = "weight_map";
/// The metadata of the index.
const ABOUT_KEY: &str = "metadata";
/// The bytes of all tensors, among that.
pub const TOTAL_KEY: &str = "total_size";

/// The content of an index.
#[derive(Debug, Default)]
pub struct ShardIndex {
    /// The shards, in the order in which they are first named.
    pub shards: Vec<Named>,
    /// The tensors, in the order of the map.
    pub tensors: Vec<Mapped>,
    /// Its other metadata, as JSON, but for the bytes of all tensors.
    pub about: Vec<(String, String)>,
    /// The bytes of all tensors, and where that is.
    pub total: Option<(u64, u64)>,
}

/// A shard.
#[derive(Debug)]
pub struct Named {
    /// The name of its file.
    pub name: String,
    /// Where in the index it is first named.
    pub at: u64,
}

/// A tensor.
#[derive(Debug)]
pub struct Mapped {
    /// Its name.
    pub name: String,
    /// The position of its shard.
    pub shard: usize,
    /// Where in the index its key is.
    pub at: u64,
}

/// A breach of a rule about an index and its files.
pub fn at_index(rule: &'static ForeignRule, at: u64) -> ForeignFault {
    ForeignFault { rule, at, found: 0, wanted: 0 }
}

/// Reads and checks an index, and passes to `found` all that is wrong; the error is the first breach
/// that leaves no tensor readable.
///
/// # Errors
/// The source cannot be read.
pub fn read(
    source: &Source,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<std::result::Result<ShardIndex, ForeignFault>> {
    let mut judge = Judge { found, broken: None };
    let text = text(source, &mut judge)?;
    let index = text.and_then(|text| entries(&text, &mut judge));
    let unread = ForeignFault { rule: &rule::INDEX_JSON, at: 0, found: 0, wanted: 0 };
    Ok(match (judge.broken, index) {
        (Some(fault), _) => Err(fault),
        (None, Some(index)) => Ok(index),
        (None, None) => Err(unread),
    })
}

fn text(source: &Source, judge: &mut Judge<'_>) -> Result<Option<String>> {
    let len = source.len();
    if INDEX_LEN_MAX < len {
        judge.refuse(&rule::LIMIT_INDEX, Spot::new(0, "JSON", len), (len, INDEX_LEN_MAX));
        return Ok(None);
    }
    let bytes = source.read_vec(0, len)?;
    // A tensor is a pair of the map.
    check_datasets(bytes.iter().filter(|byte| **byte == b':').count())?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = place(error.utf8_error().valid_up_to());
            judge.refuse(&rule::INDEX_JSON, Spot::new(at, "JSON", 1), (0, 0));
            Ok(None)
        }
    }
}

/// The content of the text.
fn entries(text: &str, judge: &mut Judge<'_>) -> Option<ShardIndex> {
    let mut index = ShardIndex::default();
    let mut seen: HashSet<String> = HashSet::new();
    let mut scanner = Scanner::new(text);
    let read = scanner.object(|scanner, at, key| {
        let is_known = matches!(key.as_ref(), MAP_KEY | ABOUT_KEY);
        if is_known && !seen.insert(key.to_string()) {
            twice(place(at), judge);
        }
        let before = scanner.clone();
        let read = match key.as_ref() {
            MAP_KEY => map(scanner, &mut index, judge),
            ABOUT_KEY => about(scanner, &mut index, judge),
            _ => scanner.skip(),
        };
        let Err(Unfit::Type(at)) = read else { return read };
        if key == MAP_KEY {
            judge.refuse(&rule::WEIGHT_MAP, Spot::new(place(at), "value", 1), (0, 0));
        }
        *scanner = before;
        scanner.skip()
    });
    if let Err(Unfit::Syntax(at) | Unfit::Type(at)) = read.and_then(|()| scanner.end()) {
        judge.refuse(&rule::INDEX_JSON, Spot::new(place(at), "JSON", 1), (0, 0));
        return None;
    }
    if !seen.contains(MAP_KEY) {
        judge.refuse(&rule::WEIGHT_MAP, Spot::new(0, "JSON", 1), (0, 0));
    }
    let mut names = HashSet::with_capacity(index.tensors.len());
    for tensor in &index.tensors {
        if !names.insert(tensor.name.as_str()) {
            twice(tensor.at, judge);
        }
    }
    for shard in &index.shards {
        if !is_file_name(&shard.name) {
            judge.refuse(&rule::SHARD_NAME, Spot::new(shard.at, "value", 1), (0, 0));
        }
    }
    Some(index)
}

fn twice(at: u64, judge: &mut Judge<'_>) {
    judge.refuse(&rule::INDEX_KEY_TWICE, Spot::new(at, "key", 1), (0, 0));
}

/// The shard of each tensor.
fn map(
    scanner: &mut Scanner<'_>,
    index: &mut ShardIndex,
    judge: &mut Judge<'_>,
) -> Result<(), Unfit> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let (mut tensor_count, mut shards_over) = (0_usize, 0_usize);
    scanner.object(|scanner, at, name| {
        let value_at = scanner.place();
        let shard = scanner.string()?;
        tensor_count = tensor_count.saturating_add(1);
        if TENSORS_MAX < tensor_count {
            return Ok(());
        }
        let number = match numbers.get(shard.as_ref()) {
            Some(number) => *number,
            None if index.shards.len() == SHARDS_MAX => {
                shards_over = shards_over.saturating_add(1);
                return Ok(());
            }
            None => {
                let number = index.shards.len();
                numbers.insert(shard.to_string(), number);
                index.shards.push(Named { name: shard.into_owned(), at: place(value_at) });
                number
            }
        };
        let (name, at) = (name.into_owned(), place(at));
        index.tensors.push(Mapped { name, shard: number, at });
        Ok::<(), Unfit>(())
    })?;
    let mut limit = |rule, count: usize, limit: usize| {
        if limit < count {
            judge.refuse(rule, Spot::new(0, "JSON", 1), (place(count), place(limit)));
        }
    };
    limit(&rule::LIMIT_MAP, tensor_count, TENSORS_MAX);
    limit(&rule::LIMIT_SHARDS, index.shards.len().saturating_add(shards_over), SHARDS_MAX);
    Ok(())
}

/// The metadata of the index.
fn about(
    scanner: &mut Scanner<'_>,
    index: &mut ShardIndex,
    judge: &mut Judge<'_>,
) -> Result<(), Unfit> {
    let mut keys = HashSet::new();
    scanner.object(|scanner, at, key| {
        let value_at = scanner.place();
        let value = scanner.raw()?;
        if !keys.insert(key.to_string()) {
            twice(place(at), judge);
        } else if key == TOTAL_KEY {
            index.total = value.parse().ok().map(|total| (total, place(value_at)));
        } else {
            index.about.push((key.into_owned(), value.to_owned()));
        }
        Ok::<(), Unfit>(())
    })
}

/// The members of an object of JSON that was kept apart from its index, but for the bytes of all
/// tensors; none where it is no object.
pub fn members(text: &str) -> Vec<(String, String)> {
    let mut index = ShardIndex::default();
    let mut judge = Judge { found: &mut |_| {}, broken: None };
    match about(&mut Scanner::new(text), &mut index, &mut judge) {
        Ok(()) => index.about,
        Err(_) => Vec::new(),
    }
}

/// Whether a name is one of a file in the same folder, on every system.
fn is_file_name(name: &str) -> bool {
    let is_odd = |next: char| matches!(next, '/' | '\\' | ':' | '\0');
    !name.is_empty()
        && name.len() <= NAME_LEN_MAX
        && !matches!(name, "." | "..")
        && !name.chars().any(is_odd)
}

fn place(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}
