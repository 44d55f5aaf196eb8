//! The bytes of a chunk of text, before it is compressed.

/// A chunk of an array of text, row-major, as the codec `vlen-utf8` stores it. `None` for more texts, or a
/// longer text, than it can count.
///
/// ```
/// let bytes = tet_zarr::text_chunk(&["a", "bc"]).expect("short texts");
/// assert_eq!(bytes, b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0bc");
/// ```
#[must_use]
pub fn text_chunk<T: AsRef<str>>(texts: &[T]) -> Option<Vec<u8>> {
    let mut bytes = u32::try_from(texts.len()).ok()?.to_le_bytes().to_vec();
    for text in texts {
        let text = text.as_ref();
        bytes.extend(u32::try_from(text.len()).ok()?.to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    Some(bytes)
}
