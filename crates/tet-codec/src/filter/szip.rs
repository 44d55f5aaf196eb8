//! szip: HDF5 filter 4, as libaec implements it: the decoded length, and a stream of [`Aec`].
//!
//! ```text
//!   values: | options | pixels per block | bits per pixel | pixels per scanline |
//!   stored: | decoded length, u32 | stream |
//! ```
//!
//! Pixels of 32 and 64 bits are stored as bytes: all first bytes, then all second bytes. A scanline
//! is an interval; one that is not whole blocks is padded.

use crate::aec::{Aec, AecDecoder};
use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::scratch::{Scratch, index, resize};
use crate::shuffle;

const NAME: &str = "szip";
/// Bits of the options.
const MSB: u32 = 16;
const DIFFERENCES: u32 = 32;
const PREFIX_LEN: u64 = 4;

/// Undoes szip.
///
/// ```
/// use tet_codec::{Stage, Szip};
///
/// let stage = Szip::new(&[32, 8, 8, 8]).expect("valid values");
/// assert!(stage.undo_into(&[8, 0, 0, 0], &mut [0; 8]).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Szip {
    aec: Aec,
    /// The decoded bytes of a scanline, and those with its padding.
    line_len: usize,
    padded_len: usize,
    /// The bytes of a pixel whose bytes are apart, or 1.
    planes: u64,
}

impl Szip {
    /// The filter with the values of a file. `None` when there are no such streams.
    #[must_use]
    pub fn new(values: &[u32]) -> Option<Szip> {
        let [options, block_size, bits, line, ..] = *values else { return None };
        if block_size == 0 || line == 0 {
            return None;
        }
        let (bits, planes) = match bits {
            32 => (8, 4),
            64 => (8, 8),
            bits => (bits, 1),
        };
        let flag = |is_on, flag| if is_on { flag } else { 0 };
        let flags = Aec::NOT_ENFORCE
            | flag(options & MSB != 0, Aec::MSB)
            | flag(options & DIFFERENCES != 0, Aec::PREPROCESS);
        let aec = Aec::new(bits, line.div_ceil(block_size), block_size, flags)?.with_words();
        let line_len = index(u64::from(line).checked_mul(aec.width())?);
        Some(Szip { aec, line_len, padded_len: index(aec.interval_len()), planes })
    }

    /// Decodes the scanlines into `out`, whose last one may be shorter.
    fn lines(self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let mut decoder = AecDecoder::new(self.aec, stream, 0);
        let damaged = |_| Error::Corrupt { codec: NAME, reason: "the stream is invalid" };
        if self.line_len == self.padded_len {
            return out
                .chunks_mut(self.padded_len)
                .try_for_each(|line| decoder.next(line).map_err(damaged));
        }
        let mut scratch = Scratch::new();
        resize(NAME, &mut scratch, self.padded_len)?;
        let line_count = out.len().div_ceil(self.line_len);
        for (number, line) in out.chunks_mut(self.line_len).enumerate() {
            // The padding of the last scanline need not be there.
            let len = if number + 1 == line_count { line.len() } else { self.padded_len };
            let padded = scratch.get_mut(..len).unwrap_or_default();
            decoder.next(padded).map_err(damaged)?;
            line.copy_from_slice(padded.get(..line.len()).unwrap_or_default());
        }
        Ok(())
    }
}

impl Compressor for Szip {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn max(&self, stored_len: u64) -> u64 {
        let most = self.aec.decoded_max(stored_len.saturating_sub(PREFIX_LEN));
        most.min(u32::MAX.into())
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let cut = Error::Corrupt { codec: NAME, reason: "cut short" };
        let (len, stream) = stored.split_first_chunk().ok_or(cut)?;
        let len = index(u32::from_le_bytes(*len).into());
        let out = out.get_mut(..len).ok_or(Error::TooLong { codec: NAME, decoded_len })?;
        if !(len as u64).is_multiple_of(self.planes * self.aec.width()) {
            return Err(Error::Corrupt { codec: NAME, reason: "a pixel is cut short" });
        }
        if self.planes == 1 {
            self.lines(stream, out)?;
        } else {
            let mut scratch = Scratch::new();
            resize(NAME, &mut scratch, len)?;
            self.lines(stream, &mut scratch)?;
            shuffle::inverse(&scratch, self.planes, out);
        }
        Ok(len)
    }
}
