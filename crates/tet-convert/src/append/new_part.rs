//! A part that a folder grows by: the rows behind the last border of chunks, and those of the inputs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tet_file::metadata::Metadata;
use tet_file::parts::{FilePlan, RegionOptions, RegionWriter, publish};
use tet_file::write::WriteOptions;
use tet_format::write::DatasetSpec;
use tet_io::Overwrite;
use tet_query::{Computed, Dataset, Elements, Execution, Hyperslab, LazyArray};

use super::growing::{Growing, extent};
use super::order::unfit;
use super::{Request, RowWriter, codec_of, history};
use crate::Result;
use crate::container::tets::{Begun, Series};
use tet_container::write::file::folder_of;

/// A dataset in the new part.
pub(super) struct Planned<'g> {
    pub(super) growing: &'g Growing<'g>,
    /// Its first row there, in the folder: the border of chunks before its end.
    pub(super) start: u64,
    pub(super) spec: DatasetSpec,
}

impl<'g> Planned<'g> {
    /// Share of the new part in a dataset.
    pub(super) fn new(series: &Series, growing: &'g Growing<'g>) -> Result<Planned<'g>> {
        let Growing { dataset, axis, .. } = growing;
        let misfit = || unfit(format!("{:?} cannot grow", dataset.name));
        let entry = series.first.datasets().get(dataset.index).ok_or_else(misfit)?;
        let dtype = entry.dtype.ok_or_else(misfit)?;
        let chunk_shape = entry.grid.chunk_shape().clone();
        let end = extent(dataset, *axis);
        let chunk = chunk_shape.get(*axis).copied().ok_or_else(misfit)?;
        let start = end - end % chunk.max(1);
        let mut shape = entry.grid.shape().clone().into_vec();
        let rows = shape.get_mut(*axis).ok_or_else(misfit)?;
        *rows = (end - start).checked_add(growing.by()).ok_or_else(misfit)?;
        let spec =
            DatasetSpec { name: dataset.name.clone(), dtype, shape: shape.into(), chunk_shape };
        Ok(Planned { growing, start, spec })
    }
}

/// Writes the part: the rows behind the last border of chunks, and those of the inputs. Returns when its file was begun.
pub(super) fn write_part(
    series: &Series,
    planned: &[Planned<'_>],
    metadata: &Metadata,
    request: &Request<'_>,
    path: &Path,
) -> Result<Begun> {
    let Request { asked, options, how, .. } = *request;
    let folder = folder_of(path);
    let specs = planned.iter().map(|it| it.spec.clone()).collect();
    let codec = codec_of(&series.first)?;
    let plan = FilePlan::of_datasets(specs, metadata_of_part(planned, metadata), codec)?;
    let regions = RegionOptions { threads: how.threads, memory: how.memory_budget };
    let writer = RegionWriter::scratch(&folder, &plan, None, regions)?;
    for (id, Planned { growing, start, .. }) in planned.iter().enumerate() {
        let end = extent(growing.dataset, growing.axis);
        let rows = RowWriter { writer: &writer, plan: &plan, id, axis: growing.axis };
        if *start < end {
            rows.write(&kept_rows(growing, *start..end, how)?, 0, how)?;
        }
        rows.write_parts(growing, end.saturating_sub(*start), how)?;
    }
    let (progress, begun) = (how.progress.begin(0), Begun::now());
    let history = history(&[], asked, options);
    let options = write_options(series, request);
    publish(&plan, &[writer.to_part()?], None, path, &options, &history, &progress)?;
    Ok(begun)
}

/// Options by which a part is written over no file.
fn write_options(series: &Series, request: &Request<'_>) -> WriteOptions {
    let inputs = request.stamps().chain(series.catalog.stamps()).collect();
    let (sync, overwrite) = (request.options.publish.sync, Overwrite::Refuse);
    WriteOptions { sync, overwrite, inputs, ..WriteOptions::default() }
}

/// Rows that the folder has, for the beginning of the new part.
fn kept_rows(growing: &Growing<'_>, rows: Range<u64>, how: &Execution) -> Result<Dataset> {
    let Growing { dataset, axis, .. } = growing;
    let extents = dataset.shape().iter().map(|&extent| 0..extent);
    let mut ranges: Vec<_> = extents.collect();
    ranges[*axis] = rows;
    let slab = Hyperslab::whole(dataset.shape()).part(&ranges);
    let lazy = Arc::new(LazyArray::values(dataset, &slab)?);
    let computed = Computed::new(Elements::new(lazy), how);
    Ok(computed.dataset(dataset.name.clone()))
}

/// The metadata of the first part, with the labels of all rows.
pub(super) fn metadata_of(series: &Series, growing: &[Growing<'_>]) -> Metadata {
    let mut metadata = series.first.metadata().clone();
    for Growing { dataset, axis, .. } in growing {
        let Some(about) = metadata.datasets.get_mut(&dataset.name) else { continue };
        let rank = dataset.shape().len();
        let keys = about.coords.keys().filter(|key| about.axis(key, rank) == Some(*axis));
        for key in keys.cloned().collect::<Vec<String>>() {
            about.coords.insert(key, dataset.coords.get(axis).cloned().unwrap_or_default());
        }
    }
    metadata
}

/// The metadata of the datasets of a part, with the labels of its rows; those of other axes are in the first part.
fn metadata_of_part(planned: &[Planned<'_>], all: &Metadata) -> Metadata {
    let mut metadata = Metadata::new();
    for Planned { growing, start, .. } in planned {
        let Growing { dataset, axis, .. } = growing;
        let Some(mut about) = all.datasets.get(&dataset.name).cloned() else { continue };
        let rank = dataset.shape().len();
        let start = usize::try_from(*start).unwrap_or(usize::MAX);
        let coords = std::mem::take(&mut about.coords).into_iter();
        let coords = coords.filter(|(key, _)| about.axis(key, rank) == Some(*axis));
        let coords = coords.map(|(key, labels)| (key, labels.into_iter().skip(start).collect()));
        let coords: BTreeMap<String, Vec<String>> = coords.collect();
        about.coords = coords;
        metadata.datasets.insert(dataset.name.clone(), about);
    }
    metadata
}
