//! Reading tensors (section 7): elements as little-endian bytes in row-major order.

mod dense;

use std::ops::{Deref, Range};

use tet_io::View;

use crate::error::{Error, Result};
use crate::frames::{self, Frames};
use crate::open::ZTensorFile;
use crate::sparse;
use crate::stored::{Check, Sound, zeroed};
use crate::tensor::Tensor;
use crate::words::Encoding;
use tet_sparse::Sparse;

impl ZTensorFile {
    /// All elements of a tensor; elements that a sparse layout does not store are zero.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry or its blob breaks a rule, [`Error::Codec`] when the
    /// blob does not decode, [`Error::Io`] when it cannot be read or changed meanwhile.
    pub fn read(&self, tensor: Tensor<'_>, check: Check) -> Result<Vec<u8>> {
        let sound = Sound::from_tensor(tensor)?;
        if sound.layout.is_sparse() {
            sparse::check_len(&tensor, self.limits().sparse_len_max, sound.decoded_len)?;
        }
        let mut out = zeroed(sound.decoded_len)?;
        self.fill(&sound, &mut out, check)?;
        Ok(out)
    }

    /// Fills `out`, which must be as long as all elements.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::read`], and [`Error::Usage`] when `out` has another length.
    pub fn read_into(&self, tensor: Tensor<'_>, out: &mut [u8], check: Check) -> Result<()> {
        let sound = Sound::from_tensor(tensor)?;
        check_out(out, sound.decoded_len)?;
        self.fill(&sound, out, check)
    }

    fn fill(&self, sound: &Sound<'_>, out: &mut [u8], check: Check) -> Result<()> {
        let source = self.source();
        match (sound.layout.is_sparse(), sound.encoding) {
            (true, _) => {
                let sparse = sparse::read(source, sound, self.limits(), check)?;
                sparse.scatter(0..u64::MAX, out);
            }
            (false, Encoding::Raw) => dense::raw(source, sound, out, check)?,
            (false, Encoding::Zstd) => dense::zstd(source, sound, out, check)?,
        }
        Ok(source.check_unchanged()?)
    }

    /// The stored elements of a sparse tensor, and their positions.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::read`], and [`Error::Usage`] when the tensor is dense.
    pub fn read_sparse(&self, tensor: Tensor<'_>, check: Check) -> Result<Sparse> {
        let sound = Sound::from_tensor(tensor)?;
        if !sound.layout.is_sparse() {
            return Err(Error::Usage { what: "a sparse tensor", found: 0, wanted: 1 });
        }
        let sparse = sparse::read(self.source(), &sound, self.limits(), check)?;
        self.source().check_unchanged()?;
        Ok(sparse)
    }

    /// The decoded length of the blob of a sparse tensor; `None` if decoding is needed to know.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::frames`].
    pub fn sparse_len(&self, tensor: Tensor<'_>) -> Result<Option<u64>> {
        let sound = Sound::from_tensor(tensor)?;
        if sound.encoding == Encoding::Raw {
            return Ok(Some(sound.stored.len()));
        }
        let frames = frames::frames(self.source(), sound.stored, None)?;
        Ok(frames.map(|frames| frames.decoded_len()))
    }

    /// All elements of a tensor without a copy, and without comparing the checksum.
    ///
    /// `None` if they are encoded, or if the source is not in memory. The view is of the file,
    /// which others may change under a mapping: see [`Source::view`](tet_io::Source::view).
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry breaks a rule.
    pub fn view(&self, tensor: Tensor<'_>) -> Result<Option<TensorView<'_>>> {
        let sound = Sound::from_tensor(tensor)?;
        if !sound.is_plain() {
            return Ok(None);
        }
        let Some(view) = self.source().view() else { return Ok(None) };
        let range = sound.stored.range();
        let is_whole = view.bytes(range.clone()).is_some();
        Ok(is_whole.then_some(TensorView { view, range }))
    }

    /// Whether the blob of a tensor ends with a seek table: then it probably has many frames, and
    /// it is worth reading their headers.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::frames`].
    pub fn has_seek_table(&self, tensor: Tensor<'_>) -> Result<bool> {
        let sound = Sound::from_tensor(tensor)?;
        let is_framed = sound.encoding == Encoding::Zstd && !sound.layout.is_sparse();
        Ok(is_framed && frames::seems_there(self.source(), sound.stored)?)
    }

    /// The frames of a dense zstd tensor, if each can be decoded independently; `None` if the blob
    /// can only be decoded as a whole.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry breaks a rule, [`Error::Io`] when headers cannot be
    /// read.
    pub fn frames(&self, tensor: Tensor<'_>) -> Result<Option<Frames>> {
        let sound = Sound::from_tensor(tensor)?;
        if sound.encoding != Encoding::Zstd || sound.layout.is_sparse() {
            return Ok(None);
        }
        frames::frames(self.source(), sound.stored, Some(sound.decoded_len))
    }
}

/// All elements of a tensor, in the bytes of the file.
#[derive(Debug)]
pub struct TensorView<'a> {
    view: View<'a>,
    range: Range<u64>,
}

impl Deref for TensorView<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.bytes(self.range.clone()).unwrap_or_default()
    }
}

fn check_out(out: &[u8], wanted: u64) -> Result<()> {
    let found = out.len() as u64;
    if found == wanted {
        return Ok(());
    }
    Err(Error::Usage { what: "bytes of a buffer", found, wanted })
}
