//! A zstd blob of many frames of similar decoded length, encoded on many threads, and found by the
//! seek table at the end (zstd seekable format).
//!
//! ```text
//!   frame | frame | ... | skippable frame: stored and decoded length of each, their count
//! ```
//!
//! The shape alone determines the frames, so the bytes do not depend on the number of threads.

use std::io::Write;

use rayon::prelude::*;
use tet_codec::{Encode, ZstdEncoder};
use tet_report::ensure_threads;

use super::declaration::Declaration;
use super::out::Out;
use super::passing::Passing;
use crate::error::{Error, Result};

/// The approximate decoded length of a frame.
const FRAME_LEN: u64 = 256 << 10;
/// Rows of up to this number of bytes are not split.
const FRAME_LEN_MAX: u64 = 1 << 20;
/// Tensors with more frames than this get longer frames, so that the seek table stays small.
const FRAME_COUNT: u64 = 1 << 17;
/// The number of bytes that are encoded at once.
const BATCH_LEN: u64 = 3 << 20;

/// The magic of the skippable frame that holds the seek table.
const TABLE_MAGIC: u32 = 0x184D_2A5E;
/// The magic at its end.
const SEEKABLE_MAGIC: u32 = 0x8F92_EAB1;
/// Number of frames, descriptor, magic.
const TABLE_FOOTER_LEN: usize = 9;

/// The decoded length of a frame of the tensor: whole rows if rows are short enough.
pub(super) fn frame_len(declaration: &Declaration, decoded_len: u64) -> u64 {
    let wanted = (decoded_len / FRAME_COUNT).clamp(FRAME_LEN, FRAME_LEN_MAX);
    let mut row_len = declaration.dtype.size().unwrap_or(1);
    for &extent in declaration.shape.iter().skip(1).rev() {
        match row_len.checked_mul(extent) {
            Some(longer) if longer <= FRAME_LEN_MAX => row_len = longer.max(1),
            _ => break,
        }
    }
    if wanted <= row_len { row_len } else { wanted - wanted % row_len }
}

/// Encodes the frames of one blob.
#[derive(Debug)]
pub(super) struct Frames {
    name: String,
    encoder: ZstdEncoder,
    frame_len: usize,
    batch_len: usize,
    /// Elements that are not yet encoded.
    filling: Vec<u8>,
    /// Encoded frames that are not yet written, and buffers for the next ones.
    ready: Batch,
    spare: Batch,
    /// The lengths of the frames written so far.
    table: Vec<u8>,
}

/// Frames that are encoded at once.
#[derive(Debug, Default)]
struct Batch {
    frames: Vec<Frame>,
    /// The number of frames in use.
    count: usize,
}

#[derive(Debug, Default)]
struct Frame {
    decoded_len: usize,
    stored: Vec<u8>,
    fault: Option<tet_codec::Error>,
}

impl Frames {
    /// Frames of `frame_len` decoded bytes at `level`.
    pub(super) fn new(declaration: &Declaration, level: i32, decoded_len: u64) -> Result<Self> {
        let name = declaration.name.clone();
        let encoder = ZstdEncoder::new(level);
        let encoder = encoder.map_err(|fault| codec_fault(&name, 0, fault))?;
        let frame_len = frame_len(declaration, decoded_len);
        let batch_len = frame_len * (BATCH_LEN / frame_len).max(1);
        // Both are bounded by constants.
        let [frame_len, batch_len] =
            [frame_len, batch_len].map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        let (ready, spare) = (Batch::default(), Batch::default());
        let (filling, table) = (Vec::new(), Vec::new());
        Ok(Self { name, encoder, frame_len, batch_len, filling, ready, spare, table })
    }

    /// Adds elements.
    pub(super) fn update<W: Write + Send>(
        &mut self,
        mut elements: &[u8],
        out: &mut Out<W>,
        checksum: &mut Passing,
    ) -> Result<()> {
        while !elements.is_empty() {
            let room = self.batch_len - self.filling.len();
            let (now, later) = elements.split_at(room.min(elements.len()));
            self.filling.extend_from_slice(now);
            elements = later;
            if self.filling.len() == self.batch_len {
                self.flush(out, checksum)?;
            }
        }
        Ok(())
    }

    /// Writes the rest, and the seek table if there is more than one frame.
    pub(super) fn finish<W: Write + Send>(
        mut self,
        out: &mut Out<W>,
        checksum: &mut Passing,
    ) -> Result<()> {
        let is_first = self.table.is_empty() && self.ready.count == 0;
        if is_first || !self.filling.is_empty() {
            self.flush(out, checksum)?;
        }
        self.ready.write(&self.name, &mut self.table, out, checksum)?;
        if let Some(table) = self.seek_table() {
            out.write(&table, checksum)?;
        }
        Ok(())
    }

    /// Encodes the buffered elements while the previous frames are written.
    fn flush<W: Write + Send>(&mut self, out: &mut Out<W>, checksum: &mut Passing) -> Result<()> {
        let Self { name, encoder, frame_len, filling, ready, spare, table, .. } = self;
        ensure_threads();
        let written = rayon::join(
            || ready.write(name, table, out, checksum),
            || spare.encode(*encoder, filling, *frame_len),
        );
        written.0?;
        filling.clear();
        std::mem::swap(ready, spare);
        Ok(())
    }

    /// The skippable frame with the seek table; none for one frame, or if there are too many.
    fn seek_table(&self) -> Option<Vec<u8>> {
        let count = u32::try_from(self.table.len() / 8).ok().filter(|&count| 1 < count)?;
        let len = u32::try_from(self.table.len() + TABLE_FOOTER_LEN).ok()?;
        let mut out = Vec::with_capacity(self.table.len() + TABLE_FOOTER_LEN + 8);
        out.extend(TABLE_MAGIC.to_le_bytes());
        out.extend(len.to_le_bytes());
        out.extend_from_slice(&self.table);
        out.extend(count.to_le_bytes());
        // The table has no checksums: each frame has its own.
        out.push(0);
        out.extend(SEEKABLE_MAGIC.to_le_bytes());
        Some(out)
    }
}

impl Batch {
    fn encode(&mut self, encoder: ZstdEncoder, elements: &[u8], frame_len: usize) {
        // A tensor without elements is one empty frame.
        self.count = elements.len().div_ceil(frame_len).max(1);
        if self.frames.len() < self.count {
            self.frames.resize_with(self.count, Frame::default);
        }
        let frames = self.frames.par_iter_mut().take(self.count).enumerate();
        frames.for_each(|(number, frame)| {
            let start = (number * frame_len).min(elements.len());
            let end = (start + frame_len).min(elements.len());
            let elements = elements.get(start..end).unwrap_or_default();
            frame.decoded_len = elements.len();
            frame.fault = encoder.encode(elements, &mut frame.stored).err();
        });
    }

    /// Writes the frames, and adds their lengths to the table.
    fn write<W: Write + Send>(
        &mut self,
        name: &str,
        table: &mut Vec<u8>,
        out: &mut Out<W>,
        checksum: &mut Passing,
    ) -> Result<()> {
        for frame in self.frames.iter_mut().take(self.count) {
            if let Some(fault) = frame.fault.take() {
                return Err(codec_fault(name, out.at(), fault));
            }
            for len in [frame.stored.len(), frame.decoded_len] {
                // Frames are bounded by constants.
                table.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
            }
            out.write(&frame.stored, checksum)?;
        }
        self.count = 0;
        Ok(())
    }
}

pub(super) fn codec_fault(name: &str, at: u64, fault: tet_codec::Error) -> Error {
    Error::Codec { name: name.to_owned(), at, fault }
}

#[cfg(test)]
mod tests {
    use tet_format::DType;

    use super::*;

    #[test]
    fn frames_hold_whole_rows_where_rows_are_short() {
        let kib = |count: u64| count << 10;
        let cases: [(&[u64], u64); 8] = [
            (&[], kib(256)),
            (&[1 << 30], kib(256)),
            (&[1 << 20, 1000], 65 * 4000),
            (&[100, 1 << 16], kib(256)),
            (&[100, 100_000], 400_000),
            (&[100, 1 << 18], kib(1024)),
            (&[100, (1 << 18) + 1], kib(256)),
            (&[100, 300, 1000], 65 * 4000),
        ];
        for (shape, wanted) in cases {
            let declaration = Declaration::new("t", DType::Float32, shape);
            assert_eq!(frame_len(&declaration, 1 << 30), wanted, "{shape:?}");
        }
        let large = Declaration::new("t", DType::Float32, [1 << 40]);
        assert_eq!(frame_len(&large, 1 << 42), FRAME_LEN_MAX);
    }
}
