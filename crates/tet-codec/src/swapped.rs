//! Elements in big-endian order: the bytes of each are reversed.
//!
//! Not a codec of `.tet`; other containers have such elements. Every element has a fixed position,
//! so ranges can be decoded, as for raw elements.

use std::ops::Range;

use multiversion::multiversion;

use crate::codec::{ChunkLayout, Decode, StoredSpans};
use crate::error::{Error, Result};
use crate::numcodecs_pipeline::NumcodecsPipeline;
use crate::raw::{byte_range, check_part};

const NAME: &str = "big-endian";

/// Reverses the bytes of every number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swapped {
    width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Two,
    Four,
    Eight,
}

impl Swapped {
    /// A decoder of numbers of 2, 4 or 8 bytes; a complex element is two numbers.
    ///
    /// ```
    /// use tet_codec::{Decode, Swapped};
    ///
    /// let mut out = [0; 4];
    /// Swapped::new(2).expect("a width").decode(&[1, 2, 3, 4], &mut out)?;
    /// assert_eq!(out, [2, 1, 4, 3]);
    /// # Ok::<(), tet_codec::Error>(())
    /// ```
    #[must_use]
    pub const fn new(width: u64) -> Option<Swapped> {
        match width {
            2 => Some(Swapped { width: Width::Two }),
            4 => Some(Swapped { width: Width::Four }),
            8 => Some(Swapped { width: Width::Eight }),
            _ => None,
        }
    }

    /// The length of one number in bytes.
    #[must_use]
    pub const fn width(self) -> u64 {
        match self.width {
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// Reverses the bytes of every whole number in place.
    pub fn in_place(self, bytes: &mut [u8]) {
        swap_in_place(self.width, bytes);
    }

    fn swap(self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        if !(stored.len() as u64).is_multiple_of(self.width()) {
            return Err(Error::Corrupt { codec: NAME, reason: "a number is cut short" });
        }
        swap(self.width, stored, out);
        Ok(())
    }
}

/// Three times as fast with the shuffles of bytes of AVX2.
#[multiversion(targets("x86_64+avx+avx2"))]
fn swap(width: Width, stored: &[u8], out: &mut [u8]) {
    match width {
        Width::Two => each(stored, out, |it| u16::from_le_bytes(it).swap_bytes().to_le_bytes()),
        Width::Four => each(stored, out, |it| u32::from_le_bytes(it).swap_bytes().to_le_bytes()),
        Width::Eight => each(stored, out, |it| u64::from_le_bytes(it).swap_bytes().to_le_bytes()),
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn swap_in_place(width: Width, bytes: &mut [u8]) {
    match width {
        Width::Two => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|it| it.reverse()),
        Width::Four => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|it| it.reverse()),
        Width::Eight => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|it| it.reverse()),
    }
}

/// The whole numbers of both sides, which have the same length.
#[inline(always)]
fn each<const WIDTH: usize>(
    stored: &[u8],
    out: &mut [u8],
    swap: impl Fn([u8; WIDTH]) -> [u8; WIDTH],
) {
    let (stored, out) = (stored.as_chunks::<WIDTH>().0, out.as_chunks_mut::<WIDTH>().0);
    for (out, stored) in out.iter_mut().zip(stored) {
        *out = swap(*stored);
    }
}

impl Decode for Swapped {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.check_len(stored.len() as u64, out.len() as u64)?;
        self.swap(stored, out)
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
        self.swap(stored, out)
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        if stored_len == decoded_len {
            return Ok(());
        }
        Err(Error::Lengths { codec: NAME, stored_len, decoded_len })
    }

    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        Some(NumcodecsPipeline { is_big_endian: true, ..NumcodecsPipeline::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Swapped elements, computed naively.
    fn turned(bytes: &[u8], width: usize) -> Vec<u8> {
        bytes.chunks(width).flat_map(|number| number.iter().rev().copied()).collect()
    }

    #[test]
    fn every_number_is_turned_around() {
        for width in [2_usize, 4, 8] {
            let codec = Swapped::new(width as u64).unwrap();
            for count in 0..40 {
                let stored: Vec<u8> = (0..count * width).map(|at| at as u8).collect();
                let mut out = vec![0xee; stored.len()];
                codec.decode(&stored, &mut out).unwrap();
                assert_eq!(out, turned(&stored, width), "{count} of {width}");
            }
        }
        assert!([0, 1, 3, 16, u64::MAX].into_iter().all(|width| Swapped::new(width).is_none()));
    }

    #[test]
    fn a_range_is_a_part_of_the_whole() {
        for (width, element_size) in [(2, 2), (4, 4), (8, 8), (4, 8), (8, 16)] {
            let codec = Swapped::new(width).unwrap();
            let stored: Vec<u8> = (0..5 * element_size as u8).collect();
            let len = stored.len() as u64;
            let layout = ChunkLayout { stored_len: len, decoded_len: len, element_size };
            let mut whole = vec![0; stored.len()];
            codec.decode(&stored, &mut whole).unwrap();
            for start in 0..=5 {
                for end in start..=5 {
                    let StoredSpans::Range(bytes) = codec.stored_spans(layout, start..end) else {
                        panic!("elements have their places");
                    };
                    let range = bytes.start as usize..bytes.end as usize;
                    let mut out = vec![0; range.len()];
                    codec
                        .decode_range(layout, &stored[range.clone()], start..end, &mut out)
                        .unwrap();
                    assert_eq!(out, whole[range]);
                }
            }
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let codec = Swapped::new(4).unwrap();
        let lengths = Error::Lengths { codec: NAME, stored_len: 8, decoded_len: 4 };
        assert_eq!(codec.decode(&[0; 8], &mut [0; 4]).unwrap_err(), lengths);
        let cut = Error::Corrupt { codec: NAME, reason: "a number is cut short" };
        assert_eq!(codec.decode(&[0; 6], &mut [0; 6]).unwrap_err(), cut);
        let layout = ChunkLayout { stored_len: 8, decoded_len: 8, element_size: 4 };
        let short = Error::Buffer { codec: NAME, found: 4, wanted: 8 };
        assert_eq!(codec.decode_range(layout, &[0; 8], 0..2, &mut [0; 4]).unwrap_err(), short);
        let past = Error::NoRange { codec: NAME };
        assert_eq!(codec.decode_range(layout, &[0; 4], 2..3, &mut [0; 4]).unwrap_err(), past);
    }
}
