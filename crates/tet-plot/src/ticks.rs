//! Marks along an axis: round numbers, or labels of positions, as many as there is room for.

use crate::scale::Scale;

/// Steps of degrees between marks.
const DEGREES: [f64; 5] = [10.0, 30.0, 60.0, 90.0, 180.0];

/// A mark along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Its place from 0 to 1.
    pub(crate) part: f64,
    /// Its text.
    pub(crate) text: String,
    /// The date that the text leaves out; empty if nothing.
    pub(crate) of: String,
}

/// Marks of a scale at round numbers, about `count` of them.
pub(crate) fn of_scale(scale: &Scale, count: usize) -> Vec<Tick> {
    let values = round_numbers(scale.low(), scale.high(), count);
    let texts = texts(&values);
    let parts = values.iter().map(|&value| scale.part(value).unwrap_or(0.0));
    parts.zip(texts).map(|(part, text)| Tick { part, text, of: String::new() }).collect()
}

/// The room for texts along an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The length of the axis.
    pub(crate) len: f64,
    /// The least distance of texts.
    pub(crate) gap: f64,
    /// The most marks.
    pub(crate) count_max: usize,
    /// How far a text may stand out past the ends.
    pub(crate) past: f64,
}

impl Room {
    /// The middle of the text of a mark: its place, but for one that would stand out too far.
    pub(crate) fn middle(&self, tick: &Tick, size: f64) -> f64 {
        let least = size / 2.0 - self.past;
        (tick.part * self.len).min(self.len - least).max(least)
    }
}

/// The largest number of marks whose texts of some sizes do not touch.
pub(crate) fn fitting(
    room: Room,
    ticks: impl Fn(usize) -> Vec<Tick>,
    size: impl Fn(&str) -> f64,
) -> Vec<Tick> {
    let fits = |ticks: &Vec<Tick>| are_apart(room, ticks, &size);
    (1..=room.count_max).rev().map(ticks).find(fits).unwrap_or_default()
}

/// Whether the texts of marks do not touch.
pub(crate) fn are_apart(room: Room, ticks: &[Tick], size: impl Fn(&str) -> f64) -> bool {
    ticks.windows(2).all(|pair| {
        let sizes = [size(&pair[0].text), size(&pair[1].text)];
        let [one, other] = [0, 1].map(|nth| room.middle(&pair[nth], sizes[nth]));
        (other - one).abs() >= (sizes[0] + sizes[1]) / 2.0 + room.gap
    })
}

/// Marks of an axis that starts at the other end, where it does: from below, not from above, and from the right.
pub(crate) fn turned(ticks: Vec<Tick>, is_turned: bool) -> Vec<Tick> {
    if !is_turned {
        return ticks;
    }
    ticks.into_iter().map(|tick| Tick { part: 1.0 - tick.part, ..tick }).collect()
}

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`: at most `count`, but for the ends of a
/// range too narrow for any.
pub(crate) fn round_numbers(low: f64, high: f64, count: usize) -> Vec<f64> {
    let raw = step_of(low, high, count);
    let magnitude = 10_f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude);
    multiples(low, high, count, next_step(raw, &steps).unwrap_or(f64::NAN))
}

/// Multiples of parts of a circle from `low` to `high`, as [`round_numbers`].
pub(crate) fn round_degrees(low: f64, high: f64, count: usize) -> Vec<f64> {
    let raw = step_of(low, high, count);
    match next_step(raw, &DEGREES).filter(|_| raw > 5.0) {
        Some(step) => multiples(low, high, count, step),
        None => round_numbers(low, high, count),
    }
}

/// The distance of `count` marks.
#[allow(clippy::cast_precision_loss, reason = "a count of marks is small")]
fn step_of(low: f64, high: f64, count: usize) -> f64 {
    (high - low) / count.max(1) as f64
}

/// The first step that is no less than `raw`; steps themselves are rounded.
fn next_step(raw: f64, steps: &[f64]) -> Option<f64> {
    steps.iter().copied().find(|&step| raw <= step * (1.0 + 1e-9))
}

/// Multiples of a step from `low` to `high`.
fn multiples(low: f64, high: f64, count: usize, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    if !first.is_finite() || step <= 0.0 || first.abs() > 1e15 {
        return vec![low];
    }
    let value = |nth: u32| {
        let multiple = first + f64::from(nth);
        // Powers of ten below one are not exact, and their reciprocals are.
        if step < 1.0 { multiple / (1.0 / step).round() } else { multiple * step }
    };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let end = high + step * 1e-9;
    // Positive zero.
    (0..=count).map(|nth| value(nth) + 0.0).take_while(|&value| value <= end).collect()
}

/// The texts of numbers, with digits enough to tell neighbors apart.
pub(crate) fn texts(values: &[f64]) -> Vec<String> {
    let step =
        values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    values.iter().map(|&value| text(value, step, most)).collect()
}

/// The text of a number with four digits or a few more.
pub(crate) fn brief(value: f64) -> String {
    text(value, value.abs() / 1e3, value.abs())
}

/// The text of a number among others at most `most`, whose neighbors are a `step` away.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of digits, which are small"
)]
fn text(value: f64, step: f64, most: f64) -> String {
    let digits = |number: f64| number.log10().floor().clamp(-400.0, 400.0) as i32;
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string().to_lowercase() };
    }
    let step = if step.is_finite() && step > 0.0 { step } else { most / 1e3 };
    if (1e-4..1e6).contains(&most) {
        let decimals = (-digits(step * 1.000_001)).clamp(0, 12) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    let decimals = (digits(most) - digits(step * 1.000_001)).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
        None => text,
    }
}

/// Without zeros behind the point.
fn trimmed(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(low: f64, high: f64, count: usize) -> Vec<String> {
        texts(&round_numbers(low, high, count))
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(marks(0.0, 1.0, 5), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(marks(-50.9, 38.7, 5), ["-40", "-20", "0", "20"]);
        assert_eq!(marks(0.0, 1e-7, 2), ["0", "5e-8", "1e-7"]);
        assert_eq!(marks(1e6, 3e6, 2), ["1e6", "2e6", "3e6"]);
        assert_eq!(marks(1000.0, 1001.0, 4), ["1000", "1000.5", "1001"]);
        assert_eq!(marks(0.1, 0.3, 2), ["0.1", "0.2", "0.3"]);
    }

    #[test]
    fn any_range_has_marks_within_it() {
        let ends = [-8e307, -3.0, -1e-300, 0.0, 5e-324, 0.1, 7.0, 1e17, 8e307];
        for low in ends {
            for high in ends.into_iter().filter(|&high| low < high) {
                for count in 1..9 {
                    let values = round_numbers(low, high, count);
                    let slack = (high - low) * 1e-6;
                    assert!(!values.is_empty() || count < 3, "{low} {high} {count}");
                    assert!(values.len() <= count + 1, "{low} {high} {count}: {values:?}");
                    let is_in = |value: &f64| low - slack <= *value && *value <= high + slack;
                    assert!(values.iter().all(is_in), "{low} {high} {count}: {values:?}");
                    assert!(texts(&values).iter().all(|text| text.len() < 20));
                }
            }
        }
    }

    #[test]
    fn marks_that_do_not_fit_are_fewer() {
        let scale = Scale::given(0.0, 100.0);
        let at = |len: f64| {
            let room = Room { len, gap: 1.0, count_max: 10, past: f64::INFINITY };
            fitting(room, |count| of_scale(&scale, count), |text| text.len() as f64).len()
        };
        assert_eq!([at(100.0), at(20.0), at(3.0)], [11, 6, 2]);
    }

    #[test]
    fn brief_numbers_have_few_digits() {
        let cases = [
            (0.0, "0"),
            (38.712_345, "38.71"),
            (-50.9, "-50.9"),
            (1234.5, "1234"),
            (1e300, "1e300"),
        ];
        for (value, text) in cases {
            assert_eq!(brief(value), text);
        }
        assert_eq!(brief(9.969_209_968_386_869e36), "9.969e36");
    }
}
