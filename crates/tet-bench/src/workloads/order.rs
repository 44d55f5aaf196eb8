//! R5, the median and a quantile of everything.

use anyhow::Result;
use tet_format::DType;
use tet_query::{Op, Params, Reduction};

use super::mapped::MappedCatalog;
use super::{Measured, memory};
use crate::data::TILED;
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// R5: compared with the sum of the same elements; the memory of a median.
pub(super) fn whole(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let ninth = Params { q: vec![0.9], one_q: true, ..Params::default() };
    let reductions = [
        ("median", Reduction::all(Op::Median)),
        ("quantile 0.9", Reduction { params: ninth, ..Reduction::all(Op::Quantile) }),
    ];
    let mut rows = Vec::new();
    for (dtype, target) in [(DType::Float32, 12.0), (DType::Float64, 16.0)] {
        let path = run.folder.array(dtype, "tiled", TILED)?;
        let kept = MappedCatalog::open(&path)?;
        let sum = Reduction::all(Op::Sum);
        for (name, reduction) in &reductions {
            let rounds = paired(run.rounds, || kept.reduce(&sum), || kept.reduce(reduction))?;
            let work = format!("{name} of {} tiled", dtype.name());
            rows.push(ReportRow::new("R5", work, "sum", Figure::Times, rounds.inverted(), target));
        }
        let work = format!("median of {} tiled, memory", dtype.name());
        let (rounds, budget) = memory::ordering(&path)?;
        rows.push(ReportRow::new("R5", work, "", Figure::Mebibytes, rounds, budget));
    }
    Ok(rows)
}
