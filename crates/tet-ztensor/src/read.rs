//! Reading tensors (section 7): elements as little-endian bytes in row-major order.

mod compare;
mod dense;

use std::ops::{Deref, Range};

use tet_format::Span;
use tet_io::{Source, View};

use crate::checksum::Checksum;
use crate::error::{Error, Fault, Result};
use crate::frames::{self, Frames};
use crate::open::ZTensorFile;
use crate::rule;
use crate::sparse::{self, Sparse};
use crate::tensor::Tensor;
use crate::words::{ByteOrder, Encoding, Layout};

pub(crate) use compare::bytes as compare_stored;
pub(crate) use dense::order;

/// When the stored bytes are compared with their checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// Always: all of them are read.
    #[default]
    Always,
    /// Never.
    Never,
}

/// A tensor that can be read: its entry breaks no rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sound<'a> {
    pub(crate) tensor: Tensor<'a>,
    pub(crate) stored: Span,
    pub(crate) encoding: Encoding,
    pub(crate) layout: Layout,
    pub(crate) element_size: u64,
    pub(crate) decoded_len: u64,
    pub(crate) byte_order: ByteOrder,
    pub(crate) checksum: Option<Checksum>,
}

impl<'a> Sound<'a> {
    pub(crate) fn of(tensor: Tensor<'a>) -> Result<Self> {
        tensor.check()?;
        let parts = || {
            Some(Sound {
                tensor,
                stored: tensor.stored()?,
                encoding: tensor.encoding()?,
                layout: tensor.layout()?,
                element_size: tensor.dtype()?.size()?,
                decoded_len: tensor.decoded_len()?,
                byte_order: tensor.byte_order(),
                checksum: tensor.checksum(),
            })
        };
        // An entry without a fault has all parts.
        let rule = &rule::KEY_MISSING;
        let missing = Fault { rule, at: tensor.entry_at(), found: 0, wanted: 0 };
        parts().ok_or_else(|| tensor.broken(missing))
    }

    pub(crate) fn codec(&self, at: u64, fault: tet_codec::Error) -> Error {
        Error::Codec { name: self.tensor.label(), at, fault }
    }

    /// Whether the stored bytes are the elements as they are.
    fn is_plain(&self) -> bool {
        self.encoding == Encoding::Raw
            && self.layout == Layout::Dense
            && self.byte_order == ByteOrder::Little
    }
}

impl ZTensorFile {
    /// All elements of a tensor, those that a sparse layout leaves out as zero.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry or its blob breaks a rule, [`Error::Codec`] when the
    /// blob does not decode, [`Error::Io`] when it cannot be read or changed meanwhile.
    pub fn read(&self, tensor: Tensor<'_>, check: Check) -> Result<Vec<u8>> {
        let sound = Sound::of(tensor)?;
        if sound.layout.is_sparse() {
            sparse::check_len(&tensor, self.limits().sparse_len_max, sound.decoded_len)?;
        }
        let mut out = zeroed(sound.decoded_len)?;
        self.fill(&sound, &mut out, check)?;
        Ok(out)
    }

    /// Fills `out`, which is as long as all elements, with them.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::read`], and [`Error::Usage`] when `out` is of another length.
    pub fn read_into(&self, tensor: Tensor<'_>, out: &mut [u8], check: Check) -> Result<()> {
        let sound = Sound::of(tensor)?;
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

    /// The stored elements of a sparse tensor, and their places.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::read`], and [`Error::Usage`] when the tensor is dense.
    pub fn read_sparse(&self, tensor: Tensor<'_>, check: Check) -> Result<Sparse> {
        let sound = Sound::of(tensor)?;
        if !sound.layout.is_sparse() {
            return Err(Error::Usage { what: "a sparse tensor", found: 0, wanted: 1 });
        }
        let sparse = sparse::read(self.source(), &sound, self.limits(), check)?;
        self.source().check_unchanged()?;
        Ok(sparse)
    }

    /// How long the blob of a sparse tensor is when it is decoded; `None` where only decoding tells.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::frames`].
    pub fn sparse_len(&self, tensor: Tensor<'_>) -> Result<Option<u64>> {
        let sound = Sound::of(tensor)?;
        if sound.encoding == Encoding::Raw {
            return Ok(Some(sound.stored.len()));
        }
        let frames = frames::frames(self.source(), sound.stored, None)?;
        Ok(frames.map(|frames| frames.decoded_len()))
    }

    /// All elements of a tensor where they are: without a copy, and without a look at the checksum.
    ///
    /// `None` where they are not stored as they are, or the source is not in memory. What is seen
    /// is the file, which others may change under a mapping: see [`Source::view`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry breaks a rule.
    pub fn view(&self, tensor: Tensor<'_>) -> Result<Option<TensorView<'_>>> {
        let sound = Sound::of(tensor)?;
        if !sound.is_plain() {
            return Ok(None);
        }
        let Some(view) = self.source().view() else { return Ok(None) };
        let range = sound.stored.range();
        let is_whole = view.bytes(range.clone()).is_some();
        Ok(is_whole.then_some(TensorView { view, range }))
    }

    /// Whether a tensor's blob ends as one with a seek table does: many frames are likely then, and
    /// looking for them is worth a read of each header.
    ///
    /// # Errors
    ///
    /// As [`ZTensorFile::frames`].
    pub fn has_seek_table(&self, tensor: Tensor<'_>) -> Result<bool> {
        let sound = Sound::of(tensor)?;
        let is_framed = sound.encoding == Encoding::Zstd && !sound.layout.is_sparse();
        Ok(is_framed && frames::seems_there(self.source(), sound.stored)?)
    }

    /// The frames of a dense zstd tensor, where each can be decoded by itself; `None` where the
    /// blob can only be decoded as a whole.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] when its entry breaks a rule, [`Error::Io`] when headers cannot be
    /// read.
    pub fn frames(&self, tensor: Tensor<'_>) -> Result<Option<Frames>> {
        let sound = Sound::of(tensor)?;
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

/// Zeros that the system gives us one by one, as they are written: what a file asks for costs
/// nothing before it is there. A length that the system refuses is an error and no abort.
pub(crate) fn zeroed(len: u64) -> Result<Vec<u8>> {
    let limit = |_| Error::Limit { what: "bytes of memory", wanted: len, limit: 0 };
    let len = usize::try_from(len).map_err(|_| limit(()))?;
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| limit(()))?;
    Ok(vec![0; len])
}

/// The bytes of a span where they are, or a copy.
pub(crate) fn with_stored<T>(
    source: &Source,
    span: Span,
    work: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let view = source.view();
    match view.as_ref().and_then(|view| view.bytes(span.range())) {
        Some(stored) => work(stored),
        None => work(&source.read_vec(span.start(), span.len())?),
    }
}
