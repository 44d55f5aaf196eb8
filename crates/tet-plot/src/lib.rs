//! Pictures of arrays: numbers in, heatmaps, lines and histograms out.
//!
//! ```text
//!   source    elements of a file or an answer, as float64, in row-major order
//!   cells     an axis shared out among the cells of a picture
//!   field, series, bins   what is drawn of two axes, of one axis, of the values alone
//!   scale, palette, ticks, axis   which number has which place, color and text; dates: marks of times
//!   picture   all of these together; medium: where it is shown; draw: picture -> file or text
//!   aspect, coast   the proportions and the coastlines of a map; mesh: a map of points
//!   layout    picture -> drawing (rectangles, lines, texts, images)
//!   svg, raster   drawing -> SVG, drawing -> PNG; font: the letters of the latter
//!   terminal  picture -> lines of text
//! ```
//!
//! A picture is drawn the same way on every machine: the same input gives the same bytes. Nothing here
//! prints, opens a file or reads the environment. Texts are drawn as they are, but for control characters.

#![forbid(unsafe_code)]

mod error;

mod scale;

mod dates;
mod palette;
mod ticks;

mod axis;

mod aspect;
mod coast;
mod mesh;

mod cells;

mod bins;
mod field;
mod series;

mod source;

mod medium;
mod picture;

mod drawing;
mod font;

mod layout;

mod raster;
mod svg;

mod terminal;

mod draw;

mod visible;

pub use axis::PlotAxis;
pub use bins::{BinFold, Bins};
pub use error::{Error, Result};
pub use field::{FieldFold, PlotField};
pub use medium::{Depth, PlotMedium, PlotSize};
pub use mesh::Mesh;
pub use palette::Palette;
pub use picture::{Picture, Shown};
pub use scale::{Extremes, Scale};
pub use series::{Series, SeriesColumn, SeriesFold};
pub use source::PlotSource;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
