//! `tet.info/1`: what is in a file.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

/// Contents of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Info {
    /// `tet.info/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// The container's version.
    pub(crate) version: u32,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// The datasets, in catalog order.
    pub(crate) datasets: Vec<DatasetInfo>,
    /// The axes that have labels, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) axes: Vec<AxisEntry>,
    /// How many more axes there are, of which no labels were read; not written where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) axes_left_out: u64,
    /// The sparse tensors, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sparse: Vec<SparseEntry>,
    /// The attributes of the file.
    pub(crate) attrs: BTreeMap<String, Attr>,
    /// The history of the file.
    pub(crate) history: Vec<HistoryEntry>,
    /// `verified`, `unchecked`, `unprotected`, ...
    pub(crate) integrity: &'static str,
    /// The memory hint of the index, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_hint: Option<MemoryHint>,
    /// The regions of the file, with `--layout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layout: Option<Vec<LayoutEntry>>,
    /// Warnings about the file.
    pub(crate) warnings: Vec<String>,
}

/// An axis that has labels.
#[derive(Debug, Serialize)]
pub(crate) struct AxisEntry {
    /// The name of the dataset whose values are its labels, or of the axis.
    pub(crate) name: String,
    /// How many positions it has.
    pub(crate) len: u64,
    /// The label of the first position, times as dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first: Option<String>,
    /// The label of the last position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<String>,
    /// The units of its labels, as the file has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) units: Option<String>,
    /// The calendar of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calendar: Option<&'static str>,
    /// The steps of times, such as `daily`, `6-hourly` or `irregular`; not of long axes, of which only the ends are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<String>,
    /// Why labels cannot be read, or are not understood as times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The memory that readers should use at most, as the index requests. Bytes override the share.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryHint {
    /// A share of the memory of the machine, in hundredths of a percent; 0 means unset.
    pub(crate) percent_bps: u16,
    /// Bytes; 0 means unset.
    pub(crate) bytes: u32,
}

/// One sparse tensor.
#[derive(Debug, Serialize)]
pub(crate) struct SparseEntry {
    /// Its name.
    pub(crate) name: String,
    /// `csr` or `coo`.
    pub(crate) format: &'static str,
    /// `native` or `split`.
    pub(crate) kept: &'static str,
    /// The shape of the dense array.
    pub(crate) shape: Vec<u64>,
    /// How many elements are stored.
    pub(crate) value_count: u64,
    /// The names of the datasets that are its components.
    pub(crate) parts: Vec<String>,
}

/// One dataset.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetInfo {
    /// Its position in the catalog.
    pub(crate) index: usize,
    /// Its name.
    pub(crate) name: String,
    /// Its dtype, as NumPy names it.
    pub(crate) dtype: String,
    /// Its shape; `null` where it is not known.
    pub(crate) shape: Option<Vec<u64>>,
    /// Its chunk shape; `null` where it is not known.
    pub(crate) chunk_shape: Option<Vec<u64>>,
    /// How many chunks cover it.
    pub(crate) chunk_count: u64,
    /// How they are stored.
    pub(crate) codecs: Vec<String>,
    /// Bytes in the file; null when the chunks cannot be found.
    pub(crate) stored_len: Option<u64>,
    /// Bytes of the elements; null if the number does not fit into 64 bits.
    pub(crate) decoded_len: Option<u64>,
    /// The names of its axes, or none.
    pub(crate) dims: Vec<String>,
    /// Whether each axis can grow; not written where none can.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlimited: Vec<bool>,
    /// The labels of its axes, by name or number.
    pub(crate) coords: BTreeMap<String, Vec<String>>,
    /// Its attributes.
    pub(crate) attrs: BTreeMap<String, Attr>,
    /// The values of the keys of `--keys`; null where it has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) keys: BTreeMap<String, Option<Attr>>,
    /// Whether it can be read.
    pub(crate) readable: bool,
    /// Why not.
    pub(crate) why: Option<String>,
    /// Its chunks, with `--chunks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<Vec<ChunkEntry>>,
}

/// The value of an attribute: text, or a JSON value.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Attr {
    /// Text.
    Text(String),
    /// Any other value, exactly as in the file.
    Json(Box<RawValue>),
}

/// One chunk.
#[derive(Debug, Serialize)]
pub(crate) struct ChunkEntry {
    /// Its coordinate in the grid.
    pub(crate) coord: Vec<u64>,
    /// Where it starts in the file.
    pub(crate) offset: u64,
    /// Bytes in the file.
    pub(crate) stored_len: u64,
    /// Bytes after decoding.
    pub(crate) decoded_len: u64,
    /// How it is stored.
    pub(crate) codec: String,
}

/// One step of the file's history.
#[derive(Debug, Serialize)]
pub(crate) struct HistoryEntry {
    /// The operation.
    pub(crate) op: String,
    /// The source.
    pub(crate) source: String,
    /// The time, in Unix seconds.
    pub(crate) at: String,
    /// The input files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parents: Vec<String>,
    /// The parameters of the operation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, String>,
}

/// One region of the file.
#[derive(Debug, Serialize)]
pub(crate) struct LayoutEntry {
    /// Its name.
    pub(crate) region: String,
    /// Where it starts.
    pub(crate) offset: u64,
    /// Its length in bytes.
    pub(crate) len: u64,
    /// Its contents.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) holds: String,
}
