//! Report of the measurements: a table for people, JSON with the machine's facts for comparing
//! later.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::measure::Rounds;

/// A ratio above this says that the limit is badly built.
const VALID_MAX: f64 = 1.10;

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// Time of the limit over time of the work: the target is the least.
    Ratio,
    /// Time of the work over time of the limit: the target is the most.
    Times,
    /// Microseconds: the target is the most.
    Microseconds,
    /// MiB: the target is the most.
    Mebibytes,
    /// A number of things: the target is the most.
    Count,
}

/// One workload with its result.
#[derive(Clone, Debug, Serialize)]
pub struct ReportRow {
    /// The group, such as `R1`.
    pub id: &'static str,
    /// The work.
    pub work: String,
    /// The limit it is compared with; empty for ceilings.
    pub limit: &'static str,
    /// The unit of the figures.
    pub figure: Figure,
    /// The figures.
    pub rounds: Rounds,
    /// The target; 0 where there is none.
    pub target: f64,
    /// Whether it was.
    pub met: bool,
    /// Whether the limit was one.
    pub valid: bool,
}

impl ReportRow {
    /// A row whose verdict follows from its figures.
    #[must_use]
    pub fn new(
        id: &'static str,
        work: impl Into<String>,
        limit: &'static str,
        figure: Figure,
        rounds: Rounds,
        target: f64,
    ) -> Self {
        let is_ratio = figure == Figure::Ratio;
        let reached = if is_ratio { rounds.median >= target } else { rounds.median <= target };
        let met = target == 0.0 || reached;
        let valid = !is_ratio || rounds.median <= VALID_MAX;
        Self { id, work: work.into(), limit, figure, rounds, target, met, valid }
    }

    /// Marks a limit that does more than the work has to and may be exceeded.
    #[must_use]
    pub fn passable(self) -> Self {
        Self { valid: true, ..self }
    }

    fn verdict(&self) -> &'static str {
        match (self.valid, self.met) {
            (false, _) => "INVALID",
            (true, _) if self.target == 0.0 => "",
            (true, true) => "met",
            (true, false) => "MISSED",
        }
    }

    /// The target with the side of it that is wanted.
    fn wanted(&self) -> String {
        match self.figure {
            _ if self.target == 0.0 => "-".to_owned(),
            Figure::Ratio => format!(">= {}", self.target),
            _ => format!("<= {}", self.target),
        }
    }
}

/// Facts about the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Threads that were used.
    pub threads: usize,
    /// Widest vectors the processor has.
    pub vectors: &'static str,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// The kernel's version.
    pub kernel: String,
}

impl Machine {
    /// This machine, as far as it can be found out.
    #[must_use]
    pub fn here() -> Self {
        let cpuinfo = text("/proc/cpuinfo");
        let value = |text: &str, key: &str| -> Option<String> {
            let line = text.lines().find(|line| line.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let flags = value(&cpuinfo, "flags").unwrap_or_default();
        let has = |flag: &str| flags.split(' ').any(|known| known == flag);
        let memory = value(&text("/proc/meminfo"), "MemTotal").unwrap_or_default();
        let kib = memory.split(' ').next().and_then(|kib| kib.parse::<u64>().ok());
        Self {
            cpu: value(&cpuinfo, "model name").unwrap_or_default(),
            threads: rayon::current_num_threads(),
            vectors: match (has("avx512f"), has("avx2")) {
                (true, _) => "avx512",
                (false, true) => "avx2",
                (false, false) => "other",
            },
            memory_mib: kib.unwrap_or(0) / 1024,
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

fn text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Everything a run found out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The shape of this JSON.
    pub schema: &'static str,
    /// Where it ran.
    pub machine: Machine,
    /// Rounds a row was measured.
    pub rounds: usize,
    /// The measurements.
    pub rows: Vec<ReportRow>,
}

impl Report {
    /// A report of these rows.
    #[must_use]
    pub fn new(rounds: usize, rows: Vec<ReportRow>) -> Self {
        Self { schema: "tet.bench/1", machine: Machine::here(), rounds, rows }
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = String::new();
        let width = self.rows.iter().map(|row| row.work.len()).max().unwrap_or(0).max(4);
        let machine = &self.machine;
        let _ = writeln!(
            out,
            "{}, {} threads, {}, {} MiB, Linux {}; medians of {} rounds",
            machine.cpu,
            machine.threads,
            machine.vectors,
            machine.memory_mib,
            machine.kernel,
            self.rounds
        );
        let _ = writeln!(
            out,
            "{:3} {:width$} {:8} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "", "work", "limit", "median", "min", "max", "best", "target"
        );
        for row in &self.rows {
            let unit = match row.figure {
                Figure::Ratio | Figure::Count => "",
                Figure::Times => " x",
                Figure::Microseconds => " us",
                Figure::Mebibytes => " MiB",
            };
            let Rounds { median, min, max, best } = row.rounds;
            let _ = writeln!(
                out,
                "{:3} {:width$} {:8} {median:>10.2} {min:>10.2} {max:>10.2} {best:>10.2} {:>10} {}{unit}",
                row.id,
                row.work,
                row.limit,
                row.wanted(),
                row.verdict(),
            );
        }
        out
    }

    /// Stores the JSON as `bench/NAME.json` and gives its path.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be written.
    pub fn store(&self, target: &Path, name: &str) -> Result<PathBuf> {
        let folder = target.join("bench");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.json"));
        std::fs::write(&path, serde_json::to_string_pretty(self)?)?;
        Ok(path)
    }
}
