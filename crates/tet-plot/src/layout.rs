//! Where everything of a picture is: title, axes with marks, the area of the values, a bar of colors.
//!
//! ```text
//!             title                 remarks
//!          +-------------------+  +-+
//!    y     |                   |  | | value
//!          |                   |  +-+
//!          +-------------------+  [] NaN
//!                   x
//! ```

mod margins;
mod words;

use crate::axis::PlotAxis;
use crate::bins::Bins;
use crate::coast;
use crate::drawing::{Anchor, Drawing, Frame, INK, Label, Shape};
use crate::field::PlotField;
use crate::medium::PlotSize;
use crate::palette::Rgb;
use crate::picture::{Picture, Shown};
use crate::scale::Scale;
use crate::series::Series;
use crate::ticks::{self, Tick, turned};
use margins::{Area, Marks, NAME_LINES};
use words::{balanced, elided, line_height, widest, wrapped};

/// The distance of the bar of colors from the area, and its width.
const BAR_GAP: u32 = 14;
const BAR_WIDTH: u32 = 16;
/// Colors of the bar.
const BAR_STEPS: usize = 256;
/// The length of a mark, and the distance of its text from the edge.
const MARK: u32 = 4;
const MARK_ROOM: f32 = 7.0;
/// Sizes of texts.
const TEXT: f32 = 12.0;
const TITLE: f32 = 14.0;
/// A text below an axis stands out past its ends by no more than this.
const PAST: f64 = 16.0;
/// A turned name may be longer than its area by this.
const NAME_PAST: f32 = 16.0;
/// From the marks of an axis to its name.
const NAME_GAP: f32 = 9.0;
/// The most marks of an axis.
const TICKS_MAX: usize = 12;
/// From the middle of a text down to its feet.
const FEET: f32 = TEXT * 0.36;
/// The color of lines and bars.
const BLUE: Rgb = [31, 119, 180];
/// The width and the height of a point that no line goes through.
const DOT: u32 = 3;
/// The height of a mark for NaN below a line.
const NAN_MARK: u32 = 6;
/// The width of a coastline, and the least distance of its points.
const COAST_WIDTH: f32 = 0.8;
const COAST_STEP: f32 = 0.7;

/// The area of a heatmap's cells: all of the room, but for maps, which keep their proportions.
pub(crate) fn area_of_heatmap(size: PlotSize, y: &PlotAxis, x: &PlotAxis) -> Frame {
    margins::of_heatmap(size, y, x).frame
}

/// The most columns of pixels of a line.
pub(crate) const fn columns_of_line(size: PlotSize) -> u32 {
    margins::columns_of_line(size)
}

/// Lays a picture out.
pub(crate) fn draw(picture: &Picture, size: PlotSize) -> Drawing {
    let (width, height, title) = (size.width, size.height, picture.title.clone());
    let mut page = Page { drawing: Drawing { width, height, title, shapes: Vec::new() } };
    let area = match &picture.shown {
        Shown::Heatmap { field, y, x } => page.heatmap(picture, size, field, y, x),
        Shown::Line { series, x } => page.line(picture, size, series, x),
        Shown::Histogram(bins) => page.histogram(picture, size, bins),
    };
    page.title(picture, area.frame);
    if size.is_limit {
        page.drawing.height = area.bottom();
    }
    page.drawing
}

struct Page {
    drawing: Drawing,
}

impl Page {
    fn add(&mut self, shape: Shape) {
        self.drawing.shapes.push(shape);
    }

    fn text(&mut self, x: f32, y: f32, anchor: Anchor, text: &str) {
        let (size, is_turned, text) = (TEXT, false, text.to_owned());
        self.add(Shape::Text(Label { x, y, size, anchor, is_turned, text }));
    }

    fn heatmap(
        &mut self,
        picture: &Picture,
        size: PlotSize,
        field: &PlotField,
        y: &PlotAxis,
        x: &PlotAxis,
    ) -> Area {
        let area = margins::of_heatmap(size, y, x);
        let frame = area.frame;
        let field = field.within([frame.height as usize, frame.width as usize]);
        let (rows, columns) = (field.row_count, field.column_count);
        let cells = picture.colors(&field, y, x);
        self.add(Shape::Image { frame, rows, columns, cells });
        if picture.has_coastlines {
            self.coastlines(frame, y, x);
        }
        self.outline(frame);
        self.axis_below(area, x);
        let ticks = |count: usize| turned(y.ticks(count), y.is_from_bottom());
        let marks = margins::beside(size, frame.height, ticks);
        self.marks_left(frame, &marks);
        let title = y.title_of(&marks.ticks);
        self.name_left(frame, &margins::name_beside(&title, frame.height, NAME_LINES), &marks);
        self.bar(picture, frame);
        area
    }

    fn coastlines(&mut self, area: Frame, y: &PlotAxis, x: &PlotAxis) {
        let point = |[across, down]: [f64; 2]| {
            (at(area.x, area.width, across), at(area.y, area.height, down))
        };
        let stroke = |places: Vec<[f64; 2]>| {
            let last = places.last().copied();
            let mut points: Vec<(f32, f32)> = Vec::new();
            for place in places.into_iter().map(point) {
                let is_far = |from: &(f32, f32)| {
                    COAST_STEP <= (place.0 - from.0).abs().max((place.1 - from.1).abs())
                };
                if points.last().is_none_or(is_far) {
                    points.push(place);
                }
            }
            points.extend(last.map(point).filter(|end| points.last() != Some(end)));
            points
        };
        let strokes: Vec<_> = coast::strokes(y, x).into_iter().map(stroke).collect();
        if !strokes.is_empty() {
            self.add(Shape::Lines { strokes, color: INK, width: COAST_WIDTH, has_halo: true });
        }
    }

    /// The bar of colors, with numbers, what they are, and the color of NaN.
    fn bar(&mut self, picture: &Picture, area: Frame) {
        let left = area.x + area.width + BAR_GAP;
        let of_nan = picture.name_of_nan();
        // The color of NaN has a box below the bar.
        let below = if of_nan.is_some() { 2 * BAR_WIDTH } else { 0 };
        let height = area.height.saturating_sub(below).max(1);
        let frame = Frame { x: left, width: BAR_WIDTH, height, ..area };
        let rows = BAR_STEPS.min(height as usize).max(2);
        #[allow(clippy::cast_precision_loss, reason = "few steps")]
        let part = |row: usize| 1.0 - row as f64 / (rows - 1) as f64;
        let cells = (0..rows).map(|row| picture.palette.color(part(row))).collect();
        self.add(Shape::Image { frame, rows, columns: 1, cells });
        self.outline(frame);
        let right = float(left + BAR_WIDTH);
        let scale = &picture.scale;
        let ticks = margins::vertical(height, |count| turned(ticks::of_scale(scale, count), true));
        for tick in &ticks {
            let y = at(frame.y, frame.height, tick.part);
            self.mark_beside(left + BAR_WIDTH, y);
            self.text(right + MARK_ROOM, y + FEET, Anchor::Start, &tick.text);
        }
        let texts = ticks.iter().map(|tick| tick.text.as_str()).chain(of_nan);
        let x = right + MARK_ROOM + widest(texts, TEXT) + NAME_GAP + TEXT * 0.8;
        let end = float(self.drawing.width) - 6.0;
        // A second line only where it is in the picture.
        let lines_max = if x + line_height(TEXT) <= end { NAME_LINES } else { 1 };
        let name = value_beside(picture, area.height, lines_max);
        self.turned_texts(x.min(end), float(area.y) + float(area.height) / 2.0, &name);
        if let Some(of_nan) = of_nan {
            let y = area.y + area.height - BAR_WIDTH;
            let frame = Frame { x: left, y, width: BAR_WIDTH, height: BAR_WIDTH };
            self.add(Shape::Rect { frame, fill: picture.palette.nan() });
            self.outline(frame);
            let feet = float(y) + float(BAR_WIDTH) / 2.0 + FEET;
            self.text(right + MARK_ROOM, feet, Anchor::Start, of_nan);
        }
    }

    fn line(&mut self, picture: &Picture, size: PlotSize, series: &Series, x: &PlotAxis) -> Area {
        let height = margins::height_of_line(size, Some(x));
        let ticks = |count: usize| turned(ticks::of_scale(&picture.scale, count), true);
        let marks = margins::beside(size, height, ticks);
        let name = value_beside(picture, height, NAME_LINES);
        let area = margins::of_line(size, Some(x), &marks, name.len());
        let frame = area.frame;
        let nan =
            Frame { y: frame.y + frame.height - NAN_MARK, width: 1, height: NAN_MARK, ..frame };
        for place in series.nan_places(x) {
            let at = along(place, frame.width).min(frame.width - 1);
            self.add(Shape::Rect {
                frame: Frame { x: frame.x + at, ..nan },
                fill: picture.palette.nan(),
            });
        }
        let point = |(place, value): (f64, f64)| {
            let part = 1.0 - picture.scale.part(value).unwrap_or(0.0);
            (at(frame.x, frame.width, place), at(frame.y, frame.height, part))
        };
        let stroke = |stroke: Vec<(f64, f64)>| stroke.into_iter().map(point).collect();
        let strokes: Vec<Vec<_>> = series.strokes(x).into_iter().map(stroke).collect();
        let (points, strokes): (Vec<_>, Vec<_>) =
            strokes.into_iter().partition(|stroke| stroke.len() == 1);
        points.into_iter().flatten().for_each(|(x, y)| self.dot(frame, x, y));
        let few = series.columns.len() <= frame.width as usize / 2;
        self.add(Shape::Lines {
            strokes,
            color: BLUE,
            width: if few { 1.5 } else { 1.0 },
            has_halo: false,
        });
        self.outline(frame);
        self.axis_below(area, x);
        self.marks_left(frame, &marks);
        self.name_left(frame, &name, &marks);
        area
    }

    /// A point that no line goes through.
    fn dot(&mut self, area: Frame, x: f32, y: f32) {
        let x = pixel(x).clamp(area.x + 1, area.x + area.width - 2) - 1;
        let y = pixel(y).clamp(area.y + 1, area.y + area.height - 2) - 1;
        self.add(Shape::Rect { frame: Frame { x, y, width: DOT, height: DOT }, fill: BLUE });
    }

    fn histogram(&mut self, picture: &Picture, size: PlotSize, bins: &Bins) -> Area {
        #[allow(clippy::cast_precision_loss, reason = "a height in pixels")]
        let counts: Vec<f64> = bins.counts.iter().map(|&count| count as f64).collect();
        let most = counts.iter().copied().fold(0.0, f64::max);
        let heights = Scale::given(0.0, if most > 0.0 { most * 1.05 } else { 1.0 });
        let ticks = |count: usize| turned(ticks::of_scale(&heights, count), true);
        let marks = margins::beside(size, margins::height_of_line(size, None), ticks);
        let name = vec!["count".to_owned()];
        let area = margins::of_line(size, None, &marks, name.len());
        let frame = area.frame;
        let place = |edge: f64| along(picture.scale.part(edge).unwrap_or(0.0), frame.width);
        for (edges, &count) in bins.edges.windows(2).zip(&counts) {
            let (left, right) = (place(edges[0]), place(edges[1]));
            let height = along(heights.part(count).unwrap_or(0.0), frame.height);
            // A count of one is seen too, and bars of a few pixels have a gap between them.
            let height = if count > 0.0 { height.max(1) } else { 0 };
            let width = (right - left).max(1);
            let width = if width > 3 { width - 1 } else { width };
            let y = frame.y + frame.height - height;
            let x = (frame.x + left).min(frame.x + frame.width - 1);
            self.add(Shape::Rect { frame: Frame { x, y, width, height }, fill: BLUE });
        }
        self.outline(frame);
        self.marks_below(area, |count| ticks::of_scale(&picture.scale, count));
        self.name_below(area, &picture.value());
        self.marks_left(frame, &marks);
        self.name_left(frame, &name, &marks);
        area
    }

    /// The title, and to the right what the picture leaves out.
    fn title(&mut self, picture: &Picture, area: Frame) {
        let feet = float(area.y) - 14.0;
        let remarks = picture.remarks().join(", ");
        let room = float(self.drawing.width) - 24.0 - widest([&*remarks], TEXT);
        // Two lines have smaller letters.
        let is_long = room < widest([&*picture.title], TITLE);
        let (size, lines_max) = if is_long { (TEXT, 2) } else { (TITLE, 1) };
        let lines = balanced(&picture.title, size, room, lines_max);
        let half = widest(lines.iter().map(String::as_str), size) / 2.0;
        let middle = float(area.x) + float(area.width) / 2.0;
        let x = middle.min(room - half).max(8.0 + half);
        let first = feet - (count(&lines) - 1.0) * 9.0;
        for (nth, text) in (0_u8..).zip(lines) {
            let y = first + f32::from(nth) * line_height(size);
            let (anchor, is_turned) = (Anchor::Middle, false);
            self.add(Shape::Text(Label { x, y, size, anchor, is_turned, text }));
        }
        self.text(float(self.drawing.width) - 8.0, feet, Anchor::End, &remarks);
    }

    fn axis_below(&mut self, area: Area, axis: &PlotAxis) {
        let marks = self.marks_below(area, |count| turned(axis.ticks(count), axis.is_from_right()));
        self.name_below(area, &axis.title_of(&marks.ticks));
    }

    fn marks_below(&mut self, area: Area, ticks: impl Fn(usize) -> Vec<Tick>) -> Marks {
        let frame = area.frame;
        let marks = margins::below(frame.width, area.below, ticks);
        let room = margins::room_below(frame.width);
        let edge = frame.y + frame.height;
        for (tick, lines) in marks.ticks.iter().zip(&marks.texts) {
            let x = pixel(at(frame.x, frame.width, tick.part)).min(frame.x + frame.width);
            self.add(Shape::Rect {
                frame: Frame { x, y: edge, width: 1, height: MARK },
                fill: INK,
            });
            let width = f64::from(widest(lines.iter().map(String::as_str), TEXT));
            let middle = at(frame.x, frame.width, room.middle(tick, width) / room.len);
            for (nth, line) in (0_u8..).zip(lines) {
                let down = MARK_ROOM + TEXT * 0.8 + f32::from(nth) * line_height(TEXT);
                self.text(middle, float(edge) + down, Anchor::Middle, line);
            }
        }
        marks
    }

    fn name_below(&mut self, area: Area, name: &str) {
        let x = float(area.frame.x) + float(area.frame.width) / 2.0;
        let text = elided(name, TEXT, 2.0 * x.min(float(self.drawing.width) - x) - NAME_PAST);
        let from_bottom = TEXT * 1.4;
        self.text(x, float(area.bottom()) - from_bottom, Anchor::Middle, &text);
    }

    fn marks_left(&mut self, area: Frame, marks: &Marks) {
        let is_shown = |mark: &(&Tick, &Vec<String>)| !mark.0.text.is_empty();
        for (tick, lines) in marks.ticks.iter().zip(&marks.texts).filter(is_shown) {
            let y = at(area.y, area.height, tick.part);
            self.mark_beside(area.x - MARK, y);
            let above = (count(lines) - 1.0) / 2.0;
            for (nth, line) in (0_u8..).zip(lines) {
                let y = y + FEET + (f32::from(nth) - above) * line_height(TEXT);
                self.text(float(area.x) - MARK_ROOM, y, Anchor::End, line);
            }
        }
    }

    /// The name of an axis, beside its marks.
    fn name_left(&mut self, area: Frame, name: &[String], marks: &Marks) {
        let middle = float(area.y) + float(area.height) / 2.0;
        let x = float(area.x) - MARK_ROOM - marks.width() - NAME_GAP;
        let first = x - (count(name) - 1.0) * line_height(TEXT);
        self.turned_texts(first, middle, name);
    }

    /// Lines that are read from below, the first one at a place.
    fn turned_texts(&mut self, x: f32, y: f32, lines: &[String]) {
        let (size, anchor, is_turned) = (TEXT, Anchor::Middle, true);
        for (nth, text) in (0_u8..).zip(lines) {
            let x = x + f32::from(nth) * line_height(TEXT);
            self.add(Shape::Text(Label { x, y, size, anchor, is_turned, text: text.clone() }));
        }
    }

    /// A mark to the left or to the right of an edge, at a height.
    fn mark_beside(&mut self, x: u32, y: f32) {
        let frame = Frame { x, y: pixel(y), width: MARK, height: 1 };
        self.add(Shape::Rect { frame, fill: INK });
    }

    /// A line around a frame, outside of its pixels.
    fn outline(&mut self, frame: Frame) {
        let (left, top) = (float(frame.x) - 0.5, float(frame.y) - 0.5);
        let (right, bottom) = (left + float(frame.width) + 1.0, top + float(frame.height) + 1.0);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.add(Shape::Lines {
            strokes: vec![corners.to_vec()],
            color: INK,
            width: 1.0,
            has_halo: false,
        });
    }
}

/// The name of the values of a picture, in lines beside an area of this height: the name is cut, not the unit.
fn value_beside(picture: &Picture, height: u32, lines_max: usize) -> Vec<String> {
    let room = float(height) + NAME_PAST;
    let fits = |text: &str| wrapped(text, TEXT, room, lines_max + 1).len() <= lines_max;
    margins::name_beside(&picture.value_within(fits), height, lines_max)
}

/// The number of lines.
#[allow(clippy::cast_precision_loss, reason = "few lines")]
fn count(lines: &[String]) -> f32 {
    lines.len() as f32
}

#[allow(clippy::cast_precision_loss, reason = "pixels of a picture are few")]
const fn float(pixels: u32) -> f32 {
    pixels as f32
}

/// The pixel of a place.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a picture")]
fn pixel(place: f32) -> u32 {
    place.max(0.0) as u32
}

/// The place of a part of a length.
#[allow(clippy::cast_possible_truncation, reason = "pixels of a picture are few")]
fn at(start: u32, len: u32, part: f64) -> f32 {
    (f64::from(start) + f64::from(len) * part) as f32
}

/// A length in whole pixels.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a picture")]
fn whole(len: f64) -> u32 {
    len.round() as u32
}

/// The part of a length in whole pixels.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the length")]
fn along(part: f64, len: u32) -> u32 {
    ((part.clamp(0.0, 1.0) * f64::from(len)).round() as u32).min(len)
}
