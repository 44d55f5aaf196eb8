//! The shown part of an array: a small array whole, the edges of a large one. Only that part is read.

use std::ops::Range;

use tet_query::{Answer, Array, Execution, Integrity, Session};

use crate::exit::{Failure, Result};
use crate::part;
use crate::render::layout::{self, EDGE, Shown};
use crate::render::number::Number;
use crate::target::Target;

/// Bytes of memory for each value while it is laid out: the value, its text, its part of the output.
const VALUE_LEN: u64 = 96;

/// The shown values of a selection, and their axes.
#[derive(Debug)]
pub(crate) struct Preview {
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
}

/// The selected values of a dataset.
struct Selected<'a> {
    session: Session,
    integrity: Option<Integrity>,
    target: &'a Target<'a>,
    how: &'a Execution,
}

impl Parts for Selected<'_> {
    fn shape(&self) -> Vec<u64> {
        self.target.slab.kept_shape().to_vec()
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Array> {
        let slab = part::part(&self.target.slab, self.target.dataset.shape(), ranges);
        let slab = slab.ok_or_else(too_many)?;
        let Answer { value, integrity } = self.session.read(&slab, self.how)?;
        self.integrity = self.integrity.into_iter().chain([integrity]).reduce(Integrity::and);
        Ok(value)
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
        let preview = Preview::of(&mut selected, how, full)?;
        let Selected { session, integrity, .. } = selected;
        session.finish()?;
        Ok((preview, integrity))
    }

    /// Reads the shown part of an array.
    ///
    /// # Errors
    ///
    /// A part cannot be read, or is larger than the memory budget.
    pub(crate) fn of(parts: &mut dyn Parts, how: &Execution, full: bool) -> Result<Preview> {
        let shape = parts.shape();
        let axes = layout::shown(&shape, full);
        let count = axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(axis.count()));
        let fits = |count: &u64| count.saturating_mul(VALUE_LEN) <= how.memory_budget;
        let count = count.filter(fits).and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(too_many)?;
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| too_many())?;
        values.resize(count, Number::Null);
        for block in blocks(&axes, &shape) {
            let ranges: Vec<Range<u64>> = block.iter().map(|piece| piece.of.clone()).collect();
            if ranges.iter().any(Range::is_empty) {
                continue;
            }
            let array = parts.read(&ranges)?;
            let mut at = 0;
            place(&block, &axes, 0, &mut |cell| {
                if let (Some(value), Some(cell)) = (array.get(at), values.get_mut(cell)) {
                    *cell = value.into();
                }
                at += 1;
            });
        }
        Ok(Preview { axes, values })
    }

    /// The text, in lines of at most `width` columns.
    #[must_use]
    pub(crate) fn lay_out(&self, width: usize) -> String {
        layout::lay_out(&self.axes, &self.values, width)
    }
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
