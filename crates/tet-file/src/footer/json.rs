//! The content of the footer JSON, read and written.

use tet_format::footer::{Spill, Spills};
use tet_format::{Faults, Result, Rule};

use super::Value;
use super::value::wrong_type;
use crate::metadata::{HistoryRow, Metadata, Unknown};

/// The footer's JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FooterJson {
    /// The history of the file.
    pub history: Vec<HistoryRow>,
    /// Inline metadata.
    pub metadata: Option<Metadata>,
    /// The positions of the spills.
    pub spills: Spills,
    /// Unknown members, unchanged.
    pub unknown: Unknown,
}

impl FooterJson {
    /// Reads the JSON. Members of the wrong type are reported and skipped.
    pub(crate) fn read(root: Value<'_>, faults: &mut impl Faults) -> Result<Self> {
        let mut json = Self::default();
        for (key, value) in root.members().unwrap_or_default() {
            match key.as_str() {
                "history" => json.history = HistoryRow::read_all(value, faults)?,
                "metadata" if value.text() == "null" => {}
                "metadata" if value.members().is_some() => {
                    json.metadata = Some(Metadata::read(value, faults)?);
                }
                "metadata" => wrong_type(Rule::JsonType, value, faults)?,
                "metadata_ref" => json.spills.metadata = spill(value, faults)?,
                "zone_maps_ref" => json.spills.zone_maps = spill(value, faults)?,
                "secondary_index_ref" => json.spills.secondary_index = spill(value, faults)?,
                // Read later, together with the bytes of the JSON, which it covers.
                "integrity" => {}
                _ => json.unknown.push((key, value.text().to_owned())),
            }
        }
        Ok(json)
    }
}

fn spill(value: Value<'_>, faults: &mut impl Faults) -> Result<Option<Spill>> {
    if value.text() == "null" {
        return Ok(None);
    }
    match value.spill() {
        Some(spill) => Ok(Some(spill)),
        None => wrong_type(Rule::SpillRef, value, faults).map(|()| None),
    }
}
