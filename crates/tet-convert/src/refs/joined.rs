//! The datasets of several files one behind the other, along an axis: their chunks in one grid.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use tet_io::shown;
use tet_query::{Dataset, Execution};

use super::chunks::{StoredChunks, located};
use super::edges::Edges;
use super::pieces::Pieces;
use crate::append::{AxisAppend, Growing, growing};
use crate::merge::{FileDataset, check_same};
use crate::open::OpenedFile;
use crate::{Error, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::read::opened::Opened;

/// Slabs of arrays in one piece, at most: the extents of files may have no divisor in common.
const SLABS_MAX: u64 = 1 << 20;

/// A dataset of the first file, with what the other files have of it behind.
#[derive(Debug)]
pub(super) struct JoinedParts<'c> {
    /// The axis along which the dataset grows.
    pub(super) axis: usize,
    /// The dataset of each file.
    pub(super) parts: Vec<FileDataset<'c>>,
}

/// The datasets that grow along the axis; the others must be the same in all files that have them.
///
/// # Errors
/// None has the axis; files do not fit each other.
pub(super) fn of_files<'c>(
    files: &[OpenedFile<'c>],
    axis: &str,
    datasets: &[String],
    how: &Execution,
) -> Result<Vec<JoinedParts<'c>>> {
    let Some((&OpenedFile { path, opened }, others)) = files.split_first() else {
        return Ok(Vec::new());
    };
    let asked = AxisAppend { axis, datasets, ..AxisAppend::default() };
    let growing = growing(opened, &asked, others).map_err(|error| match error {
        Error::File(tet_file::Error::Edit { what }) => Error::Refs { what },
        other => other,
    })?;
    let is_asked = |dataset: &Dataset| {
        datasets.is_empty() || datasets.contains(&format!("#{}", dataset.index))
    };
    let grown: BTreeSet<usize> = growing.iter().map(|it| it.dataset.index).collect();
    let by_name = |file: &'c Opened| {
        // Of several of a name, the first.
        let datasets = file.catalog.datasets().iter().rev();
        datasets.map(|it| (it.name.as_str(), it)).collect::<HashMap<_, _>>()
    };
    let named: Vec<_> = others.iter().map(|it| (it.path, by_name(it.opened))).collect();
    for dataset in opened.catalog.datasets().iter().filter(|it| is_asked(it)) {
        if grown.contains(&dataset.index) || is_metadata(dataset) || dataset.fault.is_some() {
            continue;
        }
        let one = FileDataset { path, dataset };
        for (path, named) in &named {
            if let Some(dataset) = named.get(dataset.name.as_str()) {
                check_same(one, FileDataset { path, dataset }, how)?;
            }
        }
    }
    let joined = |Growing { dataset, axis, parts }: Growing<'c>| {
        let parts = std::iter::once(FileDataset { path, dataset }).chain(parts).collect();
        JoinedParts { axis, parts }
    };
    Ok(growing.into_iter().map(joined).collect())
}

impl JoinedParts<'_> {
    /// The extents of all of it.
    pub(super) fn shape(&self) -> Option<Vec<u64>> {
        let mut shape = self.parts.first()?.dataset.shape().to_vec();
        let extents = self.parts.iter().map(|it| it.dataset.shape().get(self.axis).copied());
        let extent = extents.into_iter().try_fold(0_u64, |all, it| all.checked_add(it?))?;
        *shape.get_mut(self.axis)? = extent;
        Some(shape)
    }

    /// The labels of the axis, if it has them.
    ///
    /// # Errors
    /// Not all files have them.
    pub(super) fn labels(&self) -> Result<Option<Vec<String>>> {
        let labels = |part: &FileDataset<'_>| part.dataset.coords.get(&self.axis).cloned();
        let all: Option<Vec<_>> = self.parts.iter().map(labels).collect();
        let labeled = self.parts.iter().find(|part| labels(part).is_some());
        let bare = self.parts.iter().find(|part| labels(part).is_none());
        match labeled.zip(bare) {
            None => Ok(all.map(|labels| labels.concat())),
            Some((labeled, bare)) => {
                let (name, axis) = (&labeled.dataset.name, self.axis);
                let (path, other) = (shown(labeled.path), shown(bare.path));
                let what =
                    format!("axis {axis} of {name:?} has labels in {path}, and none in {other}");
                Err(Error::Refs { what })
            }
        }
    }

    /// The elements of all parts in row-major order; each part has elements of `size` bytes, or one item of `items`.
    pub(super) fn interleaved<T: Clone>(&self, parts: &[Vec<T>], size: usize) -> Vec<T> {
        let outer = |shape: &[u64]| shape.iter().take(self.axis).product::<u64>();
        let rows = self.parts.first().map_or(0, |part| outer(part.dataset.shape()));
        let mut all = Vec::new();
        for row in 0..usize::try_from(rows).unwrap_or(0) {
            for (elements, part) in parts.iter().zip(&self.parts) {
                let inner: u64 = part.dataset.shape().iter().skip(self.axis).product();
                let len = usize::try_from(inner).unwrap_or(0).saturating_mul(size);
                all.extend_from_slice(elements.get(row * len..(row + 1) * len).unwrap_or_default());
            }
        }
        all
    }

    /// The chunks of all parts in one grid; `views` are the parts as they are read.
    ///
    /// # Errors
    /// Those of [`super::stored_chunks`]; chunks or codecs of two files differ, or a file ends within a chunk.
    pub(super) fn chunks(
        &self,
        views: &[Dataset],
        edges: &mut Edges,
        how: &Execution,
    ) -> Result<Vec<StoredChunks>> {
        let stored = views.iter().map(|view| located(view, &how.progress));
        let mut stored = stored.collect::<Result<Vec<_>>>()?;
        let pieces: Option<Vec<Pieces>> =
            views.iter().zip(&stored).map(|(view, chunks)| Pieces::new(view, chunks)).collect();
        if let Some(pieces) = pieces {
            let extents = views.iter().filter_map(|view| view.shape().get(self.axis));
            let step = extents.copied().fold(0, gcd);
            let axis = (1 < views.len()).then_some((self.axis, step));
            let count =
                pieces.iter().map(|it| it.count(&it.slab(axis))).fold(0, u64::saturating_add);
            if axis.is_some() && SLABS_MAX < count {
                return Err(self.too_many(step, count));
            }
            let cut = stored.iter().zip(&pieces);
            stored = cut.map(|(chunks, pieces)| pieces.cut(chunks, &pieces.slab(axis))).collect();
        }
        self.widen_last(&mut stored);
        self.check(&stored)?;
        for (view, chunks) in views.iter().zip(&mut stored) {
            edges.fill(view, chunks, how)?;
        }
        Ok(stored)
    }

    /// A last file that is shorter than a chunk has shorter ones, which are to be filled.
    fn widen_last(&self, stored: &mut [StoredChunks]) {
        let [first, .., last] = stored else { return };
        let step = first.chunk_shape.get(self.axis).copied().unwrap_or(0);
        let is_one = last.counts.get(self.axis).is_some_and(|count| *count <= 1);
        if let Some(extent) = last.chunk_shape.get_mut(self.axis)
            && is_one
            && *extent < step
        {
            *extent = step;
            let places = (0_u64..).zip(&last.file);
            let stored = places.filter(|(_, file)| **file != StoredChunks::ABSENT);
            last.clipped = stored.map(|(linear, _)| linear).collect();
        }
    }

    fn too_many(&self, step: u64, count: u64) -> Error {
        let name = self.parts.first().map(|part| part.dataset.name.as_str()).unwrap_or_default();
        let axis = self.axis;
        let what = format!(
            "{name:?}: the extents of the files along axis {axis} have no larger divisor in common than {step}, which \
             makes {count} chunks"
        );
        Error::Refs { what }
    }

    /// Checks that the chunks of all files are in one grid.
    fn check(&self, stored: &[StoredChunks]) -> Result<()> {
        let (Some(first), Some(part)) = (stored.first(), self.parts.first()) else {
            return Ok(());
        };
        let refused = |what: String, path: &Path| {
            let (name, first, path) = (&part.dataset.name, shown(part.path), shown(path));
            Err(Error::Refs { what: format!("{name:?} of {first} and {path}: {what}") })
        };
        for (chunks, &FileDataset { path, .. }) in stored.iter().zip(&self.parts) {
            if chunks.chunk_shape != first.chunk_shape {
                let (first, other) = (&first.chunk_shape, &chunks.chunk_shape);
                return refused(
                    format!("their chunks have the shapes {first:?} and {other:?}"),
                    path,
                );
            }
            if chunks.pipeline != first.pipeline {
                return refused(
                    "their chunks have different codecs or byte orders".to_owned(),
                    path,
                );
            }
        }
        let step = first.chunk_shape.get(self.axis).copied().unwrap_or(1).max(1);
        for pair in self.parts.windows(2) {
            let [part, next] = pair else { continue };
            let extent = part.dataset.shape().get(self.axis).copied().unwrap_or(0);
            if !extent.is_multiple_of(step) {
                let (name, file, next) = (&part.dataset.name, shown(part.path), shown(next.path));
                let axis = self.axis;
                let what = format!(
                    "{name:?} of {file} ends within a chunk: {extent} positions along axis {axis} are no multiple of \
                     {step}, and {next} begins there"
                );
                return Err(Error::Refs { what });
            }
        }
        Ok(())
    }

    /// The chunks of several files as those of one array.
    pub(super) fn join(&self, parts: Vec<StoredChunks>) -> StoredChunks {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return StoredChunks::default() };
        let rest: Vec<StoredChunks> = parts.collect();
        if rest.is_empty() {
            return first;
        }
        let outer: u64 = first.counts.iter().take(self.axis).product();
        let mut joined = StoredChunks {
            chunk_shape: first.chunk_shape.clone(),
            counts: first.counts.clone(),
            pipeline: first.pipeline.clone(),
            ..StoredChunks::default()
        };
        let all: Vec<StoredChunks> = std::iter::once(first).chain(rest).collect();
        let along = all.iter().filter_map(|it| it.counts.get(self.axis)).sum();
        if let Some(count) = joined.counts.get_mut(self.axis) {
            *count = along;
        }
        let mut file_starts = Vec::new();
        for part in &all {
            file_starts.push(u32::try_from(joined.files.len()).unwrap_or(u32::MAX - 1));
            joined.files.extend(part.files.iter().cloned());
        }
        for row in 0..outer {
            for (part, file_start) in all.iter().zip(&file_starts) {
                let inner: u64 = part.counts.iter().skip(self.axis).product();
                for linear in row * inner..(row + 1) * inner {
                    joined.take(part, linear, *file_start);
                }
            }
        }
        joined
    }
}

impl StoredChunks {
    /// Appends a chunk of another array.
    fn take(&mut self, part: &StoredChunks, linear: u64, file_start: u32) {
        let at = usize::try_from(linear).unwrap_or(usize::MAX);
        let new = u64::try_from(self.file.len()).unwrap_or(u64::MAX);
        let file = part.file.get(at).copied().unwrap_or(Self::ABSENT);
        let is_stored = file != Self::ABSENT;
        self.file.push(if is_stored { file.saturating_add(file_start) } else { file });
        self.offset.push(part.offset.get(at).copied().unwrap_or(0));
        self.len.push(part.len.get(at).copied().unwrap_or(0));
        if let Some(bytes) = part.inlined.get(&linear) {
            self.inlined.insert(new, bytes.clone());
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
