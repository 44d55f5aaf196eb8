//! Tests of elements: by filters, and by the operations that count.
//!
//! A test is made into ranges of ranks once, so that nothing but ranges is looked at per element.

use std::ops::Range;

use multiversion::multiversion;

use super::known::Known;
use super::ranges::{Ranges, Share};
use super::rank::Numeric;
use super::rank::{BLOCK, Ranked, Within, Word};
use crate::reduction::{Compare, Filter, Number};

/// Elements that are sifted together.
const SIFT: usize = 64;

/// A yes or no about an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Whether it passes a filter.
    Filter(Filter),
    /// Whether it is the fill value; NaN when that is NaN.
    Fill(Number),
    /// Whether it is NaN.
    Nan,
    /// Whether it is infinite.
    Infinite,
    /// Whether it is NaN or infinite.
    NotFinite,
    /// Whether its rank lies in one of these closed ranges, which are in order.
    Ranks(Vec<(u64, u64)>),
    /// Whether it passes both.
    Both(Box<Test>, Box<Test>),
}

/// A test of elements of one type.
#[derive(Clone, Debug)]
pub(crate) struct Tester<T: Ranked> {
    ranges: Vec<Within<T::Word>>,
    side: Side,
    /// The ranks that pass.
    passing: Ranges,
}

/// Side of a threshold that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Values in a range.
    Inside,
    /// Values in none.
    Outside,
}

impl<T: Numeric> Tester<T> {
    pub(crate) fn new(test: &Test) -> Self {
        let inside = ranks::<T>(test);
        let outside = inside.not(end::<T>());
        let (set, side) = if inside.iter().len() <= outside.iter().len() {
            (inside.clone(), Side::Inside)
        } else {
            (outside, Side::Outside)
        };
        let within = |range: &Range<i128>| {
            let rank = |rank: i128| u64::try_from(rank).unwrap_or(u64::MAX);
            Within::new(rank(range.start), rank(range.end - 1), T::TOP)
        };
        let ranges = set.iter().map(within).collect();
        Tester { ranges, side, passing: inside }
    }

    /// How many of some elements pass, where that follows from what is known of them.
    pub(crate) fn passing(&self, known: &Known<T>) -> Option<u64> {
        let (least, greatest) = (i128::from(T::VALUES.0), i128::from(T::VALUES.1));
        let of = |ranks: Range<i128>, count: u64| match self.passing.share(&ranks) {
            _ if count == 0 => Some(0),
            Share::None => Some(0),
            Share::All => Some(count),
            Share::Some => None,
        };
        let values = known
            .ends
            .map_or(0..0, |(least, greatest)| least.rank().into()..i128::from(greatest.rank()) + 1);
        let nans = match known.nan_count {
            0 => Some(0),
            // Those of both signs.
            count => {
                let below = of(0..least, count);
                below.filter(|_| below == of(greatest + 1..end::<T>(), count))
            }
        };
        let passed = of(values, known.count - known.nan_count);
        passed.zip(nans).map(|(passed, nans)| passed + nans).or_else(|| {
            let is = |test: &Test| self.passing == ranks::<T>(test);
            let counts = [
                (Test::Infinite, known.inf_count),
                (Test::NotFinite, known.inf_count + known.nan_count),
            ];
            counts.into_iter().find(|(test, _)| is(test)).map(|(_, count)| count)
        })
    }

    /// Whether an element passes.
    #[inline]
    pub(crate) fn passes(&self, element: T) -> bool {
        let word = element.word();
        let within = |range: &Within<T::Word>| word.is_within(*range) != T::Word::default();
        self.ranges.iter().any(within) == (self.side == Side::Inside)
    }

    /// Moves the elements that pass to the front of `room`; gives how many they are.
    pub(crate) fn sift(&self, elements: &[T], room: &mut [T]) -> usize {
        match (self.ranges.as_slice(), self.side) {
            ([], Side::Inside) => 0,
            ([], Side::Outside) => {
                room[..elements.len()].copy_from_slice(elements);
                elements.len()
            }
            (ranges, side) => sift(elements, ranges, side, room),
        }
    }

    /// The elements that pass, in `room` unless all do.
    pub(crate) fn pick<'a>(&self, elements: &'a [T], room: &'a mut [T]) -> &'a [T] {
        if self.count(elements) == elements.len() as u64 {
            return elements;
        }
        let passed = self.sift(elements, room);
        &room[..passed]
    }

    /// How many elements pass.
    pub(crate) fn count(&self, elements: &[T]) -> u64 {
        let inside = match self.ranges.as_slice() {
            [] => 0,
            &[range] => T::count_in(elements, &[range]),
            &[first, last] => T::count_in(elements, &[first, last]),
            ranges => {
                let count = |block| ranges.iter().map(move |&range| T::count_in(block, &[range]));
                elements.chunks(BLOCK).flat_map(count).sum()
            }
        };
        match self.side {
            Side::Inside => inside,
            Side::Outside => elements.len() as u64 - inside,
        }
    }

    /// 1 for the elements of a row that pass, 0 for the others.
    #[inline(always)]
    pub(super) fn flags<const N: usize>(&self, row: &[T; N]) -> [T::Word; N] {
        flags(row, &self.ranges, self.side)
    }
}

/// One more than the greatest rank.
fn end<T: Ranked>() -> i128 {
    1 << T::Word::BITS
}

/// The ranks that pass.
fn ranks<T: Ranked>(test: &Test) -> Ranges {
    let (least, greatest) = (i128::from(T::VALUES.0), i128::from(T::VALUES.1));
    let nan = || Ranges::one(least..greatest + 1).not(end::<T>());
    let fill = |number: &Number| T::place(*number).map_or_else(nan, Ranges::one);
    match test {
        Test::Nan => nan(),
        Test::Infinite | Test::NotFinite if !T::DTYPE.is_float() => Ranges::default(),
        Test::Infinite => Ranges::new([least..least + 1, greatest..greatest + 1]),
        Test::NotFinite => Ranges::one(least + 1..greatest).not(end::<T>()),
        Test::Fill(number) => fill(number),
        Test::Ranks(ranks) => {
            Ranges::new(ranks.iter().map(|&(first, last)| first.into()..i128::from(last) + 1))
        }
        Test::Both(a, b) => ranks::<T>(a).and(&ranks::<T>(b)),
        Test::Filter(filter) => {
            let mut set = Ranges::one(0..end::<T>());
            for &(compare, number) in &filter.tests {
                set = set.and(&compared::<T>(compare, number));
            }
            let not_nan = nan().not(end::<T>());
            let not_fill = filter.fill.as_ref().map(|number| fill(number).not(end::<T>()));
            let not_null = not_fill.map_or_else(|| not_nan.clone(), |set| set.and(&not_nan));
            if filter.is_null {
                set = set.and(&not_null.not(end::<T>()));
            }
            if filter.is_not_null {
                set = set.and(&not_null);
            }
            set
        }
    }
}

/// The ranks of what compares so with a number.
fn compared<T: Ranked>(compare: Compare, number: Number) -> Ranges {
    let Some(place) = T::place(number) else {
        let all = if compare == Compare::Ne { 0..end::<T>() } else { 0..0 };
        return Ranges::one(all);
    };
    let (least, end) = (i128::from(T::VALUES.0), i128::from(T::VALUES.1) + 1);
    Ranges::one(match compare {
        Compare::Eq => place,
        Compare::Ne => return Ranges::one(place).not(self::end::<T>()),
        Compare::Lt => least..place.start,
        Compare::Le => least..place.end,
        Compare::Gt => place.end..end,
        Compare::Ge => place.start..end,
    })
}

#[inline(always)]
fn flags<T: Ranked, const N: usize>(
    row: &[T; N],
    ranges: &[Within<T::Word>],
    side: Side,
) -> [T::Word; N] {
    let mut flags = [T::Word::default(); N];
    if let (&[range], Side::Outside) = (ranges, side) {
        for i in 0..N {
            flags[i] = row[i].word().is_outside(range);
        }
        return flags;
    }
    // Ranges do not overlap: at most one holds an element.
    for &range in ranges {
        for i in 0..N {
            flags[i] = flags[i].plus(row[i].word().is_within(range));
        }
    }
    if side == Side::Outside {
        for flag in &mut flags {
            *flag = T::Word::of_bits(1 - u64::from(flag.small()));
        }
    }
    flags
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn sift<T: Ranked>(
    elements: &[T],
    ranges: &[Within<T::Word>],
    side: Side,
    room: &mut [T],
) -> usize {
    let mut passed = 0;
    let (rows, tail) = elements.as_chunks::<SIFT>();
    for row in rows {
        let flags = flags(row, ranges, side);
        let mut sum = T::Word::default();
        for flag in flags {
            sum = sum.plus(flag);
        }
        match sum.small() as usize {
            0 => {}
            SIFT => {
                room[passed..passed + SIFT].copy_from_slice(row);
                passed += SIFT;
            }
            _ => {
                for (&element, flag) in row.iter().zip(flags) {
                    room[passed] = element;
                    passed += flag.small() as usize;
                }
            }
        }
    }
    for &element in tail {
        room[passed] = element;
        let [flag] = flags(&[element], ranges, side);
        passed += flag.small() as usize;
    }
    passed
}

#[cfg(test)]
mod tests;
