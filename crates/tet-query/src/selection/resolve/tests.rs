//! Selections find the positions that Python and xarray take.

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

    fn dims_of(&self, name: &str) -> Option<Vec<String>> {
        let dims: &[&str] = match name {
            "depth" => &["lat", "lon"],
            "day" => &["time"],
            "mesh" => &["node"],
            _ => return None,
        };
        Some(dims.iter().map(|&dim| dim.to_owned()).collect())
    }
}

/// Three days, as dates.
struct Days;

impl LabelLookup for Days {
    fn labels(&self, _axis: usize) -> Result<Option<Labels<'_>>> {
        let days = ["2020-01-01", "2020-01-02", "2020-01-03"].map(str::to_owned);
        Ok(Some(Labels::Text(days.to_vec().into()).dated()))
    }
}

#[test]
fn whole_numbers_among_dates_are_repeated_as_positions() {
    for (text, positions) in [
        ("time=0", Some("time#0")),
        ("time=0:2", Some("time#0:2")),
        ("time=0:3:2", Some("time#0:3:2")),
        ("time=1:", Some("time#1:")),
        ("time=:2", Some("time#:2")),
        ("time=[0,2]", Some("time#[0,2]")),
        ("time=0:4", None),
        ("time=3", None),
        ("time=[0,2020-01-02]", None),
    ] {
        let selection = Selection::parse(text).unwrap();
        let error = selection.resolve_axes(&[3], &["time".to_owned()], &Days).unwrap_err();
        let crate::error::Error::Selection(error) = error else { panic!("{error}") };
        let dates = "dates go from 2020-01-01 to 2020-01-03".to_owned();
        let hint =
            positions.map_or(dates.clone(), |it| format!("{dates}; positions are written {it}"));
        assert_eq!(error.fault.hint(), Some(hint), "{text}");
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
        ("lat#1, time#0:2", "0:2:1 1:2:1! 0:2:1"),
        ("lat=20, time#0:2", "0:2:1 1:2:1! 0:2:1"),
        ("-1=0", "0:4:1 0:3:1 0:1:1!"),
        ("lon=0:1", "0:4:1 0:3:1 0:1:1"),
        ("lon=:-1", "0:4:1 0:3:1 0:1:1"),
        ("0#2:", "2:4:1 0:3:1 0:2:1"),
        ("1=20:", "0:4:1 1:3:1 0:2:1"),
        ("time=\"tue\":\"thu\"", "1:4:1 0:3:1 0:2:1"),
        ("time=tue:thu:2", "1:4:2 0:3:1 0:2:1"),
        ("time='wed':", "2:4:1 0:3:1 0:2:1"),
        ("time=:'tue'", "0:2:1 0:3:1 0:2:1"),
        ("time='thu':'mon'", "3:3:1 0:3:1 0:2:1"),
        ("time='thu'", "3:4:1! 0:3:1 0:2:1"),
        ("lat='20.0'", "0:4:1 1:2:1! 0:2:1"),
        ("lat='11':'30'", "0:4:1 1:3:1 0:2:1"),
        ("lat=11:25", "0:4:1 1:2:1 0:2:1"),
        ("lat=0:40", "0:4:1 0:3:1 0:2:1"),
        ("lat=21:29", "0:4:1 2:2:1 0:2:1"),
        ("lat=30:10", "0:4:1 2:2:1 0:2:1"),
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
        ("lat=40", "no label \"40\" on axis 1 \"lat\" of extent 3", "the nearest label is \"30\""),
        (
            "lat=0",
            "no label \"0\" on axis 1 \"lat\" of extent 3",
            "the nearest label is \"10\"; positions are written lat#0",
        ),
        (
            "lat=[0,2]",
            "no label \"0\" on axis 1 \"lat\" of extent 3",
            "the nearest label is \"10\"; positions are written lat#[0,2]",
        ),
        // One of them is outside of the axis.
        (
            "lat=[0,3]",
            "no label \"0\" on axis 1 \"lat\" of extent 3",
            "the nearest label is \"10\"",
        ),
        (
            "lat~12 within 1",
            "no label within 1 of \"12\" on axis 1 \"lat\": the nearest is \"10\"",
            "",
        ),
        ("tine=0", "no axis \"tine\" (time, lat, lon)", "did you mean \"time\"?"),
        ("7=0", "no axis \"7\" (time, lat, lon)", ""),
        ("lat=0, 1=0", "axis 1 \"lat\" is given twice", ""),
        (
            "lon='x'",
            "axis 2 \"lon\" has no labels, so \"x\" cannot be looked up",
            "select by position instead",
        ),
        ("time='tua'", "no label \"tua\" on axis 0 \"time\" of extent 4", "did you mean \"tue\"?"),
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
        check_fault(text, message, hint);
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

/// A selection of four, three and two positions is refused with this message and hint.
fn check_fault(text: &str, message: &str, hint: &str) {
    let selection = Selection::parse(text).unwrap();
    let error = selection.resolve_axes(&[4, 3, 2], &names(), &Table).unwrap_err();
    assert_eq!(error.to_string(), message, "{text}");
    let crate::error::Error::Selection(error) = error else { panic!("{error}") };
    assert_eq!(error.fault.hint().unwrap_or_default(), hint, "{text}");
}

#[test]
fn datasets_that_are_no_axis_are_named_with_their_dimensions() {
    for (text, message, hint) in [
        (
            "depth=5",
            "no axis \"depth\" (time, lat, lon)",
            "\"depth\" is a dataset of 2 dimensions (lat, lon), not an axis: \
             select along these, as lat#0:10, lon#0:10",
        ),
        (
            "day~5",
            "no axis \"day\" (time, lat, lon)",
            "\"day\" is a dataset along \"time\", not an axis: select along that, as time#0:10",
        ),
        (
            "mesh=5",
            "no axis \"mesh\" (time, lat, lon)",
            "\"mesh\" is a dataset along \"node\", not an axis",
        ),
    ] {
        check_fault(text, message, hint);
    }
}
