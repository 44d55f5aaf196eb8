//! Datasets as one safetensors file.
//!
//! The bytes depend on the datasets alone: tensors are in the order of the reference library. A
//! header that came with them, and still fits, is written again verbatim, so that a file
//! that went through another container comes back as it was.

pub(super) mod shards;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::Path;

use tet_format::DType;
use tet_query::{AttrText, Catalog, Dataset, Execution, LazyArray};

use super::attrs;
use super::canonical::{Entry, header_of, header_unless_canonical, strings};
use super::dtype::{StoredType, of_dataset};
use super::header::{Header, LEN_MAX, METADATA_KEY, of_text};
use super::index::members;
use tet_container::model::attributes::SCALAR_KEY;
use tet_container::model::origin::{HEADER_KEY, INDEX_KEY, is_of_origin};
use tet_container::model::{logical, notes};
use tet_container::write::array::Written;
use tet_container::write::file::{self, ExportOptions};
use tet_container::write::left_out::of_datasets;
use tet_container::write::stream::{self, shape_of};
use tet_container::{Error, Format, Note, Result};

/// Name of the format in messages.
const ENCODING: &str = "safetensors";

/// A dataset, and what becomes of it.
pub(super) struct Part {
    /// Its elements, or their bits where nothing here computes with them.
    pub(super) lazy: LazyArray,
    pub(super) entry: Entry,
}

/// Writes `datasets` to the safetensors file `path`.
///
/// Every dtype of the format is written bit by bit, those that nothing here computes with too.
///
/// # Errors
/// A dataset cannot be read, has a dtype or a name that the format has not, two have one name, or
/// the file cannot be published.
pub fn write_safetensors_file(
    catalog: &Catalog,
    datasets: &[&Dataset],
    path: &Path,
    options: &ExportOptions,
) -> Result<Written> {
    let (views, notes) = views(datasets)?;
    let mut parts = parts(datasets, &views)?;
    let header = arranged(catalog, &strings(catalog, views.iter()), &mut parts)?;
    let execution = options.execution.begin(len_of(&parts));
    let write = |out: &mut dyn Write| write(&header, &parts, &execution, out);
    let ((), bytes) = file::publish(catalog, path, options, write)?;
    let unchecked = notes::unchecked(parts.iter().map(|part| &part.lazy));
    let notes = notes.into_iter().chain(left_behind(catalog, datasets)).chain(unchecked).collect();
    Ok(Written { bytes, notes })
}

/// The datasets as the format stores them, and which are of a type that it lacks.
pub(super) fn views(datasets: &[&Dataset]) -> Result<(Vec<Dataset>, Vec<Note>)> {
    let (mut views, mut notes) = (Vec::with_capacity(datasets.len()), Vec::new());
    for dataset in datasets {
        let mut physical =
            logical::to_physical(dataset, ENCODING, |dtype| dtype != DType::Complex128)?;
        let is_of_bits = dataset.attrs.contains_key(logical::DTYPE_KEY);
        if of_dataset(dataset).is_some() && !is_of_bits {
            // The header has a word for the type.
            physical.view.attrs.remove(logical::DTYPE_KEY);
            physical.view.attrs.remove(logical::SHAPE_KEY);
        } else {
            notes.extend(physical.note());
        }
        views.push(physical.view);
    }
    Ok((views, notes))
}

/// The datasets, and what becomes of each; their names are good.
pub(super) fn parts(datasets: &[&Dataset], views: &[Dataset]) -> Result<Vec<Part>> {
    let parts = datasets.iter().zip(views).map(|(dataset, view)| part(dataset, view));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    check_names(datasets)?;
    Ok(parts)
}

/// Bytes of all elements.
pub(super) fn len_of(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.entry.len).fold(0, u64::saturating_add)
}

/// Writes a file; the progress of `execution` counts the bytes of elements.
pub(super) fn write(
    header: &str,
    parts: &[Part],
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<()> {
    let header_len = u64::try_from(header.len()).unwrap_or(u64::MAX);
    if LEN_MAX < header_len {
        let what = "bytes of the header";
        return Err(tet_query::Error::Limit { what, wanted: header_len, limit: LEN_MAX }.into());
    }
    let mut out = BufWriter::new(out);
    out.write_all(&header_len.to_le_bytes()).map_err(Error::Write)?;
    out.write_all(header.as_bytes()).map_err(Error::Write)?;
    for part in parts {
        stream::for_each(&part.lazy, execution, &mut |elements| {
            out.write_all(elements).map_err(Error::Write)
        })?;
    }
    out.flush().map_err(Error::Write)
}

fn part(dataset: &Dataset, view: &Dataset) -> Result<Part> {
    let name = || dataset.name.clone();
    let lazy = stream::whole(view)?;
    let is_scalar = view.shape() == dataset.shape() && shape_of(&lazy).is_empty();
    let shape = match of_dataset(dataset) {
        Some(_) if is_scalar => Vec::new(),
        Some(_) => dataset.shape().to_vec(),
        None => view.shape().to_vec(),
    };
    let stored_as = view.dtype.and_then(|dtype| StoredType::from_ours(dtype.name()));
    let stored = of_dataset(dataset).or(stored_as).ok_or_else(|| Error::NoSuchDType {
        dataset: name(),
        dtype: dataset.dtype_name.clone(),
        encoding: ENCODING,
    })?;
    let len = stored.byte_len(&shape).ok_or_else(|| tet_query::Error::Limit {
        what: "bytes of a tensor",
        wanted: u64::MAX,
        limit: (1 << 63) - 1,
    })?;
    Ok(Part { lazy, entry: Entry { name: name(), stored, shape, len } })
}

/// Names are different, and none is that of the file's strings.
fn check_names(datasets: &[&Dataset]) -> Result<()> {
    let mut names = BTreeSet::new();
    for dataset in datasets {
        let name = &dataset.name;
        if name == METADATA_KEY {
            return Err(Error::Reserved { dataset: name.clone(), encoding: ENCODING });
        }
        if !names.insert(name) {
            let (first, second, member) = (name.clone(), name.clone(), name.clone());
            return Err(Error::Collision { first, second, member });
        }
    }
    Ok(())
}

/// Puts the parts into the order in which they are written, and gives the header.
fn arranged(
    catalog: &Catalog,
    metadata: &[(String, String)],
    parts: &mut [Part],
) -> Result<String> {
    let kept = if catalog.format() == Format::SAFETENSORS.name() {
        header_unless_canonical(catalog.source(), catalog)?
    } else {
        match catalog.attrs().get(HEADER_KEY) {
            Some(AttrText::Text(text)) => Some(text.clone()),
            _ => None,
        }
    };
    if let Some(text) = kept {
        let len = parts.iter().map(|part| part.entry.len).fold(0, u64::saturating_add);
        let places = of_text(&text, len).and_then(|header| places(&header, metadata, parts));
        if let Some(places) = places {
            parts.sort_by_key(|part| places.get(&part.entry.name).copied());
            return Ok(text);
        }
    }
    parts.sort_by(|a, b| a.entry.order(&b.entry));
    Ok(header_of(metadata, parts.iter().map(|part| &part.entry)))
}

/// Where the header has the parts, if it is theirs.
fn places(
    header: &Header,
    metadata: &[(String, String)],
    parts: &[Part],
) -> Option<BTreeMap<String, ([u64; 2], usize)>> {
    let sorted = |strings: &[(String, String)]| -> BTreeMap<String, String> {
        strings.iter().cloned().collect()
    };
    if sorted(&header.metadata) != sorted(metadata) || header.tensors.len() != parts.len() {
        return None;
    }
    let by_name: BTreeMap<&str, &Entry> =
        parts.iter().map(|part| (part.entry.name.as_str(), &part.entry)).collect();
    let mut places = BTreeMap::new();
    for (at, tensor) in header.tensors.iter().enumerate() {
        let entry = by_name.get(tensor.name.as_str())?;
        if tensor.dtype != entry.stored.name || tensor.shape != entry.shape {
            return None;
        }
        places.insert(tensor.name.clone(), (tensor.offsets, at));
    }
    Some(places)
}

/// Metadata that the format cannot store.
fn left_behind(catalog: &Catalog, datasets: &[&Dataset]) -> Vec<Note> {
    let mut notes = left_in_shards(catalog, datasets);
    let what = "members of the index's metadata";
    notes.extend(Note::left_behind("", what, about(catalog).len()));
    notes
}

/// Metadata that shards, which have an index, cannot store.
pub(super) fn left_in_shards(catalog: &Catalog, datasets: &[&Dataset]) -> Vec<Note> {
    let is_ours = |key: &str| key == SCALAR_KEY || attrs::is_stored(key);
    let mut notes = of_datasets(datasets, is_ours);
    let is_other = |(key, text): &(&String, &AttrText)| text.json().is_some() && !is_of_origin(key);
    let count = catalog.attrs().iter().filter(is_other).count();
    if count != 0 {
        notes.push(Note::AsText { count });
    }
    notes
}

/// The metadata of the index of the model.
pub(super) fn about(catalog: &Catalog) -> Vec<(String, String)> {
    let index = catalog.attrs().get(INDEX_KEY);
    index.map(|index| members(index.text())).unwrap_or_default()
}
