//! Opens a file (section 7): reads only the footer and the index.

use std::sync::Arc;

use tet_io::Source;

use crate::entry::Sink;
use crate::error::Result;
use crate::footer::{FOOTER_LEN, MAGIC_LEN, index_span};
use crate::index::Index;
use crate::limits::Limits;
use crate::tensor::Tensor;

/// An opened file, with its index in memory.
#[derive(Clone, Debug)]
pub struct ZTensorFile {
    source: Source,
    index: Arc<Index>,
    limits: Limits,
}

impl ZTensorFile {
    /// Opens a file.
    ///
    /// The index is copied into memory and never read again, so that later changes of the file do
    /// not matter. A tensor that cannot be read stores its fault and does not affect the others.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`](crate::Error::Format) for the first rule broken by the container
    /// or the index as a whole, and [`Error::Io`](crate::Error::Io) when bytes cannot be read.
    pub fn open(source: Source, limits: &Limits) -> Result<Self> {
        let index = read_index(&source, limits, &mut |_, _, _| {})?;
        source.check_unchanged()?;
        Ok(ZTensorFile { source, index: Arc::new(index), limits: *limits })
    }

    /// The source of the bytes.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The limits of the reader.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// The number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The tensor at a position.
    #[must_use]
    pub fn tensor(&self, position: usize) -> Option<Tensor<'_>> {
        self.index.tensor(position)
    }

    /// All tensors, in the order of the index.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = Tensor<'_>> + DoubleEndedIterator {
        self.index.tensors()
    }

    /// The tensor with a name, or at the position of `#N` if no tensor has that name.
    ///
    /// # Errors
    ///
    /// As [`Index::find`].
    pub fn find(&self, name: &str) -> Result<Tensor<'_>> {
        self.index.find(name)
    }
}

/// Reads the index of a file and reports every fault of its entries.
pub(crate) fn read_index(source: &Source, limits: &Limits, sink: Sink<'_>) -> Result<Index> {
    let file_len = source.len();
    let head = source.read_vec(0, MAGIC_LEN.min(file_len))?;
    let tail_len = FOOTER_LEN.min(file_len);
    let tail = source.read_vec(file_len.saturating_sub(tail_len), tail_len)?;
    let span = index_span(&head, &tail, file_len, limits)?;
    let bytes = source.read_vec(span.start(), span.len())?;
    Ok(Index::read_with(bytes, span.start(), limits, sink)?)
}
