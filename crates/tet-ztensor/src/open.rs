//! Opening a file (section 7): the footer, the index, and nothing else.

use std::sync::Arc;

use tet_io::Source;

use crate::container::{FOOTER_LEN, MAGIC_LEN, index_span};
use crate::entry::Sink;
use crate::error::Result;
use crate::index::Index;
use crate::limits::Limits;
use crate::tensor::Tensor;

/// An opened file: its index in memory, its blobs where they are.
#[derive(Clone, Debug)]
pub struct ZTensorFile {
    source: Source,
    index: Arc<Index>,
    limits: Limits,
}

impl ZTensorFile {
    /// Opens a file.
    ///
    /// The index is copied into memory and never read again, so that what was checked is what is
    /// used. A tensor that cannot be read keeps its fault and leaves the others alone.
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

    /// Where the bytes come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// How much of the file's claims is believed.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
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

    /// The tensor of a name, or of `#N`, a position, where no tensor has that for a name.
    ///
    /// # Errors
    ///
    /// As [`Index::find`].
    pub fn find(&self, name: &str) -> Result<Tensor<'_>> {
        self.index.find(name)
    }
}

/// Reads the index of a file and tells of every fault of its entries.
pub(crate) fn read_index(source: &Source, limits: &Limits, sink: Sink<'_>) -> Result<Index> {
    let file_len = source.len();
    let head = source.read_vec(0, MAGIC_LEN.min(file_len))?;
    let tail_len = FOOTER_LEN.min(file_len);
    let tail = source.read_vec(file_len.saturating_sub(tail_len), tail_len)?;
    let span = index_span(&head, &tail, file_len, limits)?;
    let bytes = source.read_vec(span.start(), span.len())?;
    Ok(Index::read_with(bytes, span.start(), limits, sink)?)
}
