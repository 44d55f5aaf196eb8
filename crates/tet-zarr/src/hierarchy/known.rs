//! Documents that describe an array: those of many arrays of a hierarchy are the same, and are parsed once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::ArrayMeta;

/// The most bytes of documents that are kept.
const KEPT_LEN_MAX: usize = 1 << 18;

/// The last documents of arrays that were parsed, with the arrays that they describe.
#[derive(Debug, Default)]
pub(super) struct KnownArrays {
    by_document: HashMap<Vec<u8>, Arc<ArrayMeta>>,
    kept_len: usize,
}

impl KnownArrays {
    /// The array at a path that a document describes, if one with the same bytes was parsed.
    pub(super) fn array(&self, document: &[u8], path: &str) -> Option<ArrayMeta> {
        let known = self.by_document.get(document)?;
        Some(ArrayMeta { path: path.to_owned(), ..ArrayMeta::clone(known) })
    }

    /// Keeps the array of a document.
    pub(super) fn keep(&mut self, document: Vec<u8>, array: &Arc<ArrayMeta>) {
        if KEPT_LEN_MAX < document.len() {
            return;
        }
        // Documents that are the same are mostly those of folders that are listed one after the other.
        if KEPT_LEN_MAX < self.kept_len.saturating_add(document.len()) {
            *self = KnownArrays::default();
        }
        self.kept_len = self.kept_len.saturating_add(document.len());
        self.by_document.insert(document, Arc::clone(array));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_array_is_that_of_its_own_document() {
        let document = |extent: u64| {
            json!({
                "zarr_format": 3, "node_type": "array", "shape": [extent], "data_type": "int8", "fill_value": 0,
                "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [1] } },
                "chunk_key_encoding": { "name": "default" }, "codecs": [{ "name": "bytes" }],
            })
        };
        let mut known = KnownArrays::default();
        for extent in 0..2000 {
            let document = document(extent);
            let bytes = document.to_string().into_bytes();
            assert!(known.array(&bytes, "a").is_none());
            let object = document.as_object().expect("an object");
            let array = ArrayMeta::of_v3("a", object).unwrap();
            known.keep(bytes.clone(), &Arc::new(array));
            let again = known.array(&bytes, "b").unwrap();
            assert_eq!((again.path.as_str(), again.shape.to_vec()), ("b", vec![extent]));
            assert!(known.kept_len <= KEPT_LEN_MAX);
        }
        assert!(known.by_document.len() < 2000, "few are kept");
    }
}
