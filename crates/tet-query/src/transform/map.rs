//! Every element by itself: computed from the statistics of its cell, or replaced.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tet_format::DType;

use super::Method;
use super::compute::{self, Narrow, Params, Wide};
use super::number::{self, FromExact, ToNumber};
use super::statistics::{BLOCK, Statistics, Walk};
use crate::budget::Execution;
use crate::buffer;
use crate::element::{Element, dispatch};
use crate::error::{Error, Result};
use crate::fetch;
use crate::kernel::{Numeric, Test, Tester};
use crate::reduction::{Filter, Number};
use crate::selection::Hyperslab;

/// Formula for an element `x` and the numbers of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// `(x - shift) / scale`.
    Linear,
    /// `exp(x - shift) / scale`.
    Exp,
    /// `ln(1 + x)`.
    Log1p,
    /// The square root.
    Sqrt,
}

impl Formula {
    /// The formula of a method.
    pub(crate) const fn for_method(method: Method) -> Formula {
        match method {
            Method::Softmax => Formula::Exp,
            Method::Log1p => Formula::Log1p,
            Method::Sqrt => Formula::Sqrt,
            _ => Formula::Linear,
        }
    }
}

/// Operation on every element.
#[derive(Debug)]
pub(crate) struct Map {
    filter: Option<Test>,
    what: What,
    from: DType,
    to: DType,
}

#[derive(Debug)]
enum What {
    /// Elements that fail the filter become this, the others stay.
    Replace(Number),
    /// Elements that fail the filter become NaN, the others what is computed.
    Compute(Formula, Statistics),
    /// Elements of the dataset of this name become the same numbers of another type.
    Convert(String),
}

impl Map {
    /// Replaces what fails a filter.
    pub(crate) fn replacing(filter: Filter, nothing: Number, dtype: DType) -> Map {
        let filter = Some(Test::Filter(filter));
        Map { filter, what: What::Replace(nothing), from: dtype, to: dtype }
    }

    /// Computes a formula; floats keep their type, others become float64.
    pub(crate) fn computing(
        filter: Option<Filter>,
        formula: Formula,
        statistics: Statistics,
        from: DType,
    ) -> Map {
        let to = if from.is_float() { from } else { DType::Float64 };
        let filter = filter.map(Test::Filter);
        Map { filter, what: What::Compute(formula, statistics), from, to }
    }

    /// A map that converts numbers to another type.
    pub(crate) fn converting(dataset: String, from: DType, to: DType) -> Map {
        Map { filter: None, what: What::Convert(dataset), from, to }
    }

    /// Computes in float64.
    pub(crate) fn in_float64(self) -> Map {
        Map { to: DType::Float64, ..self }
    }

    /// Whether elements of this type are numbers that can be mapped.
    pub(crate) fn is_number(dtype: DType) -> bool {
        dispatch!(dtype, T => T::DTYPE).is_some()
    }

    /// The type of the elements that come out.
    pub(crate) const fn to(&self) -> DType {
        self.to
    }

    /// Maps the elements of a part of the array from `from` to `out`; from `out` itself when there
    /// is no `from`. Gives how many would have been divided by zero.
    pub(crate) fn run(
        &self,
        part: &Hyperslab,
        from: Option<&[u8]>,
        out: &mut [u8],
        how: &Execution,
    ) -> Result<u64> {
        let ran = dispatch!(self.from, T => match &self.what {
            What::Replace(nothing) => {
                self.replace::<T>(T::from_number(*nothing), cast_mut(out), how).map(|()| 0)
            }
            What::Compute(formula, statistics) => {
                let job = MapKernel { map: self, formula: *formula, statistics, part, how };
                let from = from.map(cast::<T>);
                if self.to == DType::Float64 {
                    job.run::<T, f64>(from, cast_mut(out))
                } else {
                    job.run::<T, <T as Wide>::Float>(from, cast_mut(out))
                }
            }
            What::Convert(dataset) => {
                let lost = self.convert::<T>(from.map(cast), out, how)?;
                match lost {
                    Some((at, number)) => {
                        let (dataset, at) = (dataset.clone(), part.place(at as u64));
                        let value = number.to_string();
                        Err(Error::Inexact { dataset, at, value, dtype: self.to })
                    }
                    None => Ok(0),
                }
            }
        });
        ran.unwrap_or(Ok(0))
    }

    fn replace<T: Numeric>(&self, nothing: T, out: &mut [T], how: &Execution) -> Result<()> {
        let Some(test) = &self.filter else { return Ok(()) };
        let tester = Tester::<T>::new(test);
        in_tasks(out, how, &|_, out| {
            for element in out {
                *element = if tester.passes(*element) { *element } else { nothing };
            }
        })
    }

    /// Converts all elements; gives the first that the other type does not have.
    fn convert<T: ToNumber>(
        &self,
        from: Option<&[T]>,
        out: &mut [u8],
        how: &Execution,
    ) -> Result<Option<(usize, Number)>> {
        let lost = dispatch!(self.to, O => convert_all::<T, O>(from, cast_mut(out), how)?);
        let is_other = |byte: &u8| self.to == DType::Bool && 1 < *byte;
        let other = || out.iter().position(is_other).map(|at| (at, Number::Int(out[at].into())));
        Ok(lost.flatten().or_else(other))
    }
}

/// Converts elements, from `out` itself when there is no `from`; gives the first that the other type does not have.
fn convert_all<T: ToNumber, O: FromExact>(
    from: Option<&[T]>,
    out: &mut [O],
    how: &Execution,
) -> Result<Option<(usize, Number)>> {
    let lost = Mutex::new(None);
    in_tasks(out, how, &|start, out| {
        let mut room = [T::zeroed(); BLOCK];
        for (nth, out) in out.chunks_mut(BLOCK).enumerate() {
            let at = start + nth * BLOCK;
            let elements = of_block(from, at, out, &mut room);
            let Some(first) = number::convert(elements, out) else { continue };
            let found = (at + first, elements[first].number());
            let mut lost = lost.lock().unwrap_or_else(PoisonError::into_inner);
            *lost = lost.filter(|(other, _)| *other < found.0).or(Some(found));
            return;
        }
    })?;
    Ok(lost.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A computation whose types are known.
struct MapKernel<'a> {
    map: &'a Map,
    formula: Formula,
    statistics: &'a Statistics,
    part: &'a Hyperslab,
    how: &'a Execution,
}

impl MapKernel<'_> {
    fn run<T: Wide, O: Narrow>(&self, from: Option<&[T]>, out: &mut [O]) -> Result<u64> {
        let zero_count = AtomicU64::new(0);
        let tester = self.map.filter.as_ref().map(Tester::<T>::new);
        let loops = self.statistics.loops(self.part)?;
        in_tasks(out, self.how, &|start, out| {
            let mut walk = loops.walk(start);
            let mut room = [T::zeroed(); BLOCK];
            let mut zeros = 0;
            let block_len = self.how.tuning.map_block.min(BLOCK);
            for (nth, out) in out.chunks_mut(block_len).enumerate() {
                let at = start + nth * block_len;
                let elements = of_block(from, at, out, &mut room);
                zeros += self.block(elements, out, &mut walk, tester.as_ref());
            }
            zero_count.fetch_add(zeros, Ordering::Relaxed);
        })?;
        Ok(zero_count.into_inner())
    }

    /// Maps at most [`BLOCK`] elements.
    fn block<T: Wide, O: Narrow>(
        &self,
        elements: &[T],
        out: &mut [O],
        walk: &mut Walk<'_>,
        tester: Option<&Tester<T>>,
    ) -> u64 {
        let mut zeros = 0;
        match self.formula {
            Formula::Log1p => compute::log1p(elements, out),
            Formula::Sqrt => compute::sqrt(elements, out),
            Formula::Linear | Formula::Exp => {
                let params = walk.params(elements.len(), self.statistics);
                if self.formula == Formula::Linear {
                    compute::linear(elements, params, out);
                } else {
                    compute::exp(elements, params, out);
                }
                if self.statistics.has_zero() {
                    zeros = count_zeros(elements, params, tester);
                }
            }
        }
        if let Some(tester) = tester {
            for (out, &element) in out.iter_mut().zip(elements) {
                *out = if tester.passes(element) { *out } else { O::NAN };
            }
        }
        zeros
    }
}

/// The elements that a block of `out` is made of: those of `from`, or those that are in `out` itself.
fn of_block<'r, T: Element, O: Element>(
    from: Option<&'r [T]>,
    at: usize,
    out: &[O],
    room: &'r mut [T; BLOCK],
) -> &'r [T] {
    if let Some(from) = from {
        return &from[at..at + out.len()];
    }
    let room = &mut room[..out.len()];
    room.copy_from_slice(cast(bytemuck::cast_slice(out)));
    room
}

/// How many numbers that count would be divided by zero.
fn count_zeros<T: Wide>(elements: &[T], params: Params<'_>, tester: Option<&Tester<T>>) -> u64 {
    let counts = |(at, &element): (usize, &T)| {
        params.scale(at) == 0.0
            && !element.wide().is_nan()
            && tester.is_none_or(|tester| tester.passes(element))
    };
    elements.iter().enumerate().filter(|&it| counts(it)).count() as u64
}

/// Works on pieces of the output, each with its place, on as many threads as there are.
fn in_tasks<O: Element>(
    out: &mut [O],
    how: &Execution,
    work: &(dyn Fn(usize, &mut [O]) + Sync),
) -> Result<()> {
    let tasks: Vec<_> =
        out.chunks_mut(how.tuning.map_elements).map(|piece| Mutex::new(Some(piece))).collect();
    let workers = how.workers(0)?;
    fetch::run(
        workers,
        u64::MAX,
        tasks.len() as u64,
        how,
        || (),
        |(), index| {
            let at = buffer::len(index)?;
            let piece = tasks.get(at);
            let piece = piece.and_then(|it| it.lock().unwrap_or_else(|p| p.into_inner()).take());
            if let Some(piece) = piece {
                work(at * how.tuning.map_elements, piece);
            }
            // The reading has been reported.
            Ok(0)
        },
    )
}

fn cast<T: Element>(bytes: &[u8]) -> &[T] {
    bytemuck::try_cast_slice(bytes).expect("the array aligns what it brings")
}

fn cast_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    bytemuck::try_cast_slice_mut(bytes).expect("the array aligns what it brings")
}
