//! A sparse tensor as a dataset: one chunk, whose elements are made of those that are stored.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tet_codec::{ChunkLayout, Decode, StoredSpans};
use tet_format::Span;
use tet_query::{ChunkPlace, ChunkTable, Sealed};
use tet_ztensor::{Check, Sparse, ZTensorFile};

use super::catalog::of_error;

/// The one chunk of a sparse tensor.
pub(super) struct SparseChunk {
    file: Arc<ZTensorFile>,
    position: usize,
    stored: Span,
    decoded_len: u64,
    filler: Arc<Filler>,
    codecs: [Arc<dyn Decode>; 1],
    sealed: Option<Sealed>,
}

impl SparseChunk {
    pub(super) fn new(
        file: &Arc<ZTensorFile>,
        position: usize,
        stored: Span,
        decoded_len: u64,
        sealed: Option<Sealed>,
    ) -> Self {
        let filler = Arc::new(Filler(OnceLock::new()));
        let codecs: [Arc<dyn Decode>; 1] = [Arc::clone(&filler) as Arc<dyn Decode>];
        let file = Arc::clone(file);
        SparseChunk { file, position, stored, decoded_len, filler, codecs, sealed }
    }
}

impl ChunkTable for SparseChunk {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        // What is stored is read and checked here, where what is wrong can be said.
        if self.filler.0.get().is_none()
            && let Some(tensor) = self.file.tensor(self.position)
        {
            let sparse = self.file.read_sparse(tensor, Check::Never);
            let sparse = sparse.map_err(|error| of_error(&tensor.label(), error))?;
            let _ = self.filler.0.set(sparse);
        }
        let place =
            ChunkPlace { stored: self.stored, decoded_len: self.decoded_len, codec: 0, row: 0 };
        out.extend(linear.iter().map(|_| place));
        Ok(())
    }

    fn seal(&self) -> Option<&Sealed> {
        self.sealed.as_ref()
    }

    fn codecs(&self) -> &[Arc<dyn Decode>] {
        &self.codecs
    }
}

/// Puts the stored elements of one tensor into their places.
struct Filler(OnceLock<Sparse>);

const NAME: &str = "sparse";

impl fmt::Debug for Filler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filler")
    }
}

impl Decode for Filler {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let lost = tet_codec::Error::Corrupt { codec: NAME, reason: "it was not located" };
        self.0.get().ok_or(lost)?.scatter(0..u64::MAX, out);
        Ok(())
    }

    fn stored_spans(&self, _layout: ChunkLayout, _elements: Range<u64>) -> StoredSpans {
        StoredSpans::Whole
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}
