//! One chunk: cut out of the elements of an object, padded to its whole shape, encoded.

use crate::{NewArray, ZarrCompression, ZarrFormat};
use tet_codec::{
    ChecksumKind, ChecksumPlace, Checksummed, Decode, Encode, FillValue, ZstdEncoder, encode,
};

use tet_container::{Error, Result};

/// Encodes chunks as the options say. Threads may share it.
#[derive(Debug)]
pub(super) struct ChunkEncoder {
    format: ZarrFormat,
    how: How,
    has_checksum: bool,
}

#[derive(Debug)]
enum How {
    Raw,
    Zstd(ZstdEncoder),
    Deflate(u32),
}

impl ChunkEncoder {
    /// # Errors
    /// The codec does not have the level.
    pub(super) fn new(array: &NewArray, format: ZarrFormat) -> Result<Self> {
        let how = match array.compression {
            ZarrCompression::None => How::Raw,
            ZarrCompression::Zstd { level } => {
                How::Zstd(ZstdEncoder::new(level).map_err(of_codec)?)
            }
            ZarrCompression::Deflate { level } => How::Deflate(level),
        };
        Ok(ChunkEncoder { format, how, has_checksum: array.has_checksums })
    }

    /// Whether stored chunks are the bytes of their elements.
    pub(super) fn is_identity(&self) -> bool {
        matches!(self.how, How::Raw) && !self.has_checksum
    }

    /// The stored bytes of a chunk.
    pub(super) fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let encoded = match (&self.how, self.format) {
            (How::Raw, _) => copied(decoded, out),
            (How::Zstd(encoder), _) => encoder.encode(decoded, out),
            (How::Deflate(level), ZarrFormat::V2) => encode::deflate(decoded, *level, out),
            (How::Deflate(level), ZarrFormat::V3) => encode::gzip(decoded, *level, out),
        };
        encoded.map_err(of_codec)?;
        if self.has_checksum {
            let stage = Checksummed::new(ChecksumKind::Crc32c, ChecksumPlace::End);
            let stored = std::mem::take(out);
            encode::checksum(stage, &stored, out).map_err(of_codec)?;
        }
        Ok(())
    }
}

fn copied(decoded: &[u8], out: &mut Vec<u8>) -> tet_codec::Result<()> {
    out.clear();
    let memory = |_| tet_codec::Error::Memory { codec: "raw" };
    out.try_reserve_exact(decoded.len()).map_err(memory)?;
    out.extend_from_slice(decoded);
    Ok(())
}

/// An error of an encoder: memory, or a level that it does not have.
fn of_codec(error: tet_codec::Error) -> Error {
    Error::File(error.into())
}

/// A box inside of the elements of an object.
#[derive(Debug)]
pub struct Cut<'c> {
    /// The extents of the object.
    pub object: &'c [u64],
    /// Where the chunk begins.
    pub first: &'c [u64],
    /// The extents of what there is of it.
    pub extents: &'c [u64],
    /// The extents of the whole chunk.
    pub chunk: &'c [u64],
    /// Bytes of an element.
    pub size: usize,
}

impl Cut<'_> {
    /// Whether the chunk is the object.
    pub fn is_whole(&self) -> bool {
        self.object == self.chunk
    }

    /// The elements of the whole chunk: those that there are, and the fill value for the others.
    ///
    /// # Errors
    /// Memory does not hold the chunk.
    pub fn copy(&self, elements: &[u8], fill: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let memory = || of_codec(tet_codec::Error::Memory { codec: "raw" });
        let count = |extents: &[u64]| {
            let count = extents.iter().try_fold(1_u64, |all, &it| all.checked_mul(it));
            count.and_then(|count| usize::try_from(count).ok())
        };
        let len = count(self.chunk).and_then(|it| it.checked_mul(self.size)).ok_or_else(memory)?;
        out.clear();
        out.try_reserve_exact(len).map_err(|_| memory())?;
        out.resize(len, 0);
        if self.extents != self.chunk
            && let Some(fill) = FillValue::new(fill)
        {
            fill.decode(&[], out).map_err(of_codec)?;
        }
        // Axes that are whole in both belong to the row of the axis before them.
        let mut axis = self.chunk.len().saturating_sub(1);
        while 0 < axis
            && self.object.get(axis) == self.chunk.get(axis)
            && self.extents.get(axis) == self.chunk.get(axis)
        {
            axis -= 1;
        }
        let (outer, inner) = self.extents.split_at_checked(axis).unwrap_or_default();
        let row = count(inner).and_then(|it| it.checked_mul(self.size)).ok_or_else(memory)?;
        let mut at = vec![0_u64; outer.len()];
        for _ in 0..count(outer).ok_or_else(memory)? {
            let from = self.offset(&at, self.object, self.first).ok_or_else(memory)?;
            let to = self.offset(&at, self.chunk, &[]).ok_or_else(memory)?;
            let parts = elements.get(from..).and_then(|it| it.get(..row));
            let parts = parts.zip(out.get_mut(to..).and_then(|it| it.get_mut(..row)));
            let (from, to) = parts.ok_or_else(memory)?;
            to.copy_from_slice(from);
            for (at, extent) in at.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < *extent {
                    break;
                }
                *at = 0;
            }
        }
        Ok(())
    }

    /// The byte of an element in an array of these extents, counted from `first`.
    fn offset(&self, at: &[u64], extents: &[u64], first: &[u64]) -> Option<usize> {
        let mut offset = 0_u64;
        for (axis, &extent) in extents.iter().enumerate() {
            let at = at.get(axis).copied().unwrap_or(0);
            let first = first.get(axis).copied().unwrap_or(0);
            offset = offset.checked_mul(extent)?.checked_add(first.checked_add(at)?)?;
        }
        usize::try_from(offset).ok()?.checked_mul(self.size)
    }
}

/// Whether every element has the bytes of the fill value.
pub(super) fn is_filled(elements: &[u8], fill: &[u8]) -> bool {
    match elements.split_at_checked(fill.len()) {
        Some((first, rest)) if !fill.is_empty() && first == fill => {
            elements.get(..rest.len()).is_some_and(|before| before == rest)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_cut_out_and_padded() {
        // An object of 3 x 5 in chunks of 2 x 3, elements of two bytes.
        let object: Vec<u8> = (0..15).flat_map(|it| [it, 100]).collect();
        let cut = |first: &[u64], extents: &[u64]| {
            let (object_shape, chunk) = (&[3, 5][..], &[2, 3][..]);
            let cut = Cut { object: object_shape, first, extents, chunk, size: 2 };
            let mut out = Vec::new();
            cut.copy(&object, &[7, 8], &mut out).expect("memory");
            out.chunks(2).map(|it| it[0]).collect::<Vec<u8>>()
        };
        assert_eq!(cut(&[0, 0], &[2, 3]), [0, 1, 2, 5, 6, 7]);
        assert_eq!(cut(&[0, 3], &[2, 2]), [3, 4, 7, 8, 9, 7]);
        assert_eq!(cut(&[2, 0], &[1, 3]), [10, 11, 12, 7, 7, 7]);
        assert_eq!(cut(&[2, 3], &[1, 2]), [13, 14, 7, 7, 7, 7]);
        let scalar = Cut { object: &[], first: &[], extents: &[], chunk: &[], size: 2 };
        let mut out = Vec::new();
        scalar.copy(&[1, 2], &[0, 0], &mut out).expect("memory");
        assert_eq!(out, [1, 2]);
    }

    #[test]
    fn only_the_bits_of_the_fill_value_are_filled() {
        assert!(is_filled(&[1, 2, 1, 2, 1, 2], &[1, 2]));
        assert!(is_filled(&[0], &[0]));
        assert!(!is_filled(&[1, 2, 1, 3], &[1, 2]));
        assert!(!is_filled(&(-0.0_f32).to_le_bytes(), &0.0_f32.to_le_bytes()));
        assert!(!is_filled(&[], &[0]));
    }
}
