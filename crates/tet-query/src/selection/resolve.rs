//! A selection and an array's axes -> a hyperslab.

use super::axes::find_axis;
use super::error::{SelectionError, SelectionFault};
use super::{Axis, AxisSelection, AxisSlice, Hyperslab, Position, Selection, SelectionForm, Stop};
use crate::axis::axis_text;
use crate::catalog::Dataset;
use crate::error::Result;
use crate::labels::{LabelLookup, Labels, Side};
use crate::suggestion::nearest_word;

/// How many labels are compared for a suggestion.
const SUGGESTED_FROM_MAX: usize = 1000;

/// The entry for each axis that has one, with its place among the entries as written.
type Placed<'a> = Vec<Option<(usize, &'a AxisSelection)>>;

impl Selection {
    /// What is selected of `dataset`, its labels looked up in `labels`.
    ///
    /// # Errors
    ///
    /// A selection that does not fit the dataset: the axis, its extent and what was asked.
    pub fn resolve(&self, dataset: &Dataset, labels: &dyn LabelLookup) -> Result<Hyperslab> {
        self.resolve_axes(dataset.grid.shape(), &dataset.dims, labels)
    }

    /// What is selected of an array with these extents and dimension names (or none).
    ///
    /// # Errors
    ///
    /// As [`Selection::resolve`].
    pub fn resolve_axes(
        &self,
        extents: &[u64],
        dims: &[String],
        labels: &dyn LabelLookup,
    ) -> Result<Hyperslab> {
        let placed = self.place(extents.len(), dims)?;
        let mut slices = Vec::with_capacity(extents.len());
        for (axis, entry) in placed.into_iter().enumerate() {
            let reader = AxisReader { axis, extent: extents[axis], dims, labels };
            slices.push(match entry {
                None => AxisSlice::whole(extents[axis]),
                Some((place, entry)) => reader.slice(place, entry)?,
            });
        }
        Ok(Hyperslab { axes: slices })
    }

    /// Finds the axis of every entry.
    fn place(
        &self,
        rank: usize,
        dims: &[String],
    ) -> std::result::Result<Placed<'_>, SelectionError> {
        let mut placed: Placed<'_> = vec![None; rank];
        let misfit = |given| Box::new(SelectionFault::Rank { given, rank, dims: dims.to_vec() });
        match &self.form {
            SelectionForm::Each(entries) => {
                if entries.len() != rank {
                    return Err(misfit(entries.len()).of_all());
                }
                for (axis, entry) in entries.iter().enumerate() {
                    placed[axis] = Some((axis, entry));
                }
            }
            SelectionForm::Around { head, tail } => {
                let given = head.len().saturating_add(tail.len());
                if rank < given {
                    return Err(misfit(given).of_all());
                }
                for (axis, entry) in head.iter().enumerate() {
                    placed[axis] = Some((axis, entry));
                }
                for (place, entry) in tail.iter().enumerate() {
                    placed[rank - tail.len() + place] = Some((head.len() + place, entry));
                }
            }
            SelectionForm::Named(entries) => {
                for (place, (asked, entry)) in entries.iter().enumerate() {
                    let axis = find_axis(asked, dims, rank).map_err(|it| it.of_entry(place))?;
                    if placed[axis].replace((place, entry)).is_some() {
                        let axis = axis_text(axis, dims);
                        return Err(Box::new(SelectionFault::AxisTwice { axis }).of_entry(place));
                    }
                }
            }
        }
        Ok(placed)
    }
}

/// One axis on which entries are resolved.
struct AxisReader<'a> {
    axis: usize,
    extent: u64,
    dims: &'a [String],
    labels: &'a dyn LabelLookup,
}

impl AxisReader<'_> {
    fn slice(&self, place: usize, entry: &AxisSelection) -> Result<AxisSlice> {
        let found = match entry {
            AxisSelection::Point(position) => self.point(position)?,
            AxisSelection::Range { step: 0, .. } => {
                Err(SelectionFault::ZeroStep { axis: self.text() }.into())
            }
            AxisSelection::Range { start, stop, step } => {
                self.range(start.as_ref(), stop, *step)?
            }
        };
        Ok(found.map_err(|fault| fault.of_entry(place))?)
    }

    fn point(&self, position: &Position) -> Result<Found<AxisSlice>> {
        let start = match position {
            Position::Index(index) => self.inside(*index, i128::from(self.extent) - 1, "index"),
            Position::Label(label) => {
                if let Some(period) = self.period(label)? {
                    return Ok(Ok(period));
                }
                self.label(label, |it, label| it.first_equal(label))?
            }
            Position::Nearest(label) => self.label(label, |it, label| it.nearest(label))?,
        };
        let slice = |start| AxisSlice { start, stop: start + 1, step: 1, axis: Axis::Dropped };
        Ok(start.map(slice))
    }

    fn range(&self, start: Option<&Position>, stop: &Stop, step: u64) -> Result<Found<AxisSlice>> {
        let start = match start {
            None => Ok(0),
            Some(position) => self.bound(position, "start")?,
        };
        let stop = match stop {
            Stop::End => Ok(self.extent),
            Stop::Before(position) => self.bound(position, "stop")?,
            Stop::Through(label) => self.label(label, |it, label| it.bound(label, Side::After))?,
        };
        Ok(start.and_then(|start| {
            // A stop before the start is an empty range, as in Python.
            stop.map(|stop| AxisSlice { start, stop: stop.max(start), step, axis: Axis::Kept })
        }))
    }

    /// Where a range starts or stops: anywhere up to the extent itself.
    fn bound(&self, position: &Position, what: &'static str) -> Result<Found<u64>> {
        match position {
            Position::Index(index) => Ok(self.inside(*index, i128::from(self.extent), what)),
            Position::Label(label) => self.label(label, |it, label| it.bound(label, Side::Before)),
            Position::Nearest(label) => self.label(label, |it, label| it.nearest(label)),
        }
    }

    /// All positions within a date that is less precise than the times of the axis.
    fn period(&self, label: &str) -> Result<Option<AxisSlice>> {
        let Some(labels) = self.labels.labels(self.axis)? else { return Ok(None) };
        let labels = labels.first(usize::try_from(self.extent).unwrap_or(usize::MAX));
        let slice = |range: std::ops::Range<usize>| {
            let [start, stop] = [range.start, range.end].map(|at| u64::try_from(at).ok());
            Some(AxisSlice { start: start?, stop: stop?, step: 1, axis: Axis::Kept })
        };
        Ok(labels.period(label).and_then(slice))
    }

    /// The position an index means: from the end when negative, at most `last`.
    fn inside(&self, index: i128, last: i128, what: &'static str) -> Found<u64> {
        let counted =
            if index < 0 { index.checked_add(i128::from(self.extent)) } else { Some(index) };
        counted
            .filter(|&position| position <= last)
            .and_then(|position| u64::try_from(position).ok())
            .ok_or_else(|| {
                let (axis, extent, asked) = (self.text(), self.extent, format!("{what} {index}"));
                SelectionFault::OutOfExtent { axis, extent, asked, last }.into()
            })
    }

    fn label(
        &self,
        label: &str,
        find: impl Fn(&Labels<'_>, &str) -> Option<usize>,
    ) -> Result<Found<u64>> {
        let Some(labels) = self.labels.labels(self.axis)? else {
            let (axis, label) = (self.text(), label.to_owned());
            return Ok(Err(SelectionFault::NoLabels { axis, label }.into()));
        };
        let labels = labels.first(usize::try_from(self.extent).unwrap_or(usize::MAX));
        let found = find(&labels, label).and_then(|at| u64::try_from(at).ok());
        Ok(found.ok_or_else(|| unknown_label(self.text(), self.extent, label, &labels)))
    }

    fn text(&self) -> String {
        axis_text(self.axis, self.dims)
    }
}

/// The fault of a label that no position of an axis has.
#[must_use]
pub fn unknown_label(
    axis: String,
    extent: u64,
    label: &str,
    labels: &Labels<'_>,
) -> Box<SelectionFault> {
    let ends = labels.text(0).zip(labels.text(labels.len().saturating_sub(1)));
    let neighbors = labels.neighbors(label).into_iter().flatten();
    let neighbors = neighbors.filter_map(|at| labels.text(at)).collect();
    let suggestion = match labels {
        Labels::Text(texts) => {
            let near = texts.iter().take(SUGGESTED_FROM_MAX).map(String::as_str);
            nearest_word(label, near).map(str::to_owned)
        }
        _ => None,
    };
    let label = label.to_owned();
    Box::new(SelectionFault::NoSuchLabel { axis, extent, label, ends, neighbors, suggestion })
}

/// What was found, or the entry's fault. The outer result is for labels that cannot be read.
type Found<T> = std::result::Result<T, Box<SelectionFault>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::AxisRef;
    use crate::labels::NoLabels;

    /// The positions `range(n)[start:stop:step]` gives in Python, counted out one by one.
    fn python(extent: i128, start: Option<i128>, stop: Option<i128>, step: i128) -> Vec<i128> {
        let from_front = |at: i128| if at < 0 { at + extent } else { at };
        let stop = stop.map_or(extent, from_front);
        let mut at = start.map_or(0, from_front);
        let mut positions = Vec::new();
        while at < stop {
            positions.push(at);
            at += step;
        }
        positions
    }

    fn positions(slice: &AxisSlice) -> Vec<i128> {
        (0..slice.count()).map(|i| i128::from(slice.start + i * slice.step)).collect()
    }

    #[test]
    fn ranges_are_what_python_takes() {
        for extent in 0..=6i128 {
            let bounds: Vec<Option<i128>> =
                std::iter::once(None).chain((-extent - 2..=extent + 2).map(Some)).collect();
            for &start in &bounds {
                for &stop in &bounds {
                    for step in 1..=4i128 {
                        check_range(extent, start, stop, step);
                    }
                }
            }
        }
    }

    fn check_range(extent: i128, start: Option<i128>, stop: Option<i128>, step: i128) {
        let show = |at: Option<i128>| at.map(|at| at.to_string()).unwrap_or_default();
        let text = format!("{}:{}:{step}", show(start), show(stop));
        let shape = [u64::try_from(extent).unwrap()];
        let found = Selection::parse(&text).unwrap().resolve_axes(&shape, &[], &NoLabels);
        let inside = |at: Option<i128>| at.is_none_or(|at| -extent <= at && at <= extent);
        match found {
            Ok(slab) => {
                assert!(inside(start) && inside(stop), "{text} of {extent} is out of extent");
                assert_eq!(positions(&slab.axes()[0]), python(extent, start, stop, step), "{text}");
                assert!(Hyperslab::new(slab.axes().to_vec(), &shape).is_some(), "{text}");
                let last = slab.axes()[0].last().map(i128::from);
                assert_eq!(last, python(extent, start, stop, step).last().copied());
            }
            Err(error) => {
                assert!(!(inside(start) && inside(stop)), "{text} of {extent}: {error}");
                assert!(error.to_string().contains("is outside axis 0 of extent"), "{error}");
            }
        }
    }

    #[test]
    fn points_are_what_python_takes() {
        for extent in 0..=5i64 {
            for index in -extent - 2..=extent + 1 {
                let shape = [u64::try_from(extent).unwrap()];
                let selection = Selection::parse(&index.to_string()).unwrap();
                match selection.resolve_axes(&shape, &[], &NoLabels) {
                    Ok(slab) => {
                        let wanted = if index < 0 { index + extent } else { index };
                        assert_eq!(positions(&slab.axes()[0]), [i128::from(wanted)]);
                        assert_eq!(slab.dropped_axes(), [0]);
                        assert!((-extent..extent).contains(&index));
                    }
                    Err(_) => assert!(!(-extent..extent).contains(&index), "{index} of {extent}"),
                }
            }
        }
    }

    fn names() -> Vec<String> {
        ["time", "lat", "lon"].map(str::to_owned).to_vec()
    }

    struct Table;

    impl LabelLookup for Table {
        fn labels(&self, axis: usize) -> Result<Option<Labels<'_>>> {
            let texts: &[&str] = match axis {
                0 => &["mon", "tue", "wed", "thu", "past"],
                1 => &["10", "20", "30"],
                _ => return Ok(None),
            };
            Ok(Some(Labels::Text(texts.iter().map(|&text| text.to_owned()).collect())))
        }
    }

    /// Start, stop and step per axis, `!` after a dropped one.
    fn shown(slab: &Hyperslab) -> String {
        let one = |slice: &AxisSlice| {
            let mark = if slice.is_kept() { "" } else { "!" };
            format!("{}:{}:{}{mark}", slice.start, slice.stop, slice.step)
        };
        slab.axes().iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_find_their_axes() {
        for (text, wanted) in [
            ("", "0:4:1 0:3:1 0:2:1"),
            ("...", "0:4:1 0:3:1 0:2:1"),
            ("1", "1:2:1! 0:3:1 0:2:1"),
            ("..., 1", "0:4:1 0:3:1 1:2:1!"),
            ("::2, ..., -1", "0:4:2 0:3:1 1:2:1!"),
            ("1:, ..., :2, 0", "1:4:1 0:2:1 0:1:1!"),
            ("0, ..., 1, 0", "0:1:1! 1:2:1! 0:1:1!"),
            ("3:1", "3:3:1 0:3:1 0:2:1"),
            ("lat=1, time=0:2", "0:2:1 1:2:1! 0:2:1"),
            ("-1=0", "0:4:1 0:3:1 0:1:1!"),
            ("0=2:", "2:4:1 0:3:1 0:2:1"),
            ("time=\"tue\":\"thu\"", "1:3:1 0:3:1 0:2:1"),
            ("time='wed':", "2:4:1 0:3:1 0:2:1"),
            ("time=:'tue'", "0:1:1 0:3:1 0:2:1"),
            ("time='thu':'mon'", "3:3:1 0:3:1 0:2:1"),
            ("time='thu'", "3:4:1! 0:3:1 0:2:1"),
            ("lat='20.0'", "0:4:1 1:2:1! 0:2:1"),
            ("lat='11':'30'", "0:4:1 1:2:1 0:2:1"),
            ("'tue', '10':", "1:2:1! 0:3:1 0:2:1"),
        ] {
            let selection = Selection::parse(text).unwrap();
            let slab = selection.resolve_axes(&[4, 3, 2], &names(), &Table).unwrap();
            assert_eq!(shown(&slab), wanted, "{text}");
        }
        let through = Selection::named([("time", AxisSelection::through("tue", "thu"))]);
        let slab = through.resolve_axes(&[4, 3, 2], &names(), &Table).unwrap();
        assert_eq!(shown(&slab), "1:4:1 0:3:1 0:2:1");
        assert_eq!(slab.counts(), [3, 3, 2]);
        assert_eq!(slab.element_count(), Some(18));
    }

    #[test]
    fn misfits_name_axis_extent_and_what_was_asked() {
        for (text, message, hint) in [
            ("9", "index 9 is outside axis 0 \"time\" of extent 4", "use -4 to 3"),
            (":, -4", "index -4 is outside axis 1 \"lat\" of extent 3", "use -3 to 2"),
            ("5:", "start 5 is outside axis 0 \"time\" of extent 4", "use -4 to 4"),
            ("lon=:-3", "stop -3 is outside axis 2 \"lon\" of extent 2", "use -2 to 2"),
            ("0,0,0,0", "4 entries for 3 axes (time, lat, lon)", ""),
            ("0,0,...,0,0", "4 entries for 3 axes (time, lat, lon)", ""),
            ("tine=0", "no axis \"tine\" (time, lat, lon)", "did you mean \"time\"?"),
            ("7=0", "no axis \"7\" (time, lat, lon)", ""),
            ("lat=0, 1=0", "axis 1 \"lat\" is given twice", ""),
            (
                "lon='x'",
                "axis 2 \"lon\" has no labels, so \"x\" cannot be looked up",
                "select by position instead",
            ),
            (
                "time='tua'",
                "no label \"tua\" on axis 0 \"time\" of extent 4",
                "did you mean \"tue\"?",
            ),
            (
                "time='zzzzz':",
                "no label \"zzzzz\" on axis 0 \"time\" of extent 4",
                "labels go from \"mon\" to \"thu\"",
            ),
            (
                "time='past'",
                "no label \"past\" on axis 0 \"time\" of extent 4",
                "labels go from \"mon\" to \"thu\"",
            ),
        ] {
            let selection = Selection::parse(text).unwrap();
            let error = selection.resolve_axes(&[4, 3, 2], &names(), &Table).unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
            let crate::error::Error::Selection(error) = error else { panic!("{error}") };
            assert_eq!(error.fault.hint().unwrap_or_default(), hint, "{text}");
        }
        let each = Selection::each([AxisSelection::all()]);
        let error = each.resolve_axes(&[4, 3, 2], &names(), &NoLabels).unwrap_err();
        assert_eq!(error.to_string(), "1 entry for 3 axes (time, lat, lon)");
        let zero = Selection::named([(AxisRef::from(0), AxisSelection::all().step_by(0))]);
        let error = zero.resolve_axes(&[4], &[], &NoLabels).unwrap_err();
        assert_eq!(error.to_string(), "step 0 on axis 0: a step is at least 1");
    }

    #[test]
    fn huge_extents_do_not_wrap() {
        let extent = u64::MAX;
        for (text, wanted) in [
            ("-1", (extent - 1, extent)),
            (":", (0, extent)),
            ("-18446744073709551615:", (0, extent)),
            ("18446744073709551615:", (extent, extent)),
        ] {
            let selection = Selection::parse(text).unwrap();
            let slab = selection.resolve_axes(&[extent], &[], &NoLabels).unwrap();
            assert_eq!((slab.axes()[0].start, slab.axes()[0].stop), wanted, "{text}");
        }
        let slab = Hyperslab::whole(&[extent, 2]);
        assert_eq!(slab.element_count(), None);
        assert_eq!(Hyperslab::whole(&[extent, 2, 0]).element_count(), Some(0));
    }
}
