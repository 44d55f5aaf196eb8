//! The proportions of a map: a degree of longitude is as long as one of latitude.

use tet_query::CoordinateRole;

use crate::axis::PlotAxis;

/// A map covers this part of its room in each direction at least, however narrow it is.
const PART_MIN: f64 = 0.25;

/// How much higher than wide a picture with these axes is; `None` unless they are longitudes and latitudes.
pub(crate) fn aspect(y: &PlotAxis, x: &PlotAxis) -> Option<f64> {
    let is_map = matches!(
        (y.role(), x.role()),
        (CoordinateRole::Latitude, CoordinateRole::Longitude)
            | (CoordinateRole::Longitude, CoordinateRole::Latitude)
    );
    let len = |axis: &PlotAxis| axis.edges().map(|[start, end]| (end - start).abs());
    let aspect = len(y).filter(|_| is_map)? / len(x)?;
    (aspect.is_finite() && aspect > 0.0).then_some(aspect)
}

/// The largest height and width of these proportions in a room.
pub(crate) fn within(room: [f64; 2], aspect: Option<f64>) -> [f64; 2] {
    let ([height, width], Some(aspect)) = (room, aspect) else { return room };
    if width * aspect <= height {
        [(width * aspect).max(height * PART_MIN), width]
    } else {
        [height, (height / aspect).max(width * PART_MIN)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_is_as_high_as_wide() {
        let axis = |low, high, count, role| PlotAxis::evenly("a", low, high, count).with_role(role);
        let lat = axis(-90.0, 90.0, 7, CoordinateRole::Latitude);
        let lon = axis(0.0, 360.0, 50, CoordinateRole::Longitude);
        assert_eq!([aspect(&lat, &lon), aspect(&lon, &lat)], [Some(0.5), Some(2.0)]);
        assert_eq!(aspect(&lat, &lat), None);
        let one = axis(0.0, 1.0, 1, CoordinateRole::Longitude);
        assert_eq!(aspect(&lat, &one), None);
    }

    #[test]
    fn a_map_is_as_large_as_its_room_allows() {
        assert_eq!(within([400.0, 600.0], Some(0.5)), [300.0, 600.0]);
        assert_eq!(within([400.0, 600.0], Some(2.0)), [400.0, 200.0]);
        assert_eq!(within([400.0, 600.0], Some(0.01)), [100.0, 600.0]);
        assert_eq!(within([400.0, 600.0], None), [400.0, 600.0]);
    }
}
