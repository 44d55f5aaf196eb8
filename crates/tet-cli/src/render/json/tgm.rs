//! The shape of `tet tgm ls --json`: an object of a Tensogram file, a line each.

use serde::Serialize;
use serde_json::{Map, Value};

/// An object, or a message that has none.
#[derive(Debug, Serialize)]
pub(crate) struct TgmObject {
    /// `tet.tgm/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The number of the message in the file.
    pub(crate) message: usize,
    /// The number of the object in the message.
    pub(crate) object: Option<usize>,
    /// What it is called.
    pub(crate) name: Option<String>,
    /// The word for the type of its elements.
    pub(crate) dtype: Option<String>,
    /// Its extents.
    pub(crate) shape: Option<Vec<u64>>,
    /// The word for its encoding.
    pub(crate) encoding: Option<String>,
    /// The word for its filter.
    pub(crate) filter: Option<String>,
    /// The word for its compression.
    pub(crate) compression: Option<String>,
    /// Where its payload starts in the file.
    pub(crate) offset: Option<u64>,
    /// Bytes of payload and masks.
    pub(crate) stored_len: Option<u64>,
    /// The hash of its frame.
    pub(crate) hash: Option<String>,
    /// The keys that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<Map<String, Value>>,
    /// All that is said of the object, if no keys were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Map<String, Value>>,
    /// All that is said of its message, if no keys were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extra: Option<Map<String, Value>>,
}
