//! History rows: how a file was made.

use std::collections::BTreeMap;

use tet_format::{Error as Fault, Faults, Result, Rule};

use super::model::Unknown;
use crate::footer::Value;

/// One step of a file's history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryRow {
    /// The operation.
    pub op: String,
    /// Its input.
    pub source: String,
    /// The time, in decimal seconds since 1970.
    pub at: String,
    /// The files that the file was made from.
    pub parents: Vec<String>,
    /// The parameters of the operation.
    pub params: BTreeMap<String, String>,
    /// Unknown members. Writing stores them in `params`.
    pub extra: Unknown,
}

impl HistoryRow {
    /// A row with the three required fields.
    #[must_use]
    pub fn new(op: &str, source: &str, at: &str) -> Self {
        let [op, source, at] = [op, source, at].map(str::to_owned);
        Self { op, source, at, ..Self::default() }
    }

    /// Reads the history. Rows that break the rule are reported and skipped.
    pub(crate) fn read_all(value: Value<'_>, faults: &mut impl Faults) -> Result<Vec<Self>> {
        if value.text() == "null" {
            return Ok(Vec::new());
        }
        let Some(items) = value.items() else {
            crate::footer::wrong_type(Rule::JsonType, value, faults)?;
            return Ok(Vec::new());
        };
        let mut rows = Vec::with_capacity(items.len());
        for (number, item) in (0_u64..).zip(items) {
            match Self::read(item) {
                Some(row) => rows.push(row),
                None => {
                    let (rule, at) = (Rule::HistoryRow, item.at());
                    faults.fault(Fault { rule, at, found: number, wanted: 0 })?;
                }
            }
        }
        Ok(rows)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value.members() {
            Some(members) => Self::read_object(members),
            None => Self::read_array(value),
        }
    }

    /// The old form: `[op, source, at]`.
    fn read_array(value: Value<'_>) -> Option<Self> {
        let [op, source, at] = <[String; 3]>::try_from(value.strings()?).ok()?;
        Some(Self { op, source, at, ..Self::default() })
    }

    fn read_object(members: Vec<(String, Value<'_>)>) -> Option<Self> {
        let mut row = Self::default();
        let mut found = 0;
        for (key, value) in members {
            let known = match key.as_str() {
                "op" => Some(&mut row.op),
                "source" => Some(&mut row.source),
                "at" => Some(&mut row.at),
                _ => None,
            };
            if let Some(known) = known {
                *known = value.string()?;
                found += 1;
                continue;
            }
            match (key.as_str(), value.strings()) {
                ("parents", Some(parents)) => row.parents = parents,
                ("params", _) => row.read_params(value),
                _ => row.extra.push((key, value.text().to_owned())),
            }
        }
        (found == 3).then_some(row)
    }

    /// Parameters that are not strings are stored as JSON text.
    fn read_params(&mut self, value: Value<'_>) {
        match value.members() {
            Some(members) => {
                let text = |value: Value<'_>| value.string().unwrap_or(value.text().to_owned());
                self.params.extend(members.into_iter().map(|(key, value)| (key, text(value))));
            }
            None => self.extra.push(("params".to_owned(), value.text().to_owned())),
        }
    }
}
