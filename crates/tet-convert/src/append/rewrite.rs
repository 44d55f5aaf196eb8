//! Growth of files whose datasets are written anew: the elements of the file and of the inputs as one dataset.

use std::sync::Arc;

use tet_io::Output;
use tet_query::{Computed, Dataset, Elements, Execution, LazyArray};

use super::Request;
use super::growing::Growing;
use super::order::unfit;
use crate::Result;
use crate::container::{Editor, Rewrite, RewriteOptions, Rewritten};
use tet_container::model::logical::{byte_len, to_physical};
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::storage::Storage;
use tet_container::write::stream;

/// Writes a file whose datasets grew, unless it is only planned.
pub(super) fn rewritten(
    opened: &Opened,
    editor: &dyn Editor,
    growing: &[Growing<'_>],
    request: &Request<'_>,
) -> Result<Option<Rewritten>> {
    let Request { asked, options, how, .. } = *request;
    let views = growing.iter().map(|it| view(it, asked.axis, how));
    let views = views.collect::<Result<Vec<Dataset>>>()?;
    let rewrites = views.iter().map(|view| Rewrite {
        dataset: view.index,
        view: Some(view),
        storage: Storage::default(),
    });
    let rewrites: Vec<Rewrite<'_>> = rewrites.collect();
    let mut edit = options.clone();
    edit.publish.inputs.extend(request.stamps());
    let file = path_of(opened.catalog.source());
    let output = asked.output.map_or(Output::InPlace(&file), Output::NewFile);
    let lens = views.iter().map(byte_len).fold(0, u64::saturating_add);
    let execution = &how.begin(lens);
    let how = RewriteOptions { edit: &edit, execution };
    let rewritten = editor.rewrite(opened, &rewrites, output, how)?;
    Ok(rewritten.map(|it| it.with_unchecked(opened, &rewrites)))
}

/// A dataset with all its elements and labels.
fn view(growing: &Growing<'_>, axis: &str, how: &Execution) -> Result<Dataset> {
    let Growing { dataset, axis: number, parts } = growing;
    let others = parts.iter().map(|part| elements(part.dataset)).collect::<Result<Vec<_>>>()?;
    let elements = Elements::along(*number, elements(dataset)?, others);
    let misfit =
        || unfit(format!("{:?} would be too long, or is stored in another way", dataset.name));
    let grown = Computed::new(elements.ok_or_else(misfit)?, how).dataset(dataset.name.clone());
    let mut coords = dataset.coords.clone();
    if let Some(labels) = coords.get_mut(number) {
        let more = growing.more_labels(axis, labels)?;
        labels.extend(more);
    }
    let (dims, attrs) = (dataset.dims.clone(), dataset.attrs.clone());
    Ok(Dataset { index: dataset.index, dims, coords, attrs, ..grown })
}

/// All elements of a dataset, or their bits where nothing computes with them.
fn elements(dataset: &Dataset) -> Result<Arc<LazyArray>> {
    let name = &dataset.name;
    if dataset.is_text() {
        let what = "is text, which does not grow: name those that grow with --dataset";
        return Err(unfit(format!("{name:?} {what}")));
    }
    let physical = to_physical(dataset, "such a file", |_| true)?;
    if physical.view.shape() != dataset.shape() {
        let what = "has elements that are parts of bytes, and does not grow";
        return Err(unfit(format!("{name:?} {what}")));
    }
    Ok(Arc::new(stream::whole(&physical.view)?))
}
