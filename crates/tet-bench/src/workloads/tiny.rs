//! Q3, the sum of 500,000 chunks of 8 elements.

use anyhow::Result;
use tet_query::{Op, Reduction};

use super::Measured;
use super::mapped::reduce;
use crate::data::{self, Io, TINY_COUNT};
use crate::measure::times;
use crate::report::{Figure, ReportRow};

/// Half a second, in microseconds.
const TARGET: f64 = 500_000.0;

/// Q3: through a file that is open, and with opening it.
pub(super) fn sums(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = run.folder.tiny()?;
    let sum = Reduction::all(Op::Sum);
    let mut rows = Vec::new();
    let mut row = |name: &str, rounds| {
        let work = format!("sum of {TINY_COUNT} chunks of 8 float32, {name}");
        rows.push(ReportRow::new("Q3", work, "", Figure::Microseconds, rounds, TARGET));
    };
    let kept = data::catalog(&path, Io::Mapped)?;
    row("open", times(run.rounds, || reduce(&kept, &sum))?);
    row("opened for it", times(run.rounds, || reduce(&data::catalog(&path, Io::Mapped)?, &sum))?);
    Ok(rows)
}
