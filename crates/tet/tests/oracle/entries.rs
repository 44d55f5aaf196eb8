//! Entries of a selection for one axis, in every form, and the positions that they mean.

use tet::query::{AxisSelection, DatePart, Position, Stop};

use super::{AxisKind, Calendar, Dice, dates};

/// A selection of one axis.
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) form: AxisSelection,
    /// The entry of a query document, where that has words for it.
    pub(crate) document: Option<String>,
    pub(crate) positions: Vec<usize>,
    /// The full turns of each longitude; none where no label changes.
    pub(crate) turns: Vec<f64>,
    pub(crate) is_dropped: bool,
}

impl Entry {
    pub(crate) fn random(dice: &mut Dice, axis: AxisKind, calendar: Calendar) -> Entry {
        match axis {
            _ if dice.below(4) == 0 => by_position(dice, axis),
            AxisKind::Time => by_date(dice, calendar),
            AxisKind::Lon => by_longitude(dice),
            AxisKind::Name => by_word(dice),
            _ => by_number(dice, axis),
        }
    }

    fn new(text: String, form: AxisSelection, positions: Vec<usize>) -> Entry {
        let (document, turns) = (None, vec![]);
        let is_dropped = matches!(form, AxisSelection::Point(_));
        Entry { text, form, document, positions, turns, is_dropped }
    }

    fn with_document(self, document: String) -> Entry {
        Entry { document: Some(document), ..self }
    }
}

fn label(text: impl ToString) -> Position {
    Position::Label(text.to_string())
}

/// `start:stop` with both ends, every `step`-th.
fn range(name: &str, ends: [&str; 2], quoted: [&str; 2], step: usize, within: Vec<usize>) -> Entry {
    let by = if step == 1 { String::new() } else { format!(":{step}") };
    let [start, stop] = ends.map(|end| (!end.is_empty()).then(|| label(end)));
    let words = [("start_label", ends[0]), ("through_label", ends[1])];
    let words = words.iter().filter(|(_, end)| !end.is_empty());
    let words: Vec<String> = words.map(|(key, end)| format!("{key:?}: {end:?}, ")).collect();
    let stop = stop.map_or(Stop::End, Stop::Through);
    let form = AxisSelection::Range { start, stop, step: step as u64 };
    let positions = within.into_iter().step_by(step).collect();
    Entry::new(format!("{name}={}:{}{by}", quoted[0], quoted[1]), form, positions)
        .with_document(format!("{{{}\"step\": {step}}}", words.concat()))
}

fn listed(name: &str, texts: &[String], quoted: &[String], positions: Vec<usize>) -> Entry {
    let form = AxisSelection::List(texts.iter().map(label).collect());
    Entry::new(format!("{name}=[{}]", quoted.join(", ")), form, positions)
}

fn by_position(dice: &mut Dice, axis: AxisKind) -> Entry {
    let (name, extent) = (axis.name(), axis.extent());
    let signed = |dice: &mut Dice| dice.below(2 * extent) as i64 - extent as i64;
    let place = |at: i64| usize::try_from(at.rem_euclid(extent as i64)).expect("a position");
    match dice.below(3) {
        0 => {
            let at = signed(dice);
            Entry::new(format!("{name}#{at}"), AxisSelection::point(at), vec![place(at)])
                .with_document(format!("{{\"index\": {at}}}"))
        }
        1 => {
            let some = dice.several(5, signed);
            let form = AxisSelection::List(some.iter().map(|&at| Position::from(at)).collect());
            Entry::new(format!("{name}#{some:?}"), form, some.into_iter().map(place).collect())
        }
        _ => {
            let mut ends = [dice.below(extent + 1), dice.below(extent + 1)];
            ends.sort_unstable();
            let ([start, stop], step) = (ends, dice.pick(&[1, 1, 2, 3]));
            let form = AxisSelection::range(start as u64, stop as u64).step_by(step as u64);
            let positions = (start..stop).step_by(step).collect();
            Entry::new(format!("{name}#{start}:{stop}:{step}"), form, positions).with_document(
                format!("{{\"start\": {start}, \"stop\": {stop}, \"step\": {step}}}"),
            )
        }
    }
}

fn by_number(dice: &mut Dice, axis: AxisKind) -> Entry {
    let (name, known) = (axis.name(), axis.numbers());
    let equal = |wanted: f64| -> Vec<usize> {
        (0..known.len()).filter(|&at| known[at] == wanted).collect()
    };
    let near = |dice: &mut Dice| f64::from(dice.below(300) as u32) / 4.0 - 10.0;
    let some = dice.several(4, |dice| dice.pick(&known));
    let is_ordered = axis != AxisKind::Mixed;
    match dice.below(if is_ordered { 6 } else { 3 }) {
        0 if equal(some[0]).len() == 1 => {
            let (text, at) = (some[0].to_string(), equal(some[0]));
            Entry::new(format!("{name}={text}"), AxisSelection::point(text.clone()), at)
                .with_document(format!("{{\"label\": {text:?}}}"))
        }
        0 | 1 => {
            let texts: Vec<String> = some.iter().map(f64::to_string).collect();
            listed(name, &texts, &texts, some.iter().flat_map(|&it| equal(it)).collect())
        }
        2 => by_nearest(dice, axis),
        _ => {
            let mut ends = [near(dice), near(dice)];
            ends[0] = dice.pick(&[ends[0], some[0]]);
            ends.sort_by(f64::total_cmp);
            let is_within = |it: &f64| ends[0] <= *it && *it <= ends[1];
            let within = (0..known.len()).filter(|&at| is_within(&known[at])).collect();
            // An axis that goes down is asked for in either order.
            let is_turned = axis == AxisKind::Fall && dice.below(2) == 0;
            let [low, high] = ends.map(|it| it.to_string());
            let asked = if is_turned { [&*high, &*low] } else { [&*low, &*high] };
            range(name, asked, asked, dice.pick(&[1, 1, 2]), within)
        }
    }
}

/// The nearest of numbers; of two that are as near the greater, the first position that has it.
fn nearest(known: &[f64], wanted: f64) -> usize {
    let far = |at: &usize| (known[*at] - wanted).abs();
    let least = (0..known.len()).map(|at| far(&at)).fold(f64::INFINITY, f64::min);
    let mut best: Option<usize> = None;
    for at in (0..known.len()).filter(|at| far(at) == least) {
        if best.is_none_or(|best| known[best] < known[at]) {
            best = Some(at);
        }
    }
    best.expect("an axis with labels")
}

fn by_nearest(dice: &mut Dice, axis: AxisKind) -> Entry {
    let (name, known) = (axis.name(), axis.numbers());
    let near = |dice: &mut Dice| f64::from(dice.below(500) as u32) / 4.0 - 10.0;
    let place = |it: f64, within| Position::Nearest { label: it.to_string(), within };
    if dice.below(2) == 0 {
        let some = dice.several(3, near);
        let form = AxisSelection::List(some.iter().map(|&it| place(it, None)).collect());
        let at = some.iter().map(|&it| nearest(&known, it)).collect();
        return Entry::new(format!("{name}~{some:?}"), form, at);
    }
    let wanted = near(dice);
    let at = nearest(&known, wanted);
    let form = |within| AxisSelection::Point(place(wanted, within));
    if dice.below(2) == 0 {
        let within = ((known[at] - wanted).abs() + 0.5).to_string();
        return Entry::new(
            format!("{name}~{wanted} within {within}"),
            form(Some(within)),
            vec![at],
        );
    }
    Entry::new(format!("{name}~{wanted}"), form(None), vec![at])
        .with_document(format!("{{\"nearest\": \"{wanted}\"}}"))
}

fn by_longitude(dice: &mut Dice) -> Entry {
    let extent = AxisKind::Lon.extent() as i64;
    let at = dice.below(3 * extent as usize) as i64 - extent;
    let place = |at: i64| usize::try_from(at.rem_euclid(extent)).expect("a position");
    let degrees = |at: i64| at * 45;
    if dice.below(3) == 0 {
        let text = degrees(at).to_string();
        let form = AxisSelection::point(text.clone());
        return Entry::new(format!("lon={text}"), form, vec![place(at)])
            .with_document(format!("{{\"label\": {text:?}}}"));
    }
    let (count, step) = (dice.below(extent as usize) as i64, dice.pick(&[1, 1, 3]));
    let [west, east] = [degrees(at) - dice.pick(&[0, 1]), degrees(at + count) + dice.pick(&[0, 1])];
    let (west, east) = (west.to_string(), east.to_string());
    let within: Vec<i64> = (at..=at + count).collect();
    let ends = [&*west, &*east];
    let entry = range("lon", ends, ends, step, within.iter().map(|&at| place(at)).collect());
    let turns = within.iter().step_by(step).map(|at| at.div_euclid(extent) as f64).collect();
    Entry { turns, ..entry }
}

fn by_word(dice: &mut Dice) -> Entry {
    let known = AxisKind::Name.texts();
    let quoted = |text: &str| match text {
        "Oslo" | "7" | "Bergen" => text.to_owned(),
        _ => format!("{text:?}"),
    };
    let mut some = dice.several(3, |dice| dice.below(known.len()));
    match dice.below(3) {
        0 => {
            let (at, text) = (some[0], known[some[0]]);
            Entry::new(format!("name={}", quoted(text)), AxisSelection::point(text), vec![at])
                .with_document(format!("{{\"label\": {text:?}}}"))
        }
        1 => {
            let texts: Vec<String> = some.iter().map(|&at| known[at].to_owned()).collect();
            let written: Vec<String> = texts.iter().map(|it| quoted(it)).collect();
            listed("name", &texts, &written, some)
        }
        _ => {
            some.sort_unstable();
            let [first, last] = [some[0], some[some.len() - 1]];
            let ends = [known[first], known[last]];
            let [start, stop] = ends.map(quoted);
            range("name", ends, [&start, &stop], 1, (first..=last).collect())
        }
    }
}

fn by_date(dice: &mut Dice, calendar: Calendar) -> Entry {
    let (known, hourly) = (dates(calendar, 6), dates(calendar, 1));
    let within = |date: &str| (0..known.len()).filter(|&at| known[at].starts_with(date)).collect();
    let date = |dice: &mut Dice| dice.pick(&known)[..dice.pick(&[7, 10, 10, 16])].to_owned();
    match dice.below(5) {
        0 => {
            let text = date(dice);
            let entry =
                Entry::new(format!("time={text}"), AxisSelection::point(&*text), within(&text));
            // A date that is less precise than the times keeps the axis.
            Entry { is_dropped: text.len() == 16, ..entry }
                .with_document(format!("{{\"label\": {text:?}}}"))
        }
        1 => {
            let some = dice.several(3, date);
            let at: Vec<usize> = some.iter().flat_map(|it| -> Vec<usize> { within(it) }).collect();
            listed("time", &some, &some, at)
        }
        2 => {
            let mut ends = [date(dice), date(dice)];
            ends.sort();
            let [start, stop] = [&*ends[0], &*ends[1]];
            let is_within =
                |it: &String| start <= it.as_str() && (it.as_str() <= stop || it.starts_with(stop));
            let within = (0..known.len()).filter(|&at| is_within(&known[at])).collect();
            range("time", [start, stop], [start, stop], dice.pick(&[1, 1, 3]), within)
        }
        3 => {
            let hour = dice.below(hourly.len());
            // Of two times that are as near the later one.
            let (text, at) = (&*hourly[hour], vec![(hour + 3) / 6]);
            let form = AxisSelection::Point(Position::nearest(text));
            Entry::new(format!("time~{text}"), form, at)
                .with_document(format!("{{\"nearest\": {text:?}}}"))
        }
        _ => by_part(dice, &known),
    }
}

/// A set of parts of dates.
fn by_part(dice: &mut Dice, known: &[String]) -> Entry {
    let parts = [
        ("month", DatePart::Month, 5..7, 12),
        ("day", DatePart::Day, 8..10, 31),
        ("hour", DatePart::Hour, 11..13, 23),
    ];
    let (name, part, place, most) = dice.pick(&parts);
    let mut some = [dice.below(most) as i64 + 1, dice.below(most) as i64 + 1];
    some.sort_unstable();
    let [low, high] = some;
    let is_range = dice.below(2) == 0;
    let is_among = |it: i64| if is_range { low <= it && it <= high } else { some.contains(&it) };
    let number = |date: &String| date[place.clone()].parse().expect("a part of a date");
    let at = (0..known.len()).filter(|&at| is_among(number(&known[at]))).collect();
    let ranges = if is_range { vec![low..=high] } else { vec![low..=low, high..=high] };
    let text = if is_range { format!("{low}:{high}") } else { format!("{low},{high}") };
    Entry::new(format!("time.{name}={text}"), AxisSelection::Among { part, ranges }, at)
}
