//! R2, moments, norms and counts of everything.

use anyhow::Result;
use tet_format::DType;
use tet_query::{Compare, Filter, Number, Op, Reduction};

use super::mapped::MappedCatalog;
use super::reduce::DTYPES;
use super::{LAYOUTS, Measured};
use crate::report::{Figure, ReportRow};

/// `nan_count` of integers reads nothing, so only floats are measured.
const OPS: [Op; 4] = [Op::Var, Op::Std, Op::NormL2, Op::NanCount];

/// A number that about half of the elements are greater than.
fn middle(dtype: DType) -> Number {
    if dtype.is_float() { Number::Float(280.0) } else { Number::Int(0) }
}

/// Only elements that hold against the number.
pub(super) fn filter(tests: &[(Compare, Number)]) -> Filter {
    Filter { tests: tests.to_vec(), ..Filter::default() }
}

/// R2: over all elements, slab and tiled, one pass each.
pub(super) fn whole(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let mut rows = Vec::new();
    for dtype in DTYPES {
        let half = filter(&[(Compare::Gt, middle(dtype))]);
        for (layout, chunk_shape) in LAYOUTS {
            let kept = MappedCatalog::open(&run.folder.array(dtype, layout, chunk_shape)?)?;
            let mut row = |name: &str, reduction: &Reduction| -> Result<()> {
                let work = format!("{name} of {} {layout}", dtype.name());
                let rounds = kept.beside_scan(run, reduction)?;
                rows.push(ReportRow::new("R2", work, "scan", Figure::Ratio, rounds, 0.75));
                Ok(())
            };
            for op in OPS.into_iter().filter(|&op| op != Op::NanCount || dtype.is_float()) {
                row(op.name(), &Reduction::all(op))?;
            }
            let counted = Reduction { filter: Some(half.clone()), ..Reduction::all(Op::Count) };
            row("count of a filtered half", &counted)?;
        }
    }
    Ok(rows)
}
