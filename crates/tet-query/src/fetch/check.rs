//! Payloads compared with their digests, as they come by.
//!
//! ```text
//!   auto     stored bytes that are read or decoded whole, by the fast half of their digests
//!   always   every payload that is touched, whole, by both halves, before its bytes are used
//!   never    none
//! ```
//!
//! A seal is of a whole dataset. It is compared before the dataset's bytes are used, at most once
//! while the catalog is open: with `auto` when all of them are about to be, with `always` in any case.

use std::sync::atomic::{AtomicBool, Ordering};

use tet_codec::{Digester, Strength};
use tet_file::integrity::digest_of;
use tet_format::{Digest, planted};
use tet_io::{Source, View};

use super::ahead::{Ahead, Outcome};
use super::usize_range;
use crate::budget::{DigestPolicy, Execution};
use crate::catalog::Dataset;
use crate::decode;
use crate::error::{Error, Result};
use crate::plan::{ChunkRead, ReadPlan};

/// What the threads of one answer share.
#[derive(Debug)]
pub(crate) struct Checks<'a> {
    dataset: &'a Dataset,
    has_digests: bool,
    policy: DigestPolicy,
    unchecked: Option<&'a AtomicBool>,
    ahead: Ahead<'a>,
}

impl<'a> Checks<'a> {
    /// What is to be compared in one pass over `plan`; a seal is compared here, before the pass.
    ///
    /// # Errors
    ///
    /// Returns an error when the dataset differs from its seal, or cannot be read.
    pub(crate) fn new(
        source: &Source,
        dataset: &'a Dataset,
        plan: &'a ReadPlan,
        how: &'a Execution,
    ) -> Result<Self> {
        how.check_decoded(plan.decoded_len, source.len())?;
        let checks = Checks {
            dataset,
            has_digests: dataset.chunks.has_digests(),
            policy: how.digests,
            unchecked: how.unchecked.as_deref(),
            ahead: Ahead::new(plan),
        };
        match seal(source, dataset, || plan.is_of_all(dataset), how)? {
            Standing::Unchecked => checks.mark(),
            Standing::Good => {}
        }
        Ok(checks)
    }

    pub(super) fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// Whether payloads are compared before their bytes are used.
    pub(super) fn is_ahead(&self) -> bool {
        self.policy == DigestPolicy::Always
    }

    /// The digest that the file has for a chunk, unless none is wanted or there is none.
    fn wanted(&self, read: &ChunkRead) -> Result<Option<Digest>> {
        if !self.has_digests || planted::is("chunk_digest") {
            return Ok(None);
        }
        if self.policy == DigestPolicy::Never {
            self.mark();
            return Ok(None);
        }
        self.dataset.chunks.digest(&read.place)
    }

    fn strength(&self) -> Strength {
        match self.policy {
            DigestPolicy::Always => Strength::Full,
            _ => Strength::Fast,
        }
    }

    /// Says that bytes are used that were not compared.
    fn mark(&self) {
        if let Some(unchecked) = self.unchecked {
            unchecked.store(true, Ordering::Relaxed);
        }
    }

    /// The error for bytes that differ from their digest.
    fn fault(&self, read: &ChunkRead, (found, wanted): (u64, u64)) -> Error {
        let rule = tet_format::Rule::ChunkDigest;
        let fault = tet_format::Error { rule, at: read.place.stored.start(), found, wanted };
        Error::chunk(self.dataset, read, fault)
    }

    /// Compares all stored bytes of a chunk.
    ///
    /// # Errors
    ///
    /// Returns an error that names the chunk when they differ from its digest.
    pub(crate) fn whole(&self, read: &ChunkRead, stored: &[u8]) -> Result<()> {
        let Some(wanted) = self.wanted(read)? else { return Ok(()) };
        match tet_codec::compare(stored, wanted, self.strength()) {
            None => Ok(()),
            Some(differs) => Err(self.fault(read, differs)),
        }
    }

    /// Takes note that some bytes of a chunk are used; compares the whole chunk first where that is
    /// asked for, once for all threads.
    ///
    /// # Errors
    ///
    /// As [`Checks::whole`], and when the bytes cannot be read.
    pub(crate) fn part(
        &self,
        read: &ChunkRead,
        source: &Source,
        view: Option<&View<'_>>,
    ) -> Result<()> {
        if !self.has_digests {
            return Ok(());
        }
        if !self.is_ahead() {
            self.mark();
            return Ok(());
        }
        match self.ahead.outcome(read, |read| self.compared(read, source, view))? {
            None => Ok(()),
            Some(differs) => Err(self.fault(read, differs)),
        }
    }

    /// What is found when all stored bytes of a chunk are compared.
    fn compared(
        &self,
        read: &ChunkRead,
        source: &Source,
        view: Option<&View<'_>>,
    ) -> Result<Outcome> {
        let Some(wanted) = self.wanted(read)? else { return Ok(None) };
        let stored = read.place.stored;
        let found = match view {
            Some(view) => {
                let stored = view.get(usize_range(stored)?);
                tet_codec::digest(stored.ok_or_else(|| Error::shrunk(source))?)
            }
            None => digest_of(source, stored.range())?,
        };
        Ok(found.differs(wanted))
    }
}

/// How far a seal stands behind a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is none, or the stored bytes match it.
    Good,
    /// The stored bytes were not compared.
    Unchecked,
}

/// Compares the stored bytes of a dataset with its seals, where the policy asks for it and it was not
/// done before; `is_all` says whether all of them are about to be used.
///
/// # Errors
///
/// Returns an error when they differ, whoever found that out, or cannot be read.
pub(crate) fn seal(
    source: &Source,
    dataset: &Dataset,
    is_all: impl FnOnce() -> bool,
    how: &Execution,
) -> Result<Standing> {
    let seals = dataset.chunks.seals();
    if seals.is_empty() {
        return Ok(Standing::Good);
    }
    let is_due = match how.digests {
        DigestPolicy::Never => return Ok(Standing::Unchecked),
        DigestPolicy::Auto => is_all(),
        DigestPolicy::Always => true,
    };
    let mut standing = Standing::Good;
    for sealed in seals {
        let outcome = if is_due { Some(sealed.compare(source, how)?) } else { sealed.known() };
        match outcome {
            None => standing = Standing::Unchecked,
            Some(None) => {}
            Some(Some(fault)) => {
                return Err(Error::Foreign { dataset: dataset.name.clone(), fault });
            }
        }
    }
    Ok(standing)
}

/// A payload that one thread reads piece by piece, from its first byte on.
#[derive(Debug)]
pub(super) struct Passing<'a> {
    checks: &'a Checks<'a>,
    chunk: Option<Begun>,
}

#[derive(Debug)]
struct Begun {
    linear: u64,
    /// The first byte in the file that has not come by; `None` once the payload is compared, or
    /// cannot be.
    next: Option<u64>,
    digester: Digester,
    wanted: Digest,
}

impl<'a> Passing<'a> {
    pub(super) fn new(checks: &'a Checks<'a>) -> Self {
        Passing { checks, chunk: None }
    }

    /// Takes note of bytes of the file from `at` on, of which those of the chunk are used.
    pub(super) fn pass(&mut self, read: &ChunkRead, at: u64, bytes: &[u8]) -> Result<()> {
        if self.checks.is_ahead() {
            return Ok(());
        }
        let span = read.place.stored;
        if self.chunk.as_ref().is_none_or(|begun| begun.linear != read.linear) {
            self.leave();
            let Some(wanted) = self.checks.wanted(read)? else { return Ok(()) };
            let (linear, next) = (read.linear, Some(span.start()));
            let digester = Digester::new(self.checks.strength());
            self.chunk = Some(Begun { linear, next, digester, wanted });
        }
        let Some(begun) = &mut self.chunk else { return Ok(()) };
        let Some(next) = begun.next else { return Ok(()) };
        if next < at {
            begun.next = None;
            self.checks.mark();
            return Ok(());
        }
        let start = decode::len(next - at)?;
        let end = decode::len(span.end() - at)?.min(bytes.len());
        let Some(bytes) = bytes.get(start..end) else { return Ok(()) };
        begun.digester.update(bytes);
        let next = next + bytes.len() as u64;
        begun.next = Some(next);
        if next == span.end() {
            begun.next = None;
            if let Some(differs) = begun.digester.compare(begun.wanted) {
                return Err(self.checks.fault(read, differs));
            }
        }
        Ok(())
    }

    /// Goes on to another chunk: one that has not come by whole was not compared.
    fn leave(&mut self) {
        if self.chunk.take().is_some_and(|begun| begun.next.is_some()) {
            self.checks.mark();
        }
    }
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
