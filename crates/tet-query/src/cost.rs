//! The cost of an answer, before it is computed.
//!
//! Every driver derives it from the numbers it runs with: the passes it makes, the threads that can be
//! afforded, the windows, chunks and states they hold. A plan alone knows none of these, and no element
//! may be read for them: so every driver has a second function that returns its cost.

use crate::budget::Execution;
use crate::error::Result;
use crate::plan::{ReadPlan, StatisticsUse};

/// Bytes of one value of a result, at most.
pub(crate) const VALUE_LEN: u64 = 16;

/// The cost of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often the selected elements are read.
    pub passes: Passes,
    /// Whether one of two passes compares chunks with their digests, before parts of them are used.
    pub is_compared: bool,
    /// The most bytes a thread holds besides its windows: a chunk that is decoded whole and the states
    /// of a task. Over the budget the answer is refused.
    pub thread_len: u64,
    /// Bytes held at once, about: what all threads hold, and the cells of the result. An array that
    /// is read is not in it.
    pub memory_len: u64,
    /// The chunks that are not read, because of their statistics.
    pub statistics: StatisticsUse,
}

/// How often the selected elements are read. It depends on them where the two differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// At least so often.
    pub least: u64,
    /// At most so often.
    pub most: u64,
}

impl Passes {
    /// One pass.
    pub(crate) const ONE: Passes = Passes { least: 1, most: 1 };

    /// Whether the number is known whatever the elements are.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.least == self.most
    }

    /// These costs, `count` times.
    pub(crate) const fn times(self, count: u64) -> Passes {
        Passes { least: self.least.saturating_mul(count), most: self.most.saturating_mul(count) }
    }
}

impl Cost {
    /// One pass over a plan by threads that hold `thread_len` bytes each, for `tasks` tasks.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Budget`](crate::Error::Budget) where the pass does.
    pub(crate) fn pass(
        plan: &ReadPlan,
        how: &Execution,
        thread_len: u64,
        tasks: u64,
    ) -> Result<Cost> {
        if plan.element_count == 0 {
            return Ok(Cost::default());
        }
        let threads = tasks.min(how.workers(thread_len)? as u64);
        // No more is read than is there.
        let windows = plan.touched_len().min(2 * how.window_len());
        let ahead = plan.touched_len().min(how.ahead_len());
        let threads_len = threads.saturating_mul(thread_len.saturating_add(windows));
        let memory_len = threads_len.saturating_add(ahead);
        let statistics = plan.statistics_use();
        let (passes, is_compared) = (Passes::ONE, false);
        Ok(Cost { passes, is_compared, thread_len, memory_len, statistics })
    }

    /// This and then another: nothing of the one is held while the other runs.
    pub(crate) fn then(self, next: Cost) -> Cost {
        let (a, b) = (self.passes, next.passes);
        Cost {
            passes: Passes {
                least: a.least.saturating_add(b.least),
                most: a.most.saturating_add(b.most),
            },
            is_compared: self.is_compared || next.is_compared,
            thread_len: self.thread_len.max(next.thread_len),
            memory_len: self.memory_len.max(next.memory_len),
            statistics: self.statistics.and(next.statistics),
        }
    }

    /// Adds the memory of `count` values.
    pub(crate) const fn with_values(self, count: u64) -> Cost {
        self.with_held(count.saturating_mul(VALUE_LEN))
    }

    /// Adds `len` bytes of memory.
    pub(crate) const fn with_held(self, len: u64) -> Cost {
        Cost { memory_len: self.memory_len.saturating_add(len), ..self }
    }
}
