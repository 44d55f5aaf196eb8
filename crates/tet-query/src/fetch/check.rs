//! Payloads compared with their digests, from the very bytes that are used.
//!
//! ```text
//!   auto     every chunk of which the plan reads every byte: one that is decoded whole before it is
//!            decoded, by XXH3; raw elements as they are used, by CRC-32C, in whichever task
//!   always   every chunk that is touched, whole, by both halves, before its bytes are used
//!   never    none
//! ```
//!
//! Raw chunks may be longer than a task, so several threads digest what they use of one, and add
//! it up (`passing.rs`). Mismatches are reported when the pass ends ([`Checks::finish`]): the error
//! names the first such chunk of the plan, whatever the number of threads.
//!
//! A seal is of a whole dataset. It is compared before the dataset's bytes are used, at most once
//! while the catalog is open: with `auto` when all of them are about to be, with `always` in any
//! case. Where somebody may have written meanwhile, it is compared once more afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tet_codec::{PieceSum, Strength};
use tet_file::integrity::digest_of;
use tet_format::{Digest, Integrity};
use tet_io::{View, Writers};

use super::ahead::{Ahead, Outcome};
use super::part_read::PartRead;
use crate::budget::{DigestPolicy, Execution};
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::plan::{ChunkRead, ReadPlan, StatisticsUse};

/// How often the tasks of a pass use an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uses {
    /// Once at most.
    Once,
    /// More than once: windows that overlap.
    Repeated,
}

impl Uses {
    /// Whether a chunk of which parts are used is compared with its digest first; `is_whole`: all of it is selected.
    pub(crate) fn compare_ahead(
        self,
        digests: DigestPolicy,
        is_whole: impl FnOnce() -> bool,
    ) -> bool {
        match digests {
            DigestPolicy::Always => true,
            DigestPolicy::Auto => self == Uses::Repeated && is_whole(),
            DigestPolicy::Never => false,
        }
    }
}

/// Set once an answer uses a byte that was not checked against a digest.
#[derive(Debug, Default)]
pub(crate) struct Unverified {
    is_marked: AtomicBool,
    statistics: Mutex<StatisticsUse>,
}

impl Unverified {
    fn mark(&self) {
        self.is_marked.store(true, Ordering::Relaxed);
    }

    /// Takes note of a pass that uses statistics.
    pub(crate) fn note_statistics(&self, used: StatisticsUse) {
        if !used.is_none() && !used.is_checked {
            self.mark();
        }
        let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        *statistics = statistics.and(used);
    }

    /// The use of chunk statistics.
    pub(crate) fn statistics(&self) -> StatisticsUse {
        *self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy, for answers that go on to read more.
    pub(crate) fn copied(&self) -> Unverified {
        let is_marked = AtomicBool::new(self.is_marked.load(Ordering::Relaxed));
        Unverified { is_marked, statistics: Mutex::new(self.statistics()) }
    }

    /// The integrity to report for an answer, given what was checked.
    pub(crate) fn integrity(&self, dataset: &Dataset) -> Integrity {
        match dataset.chunks.integrity() {
            Integrity::Verified if self.is_marked.load(Ordering::Relaxed) => Integrity::Unchecked,
            integrity => integrity,
        }
    }
}

/// Digest checks shared by the threads of one answer.
#[derive(Debug)]
pub(crate) struct Checks<'a> {
    dataset: &'a Dataset,
    plan: &'a ReadPlan,
    how: &'a Execution,
    unverified: &'a Unverified,
    has_digests: bool,
    uses: Uses,
    ahead: Ahead<'a>,
    /// Chunks that several passes read in parts.
    parts: Option<&'a PartRead>,
    /// Whether somebody may have the file open for writing.
    is_contended: bool,
    /// Whether a chunk was checked by one read and used from another; a writer may have come between.
    checked_by_another_read: AtomicBool,
    raw: Mutex<RawSums>,
}

/// Raw chunks that are digested in pieces.
#[derive(Debug, Default)]
struct RawSums {
    /// Digests of chunks that were seen in part, by their linear index.
    open: BTreeMap<u64, PieceSum>,
    /// The first chunk that differs, or could not be looked at again.
    fault: Option<(u64, Error)>,
}

impl<'a> Checks<'a> {
    /// Sets up the checks of one pass over `plan`; a seal is compared here, before the pass.
    ///
    /// # Errors
    ///
    /// Returns an error when the dataset differs from its seal, or cannot be read.
    pub(crate) fn new(
        dataset: &'a Dataset,
        plan: &'a ReadPlan,
        how: &'a Execution,
        unverified: &'a Unverified,
        uses: Uses,
        parts: Option<&'a PartRead>,
    ) -> Result<Self> {
        let file_len = dataset.source.len();
        if how.check_decoded(plan.decoded_len, file_len).is_err() {
            // Chunks of other files count with what they take there.
            let checked = how.check_decoded(plan.decoded_len, file_len.max(plan.distinct_len()));
            checked.map_err(|error| dataset.in_file(error))?;
        }
        let has_digests = dataset.chunks.has_digests();
        let checks = Checks {
            dataset,
            plan,
            how,
            unverified,
            has_digests,
            uses,
            ahead: Ahead::new(plan),
            parts,
            is_contended: how.digests == DigestPolicy::Always
                && has_digests
                && dataset.writers() != Writers::Absent,
            checked_by_another_read: AtomicBool::new(false),
            raw: Mutex::default(),
        };
        seal(dataset, || plan.is_of_all(dataset), how, unverified)?;
        Ok(checks)
    }

    pub(super) fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// Completes the checks of the pass.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first raw chunk that differs from its digest, or when the file
    /// changed after it was compared with a seal.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut raw = self.raw();
        if let Some((_, error)) = raw.fault.take() {
            return Err(error);
        }
        if !raw.open.is_empty() {
            self.unverified.mark();
        }
        drop(raw);
        self.look_again()
    }

    /// Where bytes were compared by one read and used of another, looks whether somebody may have
    /// written in between.
    fn look_again(&self) -> Result<()> {
        let seals = self.dataset.chunks.seals();
        let is_apart = self.checked_by_another_read.load(Ordering::Relaxed);
        if self.how.digests == DigestPolicy::Never || (seals.is_empty() && !is_apart) {
            return Ok(());
        }
        if self.dataset.writers() == Writers::Absent {
            return Ok(());
        }
        // Somebody may have written between the reads, also bytes that were put back since.
        self.unverified.mark();
        let is_of_all = self.plan.is_of_all(self.dataset);
        for sealed in seals.into_iter().filter(|sealed| is_of_all && sealed.known() == Some(None)) {
            if sealed.compared_again(&self.dataset.source, self.how)?.is_some() {
                return Err(Error::changed(&self.dataset.source));
            }
        }
        Ok(())
    }

    fn raw(&self) -> MutexGuard<'_, RawSums> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The digest that the file has for a chunk, unless none is wanted or there is none.
    fn wanted(&self, read: &ChunkRead) -> Result<Option<Digest>> {
        if !self.has_digests || read.place.is_absent() {
            return Ok(None);
        }
        if self.how.digests == DigestPolicy::Never {
            self.unverified.mark();
            return Ok(None);
        }
        self.dataset.chunks.digest(&read.place)
    }

    /// The error for bytes that differ from their digest.
    fn fault(&self, read: &ChunkRead, found: u64, wanted: u64) -> Error {
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
        let strength = match self.how.digests {
            DigestPolicy::Always => Strength::Full,
            _ => Strength::Fast,
        };
        match tet_codec::compare(stored, wanted, strength) {
            None => Ok(()),
            Some((found, wanted)) => Err(self.fault(read, found, wanted)),
        }
    }

    /// Begins the use of raw elements of a chunk, the `ordinal`th of the plan: gives its digest where
    /// they are to be digested as they are used, compares the whole chunk first, once for all threads,
    /// where it is to be compared in another way.
    ///
    /// # Errors
    ///
    /// As [`Checks::whole`], and when bytes or digests cannot be read.
    pub(super) fn begin(
        &self,
        read: &ChunkRead,
        ordinal: u64,
        view: Option<&View<'_>>,
    ) -> Result<Option<Digest>> {
        if !self.has_digests || read.place.is_absent() {
            return Ok(None);
        }
        let is_whole = self.plan.is_whole(ordinal);
        let is_digested = is_whole && self.uses == Uses::Once;
        let is_covered = self.how.digests == DigestPolicy::Auto
            && !is_digested
            && self.parts.is_some_and(|parts| parts.covers(read));
        if is_covered || self.uses.compare_ahead(self.how.digests, || is_whole) {
            self.compare_ahead(read, view)?;
            if !(is_digested && self.is_contended) {
                self.checked_by_another_read.store(true, Ordering::Relaxed);
                return Ok(None);
            }
        }
        if is_digested {
            return self.wanted(read);
        }
        self.unverified.mark();
        Ok(None)
    }

    /// Compares a whole chunk before a part of it is used, once for all threads and passes.
    fn compare_ahead(&self, read: &ChunkRead, view: Option<&View<'_>>) -> Result<()> {
        if self.parts.is_some_and(|parts| parts.is_compared(read)) {
            return Ok(());
        }
        if let Some((found, wanted)) = self.ahead.outcome(read, |read| self.compared(read, view))? {
            return Err(self.fault(read, found, wanted));
        }
        if let Some(parts) = self.parts {
            parts.add(read);
        }
        Ok(())
    }

    /// Takes note that some elements of a chunk are used, as [`Checks::begin`] does, where they are not
    /// its stored bytes.
    ///
    /// # Errors
    ///
    /// As [`Checks::begin`].
    pub(crate) fn part(
        &self,
        read: &ChunkRead,
        ordinal: u64,
        view: Option<&View<'_>>,
    ) -> Result<()> {
        if self.begin(read, ordinal, view)?.is_some() {
            self.unverified.mark();
        }
        Ok(())
    }

    /// Compares all stored bytes of a chunk with its digest.
    fn compared(&self, read: &ChunkRead, view: Option<&View<'_>>) -> Result<Outcome> {
        let Some(wanted) = self.wanted(read)? else { return Ok(None) };
        let stored = read.place.stored.range();
        let object = self.dataset.object(&read.place)?;
        let found = match view.and_then(|view| view.bytes(stored.clone())) {
            Some(stored) => tet_codec::digest(stored),
            None => digest_of(object.as_ref().unwrap_or(&self.dataset.source), stored)?,
        };
        Ok(found.differs(wanted))
    }

    /// Adds what was seen of a raw chunk; compares it once all of its bytes were.
    pub(super) fn add(&self, read: &ChunkRead, wanted: Digest, seen: PieceSum) {
        let len = read.place.stored.len();
        let mut sum = seen;
        if seen.seen != len {
            let mut raw = self.raw();
            let open = raw.open.entry(read.linear).or_default();
            open.add(seen);
            if open.seen != len {
                return;
            }
            sum = *open;
            raw.open.remove(&read.linear);
        }
        if sum.crc != wanted.crc32c {
            self.note(read);
        }
    }

    /// Takes note of a chunk of which other bytes were used than its digest is of. The file is looked at
    /// again: where it has the right bytes now, it changed while it was read.
    fn note(&self, read: &ChunkRead) {
        let error = match self.compared(read, None) {
            Ok(Some((found, wanted))) => self.fault(read, found, wanted),
            Ok(None) => Error::changed(&self.dataset.source),
            Err(error) => error,
        };
        let mut raw = self.raw();
        if raw.fault.as_ref().is_none_or(|(linear, _)| read.linear < *linear) {
            raw.fault = Some((read.linear, error));
        }
    }
}

/// Compares the stored bytes of a dataset with its seals, where the policy asks for it and it was not
/// done before; `is_all`: whether all of them are about to be used.
///
/// # Errors
///
/// Returns an error when they differ, whichever thread found that, or cannot be read.
pub(crate) fn seal(
    dataset: &Dataset,
    is_all: impl FnOnce() -> bool,
    how: &Execution,
    unverified: &Unverified,
) -> Result<()> {
    let seals = dataset.chunks.seals();
    if seals.is_empty() {
        return Ok(());
    }
    let is_due = match how.digests {
        DigestPolicy::Never => {
            unverified.mark();
            return Ok(());
        }
        DigestPolicy::Auto => is_all(),
        DigestPolicy::Always => true,
    };
    for sealed in seals {
        let compared = || sealed.compare(&dataset.source, how);
        match if is_due { Some(compared()?) } else { sealed.known() } {
            None => unverified.mark(),
            Some(None) => {}
            Some(Some(fault)) => {
                let error = Error::Foreign { dataset: dataset.name.clone(), fault };
                return Err(dataset.in_file(error));
            }
        }
    }
    Ok(())
}
