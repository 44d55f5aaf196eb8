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
    /// Its name.
    pub(crate) name: Option<String>,
    /// Its dtype, as the descriptor names it.
    pub(crate) dtype: Option<String>,
    /// Its extents.
    pub(crate) shape: Option<Vec<u64>>,
    /// Its encoding, as the descriptor names it.
    pub(crate) encoding: Option<String>,
    /// Its filter, as the descriptor names it.
    pub(crate) filter: Option<String>,
    /// Its compression, as the descriptor names it.
    pub(crate) compression: Option<String>,
    /// The offset of its payload in the file.
    pub(crate) offset: Option<u64>,
    /// Bytes of payload and masks.
    pub(crate) stored_len: Option<u64>,
    /// The hash of its frame.
    pub(crate) hash: Option<String>,
    /// The requested keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<Map<String, Value>>,
    /// The metadata of the object, if no keys were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Map<String, Value>>,
    /// The metadata of its message, if no keys were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extra: Option<Map<String, Value>>,
}
