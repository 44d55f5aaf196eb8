//! Which kernel computes which operation over which elements.

use tet_format::DType;

use super::arg::Arg;
use super::collect::Collect;
use super::count::Count;
use super::count_where::{CountWhere, Tally};
use super::digits::{Candidates, Digits};
use super::extrema::{Greatest, Least, Max, Min};
use super::histogram::Histogram;
use super::mean::Mean;
use super::moments::{Deviation, Spread, Variance};
use super::norm::{Magnitude, MagnitudeSum, Normed};
use super::product::Multiplied;
use super::sum::Summed;
use super::{CellCount, Maker, Setup, Test};
use crate::element::dispatch;
use crate::interpolation::Between;
use crate::op::{NanPolicy, Op};

/// Picks the kernel of an operation; `None` for an operation that is not made of one, and for a
/// dtype whose elements are not numbers here.
pub(crate) fn maker(
    dtype: DType,
    op: Op,
    cells: CellCount,
    setup: Setup,
    filter: Option<Test>,
) -> Option<Maker> {
    if let Some(setup) = counting(op, &setup, filter.as_ref()) {
        return dispatch!(dtype, T => Maker::for_kernel::<T, CountWhere<T>>(setup, None));
    }
    dispatch!(dtype, T => Some(match (op.plain(), cells) {
        (Op::Count, _) => Maker::for_kernel::<T, Count>(setup, filter),
        (Op::Min, _) => Maker::for_kernel::<T, Min<T>>(setup, filter),
        (Op::Max, _) => Maker::for_kernel::<T, Max<T>>(setup, filter),
        (Op::Sum, CellCount::One) => Maker::for_kernel::<T, <T as Summed>::Whole>(setup, filter),
        (Op::Sum, CellCount::Many) => Maker::for_kernel::<T, <T as Summed>::PerCell>(setup, filter),
        (Op::Mean, CellCount::One) => Maker::for_kernel::<T, Mean<<T as Summed>::Whole>>(setup, filter),
        (Op::Mean, CellCount::Many) => Maker::for_kernel::<T, Mean<<T as Summed>::PerCell>>(setup, filter),
        (Op::Product, _) => Maker::for_kernel::<T, <T as Multiplied>::Product>(setup, filter),
        (Op::ArgMin, _) => Maker::for_kernel::<T, Arg<T, Least>>(setup, filter),
        (Op::ArgMax, _) => Maker::for_kernel::<T, Arg<T, Greatest>>(setup, filter),
        (Op::Var, _) => Maker::for_kernel::<T, <T as Spread>::Spread<Variance>>(setup, filter),
        (Op::Std, _) => Maker::for_kernel::<T, <T as Spread>::Spread<Deviation>>(setup, filter),
        (Op::NormL1, CellCount::One) => Maker::for_kernel::<T, WholeNorm<T>>(setup, filter),
        (Op::NormL1, CellCount::Many) => Maker::for_kernel::<T, KeptNorm<T>>(setup, filter),
        (Op::NormL2, _) => Maker::for_kernel::<T, <T as Normed>::Norm>(setup, filter),
        (Op::Median, _) => {
            let setup = Setup { q: vec![0.5], between: Between::Middle, ..setup };
            Maker::for_kernel::<T, Collect<T>>(setup, filter)
        }
        (Op::Quantile, _) => Maker::for_kernel::<T, Collect<T>>(setup, filter),
        (Op::Histogram, _) => Maker::for_kernel::<T, Histogram>(setup, filter),
        _ => return None,
    }))?
}

/// The sum of magnitudes of a whole selection.
type WholeNorm<T> = MagnitudeSum<T, <<T as Magnitude>::Magnitude as Summed>::Whole>;
/// The sums of magnitudes along some axes.
type KeptNorm<T> = MagnitudeSum<T, <<T as Magnitude>::Magnitude as Summed>::PerCell>;

/// Setup of an operation that counts elements that pass a test; a filter is one more test.
fn counting(op: Op, setup: &Setup, filter: Option<&Test>) -> Option<Setup> {
    let (test, tally) = match op {
        Op::Count if setup.nan == NanPolicy::Propagate && filter.is_some() => (None, Tally::Count),
        Op::NanCount => (Some(Test::Nan), Tally::Count),
        Op::InfCount => (Some(Test::Infinite), Tally::Count),
        Op::NullCount => (Some(setup.test.clone()?), Tally::Count),
        Op::AnyNan => (Some(Test::Nan), Tally::Any),
        Op::AnyInf => (Some(Test::Infinite), Tally::Any),
        Op::AllFinite => (Some(Test::NotFinite), Tally::None),
        _ => return None,
    };
    Some(Setup { test, tally, within: filter.cloned(), ..setup.clone() })
}

/// A step of a selection by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankStep {
    /// Counts digits.
    Digits,
    /// Keeps the ranks that are left.
    Candidates,
}

/// Picks the kernel of a step of the pass [`Setup::digits`]. `None` as in [`maker`].
pub(crate) fn rank_maker(
    dtype: DType,
    step: RankStep,
    setup: Setup,
    filter: Option<Test>,
) -> Option<Maker> {
    dispatch!(dtype, T => match step {
        RankStep::Digits => Maker::for_kernel::<T, Digits<T>>(setup, filter),
        RankStep::Candidates => Maker::for_kernel::<T, Candidates<T>>(setup, filter),
    })
}
