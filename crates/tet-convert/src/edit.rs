//! Edits of a file of any container: names to datasets, and edits to the editor of its container.
//!
//! ```text
//!   names and patterns --> FileEdit of datasets by position --> the Editor of the container --> the new file
//! ```

mod followers;
pub(crate) mod report;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tet_io::Output;
use tet_query::{AttrText, Catalog, Dataset, Execution};

use crate::container::{
    EditKind, EditOptions, Editor, FileEdit, container, containers, has_same_names,
};
use crate::convert::{label_texts, of_range};
pub use crate::edit::followers::with_followers;
use crate::edit::report::EditReport;
use crate::{Error, Note, Result};
use tet_container::model::attribute_types::{TYPES_KEY, note};
use tet_container::model::axes::axis;
pub use tet_container::model::renaming::datasets_named;
use tet_container::model::renaming::new_names;
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::options::{AxisLabels, DimNames, LabelSource};

/// Writes an edited copy of a file, complete or not at all, and returns its length.
///
/// # Errors
/// The container has no editor for one of the edits, two datasets would have one name, the file is damaged,
/// or the new file cannot be written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{FileEdit, EditOptions, datasets_named, edit, open};
/// use tet_io::Output;
///
/// let opened = open("climate.tet", &Default::default())?;
/// let drop = |dataset| FileEdit::Drop { dataset };
/// let edits: Vec<FileEdit> = datasets_named(&opened.catalog, "debug/*")?.into_iter().map(drop).collect();
/// edit(&opened, &edits, Output::InPlace("climate.tet".as_ref()), &EditOptions::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn edit(
    opened: &Opened,
    edits: &[FileEdit],
    output: Output<'_>,
    options: &EditOptions,
) -> Result<u64> {
    opened.check_complete()?;
    let editor = editor_for(opened, edits)?;
    check_names(opened, edits)?;
    let mut edits = with_followers(opened, edits.to_vec());
    edits.extend(notes(opened, &edits));
    editor.edit(opened, &edits, output, options)
}

/// The edits of the notes on the types of attributes that others set or remove: the new values have no type.
fn notes(opened: &Opened, edits: &[FileEdit]) -> Vec<FileEdit> {
    let path = path_of(opened.catalog.source());
    let types = container(opened.format).and_then(|it| it.writer()).map(|it| it.attr_types(&path));
    let Some(types) = types else { return Vec::new() };
    let mut changed: BTreeMap<Option<usize>, BTreeMap<String, AttrText>> = BTreeMap::new();
    let attrs_of = |target: Option<usize>| match target {
        None => opened.catalog.attrs().clone(),
        Some(at) => {
            opened.catalog.datasets().get(at).map(|it| it.attrs.clone()).unwrap_or_default()
        }
    };
    for edit in edits {
        if let FileEdit::Attr { dataset, key, value } = edit {
            let attrs = changed.entry(*dataset).or_insert_with(|| attrs_of(*dataset));
            match value {
                Some(value) => drop(attrs.insert(key.clone(), value.clone())),
                None => drop(attrs.remove(key)),
            }
        }
    }
    let of = |at: Option<usize>| opened.catalog.datasets().get(at?)?.dtype;
    let note_of = |target, attrs: &_| note(attrs, of(target), types);
    let edit = |(dataset, attrs): (Option<usize>, BTreeMap<String, AttrText>)| {
        let new = note_of(dataset, &attrs);
        let is_changed = note_of(dataset, &attrs_of(dataset)) != new;
        let key = TYPES_KEY.to_owned();
        is_changed.then_some(FileEdit::Attr { dataset, key, value: new })
    };
    changed.into_iter().filter_map(edit).collect()
}

/// Checks that a file can be edited so, without writing anything.
///
/// # Errors
/// As [`edit`], for what is known before the file is written.
pub fn check_edits(opened: &Opened, edits: &[FileEdit]) -> Result<()> {
    opened.check_complete()?;
    editor_for(opened, edits)?;
    check_names(opened, edits)
}

/// Datasets that edits leave as they are stored, of a file that is not yet written: all but those that are dropped.
///
/// # Errors
/// As [`check_edits`]; the file cannot be read.
pub fn kept_by(opened: &Opened, edits: &[FileEdit]) -> Result<EditReport> {
    let dropped = edits.iter().filter_map(|edit| match edit {
        FileEdit::Drop { dataset } => Some(*dataset),
        _ => None,
    });
    let (dropped, editor): (BTreeSet<usize>, _) = (dropped.collect(), editor_for(opened, edits)?);
    let mut report = EditReport::but_for(opened, editor, &dropped)?;
    report.notes.extend(followers::names_left_out(opened, &dropped));
    if editor.leaves_dropped() && !dropped.is_empty() {
        report.notes.push(Note::DroppedStay { count: dropped.len() });
    }
    Ok(report)
}

/// The edits that rename the datasets that `from` names; where it is a pattern, each `*` of `to` becomes the
/// text that the wildcard of `from` in its place stands for.
///
/// # Errors
/// As [`datasets_named`]; `from` names several datasets and `to` has another number of `*`.
pub fn renames(catalog: &Catalog, from: &str, to: &str) -> Result<Vec<FileEdit>> {
    let edit = |(dataset, to)| FileEdit::Rename { dataset, to };
    Ok(new_names(catalog, from, to)?.into_iter().map(edit).collect())
}

/// The edits that name the axes of the datasets that are asked for, or of all that have as many axes, and the
/// catalog with these names.
///
/// # Errors
/// No dataset has the name or as many axes.
pub fn redims(catalog: &Catalog, asked: &[DimNames]) -> Result<(Vec<FileEdit>, Catalog)> {
    let mut dims: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for DimNames { dataset, names } in asked {
        let positions = match dataset {
            Some(name) => datasets_named(catalog, name)?,
            None => (0..catalog.datasets().len()).collect(),
        };
        let datasets = positions.into_iter().filter_map(|at| catalog.datasets().get(at));
        let fits = |it: &&Dataset| names.is_empty() || it.shape().len() == names.len();
        let (fitting, misfits): (Vec<_>, Vec<_>) = datasets.partition(fits);
        if let (Some(misfit), true) = (misfits.first(), dataset.is_some() || fitting.is_empty()) {
            let (dataset, rank) = (misfit.name.clone(), misfit.shape().len());
            return Err(Error::DimsRank { dataset, rank, names: names.clone() });
        }
        dims.extend(fitting.into_iter().map(|it| (it.index, names.clone())));
    }
    let named = catalog.clone().viewed(|dataset| match dims.get(&dataset.index) {
        Some(names) => Dataset { dims: names.clone(), ..dataset },
        None => dataset,
    });
    let edits = dims.into_iter().map(|(dataset, names)| FileEdit::Dims { dataset, names });
    Ok((edits.collect(), named))
}

/// The edits that label an axis of the datasets that are asked for, or of all that have it.
///
/// # Errors
/// No dataset has the axis, the labels cannot be read, or are more or fewer than positions.
pub fn relabels(catalog: &Catalog, asked: &AxisLabels, how: &Execution) -> Result<Vec<FileEdit>> {
    let positions = match &asked.dataset {
        Some(name) => datasets_named(catalog, name)?,
        None => (0..catalog.datasets().len()).collect(),
    };
    let given = match &asked.from {
        LabelSource::Texts(texts) => texts.clone(),
        LabelSource::Array(array) => label_texts(catalog, array, how)?,
        LabelSource::Range(_) => Vec::new(),
    };
    // A dataset is not labeled by its own elements.
    let source = match &asked.from {
        LabelSource::Array(array) => catalog.find(array).ok().map(|it| it.index),
        LabelSource::Texts(_) | LabelSource::Range(_) => None,
    };
    let mut edits = Vec::new();
    for dataset in positions.into_iter().filter_map(|at| catalog.datasets().get(at)) {
        let axis = axis(&asked.axis, &dataset.dims, dataset.shape().len());
        let Some(axis) = axis.filter(|_| source != Some(dataset.index)) else { continue };
        let extent = dataset.shape().get(axis).copied().unwrap_or_default();
        let labels = match &asked.from {
            LabelSource::Range(range) => of_range(range, &dataset.name, &asked.axis, extent)?,
            _ => given.clone(),
        };
        if u64::try_from(labels.len()) != Ok(extent) {
            let (dataset, axis) = (dataset.name.clone(), asked.axis.clone());
            return Err(Error::LabelCount { dataset, axis, count: labels.len(), extent });
        }
        edits.push(FileEdit::Labels { dataset: dataset.index, axis, labels: Some(labels) });
    }
    if edits.is_empty() {
        return Err(Error::NoLabeledAxis { axis: asked.axis.clone() });
    }
    Ok(edits)
}

/// The editor of a file's container, which can make all these edits.
fn editor_for(opened: &Opened, edits: &[FileEdit]) -> Result<&'static dyn Editor> {
    let first = editor_of(opened, edits.first().map_or(EditKind::Rename, FileEdit::kind))?;
    edits.iter().try_fold(first, |_, edit| editor_of(opened, edit.kind()))
}

/// The editor of a file's container, which can make such edits.
pub(crate) fn editor_of(opened: &Opened, kind: EditKind) -> Result<&'static dyn Editor> {
    let editor = container(opened.format).and_then(|it| it.editor());
    let editor = editor.filter(|it| it.can().contains(&kind));
    editor.ok_or_else(|| not_editable(opened, kind))
}

/// Checks that rows can be reserved in the index of a file, if any are.
pub(crate) fn check_reserve(opened: &Opened, options: &EditOptions) -> Result<()> {
    if options.reserved_rows == 0 { Ok(()) } else { editor_of(opened, EditKind::Reserve).map(drop) }
}

/// The error for a file that cannot be edited so.
pub(crate) fn not_editable(opened: &Opened, kind: EditKind) -> Error {
    let (path, format) = (path_of(opened.catalog.source()), opened.format);
    Error::NotEditable { path, format, kind, suffixes: editable(kind) }
}

/// The suffixes of containers of which this can be edited: `.tet, .zt or .npz`.
fn editable(kind: EditKind) -> String {
    let can = |it: &&dyn crate::Container| it.editor().is_some_and(|it| it.can().contains(&kind));
    let usual = containers().into_iter().filter(can).flat_map(|it| it.usual_suffixes());
    let mut suffixes: Vec<String> = usual.map(|suffix| format!(".{suffix}")).collect();
    let last = suffixes.pop().unwrap_or_default();
    if suffixes.is_empty() { last } else { format!("{} or {last}", suffixes.join(", ")) }
}

/// Checks that the datasets are there, and that no two have one name that had different ones.
fn check_names(opened: &Opened, edits: &[FileEdit]) -> Result<()> {
    let datasets = opened.catalog.datasets();
    let mut names: Vec<Option<&str>> = datasets.iter().map(|it| Some(it.name.as_str())).collect();
    for edit in edits {
        let at = match edit {
            FileEdit::Rename { dataset, .. }
            | FileEdit::Drop { dataset }
            | FileEdit::Dims { dataset, .. }
            | FileEdit::Labels { dataset, .. }
            | FileEdit::Attr { dataset: Some(dataset), .. } => *dataset,
            FileEdit::Attr { dataset: None, .. } | FileEdit::Compact => continue,
        };
        let Some(name) = names.get_mut(at) else {
            let what = format!("it has no dataset #{at}");
            return Err(tet_file::Error::Edit { what }.into());
        };
        match edit {
            FileEdit::Rename { to, .. } => *name = Some(to),
            FileEdit::Drop { .. } => *name = None,
            _ => {}
        }
    }
    if has_same_names(opened.format) {
        return Ok(());
    }
    let mut taken = HashMap::new();
    for (dataset, name) in datasets.iter().zip(names) {
        let Some(name) = name else { continue };
        if let Some(first) = taken.insert(name, &dataset.name)
            && (first != name || dataset.name != name)
        {
            let (first, second) = (first.clone(), dataset.name.clone());
            return Err(Error::Collision { first, second, member: name.to_owned() });
        }
    }
    Ok(())
}
