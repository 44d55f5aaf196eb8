//! Digests of raw chunks, computed by one thread while it uses their elements.

use tet_codec::Pieces;
use tet_format::Digest;
use tet_io::View;

use super::check::Checks;
use crate::error::Result;
use crate::plan::ChunkRead;

/// Digests the raw chunk whose elements one thread uses.
#[derive(Debug)]
pub(super) struct Passing<'a> {
    checks: &'a Checks<'a>,
    /// The chunk, and its digest where it is to be compared.
    chunk: Option<(ChunkRead, Option<(Digest, Pieces)>)>,
}

impl<'a> Passing<'a> {
    pub(super) fn new(checks: &'a Checks<'a>) -> Self {
        Passing { checks, chunk: None }
    }

    /// Goes on to a chunk, the `ordinal`th of the plan.
    ///
    /// # Errors
    ///
    /// As [`Checks::begin`].
    pub(super) fn enter(
        &mut self,
        read: &ChunkRead,
        ordinal: u64,
        view: Option<&View<'_>>,
    ) -> Result<()> {
        if self.chunk.as_ref().is_some_and(|(begun, _)| begun.linear == read.linear) {
            return Ok(());
        }
        self.leave();
        let wanted = self.checks.begin(read, ordinal, view)?;
        let pieces = || Pieces::new(read.place.stored.len());
        self.chunk = Some((*read, wanted.map(|wanted| (wanted, pieces()))));
        Ok(())
    }

    /// Whether the elements of the chunk are digested as they are used.
    pub(super) fn is_digesting(&self) -> bool {
        matches!(self.chunk, Some((_, Some(_))))
    }

    /// Takes in stored bytes of the chunk that are used, which lie there from `start` on.
    pub(super) fn pass(&mut self, start: u64, bytes: &[u8]) {
        if let Some((_, Some((_, pieces)))) = &mut self.chunk {
            pieces.add(start, bytes);
        }
    }

    /// Leaves the chunk: what was seen of it is added to what other tasks saw.
    pub(super) fn leave(&mut self) {
        if let Some((read, Some((wanted, pieces)))) = self.chunk.take() {
            self.checks.add(&read, wanted, pieces.finish());
        }
    }
}
