//! The document of a plan, as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};

use crate::error::{Error, Result};
use crate::metadata::{AttrValue, DatasetMetadata, Metadata};
use crate::write::CodecChoice;

/// The only version of the document.
const VERSION: u32 = 1;

/// All that a plan says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    tet_plan: u32,
    #[serde(default)]
    codec: Option<Codec>,
    /// The level of zstd.
    #[serde(default)]
    level: Option<i32>,
    #[serde(default)]
    attrs: BTreeMap<String, Box<RawValue>>,
    datasets: Vec<Dataset>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Codec {
    Raw,
    Zstd,
}

/// A dataset of the plan.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dataset {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    chunks: Vec<u64>,
    #[serde(default)]
    dims: Vec<String>,
    #[serde(default)]
    labels: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    attrs: BTreeMap<String, Box<RawValue>>,
    /// The bytes of the element that stands where nothing is written, as hexadecimal digits.
    #[serde(default)]
    fill: Option<String>,
}

impl Document {
    /// Parses the text of a plan.
    pub(super) fn parse(text: &str) -> Result<Document> {
        let parsed = serde_json::from_str::<Document>(text);
        let document = parsed.map_err(|error| plan(error.to_string()))?;
        if document.tet_plan != VERSION {
            let found = document.tet_plan;
            return Err(plan(format!("its version is {found}, and {VERSION} is known")));
        }
        Ok(document)
    }

    /// How chunks are stored.
    pub(super) fn codec(&self) -> CodecChoice {
        match self.codec {
            None | Some(Codec::Raw) => CodecChoice::Raw,
            Some(Codec::Zstd) => CodecChoice::Zstd { level: self.level.unwrap_or(3) },
        }
    }

    /// The datasets, each with its fill value.
    pub(super) fn datasets(&self) -> Result<Vec<(DatasetSpec, Option<Vec<u8>>)>> {
        self.datasets.iter().map(Dataset::spec).collect()
    }

    /// The metadata of the file.
    pub(super) fn metadata(&self) -> Metadata {
        let mut metadata = Metadata::new();
        metadata.file = attrs(&self.attrs);
        for dataset in &self.datasets {
            let mut about = DatasetMetadata::default();
            about.dim_names.clone_from(&dataset.dims);
            about.coords.clone_from(&dataset.labels);
            about.attrs = attrs(&dataset.attrs);
            if !about.is_empty() {
                metadata.datasets.insert(dataset.name.clone(), about);
            }
        }
        metadata
    }
}

impl Dataset {
    fn spec(&self) -> Result<(DatasetSpec, Option<Vec<u8>>)> {
        let name = self.name.clone();
        let dtype = DType::from_name(&self.dtype).filter(|dtype| dtype.tet_tag().is_some());
        let dtype = dtype.ok_or_else(|| {
            plan(format!(
                "dataset {name:?} is of type {:?}, which the format does not have",
                self.dtype
            ))
        })?;
        let is_element = |fill: &Vec<u8>| Some(fill.len() as u64) == dtype.size();
        let unsound = || plan(format!("the fill value of {name:?} is no element"));
        let fill =
            self.fill.as_deref().map(|text| unhex(text).filter(is_element).ok_or_else(unsound));
        let fill = fill.transpose()?;
        let [shape, chunk_shape] = [&self.shape, &self.chunks].map(|it| Shape::from(it.as_slice()));
        Ok((DatasetSpec { name, dtype, shape, chunk_shape }, fill))
    }
}

/// Attributes: strings as text, all else as the JSON that it is.
fn attrs(members: &BTreeMap<String, Box<RawValue>>) -> BTreeMap<String, AttrValue> {
    let value = |json: &RawValue| match serde_json::from_str::<String>(json.get()) {
        Ok(text) => AttrValue::Text(text),
        Err(_) => AttrValue::Json(json.get().to_owned()),
    };
    members.iter().map(|(key, json)| (key.clone(), value(json))).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(byte).collect::<Option<_>>().filter(|_| rest.is_empty())
}

/// An error of the document.
fn plan(what: String) -> Error {
    Error::Plan { what }
}
