//! The letters of PNG files: a part of DejaVu Sans, whose license is in the folder `font`.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");

/// The font, at a size in pixels.
pub(crate) struct Font {
    face: Face<'static>,
    scale: f32,
}

impl Font {
    /// The font at this size.
    pub(crate) fn sized(size: f32) -> Font {
        let face = Face::parse(FONT, 0).expect("the embedded font is valid, which a test checks");
        let scale = size / f32::from(face.units_per_em());
        Font { face, scale }
    }

    /// The width of a text in pixels.
    pub(crate) fn width(&self, text: &str) -> f32 {
        text.chars().map(|c| self.advance(self.glyph(c))).sum()
    }

    /// The outline of a text whose feet stand on zero, from zero to the right; `None` without any ink.
    pub(crate) fn outline(&self, text: &str) -> Option<Path> {
        let mut pen = Pen { path: PathBuilder::new(), x: 0.0, scale: self.scale };
        for c in text.chars() {
            let glyph = self.glyph(c);
            self.face.outline_glyph(glyph, &mut pen);
            pen.x += self.advance(glyph);
        }
        pen.path.finish()
    }

    /// A box stands for characters that the font lacks.
    fn glyph(&self, c: char) -> GlyphId {
        self.face.glyph_index(c).unwrap_or(GlyphId(0))
    }

    fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * self.scale
    }
}

/// Draws glyphs one after the other, with y downwards.
struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_font_has_letters_and_a_box_for_others() {
        let font = Font::sized(12.0);
        for text in ["temp (\u{b0}C)", "\u{3bc}g m\u{207b}\u{b3}", "\u{416}", "\u{6f22}"] {
            assert!(font.width(text) > 5.0 && font.outline(text).is_some(), "{text}");
        }
        assert!(font.outline(" ").is_none());
        assert!(font.width("iii") < font.width("mmm"));
    }
}
