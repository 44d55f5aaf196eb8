//! The row of the history that says how a result was made.

use tet_file::metadata::HistoryRow;
use tet_query::{
    Axes, AxisPicks, AxisSlice, Compare, Dataset, Filter, Hyperslab, LazyArray, NanPolicy, Number,
    Reduced, Transform,
};

use super::ResultOptions;

/// A result that was made of a dataset.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// Its elements, chosen and transformed.
    Array(&'a LazyArray),
    /// A reduction of the selected ones.
    Reduced(&'a Hyperslab, &'a Reduced),
    /// Its selected texts.
    Texts(&'a Hyperslab),
}

/// The row about the step that made a result of `dataset`.
pub(super) fn of(dataset: &Dataset, step: Step<'_>, options: &ResultOptions) -> Option<HistoryRow> {
    let origin = options.history?;
    let path = dataset.listed_in.as_ref().unwrap_or(&dataset.source).path();
    let source = path.map(tet_io::file_name).unwrap_or_default();
    let op = match step {
        Step::Reduced(_, reduced) => reduced.op.name(),
        Step::Array(lazy) if lazy.transform().is_some() => "transform",
        Step::Array(_) | Step::Texts(_) => "select",
    };
    let mut row = HistoryRow::new(op, &source, &origin.at.to_string());
    let mut say = |key: &str, value: String| row.params.insert(key.to_owned(), value);
    say("dataset", dataset.name.clone());
    match step {
        Step::Array(lazy) => {
            say("selection", selection(lazy.slab(), &lazy.choice().picks));
            if let Some(filter) = &lazy.choice().filter {
                say("filter", of_filter(filter));
            }
            if let Some(Transform { method, axes, nan }) = lazy.transform() {
                say("method", method.name().to_owned());
                say("axes", of_axes(dataset, axes));
                if *nan == NanPolicy::Skip {
                    say("nan", "skip".to_owned());
                }
            }
        }
        Step::Reduced(slab, reduced) => {
            say("selection", selection(slab, &[]));
            say("axes", of_axes(dataset, &Axes::Some(reduced.axes.clone())));
        }
        Step::Texts(slab) => drop(say("selection", selection(slab, &[]))),
    }
    if let Some(query) = &options.query {
        say("query", query.clone());
    }
    Some(row)
}

/// The row as a line of the attribute `history` of NetCDF: the time, then what was done.
pub(super) fn line(row: &HistoryRow) -> String {
    let time = row.at.parse().map_or_else(|_| row.at.clone(), iso_time);
    let params = row.params.iter().map(|(key, value)| format!(" {key}={value:?}"));
    format!("{time} tet {} {:?}{}", row.op, row.source, params.collect::<String>())
}

/// Seconds since 1970 as `2026-01-31T12:00:00Z`.
fn iso_time(at: u64) -> String {
    let (days, second) = (at / 86_400, at % 86_400);
    // Days of the proleptic Gregorian calendar in eras of 400 years that begin on March 1.
    let shifted = days.saturating_add(719_468);
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let number = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(number <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{number:02}-{of_month:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// The selection as text, axis by axis.
fn selection(slab: &Hyperslab, picks: &[AxisPicks]) -> String {
    let axis = |(axis, slice): (usize, &AxisSlice)| {
        let AxisSlice { start, stop, step, .. } = *slice;
        let range = match step {
            _ if !slice.is_kept() => start.to_string(),
            1 => format!("{start}:{stop}"),
            _ => format!("{start}:{stop}:{step}"),
        };
        match picks.iter().find(|picks| picks.axis == axis) {
            Some(picks) => format!("{range} ({} picked)", picks.positions.len()),
            None => range,
        }
    };
    slab.axes().iter().enumerate().map(axis).collect::<Vec<_>>().join(", ")
}

fn of_axes(dataset: &Dataset, axes: &Axes) -> String {
    let name = |&axis: &usize| dataset.dims.get(axis).cloned().unwrap_or(axis.to_string());
    match axes {
        Axes::Some(axes) if !axes.is_empty() => {
            axes.iter().map(name).collect::<Vec<_>>().join(", ")
        }
        _ => "all".to_owned(),
    }
}

fn of_filter(filter: &Filter) -> String {
    let number = |number: &Number| match number {
        Number::Int(integer) => integer.to_string(),
        Number::Float(float) => format!("{float:?}"),
    };
    let test = |(compare, to): &(Compare, Number)| format!("{} {}", compare.name(), number(to));
    let nulls = [("is_null", filter.is_null), ("is_not_null", filter.is_not_null)];
    let nulls = nulls.into_iter().filter(|(_, asked)| *asked).map(|(name, _)| name.to_owned());
    filter.tests.iter().map(test).chain(nulls).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_of_the_gregorian_calendar() {
        for (at, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
        ] {
            assert_eq!(iso_time(at), wanted);
        }
    }
}
