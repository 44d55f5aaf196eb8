//! Roles of coordinates, by their attributes (CF conventions, sections 4.1 to 4.3).

use crate::catalog::{AttrText, Dataset};

/// The units of longitudes and of latitudes.
const DEGREES_EAST: [&str; 6] =
    ["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"];
const DEGREES_NORTH: [&str; 6] =
    ["degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"];
/// Units of pressure, which make coordinates vertical.
const PRESSURES: [&str; 14] = [
    "Pa",
    "hPa",
    "kPa",
    "pascal",
    "pascals",
    "bar",
    "bars",
    "mbar",
    "mb",
    "millibar",
    "millibars",
    "dbar",
    "decibar",
    "atm",
];

/// Physical meaning of a coordinate dataset.
///
/// # Examples
///
/// ```no_run
/// # fn title(lat: &tet_query::Dataset) {
/// use tet_query::CoordinateRole;
///
/// assert_eq!(lat.coordinate_role(), CoordinateRole::Latitude);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoordinateRole {
    /// Degrees east, which repeat after 360.
    Longitude,
    /// Degrees north.
    Latitude,
    /// A depth or a pressure: the greatest number is the lowest.
    Downward,
    /// Anything else.
    #[default]
    Other,
}

impl Dataset {
    /// The role of the dataset: by `units`, `positive` and `standard_name`, else by a name of latitudes or
    /// longitudes.
    #[must_use]
    pub fn coordinate_role(&self) -> CoordinateRole {
        if self.is_degrees(&DEGREES_EAST, "longitude", "lon") {
            CoordinateRole::Longitude
        } else if self.is_degrees(&DEGREES_NORTH, "latitude", "lat") {
            CoordinateRole::Latitude
        } else if self.is_downward() {
            CoordinateRole::Downward
        } else {
            CoordinateRole::Other
        }
    }

    fn is_degrees(&self, units: &[&str], standard_name: &str, short: &str) -> bool {
        let is =
            |key: &str, texts: &[&str]| self.text_of(key).is_some_and(|it| texts.contains(&it));
        let is_named = || match self.attrs.get("units") {
            None => [short, standard_name].contains(&self.name.rsplit('/').next().unwrap_or("")),
            Some(_) => is("units", &["degree", "degrees"]) && is("standard_name", &[standard_name]),
        };
        is("units", units) || is_named()
    }

    fn is_downward(&self) -> bool {
        match self.text_of("positive") {
            Some(positive) => positive.eq_ignore_ascii_case("down"),
            None => {
                self.text_of("units").is_some_and(|units| PRESSURES.contains(&units))
                    || self.text_of("standard_name") == Some("depth")
            }
        }
    }

    fn text_of(&self, key: &str) -> Option<&str> {
        match self.attrs.get(key) {
            Some(AttrText::Text(text)) => Some(text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CoordinateRole::{Downward, Latitude, Longitude, Other};
    use super::*;
    use crate::testing::{Order, Stored, world};
    use tet_format::DType;

    #[test]
    fn attributes_say_what_coordinates_are() {
        type Attrs<'a> = &'a [(&'a str, &'a str)];
        let cases: [(&str, Attrs<'_>, CoordinateRole); 18] = [
            ("x", &[("units", "degrees_east")], Longitude),
            ("y", &[("units", "degree_N")], Latitude),
            ("g/lat", &[], Latitude),
            ("longitude", &[], Longitude),
            ("lat", &[("units", "m")], Other),
            ("y", &[("units", "degrees"), ("standard_name", "latitude")], Latitude),
            ("rlat", &[("units", "degrees"), ("standard_name", "grid_latitude")], Other),
            ("plev", &[("units", "Pa")], Downward),
            ("plev", &[("units", "hPa"), ("axis", "Z")], Downward),
            ("p", &[("units", "Pa"), ("positive", "up")], Other),
            ("depth", &[("units", "m"), ("positive", "Down")], Downward),
            ("depth", &[("units", "m")], Other),
            ("z", &[("units", "m"), ("standard_name", "depth")], Downward),
            ("z", &[("units", "m"), ("positive", "up")], Other),
            ("lev", &[("units", "1"), ("positive", "down")], Downward),
            ("time", &[("units", "days since 2000-01-01")], Other),
            ("x", &[("units", "degrees")], Other),
            ("x", &[], Other),
        ];
        let world = world(DType::Float64, &[1], &[1], Stored::Raw, Order::Packed, |_| vec![0; 8]);
        let any = &world.mapped.datasets()[0];
        for (name, attrs, wanted) in cases {
            let mut dataset = any.clone();
            name.clone_into(&mut dataset.name);
            let text =
                |&(key, text): &(&str, &str)| (key.to_owned(), AttrText::Text(text.to_owned()));
            dataset.attrs = attrs.iter().map(text).collect();
            assert_eq!(dataset.coordinate_role(), wanted, "{name} {attrs:?}");
        }
    }
}
