//! Datasets of which a part cannot be read, as datasets that have missing values there.
//!
//! ```text
//!   read as a whole -- fails --> read chunk by chunk -- damaged ones --> chunks of missing values
//!                                                    -- all damaged, or a checksum of all --> left out
//! ```
//!
//! A missing value is what the attribute `_FillValue` or `missing_value` has, else NaN. A dataset that has none is an
//! error, which names what to write instead.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tet_format::DType;
use tet_query::{
    AttrText, Catalog, Dataset, DigestPolicy, Error as QueryError, Execution, Hyperslab, LazyArray,
};

use self::table::WithMissing;
use super::chunk_check::COUNT_MAX;
use super::positions::{AxisRanges, outside, ranges, text};
use crate::model::attributes::{FILL_KEY, given};
use crate::model::axes::names_of;
use crate::model::number::{le_bytes, numbers};
use crate::model::retyped::with_dtype;
use crate::write::options::ImportOptions;
use crate::write::stream;
use crate::{Error, Note, Result};

/// A dataset with missing values in place of damaged chunks.
#[derive(Debug)]
pub struct Damage {
    dataset: Dataset,
    table: Arc<WithMissing>,
    /// Why the first of the chunks cannot be read.
    why: String,
    /// The missing value, for a note.
    value: String,
}

/// The chunks of a dataset that cannot be read.
struct Lost {
    /// The numbers of its chunks in the grid, in their order; all of them where that is not known.
    chunks: Vec<u64>,
    is_all: bool,
    why: String,
}

impl Damage {
    /// The note on the chunks that were used: a selection may use none of them.
    pub fn note(&self) -> Option<Note> {
        let boxes = self.boxes(self.table.used());
        (!boxes.is_empty()).then(|| Note::Damaged {
            dataset: self.dataset.name.clone(),
            positions: text(&self.dataset, &boxes),
            share: share(&self.dataset, &boxes),
            why: self.why.clone(),
            value: Some(self.value.clone()),
        })
    }

    fn boxes(&self, chunks: impl IntoIterator<Item = u64>) -> Vec<AxisRanges> {
        boxes(&self.dataset, chunks)
    }
}

fn boxes(dataset: &Dataset, chunks: impl IntoIterator<Item = u64>) -> Vec<AxisRanges> {
    ranges(dataset, chunks.into_iter().map(|linear| dataset.grid.coord_of(linear)))
}

/// How much parts of a dataset are: `30 of 730 along time`, where they are of one axis, and how many elements.
fn share(dataset: &Dataset, boxes: &[AxisRanges]) -> String {
    let len = |ranges: &AxisRanges| {
        ranges.iter().fold(1_u64, |len, it| len.saturating_mul(it.end.saturating_sub(it.start)))
    };
    let lost = boxes.iter().map(len).fold(0, u64::saturating_add);
    let count = dataset.grid.shape().element_count().unwrap_or(u64::MAX);
    let elements = format!("{lost} of {count} elements");
    let is_partial =
        |axis: usize, extent: u64| boxes.iter().any(|it| it.get(axis) != Some(&(0..extent)));
    let mut partial =
        (0..).zip(dataset.shape()).filter(|(axis, extent)| is_partial(*axis, **extent));
    let (Some((axis, extent)), None) = (partial.next(), partial.next()) else { return elements };
    let names = names_of(dataset);
    match names.get(axis).filter(|_| 1 < names.len()) {
        Some(name) => {
            let along = boxes
                .iter()
                .filter_map(|it| it.get(axis))
                .map(|it| it.end.saturating_sub(it.start));
            let along = along.fold(0, u64::saturating_add);
            format!("{along} of {extent} along {}, {elements}", name.escape_debug())
        }
        None => elements,
    }
}

/// The catalog whose datasets of these positions have missing values in place of what cannot be read, and these datasets.
/// Those of which nothing can be read, or that have no missing value, have a fault, and a note. `dtypes` has the types that
/// datasets are written as, by position.
///
/// # Errors
/// The file cannot be read for a reason that is not its own.
pub fn with_missing(
    mut catalog: Catalog,
    chosen: &BTreeSet<usize>,
    dtypes: &BTreeMap<usize, DType>,
    options: &ImportOptions,
    how: &Execution,
) -> Result<(Catalog, Vec<Damage>, Vec<Note>)> {
    let how = &compared(how);
    let mut lost = BTreeMap::new();
    let all = catalog.datasets().iter().chain(catalog.parts());
    for dataset in all.filter(|it| chosen.contains(&it.index)) {
        if let Some(found) = lost_of(dataset, how)? {
            lost.insert(dataset.index, found);
        }
    }
    // Floats have a missing value, whatever they are written as.
    let of_type = |dtype: DType| move |it: &(&usize, &DType)| *it.1 == dtype;
    let floats: BTreeSet<DType> = dtypes.values().copied().filter(|it| it.is_float()).collect();
    for dtype in floats {
        let asked = dtypes.iter().filter(of_type(dtype)).map(|(index, _)| *index);
        let asked: Vec<usize> = asked.filter(|index| lost.contains_key(index)).collect();
        catalog = with_dtype(catalog, &asked, dtype, how)?;
    }
    let (mut damaged, mut notes) = (Vec::new(), Vec::new());
    let mut view = |dataset: Dataset| match lost.remove(&dataset.index) {
        None => dataset,
        Some(lost) if lost.is_all => {
            notes.push(Note::Damaged {
                dataset: dataset.name.clone(),
                positions: String::new(),
                share: String::new(),
                why: lost.why.clone(),
                value: None,
            });
            left_out(dataset, lost.why)
        }
        Some(lost) => match missing(&dataset, options) {
            None => {
                notes.push(without_missing(&dataset, &lost));
                left_out(dataset, lost.why)
            }
            Some((element, value)) => {
                let inner = Arc::clone(&dataset.chunks);
                let table = WithMissing::new(inner, dataset.grid.clone(), &element, lost.chunks);
                let table = Arc::new(table);
                let of = dataset.clone();
                damaged.push(Damage { dataset: of, table: table.clone(), why: lost.why, value });
                Dataset { chunks: table, ..dataset }
            }
        },
    };
    let parts = catalog.parts().iter().cloned().map(&mut view).collect();
    let catalog = catalog.viewed(view).with_parts(parts);
    Ok((catalog, damaged, notes))
}

/// A dataset that is not written.
fn left_out(dataset: Dataset, why: String) -> Dataset {
    let fault = dataset.fault.clone();
    let fault = fault.or_else(|| Some(Arc::new(QueryError::Malformed { why })));
    Dataset { fault, ..dataset }
}

/// The chunks of a dataset that cannot be read.
///
/// ```
/// assert!(!tet_container::DamagedChunks::default().is_all);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DamagedChunks {
    /// The coordinates of the chunks, in their order.
    pub coordinates: Vec<Vec<u64>>,
    /// Whether it is the whole dataset: all chunks, or unknown ones, where a checksum of all of them does not match.
    pub is_all: bool,
}

/// Reads all chunks of a dataset, and tells which cannot be read.
///
/// # Errors
/// The caller canceled, or the system refused to read.
pub fn damaged_chunks(dataset: &Dataset, how: &Execution) -> Result<DamagedChunks> {
    let Some(lost) = lost_of(dataset, &compared(how))? else {
        return Ok(DamagedChunks::default());
    };
    let coordinates = lost.chunks.into_iter().map(|linear| dataset.grid.coord_of(linear));
    Ok(DamagedChunks { coordinates: coordinates.collect(), is_all: lost.is_all })
}

/// How elements are read so that all are compared with their checksums, unless the caller wants none.
fn compared(how: &Execution) -> Execution {
    let digests = match how.digests {
        DigestPolicy::Never => DigestPolicy::Never,
        // Large chunks are read in parts, which have no checksums of their own.
        _ => DigestPolicy::Always,
    };
    Execution { digests, ..how.silent() }
}

/// The chunks of a dataset that cannot be read, if any.
fn lost_of(dataset: &Dataset, how: &Execution) -> Result<Option<Lost>> {
    let all = |why: String| Ok(Some(Lost { chunks: Vec::new(), is_all: true, why }));
    if let Some(fault) = dataset.why() {
        return if is_lost(dataset) { all(reason(fault)) } else { Ok(None) };
    }
    if damage_of(read(dataset, &Hyperslab::whole(dataset.shape()), how))?.is_none() {
        return Ok(None);
    }
    if let Some(why) = damage_of(dataset.check_seal(how).map_err(Error::from))? {
        return all(why);
    }
    let count = dataset.grid.chunk_count();
    let (mut chunks, mut first) = (Vec::new(), None);
    for linear in numbers_of_chunks(dataset)? {
        let Some(slab) = Hyperslab::of_chunk(&dataset.grid, linear) else { continue };
        if let Some(why) = damage_of(read(dataset, &slab, how))? {
            chunks.push(linear);
            first.get_or_insert(why);
        }
    }
    let is_all = u64::try_from(chunks.len()) == Ok(count);
    Ok(first.map(|why| Lost { chunks, is_all, why }))
}

/// The numbers of the chunks that may be damaged, in their order: of very many those that are stored, where the table lists
/// them.
pub(crate) fn numbers_of_chunks(dataset: &Dataset) -> Result<Box<dyn Iterator<Item = u64>>> {
    let count = dataset.grid.chunk_count();
    dataset.check_chunk_count(count)?;
    let mut stored = Vec::new();
    let mut take = |linear: u64| -> tet_query::Result<bool> {
        stored.push(linear);
        Ok(true)
    };
    let is_many = COUNT_MAX < count && !dataset.is_text();
    // A damaged index lists none: each chunk is looked up.
    if !is_many || !matches!(dataset.chunks.each_stored(&mut take), Ok(true)) {
        return Ok(Box::new(0..count));
    }
    stored.sort_unstable();
    stored.dedup();
    Ok(Box::new(stored.into_iter()))
}

/// Reads elements, and compares them with their checksums.
fn read(dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<()> {
    if dataset.is_text() {
        return dataset
            .for_texts(slab, how, &mut |_| Ok::<(), QueryError>(()))
            .map_err(Error::from);
    }
    stream::for_each(&LazyArray::values(dataset, slab)?, how, &mut |_| Ok(()))
}

/// Why something cannot be read, if the file is to blame; `None` where it can, or another error will say why not.
///
/// # Errors
/// The caller canceled, or the system refused to read.
fn damage_of<T>(outcome: Result<T>) -> Result<Option<String>> {
    match outcome {
        Ok(_) => Ok(None),
        Err(Error::Query(fault)) if is_damage(&fault) => Ok(Some(reason(&fault))),
        Err(error @ (Error::Canceled | Error::Query(QueryError::Canceled))) => Err(error),
        Err(error) if error.kind() == tet_io::Kind::Io => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether an error is of a file that is damaged, or of one that is missing.
fn is_damage(error: &QueryError) -> bool {
    match error {
        QueryError::Unreadable { cause, .. } => is_damage(cause),
        QueryError::InFile { fault, .. } => is_damage(fault),
        QueryError::Io(error) => super::chunk_check::is_no_file(error),
        error => error.kind() == tet_io::Kind::Format && !error.is_unsupported(),
    }
}

/// Whether nothing of a dataset can be read, because its file is damaged.
pub fn is_lost(dataset: &Dataset) -> bool {
    dataset.why().is_some_and(is_damage)
}

/// An error without the names of the dataset and the chunk, which the text around it has.
fn reason(error: &QueryError) -> String {
    match error {
        QueryError::Unreadable { cause, .. } => reason(cause),
        QueryError::InFile { fault, .. } => reason(fault),
        QueryError::Codec { at, fault, .. } => format!("byte {at}: {fault}"),
        QueryError::Chunk { fault, .. } if fault.rule == tet_format::Rule::ChunkDigest => {
            format!("its checksum does not match, byte {}", fault.at)
        }
        QueryError::Chunk { fault, .. } | QueryError::Dataset { fault, .. } => fault.to_string(),
        QueryError::Foreign { fault, .. } => fault.to_string(),
        QueryError::Shard { shard, fault, .. } => format!("in {shard:?}: {fault}"),
        other => other.to_string(),
    }
}

/// The element that is a missing value of a dataset, and how a note names it: that of an attribute, which the caller or
/// the dataset sets, else NaN.
fn missing(dataset: &Dataset, options: &ImportOptions) -> Option<(Vec<u8>, String)> {
    let dtype = dataset.dtype.filter(|_| !dataset.is_text() && dataset.blocks().is_none())?;
    let mut given = given(&dataset.name, 0, options).attrs;
    let given = given.remove(FILL_KEY).map(|value| AttrText::Json(value.as_str().to_owned()));
    let given = given.as_ref().map(|attr| (FILL_KEY, attr));
    let own = [FILL_KEY, "missing_value"].into_iter();
    let own = own.filter_map(|key| Some((key, dataset.attrs.get(key)?)));
    let of_attribute = given.into_iter().chain(own).find_map(|(key, attr)| {
        let (values, _) = numbers(attr)?;
        let value = values.first()?;
        Some((le_bytes(dtype, value)?, format!("{key} = {value}")))
    });
    let nan = || {
        let (float, count) = match dtype {
            DType::Complex64 => (DType::Float32, 2),
            DType::Complex128 => (DType::Float64, 2),
            dtype => (dtype, 1),
        };
        let nan = le_bytes(float, &serde_json::Value::from("NaN"))?;
        Some((nan.repeat(count), "NaN".to_owned()))
    };
    of_attribute.or_else(nan)
}

/// The note on a dataset that has no missing value, with what writes more of it.
fn without_missing(dataset: &Dataset, lost: &Lost) -> Note {
    let (name, boxes) = (&dataset.name, boxes(dataset, lost.chunks.iter().copied()));
    let mut ways = Vec::new();
    let is_number = dataset.dtype.is_some_and(|it| it.is_integer());
    if is_number && dataset.blocks().is_none() {
        ways.push(format!("--dtype '{name}=float64' makes them NaN"));
        ways.push(format!("--attr '{name}:_FillValue=VALUE' makes them VALUE"));
    }
    let rest = outside(dataset, &boxes);
    if !rest.is_empty() {
        let rest: Vec<String> = rest.iter().map(|it| format!("-s '{it}'")).collect();
        ways.push(format!("{} selects what can be read", rest.join(" or ")));
    }
    Note::Damaged {
        dataset: name.clone(),
        positions: text(dataset, &boxes),
        share: ways.join("; "),
        why: format!(
            "{}, and {} without _FillValue has no missing value",
            lost.why, dataset.dtype_name
        ),
        value: None,
    }
}
