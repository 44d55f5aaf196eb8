//! Computes the statistics of one dataset.

use std::cell::Cell;

use tet_format::DType;
use tet_query::{
    Between, Compare, Details, Execution, Filter, Integrity, NanPolicy, Op, Params, Reduced,
    Reduction, Session, WithIntegrity,
};

use crate::bar::Bar;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::open;
use crate::render::json::{BinsShape, DatasetStats, QuartilesShape};
use crate::render::number::Number;
use crate::target::Target;

/// The reductions of the first pass; the last one only for floats.
const ENDS_AND_MEANS: [Op; 5] = [Op::Min, Op::Max, Op::Mean, Op::Std, Op::InfCount];
/// The number of blocks of a sparkline.
const BINS: u32 = 32;

/// The measurement of one dataset.
pub(super) struct Measure<'a> {
    target: &'a Target<'a>,
    how: &'a Execution,
    bar: &'a Bar,
    with_quartiles: bool,
    session: Session<'a>,
    integrity: Cell<Option<Integrity>>,
}

impl<'a> Measure<'a> {
    /// Prepares the statistics of a dataset; `bar` shows the progress.
    pub(super) fn new(
        target: &'a Target<'a>,
        how: &'a Execution,
        bar: &'a Bar,
        with_quartiles: bool,
    ) -> Self {
        let (session, integrity) = (target.dataset.session(), Cell::new(None));
        Measure { target, how, bar, with_quartiles, session, integrity }
    }

    /// The result for a dataset without statistics, with the reason.
    pub(super) fn unreadable(&self, why: String) -> DatasetStats {
        DatasetStats { readable: false, why: Some(why), ..self.empty() }
    }

    fn empty(&self) -> DatasetStats {
        let dataset = &*self.target.dataset;
        DatasetStats {
            index: dataset.index,
            name: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
            shape: self.target.slab.kept_shape().to_vec(),
            readable: true,
            why: None,
            count: None,
            nan_count: None,
            inf_count: None,
            first_nan: None,
            first_inf: None,
            min: None,
            max: None,
            mean: None,
            std: None,
            quartiles: None,
            histogram: None,
            sparkline: String::new(),
        }
    }

    /// Computes the statistics: one pass for most, more for the quartiles and the histogram.
    ///
    /// # Errors
    ///
    /// The values cannot be read, or have no order.
    pub(super) fn stats(&mut self) -> Result<DatasetStats> {
        open::check_readable(&self.target.dataset)?;
        self.session.keep(self.how)?;
        let is_float = self.target.dataset.dtype.is_some_and(DType::is_float);
        let ops: &[Op] = if is_float { &ENDS_AND_MEANS } else { &ENDS_AND_MEANS[..4] };
        let found = self.reduce_all(ops, None)?;
        let number = |at: usize| found.get(at).map_or(Number::Null, first);
        let (min, max) = (number(0), number(1));
        let inf_count = count(number(4));
        Ok(DatasetStats {
            count: found.first().map(|found| found.count),
            nan_count: Some(found.first().and_then(|found| found.nan_count).unwrap_or(0)),
            inf_count: Some(inf_count),
            min: Some(min),
            max: Some(max),
            mean: Some(number(2)),
            std: Some(number(3)),
            quartiles: if self.with_quartiles { Some(self.quartiles()?) } else { None },
            histogram: self.histogram(min, max, inf_count)?,
            ..self.empty()
        })
    }

    /// The position of the first NaN, in the dataset.
    ///
    /// # Errors
    ///
    /// The values cannot be read.
    pub(super) fn first_nan(&self) -> Result<Option<Vec<u64>>> {
        // A NaN is taken for the greatest.
        self.place_of(Op::ArgMax, NanPolicy::Propagate)
    }

    /// The position of the first infinite element, in the dataset; `stats` are those of its values.
    ///
    /// # Errors
    ///
    /// The values cannot be read.
    pub(super) fn first_inf(&self, stats: &DatasetStats) -> Result<Option<Vec<u64>>> {
        let is_infinite = |end: Option<Number>| end.is_some_and(|end| end.to_f64().is_infinite());
        let ends = [(Op::ArgMax, stats.max), (Op::ArgMin, stats.min)];
        let ends = ends.into_iter().filter(|(_, end)| is_infinite(*end));
        let places = ends.map(|(op, _)| self.place_of(op, NanPolicy::Skip));
        let places: Vec<_> = places.collect::<Result<_>>()?;
        // The order of positions is that of the elements.
        Ok(places.into_iter().flatten().min())
    }

    /// Where the first extremum is.
    fn place_of(&self, op: Op, nan: NanPolicy) -> Result<Option<Vec<u64>>> {
        let Target { dataset, slab, .. } = self.target;
        self.next(op.name());
        let reduction = Reduction { nan, ..Reduction::all(op) };
        let reduced = self.recorded(dataset.reduce(slab, &reduction, self.how)?);
        let Details::Places(places) = &reduced.details else { return Ok(None) };
        let Some(place) = places.first() else { return Ok(None) };
        let mut position: Vec<u64> = slab.axes().iter().map(|slice| slice.start).collect();
        for (&axis, &at) in reduced.axes.iter().zip(place) {
            let slice = slab.axes().get(axis).zip(position.get_mut(axis));
            slice.into_iter().for_each(|(slice, position)| *position += at * slice.step);
        }
        Ok(Some(position))
    }

    fn quartiles(&self) -> Result<QuartilesShape> {
        let q = vec![0.25, 0.5, 0.75];
        let params = Params { q, between: Between::LineOrMiddle, ..Params::for_op(Op::Quantile) };
        let reduced = self.reduce(Op::Quantile, params)?;
        let at = |at| reduced.values.get(at).map_or(Number::Null, Number::from);
        Ok(QuartilesShape { q25: at(0), q50: at(1), q75: at(2) })
    }

    /// A histogram from the smallest to the largest finite value; `None` if there is no value. It has
    /// fewer bins if these values are so close together that edges would be equal.
    fn histogram(&self, min: Number, max: Number, inf_count: u64) -> Result<Option<BinsShape>> {
        let (min, max) = if inf_count == 0 {
            (min, max)
        } else {
            let finite = Filter {
                tests: vec![
                    (Compare::Gt, tet_query::Number::Float(f64::NEG_INFINITY)),
                    (Compare::Lt, tet_query::Number::Float(f64::INFINITY)),
                ],
                ..Filter::default()
            };
            let ends = self.reduce_all(&ENDS_AND_MEANS[..2], Some(&finite))?;
            let end = |at: usize| ends.get(at).map_or(Number::Null, first);
            (end(0), end(1))
        };
        let (low, high) = (min.to_f64(), max.to_f64());
        if low.is_nan() || high.is_nan() {
            return Ok(None);
        }
        let mut bins = bins(min, max);
        let reduced = loop {
            let params = Params { bins, range: Some((low, high)), ..Params::default() };
            match self.reduce(Op::Histogram, params) {
                Err(tet_query::Error::Histogram { .. }) if bins == 1 => return Ok(None),
                // Nothing has been read yet.
                Err(tet_query::Error::Histogram { .. }) => bins /= 2,
                reduced => break reduced?,
            }
        };
        let Details::Histogram { edges, .. } = &reduced.details else { return Ok(None) };
        let count = |at| count(reduced.values.get(at).map_or(Number::Null, Number::from));
        Ok(Some(BinsShape {
            edges: edges.iter().map(|&edge| Number::F64(edge)).collect(),
            counts: (0..reduced.values.len()).map(count).collect(),
        }))
    }

    /// Several reductions of all values except NaN, in one pass.
    fn reduce_all(&self, ops: &[Op], filter: Option<&Filter>) -> Result<Vec<Reduced>> {
        let Target { slab, .. } = self.target;
        self.next("values");
        let reduction = |&op: &Op| Reduction {
            nan: NanPolicy::Skip,
            filter: filter.cloned(),
            ..Reduction::all(op)
        };
        let reductions: Vec<Reduction> = ops.iter().map(reduction).collect();
        Ok(self.recorded(self.session.reduce_all(slab, &reductions, self.how)?))
    }

    /// One reduction of all values except NaN; the bar shows its name.
    fn reduce(&self, op: Op, params: Params) -> tet_query::Result<Reduced> {
        let Target { slab, .. } = self.target;
        self.next(op.name());
        let reduction = Reduction { nan: NanPolicy::Skip, params, ..Reduction::all(op) };
        Ok(self.recorded(self.session.reduce(slab, &reduction, self.how)?))
    }

    /// The value of an answer; its integrity is recorded.
    fn recorded<T>(&self, answer: WithIntegrity<T>) -> T {
        let before = self.integrity.get().unwrap_or(answer.integrity);
        self.integrity.set(Some(before.and(answer.integrity)));
        answer.value
    }

    /// The integrity of everything that was read; `None` before the first read.
    pub(super) fn integrity(&self) -> Option<Integrity> {
        self.integrity.get()
    }

    /// Compares the files of the dataset: what was measured is of the state that was opened.
    ///
    /// # Errors
    ///
    /// A file changed.
    pub(super) fn finish(self) -> Result<()> {
        Ok(self.session.finish()?)
    }

    /// Starts the bar of one pass.
    fn next(&self, what: &str) {
        let Target { dataset, slab, .. } = self.target;
        let element_size = dataset.dtype.and_then(DType::size).unwrap_or(1);
        let len = slab.element_count().unwrap_or(u64::MAX).saturating_mul(element_size);
        self.bar.next(format_args!("{} {what}", Escaped(&dataset.name)), len);
    }
}

/// The only value of a result.
fn first(reduced: &Reduced) -> Number {
    reduced.values.get(0).map_or(Number::Null, Number::from)
}

/// A count as an integer.
fn count(number: Number) -> u64 {
    match number {
        Number::Int(count) => u64::try_from(count).unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// The number of bins: [`BINS`], or the number of integers in the range if it is less.
fn bins(min: Number, max: Number) -> u32 {
    match (min, max) {
        (Number::Int(min), Number::Int(max)) => {
            let values = max.saturating_sub(min).saturating_add(1);
            u32::try_from(values).unwrap_or(BINS).clamp(1, BINS)
        }
        (Number::Bool(_), Number::Bool(_)) => 2,
        _ => BINS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_more_bins_than_values() {
        assert_eq!(bins(Number::Int(-1), Number::Int(3)), 5);
        assert_eq!(bins(Number::Int(7), Number::Int(7)), 1);
        assert_eq!(bins(Number::Int(i128::MIN), Number::Int(i128::MAX)), BINS);
        assert_eq!(bins(Number::F32(0.0), Number::F32(1.0)), BINS);
    }
}
