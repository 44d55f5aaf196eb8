//! A drawing as PNG. Rectangles and images have exact pixels; lines and letters have soft edges.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Stroke,
    Transform,
};

use crate::drawing::{Anchor, Drawing, Frame, HALO_OPACITY, HALO_WIDTH, INK, Label, Shape};
use crate::error::{Error, Result};
use crate::font::Font;
use crate::palette::Rgb;

/// Encodes the drawing.
///
/// # Errors
///
/// There is no memory for the pixels.
pub(crate) fn png(drawing: &Drawing) -> Result<Vec<u8>> {
    let (width, height) = (drawing.width, drawing.height);
    let failed = Error::Encode { width, height };
    let Some(mut pixels) = Pixmap::new(width, height) else { return Err(failed) };
    pixels.fill(Color::WHITE);
    for shape in &drawing.shapes {
        match shape {
            Shape::Rect { frame, fill } => fill_cells(&mut pixels, *frame, 1, 1, &[*fill]),
            Shape::Image { frame, rows, columns, cells } => {
                fill_cells(&mut pixels, *frame, *rows, *columns, cells);
            }
            Shape::Lines { strokes, color, width, has_halo } => {
                if *has_halo {
                    let halo = paint_through([u8::MAX; 3], HALO_OPACITY);
                    stroke_lines(&mut pixels, strokes, &halo, width + HALO_WIDTH);
                }
                stroke_lines(&mut pixels, strokes, &paint(*color), *width);
            }
            Shape::Text(label) => fill_text(&mut pixels, label),
        }
    }
    pixels.encode_png().map_err(|_| failed)
}

/// Encodes an image of one pixel for each cell.
///
/// # Errors
///
/// There is no cell, or no memory for the pixels.
pub(crate) fn png_of_cells(rows: usize, columns: usize, cells: &[Rgb]) -> Result<Vec<u8>> {
    let len = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (width, height) = (len(columns), len(rows));
    let failed = Error::Encode { width, height };
    let Some(mut pixels) = Pixmap::new(width, height) else { return Err(failed) };
    fill_cells(&mut pixels, Frame { x: 0, y: 0, width, height }, rows, columns, cells);
    pixels.encode_png().map_err(|_| failed)
}

/// Colors each pixel of a frame as the cell that it belongs to.
fn fill_cells(pixels: &mut Pixmap, frame: Frame, rows: usize, columns: usize, cells: &[Rgb]) {
    let cell = |at: u32, len: u32, count: usize| at as usize * count / len as usize;
    let (width, height) = (pixels.width(), pixels.height());
    for y in frame.y..(frame.y + frame.height).min(height) {
        let row = cell(y - frame.y, frame.height, rows) * columns;
        for x in frame.x..(frame.x + frame.width).min(width) {
            let nth = row + cell(x - frame.x, frame.width, columns);
            let Some([red, green, blue]) = cells.get(nth).copied() else { continue };
            let at = y as usize * width as usize + x as usize;
            let color = PremultipliedColorU8::from_rgba(red, green, blue, u8::MAX);
            if let (Some(pixel), Some(color)) = (pixels.pixels_mut().get_mut(at), color) {
                *pixel = color;
            }
        }
    }
}

fn paint(color: Rgb) -> Paint<'static> {
    paint_through(color, 1.0)
}

fn paint_through(color: Rgb, opacity: f32) -> Paint<'static> {
    let [red, green, blue] = color.map(|part| f32::from(part) / 255.0);
    let mut paint = Paint::default();
    paint.set_color(Color::from_rgba(red, green, blue, opacity).unwrap_or(Color::BLACK));
    paint
}

fn stroke_lines(pixels: &mut Pixmap, strokes: &[Vec<(f32, f32)>], paint: &Paint<'_>, width: f32) {
    let mut path = PathBuilder::new();
    for stroke in strokes {
        for (nth, &(x, y)) in stroke.iter().enumerate() {
            if nth == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
    }
    let Some(path) = path.finish() else { return };
    let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
    let stroke = Stroke { width, line_cap, line_join, ..Stroke::default() };
    pixels.stroke_path(&path, paint, &stroke, Transform::identity(), None);
}

fn fill_text(pixels: &mut Pixmap, label: &Label) {
    let font = Font::sized(label.size);
    let Some(outline) = font.outline(&label.text) else { return };
    let before = match label.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font.width(&label.text) / 2.0,
        Anchor::End => font.width(&label.text),
    };
    let turn = if label.is_turned { Transform::from_rotate(-90.0) } else { Transform::identity() };
    let place =
        Transform::from_translate(-before, 0.0).post_concat(turn).post_translate(label.x, label.y);
    pixels.fill_path(&outline, &paint(INK), FillRule::Winding, place, None);
}
