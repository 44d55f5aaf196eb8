//! A matrix of cells whose places are points on the earth, as of a curvilinear grid: drawn as a map by the nearest point.
//!
//! ```text
//!   field, lon, lat    a value and a place for each cell, rows and columns as in the file
//!   window             the part of the earth that the points are in
//!   draw               for each pixel of a map the value of the nearest point that is no further than a cell is wide
//! ```

use tet_query::CoordinateRole;

use crate::axis::PlotAxis;
use crate::field::PlotField;
use crate::medium::PlotMedium;

/// A cell reaches this part of the distance of its farthest neighbor: more than half a diagonal of a square.
const REACH: f64 = 0.75;
/// No cell reaches further than this many times the side of an equal part of the earth.
const REACH_MAX: f64 = 6.0;
/// Points without any in as many degrees are on one side of the earth.
const GAP: usize = 60;
/// The most pixels that are looked at, for each pixel and each point.
const LOOKS_MAX: usize = 64;
/// More cells than a map has pixels along an axis make no difference.
const PIXELS_MAX: usize = 4096;

/// Cells at points on the earth.
///
/// ```
/// use tet_plot::{FieldFold, Mesh, PlotMedium, PlotSize};
///
/// let field = |values: &[f64]| {
///     let mut fold = FieldFold::new([2, 2], [2, 2]);
///     fold.extend(values);
///     fold.finish()
/// };
/// let [lat, lon] = [field(&[10.0, 11.0, 20.0, 21.0]), field(&[5.0, 15.0, 4.0, 14.0])];
/// let mesh = Mesh::new(field(&[1.0, 2.0, 3.0, 4.0]), lat, lon).ok_or("no points")?;
/// let (map, lat, lon) = mesh.map(PlotMedium::File(PlotSize::default())).ok_or("too uneven")?;
/// assert_eq!((map.extremes.high, lat.name()), (Some(4.0), "lat"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mesh {
    field: PlotField,
    points: Vec<Point>,
    point_count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    value: f64,
    lat: f64,
    lon: f64,
    /// On a ball with the radius 1.
    place: [f64; 3],
    /// How far from the point a pixel may be that has its value, as a length within the ball.
    reach: f64,
}

/// Degrees from which to which a map goes.
#[derive(Debug, Clone, Copy)]
struct Window {
    lat: [f64; 2],
    lon: [f64; 2],
}

impl Mesh {
    /// Cells at these latitudes and longitudes in degrees; `None` unless there is one for each cell, and some of them are on
    /// the earth.
    #[must_use]
    pub fn new(field: PlotField, lat: PlotField, lon: PlotField) -> Option<Mesh> {
        let is_like = |it: &PlotField| {
            [it.row_count, it.column_count] == [field.row_count, field.column_count]
        };
        if !is_like(&lat) || !is_like(&lon) {
            return None;
        }
        let cells = field.values.iter().zip(lat.values.iter().zip(&lon.values));
        let point = |(&value, (&lat, &lon)): (&f64, (&f64, &f64))| {
            let is_place = lat.abs() <= 90.0 + 1e-3 && lon.abs() <= 1e4;
            is_place.then(|| Point { value, lat, lon, place: place(lat, lon), reach: 0.0 })
        };
        let all: Vec<Option<Point>> = cells.map(point).collect();
        let count = all.iter().flatten().count();
        #[allow(clippy::cast_precision_loss, reason = "cells of a picture")]
        let reach_max = REACH_MAX * (4.0 * std::f64::consts::PI / count.max(1) as f64).sqrt();
        let reach = |nth: usize, point: &Point| {
            let columns = field.column_count;
            let (row, column) = (nth / columns, nth % columns);
            let is_inside = [column > 0, column + 1 < columns, row > 0, row + 1 < field.row_count];
            let beside = [nth.wrapping_sub(1), nth + 1, nth.wrapping_sub(columns), nth + columns];
            let beside = is_inside.into_iter().zip(beside).filter(|(inside, _)| *inside);
            let neighbors = beside.filter_map(|(_, at)| all.get(at).copied().flatten());
            let far = neighbors.map(|it| length(point.place, it.place)).fold(0.0, f64::max);
            (far * REACH).min(reach_max)
        };
        let reached = |(nth, point): (usize, &Option<Point>)| {
            point.as_ref().map(|point| Point { reach: reach(nth, point), ..*point })
        };
        let points: Vec<Point> = all.iter().enumerate().filter_map(reached).collect();
        (!points.is_empty()).then_some(Mesh { point_count: all.len(), field, points })
    }

    /// How many cells have no place on the earth.
    #[must_use]
    pub fn lost_count(&self) -> usize {
        self.point_count - self.points.len()
    }

    /// The map of the points, with its axes of latitudes and longitudes; `None` where the points lie so unevenly that it would
    /// take too long.
    #[must_use]
    pub fn map(&self, medium: PlotMedium) -> Option<(PlotField, PlotAxis, PlotAxis)> {
        let window = self.window();
        let axis = |name, [low, high]: [f64; 2], count, role| {
            PlotAxis::evenly(name, low, high, count).with_role(role)
        };
        let axes = |[rows, columns]: [usize; 2]| {
            let lat = axis("lat", window.lat, rows, CoordinateRole::Latitude);
            (lat, axis("lon", window.lon, columns, CoordinateRole::Longitude))
        };
        let (lat, lon) = axes([PIXELS_MAX; 2]);
        let size = medium.room(&lat, &lon);
        let values = self.nearest(window, size)?;
        let (lat, lon) = axes(size);
        let [row_count, column_count] = size;
        Some((PlotField { row_count, column_count, values, ..self.field.clone() }, lat, lon))
    }

    /// For each pixel of a window, from the south-west, the value of the nearest point.
    fn nearest(&self, window: Window, [rows, columns]: [usize; 2]) -> Option<Vec<f64>> {
        let [lats, lons] = [Pixels::new(window.lat, rows), Pixels::new(window.lon, columns)];
        let mut values = vec![f64::NAN; rows * columns];
        let mut lengths = vec![f64::INFINITY; rows * columns];
        let mut looks = LOOKS_MAX * (rows * columns + self.points.len());
        let circle = |pixels: &Pixels| -> Vec<(f64, f64)> {
            (0..pixels.count).map(|at| pixels.middle(at).to_radians().sin_cos()).collect()
        };
        let (lat_circle, lon_circle) = (circle(&lats), circle(&lons));
        for point in &self.points {
            let angle = 2.0 * (point.reach / 2.0).min(1.0).asin().to_degrees();
            let is_polar = point.lat.abs() + angle >= 89.9;
            let across =
                (angle.to_radians().sin() / point.lat.to_radians().cos()).clamp(0.0, 1.0).asin();
            let across = if is_polar { 180.0 } else { across.to_degrees() };
            let first = ((window.lon[0] - point.lon - across) / 360.0).ceil();
            for row in lats.between(point.lat - angle, point.lat + angle) {
                let mut turn = first;
                loop {
                    let lon = point.lon + turn * 360.0;
                    if lon - across > window.lon[1] {
                        break;
                    }
                    for column in lons.between(lon - across, lon + across) {
                        looks = looks.checked_sub(1)?;
                        let (sin_lat, cos_lat) = lat_circle[row];
                        let (sin_lon, cos_lon) = lon_circle[column];
                        let place = on_ball(sin_lat, cos_lat, sin_lon, cos_lon);
                        let length = length(point.place, place);
                        let at = row * columns + column;
                        if length <= point.reach && length < lengths[at] {
                            (lengths[at], values[at]) = (length, point.value);
                        }
                    }
                    turn += 1.0;
                }
            }
        }
        Some(values)
    }

    /// The part of the earth that the points are in, and half a cell around them.
    fn window(&self) -> Window {
        let mut reaches: Vec<f64> = self.points.iter().map(|point| point.reach).collect();
        reaches.sort_by(f64::total_cmp);
        let half = reaches.get(reaches.len() / 2).copied().unwrap_or(0.0) / REACH / 2.0;
        // A point alone has some room as well.
        let half = half.to_degrees().clamp(0.01, 15.0);
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                [low.min(value), high.max(value)]
            })
        };
        let [south, north] = ends(&mut self.points.iter().map(|point| point.lat));
        let [west, east] = ends(&mut self.points.iter().map(|point| point.lon));
        let lat = [(south - half).max(-90.0), (north + half).min(90.0)];
        let half = half / south.abs().min(north.abs()).to_radians().cos().max(0.2);
        let lon = match self.start() {
            None if west < 0.0 && east <= 180.5 => [-180.0, 180.0],
            None => [0.0, 360.0],
            Some(start) => {
                let from_start = |point: &Point| (point.lon - start).rem_euclid(360.0);
                let [low, high] = ends(&mut self.points.iter().map(from_start));
                // As the file counts longitudes, where that is possible.
                let is_past =
                    start + high > 360.0 || (west < 0.0 && start + high > 180.0 && start >= 180.0);
                let start = if is_past { start - 360.0 } else { start };
                [start + low - half, start + high + half]
            }
        };
        Window { lat, lon }
    }

    /// The longitude before which there are no points for long; `None` if there are points all around.
    fn start(&self) -> Option<f64> {
        let mut has_points = [false; 360];
        for point in &self.points {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 360")]
            let degree = point.lon.rem_euclid(360.0) as usize % 360;
            has_points[degree] = true;
        }
        let is_start = |start: &usize| {
            let before = |back: usize| has_points[(start + 360 - back) % 360];
            has_points[*start] && !(1..=GAP).any(before)
        };
        #[allow(clippy::cast_precision_loss, reason = "0 to 360")]
        (0..360).find(is_start).map(|start| start as f64)
    }
}

/// Pixels that share a range evenly.
struct Pixels {
    low: f64,
    step: f64,
    count: usize,
}

impl Pixels {
    #[allow(clippy::cast_precision_loss, reason = "pixels of a picture")]
    fn new([low, high]: [f64; 2], count: usize) -> Pixels {
        Pixels { low, step: (high - low) / count.max(1) as f64, count }
    }

    #[allow(clippy::cast_precision_loss, reason = "pixels of a picture")]
    fn middle(&self, at: usize) -> f64 {
        self.low + (at as f64 + 0.5) * self.step
    }

    /// The pixels whose middle is between two numbers.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the count"
    )]
    fn between(&self, low: f64, high: f64) -> std::ops::Range<usize> {
        let at = |number: f64| ((number - self.low) / self.step - 0.5).clamp(0.0, 1e9);
        let start = at(low).ceil() as usize;
        let is_none = high < self.low + self.step / 2.0;
        let end = if is_none { 0 } else { at(high).floor() as usize + 1 };
        start.min(self.count)..end.min(self.count)
    }
}

fn place(lat: f64, lon: f64) -> [f64; 3] {
    let (sin_lat, cos_lat) = lat.to_radians().sin_cos();
    let (sin_lon, cos_lon) = lon.to_radians().sin_cos();
    on_ball(sin_lat, cos_lat, sin_lon, cos_lon)
}

/// The place of the sine and the cosine of a latitude and of a longitude.
fn on_ball(sin_lat: f64, cos_lat: f64, sin_lon: f64, cos_lon: f64) -> [f64; 3] {
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
}

fn length(one: [f64; 3], other: [f64; 3]) -> f64 {
    [0, 1, 2].map(|axis| (one[axis] - other[axis]).powi(2)).iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FieldFold;
    use crate::medium::PlotSize;

    const FILE: PlotMedium =
        PlotMedium::File(PlotSize { width: 300, height: 200, is_limit: false });

    fn field(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> PlotField {
        let mut fold = FieldFold::new([rows as u64, columns as u64], [rows, columns]);
        for row in 0..rows {
            let values: Vec<f64> = (0..columns).map(|column| value(row, column)).collect();
            fold.extend(&values);
        }
        fold.finish()
    }

    /// A grid whose pole is tilted: latitude and longitude of a cell.
    #[allow(clippy::cast_precision_loss, reason = "few cells")]
    fn tilted(row: usize, column: usize) -> (f64, f64) {
        let [x, y, z] = place(-76.0 + 4.0 * row as f64, 4.0 * column as f64);
        let (sin, cos) = 25_f64.to_radians().sin_cos();
        let (x, z) = (x * cos + z * sin, z * cos - x * sin);
        (z.asin().to_degrees(), y.atan2(x).to_degrees())
    }

    #[test]
    fn each_pixel_has_the_value_of_the_nearest_point() {
        #[allow(clippy::cast_precision_loss, reason = "few cells")]
        let values = field(39, 90, |row, column| (row * 90 + column) as f64);
        let lat = field(39, 90, |row, column| tilted(row, column).0);
        let lon = field(39, 90, |row, column| tilted(row, column).1);
        let mesh = Mesh::new(values, lat, lon).unwrap();
        let (map, y, x) = mesh.map(FILE).unwrap();
        let ends = [y.edges(), x.edges()].map(|edges| edges.unwrap().map(f64::round));
        assert_eq!(ends, [[-90.0, 90.0], [-180.0, 180.0]]);
        let (rows, columns) = (map.row_count, map.column_count);
        let mut blank_count = 0;
        for at in (0..rows * columns).step_by(7) {
            let (row, column) = (at / columns, at % columns);
            #[allow(clippy::cast_precision_loss, reason = "few pixels")]
            let pixel = place(
                -90.0 + 180.0 * (row as f64 + 0.5) / rows as f64,
                -180.0 + 360.0 * (column as f64 + 0.5) / columns as f64,
            );
            let far = |at: usize| {
                let (lat, lon) = tilted(at / 90, at % 90);
                length(pixel, place(lat, lon))
            };
            let least = (0..39 * 90).map(far).fold(f64::INFINITY, f64::min);
            let value = map.get(row, column);
            if value.is_nan() {
                // No cell is as wide as this is far: the pixel is at a pole of the grid.
                assert!(least > 0.045, "{row} {column} {least}");
                blank_count += 1;
                continue;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cell")]
            let found = far(value as usize);
            assert!((found - least).abs() < 1e-9, "{row} {column}: {found} {least}");
        }
        assert!((1..rows * columns / 7 / 10).contains(&blank_count), "{blank_count}");
    }

    #[test]
    fn a_part_of_the_earth_has_its_own_ends() {
        let ends = |west: f64, step: f64, turn: fn(f64) -> f64| {
            #[allow(clippy::cast_precision_loss, reason = "few cells")]
            let lon = field(10, 10, |_, column| turn(west + step * column as f64));
            #[allow(clippy::cast_precision_loss, reason = "few cells")]
            let lat = field(10, 10, |row, _| 10.0 - row as f64);
            let mesh = Mesh::new(field(10, 10, |_, _| 1.0), lat, lon).unwrap();
            mesh.window().lon.map(f64::round)
        };
        assert_eq!(ends(10.0, 1.0, |lon| lon), [9.0, 20.0]);
        assert_eq!(ends(-5.0, 1.0, |lon| lon), [-6.0, 5.0]);
        // Across 0 and across 180 degrees.
        assert_eq!(ends(355.0, 1.0, |lon| lon.rem_euclid(360.0)), [-6.0, 5.0]);
        assert_eq!(ends(176.0, 1.0, |lon| (lon + 180.0).rem_euclid(360.0) - 180.0), [175.0, 186.0]);
        assert_eq!(ends(0.0, 36.0, |lon| lon), [0.0, 360.0]);
    }

    #[test]
    fn points_that_are_nowhere_are_counted() {
        let lat = field(2, 2, |row, _| if row == 0 { f64::NAN } else { 9e36 });
        assert!(Mesh::new(field(2, 2, |_, _| 1.0), lat.clone(), lat.clone()).is_none());
        assert!(Mesh::new(field(2, 3, |_, _| 1.0), lat.clone(), lat).is_none());
        #[allow(clippy::cast_precision_loss, reason = "few cells")]
        let lat = field(2, 2, |row, column| if row == column { f64::NAN } else { row as f64 });
        let mesh = Mesh::new(field(2, 2, |_, _| 1.0), lat.clone(), lat).unwrap();
        assert_eq!(mesh.lost_count(), 2);
        assert!(mesh.map(FILE).is_some());
    }

    #[test]
    fn points_in_disorder_are_drawn_in_bounded_time_or_not_at_all() {
        #[allow(clippy::cast_precision_loss, reason = "any numbers")]
        let any = |row: usize, column: usize, most: f64| {
            ((row * 7919 + column * 104_729) % 1009) as f64 / 1009.0 * 2.0 * most - most
        };
        let lat = field(90, 90, |row, column| any(row, column, 90.0));
        let lon = field(90, 90, |row, column| any(column, row, 9999.0));
        let mesh = Mesh::new(field(90, 90, |_, _| 1.0), lat.clone(), lon.clone()).unwrap();
        let _ = mesh.map(FILE);
        // All points at a pole: each of them is seen from all longitudes.
        let pole = field(90, 90, |row, column| 90.0 - any(row, column, 90.0).abs() / 1e3);
        let mesh = Mesh::new(field(90, 90, |_, _| 1.0), pole, lon).unwrap();
        let _ = mesh.map(FILE);
    }
}
