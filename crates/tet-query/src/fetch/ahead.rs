//! Chunks that are compared before their bytes are used, each by one thread.
//!
//! Tasks share chunks, so threads come to the same one at a time. The first of them compares it; the
//! others take chunks that come later in the plan, and wait when there are none:
//!
//! ```text
//!   thread 1   compares 0            folds its part of 0   ...
//!   thread 2   comes to 0, takes 1   folds its part of 0   ...   comes to 1, which is compared
//! ```
//!
//! A mismatch is reported when a task reaches its chunk, whichever thread compared it and when: so the
//! error of an answer does not depend on threads.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::plan::{ChunkRead, ReadPlan};

/// The numbers found and wanted of a chunk that differs from its digest.
pub(super) type Outcome = Option<(u64, u64)>;

/// The chunks of one plan.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    plan: &'a ReadPlan,
    state: Mutex<Comparisons>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Comparisons {
    /// Outcomes by the chunk's linear index; `None` while a thread compares it.
    outcomes: BTreeMap<u64, Option<Outcome>>,
    /// No chunk before this place in the plan is left to be taken.
    next: usize,
    waiting: usize,
}

/// A chunk that this thread compares. It is given back by errors and panics, so that no thread waits
/// for it in vain.
struct Claim<'a> {
    ahead: &'a Ahead<'a>,
    linear: u64,
    outcome: Option<Outcome>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(plan: &'a ReadPlan) -> Self {
        Ahead { plan, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Outcome for a chunk, cached or computed by `compare`, which may be called for a later chunk
    /// first.
    ///
    /// # Errors
    ///
    /// Returns the error of `compare` for the requested chunk.
    pub(super) fn outcome(
        &self,
        read: &ChunkRead,
        compare: impl Fn(&ChunkRead) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let mut state = self.state();
        loop {
            match state.outcomes.get(&read.linear) {
                Some(Some(outcome)) => return Ok(*outcome),
                Some(None) => {}
                None => return self.claim(state, read, &compare),
            }
            if let Some(later) = state.later(self.plan) {
                // An error is met again by the task that needs the chunk.
                let _ = self.claim(state, later, &compare);
                state = self.state();
            } else {
                state.waiting += 1;
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
            }
        }
    }

    fn claim(
        &self,
        mut state: MutexGuard<'_, Comparisons>,
        read: &ChunkRead,
        compare: impl Fn(&ChunkRead) -> Result<Outcome>,
    ) -> Result<Outcome> {
        state.outcomes.insert(read.linear, None);
        drop(state);
        let mut claim = Claim { ahead: self, linear: read.linear, outcome: None };
        let outcome = compare(read)?;
        claim.outcome = Some(outcome);
        Ok(outcome)
    }

    fn state(&self) -> MutexGuard<'_, Comparisons> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Comparisons {
    /// The first chunk of the plan that no thread has taken. Those that are decoded whole are compared
    /// where that is done.
    fn later<'a>(&mut self, plan: &'a ReadPlan) -> Option<&'a ChunkRead> {
        loop {
            let read = plan.chunks().get(self.next)?;
            self.next += 1;
            if plan.is_ranged(read) && !self.outcomes.contains_key(&read.linear) {
                return Some(read);
            }
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.ahead.state();
        match self.outcome {
            Some(outcome) => state.outcomes.insert(self.linear, Some(outcome)),
            None => state.outcomes.remove(&self.linear),
        };
        let is_awaited = state.waiting != 0;
        drop(state);
        if is_awaited {
            self.ahead.ended.notify_all();
        }
    }
}
