//! Times as dates: a dataset of numbers of CF units, seen as one of texts.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::coordinates::{COORDINATES_MAX, labels_of_array};
use super::times::{TimeUnits, Times};
use super::{Labels, Moments};
use crate::array::Array;
use crate::budget::Execution;
use crate::catalog::{AttrText, Dataset, NumberTexts};
use crate::error::Result;
use crate::selection::Hyperslab;

/// The integer for a missing time (NaT).
const NOT_A_TIME: i128 = i64::MIN as i128;

impl Dataset {
    /// The dataset with dates as texts, where its numbers are times by the units and the calendar in `attrs`: its own
    /// attributes, or those of the dataset that it has the bounds of. Dates are those that labels of axes are, and integers
    /// of 64 bits are exact.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn example(time: &tet_query::Dataset) {
    /// use tet_query::Execution;
    ///
    /// if let Some(dates) = time.as_dates(&time.attrs, &Execution::default()) {
    ///     assert!(dates.is_text());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn as_dates(&self, attrs: &BTreeMap<String, AttrText>, how: &Execution) -> Option<Dataset> {
        let units = TimeUnits::from_attrs(attrs).filter(|_| self.fault.is_none())?;
        let numbers = self.with_exact_times();
        let dtype = numbers.dtype.filter(|it| it.is_integer() || it.is_float())?;
        labels_of_array(&Array::zeroed(dtype, [0].into()).ok()?)?;
        let all = numbers.clone();
        let dates = Dates { units, numbers: all, how: how.silent(), times: OnceLock::new() };
        let numbers = Dataset { name: self.name.clone(), index: self.index, ..numbers.clone() };
        let mut dates = numbers.with_number_texts(Arc::new(dates));
        // A date has no unit, and a missing one is NaT.
        dates.attrs.retain(|key, _| !["units", "_FillValue"].contains(&key.as_str()));
        Some(dates)
    }

    /// Whether its numbers are times by the units and the calendar in these attributes.
    #[must_use]
    pub fn is_time_by(&self, attrs: &BTreeMap<String, AttrText>) -> bool {
        self.dtype.is_some() && TimeUnits::from_attrs(attrs).is_some()
    }
}

impl Labels<'_> {
    /// These numbers as times; as they are where one of them is no time within reach.
    pub(super) fn timed(self, units: TimeUnits) -> Self {
        let is_time = |at: usize| self.is_no_time(at) || self.instant(units, at).is_some();
        if !(0..self.len()).all(is_time) {
            return self;
        }
        let times = self.times_of(units);
        Labels::Times { numbers: Box::new(self), times, texts: None }
    }

    /// Texts as times where each of them is a date with a month, as a logger writes it; others as they are.
    pub(crate) fn dated(self) -> Self {
        let Labels::Text(texts) = self else { return self };
        let moments = (!texts.is_empty()).then(|| Moments::parse(&texts)).flatten();
        let Some(moments) = moments else { return Labels::Text(texts) };
        let numbers = Labels::Integers(moments.nanoseconds.into());
        let times = numbers.times_of(TimeUnits::NANOSECONDS);
        Labels::Times { numbers: Box::new(numbers), times, texts: Some(texts) }
    }

    /// How precise these numbers are as times.
    pub(super) fn times_of(&self, units: TimeUnits) -> Times {
        let instants = || (0..self.len()).filter_map(|at| self.instant(units, at));
        Times::new(units, |len| instants().all(|it| it.rem_euclid(len) == 0))
    }

    /// A number as a date; as a number where it is out of the reach of dates.
    pub(super) fn date(&self, times: Times, position: usize) -> Option<String> {
        match self.instant(times.units, position) {
            None if !self.is_no_time(position) => self.text(position),
            instant => Some(times.text(instant)),
        }
    }

    /// Whether a number is a missing time: NaN, infinite, or the NaT of NumPy.
    fn is_no_time(&self, at: usize) -> bool {
        match self {
            Labels::Integers(values) => values.get(at) == Some(&NOT_A_TIME),
            Labels::Floats { values, .. } => values.get(at).is_some_and(|it| !it.is_finite()),
            _ => false,
        }
    }

    /// The instant of a number of these units; `None` for a number that is no time, such as NaN.
    pub(super) fn instant(&self, units: TimeUnits, at: usize) -> Option<i128> {
        match self {
            Labels::Integers(_) if self.is_no_time(at) => None,
            Labels::Integers(values) => units.whole(*values.get(at)?),
            Labels::Floats { values, .. } => units.float(*values.get(at)?),
            _ => None,
        }
    }
}

/// Converts the numbers of a dataset to dates.
struct Dates {
    units: TimeUnits,
    numbers: Dataset,
    how: Execution,
    /// How precise all of them are, once that is known.
    times: OnceLock<Times>,
}

impl Dates {
    /// How dates are written: as precise as all of the dataset are, or all of `labels` where it has too many.
    fn times(&self, labels: &Labels<'_>) -> Result<Times> {
        if let Some(times) = self.times.get() {
            return Ok(*times);
        }
        let count = self.numbers.grid.shape().element_count().unwrap_or(u64::MAX);
        let slab = Hyperslab::whole(self.numbers.shape());
        let len = self.numbers.selected_len(&slab).saturating_mul(4);
        if COORDINATES_MAX < count || self.how.memory_budget < len {
            return Ok(labels.times_of(self.units));
        }
        let all = labels_of_array(&self.numbers.read(&slab, &self.how)?.value);
        let times = all.as_ref().unwrap_or(labels).times_of(self.units);
        Ok(*self.times.get_or_init(|| times))
    }
}

impl NumberTexts for Dates {
    fn texts(&self, numbers: &Array) -> Result<Vec<String>> {
        let Some(labels) = labels_of_array(numbers) else { return Ok(Vec::new()) };
        let times = self.times(&labels)?;
        let text = |at| labels.date(times, at).unwrap_or_default();
        Ok((0..labels.len()).map(text).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::DatePart;

    fn dated(texts: &[&str]) -> Labels<'static> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Labels::Text(texts.into()).dated()
    }

    #[test]
    fn texts_that_are_dates_are_selected_as_dates() {
        let stamps = ["2026-11-20 05:45:00", "2026-11-20 06:00:00", "2026-11-20 06:30:00"];
        let labels = dated(&stamps);
        // They stay as they are written.
        assert_eq!(labels.text(1).as_deref(), Some(stamps[1]));
        assert!(labels.is_text() && matches!(labels.borrowed().stored(), Labels::Text(_)));
        assert_eq!(labels.period("2026-11-20T06"), Some(1..3));
        assert_eq!(labels.period("2026-11-20"), Some(0..3));
        assert_eq!(labels.all_equal("2026-11-20T06:30"), [2]);
        assert_eq!(labels.all_equal(stamps[2]), [2]);
        assert_eq!(labels.range(Some("2026-11-20T05:50"), Some("2026-11-20T06:10")), Ok(1..2));
        assert_eq!(labels.nearest("2026-11-20T06:20"), Some(2));
        assert_eq!(labels.among(DatePart::Hour, &[6..=6]), Some(vec![1, 2]));
        assert_eq!(labels.clone().first(1).text(1), None);
        assert!(labels.is_no_date("7") && !labels.is_no_date("2026"));
    }

    #[test]
    fn a_label_that_is_written_so_is_one_position() {
        let months = dated(&["2024-01", "2024-02", "2024-03"]);
        assert_eq!(months.period("2024-02"), None);
        assert_eq!(months.all_equal("2024-02"), [1]);
        assert_eq!(months.range(Some("2024-02"), None), Ok(1..3));
        assert_eq!(months.period("2024"), Some(0..3));
        // Labels of several positions are all of these.
        let days = dated(&["2024-01", "2024-01", "2024-02"]);
        assert_eq!(days.period("2024-01"), Some(0..2));
    }

    #[test]
    fn other_texts_stay_texts() {
        for texts in [&["2024", "2025"][..], &["2024-01-01", "late"], &["2024-01-01", ""], &[]] {
            assert!(matches!(dated(texts), Labels::Text(_)), "{texts:?}");
        }
    }
}
