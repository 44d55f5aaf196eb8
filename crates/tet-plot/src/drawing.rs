//! A drawing: rectangles, lines, texts and images, which SVG and PNG show alike.

use crate::palette::Rgb;

/// A rectangle of whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text on one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    /// The place of the anchor on the line of its feet.
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) size: f32,
    pub(crate) anchor: Anchor,
    /// Whether it is read from below.
    pub(crate) is_turned: bool,
    pub(crate) text: String,
}

/// A shape to draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A rectangle in one color.
    Rect { frame: Frame, fill: Rgb },
    /// Lines through points, over a wider and half transparent white line if they have a halo.
    Lines { strokes: Vec<Vec<(f32, f32)>>, color: Rgb, width: f32, has_halo: bool },
    /// A text.
    Text(Label),
    /// Cells in colors, row-major from the upper left, which share the frame evenly; it has a pixel for each.
    Image { frame: Frame, rows: usize, columns: usize, cells: Vec<Rgb> },
}

/// A drawing on white ground.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Description of the picture, for those who cannot see it.
    pub(crate) title: String,
    pub(crate) shapes: Vec<Shape>,
}

/// How much wider a halo is than its line, and how much of what is below it covers.
pub(crate) const HALO_WIDTH: f32 = 1.6;
pub(crate) const HALO_OPACITY: f32 = 0.45;
/// The color of texts and frames.
pub(crate) const INK: Rgb = [38, 38, 38];
