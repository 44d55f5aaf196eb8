//! A drawing as SVG 1.1 text. The same drawing gives the same bytes.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::drawing::{Anchor, Drawing, Frame, HALO_OPACITY, HALO_WIDTH, INK, Label, Shape};
use crate::palette::Rgb;
use crate::raster;

/// Writes the document.
pub(crate) fn write(drawing: &Drawing) -> String {
    let Drawing { width, height, title, shapes } = drawing;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escaped(title)
    );
    for shape in shapes {
        write_shape(shape, &mut out);
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn write_shape(shape: &Shape, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Rect { frame, fill } => {
            write!(out, "<rect {} fill=\"{}\"/>", place(*frame), color(*fill))
        }
        Shape::Lines { strokes, color: of, width, has_halo } => {
            let path = path(strokes);
            if *has_halo {
                let opacity = format!(" stroke-opacity=\"{HALO_OPACITY}\"");
                write_path(&path, [u8::MAX; 3], width + HALO_WIDTH, &opacity, out)
                    .and_then(|()| write_path(&path, *of, *width, "", out))
            } else {
                write_path(&path, *of, *width, "", out)
            }
        }
        Shape::Text(label) => write_text(label, out),
        Shape::Image { frame, rows, columns, cells } => {
            let png = raster::png_of_cells(*rows, *columns, cells).unwrap_or_default();
            write!(
                out,
                "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
                 href=\"data:image/png;base64,{}\"/>",
                place(*frame),
                STANDARD.encode(png)
            )
        }
    };
}

fn write_path(
    path: &str,
    stroke: Rgb,
    width: f32,
    more: &str,
    out: &mut String,
) -> std::fmt::Result {
    write!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\"{more}/>",
        color(stroke)
    )
}

fn write_text(label: &Label, out: &mut String) -> std::fmt::Result {
    let Label { x, y, size, anchor, is_turned, text } = label;
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (number(*x), number(*y));
    let turn =
        if *is_turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
        color(INK),
        escaped(text)
    )
}

fn path(strokes: &[Vec<(f32, f32)>]) -> String {
    let mut out = String::new();
    for stroke in strokes {
        for (nth, (x, y)) in stroke.iter().enumerate() {
            out.push(if nth == 0 { 'M' } else { 'L' });
            let _ = write!(out, "{} {}", number(*x), number(*y));
        }
    }
    out
}

fn place(frame: Frame) -> String {
    let Frame { x, y, width, height } = frame;
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

fn color([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Hundredths of a pixel.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text between tags. Characters that XML does not allow are gone already.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
