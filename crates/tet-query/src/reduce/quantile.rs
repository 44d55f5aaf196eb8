//! Quantiles: the search for the elements they lie between, in a selection that need not fit into
//! memory.
//!
//! A first pass counts digits of ranks, which gives for each wanted place where its element's rank
//! lies; more passes look closer until the rank is known or few elements are left to be put in order.

use tet_format::DType;

use crate::cost::Passes;
use crate::element::dispatch;
use crate::error::{Error, Result};
use crate::interpolation::{quantile_positions, select};
use crate::kernel::{Pass, RankStep, Ranked, Setup, Span};
use crate::op::NanPolicy;
use crate::tuning::Tuning;
use crate::value::{Cells, Values};

/// Folds all elements of a selection, as often as required.
pub(crate) trait Passing {
    /// Folds those that count into the one cell of the kernel of this step, with
    /// [`Setup::digits`] being `pass`; gives its values and how many NaN it met.
    ///
    /// # Errors
    ///
    /// Returns an error when the elements cannot be read.
    fn run(&mut self, step: RankStep, pass: &Pass) -> Result<(Values, Option<u64>)>;

    /// The sizes that the search is cut by.
    fn tuning(&self) -> &Tuning;

    /// The error for elements that are not the same as in the pass before.
    fn changed(&self) -> Error;
}

/// The quantiles of a selection.
#[derive(Debug)]
pub(crate) struct Quantiles {
    /// One per requested quantile; null where there is no element.
    pub(crate) values: Values,
    /// How many NaN there were, for elements that may be.
    pub(crate) nan_count: Option<u64>,
}

/// The quantiles [`Setup::q`] of a selection; `None` for a dtype whose elements are not numbers.
///
/// # Errors
///
/// Returns an error when a pass fails, or when elements change between passes.
pub(crate) fn quantiles(
    dtype: DType,
    setup: &Setup,
    passes: &mut dyn Passing,
) -> Option<Result<Quantiles>> {
    dispatch!(dtype, T => quantiles_of::<T>(setup, passes))
}

/// Expected search for quantiles, before it begins.
#[derive(Debug)]
pub(crate) struct Outlook {
    /// How many passes it makes.
    pub(crate) passes: Passes,
    /// The first pass, which has the most counters.
    pub(crate) digits: Pass,
    /// The last one, if it keeps elements: as many as it may.
    pub(crate) candidates: Pass,
}

/// The expected search for quantiles among at most `count` elements; `None` as in
/// [`quantiles`].
pub(crate) fn outlook(
    dtype: DType,
    count: u64,
    q_count: usize,
    tuning: &Tuning,
) -> Option<Outlook> {
    let (first, last) = dispatch!(dtype, T => <T as Ranked>::VALUES)?;
    let all = span(first, last, digit(1, tuning));
    // Each quantile lies between two places.
    let most = passes_max(bits(last - first), count, 2 * q_count.max(1), tuning);
    let digits = Pass { spans: vec![all], expected: 0 };
    let candidates = Pass { spans: vec![all], expected: count.min(tuning.candidates_max) };
    Some(Outlook { passes: Passes { least: 1, most }, digits, candidates })
}

/// Passes until ranks of `bits` bits are known at `places` places: each pass finds a digit of what
/// is left, and few elements are kept instead.
fn passes_max(bits: u32, count: u64, places: usize, tuning: &Tuning) -> u64 {
    let mut left = bits.saturating_sub(digit(1, tuning));
    let mut passes = 1;
    while 0 < left {
        passes += 1;
        left = if count <= tuning.candidates_max {
            0
        } else {
            left.saturating_sub(digit(places, tuning))
        };
    }
    passes
}

fn quantiles_of<T: Ranked>(setup: &Setup, passes: &mut dyn Passing) -> Result<Quantiles> {
    let all = Sought { first: T::VALUES.0, last: T::VALUES.1, before: 0, count: 0, wanted: vec![] };
    let (counted, nan_count) = count(std::slice::from_ref(&all), passes)?;
    let count = counted.counts.iter().sum();
    let nulls = |value: f64, null: bool| {
        let q = setup.q.len();
        Values { cells: Cells::Float(vec![value; q]), nulls: null.then(|| vec![true; q]) }
    };
    if nan_count.is_some_and(|count| count > 0) && setup.nan == NanPolicy::Propagate {
        return Ok(Quantiles { values: nulls(f64::NAN, false), nan_count });
    }
    if count == 0 {
        return Ok(Quantiles { values: nulls(0.0, true), nan_count });
    }
    let places = quantile_positions(count, &setup.q, setup.between);
    let mut wanted: Vec<u64> = places.iter().flat_map(|place| [place.low, place.high]).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let all = Sought { wanted: wanted.clone(), count, ..all };
    let ranks = search(vec![all], counted, passes)?.ok_or_else(|| passes.changed())?;
    let element = |at: u64| {
        let nth = wanted.partition_point(|&wanted| wanted < at);
        T::from_rank(ranks[nth]).wide()
    };
    let values = places.iter().map(|place| place.value(element)).collect();
    Ok(Quantiles { values: Values::new(Cells::Float(values)), nan_count })
}

/// Ranks among which those of wanted places are.
#[derive(Clone, Debug)]
struct Sought {
    first: u64,
    last: u64,
    /// How many elements have smaller ranks.
    before: u64,
    /// How many elements have these ranks.
    count: u64,
    /// The wanted places, in order.
    wanted: Vec<u64>,
}

/// Counts of a pass.
struct Counted {
    pass: Pass,
    counts: Vec<u64>,
    /// The least and the greatest rank of all that was counted.
    ends: (u64, u64),
}

/// Counts the digits of what is sought.
fn count(sought: &[Sought], passes: &mut dyn Passing) -> Result<(Counted, Option<u64>)> {
    let each = digit(sought.len(), passes.tuning());
    let span = |sought: &Sought| span(sought.first, sought.last, each);
    let pass = Pass { spans: sought.iter().map(span).collect(), expected: 0 };
    let (values, nan_count) = passes.run(RankStep::Digits, &pass)?;
    let counters = pass.counters();
    let Cells::Count(mut counts) = values.cells else { return Err(passes.changed()) };
    let &[least, greatest] = counts.get(counters..).unwrap_or(&[]) else {
        return Err(passes.changed());
    };
    counts.truncate(counters);
    Ok((Counted { pass, counts, ends: (least, greatest) }, nan_count))
}

/// The logarithm of the number of counters of each span, about.
fn digit(spans: usize, tuning: &Tuning) -> u32 {
    let shared = (spans - 1).checked_ilog2().map_or(0, |log| log + 1);
    tuning.digit.saturating_sub(shared).max(tuning.span_digit)
}

/// A span of ranks with `2^each` counters, or one for each rank.
fn span(first: u64, last: u64, each: u32) -> Span {
    Span { first, last, shift: bits(last - first).saturating_sub(each) }
}

fn bits(len: u64) -> u32 {
    u64::BITS - len.leading_zeros()
}

/// The ranks of all wanted places, in order; `None` when passes do not agree.
fn search(
    mut sought: Vec<Sought>,
    mut counted: Counted,
    passes: &mut dyn Passing,
) -> Result<Option<Vec<u64>>> {
    let mut known: Vec<(u64, u64)> = Vec::new();
    loop {
        let Some(closer) = look_closer(&sought, &counted) else { return Ok(None) };
        let (found, open): (Vec<_>, Vec<_>) =
            closer.into_iter().partition(|sought| sought.first == sought.last);
        for sought in found {
            known.extend(sought.wanted.iter().map(|&at| (at, sought.first)));
        }
        sought = open;
        if sought.is_empty() {
            break;
        }
        if sought.iter().map(|sought| sought.count).sum::<u64>() <= passes.tuning().candidates_max {
            let Some(found) = candidates(&sought, passes)? else { return Ok(None) };
            known.extend(found);
            break;
        }
        counted = count(&sought, passes)?.0;
    }
    known.sort_unstable();
    Ok(Some(known.into_iter().map(|(_, rank)| rank).collect()))
}

/// For each counter in which a wanted place lies, the ranks it counted.
fn look_closer(sought: &[Sought], counted: &Counted) -> Option<Vec<Sought>> {
    let mut closer: Vec<Sought> = Vec::new();
    let mut counts = counted.counts.as_slice();
    for (sought, span) in sought.iter().zip(&counted.pass.spans) {
        let (here, after) = counts.split_at_checked(span.counters())?;
        counts = after;
        let mut wanted = sought.wanted.iter().copied().peekable();
        let mut before = sought.before;
        // Of few elements most counters are empty.
        for (digit, &count) in here.iter().enumerate().filter(|(_, count)| **count != 0) {
            let end = before.checked_add(count)?;
            let mut inside = Vec::new();
            while let Some(at) = wanted.next_if(|&at| at < end) {
                inside.push(at);
            }
            if !inside.is_empty() {
                let first = span.first + ((digit as u64) << span.shift);
                let last = span.last.min(first.saturating_add((1 << span.shift) - 1));
                let (first, last) = (first.max(counted.ends.0), last.min(counted.ends.1));
                if last < first {
                    return None;
                }
                closer.push(Sought { first, last, before, count, wanted: inside });
            }
            before = end;
        }
        if wanted.next().is_some() || before != sought.before + sought.count {
            return None;
        }
    }
    Some(closer)
}

/// The wanted places and their ranks, from all elements that are still sought.
fn candidates(sought: &[Sought], passes: &mut dyn Passing) -> Result<Option<Vec<(u64, u64)>>> {
    let expected = sought.iter().map(|sought| sought.count).sum();
    let span = |sought: &Sought| Span { first: sought.first, last: sought.last, shift: 0 };
    let pass = Pass { spans: sought.iter().map(span).collect(), expected };
    let Cells::Count(mut ranks) = passes.run(RankStep::Candidates, &pass)?.0.cells else {
        return Ok(None);
    };
    let mut positions = Vec::new();
    let mut start = 0;
    for sought in sought {
        let position = |at: &u64| usize::try_from(start + at - sought.before).unwrap_or(usize::MAX);
        positions.extend(sought.wanted.iter().map(position));
        start += sought.count;
    }
    if positions.last().is_some_and(|&position| ranks.len() <= position) {
        return Ok(None);
    }
    select(&mut ranks, &positions);
    let mut ranks = positions.into_iter().map(|position| ranks[position]);
    let mut found = Vec::new();
    for sought in sought {
        for (&at, rank) in sought.wanted.iter().zip(&mut ranks) {
            if rank < sought.first || sought.last < rank {
                return Ok(None);
            }
            found.push((at, rank));
        }
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests;
