//! How a document wants to be carried out.

use tet_query::Execution;

/// How a document wants to be carried out. Results do not depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryExecution {
    /// The memory budget in bytes; 0 is the same as no value.
    pub memory_budget_bytes: Option<u64>,
    /// The budget as a share of the memory of the machine, in hundredths of a percent. Bytes win
    /// over it.
    pub memory_budget_percent_bps: Option<u16>,
    /// Threads to use; 0 means all there are.
    pub threads: Option<usize>,
    /// `false` means one thread, unless `threads` has a number.
    pub fold_parallel: Option<bool>,
    /// Which device the author had in mind. The answer comes from the CPU.
    pub device: Option<String>,
}

impl QueryExecution {
    /// `base` with the settings of the document; `memory_len` is the machine's memory in bytes.
    #[must_use]
    pub fn over(&self, base: &Execution, memory_len: u64) -> Execution {
        let mut execution = base.clone();
        let share = |bps: u16| {
            let bytes = u128::from(memory_len) * u128::from(bps) / 10_000;
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        // Zero means no value, as in the hint of the file.
        let is_set = |budget: &u64| *budget != 0;
        let share = || self.memory_budget_percent_bps.map(share).filter(is_set);
        if let Some(budget) = self.memory_budget_bytes.filter(is_set).or_else(share) {
            execution.memory_budget = budget;
        }
        if self.fold_parallel == Some(false) {
            execution.threads = 1;
        }
        if let Some(threads) = self.threads {
            execution.threads = threads;
        }
        execution
    }

    /// Notes for the user on how the document is executed.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let elsewhere =
            self.device.iter().filter(|device| !matches!(device.as_str(), "cpu" | "auto"));
        elsewhere.map(|device| format!("device {device:?} is answered by the cpu")).collect()
    }
}
