//! The coastlines of a map: those of Natural Earth at 1:110 million, laid on the axes and cut off at their ends.
//!
//! The folder `coast` says where they are from. The file has for each line the number of its points, and longitude and
//! latitude of each in hundredths of a degree, all in two bytes, little endian.

use tet_query::CoordinateRole;

use crate::axis::PlotAxis;

const LINES: &[u8] = include_bytes!("../coast/coastlines-110m.bin");
/// No axis goes round the earth more often.
const TURNS_MAX: f64 = 4.0;

/// A place in a picture, from 0 at the left or at the top to 1.
type Point = [f64; 2];

/// The coastlines on the axes of a picture, in strokes of places x, y; none unless these are longitudes and latitudes.
pub(crate) fn strokes(y: &PlotAxis, x: &PlotAxis) -> Vec<Vec<Point>> {
    let (lon, lat) = match (x.role(), y.role()) {
        (CoordinateRole::Longitude, CoordinateRole::Latitude) => (x, y),
        (CoordinateRole::Latitude, CoordinateRole::Longitude) => (y, x),
        _ => return Vec::new(),
    };
    let (Some(edges), Some(lon_place), Some(lat_place)) = (lon.edges(), lon.places(), lat.places())
    else {
        return Vec::new();
    };
    let place = |[lon_at, lat_at]: [f64; 2]| {
        let (along_lon, along_lat) = (lon_place(lon_at), lat_place(lat_at));
        let (across, down) =
            if std::ptr::eq(lon, x) { (along_lon, along_lat) } else { (along_lat, along_lon) };
        let turned = |part: f64, is_turned: bool| if is_turned { 1.0 - part } else { part };
        [turned(across, x.is_from_right()), turned(down, y.is_from_bottom())]
    };
    let turn = |edge: f64| (edge / 360.0).clamp(-TURNS_MAX, TURNS_MAX);
    let mut shift = turn(edges[0].min(edges[1]) - 180.0).ceil();
    let mut strokes = Vec::new();
    while shift <= turn(edges[0].max(edges[1]) + 180.0).floor() {
        for line in lines() {
            let line: Vec<Point> =
                line.iter().map(|&[lon, lat]| place([lon + shift * 360.0, lat])).collect();
            clip(&line, &mut strokes);
        }
        shift += 1.0;
    }
    strokes
}

/// The lines, as longitudes and latitudes.
fn lines() -> impl Iterator<Item = Vec<[f64; 2]>> {
    let mut rest = LINES.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]));
    let degrees = |number: i16| f64::from(number) / 100.0;
    std::iter::from_fn(move || {
        let count = rest.next()?;
        (0..count).map(|_| Some([degrees(rest.next()?), degrees(rest.next()?)])).collect()
    })
}

/// Adds what is within the picture of a line.
fn clip(line: &[Point], strokes: &mut Vec<Vec<Point>>) {
    let mut is_open = false;
    for pair in line.windows(2) {
        let Some([from, to]) = inside(pair[0], pair[1]) else {
            is_open = false;
            continue;
        };
        match strokes.last_mut().filter(|_| is_open) {
            Some(stroke) => stroke.push(to),
            None => strokes.push(vec![from, to]),
        }
        // The next begins here unless this end was cut off.
        is_open = to == pair[1];
    }
}

/// The part of a line between two places that is within the picture, after Liang and Barsky.
fn inside(from: Point, to: Point) -> Option<[Point; 2]> {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for axis in [0, 1] {
        let step = to[axis] - from[axis];
        for (before, distance) in [(-step, from[axis]), (step, 1.0 - from[axis])] {
            if before == 0.0 {
                if distance < 0.0 {
                    return None;
                }
            } else if before < 0.0 {
                start = start.max(distance / before);
            } else {
                end = end.min(distance / before);
            }
        }
    }
    let at = |part: f64| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part);
    let ends = [if start > 0.0 { at(start) } else { from }, if end < 1.0 { at(end) } else { to }];
    (start < end).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(lon: [f64; 2], lat: [f64; 2]) -> (PlotAxis, PlotAxis) {
        let axis = |name, [low, high]: [f64; 2], role| {
            PlotAxis::evenly(name, low, high, 90).with_role(role)
        };
        (axis("lat", lat, CoordinateRole::Latitude), axis("lon", lon, CoordinateRole::Longitude))
    }

    #[test]
    fn lines_are_those_of_the_earth() {
        let all: Vec<_> = lines().collect();
        let count: usize = all.iter().map(Vec::len).sum();
        assert!(all.len() > 100 && count > 4000, "{} {count}", all.len());
        for [lon, lat] in all.iter().flatten() {
            assert!(lon.abs() <= 180.0 && (-86.0..84.0).contains(lat), "{lon} {lat}");
        }
        // Ireland has a coast at its south-west, and no line crosses the Pacific or the middle of Africa.
        let near = |lon: f64, lat: f64, far: f64| {
            all.iter().flatten().any(|at| (at[0] - lon).hypot(at[1] - lat) < far)
        };
        assert!(near(-9.98, 51.8, 1.0) && !near(-140.0, 10.0, 15.0) && !near(20.0, 5.0, 8.0));
    }

    #[test]
    fn coasts_are_at_their_places_on_any_axis() {
        // Sicily, from the west and from the north.
        for (lon, lat) in [
            ([-180.0, 180.0], [-90.0, 90.0]),
            ([0.0, 360.0], [-90.0, 90.0]),
            ([-350.0, 10.0], [0.0, 90.0]),
        ] {
            let (y, x) = axes(lon, lat);
            let strokes = strokes(&y, &x);
            let at = 12.4 + if lon[0] < -180.0 { -360.0 } else { 0.0 };
            let at = if at < lon[0] { at + 360.0 } else { at };
            let wanted =
                [(at - lon[0]) / (lon[1] - lon[0]), 1.0 - (37.6 - lat[0]) / (lat[1] - lat[0])];
            let is_near = |place: &Point| {
                (place[0] - wanted[0]).abs() < 0.003 && (place[1] - wanted[1]).abs() < 0.01
            };
            assert_eq!(strokes.iter().flatten().any(is_near), at <= lon[1], "{lon:?} {lat:?}");
            let is_in = |part: &f64| (-1e-9..=1.0 + 1e-9).contains(part);
            assert!(strokes.iter().flatten().flatten().all(is_in), "{lon:?} {lat:?}");
        }
        let (y, x) = axes([-180.0, 180.0], [-90.0, 90.0]);
        assert_eq!(strokes(&x, &y).len(), strokes(&y, &x).len());
        assert!(strokes(&y, &PlotAxis::positions("x", 9, 0, 1)).is_empty());
    }

    #[test]
    fn lines_are_cut_at_the_ends_of_the_axes() {
        let cut = |from, to| inside(from, to);
        assert_eq!(cut([-1.0, 0.5], [1.0, 0.5]), Some([[0.0, 0.5], [1.0, 0.5]]));
        assert_eq!(cut([0.5, -1.0], [0.5, 3.0]), Some([[0.5, 0.0], [0.5, 1.0]]));
        assert_eq!(cut([-1.0, 0.5], [0.5, 2.5]), None);
        assert_eq!(cut([0.2, 0.2], [0.4, 0.3]), Some([[0.2, 0.2], [0.4, 0.3]]));
        let mut strokes = Vec::new();
        clip(&[[0.5, 0.5], [1.5, 0.5], [1.5, 0.8], [0.5, 0.8], [0.6, 0.9]], &mut strokes);
        assert_eq!(
            strokes,
            [vec![[0.5, 0.5], [1.0, 0.5]], vec![[1.0, 0.8], [0.5, 0.8], [0.6, 0.9]]]
        );
    }
}
