//! The parts of a sparse tensor as datasets of their own: places and values, without the elements that
//! are not stored.
//!
//! They are found by name, `NAME.indptr`, `NAME.indices` and `NAME.values`, or `NAME.coords` and
//! `NAME.values`, unless a tensor of the file has it; they are not listed. They have the
//! attributes of the parts of a tensor that was written in parts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{ByteOrder, Encoding, Layout, Places, Sparse, Tensor, ZTensorFile};
use tet_codec::{Decode, Error as Refused};
use tet_format::{DType, Span};
use tet_query::{AttrText, ChunkPlace, ChunkTable, Dataset, Decoder, Sealed};
use tet_sparse::parts::{FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY, VALUES, of_places};

use super::seal;
use tet_container::model::attributes::shape_text;
use tet_container::read::bands::Stored;
use tet_container::read::slabs::{Slabs, grid, grid_of_one};

/// Bytes of a number of a place.
const WORD_LEN: u64 = 8;

/// The field of where values belong, where the blob does not.
const INLINE_KEY: &str = "indices";

/// The fields of how a sparse tensor is stored.
pub(super) const fn keys(tensor: &Tensor<'_>) -> &'static [&'static str] {
    match tensor.layout() {
        Some(Layout::Csr | Layout::Coo) => &["nnz", "indptr", INLINE_KEY],
        _ => &["nnz"],
    }
}

/// The parts of a sound sparse tensor; none where it is not known yet how many values it has.
pub(super) fn datasets(
    file: &Arc<ZTensorFile>,
    tensor: Tensor<'_>,
    dataset: &Dataset,
    stored: &Arc<Stored>,
) -> Vec<Dataset> {
    let facts = || Some((tensor.layout()?, tensor.stored()?, tensor.dtype()?));
    let Some((layout, blob, dtype)) = facts().filter(|(layout, ..)| layout.is_sparse()) else {
        return Vec::new();
    };
    let is_inline = keys(&tensor).contains(&INLINE_KEY) && dataset.attrs.contains_key(INLINE_KEY);
    // A length that cannot be read now is an error when the tensor is read.
    let blob_len = file.sparse_len(tensor).ok().flatten();
    let element_size = dtype.size().unwrap_or(1);
    let shape = tensor.shape();
    let count = blob_len.and_then(|len| count(layout, is_inline, shape, element_size, len));
    let Some(count) = count else { return Vec::new() };
    let is_plain = tensor.encoding() == Some(Encoding::Raw)
        && tensor.byte_order() == ByteOrder::Little
        && !is_inline;
    let format = if layout.is_csr() { "csr" } else { "coo" };
    let Some(mut parts) = of_places(format, shape, count) else { return Vec::new() };
    parts.push((VALUES, vec![count]));
    let mut at = blob.start();
    let mut datasets = Vec::with_capacity(parts.len());
    for (part, extents) in parts {
        let dtype = if part == VALUES { dtype } else { DType::UInt64 };
        let size = dtype.size().unwrap_or(1);
        let len = extents.iter().copied().fold(size, u64::saturating_mul);
        let span = Span::new(at, len).filter(|&span| blob.contains(span));
        at = at.saturating_add(len);
        let sealed = seal::sealed(&tensor);
        let (grid, chunks): (_, Arc<dyn ChunkTable>) = match span.zip(grid(&extents, size * 8)) {
            Some((span, grid)) if is_plain && layout.is_csr() => {
                (grid.clone(), Arc::new(Slabs::new(grid, size * 8, span).sealed(sealed)))
            }
            _ => {
                let stored = Arc::clone(stored);
                (grid_of_one(&extents), Arc::new(SparsePart { stored, part, blob, len, sealed }))
            }
        };
        let name = format!("{}.{part}", dataset.name);
        let attrs = attrs(part, format, dataset);
        let source = dataset.source.clone();
        datasets.push(Dataset { attrs, ..Dataset::new(source, name, dtype, grid, chunks) });
    }
    datasets
}

/// How many values there are, by the length of the blob.
fn count(
    layout: Layout,
    is_inline: bool,
    shape: &[u64],
    element_size: u64,
    len: u64,
) -> Option<u64> {
    let (fixed, each) = match (is_inline, layout.is_csr()) {
        (true, _) => (0, element_size),
        (false, true) => {
            let rows = shape.first()?.checked_add(1)?;
            (rows.checked_mul(WORD_LEN)?, WORD_LEN.checked_add(element_size)?)
        }
        (false, false) => {
            let rank = u64::try_from(shape.len()).ok()?;
            (0, rank.checked_mul(WORD_LEN)?.checked_add(element_size)?)
        }
    };
    let len = len.checked_sub(fixed)?;
    len.is_multiple_of(each).then_some(len / each)
}

/// The attributes of a part.
pub(crate) fn attrs(part: &str, format: &str, dataset: &Dataset) -> BTreeMap<String, AttrText> {
    let text = |text: &str| AttrText::Text(text.to_owned());
    let mut attrs = BTreeMap::new();
    attrs.insert(OF_KEY.to_owned(), text(&dataset.name));
    attrs.insert(PART_KEY.to_owned(), text(part));
    if part == VALUES {
        attrs.insert(FORMAT_KEY.to_owned(), text(format));
        attrs.insert(SHAPE_KEY.to_owned(), shape_text(dataset.shape()));
    }
    attrs
}

/// A part that is not in the file as it is: one chunk, copied out of what was read.
pub(crate) struct SparsePart {
    pub(crate) stored: Arc<Stored>,
    /// Its name: `indptr`, `indices`, `coords` or `values`.
    pub(crate) part: &'static str,
    pub(crate) blob: Span,
    /// Bytes of its elements.
    pub(crate) len: u64,
    pub(crate) sealed: Option<Sealed>,
}

impl ChunkTable for SparsePart {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.stored.load()?;
        let place = ChunkPlace::new(self.blob, self.len);
        out.extend(linear.iter().map(|_| place));
        Ok(())
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(self)
    }
}

const NAME: &str = "sparse";

impl fmt::Debug for SparsePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SparsePart").field(&self.part).finish()
    }
}

/// Copies the part out of what was read.
impl Decode for SparsePart {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let scattered = self.stored.reload()?;
        let Sparse { places, values, .. } = scattered.sparse();
        let numbers = match (self.part, places) {
            ("indptr", Places::Csr { indptr, .. }) => indptr,
            ("indices", Places::Csr { indices, .. }) => indices,
            ("coords", Places::Coo { coords }) => coords,
            _ => {
                check_count(out.len() == values.len())?;
                out.copy_from_slice(values);
                return Ok(());
            }
        };
        let (words, rest) = out.as_chunks_mut::<8>();
        check_count(words.len() == numbers.len() && rest.is_empty())?;
        for (word, number) in words.iter_mut().zip(numbers) {
            *word = number.to_le_bytes();
        }
        Ok(())
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}

fn check_count(holds: bool) -> tet_codec::Result<()> {
    let reason = "it has another number of values than its length says";
    if holds { Ok(()) } else { Err(Refused::Corrupt { codec: NAME, reason }) }
}
