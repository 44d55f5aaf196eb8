//! What the footer's JSON says, read and written.

use tet_format::footer::{Spill, Spills};
use tet_format::{Faults, Result, Rule};

use super::Value;
use super::value::wrong_type;
use crate::metadata::{HistoryRow, Metadata, Unknown};

/// The footer's JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FooterJson {
    /// Where the file comes from.
    pub history: Vec<HistoryRow>,
    /// Metadata that stands in the JSON itself.
    pub metadata: Option<Metadata>,
    /// Where the JSON says that spills lie.
    pub spills: Spills,
    /// Members we do not know, as they stand.
    pub unknown: Unknown,
}

impl FooterJson {
    /// Reads the JSON. Members of the wrong type are reported and left out.
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
                // Read with the JSON's own bytes, which it is about.
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
