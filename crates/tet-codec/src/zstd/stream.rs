//! Encodes one frame from elements that arrive piece by piece, like zstd's streaming encoders.

use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use super::{NAME, refused};
use crate::error::{Error, Result};

/// The number of bytes encoded at once.
const OUT_LEN: usize = 128 << 10;

/// Encodes one frame, without its content size and without a checksum.
///
/// The bytes do not depend on how the elements are split into pieces, and equal those of other
/// streaming encoders at the same level.
pub struct ZstdStream {
    context: CCtx<'static>,
    out: Vec<u8>,
}

impl std::fmt::Debug for ZstdStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ZstdStream").finish_non_exhaustive()
    }
}

impl ZstdStream {
    /// An encoder of this level; 0 is the default.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Level`] when zstd does not support the level and [`Error::Memory`] when
    /// memory cannot be allocated.
    pub fn new(level: i32) -> Result<Self> {
        super::check_level(level)?;
        let mut context = CCtx::try_create().ok_or(Error::Memory { codec: NAME })?;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(refused)?;
        Ok(Self { context, out: vec![0; OUT_LEN] })
    }

    /// Encodes more elements, and appends the output so far to `out`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when memory cannot be allocated.
    pub fn update(&mut self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut input = InBuffer::around(decoded);
        while input.pos() < decoded.len() {
            let mut output = OutBuffer::around(self.out.as_mut_slice());
            self.context.compress_stream(&mut output, &mut input).map_err(refused)?;
            out.extend_from_slice(output.as_slice());
        }
        Ok(())
    }

    /// Ends the frame and appends the rest of it to `out`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when memory cannot be allocated.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        loop {
            let mut output = OutBuffer::around(self.out.as_mut_slice());
            let left = self.context.end_stream(&mut output).map_err(refused)?;
            out.extend_from_slice(output.as_slice());
            if left == 0 {
                return Ok(());
            }
        }
    }
}
