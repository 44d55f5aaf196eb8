//! Statistics of chunks, right or not, and questions that are answered with them and without.
//!
//! ```text
//!   right     the answers of the chunks, and their errors
//!   damaged   verified: an error, or the right answer
//!   wrong     their digest matches: verified and trust agree, and a deep check finds them
//!   stale     not used
//! ```
//!
//! An answer that rests on statistics that were not compared is unchecked.

use tet_format::Integrity;
use tet_query::{
    Axes, Axis, AxisSlice, Catalog, Compare, Execution, Filter, Hyperslab, NanPolicy, Number, Op,
    Params, Reduced, Reduction, Result, StatisticsPolicy, WithIntegrity,
};

use super::feed::Feed;
use super::{model, report};
use crate::ask;
use crate::assemble::statistics::{block, bound, unbound};
use crate::assemble::{Dataset, Stored, put};
use crate::values::{Seeded, TYPES, infinity, plain, rank};

/// Questions about each file.
const QUESTIONS: usize = 4;
/// Bytes of the header of a block, and of the record of a chunk.
const HEADER_LEN: usize = 16;
const RECORD_LEN: usize = 32;

/// Outcomes of the statistics of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatisticsState {
    Right,
    /// The block was changed, and its digest was not.
    Damaged,
    /// The digest is that of a block that was changed.
    Wrong,
    /// They name the digest of other payloads.
    Stale,
}

/// Makes a file of the first bytes, changes its statistics as the next ones say, and asks what the others say.
pub fn stats(bytes: &[u8]) {
    let _ = answers_by_statistics(bytes);
}

/// The outcome, and how many results depend on statistics.
#[must_use]
pub fn answers_by_statistics(bytes: &[u8]) -> usize {
    let mut feed = Feed(bytes);
    let dataset = dataset(&mut feed);
    let state = [
        StatisticsState::Right,
        StatisticsState::Damaged,
        StatisticsState::Wrong,
        StatisticsState::Stale,
    ][feed.below(4)];
    let (state, file) = file(&dataset, state, &mut feed);
    assert_eq!(
        report(&file).is_ok(),
        matches!(state, StatisticsState::Right | StatisticsState::Stale),
        "{state:?}"
    );
    let catalog = ask::open_bytes(&file).unwrap();
    let mut used = 0;
    for _ in 0..QUESTIONS {
        let (slab, reduction) = question(&dataset.shape, &mut feed);
        used += check(&catalog, state, &slab, &reduction);
    }
    used
}

/// Asks in all ways, and compares the answers; how many rest on statistics.
fn check(
    catalog: &Catalog,
    state: StatisticsState,
    slab: &Hyperslab,
    reduction: &Reduction,
) -> usize {
    let dataset = &catalog.datasets()[0];
    let ask = |statistics| {
        let how = Execution { statistics, ..ask::small() };
        let answer = dataset.reduce(slab, reduction, &how);
        if let (Ok(answer), Ok(cost)) = (&answer, dataset.reduce_cost(slab, reduction, &how))
            && cost.passes.most == 1
        {
            assert_eq!(answer.statistics, cost.statistics, "what is explained: {reduction:?}");
        }
        answer
    };
    let ways = [StatisticsPolicy::Never, StatisticsPolicy::Verified, StatisticsPolicy::Trust];
    let answers = ways.map(ask);
    let [never, verified, trust] = answers.each_ref().map(text);
    let [by_never, by_verified, by_trust] = answers.each_ref().map(rests_on_statistics);
    let what = format!("{state:?} {slab:?} {reduction:?}");
    assert!(!by_never, "{what}");
    match state {
        StatisticsState::Right => assert_eq!((&verified, &trust), (&never, &never), "{what}"),
        StatisticsState::Damaged => {
            assert!(!by_verified && (verified.is_err() || verified == never), "{what}");
        }
        StatisticsState::Wrong => assert_eq!(verified, trust, "{what}"),
        StatisticsState::Stale => {
            assert!(!by_verified && !by_trust, "{what}");
            assert_eq!((&verified, &trust), (&never, &never), "{what}");
        }
    }
    for answer in answers.iter().flatten().filter(|answer| !answer.statistics.is_none()) {
        let is_trusted = !answer.statistics.is_checked;
        assert!(!is_trusted || answer.integrity == Integrity::Unchecked, "{what}");
    }
    usize::from(by_verified) + usize::from(by_trust)
}

fn rests_on_statistics(answer: &Result<WithIntegrity<Reduced>>) -> bool {
    answer.as_ref().is_ok_and(|answer| !answer.statistics.is_none())
}

/// Everything of an answer but what it rests on.
fn text(answer: &Result<WithIntegrity<Reduced>>) -> std::result::Result<String, String> {
    let text = |answer: &WithIntegrity<Reduced>| {
        let Reduced { shape, along, values, count, nan_count, details, .. } = &answer.value;
        let cells: Vec<_> = (0..values.len()).map(|at| values.get(at)).collect();
        format!("{shape:?} {along:?} {cells:?} {count} {nan_count:?} {details:?}")
    };
    answer.as_ref().map(text).map_err(ToString::to_string)
}

/// A file whose statistics are in that state, or in another where no byte changed.
fn file(
    dataset: &Dataset,
    state: StatisticsState,
    feed: &mut Feed<'_>,
) -> (StatisticsState, Vec<u8>) {
    let right = block(dataset);
    let file = unbound(dataset, &right);
    let mut changed = right.clone();
    if matches!(state, StatisticsState::Damaged | StatisticsState::Wrong) {
        change(&mut changed, feed);
    }
    if state == StatisticsState::Damaged {
        changed.resize(right.len(), 0);
    }
    match state {
        StatisticsState::Stale => (state, file.bytes),
        _ if changed == right => (StatisticsState::Right, bound(&file)),
        StatisticsState::Wrong => (state, bound(&unbound(dataset, &changed))),
        _ => (state, put(&bound(&file), file.marks.spills[0], &changed)),
    }
}

/// A few changes: a record of another chunk, records of any bytes, any change.
fn change(block: &mut Vec<u8>, feed: &mut Feed<'_>) {
    let row_count = (block.len() - HEADER_LEN) / RECORD_LEN;
    let record = |feed: &mut Feed<'_>| HEADER_LEN + feed.below(row_count) * RECORD_LEN;
    for _ in 0..1 + feed.below(3) {
        let (from, to) = (record(feed), record(feed));
        match feed.below(4) {
            0 if to + RECORD_LEN <= block.len() && from + RECORD_LEN <= block.len() => {
                block.copy_within(from..from + RECORD_LEN, to);
            }
            1 => block.iter_mut().skip(to).for_each(|byte| *byte = feed.below(256) as u8),
            _ => model::change(block, feed),
        }
    }
}

/// A matrix in chunks, each of whose elements are near each other in the order of their values.
fn dataset(feed: &mut Feed<'_>) -> Dataset {
    let (tag, _, element_len) = TYPES[feed.below(TYPES.len())];
    let mut extents = |bound: usize| [0; 2].map(|_| 1 + feed.below(bound) as u64);
    let (shape, chunk_shape) = (extents(30), extents(15));
    let palette = palette(tag, element_len);
    let chunks = shape[1].div_ceil(chunk_shape[1]);
    let chunk_count = shape[0].div_ceil(chunk_shape[0]) * chunks;
    let ranges: Vec<(usize, u64)> =
        (0..chunk_count).map(|_| (feed.below(palette.len()), 1 + feed.below(12) as u64)).collect();
    let mut seeded = Seeded(feed.below(256) as u64);
    let mut elements = Vec::new();
    for (row, column) in
        (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)))
    {
        let chunk = row / chunk_shape[0] * chunks + column / chunk_shape[1];
        let (first, len) = ranges[usize::try_from(chunk).unwrap()];
        let at = first + usize::try_from(seeded.below(len)).unwrap();
        elements.extend(&palette[at % palette.len()]);
    }
    let stored = [Stored::Raw, Stored::Frame][feed.below(2)];
    Dataset::new("a", tag, element_len, &shape)
        .chunked(&chunk_shape)
        .stored(stored)
        .elements(elements)
}

/// Elements of a type in the order of their values: small ones, the ends, infinities and NaN.
fn palette(tag: u32, element_len: u64) -> Vec<Vec<u8>> {
    let len = usize::try_from(element_len).unwrap();
    let sign = 1 << (8 * element_len - 1);
    let end = infinity(tag).unwrap_or(sign - 1);
    let special = [sign, end, end + 1, end - 1, 1];
    let special = special.into_iter().flat_map(|bits: u64| [bits, bits | sign]);
    let mut palette: Vec<Vec<u8>> = plain(tag, 101).chunks(len).map(<[u8]>::to_vec).collect();
    palette.extend(special.map(|bits| bits.to_le_bytes()[..len].to_vec()));
    palette.sort_by_key(|element| {
        let bits = element.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        rank(tag, element_len, bits)
    });
    palette
}

/// A selection and a reduction of it.
fn question(shape: &[u64], feed: &mut Feed<'_>) -> (Hyperslab, Reduction) {
    let slice = |&extent: &u64| {
        if feed.below(2) == 0 {
            return AxisSlice::whole(extent);
        }
        let mut place = || (feed.wide() as u64) % (extent + 1);
        let (a, b) = (place(), place());
        AxisSlice { start: a.min(b), stop: a.max(b), step: 1 + a % 3, axis: Axis::Kept }
    };
    let slab = Hyperslab::new(shape.iter().map(slice).collect::<Vec<_>>(), shape).unwrap();
    let op = Op::ALL[feed.below(Op::ALL.len())];
    let axes = [Axes::All, Axes::Some(vec![0]), Axes::Some(vec![1])][feed.below(3)].clone();
    let nan = [NanPolicy::Propagate, NanPolicy::Skip][feed.below(2)];
    let filter = filter(feed);
    let nan = if filter.is_some() { NanPolicy::Skip } else { nan };
    let params = Params { q: vec![0.5], fill: Some(number(feed)), ..Params::for_op(op) };
    (slab, Reduction { axes, nan, filter, params, ..Reduction::all(op) })
}

fn filter(feed: &mut Feed<'_>) -> Option<Filter> {
    use Compare::{Eq, Ge, Gt, Le, Lt, Ne};
    let count = feed.below(3);
    let test = |_| ([Eq, Ne, Lt, Le, Gt, Ge][feed.below(6)], number(feed));
    let tests: Vec<_> = (0..count).map(test).collect();
    let (is_null, is_not_null) = [(false, false), (true, false), (false, true)][feed.below(3)];
    let filter = Filter { tests, is_null, is_not_null, fill: Some(number(feed)) };
    (filter.is_null || filter.is_not_null || !filter.tests.is_empty()).then_some(filter)
}

/// A number among the small elements, or at an end.
fn number(feed: &mut Feed<'_>) -> Number {
    let small = i32::try_from(feed.below(128)).unwrap() - 30;
    match feed.below(8) {
        0 => Number::Float(f64::INFINITY),
        1 => Number::Float(f64::NAN),
        2 => Number::Int(i128::from(u64::MAX >> feed.below(64))),
        3 | 4 => Number::Int(small.into()),
        _ => Number::Float(f64::from(small) / 4.0),
    }
}
