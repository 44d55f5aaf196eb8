//! Which end of an axis is where, and what its marks are.

use tet_query::Calendar;

use super::*;

fn axis(labels: &[&str]) -> PlotAxis {
    PlotAxis::labeled("a", labels.iter().map(|&label| label.to_owned()).collect())
}

fn texts(axis: &PlotAxis, count: usize) -> Vec<String> {
    axis.ticks(count).into_iter().map(|tick| tick.text).collect()
}

#[test]
fn numbers_order_an_axis_and_texts_do_not() {
    assert!(axis(&["1", "2", "3"]).is_from_bottom() && axis(&["3", "2", "1"]).is_from_right());
    for labels in
        [&["a", "b"][..], &["1", "3", "2"], &["1", "1"], &["nan", "1"], &["2024-01", "2024-02"]]
    {
        let axis = axis(labels);
        assert!(!axis.is_from_bottom() && !axis.is_from_right(), "{labels:?}");
    }
}

#[test]
fn few_positions_have_their_own_labels_and_many_round_numbers() {
    assert_eq!(texts(&axis(&["87", "81", "75"]), 5), ["87", "81", "75"]);
    let labels: Vec<String> = (0..30).map(|at| (87 - 6 * at).to_string()).collect();
    let lat = PlotAxis::labeled("lat", labels);
    assert_eq!(texts(&lat, 5), ["50", "0", "-50"]);
    // -50 is between -45 at position 22 and -51 at 23.
    let part = lat.ticks(5)[2].part;
    assert!((part - (22.0 + 5.0 / 6.0 + 0.5) / 30.0).abs() < 1e-9, "{part}");
    assert_eq!(texts(&axis(&["a", "b", "c", "d", "e"]), 3), ["a", "c", "e"]);
    assert_eq!(texts(&PlotAxis::positions("x", 1000, 10, 2), 4), ["500", "1000", "1500", "2000"]);
}

fn timed(unit_days: &[f64], calendar: Calendar, start: [i64; 3]) -> PlotAxis {
    let [year, month, day] = start;
    let first = calendar.days(year, u32::try_from(month).unwrap(), u32::try_from(day).unwrap());
    #[allow(clippy::cast_possible_truncation, reason = "a few years")]
    let at = |days: &f64| first.unwrap() * 86_400_000_000_000 + (days * 86_400e9) as i128;
    let nanoseconds: Vec<i128> = unit_days.iter().map(at).collect();
    let labels = nanoseconds.iter().map(i128::to_string).collect();
    PlotAxis::labeled("time", labels).with_moments(Moments { calendar, nanoseconds })
}

#[test]
fn times_have_round_dates_at_their_places() {
    let days: Vec<f64> = (0..730).map(|day| f64::from(day) + 0.5).collect();
    let cases = [
        (
            Calendar::NoLeap,
            "2001-01 2001-07 2002-01 2002-07 2003-01",
            [0.0, 181.0, 365.0, 546.0, 730.0],
        ),
        (
            Calendar::Standard,
            "2001-01 2001-07 2002-01 2002-07 2003-01",
            [0.0, 181.0, 365.0, 546.0, 730.0],
        ),
        (
            Calendar::Days360,
            "2001-01 2001-07 2002-01 2002-07 2003-01",
            [0.0, 180.0, 360.0, 540.0, 720.0],
        ),
        (Calendar::AllLeap, "2001-01 2001-07 2002-01 2002-07", [0.0, 182.0, 366.0, 548.0, 0.0]),
    ];
    for (calendar, wanted, places) in cases {
        let time = timed(&days, calendar, [2001, 1, 1]);
        let ticks = time.ticks(4);
        let shown: Vec<&str> = ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(shown.join(" "), wanted, "{calendar:?}");
        for (tick, place) in ticks.iter().zip(places) {
            assert!((tick.part - place / 730.0).abs() < 1e-9, "{calendar:?} {tick:?}");
        }
        assert_eq!(time.title_of(&ticks), "time");
    }
    let hours: Vec<f64> = (0..24).map(|hour| f64::from(hour) / 24.0).collect();
    let day = timed(&hours, Calendar::Standard, [2001, 7, 15]);
    let ticks = day.ticks(4);
    assert_eq!(texts(&day, 4), ["00:00", "06:00", "12:00", "18:00"]);
    assert_eq!(day.title_of(&ticks), "time (2001-07-15)");
    assert!((ticks[2].part - 12.5 / 24.0).abs() < 1e-9, "{ticks:?}");
    let falling = timed(&[2.0, 1.0, 0.0], Calendar::Standard, [2001, 7, 15]);
    assert!(falling.is_from_right() && !falling.is_from_bottom());
    let tangled = timed(&[2.0, 0.0, 1.0], Calendar::Standard, [2001, 7, 15]);
    assert_eq!(tangled.is_rising(), None);
}

#[test]
fn depths_grow_downwards_however_they_are_stored() {
    let down = |labels: &[&str]| axis(labels).with_role(CoordinateRole::Downward);
    let (rising, falling) = (down(&["100", "85000"]), down(&["85000", "100"]));
    assert_eq!([rising.is_from_bottom(), falling.is_from_bottom()], [false, true]);
    assert_eq!([rising.is_from_right(), falling.is_from_right()], [false, true]);
    assert_eq!(
        [&rising, &falling].map(|axis| axis.clone().inverted().is_from_bottom()),
        [true, false]
    );
    assert!(axis(&["a", "b"]).inverted().is_from_bottom());
    let lat = || axis(&["10", "20"]).with_role(CoordinateRole::Latitude);
    let lon = || axis(&["10", "20"]).with_role(CoordinateRole::Longitude);
    assert!(lat().is_from_bottom() && !lat().inverted().is_from_bottom());
    assert!(PlotAxis::are_sideways(&lat(), &rising) && !PlotAxis::are_sideways(&rising, &lat()));
    assert!(PlotAxis::are_sideways(&lon(), &lat()) && !PlotAxis::are_sideways(&lat(), &lon()));
}

#[test]
fn degrees_have_marks_up_to_the_edges() {
    let lon = PlotAxis::evenly("lon", -180.0, 180.0, 90).with_role(CoordinateRole::Longitude);
    assert_eq!(texts(&lon, 6), ["-180", "-120", "-60", "0", "60", "120", "180"]);
    let ends: Vec<f64> = lon.ticks(6).iter().map(|tick| tick.part).collect();
    assert!(ends[0].abs() < 1e-9 && (ends[6] - 1.0).abs() < 1e-9, "{ends:?}");
    let lat = PlotAxis::evenly("lat", 90.0, -90.0, 45).with_role(CoordinateRole::Latitude);
    assert_eq!(texts(&lat, 6), ["90", "60", "30", "0", "-30", "-60", "-90"]);
    let part = PlotAxis::evenly("lat", 34.0, 58.0, 45).with_role(CoordinateRole::Latitude);
    assert_eq!(texts(&part, 6), ["35", "40", "45", "50", "55"]);
}

#[test]
fn longitudes_go_on_past_the_end_of_a_turn() {
    let labels: Vec<String> =
        (0..40).map(|at| ((at * 2 + 140 + 180) % 360 - 180).to_string()).collect();
    assert!(labels.contains(&"-180".to_owned()) && labels.contains(&"-142".to_owned()));
    let lon = PlotAxis::labeled("lon", labels).with_role(CoordinateRole::Longitude);
    assert_eq!(lon.edges(), Some([139.0, 219.0]));
    assert_eq!(texts(&lon, 4), ["150", "-180", "-150"]);
    let lon = axis(&["350", "355", "0", "5"]).with_role(CoordinateRole::Longitude);
    assert_eq!(texts(&lon, 4), ["350", "355", "0", "5"]);
    assert_eq!(axis(&["350", "355", "0"]).edges(), None);
    assert_eq!(axis(&["1", "8", "3"]).with_role(CoordinateRole::Longitude).edges(), None);
}

#[test]
fn uneven_numbers_are_marked_one_by_one() {
    let labels: Vec<String> = (0..16).map(|power| (1_u64 << power).to_string()).collect();
    assert_eq!(texts(&PlotAxis::labeled("p", labels), 5), ["1", "16", "256", "4096"]);
}

#[test]
fn times_with_gaps_are_marked_one_by_one() {
    let julies: Vec<f64> = (0..20).chain(365..385).map(f64::from).collect();
    let time = timed(&julies, Calendar::NoLeap, [2001, 7, 1]);
    assert_eq!(texts(&time, 4), ["2001-07-01", "2001-07-11", "2002-07-01", "2002-07-11"]);
    let days: Vec<f64> = (0..100).filter(|day| !(40..45).contains(day)).map(f64::from).collect();
    let time = timed(&days, Calendar::NoLeap, [2001, 7, 1]);
    assert_eq!(texts(&time, 4), ["2001-07", "2001-08", "2001-09", "2001-10"]);
}

#[test]
fn an_axis_has_the_name_of_what_it_is() {
    let lat = axis(&["1", "2"]).with_long_name("latitude").with_unit("degrees_north");
    assert_eq!([lat.title().as_str(), lat.name()], ["latitude (degrees_north)", "a"]);
}

#[test]
fn hostile_names_are_shown() {
    let axis = axis(&["\u{1b}[2J", "b"]).with_unit("\u{202e}x");
    assert_eq!(
        (texts(&axis, 2)[0].as_str(), axis.title().as_str()),
        ("\u{fffd}[2J", "a (\u{fffd}x)")
    );
}
