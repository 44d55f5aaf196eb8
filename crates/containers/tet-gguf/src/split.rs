//! A model in several files: each has some of its tensors, and keys that tell which part of how many it is.
//!
//! ```text
//!   m-00001-of-00002.gguf   split.no 0   split.count 2   split.tensors.count 3
//!   m-00002-of-00002.gguf   split.no 1
//! ```
//!
//! The names are those of `llama-gguf-split`. Any part opens the others next to it.

use std::collections::{BTreeMap, HashSet};

use tet_format::ForeignFault;
use tet_io::Source;
use tet_query::AttrText;
use tet_verify::ForeignFound;

use super::header::{self, Header};
use super::rule;
use tet_container::Result;
use tet_container::read::opened::OpenOptions;
use tet_container::read::set::PartName;

/// How the keys begin that tell which part a file is.
const PREFIX: &str = "split.";

/// Takes a finding, and the name of the file that it is in unless that is the one that was opened.
pub(super) type OnFinding<'f> = &'f mut dyn FnMut(Option<&str>, ForeignFound);

/// A model in one file or several.
pub(super) struct Model {
    /// The files in order, each with its name unless it is the one that was opened.
    pub(super) parts: Vec<(Option<String>, Source, Header)>,
    /// The keys of all of them; those that tell which part a file is are left out where all parts are there.
    pub(super) attrs: BTreeMap<String, AttrText>,
}

/// Reads the headers of a file and of the other parts of its model; the inner error is the rule that it breaks.
pub(super) fn read(
    source: &Source,
    options: &OpenOptions,
    found: OnFinding<'_>,
) -> Result<std::result::Result<Model, ForeignFault>> {
    let header = match header::read(source, &mut |it| found(None, it))? {
        Ok(header) => header,
        Err(fault) => return Ok(Err(fault)),
    };
    let count = number(&header, "count").filter(|count| 1 < *count);
    let tensor_count = number(&header, "tensors.count");
    let mut model = Model { parts: vec![(None, source.clone(), header)], attrs: BTreeMap::new() };
    let missing = match count {
        Some(count) => model.complete(count, options, found)?,
        None => Vec::new(),
    };
    for (_, _, header) in &mut model.parts {
        for (key, value) in std::mem::take(&mut header.attrs) {
            model.attrs.entry(key).or_insert(value);
        }
    }
    if count.is_none() {
        return Ok(Ok(model));
    }
    let listed = model.parts.iter().map(|(_, _, header)| header.entries.len()).sum::<usize>();
    let listed = u64::try_from(listed).unwrap_or(u64::MAX);
    if missing.is_empty() && tensor_count.is_none_or(|count| count == listed) {
        model.attrs.retain(|key, _| !key.starts_with(PREFIX));
    } else {
        let wanted = tensor_count.unwrap_or(listed);
        let fault = ForeignFault { rule: &rule::SPLIT, at: 0, found: listed, wanted };
        let it = ForeignFound { fault, field: "split", len: 0, dataset: None };
        found(missing.first().map(String::as_str), it);
    }
    model.check_names(found);
    Ok(Ok(model))
}

impl Model {
    /// Adds the other parts, and returns the names of those that are missing.
    fn complete(
        &mut self,
        count: u64,
        options: &OpenOptions,
        found: OnFinding<'_>,
    ) -> Result<Vec<String>> {
        let Some((_, source, header)) = self.parts.pop() else { return Ok(Vec::new()) };
        let path = source.path().map(std::path::Path::to_path_buf);
        let name = path.as_ref().and_then(|path| path.file_name()?.to_str());
        let name = name.and_then(PartName::parse).filter(|name| {
            let number = u64::from(name.number).checked_sub(1);
            u64::from(name.count) == count && self::number(&header, "no") == number
        });
        let Some(name) = name else {
            self.parts.push((None, source, header));
            return Ok(vec!["another part".to_owned()]);
        };
        let mut missing = Vec::new();
        let mut own = Some((None, source.clone(), header));
        for number in 1..=name.count {
            if number == name.number {
                self.parts.extend(own.take());
                continue;
            }
            let other = name.of_number(number);
            match part(&source, &other, number, count, options, found)? {
                Some((source, header)) => self.parts.push((Some(other), source, header)),
                None => missing.push(other),
            }
        }
        Ok(missing)
    }

    /// Reports names that tensors of several parts have.
    fn check_names(&self, found: OnFinding<'_>) {
        let mut names = HashSet::new();
        let entries = self.parts.iter().flat_map(|(shard, _, header)| {
            header.entries.iter().map(move |entry| (shard.as_deref(), entry))
        });
        for ((shard, entry), number) in entries.zip(0_u64..) {
            if !names.insert(entry.name.as_str()) {
                let fault = ForeignFault { rule: &rule::NAME_TWICE, at: 0, found: 0, wanted: 0 };
                let dataset = Some((number, entry.name.clone()));
                found(shard, ForeignFound { fault, field: "name", len: 0, dataset });
            }
        }
    }
}

/// Another part; `None` where the file is missing, damaged, or another part than its name tells.
fn part(
    source: &Source,
    name: &str,
    number: u32,
    count: u64,
    options: &OpenOptions,
    found: OnFinding<'_>,
) -> Result<Option<(Source, Header)>> {
    let other = match options.beside(source, name) {
        Ok(other) => other,
        Err(tet_io::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if !other.read_vec(0, other.len().min(4))?.starts_with(b"GGUF") {
        return Ok(None);
    }
    match header::read(&other, &mut |it| found(Some(name), it))? {
        Ok(header) => {
            let is_part = self::number(&header, "no") == u64::from(number).checked_sub(1)
                && self::number(&header, "count") == Some(count);
            Ok(is_part.then_some((other, header)))
        }
        Err(fault) => {
            found(
                Some(name),
                ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None },
            );
            Ok(None)
        }
    }
}

/// The number of a key that tells about the parts of a model.
fn number(header: &Header, key: &str) -> Option<u64> {
    header.attrs.get(&format!("{PREFIX}{key}"))?.json()?.parse().ok()
}
