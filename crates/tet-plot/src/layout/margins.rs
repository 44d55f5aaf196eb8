//! The area of the values: as large as the texts around it allow.

use super::words::{balanced, line_height, widest, wrapped};
use super::{MARK_ROOM, NAME_GAP, NAME_PAST, PAST, TEXT, TICKS_MAX, float, whole};
use crate::aspect::{aspect, within};
use crate::axis::PlotAxis;
use crate::drawing::Frame;
use crate::medium::PlotSize;
use crate::ticks::{self, Room, Tick, turned};

/// The margin above the area, and the one below with one line of texts.
const TOP: u32 = 36;
const BOTTOM: u32 = 52;
/// The margin to the right, with a bar of colors and without one.
const RIGHT_OF_HEATMAP: u32 = 112;
const RIGHT: u32 = 24;
/// The margin to the left where nothing is written there.
const LEFT_MIN: u32 = 24;
/// That of numbers and a name.
const LEFT_USUAL: u32 = 64;
/// From a name to the edge of the picture.
const EDGE: f32 = 8.0;
/// Texts beside an area have this part of the picture's width at most.
const BESIDE_MAX: f32 = 0.3;
/// The most lines of a name, of a text beside an area, and of one below it.
pub(super) const NAME_LINES: usize = 2;
const BESIDE_LINES: usize = 4;
const BELOW_LINES: usize = 5;
/// A text below an axis on one line is no wider than this.
const BELOW_MAX: f32 = 208.0;
/// A picture of less height has one line of texts below its area.
const LOW: u32 = 400;
/// The least distance of texts below an axis.
const BELOW_GAP: f64 = 8.0;

/// The area of the values, and how many lines the texts below it have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) frame: Frame,
    pub(super) below: usize,
}

impl Area {
    /// The height of a picture that ends below the area.
    pub(super) fn bottom(&self) -> u32 {
        self.frame.y + self.frame.height + margin_below(self.below)
    }
}

/// Marks with the lines of their texts.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    pub(super) ticks: Vec<Tick>,
    pub(super) texts: Vec<Vec<String>>,
}

impl Marks {
    /// The width of the widest line.
    pub(super) fn width(&self) -> f32 {
        widest(self.texts.iter().flatten().map(String::as_str), TEXT)
    }
}

/// The area of a heatmap's cells: all of the room, but for maps, which keep their proportions.
pub(super) fn of_heatmap(size: PlotSize, y: &PlotAxis, x: &PlotAxis) -> Area {
    let below = lines_below(size, RIGHT_OF_HEATMAP, x);
    let frame = |left: u32| {
        let room = room(size, left, RIGHT_OF_HEATMAP, below);
        let [height, width] = within([room.height.into(), room.width.into()], aspect(y, x));
        let [height, width] = [height, width].map(|len| whole(len).max(1));
        // A picture that may be less high ends below the map.
        let above = if size.is_limit { 0 } else { (room.height - height) / 2 };
        Frame { x: room.x + (room.width - width) / 2, y: room.y + above, width, height }
    };
    let left = |height: u32| {
        let marks = beside(size, height, |count| turned(y.ticks(count), y.is_from_bottom()));
        let title = y.title_of(&marks.ticks);
        let names =
            if title.is_empty() { 0 } else { name_beside(&title, height, NAME_LINES).len() };
        left(&marks, names)
    };
    // The height of a map depends on its width, and the marks on the height.
    let height = frame(LEFT_MIN).height;
    Area { frame: frame(left(frame(left(height)).height)), below }
}

/// The area of a line or of bars, with these marks and a name of so many lines beside it.
pub(super) fn of_line(size: PlotSize, x: Option<&PlotAxis>, marks: &Marks, names: usize) -> Area {
    let below = x.map_or(1, |x| lines_below(size, RIGHT, x));
    Area { frame: room(size, left(marks, names), RIGHT, below), below }
}

/// The height of the area of a line or of bars.
pub(super) fn height_of_line(size: PlotSize, x: Option<&PlotAxis>) -> u32 {
    room(size, LEFT_MIN, RIGHT, x.map_or(1, |x| lines_below(size, RIGHT, x))).height
}

/// The most columns of pixels of a line.
pub(super) const fn columns_of_line(size: PlotSize) -> u32 {
    size.width.saturating_sub(LEFT_MIN + RIGHT)
}

fn room(size: PlotSize, left: u32, right: u32, below: usize) -> Frame {
    let width = size.width.saturating_sub(left + right).max(1);
    let height = size.height.saturating_sub(TOP + margin_below(below)).max(1);
    Frame { x: left, y: TOP, width, height }
}

fn margin_below(lines: usize) -> u32 {
    let more = u16::try_from(lines.saturating_sub(1)).unwrap_or(0);
    BOTTOM + whole(f64::from(f32::from(more) * line_height(TEXT)))
}

/// The margin to the left, with these marks and a name of so many lines.
fn left(marks: &Marks, names: usize) -> u32 {
    #[allow(clippy::cast_precision_loss, reason = "few lines")]
    let name = if names == 0 { 0.0 } else { names as f32 * line_height(TEXT) + NAME_GAP };
    whole(f64::from(EDGE + name + marks.width() + MARK_ROOM)).max(LEFT_MIN)
}

/// The lines of a name beside an area of this height.
pub(super) fn name_beside(name: &str, height: u32, lines_max: usize) -> Vec<String> {
    balanced(name, TEXT, float(height) + NAME_PAST, lines_max)
}

/// The marks beside an area of this height.
pub(super) fn beside(size: PlotSize, height: u32, ticks: impl Fn(usize) -> Vec<Tick>) -> Marks {
    let ticks = vertical(height, ticks);
    let distance = ticks.windows(2).map(|pair| (pair[1].part - pair[0].part).abs());
    let distance = distance.fold(f64::INFINITY, f64::min) * f64::from(height);
    let lines = lines_in(distance, BESIDE_LINES);
    let room = float(size.width) * BESIDE_MAX;
    let texts = ticks.iter().map(|tick| balanced(&tick.text, TEXT, room, lines)).collect();
    Marks { ticks, texts }
}

/// The marks that fit beside an area of this height, with texts of one line.
pub(super) fn vertical(height: u32, ticks: impl Fn(usize) -> Vec<Tick>) -> Vec<Tick> {
    let len = f64::from(height);
    let room = Room { len, gap: 4.0, count_max: TICKS_MAX, past: f64::INFINITY };
    ticks::fitting(room, ticks, |_| f64::from(TEXT))
}

/// How many lines a distance holds, at most this many.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few lines")]
fn lines_in(distance: f64, most: usize) -> usize {
    ((distance / f64::from(line_height(TEXT))) as usize).clamp(1, most)
}

/// The room for texts below an area of this width.
pub(super) fn room_below(width: u32) -> Room {
    Room { len: f64::from(width), gap: BELOW_GAP, count_max: TICKS_MAX, past: PAST }
}

/// The marks below an area of this width, with texts of at most so many lines.
pub(super) fn below(width: u32, lines_max: usize, ticks: impl Fn(usize) -> Vec<Tick>) -> Marks {
    let in_lines = |count: usize| marks_in_lines(width, lines_max, ticks(count));
    if let Some(marks) = (1..=TICKS_MAX).rev().find_map(in_lines) {
        return marks;
    }
    let one_line = |text: &str| wrapped(text, TEXT, BELOW_MAX, 1);
    let len = |text: &str| f64::from(widest(one_line(text).iter().map(String::as_str), TEXT));
    let ticks = ticks::fitting(room_below(width), &ticks, len);
    let texts = ticks.iter().map(|tick| one_line(&tick.text)).collect();
    Marks { ticks, texts }
}

/// Marks whose texts fit side by side in so many lines.
fn marks_in_lines(width: u32, lines_max: usize, ticks: Vec<Tick>) -> Option<Marks> {
    let distance = ticks.windows(2).map(|pair| (pair[1].part - pair[0].part).abs());
    let distance = distance.fold(1.0, f64::min) * f64::from(width) - BELOW_GAP;
    #[allow(clippy::cast_possible_truncation, reason = "pixels of a picture are few")]
    let room = distance as f32;
    // A word that is cut in the middle is no better than a mark less.
    let is_whole = |text: &String, lines: &[String]| {
        lines.len() <= lines_max
            && text.split(' ').all(|word| lines.iter().any(|line| line.contains(word)))
    };
    let texts: Vec<Vec<String>> =
        ticks.iter().map(|tick| balanced(&tick.text, TEXT, room, lines_max)).collect();
    let len = |text: &str| {
        let lines = balanced(text, TEXT, room, lines_max);
        f64::from(widest(lines.iter().map(String::as_str), TEXT))
    };
    let fits = ticks.iter().zip(&texts).all(|(tick, lines)| is_whole(&tick.text, lines))
        && !ticks.is_empty()
        && ticks::are_apart(room_below(width), &ticks, len);
    fits.then_some(Marks { ticks, texts })
}

/// How many lines the texts below an area have: one in a low picture.
fn lines_below(size: PlotSize, right: u32, x: &PlotAxis) -> usize {
    if size.height < LOW {
        return 1;
    }
    // Wider margins to the left leave less room.
    let width = size.width.saturating_sub(LEFT_USUAL + right);
    let marks = below(width, BELOW_LINES, |count| x.ticks(count));
    marks.texts.iter().map(Vec::len).max().unwrap_or(1)
}
