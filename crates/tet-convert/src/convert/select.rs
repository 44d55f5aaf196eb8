//! A part of a file: each dataset that has an axis of a selection, selected along it.

use std::collections::BTreeMap;

use tet_query::{
    AxisRef, Catalog, CatalogLabels, Dataset, Error as QueryError, Hyperslab, Selection,
    SelectionForm, TakenAxes, find_axis,
};

use super::choice::{chosen, chosen_with_associated};
use crate::container::Capabilities;
use crate::{Error, Note, Result, ResultCatalog, ResultOptions};
use tet_container::model::attributes::is_metadata;
use tet_container::model::axes::names_of;
use tet_container::write::conversion::ConvertOptions;

/// The catalog whose chosen datasets are selected, and what they are computed of.
///
/// Names of axes select in all datasets that have them; a selection without names is for one dataset.
///
/// # Errors
/// The text is no selection, names an axis that no dataset has, or does not fit a dataset.
pub(super) fn selected(
    catalog: Catalog,
    text: &str,
    options: &ConvertOptions,
    can: Capabilities,
    notes: &mut Vec<Note>,
) -> Result<(Catalog, Vec<ResultCatalog>)> {
    let selection = Selection::parse(text).map_err(tet_query::Error::from)?;
    let asked = requests(&catalog, selection, options, can)?;
    let how = ResultOptions { execution: options.execution.silent(), ..ResultOptions::default() };
    let (mut replaced, mut results) = (BTreeMap::new(), Vec::new());
    let (mut taken, mut slabs) = (TakenAxes::default(), Vec::new());
    // Labels that datasets have themselves, of axes of which one position is selected.
    let mut singles = BTreeMap::new();
    for (dataset, selection) in
        asked.into_iter().filter(|(it, _)| it.why().is_none() && !is_metadata(it))
    {
        let view = named(dataset.clone());
        let labels = CatalogLabels::new(&catalog, &view, &how.execution);
        let positions = selection.positions(view.shape(), &view.dims, &labels)?;
        for note in selection.notes(&view, &labels, &positions)? {
            if note.is_warning() && !options.allow_empty {
                return Err(Error::EmptySelection { dataset: view.name, note });
            }
            let note = Note::Selection(note);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        slabs.push((dataset.index, taken.add(&catalog, &view, &positions)?));
    }
    let catalog = if taken.is_empty() {
        catalog
    } else {
        let parts = catalog.parts().iter().cloned().map(named).collect();
        taken.catalog(&catalog.viewed(named).with_parts(parts), &how.execution)?
    };
    for (index, slab) in slabs {
        let Some(dataset) = catalog.at(index) else { continue };
        let view = named(dataset.clone());
        let result = ResultCatalog::of_selection(&catalog, &view, &slab, &how)?;
        notes.extend(result.notes.iter().cloned());
        let [selected, associated @ ..] = result.catalog().datasets() else { continue };
        let selected = Dataset { index, ..selected.clone() };
        replaced.insert(index, with_own_labels(selected, &view, &slab));
        // Those that are selected on their own are so again.
        for part in associated {
            if let Some(of) = catalog.only_named(&part.name) {
                let part = Dataset { index: of.index, ..part.clone() };
                replaced.entry(of.index).or_insert(part);
            } else if part.is_text() && part.shape().is_empty() {
                singles.entry(part.name.clone()).or_insert_with(|| part.clone());
            }
        }
        results.push(result);
    }
    let mut place = |dataset: Dataset| replaced.remove(&dataset.index).unwrap_or(dataset);
    let parts = catalog.parts().iter().cloned().map(&mut place).collect();
    let catalog = catalog.viewed(place).with_more(singles.into_values()).with_parts(parts);
    Ok((catalog, results))
}

/// A selected dataset without the labels that a dataset of texts has, which is written itself.
fn with_own_labels(mut selected: Dataset, of: &Dataset, slab: &Hyperslab) -> Dataset {
    let axes = slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
    let axes: Vec<usize> = axes.map(|(axis, _)| axis).collect();
    let is_own = |axis: usize| axes.get(axis).is_some_and(|axis| of.coords.contains_key(axis));
    selected.coords.retain(|axis, _| is_own(*axis));
    selected
}

/// The datasets that a selection is of, each with the entries of the axes that it has.
fn requests<'c>(
    catalog: &'c Catalog,
    selection: Selection,
    options: &ConvertOptions,
    can: Capabilities,
) -> Result<Vec<(&'c Dataset, Selection)>> {
    let datasets = chosen(catalog, &options.tet.include, &options.tet.exclude)?;
    let with_associated = chosen_with_associated(catalog, &options.tet, can)?;
    let mut asked: Vec<(&'c Dataset, Selection)> = Vec::new();
    match &selection.form {
        SelectionForm::Named(entries) if entries.iter().all(|(axis, _)| is_name(axis)) => {
            let mut found = vec![false; entries.len()];
            for dataset in with_associated.into_iter().chain(catalog.parts()) {
                let dims = names_of(dataset);
                let has = |axis: &AxisRef| find_axis(axis, &dims, dims.len()).is_ok();
                found.iter_mut().zip(entries).for_each(|(found, (axis, _))| *found |= has(axis));
                let own: Vec<_> = entries.iter().filter(|(axis, _)| has(axis)).cloned().collect();
                if !own.is_empty() {
                    asked.push((dataset, Selection { form: SelectionForm::Named(own) }));
                }
            }
            // The dataset with the most axes tells which there are.
            if let Some(of) =
                datasets.iter().max_by_key(|it| it.dims.len()).filter(|_| found.contains(&false))
            {
                let labels = CatalogLabels::new(catalog, of, &options.execution.silent());
                selection.positions(of.shape(), &of.dims, &labels)?;
            }
        }
        _ => match &datasets[..] {
            [dataset] => {
                let members = match dataset.why() {
                    Some(QueryError::Compound { members, .. }) => &members[..],
                    _ => &[],
                };
                let members = members.iter().filter_map(|name| catalog.part(name));
                let all = members.chain([*dataset]);
                asked.extend(all.map(|it| (it, selection.clone())));
            }
            all => return Err(Error::SelectsInOne { count: all.len() }),
        },
    }
    Ok(asked)
}

/// The dataset with all names of its axes.
fn named(dataset: Dataset) -> Dataset {
    Dataset { dims: names_of(&dataset), ..dataset }
}

fn is_name(axis: &AxisRef) -> bool {
    matches!(axis, AxisRef::Name(_))
}
