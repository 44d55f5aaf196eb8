//! Dates of three calendars, one after the other.

/// Times along the axis, and their units.
pub(crate) const TIMES: u32 = 24;
pub(crate) const UNITS: &str = "hours since 2000-02-27";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calendar {
    Standard,
    NoLeap,
    Days360,
}

impl Calendar {
    pub(crate) const ALL: [Calendar; 3] = [Calendar::Standard, Calendar::NoLeap, Calendar::Days360];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Calendar::Standard => "standard",
            Calendar::NoLeap => "noleap",
            Calendar::Days360 => "360_day",
        }
    }

    /// The days of February 2000.
    pub(crate) fn february(self) -> u32 {
        match self {
            Calendar::Standard => 29,
            Calendar::NoLeap => 28,
            Calendar::Days360 => 30,
        }
    }
}

/// The dates from the first time of the axis to the last, this many hours apart.
pub(crate) fn dates(calendar: Calendar, hours: u32) -> Vec<String> {
    let (mut month, mut day, mut found) = (2, 27, Vec::new());
    for at in (0..=(TIMES - 1) * 6).step_by(usize::try_from(hours).expect("a few hours")) {
        let hour = at % 24;
        if hour == 0 && at != 0 {
            day += 1;
        }
        if month == 2 && calendar.february() < day {
            (month, day) = (3, 1);
        }
        found.push(format!("2000-{month:02}-{day:02}T{hour:02}:00"));
    }
    found
}
