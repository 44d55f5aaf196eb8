//! The datasets of several files one behind the other, along an axis: one catalog, which is written as any other.
//!
//! ```text
//!   a.nc: t (time=2, lat)   b.nc: t (time=3, lat)   ->   t (time=5, lat)
//! ```
//!
//! Nothing is copied: elements and texts are read as they are written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tet_format::Grid;
use tet_query::{Computed, Dataset, Elements, Execution, Hyperslab, TextChunks, Texts};

use crate::append::{AxisAppend, GIVE_IN_ORDER, Growing, check_fixed, growing, unfit};
use crate::open::OpenedFile;
use crate::stack::bits;
use crate::{Error, Result};
use tet_container::model::logical::{CHAR, to_logical, to_physical};
use tet_container::read::opened::Opened;
use tet_container::read::slabs::{grid_of_one, unread};
use tet_container::write::{stream, texts};

/// Several opened files as one, which has the datasets of the first, grown along an axis.
///
/// # Errors
/// As [`concat`].
pub(crate) fn joined_files(
    mut files: Vec<(PathBuf, Opened)>,
    axis: &str,
    how: &Execution,
) -> Result<Opened> {
    let others = files.split_off(1);
    let Some((path, first)) = files.pop() else {
        return Err(Error::NoDatasets { encoding: "several files" });
    };
    let others = OpenedFile::all(&others);
    let asked = AxisAppend { axis, ..AxisAppend::default() };
    let growing = growing(&first, &asked, &others).map_err(of_joining)?;
    let file = OpenedFile { path: &path, opened: &first };
    check_fixed(file, &growing, &asked, &others, how).map_err(of_joining)?;
    let mut joined = BTreeMap::new();
    let mut gaps = Vec::new();
    for it in &growing {
        let part = it.check_coordinates(&path, axis, GIVE_IN_ORDER, how).and_then(|notes| {
            gaps.extend(notes);
            of_parts(it, axis, how)
        });
        joined.insert(it.dataset.index, part.map_err(of_joining)?);
    }
    let sources = others.iter().flat_map(|OpenedFile { opened: it, .. }| {
        std::iter::once(it.catalog.source()).chain(it.catalog.shards()).cloned()
    });
    let sources = first.catalog.shards().iter().cloned().chain(sources).collect();
    let notes = others.iter().flat_map(|it| it.opened.notes.iter().cloned());
    let notes = first.notes.iter().cloned().chain(notes).chain(gaps).collect();
    let catalog = first.catalog.clone().with_shards(sources);
    let catalog = catalog.viewed(|dataset| joined.remove(&dataset.index).unwrap_or(dataset));
    Ok(Opened { catalog, notes, tet: None, ..first })
}

/// The error of files that do not go together: no file is edited.
fn of_joining(error: Error) -> Error {
    match error {
        Error::File(tet_file::Error::Edit { what }) => Error::Refs { what },
        other => other,
    }
}

/// A dataset with what all files have of it.
fn of_parts(growing: &Growing<'_>, axis: &str, how: &Execution) -> Result<Dataset> {
    let Growing { dataset, axis: number, .. } = growing;
    let is_text = dataset.is_text();
    let parts: Vec<&Dataset> =
        std::iter::once(*dataset).chain(growing.parts.iter().map(|part| part.dataset)).collect();
    let joined = match &dataset.text {
        Some(Texts::Elements { bytes, elements }) if bytes.dtype_name == CHAR => {
            let stored: Vec<&Dataset> = parts.iter().map(|it| it.stored()).collect();
            match of_numbers(&stored, *number, how) {
                Ok(joined) => Dataset::of_texts(
                    Dataset { dims: bytes.dims.clone(), dtype_name: CHAR.to_owned(), ..joined },
                    Arc::clone(elements),
                ),
                Err(_) => of_texts(&parts, *number, how)?,
            }
        }
        _ if is_text => of_texts(&parts, *number, how)?,
        _ => of_numbers(&parts, *number, how)?,
    };
    let mut coords = dataset.coords.clone();
    if let Some(labels) = coords.get_mut(number) {
        let more = growing.more_labels(axis, labels)?;
        labels.extend(more);
    }
    let mut attrs = dataset.attrs.clone();
    if !is_text {
        attrs.extend(bits(dataset)?);
    }
    let dims = if dataset.dims.is_empty() {
        parts.iter().map(|it| &it.dims).find(|dims| !dims.is_empty()).cloned().unwrap_or_default()
    } else {
        dataset.dims.clone()
    };
    let (unlimited, fill) = (dataset.unlimited.clone(), dataset.fill.clone());
    let index = dataset.index;
    Ok(to_logical(Dataset { index, dims, coords, attrs, unlimited, fill, ..joined }))
}

/// Numbers, or their bits where nothing computes with them.
fn of_numbers(parts: &[&Dataset], axis: usize, how: &Execution) -> Result<Dataset> {
    let mut lazies = Vec::with_capacity(parts.len());
    for part in parts {
        let view = to_physical(part, "such a file", |_| true)?.view;
        if view.shape() != part.shape() {
            let what = "has elements that are parts of bytes, and does not grow";
            return Err(unfit(format!("{:?} {what}", part.name)));
        }
        lazies.push(Arc::new(stream::whole(&view)?));
    }
    let name = parts.first().map(|it| it.name.clone()).unwrap_or_default();
    let mut lazies = lazies.into_iter();
    let elements = lazies.next().and_then(|it| Elements::along(axis, it, lazies.collect()));
    let misfit = || unfit(format!("{name:?} would be too long, or is stored in another way"));
    Ok(Computed::new(elements.ok_or_else(misfit)?, how).dataset(name.clone()))
}

/// Texts of any lengths.
fn of_texts(parts: &[&Dataset], axis: usize, how: &Execution) -> Result<Dataset> {
    let first = parts.first().ok_or_else(|| unfit("no file is given".to_owned()))?;
    let too_long = || unfit(format!("{:?} would be too long", first.name));
    let mut shape = first.grid.shape().clone().into_vec();
    let extents = parts.iter().map(|it| it.shape().get(axis).copied());
    let extent = extents.into_iter().try_fold(0_u64, |all, it| all.checked_add(it?));
    *shape.get_mut(axis).ok_or_else(too_long)? = extent.ok_or_else(too_long)?;
    let chunk = first.grid.chunk_shape().iter().zip(&shape);
    let chunk: Vec<u64> = chunk.map(|(&chunk, &extent)| chunk.min(extent).max(1)).collect();
    let grid = Grid::new(shape.clone().into(), chunk.into());
    let grid = grid.unwrap_or_else(|| grid_of_one(&shape));
    let (_, nothing) = unread(&shape, None);
    let (source, name) = (first.source.clone(), first.name.clone());
    let parts = parts.iter().map(|it| (*it).clone()).collect();
    let texts = JoinedTexts { parts, axis, grid: grid.clone(), how: how.silent() };
    let outline = Dataset::unknown(source, name, "", grid, nothing);
    Ok(outline.with_text_chunks(Arc::new(texts)))
}

/// The texts of several datasets one behind the other.
struct JoinedTexts {
    parts: Vec<Dataset>,
    axis: usize,
    grid: Grid,
    how: Execution,
}

impl TextChunks for JoinedTexts {
    fn texts(&self, linear: u64, len_max: u64) -> tet_query::Result<Vec<String>> {
        let limit = || tet_query::Error::Limit { what: "texts", wanted: u64::MAX, limit: len_max };
        let coord = self.grid.coord_of(linear);
        let extents = self.grid.extents_of(&coord);
        let origin = self.grid.origin_of(&coord);
        let ranges: Vec<_> =
            origin.into_iter().zip(&extents).map(|(start, extent)| start..start + extent).collect();
        let wanted = ranges.get(self.axis).cloned().ok_or_else(limit)?;
        let inner: u64 = extents.iter().skip(self.axis + 1).product();
        let outer: u64 = extents.iter().take(self.axis).product();
        // The texts of each part, and how many come one after the other.
        let (mut pieces, mut begin) = (Vec::new(), 0_u64);
        for part in &self.parts {
            let extent = part.shape().get(self.axis).copied().unwrap_or(0);
            let (start, stop) = (wanted.start.max(begin), wanted.end.min(begin + extent));
            if start < stop {
                let mut within = ranges.clone();
                within[self.axis] = start - begin..stop - begin;
                let slab = Hyperslab::whole(part.shape()).part(&within);
                let how = Execution { memory_budget: len_max, ..self.how.clone() };
                let texts = part.read_texts(&slab, &how)?.value;
                let run = usize::try_from((stop - start) * inner).map_err(|_| limit())?;
                pieces.push((texts.into_iter(), run));
            }
            begin += extent;
        }
        let mut all = Vec::new();
        for _ in 0..outer {
            for (texts, run) in &mut pieces {
                all.extend(texts.by_ref().take(*run));
            }
        }
        let chunk = self.grid.chunk_shape();
        texts::filled(&self.parts[0], all, &extents, chunk, String::new()).map_err(|_| limit())
    }
}
