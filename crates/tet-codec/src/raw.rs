//! Codec 0: uncompressed elements.

use std::ops::Range;

use crate::codec::{ChunkLayout, Decode, Encode, StoredSpans};
use crate::error::{Error, Result};

const NAME: &str = "raw";

/// The identity: stored bytes are decoded bytes.
///
/// ```
/// use tet_codec::{Decode, Raw};
///
/// let mut out = [0; 2];
/// Raw.decode(&[4, 2], &mut out)?;
/// assert_eq!(out, [4, 2]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw;

impl Decode for Raw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.check_len(stored.len() as u64, out.len() as u64)?;
        out.copy_from_slice(stored);
        Ok(())
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        match byte_range(layout, &elements) {
            Some(bytes) => StoredSpans::Range(bytes),
            None => StoredSpans::Whole,
        }
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> Result<()> {
        check_part(NAME, layout, &elements, stored, out)?;
        out.copy_from_slice(stored);
        Ok(())
    }

    fn is_identity(&self) -> bool {
        true
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        if stored_len == decoded_len {
            return Ok(());
        }
        Err(Error::Lengths { codec: NAME, stored_len, decoded_len })
    }
}

impl Encode for Raw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codec(&self) -> tet_format::Codec {
        tet_format::Codec::Raw
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.try_reserve_exact(decoded.len()).map_err(|_| Error::Memory { codec: NAME })?;
        out.extend_from_slice(decoded);
        Ok(())
    }
}

/// The bytes of `elements`, or `None` if they are not all in the chunk.
pub(crate) fn byte_range(layout: ChunkLayout, elements: &Range<u64>) -> Option<Range<u64>> {
    let start = elements.start.checked_mul(layout.element_size)?;
    let end = elements.end.checked_mul(layout.element_size)?;
    (start <= end && end <= layout.stored_len).then_some(start..end)
}

/// Both sides must be as long as the bytes of `elements`.
pub(crate) fn check_part(
    codec: &'static str,
    layout: ChunkLayout,
    elements: &Range<u64>,
    stored: &[u8],
    out: &[u8],
) -> Result<()> {
    let bytes = byte_range(layout, elements).ok_or(Error::NoRange { codec })?;
    let wanted = bytes.end.saturating_sub(bytes.start);
    for found in [stored.len() as u64, out.len() as u64] {
        if found != wanted {
            return Err(Error::Buffer { codec, found, wanted });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: ChunkLayout = ChunkLayout { stored_len: 12, decoded_len: 12, element_size: 4 };

    #[test]
    fn elements_are_their_bytes() {
        let stored: Vec<u8> = (0..12).collect();
        for start in 0..=3_u64 {
            for end in start..=3 {
                let StoredSpans::Range(bytes) = Raw.stored_spans(LAYOUT, start..end) else {
                    panic!("raw has ranges");
                };
                assert_eq!(bytes, start * 4..end * 4);
                let part = &stored[bytes.start as usize..bytes.end as usize];
                let mut out = vec![0; part.len()];
                Raw.decode_range(LAYOUT, part, start..end, &mut out).unwrap();
                assert_eq!(out, part);
            }
        }
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "a reversed range is what is tested")]
    fn elements_outside_the_chunk_have_no_range() {
        for elements in [0..4, 4..5, 2..1, 0..u64::MAX, u64::MAX..u64::MAX] {
            assert_eq!(Raw.stored_spans(LAYOUT, elements.clone()), StoredSpans::Whole);
            let error = Raw.decode_range(LAYOUT, &[], elements, &mut []).unwrap_err();
            assert_eq!(error, Error::NoRange { codec: "raw" });
        }
    }

    #[test]
    fn lengths_must_be_equal() {
        let mut out = [0; 3];
        Raw.decode(&[1, 2, 3], &mut out).unwrap();
        assert_eq!(out, [1, 2, 3]);
        for stored in [&[1, 2][..], &[1, 2, 3, 4]] {
            let stored_len = stored.len() as u64;
            let wanted = Error::Lengths { codec: "raw", stored_len, decoded_len: 3 };
            assert_eq!(Raw.decode(stored, &mut out).unwrap_err(), wanted);
        }
    }

    #[test]
    fn encoding_replaces_the_buffer() {
        let mut out = vec![9; 9];
        Raw.encode(&[1, 2], &mut out).unwrap();
        assert_eq!(out, [1, 2]);
    }
}
