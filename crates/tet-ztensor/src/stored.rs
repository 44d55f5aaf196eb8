//! The stored bytes of a readable tensor: checksum comparison and byte order.

use tet_codec::Swapped;
use tet_format::Span;
use tet_io::Source;

use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Fault, Result};
use crate::rule;
use crate::tensor::Tensor;
use crate::words::{ByteOrder, Encoding, Layout};

/// When the stored bytes are compared with their checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// Always: all of them are read.
    #[default]
    Always,
    /// Never.
    Never,
}

/// A readable tensor: its entry breaks no rule.
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
    pub(crate) fn from_tensor(tensor: Tensor<'a>) -> Result<Self> {
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
        // An entry without a fault has all fields.
        let rule = &rule::KEY_MISSING;
        let missing = Fault { rule, at: tensor.entry_at(), found: 0, wanted: 0 };
        parts().ok_or_else(|| tensor.broken(missing))
    }

    pub(crate) fn codec(&self, at: u64, fault: tet_codec::Error) -> Error {
        Error::Codec { name: self.tensor.label(), at, fault }
    }

    /// Whether the stored bytes are the elements unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        self.encoding == Encoding::Raw
            && self.layout == Layout::Dense
            && self.byte_order == ByteOrder::Little
    }
}

/// Starts a comparison of all stored bytes, if requested.
pub(crate) fn begin(sound: &Sound<'_>, check: Check) -> Option<Comparison> {
    let checksum = sound.checksum.filter(|checksum| checksum.is_known() && check != Check::Never);
    checksum.map(Comparison::new)
}

/// Finishes a comparison after all stored bytes.
pub(crate) fn end(sound: &Sound<'_>, comparison: Option<Comparison>) -> Result<()> {
    match comparison.and_then(Comparison::differs) {
        Some((found, wanted)) => {
            let (rule, at) = (&rule::BLOB_CHECKSUM, sound.stored.start());
            Err(sound.tensor.broken(Fault { rule, at, found, wanted }))
        }
        None => Ok(()),
    }
}

/// Compares stored bytes that are in memory.
pub(crate) fn compare(sound: &Sound<'_>, stored: &[u8], check: Check) -> Result<()> {
    let mut comparison = begin(sound, check);
    if let Some(comparison) = &mut comparison {
        comparison.update(stored);
    }
    end(sound, comparison)
}

/// Converts stored bytes to little-endian.
pub(crate) fn order(sound: &Sound<'_>, bytes: &mut [u8]) {
    let swapped = Swapped::new(sound.element_size);
    if let Some(swapped) = swapped.filter(|_| sound.byte_order == ByteOrder::Big) {
        swapped.in_place(bytes);
    }
}

/// Zeroed memory whose pages are only allocated when written, so that a large length in a file does
/// no harm. Returns an error if the system refuses the length.
pub(crate) fn zeroed(len: u64) -> Result<Vec<u8>> {
    let limit = |_| Error::Limit { what: "bytes of memory", wanted: len, limit: 0 };
    let len = usize::try_from(len).map_err(|_| limit(()))?;
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| limit(()))?;
    Ok(vec![0; len])
}

/// Calls a function with the bytes of a span, mapped or copied.
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
