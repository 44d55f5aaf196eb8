//! How a label finds its positions: one looks through all labels, each of a list through their order.

use std::cmp::Ordering;

use super::range::TURN;
use super::table::{Labels, Number, ParsedLabel};

/// Labels of a list from which on the labels of the axis are put in order.
const LIST_MIN: usize = 16;

/// The labels of an axis, among which labels are looked up.
pub(crate) struct Lookup<'l> {
    labels: &'l Labels<'l>,
    order: Option<Order>,
}

/// The positions in the order of their labels, equal ones in the order of the axis.
struct Order {
    /// Of labels that are numbers or times.
    values: Vec<usize>,
    /// Of texts.
    texts: Vec<usize>,
}

impl Order {
    fn new(labels: &Labels<'_>) -> Order {
        let mut texts = Vec::new();
        if let Labels::Text(all) = labels {
            texts = (0..all.len()).collect();
            texts.sort_by(|&one, &two| all[one].cmp(&all[two]));
        }
        let is_number = |at: &usize| labels.number(*at).is_some_and(|it| !it.float().is_nan());
        let mut values: Vec<usize> = (0..labels.len()).filter(is_number).collect();
        match labels.direction() {
            Some(Ordering::Less | Ordering::Equal) => {}
            _ => values.sort_by_cached_key(|&at| labels.number(at).map(rank)),
        }
        Order { values, texts }
    }
}

/// Numbers as keys of an order: by value, and where doubles are equal by the exact integers.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "bits are compared, and a float past an i128 saturates"
)]
fn rank(number: Number) -> (i64, i128, bool) {
    // Without the sign of zero.
    let float = number.float() + 0.0;
    let bits = float.to_bits() as i64;
    let bits = if bits < 0 { bits ^ i64::MAX } else { bits };
    match number {
        Number::Int(int) => (bits, int, false),
        Number::Between(floor, _) => (bits, floor, true),
        Number::Float(_) => (bits, float as i128, false),
    }
}

impl<'l> Lookup<'l> {
    /// For one label.
    pub(crate) fn of_one(labels: &'l Labels<'l>) -> Self {
        Lookup { labels, order: None }
    }

    /// For so many labels: many are looked up in an order that is made once.
    pub(crate) fn of_list(labels: &'l Labels<'l>, count: usize) -> Self {
        let order = (LIST_MIN <= count).then(|| Order::new(labels));
        Lookup { labels, order }
    }

    /// All labels.
    pub(crate) fn labels(&self) -> &'l Labels<'l> {
        self.labels
    }

    /// As [`Labels::all_equal`].
    pub(crate) fn all_equal(&self, label: &str) -> Vec<usize> {
        if let Labels::Text(texts) = self.labels {
            let equal = match &self.order {
                None => (0..texts.len()).filter(|&at| texts[at] == label).collect(),
                Some(order) => {
                    let compare = |at: usize| Some(texts[at].as_str().cmp(label));
                    run(&order.texts, compare).to_vec()
                }
            };
            if !equal.is_empty() {
                return equal;
            }
        }
        self.labels.parse_label(label).map_or_else(Vec::new, |asked| self.equal_to(&asked))
    }

    /// All positions whose label is the one in question, in the order of the axis.
    fn equal_to(&self, asked: &ParsedLabel) -> Vec<usize> {
        let compare = |at: usize| self.labels.order(at, asked);
        let Some(order) = &self.order else {
            let all = 0..self.labels.len();
            return all.filter(|&at| compare(at) == Some(Ordering::Equal)).collect();
        };
        let mut equal = run(&order.values, compare).to_vec();
        equal.sort_unstable();
        equal
    }

    /// The positions of the next label below and of the next above.
    pub(super) fn around(&self, asked: &ParsedLabel) -> [Option<usize>; 2] {
        let labels = self.labels;
        if let Some(Order { values, .. }) = &self.order {
            let compare = |at: usize| labels.order(at, asked);
            let start = values.partition_point(|&at| compare(at) == Some(Ordering::Less));
            let below = start.checked_sub(1).map(|last| values[last]);
            let first_equal = |at| run(values, |it| labels.step(it, at)).first().copied();
            let above = values.get(start + run(values, compare).len()).copied();
            return [below.and_then(first_equal), above];
        }
        let nearest = |side: Ordering| {
            let beyond = (0..labels.len()).filter(|&at| labels.order(at, asked) == Some(side));
            beyond.reduce(|best, at| match labels.step(best, at) {
                Some(step) if step == side => at,
                _ => best,
            })
        };
        [nearest(Ordering::Less), nearest(Ordering::Greater)]
    }

    /// As [`Labels::nearest`].
    pub(crate) fn nearest(&self, label: &str) -> Option<usize> {
        let equal = self.all_equal(label).first().copied();
        equal.or_else(|| self.nearest_to(&self.labels.parse_label(label)?))
    }

    fn nearest_to(&self, asked: &ParsedLabel) -> Option<usize> {
        let far = |at: usize| self.labels.distance(at, asked);
        match self.around(asked) {
            [Some(below), Some(above)] => {
                let is_below = far(below)?.compare(far(above)?) == Some(Ordering::Less);
                Some(if is_below { below } else { above })
            }
            [below, above] => below.or(above),
        }
    }

    /// The position of a longitude in degrees, equal or nearest but for full turns.
    pub(crate) fn nearest_longitude(&self, label: &str) -> Option<usize> {
        let labels = self.labels;
        let asked = labels.turns_near(label).filter_map(|turns| labels.turned(label, turns));
        let found = asked.filter_map(|asked| {
            let equal = self.equal_to(&asked).first().copied();
            let at = equal.or_else(|| self.nearest_to(&asked))?;
            Some((at, labels.distance(at, &asked)?))
        });
        let nearer = |one: (usize, Number), two: (usize, Number)| {
            if two.1.compare(one.1) == Some(Ordering::Less) { two } else { one }
        };
        found.reduce(nearer).map(|(at, _)| at)
    }

    /// All positions of a longitude in degrees, but for full turns.
    pub(crate) fn equal_longitudes(&self, label: &str) -> Vec<usize> {
        let asked = std::iter::once(0).chain(self.labels.turns_near(label));
        let found = asked.filter_map(|turns| self.labels.turned(label, turns));
        found.map(|asked| self.equal_to(&asked)).find(|it| !it.is_empty()).unwrap_or_default()
    }
}

/// Those of positions in order that are equal.
fn run(positions: &[usize], compare: impl Fn(usize) -> Option<Ordering>) -> &[usize] {
    let start = positions.partition_point(|&at| compare(at) == Some(Ordering::Less));
    let rest = &positions[start..];
    &rest[..rest.partition_point(|&at| compare(at) == Some(Ordering::Equal))]
}

impl Labels<'_> {
    /// The positions of the next label below and of the next above one that none equals.
    pub(crate) fn neighbors(&self, label: &str) -> [Option<usize>; 2] {
        let asked = self.parse_label(label);
        asked.map_or([None; 2], |asked| Lookup::of_one(self).around(&asked))
    }

    /// The position of the label that is nearest to a number or a date; of two that are as near, the greater one.
    #[must_use]
    pub fn nearest(&self, label: &str) -> Option<usize> {
        Lookup::of_one(self).nearest(label)
    }

    /// All positions whose label equals: as text, else as a number, or a time within a date.
    #[must_use]
    pub fn all_equal(&self, label: &str) -> Vec<usize> {
        Lookup::of_one(self).all_equal(label)
    }

    /// The full turns that bring a longitude near those of the axis; none for a number that is no longitude at all.
    fn turns_near(&self, label: &str) -> impl Iterator<Item = i32> + use<> {
        /// Degrees past which a double does not tell a full turn from a part of one.
        const FAR: f64 = 1e9;
        let first = self.number(0).map_or(0.0, Number::float);
        let asked = Number::parse(label).map_or(f64::INFINITY, Number::float);
        let turns = ((first - asked) / f64::from(TURN)).round();
        #[allow(clippy::cast_possible_truncation, reason = "a few million turns at most")]
        let near = (asked.abs() < FAR && first.abs() < FAR).then_some(turns as i32);
        near.into_iter().flat_map(|turns| [turns, turns + 1, turns - 1])
    }

    /// A number and full turns, at the precision of the labels.
    fn turned(&self, label: &str, turns: i32) -> Option<ParsedLabel> {
        let number = Number::parse(label)?;
        let degrees = i64::from(turns) * i64::from(TURN);
        let turned = match number {
            Number::Int(int) => Number::Int(int.checked_add(i128::from(degrees))?),
            #[allow(clippy::cast_precision_loss, reason = "below 2^53")]
            number => Number::Float(number.float() + degrees as f64),
        };
        Some(ParsedLabel::Number(match self {
            Labels::Floats { width, .. } => turned.round(*width),
            _ => turned,
        }))
    }

    /// Whether the label at a position is at most so far from another one, or from it but for full turns.
    pub(crate) fn is_within(
        &self,
        at: usize,
        label: &str,
        within: f64,
        is_longitude: bool,
    ) -> bool {
        let near = is_longitude.then(|| self.turns_near(label)).into_iter().flatten();
        let near = near.filter_map(|turns| self.turned(label, turns));
        let asked = self.parse_label(label).into_iter().chain(near);
        let unit = self.unit();
        asked.filter_map(|asked| self.distance(at, &asked)).any(|far| far.float() <= within * unit)
    }

    /// Whether the label at a position is a label: as text, else by value.
    pub(crate) fn is_equal(&self, at: usize, label: &str) -> bool {
        let is_text =
            || matches!(self, Labels::Text(texts) if texts.get(at).is_some_and(|it| it == label));
        let is_value = || self.order(at, &self.parse_label(label)?);
        is_text() || is_value() == Some(Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FloatWidth;
    use super::*;

    /// All labels of all kinds: positions in order are those that a look through all labels finds.
    #[test]
    fn lists_find_what_single_labels_find() {
        let floats =
            |values: &[f64], width| Labels::Floats { values: values.to_vec().into(), width };
        let texts =
            |labels: &[&str]| Labels::Text(labels.iter().map(|&it| it.to_owned()).collect());
        let big = 1_i128 << 80;
        let all = [
            floats(&[0.5, -0.0, f64::NAN, 0.0, 7.0, 0.1, 0.5, -3.0], FloatWidth::Double),
            floats(&[3.0, 2.0, 2.0, f64::from(0.1_f32), -1.0], FloatWidth::Single),
            floats(&[355.0, 0.0, 90.0, 180.0, -90.0], FloatWidth::Half),
            Labels::Integers(vec![big + 1, 3, big, -2, 3, big + 2, -big].into()),
            texts(&["b", "5.0", "5", "a", "b", "-0.0", "0", "1e-3", "5", "nan", ""]),
            texts(&["1e300", "-1e300", "1e-400", "9007199254740993", "9007199254740992.5"]),
            texts(&[]),
        ];
        let words = [
            "b",
            "5",
            "5.00",
            "a",
            "0",
            "-0.0",
            "0.1",
            "0.5",
            "2",
            "3",
            "7",
            "",
            "c",
            "nan",
            "inf",
            "1e300",
            "0.001",
            "9007199254740992.5",
            "9007199254740993",
            "-90",
            "270",
            "-5",
            "715",
            "1.5",
            "1e-400",
        ];
        let words = words.map(str::to_owned).into_iter();
        let words = words.chain([big, big + 1, big + 3, -big - 1].map(|it| it.to_string()));
        for (labels, label) in all.iter().flat_map(|it| words.clone().map(move |word| (it, word))) {
            let (one, list) = (Lookup::of_one(labels), Lookup::of_list(labels, LIST_MIN));
            assert!(list.order.is_some() && one.order.is_none());
            assert_eq!(list.all_equal(&label), one.all_equal(&label), "{label} in {labels:?}");
            assert_eq!(list.nearest(&label), one.nearest(&label), "near {label} in {labels:?}");
            let [found, wanted] = [&list, &one].map(|it| it.equal_longitudes(&label));
            assert_eq!(found, wanted, "longitude {label} in {labels:?}");
            let [found, wanted] = [&list, &one].map(|it| it.nearest_longitude(&label));
            assert_eq!(found, wanted, "near longitude {label} in {labels:?}");
            let is_first =
                one.all_equal(&label).first().is_none_or(|at| labels.is_equal(*at, &label));
            assert!(is_first, "{label} in {labels:?}");
        }
    }

    #[test]
    fn longitudes_are_found_but_for_full_turns() {
        let floats = |start: f64| {
            let values: Vec<f64> = (0..36).map(|at| f64::from(at) * 10.0 + start).collect();
            Labels::Floats { values: values.into(), width: FloatWidth::Single }
        };
        let (east, west) = (floats(0.0), floats(-180.0));
        let integers = |values: &[i128]| Labels::Integers(values.to_vec().into());
        for (labels, label, wanted) in [
            (&east, "-8.9", 35),
            (&east, "-170", 19),
            (&east, "356", 0),
            (&east, "4", 0),
            (&west, "352", 17),
            (&west, "179", 0),
            (&east, "-1000", 8),
            (&west, "360000012", 19),
        ] {
            assert_eq!(Lookup::of_one(labels).nearest_longitude(label), Some(wanted), "{label}");
        }
        assert_eq!(Lookup::of_one(&east).equal_longitudes("-10"), [35]);
        assert_eq!(Lookup::of_one(&west).equal_longitudes("190"), [1]);
        assert!(Lookup::of_one(&west).equal_longitudes("5").is_empty());
        assert_eq!(Lookup::of_one(&east).equal_longitudes("-3590"), [1]);
        assert_eq!(Lookup::of_one(&east).nearest_longitude("1e308"), None);
        assert_eq!(Lookup::of_one(&integers(&[0, 120, 240])).nearest_longitude("-1e10"), None);
        assert!(east.is_within(35, "-8.9", 2.0, true));
        assert!(!east.is_within(35, "-8.9", 1.0, true));
        assert!(!east.is_within(35, "-8.9", 2.0, false));
    }

    /// The list of all of many labels takes far fewer comparisons than each with all.
    #[test]
    fn long_lists_are_looked_up_in_an_order() {
        let count = 200_000;
        let labels: Vec<i128> = (0..count).map(|at| at * 7919 % count).collect();
        let labels = Labels::Integers(labels.into());
        let lookup = Lookup::of_list(&labels, 200_000);
        for label in 0..count {
            let at = lookup.all_equal(&label.to_string())[0];
            assert_eq!(labels.text(at), Some(label.to_string()));
        }
    }
}
