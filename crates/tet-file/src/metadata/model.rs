//! The model of the footer's metadata.

use std::collections::BTreeMap;

/// Unknown members: key and JSON text, in file order.
pub type Unknown = Vec<(String, String)>;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttrValue {
    /// A string.
    Text(String),
    /// Any other JSON value, as text.
    Json(String),
}

impl AttrValue {
    /// The value as text: the string itself, or JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Json(text) => text,
        }
    }
}

impl From<&str> for AttrValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttrValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The metadata of a file.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metadata {
    /// Attributes of the file.
    pub file: BTreeMap<String, AttrValue>,
    /// The metadata of its datasets, by name.
    pub datasets: BTreeMap<String, DatasetMetadata>,
    /// Unknown members.
    pub unknown: Unknown,
    /// Unknown members of the key `tet`.
    pub unknown_tet: Unknown,
}

impl Metadata {
    /// Empty metadata.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            file: BTreeMap::new(),
            datasets: BTreeMap::new(),
            unknown: Unknown::new(),
            unknown_tet: Unknown::new(),
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.file.is_empty()
            && self.datasets.values().all(DatasetMetadata::is_empty)
            && self.unknown.is_empty()
            && self.unknown_tet.is_empty()
    }

    /// The metadata of the dataset with this name.
    #[must_use]
    pub fn dataset(&self, name: &str) -> Option<&DatasetMetadata> {
        self.datasets.get(name)
    }
}

/// The metadata of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DatasetMetadata {
    /// One name for each axis; ignored if the number of names differs.
    pub dim_names: Vec<String>,
    /// Labels by axis: the key is a dimension name or a decimal number.
    pub coords: BTreeMap<String, Vec<String>>,
    /// Attributes.
    pub attrs: BTreeMap<String, AttrValue>,
    /// Unknown members.
    pub unknown: Unknown,
    /// Unknown members in the axes of `coords`, by axis.
    pub unknown_coords: BTreeMap<String, Unknown>,
}

impl DatasetMetadata {
    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dim_names.is_empty()
            && self.coords.is_empty()
            && self.attrs.is_empty()
            && self.unknown.is_empty()
            && self.unknown_coords.is_empty()
    }

    /// The axis of a key of `coords`: a dimension name first, else a decimal number.
    #[must_use]
    pub fn axis(&self, key: &str, rank: usize) -> Option<usize> {
        if self.dim_names.len() == rank
            && let Some(axis) = self.dim_names.iter().position(|name| name == key)
        {
            return Some(axis);
        }
        let is_plain = key == "0" || (!key.starts_with('0') && !key.starts_with('+'));
        key.parse().ok().filter(|axis| is_plain && *axis < rank)
    }
}
