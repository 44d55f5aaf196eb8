//! Reads metadata from JSON.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tet_format::{Faults, Result, Rule};

use super::model::{AttrValue, DatasetMetadata, Metadata, Unknown};
use crate::footer::Value;

impl Metadata {
    /// Reads a metadata object. Members of the wrong type are reported and skipped.
    pub(crate) fn read(root: Value<'_>, faults: &mut impl Faults) -> Result<Self> {
        let mut metadata = Self::default();
        let mut extended = None;
        for (key, value) in members(root, faults)? {
            match key.as_str() {
                "file" => read_attrs(value, &mut metadata.file, faults)?,
                "datasets" => read_datasets(value, &mut metadata.datasets, faults)?,
                "tet" => extended = Some(value),
                _ => metadata.unknown.push((key, value.text().to_owned())),
            }
        }
        // Members of `tet` are added last: plain members take precedence, because a program that
        // does not support `tet` may have changed them.
        for (key, value) in extended.map_or(Ok(Vec::new()), |value| members(value, faults))? {
            match key.as_str() {
                "file" => read_attrs(value, &mut metadata.file, faults)?,
                "datasets" => read_datasets(value, &mut metadata.datasets, faults)?,
                _ => metadata.unknown_tet.push((key, value.text().to_owned())),
            }
        }
        Ok(metadata)
    }
}

fn members<'a>(value: Value<'a>, faults: &mut impl Faults) -> Result<Vec<(String, Value<'a>)>> {
    if value.text() == "null" {
        return Ok(Vec::new());
    }
    match value.members() {
        Some(members) => Ok(members),
        None => wrong(value, faults).map(|()| Vec::new()),
    }
}

fn wrong(value: Value<'_>, faults: &mut impl Faults) -> Result<()> {
    crate::footer::wrong_type(Rule::JsonType, value, faults)
}

fn read_attrs(
    value: Value<'_>,
    attrs: &mut BTreeMap<String, AttrValue>,
    faults: &mut impl Faults,
) -> Result<()> {
    for (key, value) in members(value, faults)? {
        if let Entry::Vacant(place) = attrs.entry(key) {
            place.insert(match value.string() {
                Some(text) => AttrValue::Text(text),
                None => AttrValue::Json(value.text().to_owned()),
            });
        }
    }
    Ok(())
}

fn read_datasets(
    value: Value<'_>,
    datasets: &mut BTreeMap<String, DatasetMetadata>,
    faults: &mut impl Faults,
) -> Result<()> {
    for (name, value) in members(value, faults)? {
        read_dataset(value, datasets.entry(name).or_default(), faults)?;
    }
    Ok(())
}

fn read_dataset(
    value: Value<'_>,
    dataset: &mut DatasetMetadata,
    faults: &mut impl Faults,
) -> Result<()> {
    for (key, value) in members(value, faults)? {
        match key.as_str() {
            "dim_names" if value.text() == "null" => {}
            "dim_names" => match value.strings() {
                Some(names) if dataset.dim_names.is_empty() => dataset.dim_names = names,
                Some(_) => {}
                None => wrong(value, faults)?,
            },
            "coords" => {
                for (axis, value) in members(value, faults)? {
                    read_axis(axis, value, dataset, faults)?;
                }
            }
            "attrs" => read_attrs(value, &mut dataset.attrs, faults)?,
            _ => keep(&mut dataset.unknown, key, value),
        }
    }
    Ok(())
}

fn read_axis(
    axis: String,
    value: Value<'_>,
    dataset: &mut DatasetMetadata,
    faults: &mut impl Faults,
) -> Result<()> {
    let mut unknown = Unknown::new();
    for (key, value) in members(value, faults)? {
        match (key.as_str(), value.strings()) {
            ("labels", Some(labels)) => {
                dataset.coords.entry(axis.clone()).or_insert(labels);
            }
            ("labels", None) => wrong(value, faults)?,
            _ => keep(&mut unknown, key, value),
        }
    }
    if !unknown.is_empty() {
        dataset.unknown_coords.entry(axis).or_insert(unknown);
    }
    Ok(())
}

fn keep(unknown: &mut Unknown, key: String, value: Value<'_>) {
    if !unknown.iter().any(|(known, _)| *known == key) {
        unknown.push((key, value.text().to_owned()));
    }
}
