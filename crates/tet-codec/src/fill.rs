//! Chunks that are not stored: every element is the fill value.

use std::ops::Range;

use crate::codec::{ChunkLayout, Decode, StoredSpans};
use crate::error::{Error, Result};

const NAME: &str = "fill";

/// Decodes a chunk that is not stored.
///
/// ```
/// use tet_codec::{Decode, FillValue};
///
/// let fill = FillValue::new(&7_i16.to_le_bytes()).expect("an element");
/// let mut out = [0; 6];
/// fill.decode(&[], &mut out)?;
/// assert_eq!(out, [7, 0, 7, 0, 7, 0]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FillValue {
    element: Box<[u8]>,
}

impl FillValue {
    /// A decoder that repeats this element, given in its decoded bytes. `None` when it has none.
    #[must_use]
    pub fn new(element: &[u8]) -> Option<FillValue> {
        (!element.is_empty()).then(|| FillValue { element: element.into() })
    }

    /// The bytes of one element.
    #[must_use]
    pub fn element(&self) -> &[u8] {
        &self.element
    }

    fn repeat(&self, out: &mut [u8]) {
        let [first, rest @ ..] = &*self.element else { return };
        if rest.iter().all(|byte| byte == first) {
            return out.fill(*first);
        }
        let Some(start) = out.get_mut(..self.element.len()) else { return };
        start.copy_from_slice(&self.element);
        let mut len = self.element.len();
        while len < out.len() {
            let more = len.min(out.len() - len);
            out.copy_within(..more, len);
            len += more;
        }
    }
}

impl Decode for FillValue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.check_len(stored.len() as u64, out.len() as u64)?;
        self.repeat(out);
        Ok(())
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let _ = (layout, elements);
        StoredSpans::Range(0..0)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> Result<()> {
        let count = elements.end.checked_sub(elements.start);
        let inside = elements.end.checked_mul(layout.element_size);
        let is_inside = inside.is_some_and(|end| end <= layout.decoded_len);
        let wanted = count.and_then(|count| count.checked_mul(layout.element_size));
        let wanted = wanted.filter(|_| is_inside).ok_or(Error::NoRange { codec: NAME })?;
        let found = out.len() as u64;
        if found != wanted {
            return Err(Error::Buffer { codec: NAME, found, wanted });
        }
        if !stored.is_empty() {
            return self.decode(stored, out);
        }
        // An element of the layout may be a part of the fill value, as those of an array in an element are.
        let len = self.element.len();
        let start = elements.start.saturating_mul(layout.element_size) % len as u64;
        match usize::try_from(start).unwrap_or(0) {
            0 if out.len().is_multiple_of(len) => self.repeat(out),
            start => {
                let bytes = self.element.iter().cycle().skip(start);
                out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
            }
        }
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        if stored_len == 0 && decoded_len.is_multiple_of(self.element.len() as u64) {
            return Ok(());
        }
        Err(Error::Lengths { codec: NAME, stored_len, decoded_len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_the_fill_value() {
        for size in [1_usize, 2, 3, 8, 16] {
            for element in [vec![0; size], (1..=size as u8).collect()] {
                let fill = FillValue::new(&element).unwrap();
                for count in [0_usize, 1, 2, 3, 7, 64, 100] {
                    let mut out = vec![0xee; count * size];
                    fill.decode(&[], &mut out).unwrap();
                    assert!(out.chunks(size).all(|it| it == element), "{count} of {size}");
                }
            }
        }
        assert_eq!(FillValue::new(&[]), None);
    }

    #[test]
    fn a_range_needs_no_stored_bytes() {
        let fill = FillValue::new(&[1, 2]).unwrap();
        let layout = ChunkLayout { stored_len: 0, decoded_len: 8, element_size: 2 };
        assert_eq!(fill.stored_spans(layout, 1..3), StoredSpans::Range(0..0));
        let mut out = [0; 4];
        fill.decode_range(layout, &[], 1..3, &mut out).unwrap();
        assert_eq!(out, [1, 2, 1, 2]);
        let past = fill.decode_range(layout, &[], 3..5, &mut out);
        assert_eq!(past, Err(Error::NoRange { codec: NAME }));
        let short = fill.decode_range(layout, &[], 1..4, &mut out);
        assert_eq!(short, Err(Error::Buffer { codec: NAME, found: 4, wanted: 6 }));
    }

    #[test]
    fn a_range_may_begin_and_end_within_the_fill_value() {
        let fill = FillValue::new(&[1, 2, 3]).unwrap();
        let layout = ChunkLayout { stored_len: 0, decoded_len: 9, element_size: 1 };
        for start in 0..9 {
            for end in start..=9 {
                let mut out = vec![0; end - start];
                fill.decode_range(layout, &[], start as u64..end as u64, &mut out).unwrap();
                let wanted: Vec<u8> = (start..end).map(|at| at as u8 % 3 + 1).collect();
                assert_eq!(out, wanted, "{start}..{end}");
            }
        }
    }

    #[test]
    fn stored_bytes_and_cut_elements_are_refused() {
        let fill = FillValue::new(&[1, 2]).unwrap();
        for (stored_len, decoded_len) in [(1, 2), (0, 3)] {
            let lengths = Error::Lengths { codec: NAME, stored_len, decoded_len };
            assert_eq!(fill.check_len(stored_len, decoded_len), Err(lengths));
        }
    }
}
