//! The data of the demo: a map of land, its elevation, and temperatures.

/// Months of the year.
pub(crate) const MONTHS: usize = 12;
/// Rows of the map, from north to south, six degrees each.
pub(crate) const LATITUDES: usize = 30;
/// Columns of the map, from west to east, six degrees each.
pub(crate) const LONGITUDES: usize = 60;

/// A digit is the elevation of land in units of 500 m, a dot is the sea.
const MAP: [&str; LATITUDES] = [
    "............................................................",
    "..............11112333333332....11...........1..............",
    "..........11111.1..445555444...........1....1111............",
    "1.1111111111111.11..45555............122.1111122111111111111",
    "...2221111111.1.11...44....1...2111111112111111222222222.1..",
    "...1..122321111..111........1...1.111111111111122222211.2...",
    ".......123321111.1111........1111111111111111223332111..1...",
    ".........23431111111.........1222111.112212334443211.1......",
    ".........22343111.1.........12..1.12334.2367754322.1.1......",
    "..........3433111...........12321..223333358999743221..1....",
    "...........34...............111111112222.122499753211.......",
    "............4..1...........1112122112221..11211221..........",
    "..............21...........111112112322...11..111.1.........",
    "...............1.321........1112112232....1...11..1.........",
    ".................222.......1...11122222........1..1.........",
    "................32111.......1..11132233.......1.11.1.2......",
    "................33211..........1112333.........1.1.1.34.....",
    "..................33211.........22222..........1111.1.12....",
    ".................442112.........22222.1...........111.1.....",
    "..................4311...........2232.1..........1111111....",
    "..................331............223.............1111112....",
    "..................42.............13..............1...112....",
    "..................31..................................1..1..",
    "..................2.......................................2.",
    "..................1.........................................",
    "............................................................",
    "....................1.......................................",
    "..................23.............1122233333333333333333222..",
    "...........222233342....1234445666677788777776666665553.....",
    "2223345555555555555555555566666666666666666666666666644222..",
];

/// Temperatures and elevations, row-major.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Degrees Celsius, by month, latitude and longitude.
    pub(crate) temperature: Vec<f32>,
    /// Meters above the sea, by latitude and longitude.
    pub(crate) elevation: Vec<i16>,
}

impl Field {
    /// Computes the data; the result is always the same.
    #[must_use]
    pub(crate) fn new() -> Field {
        let cells = || (0..LATITUDES).flat_map(|row| (0..LONGITUDES).map(move |at| (row, at)));
        let temperature = (0..MONTHS)
            .flat_map(|month| cells().map(move |(row, at)| temperature(month, row, at)))
            .collect();
        Field { temperature, elevation: cells().map(|(row, at)| elevation(row, at)).collect() }
    }
}

impl Default for Field {
    fn default() -> Self {
        Field::new()
    }
}

/// The digit of the map; `None` at sea. The map wraps around in longitude and ends at the poles.
fn land(row: isize, at: isize) -> Option<u8> {
    let line = MAP.get(usize::try_from(row).ok()?)?;
    let width = isize::try_from(LONGITUDES).ok()?;
    let byte = line.as_bytes().get(usize::try_from(at.rem_euclid(width)).ok()?)?;
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn elevation(row: usize, at: usize) -> i16 {
    let (row, at) = (row.cast_signed(), at.cast_signed());
    // Add a few meters, so that plains are not constant.
    let relief = i16::try_from((row * 37 + at * 101).rem_euclid(97)).unwrap_or(0);
    land(row, at).map_or(0, |height| i16::from(height) * 500 - 450 + relief)
}

/// The share of land in the neighborhood, which makes temperatures change smoothly at coasts.
fn continentality(row: usize, at: usize) -> f64 {
    let (row, at) = (row.cast_signed(), at.cast_signed());
    let around = (-1..=1).flat_map(|down| (-2..=2).map(move |right| (down, right)));
    let near = around.filter(|&(down, right)| land(row + down, at + right).is_some());
    f64::from(u32::try_from(near.count()).unwrap_or(0)) / 15.0
}

#[allow(clippy::cast_possible_truncation, reason = "a temperature to a hundredth of a degree")]
fn temperature(month: usize, row: usize, at: usize) -> f32 {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(0));
    let latitude = 87.0 - 6.0 * number(row);
    let north = latitude.to_radians().sin();
    let is_land = land(row.cast_signed(), at.cast_signed()).is_some();
    let inland = continentality(row, at);
    // The warmest month is July in the north and January in the south; seas lag behind.
    let lag = if is_land { 0.55 } else { 1.3 };
    let season = ((number(month) - 6.0 - lag) / 12.0 * std::f64::consts::TAU).cos();
    let amplitude = if is_land { 6.0 + 22.0 * inland } else { 3.0 + 7.0 * inland };
    let yearly = 29.0 - 42.0 * north.abs().powf(1.9) - if north < 0.0 { 7.0 * -north } else { 0.0 };
    let desert = if is_land { 5.0 * (-((latitude.abs() - 24.0) / 9.0).powi(2)).exp() } else { 0.0 };
    let ice = if is_land && latitude < -66.0 { 14.0 } else { 0.0 };
    let height = f64::from(elevation(row, at)) * 0.0055;
    // Warm water on the eastern side of the northern oceans, cold water along western coasts.
    let drift = 2.5 * ((number(at) * 6.0 + 20.0).to_radians() * 2.0).sin() * north.abs();
    let weather = 0.6 * (number(at) * 1.7 + number(row) * 2.3 + number(month) * 4.1).sin();
    let air = yearly
        + desert
        + drift
        + weather
        + amplitude * season * north.signum() * north.abs().sqrt()
        - height
        - ice;
    // Open water does not get colder than this under its ice.
    let floor = if is_land { -70.0 } else { -32.0 };
    ((air.max(floor) * 100.0).round() / 100.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_thirty_by_sixty() {
        for (row, line) in MAP.iter().enumerate() {
            assert_eq!(line.len(), LONGITUDES, "row {row}");
            assert!(line.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()), "row {row}");
        }
    }

    #[test]
    fn the_world_is_about_as_warm_as_the_world() {
        let field = Field::new();
        assert_eq!(field.temperature.len(), 12 * LATITUDES * LONGITUDES);
        let at = |month: usize, row: usize, column: usize| {
            field.temperature[(month * LATITUDES + row) * LONGITUDES + column]
        };
        assert!(at(6, 11, 31) > 30.0, "the Sahara in July: {}", at(6, 11, 31));
        assert!(at(0, 4, 50) < -20.0, "Siberia in January: {}", at(0, 4, 50));
        assert!(at(6, 29, 30) < -30.0, "the South Pole in July: {}", at(6, 29, 30));
        assert!(at(0, 15, 0) > 20.0, "the Pacific at the equator: {}", at(0, 15, 0));
        assert!(field.temperature.iter().all(|value| (-70.0..45.0).contains(value)));
    }
}
