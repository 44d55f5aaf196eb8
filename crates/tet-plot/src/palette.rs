//! Colors from low to high, by the names that matplotlib gives them.

use colorous::Gradient;

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// The palettes, with their names.
const PALETTES: [(&str, Gradient); 18] = [
    ("viridis", colorous::VIRIDIS),
    ("plasma", colorous::PLASMA),
    ("inferno", colorous::INFERNO),
    ("magma", colorous::MAGMA),
    ("cividis", colorous::CIVIDIS),
    ("turbo", colorous::TURBO),
    ("greys", colorous::GREYS),
    ("blues", colorous::BLUES),
    ("greens", colorous::GREENS),
    ("reds", colorous::REDS),
    ("ylgnbu", colorous::YELLOW_GREEN_BLUE),
    ("ylorrd", colorous::YELLOW_ORANGE_RED),
    ("rdbu", colorous::RED_BLUE),
    ("rdylbu", colorous::RED_YELLOW_BLUE),
    ("brbg", colorous::BROWN_GREEN),
    ("piyg", colorous::PINK_GREEN),
    ("prgn", colorous::PURPLE_GREEN),
    ("spectral", colorous::SPECTRAL),
];

/// The colors that NaN may have: the first that no color of the palette is like.
const NAN_COLORS: [Rgb; 3] = [[160, 160, 160], [255, 0, 255], [0, 0, 0]];
/// The square of the least distance of the color of NaN from those of the palette.
const DISTANCE_MIN: i32 = 40 * 40;
/// How finely a palette is compared with the color of NaN.
const STEPS: u8 = 255;

/// Colors from low to high, and one for NaN that is like none of them.
///
/// ```
/// use tet_plot::Palette;
///
/// let viridis = Palette::named("viridis").ok_or("no such palette")?;
/// assert_eq!(viridis.color(0.0), [68, 1, 84]);
/// assert_eq!(viridis.nan(), [160, 160, 160]);
/// assert_eq!(Palette::named("viridis_r").map(|it| it.color(1.0)), Some([68, 1, 84]));
/// assert!(Palette::names().any(|name| name == "rdbu"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy)]
pub struct Palette {
    gradient: Gradient,
    is_reversed: bool,
    nan: Rgb,
}

impl std::fmt::Debug for Palette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Palette").field("nan", &self.nan).finish_non_exhaustive()
    }
}

impl Default for Palette {
    /// `viridis`.
    fn default() -> Self {
        Palette::new(colorous::VIRIDIS, false)
    }
}

impl Palette {
    /// The palette of this name, in upper or lower case; `_r` behind the name reverses it.
    #[must_use]
    pub fn named(name: &str) -> Option<Palette> {
        let name = name.to_ascii_lowercase();
        let plain = name.strip_suffix("_r").unwrap_or(&name);
        let (_, gradient) = PALETTES.iter().find(|(known, _)| *known == plain)?;
        Some(Palette::new(*gradient, plain != name))
    }

    /// The palette for numbers around zero: blue below, red above, as `rdbu_r`.
    #[must_use]
    pub fn diverging() -> Palette {
        Palette::new(colorous::RED_BLUE, true)
    }

    /// The names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PALETTES.iter().map(|(name, _)| *name)
    }

    fn new(gradient: Gradient, is_reversed: bool) -> Palette {
        let palette = Palette { gradient, is_reversed, nan: NAN_COLORS[0] };
        let is_apart = |nan: &Rgb| {
            (0..=STEPS).all(|step| {
                DISTANCE_MIN <= distance(*nan, palette.color(f64::from(step) / f64::from(STEPS)))
            })
        };
        let nan = NAN_COLORS.into_iter().find(is_apart).unwrap_or(NAN_COLORS[1]);
        Palette { nan, ..palette }
    }

    /// The color of a place from 0 to 1.
    #[must_use]
    pub fn color(&self, part: f64) -> [u8; 3] {
        let part = if self.is_reversed { 1.0 - part } else { part };
        let color = self.gradient.eval_continuous(part.clamp(0.0, 1.0));
        [color.r, color.g, color.b]
    }

    /// The color of NaN.
    #[must_use]
    pub const fn nan(&self) -> [u8; 3] {
        self.nan
    }
}

/// The square of the distance of two colors.
fn distance(a: Rgb, b: Rgb) -> i32 {
    a.iter().zip(b).map(|(&a, b)| (i32::from(a) - i32::from(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_has_a_color_of_its_own_in_every_palette() {
        for name in Palette::names() {
            for name in [name.to_owned(), format!("{name}_r")] {
                let palette = Palette::named(&name).unwrap();
                for step in 0..=1000 {
                    let color = palette.color(f64::from(step) / 1000.0);
                    assert!(distance(color, palette.nan()) > 900, "{name} at {step}: {color:?}");
                }
            }
        }
        assert!(Palette::named("jet").is_none());
    }

    #[test]
    fn the_middle_of_the_diverging_palette_is_pale() {
        let palette = Palette::diverging();
        assert!(palette.color(0.5).iter().all(|&part| part > 230));
        let ([low_red, _, low_blue], [high_red, _, high_blue]) =
            (palette.color(0.0), palette.color(1.0));
        assert!(low_blue > low_red && high_red > high_blue);
    }
}
