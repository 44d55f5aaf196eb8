//! Elements stored unchanged: checked, hashed and written while they are in the cache.

use tet_format::DType;

use crate::descriptor::Descriptor;
use crate::encode::refuse_odd;
use crate::error::Result;
use crate::pipeline::expect_len;

/// The elements of an object without codecs, none of which needs a mask.
#[derive(Clone, Copy, Debug)]
pub struct PlainElements<'a> {
    bytes: &'a [u8],
    dtype: DType,
}

impl<'a> PlainElements<'a> {
    /// The little-endian elements in row-major order, with their descriptor.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`](crate::Error::Unwritable) when the format has no such dtype,
    /// and [`Error::Usage`](crate::Error::Usage) when the length of the elements does not match the
    /// shape.
    pub fn new(dtype: DType, shape: &[u64], bytes: &'a [u8]) -> Result<(Descriptor, Self)> {
        let descriptor = Descriptor::new(dtype, shape)?;
        let decoded_len = descriptor.decoded_len().unwrap_or_default();
        expect_len("bytes of elements", bytes.len(), decoded_len)?;
        Ok((descriptor, PlainElements { bytes, dtype }))
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Visits pieces of finite elements, up to the first piece with an element that is not finite.
    pub(super) fn pieces(&self, put: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        /// The length of a piece that stays in the nearest caches.
        const PIECE_LEN: usize = 64 << 10;
        let mut first = 0;
        for piece in self.bytes.chunks(PIECE_LEN) {
            first += refuse_odd(self.dtype, piece, first)?;
            put(piece)?;
        }
        Ok(())
    }
}
