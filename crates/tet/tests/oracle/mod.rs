//! Axes of every kind, and random selections of them whose positions are found by a look at one label after the other.

mod calendar;
mod entries;

pub(crate) use calendar::{Calendar, dates};
pub(crate) use entries::Entry;
use tet::query::{AxisRef, AxisSelection};

/// Random numbers that are the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `count`, as `SplitMix64` makes them.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).expect("below a count")
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    pub(crate) fn several<T>(
        &mut self,
        most: usize,
        mut one: impl FnMut(&mut Dice) -> T,
    ) -> Vec<T> {
        (0..=self.below(most)).map(|_| one(self)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisKind {
    /// Every six hours.
    Time,
    /// Numbers that go down.
    Fall,
    /// Longitudes around the globe.
    Lon,
    /// Numbers that go up.
    Rise,
    /// Numbers in no order.
    Mixed,
    /// Numbers that several positions have.
    Twice,
    /// Texts.
    Name,
}

/// The arrays with their axes.
pub(crate) const ARRAYS: [(&str, &[AxisKind]); 2] = [
    ("a", &[AxisKind::Time, AxisKind::Fall, AxisKind::Lon]),
    ("b", &[AxisKind::Rise, AxisKind::Mixed, AxisKind::Twice, AxisKind::Name]),
];

impl AxisKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            AxisKind::Time => "time",
            AxisKind::Fall => "fall",
            AxisKind::Lon => "lon",
            AxisKind::Rise => "rise",
            AxisKind::Mixed => "mixed",
            AxisKind::Twice => "twice",
            AxisKind::Name => "name",
        }
    }

    /// The numbers that are stored; none of an axis of texts.
    pub(crate) fn numbers(self) -> Vec<f64> {
        match self {
            AxisKind::Time => (0..calendar::TIMES).map(|at| f64::from(at) * 6.0).collect(),
            AxisKind::Fall => vec![60.0, 47.5, 35.0, 10.0, -2.5, -40.0],
            AxisKind::Lon => (0..8).map(|at| f64::from(at) * 45.0).collect(),
            AxisKind::Rise => vec![-3.0, -2.5, 0.0, 0.25, 4.0, 10.0],
            AxisKind::Mixed => vec![7.0, -3.0, 12.0, 5.0, 0.0, 100.0],
            AxisKind::Twice => vec![1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 8.0],
            AxisKind::Name => vec![],
        }
    }

    pub(crate) fn texts(self) -> &'static [&'static str] {
        if self == AxisKind::Name { &["Oslo", "St. John's", "7", "a:b", "Bergen"] } else { &[] }
    }

    pub(crate) fn extent(self) -> usize {
        self.numbers().len() + self.texts().len()
    }

    pub(crate) fn attributes(self, calendar: Calendar) -> Vec<(&'static str, &'static str)> {
        match self {
            AxisKind::Time => {
                vec![("units", calendar::UNITS), ("calendar", calendar.name())]
            }
            AxisKind::Lon => vec![("units", "degrees_east")],
            _ => vec![],
        }
    }

    /// The labels as they are printed.
    fn labels(self, calendar: Calendar) -> Vec<String> {
        match self {
            AxisKind::Time => dates(calendar, 6),
            AxisKind::Name => self.texts().iter().map(|&it| it.to_owned()).collect(),
            _ => self.numbers().iter().map(f64::to_string).collect(),
        }
    }
}

/// A selection of an array.
pub(crate) struct Case {
    pub(crate) array: &'static str,
    pub(crate) text: String,
    /// The query document of the case.
    pub(crate) document: String,
    axes: &'static [AxisKind],
    calendar: Calendar,
    entries: Vec<Option<Entry>>,
}

impl Case {
    pub(crate) fn random(dice: &mut Dice, calendar: Calendar) -> Case {
        let (array, axes) = dice.pick(&ARRAYS);
        let one = dice.below(axes.len());
        let entry = |(at, &axis): (usize, &AxisKind)| {
            (at == one || dice.below(2) == 0).then(|| Entry::random(dice, axis, calendar))
        };
        let entries: Vec<Option<Entry>> = axes.iter().enumerate().map(entry).collect();
        let text: Vec<&str> = entries.iter().flatten().map(|it| &*it.text).collect();
        let text = text.join(", ");
        let words = axes.iter().zip(&entries).filter_map(|(axis, it)| Some((axis, it.as_ref()?)));
        let words =
            words.map(|(axis, it)| Some(format!("{:?}: {}", axis.name(), it.document.as_ref()?)));
        let words: Option<Vec<String>> = words.collect();
        let document = match words.filter(|_| dice.below(3) != 0) {
            Some(words) => format!("{{{}}}", words.join(", ")),
            None => format!("{text:?}"),
        };
        Case { array, text, document, axes, calendar, entries }
    }

    /// The parts of the selection, as they are made in Rust.
    pub(crate) fn forms(&self) -> Vec<(AxisRef, AxisSelection)> {
        let axes = self.axes.iter().zip(&self.entries);
        axes.filter_map(|(axis, it)| Some((axis.name().into(), it.as_ref()?.form.clone())))
            .collect()
    }

    pub(crate) fn shape(&self) -> Vec<u64> {
        let axes = self.axes.iter().zip(&self.entries);
        let counts = axes.filter_map(|(axis, entry)| match entry {
            Some(entry) if entry.is_dropped => None,
            Some(entry) => Some(entry.positions.len() as u64),
            None => Some(axis.extent() as u64),
        });
        counts.collect()
    }

    /// The selected elements: each is the number of its place in the whole array.
    pub(crate) fn elements(&self) -> Vec<f64> {
        let mut places = vec![0_u32];
        for (axis, entry) in self.axes.iter().zip(&self.entries) {
            let extent = axis.extent();
            let positions: Vec<usize> =
                entry.as_ref().map_or((0..extent).collect(), |it| it.positions.clone());
            let number = |count: usize| u32::try_from(count).expect("a small array");
            let below = |place: &u32| {
                let first = place * number(extent);
                positions.iter().map(|&at| first + number(at)).collect::<Vec<_>>()
            };
            places = places.iter().flat_map(below).collect();
        }
        places.into_iter().map(f64::from).collect()
    }

    /// The labels along each axis, also of one position.
    pub(crate) fn labels(&self) -> Vec<(AxisKind, Vec<String>)> {
        let axes = self.axes.iter().zip(&self.entries);
        let labels = |(&axis, entry): (&AxisKind, &Option<Entry>)| {
            let all = axis.labels(self.calendar);
            let Some(entry) = entry else { return (axis, all) };
            let label = |(nth, &at): (usize, &usize)| match entry.turns.get(nth) {
                Some(&turns) => (axis.numbers()[at] + 360.0 * turns).to_string(),
                None => all[at].clone(),
            };
            (axis, entry.positions.iter().enumerate().map(label).collect())
        };
        axes.map(labels).collect()
    }
}
