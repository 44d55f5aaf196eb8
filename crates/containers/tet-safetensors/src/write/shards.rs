//! Datasets as several safetensors files and their index, as Hugging Face keeps large models.
//!
//! ```text
//!   model.safetensors.index.json   model-00001-of-00002.safetensors   model-00002-of-00002.safetensors
//! ```
//!
//! All files are complete before the first one takes its name. Renaming them is not one step: an old
//! index is removed before its first shard is replaced, and the new one takes its name last. So an
//! index never exists while some shards are old and some are new.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tet_io::{Publisher, commit_all};
use tet_query::{Catalog, Dataset};

use super::Part;
use crate::canonical::{header_of, index_of, strings};
use tet_container::model::notes;
use tet_container::write::array::Written;
use tet_container::write::file::{ExportOptions, of_file};
use tet_container::{Error, Note, Result};

/// Bytes of the tensors of one shard, at most, where nothing else is asked for: as the library of
/// Hugging Face has it.
pub const SHARD_LEN: u64 = 5_000_000_000;

/// Suffix of the index of a model.
const INDEX_SUFFIX: &str = ".safetensors.index.json";

/// A model in several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharded {
    /// How many shards there are; 0 where the model is one file.
    pub shard_count: usize,
    /// Bytes of all files.
    pub len: u64,
}

/// Whether the name of `path` is that of an index.
fn is_index(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.len() > INDEX_SUFFIX.len() && name.to_ascii_lowercase().ends_with(INDEX_SUFFIX)
}

/// The index of the model that is asked for as `path`, which may be that of its index or of its one
/// file.
#[must_use]
pub fn index_path(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}{INDEX_SUFFIX}", model(path)))
}

/// Prefix of the names of all files of a model.
fn model(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = if is_index(path) { INDEX_SUFFIX.len() } else { ".safetensors".len() };
    let stem = name.len().checked_sub(end).and_then(|end| name.get(..end));
    stem.unwrap_or(&name).to_owned()
}

/// Writes `datasets` as shards of at most `shard_len` bytes of elements, in their order; a tensor that
/// is longer has a shard of its own.
///
/// Where `path` is not that of an index and one shard holds all, it is written there, alone.
///
/// # Errors
/// As [`super::write_safetensors_file`]. Where the last steps fail, which give the files their names,
/// some shards may be there, and the index is not: neither the new one nor, where shards of an old
/// model have the same names, the old one.
pub fn write_shards(
    catalog: &Catalog,
    datasets: &[&Dataset],
    path: &Path,
    shard_len: u64,
    options: &ExportOptions,
) -> Result<(Sharded, Vec<Note>)> {
    let (views, mut notes) = super::views(datasets)?;
    let parts = super::parts(datasets, &views)?;
    let total = super::len_of(&parts);
    if !is_index(path) && total <= shard_len {
        let Written { bytes: len, notes } =
            super::write_safetensors_file(catalog, datasets, path, options)?;
        return Ok((Sharded { shard_count: 0, len }, notes));
    }
    let order: Vec<String> = parts.iter().map(|part| part.entry.name.clone()).collect();
    let shards = split(parts, shard_len);
    let names: Vec<String> = (1..=shards.len())
        .map(|at| format!("{}-{at:05}-of-{:05}.safetensors", model(path), shards.len()))
        .collect();
    let map = places(&order, &shards, &names);
    let index = index_of(total, &super::about(catalog), map.into_iter());
    let how = options.publish(catalog);
    let publishers = names.iter().map(|name| Publisher::begin(path.with_file_name(name), &how));
    let mut publishers = publishers.collect::<Result<Vec<_>, _>>()?;
    let mut last = Publisher::begin(index_path(path), &how)?;
    let metadata = strings(catalog, views.iter());
    let execution = options.execution.begin(total);
    let mut len = u64::try_from(index.len()).unwrap_or(u64::MAX);
    let mut unchecked = None;
    for (mut parts, publisher) in shards.into_iter().zip(&mut publishers) {
        parts.sort_by(|one, other| one.entry.order(&other.entry));
        let header = header_of(&metadata, parts.iter().map(|part| &part.entry));
        let written = super::write(&header, &parts, &execution, publisher.file());
        written.map_err(|error| of_file(publisher, error))?;
        unchecked = unchecked.or(notes::unchecked(parts.iter().map(|part| &part.lazy)));
        let header_len = u64::try_from(header.len()).unwrap_or(u64::MAX).saturating_add(8);
        len = len.saturating_add(header_len);
    }
    let written = last.write_all(index.as_bytes()).map_err(Error::Write);
    written.map_err(|error| of_file(&last, error))?;
    let shard_count = publishers.len();
    let settled = publishers.into_iter().map(Publisher::settle).collect::<Result<_, _>>()?;
    let last = last.settle()?;
    catalog.check_unchanged()?;
    commit_all(settled, Some(last))?;
    let sharded = Sharded { shard_count, len: len.saturating_add(total) };
    notes.extend(super::left_in_shards(catalog, datasets));
    notes.extend(unchecked);
    Ok((sharded, notes))
}

/// The parts in shards, each as full as may be.
fn split(parts: Vec<Part>, shard_len: u64) -> Vec<Vec<Part>> {
    let mut shards: Vec<Vec<Part>> = Vec::new();
    let mut room = 0;
    for part in parts {
        match (shards.last_mut(), part.entry.len) {
            (Some(shard), len) if len <= room => {
                room -= len;
                shard.push(part);
            }
            (_, len) => {
                room = shard_len.saturating_sub(len);
                shards.push(vec![part]);
            }
        }
    }
    shards
}

/// The shard of each tensor, in the order in which they came.
fn places<'n>(
    order: &'n [String],
    shards: &[Vec<Part>],
    names: &'n [String],
) -> Vec<(&'n str, &'n str)> {
    let shard_of =
        shards.iter().zip(names).flat_map(|(shard, name)| shard.iter().map(move |_| name));
    // Shards are stretches of the order.
    order.iter().zip(shard_of).map(|(tensor, shard)| (tensor.as_str(), shard.as_str())).collect()
}
