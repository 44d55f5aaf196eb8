//! An entry that is written in labels, as the same entry of positions.

use super::text::is_word;
use super::{AxisSelection, Position, Stop};

/// The entry with its whole numbers as positions, such as `time#0:12:2`; `None` where it has others, or some are outside of
/// the axis.
pub(super) fn as_positions(name: &str, entry: &AxisSelection, extent: u64) -> Option<String> {
    let extent = i128::from(extent);
    let number = |position: &Position| match position {
        Position::Index(number) | Position::Number(number) => Some(*number),
        Position::Label(_) | Position::Nearest { .. } => None,
    };
    let index =
        |position| Some(number(position).filter(|it| (-extent..extent).contains(it))?.to_string());
    let bound = |position: Option<&Position>| match position {
        None => Some(String::new()),
        Some(it) => Some(number(it).filter(|it| (-extent..=extent).contains(it))?.to_string()),
    };
    let positions = match entry {
        AxisSelection::Point(position) => index(position)?,
        AxisSelection::List(positions) => {
            let numbers: Vec<String> = positions.iter().map(index).collect::<Option<_>>()?;
            format!("[{}]", numbers.join(","))
        }
        AxisSelection::Range { start, stop, step } => {
            let stop = match stop {
                Stop::End => None,
                Stop::Before(position) | Stop::Through(position) => Some(position),
            };
            let (start, stop) = (bound(start.as_ref())?, bound(stop)?);
            let step = if *step == 1 { String::new() } else { format!(":{step}") };
            format!("{start}:{stop}{step}")
        }
        AxisSelection::Among { .. } => return None,
    };
    let name = if name.chars().all(is_word) { name.to_owned() } else { format!("{name:?}") };
    Some(format!("{name}#{positions}"))
}
