//! Folds the elements of one cell with an operation.

use tet_format::DType;

use super::cell::Cell;
use super::exact::ExactSum;
use super::sieve::{is_fill, is_nan};
use super::{moment, order};
use tet_query::{Error, NanPolicy, Op, Reduction, Result};

/// The elements of one cell in the order of the selection.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    /// Each with its position along the axes that tell elements apart; pads have any.
    pub elements: Vec<(Cell, u64)>,
    /// How many of them are not pads.
    pub real: u64,
    /// Pads that are not elements yet.
    pub pads: Vec<Cell>,
}

impl Members {
    /// Takes in an element, unless it is NaN and those are skipped.
    pub(super) fn take(&mut self, element: Cell, index: u64, nan: NanPolicy) {
        if nan == NanPolicy::Propagate || !is_nan(element) {
            self.elements.push((element, index));
        }
    }

    fn floats(&self) -> Vec<f64> {
        self.elements.iter().map(|(element, _)| element.to_f64()).collect()
    }
}

/// The values of a cell; several for quantiles and histograms.
pub(super) fn values(
    dtype: DType,
    reduction: &Reduction,
    members: &Members,
    edges: &[f64],
) -> Result<Vec<Cell>> {
    let params = &reduction.params;
    let elements = || members.elements.iter().map(|&(element, _)| element);
    let count = |test: &dyn Fn(Cell) -> bool| elements().filter(|&it| test(it)).count();
    let infinite = |it: Cell| matches!(it, Cell::Float(float) if float.is_infinite());
    let one = match reduction.op.plain() {
        Op::Count => whole(members.elements.len()),
        Op::NanCount => whole(count(&is_nan)),
        Op::InfCount => whole(count(&infinite)),
        Op::NullCount => {
            whole(count(&|it| params.fill.is_some_and(|fill| is_fill(dtype, it, fill))))
        }
        Op::AllFinite => whole(usize::from(count(&|it| is_nan(it) || infinite(it)) == 0)),
        Op::AnyNan => whole(usize::from(count(&is_nan) > 0)),
        Op::AnyInf => whole(usize::from(count(&infinite) > 0)),
        Op::Min => extremum(members, smaller).map_or(Cell::Null, |(element, _)| element),
        Op::Max => extremum(members, larger).map_or(Cell::Null, |(element, _)| element),
        Op::ArgMin => place(members, |it, best| it < best),
        Op::ArgMax => place(members, |it, best| it > best),
        Op::Product => product(dtype, members)?,
        Op::Median => order::median(members.floats()),
        Op::Quantile => return Ok(order::quantiles(members.floats(), &params.q)),
        Op::Histogram => return Ok(order::histogram(&members.floats(), edges)),
        Op::NormL1 => moment::norm_l1(&members.floats()),
        Op::NormL2 => moment::norm_l2(&members.floats()),
        Op::Var => moment::variance(&members.floats(), params.ddof),
        Op::Std => moment::variance(&members.floats(), params.ddof).root(),
        Op::Mean if members.elements.is_empty() => Cell::Null,
        op => sum(dtype, op, members),
    };
    Ok(vec![one])
}

fn whole(count: usize) -> Cell {
    Cell::Int(count as i128)
}

fn sum(dtype: DType, op: Op, members: &Members) -> Cell {
    let (mut integers, mut floats) = (0, ExactSum::default());
    for (element, _) in &members.elements {
        match element {
            Cell::Int(integer) => integers += integer,
            Cell::Float(float) => floats.add(*float),
            Cell::Null => {}
        }
    }
    let count = members.elements.len();
    match (dtype.is_float(), op) {
        (true, Op::Mean) => Cell::Float(floats.mean(count as u64)),
        (false, Op::Mean) => Cell::Float(quotient(integers, count as u128)),
        (true, _) => Cell::Float(floats.round()),
        (false, _) => Cell::Int(integers),
    }
}

/// The double nearest to a quotient: the integer one with enough digits that the last can tell of
/// all that follow.
#[allow(clippy::cast_precision_loss, reason = "a quotient is rounded")]
fn quotient(dividend: i128, divisor: u128) -> f64 {
    let shift = dividend.unsigned_abs().leading_zeros();
    let shifted = dividend.unsigned_abs() << shift.min(127);
    let digits = (shifted / divisor) | u128::from(!shifted.is_multiple_of(divisor));
    let magnitude = digits as f64 / 2_f64.powi(shift.min(127).try_into().unwrap_or(0));
    if dividend < 0 { -magnitude } else { magnitude }
}

fn product(dtype: DType, members: &Members) -> Result<Cell> {
    if dtype.is_float() {
        return Ok(moment::product(&members.floats()));
    }
    let zero = members.elements.iter().any(|&(element, _)| element == Cell::Int(0));
    let mut product = 1_i128;
    for &(element, _) in members.elements.iter().filter(|_| !zero) {
        let Cell::Int(integer) = element else { continue };
        // The one number whose magnitude has no positive twin may come last.
        product = product.checked_mul(integer).ok_or(Error::Overflow { op: Op::Product.name() })?;
    }
    Ok(Cell::Int(if zero { 0 } else { product }))
}

fn extremum(members: &Members, pick: fn(Cell, Cell) -> Cell) -> Option<(Cell, u64)> {
    members.elements.iter().copied().reduce(|best, next| (pick(best.0, next.0), 0))
}

/// Where the first best element is: the first NaN if there is one.
fn place(members: &Members, better: fn(Cell, Cell) -> bool) -> Cell {
    let nan = members.elements.iter().find(|(element, _)| is_nan(*element));
    let pick = |best: (Cell, u64), next: (Cell, u64)| {
        if better(next.0, best.0) { next } else { best }
    };
    let best = nan.copied().or_else(|| members.elements.iter().copied().reduce(pick));
    best.map_or(Cell::Null, |(_, index)| Cell::Int(index.into()))
}

/// The smaller of two elements; NaN if one is, and -0.0 below 0.0.
fn smaller(a: Cell, b: Cell) -> Cell {
    match (a, b) {
        (Cell::Int(x), Cell::Int(y)) => Cell::Int(x.min(y)),
        (Cell::Float(x), _) if x.is_nan() => a,
        (_, Cell::Float(y)) if y.is_nan() => b,
        (Cell::Float(x), Cell::Float(y)) if x.total_cmp(&y).is_le() => a,
        _ => b,
    }
}

/// The larger of two elements; NaN if one is, and 0.0 above -0.0.
fn larger(a: Cell, b: Cell) -> Cell {
    match (a, b) {
        (Cell::Int(x), Cell::Int(y)) => Cell::Int(x.max(y)),
        (Cell::Float(x), _) if x.is_nan() => a,
        (_, Cell::Float(y)) if y.is_nan() => b,
        (Cell::Float(x), Cell::Float(y)) if x.total_cmp(&y).is_ge() => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(op: Op, nan: NanPolicy, elements: &[f64]) -> Cell {
        let mut members = Members::default();
        for (index, &element) in elements.iter().enumerate() {
            members.take(Cell::Float(element), index as u64, nan);
        }
        let reduction = Reduction::all(op).with_nan(nan);
        values(DType::Float64, &reduction, &members, &[]).unwrap()[0]
    }

    #[test]
    fn cells_follow_the_rules_of_nan_and_nothing() {
        let (nan, keep, skip) = (f64::NAN, NanPolicy::Propagate, NanPolicy::Skip);
        let infinity = f64::INFINITY;
        for (op, policy, elements, wanted) in [
            (Op::Sum, keep, &[][..], Cell::Float(0.0)),
            (Op::Product, keep, &[], Cell::Float(1.0)),
            (Op::Mean, keep, &[], Cell::Null),
            (Op::Min, keep, &[], Cell::Null),
            (Op::ArgMin, keep, &[], Cell::Null),
            (Op::Var, keep, &[], Cell::Null),
            (Op::Median, keep, &[], Cell::Null),
            (Op::NormL2, keep, &[], Cell::Float(0.0)),
            (Op::AllFinite, keep, &[], Cell::Int(1)),
            (Op::AnyNan, keep, &[], Cell::Int(0)),
            (Op::Count, keep, &[], Cell::Int(0)),
            (Op::Count, keep, &[1.0, nan], Cell::Int(2)),
            (Op::Count, skip, &[1.0, nan], Cell::Int(1)),
            (Op::Sum, keep, &[1.0, nan], Cell::Float(nan)),
            (Op::Sum, skip, &[1.0, nan], Cell::Float(1.0)),
            (Op::Mean, skip, &[nan], Cell::Null),
            (Op::Max, keep, &[1.0, nan, 3.0], Cell::Float(nan)),
            (Op::Max, skip, &[1.0, nan, 3.0], Cell::Float(3.0)),
            (Op::ArgMax, keep, &[1.0, nan, 3.0, nan], Cell::Int(1)),
            (Op::ArgMax, skip, &[1.0, nan, 3.0, 3.0], Cell::Int(2)),
            (Op::ArgMin, keep, &[0.0, -0.0], Cell::Int(0)),
            (Op::Mean, keep, &[1.0, 2.0], Cell::Float(1.5)),
            (Op::Sum, keep, &[infinity, 1.0], Cell::Float(infinity)),
            (Op::Sum, keep, &[infinity, f64::NEG_INFINITY], Cell::Float(nan)),
            (Op::Product, keep, &[infinity, 0.0], Cell::Float(nan)),
            (Op::NormL1, keep, &[infinity, -1.0], Cell::Float(infinity)),
            (Op::Var, keep, &[infinity, -1.0], Cell::Float(nan)),
            (Op::Var, keep, &[1.0, 3.0], Cell::Float(1.0)),
            (Op::Std, keep, &[1.0, 5.0], Cell::Float(2.0)),
            (Op::InfCount, keep, &[infinity, nan, -infinity], Cell::Int(2)),
            (Op::NanCount, keep, &[infinity, nan], Cell::Int(1)),
        ] {
            assert_eq!(finished(op, policy, elements), wanted, "{op:?} {policy:?} {elements:?}");
        }
        let Cell::Float(zero) = finished(Op::Min, keep, &[0.0, -0.0, 0.0]) else { panic!() };
        assert!(zero.is_sign_negative());
    }
}
