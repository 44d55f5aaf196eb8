//! The bytes of a chunk of text, before it is compressed.

use crate::array::ZarrFormat;

/// The only chunk of an array of text along one axis: `vlen-utf8` in version 3, UTF-32 of
/// `char_count` characters a text in version 2. `None` for more bytes than these formats can count.
///
/// ```
/// use tet_zarr::{ZarrFormat, text_chunk};
///
/// let texts = ["a".to_owned(), "bc".to_owned()];
/// let bytes = text_chunk(ZarrFormat::V3, &texts, 2).expect("short texts");
/// assert_eq!(bytes, b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0bc");
/// assert_eq!(text_chunk(ZarrFormat::V2, &texts, 2).map(|bytes| bytes.len()), Some(2 * 2 * 4));
/// ```
#[must_use]
pub fn text_chunk(format: ZarrFormat, texts: &[String], char_count: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match format {
        ZarrFormat::V3 => {
            bytes.extend(u32::try_from(texts.len()).ok()?.to_le_bytes());
            for text in texts {
                bytes.extend(u32::try_from(text.len()).ok()?.to_le_bytes());
                bytes.extend(text.as_bytes());
            }
        }
        ZarrFormat::V2 => {
            let width = usize::try_from(char_count.max(1)).ok()?.checked_mul(4)?;
            for (text, end) in texts.iter().zip(1_usize..) {
                text.chars().for_each(|char| bytes.extend(u32::from(char).to_le_bytes()));
                bytes.resize(width.checked_mul(end)?, 0);
            }
        }
    }
    Some(bytes)
}
