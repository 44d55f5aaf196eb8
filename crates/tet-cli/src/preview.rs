//! The shown part of an array: a small array whole, the edges of a large one. Only that part is read.

use std::ops::Range;

use tet_query::{Array, Execution, Integrity, Session, WithIntegrity};

use crate::exit::{Failure, Result};
use crate::render::layout::{self, EDGE, Shown};
use crate::render::number::Number;
use crate::target::Target;

/// Bytes of memory for each value while it is laid out: the value, its text, its part of the output.
const VALUE_LEN: u64 = 96;

/// The shown values of a selection, and their axes.
#[derive(Debug)]
pub(crate) struct Preview {
    shape: Vec<u64>,
    axes: Vec<Shown>,
    values: Vec<Number>,
}

/// An array that is read in parts.
pub(crate) trait Parts {
    /// The extents.
    fn shape(&self) -> Vec<u64>;

    /// Reads these positions of each axis.
    ///
    /// # Errors
    ///
    /// A chunk cannot be read.
    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Array>;

    /// The integer that stands for a missing time, where elements are times.
    fn masked(&self) -> Option<i64>;
}

/// The selected values of a dataset.
struct Selected<'a> {
    session: Session<'a>,
    integrity: Option<Integrity>,
    target: &'a Target<'a>,
    how: &'a Execution,
}

impl Parts for Selected<'_> {
    fn shape(&self) -> Vec<u64> {
        self.target.slab.kept_shape().to_vec()
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Array> {
        let slab = self.target.slab.part(ranges);
        let WithIntegrity { value, integrity } = self.session.read(&slab, self.how)?;
        self.integrity = self.integrity.into_iter().chain([integrity]).reduce(Integrity::and);
        Ok(value)
    }

    fn masked(&self) -> Option<i64> {
        self.target.dataset.masked_integer()
    }
}

impl Preview {
    /// Reads the shown part of the selection; also returns its integrity, if any bytes are read.
    ///
    /// # Errors
    ///
    /// A chunk cannot be read, or the file changed.
    pub(crate) fn read(
        target: &Target<'_>,
        how: &Execution,
        full: bool,
    ) -> Result<(Preview, Option<Integrity>)> {
        let session = target.dataset.session();
        let mut selected = Selected { session, integrity: None, target, how };
        let preview = Preview::new(&mut selected, how, full)?;
        let Selected { session, integrity, .. } = selected;
        session.finish()?;
        Ok((preview, integrity))
    }

    /// Reads the shown part of an array.
    ///
    /// # Errors
    ///
    /// A part cannot be read, or is larger than the memory budget.
    pub(crate) fn new(parts: &mut dyn Parts, how: &Execution, full: bool) -> Result<Preview> {
        let (shape, masked) = (parts.shape(), parts.masked());
        let (axes, values) = shown_part(&shape, full, how, Number::Null, &mut |ranges, put| {
            let array = parts.read(ranges)?;
            (0..array.len()).for_each(|at| put(at, Number::element(&array, at, masked)));
            Ok(())
        })?;
        Ok(Preview { shape, axes, values })
    }

    /// The text, in lines of at most `width` columns.
    #[must_use]
    pub(crate) fn lay_out(&self, width: usize) -> String {
        layout::lay_out(&self.axes, &self.values, width)
    }

    /// The line about values that are not shown; `None` if all are.
    #[must_use]
    pub(crate) fn more_line(&self) -> Option<String> {
        layout::more_line(&self.axes, &self.shape)
    }
}

/// Reads the shown texts of a selection, laid out in lines of at most `width` columns; also returns their
/// integrity, if any bytes are read.
///
/// # Errors
///
/// A text cannot be read, or the file changed.
pub(crate) fn texts(
    target: &Target<'_>,
    how: &Execution,
    full: bool,
    width: usize,
) -> Result<(String, Option<Integrity>)> {
    let shape = target.slab.kept_shape().to_vec();
    let mut integrity: Option<Integrity> = None;
    let none = String::new();
    let (axes, texts) = shown_part(&shape, full, how, none, &mut |ranges, put| {
        let read = target.dataset.read_texts(&target.slab.part(ranges), how)?;
        integrity = integrity.into_iter().chain([read.integrity]).reduce(Integrity::and);
        read.value.into_iter().enumerate().for_each(|(at, text)| put(at, text));
        Ok(())
    })?;
    let mut text = layout::lay_out_texts(&axes, &texts, width);
    if let Some(more) = layout::more_line(&axes, &shape) {
        text = format!("{text}\n{more}");
    }
    Ok((text, integrity))
}

/// Takes the values of one range of each axis, by their numbers in it.
type Put<'a, T> = dyn FnMut(usize, T) + 'a;

/// Reads the values of one range of each axis.
type ReadBlock<'a, T> = dyn FnMut(&[Range<u64>], &mut Put<'_, T>) -> Result<()> + 'a;

/// Reads the shown part of an array of this shape, block by block: the axes, and the values at their places.
fn shown_part<T: Clone>(
    shape: &[u64],
    full: bool,
    how: &Execution,
    none: T,
    read: &mut ReadBlock<'_, T>,
) -> Result<(Vec<Shown>, Vec<T>)> {
    let axes = layout::shown(shape, full);
    let count = axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(axis.count()));
    let fits = |count: &u64| count.saturating_mul(VALUE_LEN) <= how.memory_budget;
    let count = count.filter(fits).and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or_else(too_many)?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| too_many())?;
    values.resize(count, none);
    for block in blocks(&axes, shape) {
        let ranges: Vec<Range<u64>> = block.iter().map(|piece| piece.of.clone()).collect();
        if ranges.iter().any(Range::is_empty) {
            continue;
        }
        let mut cells = Vec::new();
        place(&block, &axes, 0, &mut |cell| cells.push(cell));
        read(&ranges, &mut |at, value| {
            if let Some(place) = cells.get(at).and_then(|&cell| values.get_mut(cell)) {
                *place = value;
            }
        })?;
    }
    Ok((axes, values))
}

/// One range of an axis: its positions, and where they are shown.
#[derive(Debug, Clone)]
struct Piece {
    of: Range<u64>,
    shown_at: u64,
}

/// Every combination of the ranges of the axes.
fn blocks(axes: &[Shown], shape: &[u64]) -> Vec<Vec<Piece>> {
    let mut blocks: Vec<Vec<Piece>> = vec![Vec::new()];
    for (axis, &extent) in axes.iter().zip(shape) {
        let pieces = match axis {
            Shown::All(count) => vec![Piece { of: 0..*count, shown_at: 0 }],
            Shown::Edges => vec![
                Piece { of: 0..EDGE, shown_at: 0 },
                Piece { of: extent - EDGE..extent, shown_at: EDGE },
            ],
        };
        blocks = blocks
            .iter()
            .flat_map(|block| {
                pieces.iter().map(move |piece| {
                    let mut block = block.clone();
                    block.push(piece.clone());
                    block
                })
            })
            .collect();
    }
    blocks
}

/// Calls `cell` with the shown place of every element of a block, row-major.
fn place(block: &[Piece], axes: &[Shown], before: u64, cell: &mut impl FnMut(usize)) {
    let (Some((piece, block)), Some((axis, axes))) = (block.split_first(), axes.split_first())
    else {
        cell(usize::try_from(before).unwrap_or(usize::MAX));
        return;
    };
    for at in 0..piece.of.end - piece.of.start {
        place(block, axes, before * axis.count() + piece.shown_at + at, cell);
    }
}

fn too_many() -> Failure {
    Failure::new(crate::exit::Exit::Limit, "limit", "too many values to print")
        .hint("save them with -o OUT.csv or OUT.npy, or raise --memory")
}
