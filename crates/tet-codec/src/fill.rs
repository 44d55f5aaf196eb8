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
    /// The bytes of one element, without zeros at its end that [`FillValue::padded`] adds.
    element: Box<[u8]>,
    /// Bytes of one element.
    len: u64,
}

impl FillValue {
    /// A decoder that repeats this element, given in its decoded bytes. `None` when it has none.
    #[must_use]
    pub fn new(element: &[u8]) -> Option<FillValue> {
        FillValue::padded(element, element.len() as u64)
    }

    /// A decoder that repeats an element of `len` bytes, which are these and zeros behind them: a file may declare a
    /// length for which there is no memory. `None` when it has no bytes, or fewer than these.
    ///
    /// ```
    /// use tet_codec::{Decode, FillValue};
    ///
    /// let fill = FillValue::padded(b"ab", 3).expect("an element");
    /// let mut out = [1; 6];
    /// fill.decode(&[], &mut out)?;
    /// assert_eq!(&out, b"ab\0ab\0");
    /// assert_eq!(FillValue::padded(&[], 1 << 40).and_then(|fill| fill.repeated(8)), Some(vec![0; 8]));
    /// # Ok::<(), tet_codec::Error>(())
    /// ```
    #[must_use]
    pub fn padded(element: &[u8], len: u64) -> Option<FillValue> {
        let is_element = len != 0 && element.len() as u64 <= len;
        is_element.then(|| FillValue { element: element.into(), len })
    }

    /// The bytes of a part of an element, where all its parts of `size` bytes are the same.
    #[must_use]
    pub fn repeated(&self, size: usize) -> Option<Vec<u8>> {
        if size == 0 || !self.len.is_multiple_of(size as u64) {
            return None;
        }
        let mut first = self.element.get(..size).unwrap_or(&self.element).to_vec();
        first.resize(size, 0);
        let mut parts = self.element.chunks(size);
        let is_one = parts.all(|part| {
            let (begin, rest) = first.split_at(part.len());
            part == begin && rest.iter().all(|byte| *byte == 0)
        });
        let ends = (self.element.len() as u64).next_multiple_of(size as u64) == self.len;
        (is_one && (ends || first.iter().all(|byte| *byte == 0))).then_some(first)
    }

    /// Fills `out` from byte `start` of an element on.
    fn repeat(&self, start: u64, out: &mut [u8]) {
        let first = self.element.first().copied().unwrap_or(0);
        let is_whole = self.element.len() as u64 == self.len;
        if (first == 0 || is_whole) && self.element.iter().all(|byte| *byte == first) {
            return out.fill(first);
        }
        let period = usize::try_from(self.len).unwrap_or(usize::MAX);
        let (mut at, mut done) = (start, 0);
        let first_len = period.min(out.len());
        while let Some(rest) = out.get_mut(done..first_len).filter(|rest| !rest.is_empty()) {
            let index = usize::try_from(at).unwrap_or(usize::MAX);
            let bytes = self.element.get(index..).unwrap_or_default();
            let zeros = self.len.saturating_sub(at.max(self.element.len() as u64));
            let zeros = usize::try_from(zeros).unwrap_or(usize::MAX);
            let count = if bytes.is_empty() { zeros } else { bytes.len() }.clamp(1, rest.len());
            match bytes.get(..count) {
                Some(bytes) => rest[..count].copy_from_slice(bytes),
                None => rest[..count].fill(0),
            }
            at = at.saturating_add(count as u64) % self.len;
            done += count;
        }
        while done != 0 && done < out.len() {
            let more = done.min(out.len() - done);
            out.copy_within(..more, done);
            done += more;
        }
    }
}

impl Decode for FillValue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.check_len(stored.len() as u64, out.len() as u64)?;
        self.repeat(0, out);
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
        self.repeat(elements.start.saturating_mul(layout.element_size) % self.len, out);
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        if stored_len == 0 && decoded_len.is_multiple_of(self.len) {
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
    fn zeros_follow_a_short_element() {
        let layout = ChunkLayout { stored_len: 0, decoded_len: 15, element_size: 1 };
        for element in [&b""[..], b"a", b"ab", b"\0\0", b"aaaaa"] {
            let fill = FillValue::padded(element, 5).unwrap();
            let mut whole = element.to_vec();
            whole.resize(5, 0);
            for start in 0..15 {
                let mut out = vec![0xee; 15 - start];
                fill.decode_range(layout, &[], start as u64..15, &mut out).unwrap();
                assert_eq!(out, whole.repeat(3)[start..], "{element:?} from {start}");
            }
            let is_one = whole.iter().all(|byte| *byte == whole[0]);
            assert_eq!(fill.repeated(1), is_one.then(|| vec![whole[0]]), "{element:?}");
            assert_eq!(fill.repeated(5), Some(whole));
            assert_eq!(fill.repeated(2), None);
        }
        assert_eq!(FillValue::padded(b"abc", 2), None);
        assert_eq!(FillValue::padded(b"", 0), None);
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
