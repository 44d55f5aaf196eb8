//! Where a picture is shown: in a file of some pixels, or in a terminal.

/// How many colors a stream can show.
///
/// ```
/// assert!(tet_plot::Depth::Plain < tet_plot::Depth::True);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// No colors: plain text.
    Plain,
    /// The palette of 256 colors.
    Indexed,
    /// 24 bits a color.
    True,
}

/// Pixels of a PNG or SVG file.
///
/// ```
/// use tet_plot::PlotSize;
///
/// assert!(PlotSize::new(800, 500).is_some());
/// assert_eq!(PlotSize::new(9, 9), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlotSize {
    /// Pixels in a row.
    pub(crate) width: u32,
    /// Rows of pixels.
    pub(crate) height: u32,
    /// Whether a picture that needs no more than a part of this height has that part.
    pub(crate) is_limit: bool,
}

impl Default for PlotSize {
    /// 800 x 500, or less high for a map that is wider.
    fn default() -> Self {
        PlotSize { width: 800, height: 500, is_limit: true }
    }
}

impl PlotSize {
    /// The smallest picture.
    pub const MIN: [u32; 2] = [240, 160];
    /// The largest picture.
    pub const MAX: [u32; 2] = [4096, 4096];

    /// A size from [`PlotSize::MIN`] to [`PlotSize::MAX`]; `None` for any other.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Option<PlotSize> {
        let ends = Self::MIN.into_iter().zip(Self::MAX);
        let is_in =
            ends.zip([width, height]).all(|((least, most), len)| (least..=most).contains(&len));
        is_in.then_some(PlotSize { width, height, is_limit: false })
    }
}

/// Target of a picture, which decides the number of cells that it needs.
///
/// ```
/// use tet_plot::{Depth, PlotAxis, PlotMedium, PlotSize};
///
/// let axis = |extent| PlotAxis::positions("x", extent, 0, 1);
/// let file = PlotMedium::File(PlotSize::default());
/// assert!(file.room(&axis(4000), &axis(4000))[1] > 500);
/// let terminal = PlotMedium::Terminal { width: 80, depth: Depth::True };
/// assert_eq!(terminal.room(&axis(30), &axis(60)), [30, 60]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotMedium {
    /// A PNG or SVG file.
    File(PlotSize),
    /// A terminal.
    Terminal {
        /// Its columns.
        width: usize,
        /// Its colors.
        depth: Depth,
    },
}
