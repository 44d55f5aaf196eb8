//! The elements of a picture: an array that is read block by block, or values in memory, as float64.

use tet_format::DType;
use tet_query::{Array, Cells, Execution, LazyArray, Scalar, Values};

use crate::bins::{BinFold, Bins};
use crate::error::{Error, Result};
use crate::field::{FieldFold, PlotField};
use crate::scale::Extremes;
use crate::series::{Series, SeriesFold};

/// Bytes of a block, where the memory budget allows it.
const BLOCK_LEN: u64 = 16 << 20;
/// Elements that are converted at once.
const RUN_LEN: usize = 1 << 12;

/// Elements of a picture, in row-major order. No more than a part of them is in memory.
///
/// ```
/// use tet_plot::PlotSource;
/// use tet_query::{Cells, Execution, Values};
///
/// let values = Values::new(Cells::Int(vec![1, 2, 3, 6]));
/// let field = PlotSource::Values(&values).field([2, 2], [1, 2], &Execution::default())?;
/// assert_eq!(field.values, [2.0, 4.0]);
/// # Ok::<(), tet_plot::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum PlotSource<'a> {
    /// An array in a file.
    Lazy(&'a LazyArray),
    /// The values of a reduction; a value that is null is drawn as NaN.
    Values(&'a Values),
}

impl PlotSource<'_> {
    /// A matrix of these extents, rows first, in at most `cells_max` cells.
    ///
    /// # Errors
    ///
    /// An element cannot be read, or is no real number.
    pub fn field(
        &self,
        extents: [u64; 2],
        cells_max: [usize; 2],
        how: &Execution,
    ) -> Result<PlotField> {
        let mut fold = FieldFold::new(extents, cells_max);
        self.for_each(how, &mut |run| fold.extend(run))?;
        Ok(fold.finish())
    }

    /// The elements in the middle of the cells of [`PlotSource::field`].
    ///
    /// # Errors
    ///
    /// An element cannot be read, or is no real number.
    pub fn samples(
        &self,
        extents: [u64; 2],
        cells_max: [usize; 2],
        how: &Execution,
    ) -> Result<PlotField> {
        let mut fold = FieldFold::sampling(extents, cells_max);
        self.for_each(how, &mut |run| fold.extend(run))?;
        Ok(fold.finish())
    }

    /// A line in at most `columns_max` columns.
    ///
    /// # Errors
    ///
    /// An element cannot be read, or is no real number.
    pub fn series(&self, len: u64, columns_max: usize, how: &Execution) -> Result<Series> {
        let mut fold = SeriesFold::new(len, columns_max);
        self.for_each(how, &mut |run| fold.extend(run))?;
        Ok(fold.finish())
    }

    /// A histogram; elements are read twice if no range is given.
    ///
    /// # Errors
    ///
    /// An element cannot be read or is no real number, or the range has no room for as many bins.
    pub fn bins(&self, range: Option<(f64, f64)>, bins: usize, how: &Execution) -> Result<Bins> {
        let (low, high) = match range {
            Some(range) => range,
            None => {
                let mut found = Extremes::default();
                self.for_each(how, &mut |run| found.extend(run))?;
                Bins::range_of(&found)
            }
        };
        let mut fold = BinFold::new(low, high, bins)?;
        self.for_each(how, &mut |run| fold.extend(run))?;
        Ok(fold.finish())
    }

    /// Calls `visit` with all elements in order, some at a time.
    fn for_each(&self, how: &Execution, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
        match self {
            PlotSource::Lazy(lazy) => each_of_lazy(lazy, how, visit),
            PlotSource::Values(values) => each_of_values(values, visit),
        }
    }
}

fn each_of_lazy(lazy: &LazyArray, how: &Execution, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
    check(lazy.dtype())?;
    let size = lazy.dtype().size().unwrap_or(1);
    let count = lazy.shape().element_count().unwrap_or(u64::MAX);
    let how = &how.begin(count.saturating_mul(size));
    // Blocks are parts, and a seal is of the whole.
    lazy.check_seal(how)?;
    let room = how.memory_budget / 4;
    let of_rest = Execution { memory_budget: how.memory_budget - room, ..how.silent() };
    let Some(blocks) = lazy.blocks(BLOCK_LEN, room) else {
        return Err(tet_query::Error::Budget { wanted: 64, budget: how.memory_budget }.into());
    };
    for block in blocks {
        let array = lazy.read(&block, &of_rest)?;
        each_of_array(&array, visit);
        how.progress.advance(array.bytes().len() as u64).map_err(tet_query::Error::from)?;
    }
    Ok(())
}

fn each_of_values(values: &Values, visit: &mut dyn FnMut(&[f64])) -> Result<()> {
    if let Cells::Element(array) = &values.cells {
        check(array.dtype())?;
    }
    let number = |at: usize| values.get(at).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
    in_runs((0..values.len()).map(number), visit);
    Ok(())
}

/// Whether elements of a dtype are real numbers.
fn check(dtype: DType) -> Result<()> {
    let is_real = dtype.is_integer()
        || matches!(
            dtype,
            DType::Bool | DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64
        );
    if is_real { Ok(()) } else { Err(Error::NotReal { dtype: dtype.name() }) }
}

#[allow(clippy::cast_precision_loss, reason = "a picture is coarser than a float64")]
fn each_of_array(array: &Array, visit: &mut dyn FnMut(&[f64])) {
    macro_rules! typed {
        ($($T:ty => $to:expr),* $(,)?) => {
            $(if let Some(values) = array.as_slice::<$T>() {
                return in_runs(values.iter().map(|&value| $to(value)), visit);
            })*
        };
    }
    // Truth values are read as bytes, of which any but zero is true.
    if array.dtype() == DType::Bool {
        let truths = array.bytes().iter().map(|&byte| f64::from(u8::from(byte != 0)));
        return in_runs(truths, visit);
    }
    typed!(
        f32 => f64::from, f64 => f64::from, u8 => f64::from, i8 => f64::from, u16 => f64::from,
        i16 => f64::from, u32 => f64::from, i32 => f64::from,
        u64 => |value| value as f64, i64 => |value| value as f64,
    );
    let number = |at: usize| array.get(at).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
    in_runs((0..array.len()).map(number), visit);
}

fn in_runs(values: impl Iterator<Item = f64>, visit: &mut dyn FnMut(&[f64])) {
    let mut run = Vec::with_capacity(RUN_LEN);
    for value in values {
        run.push(value);
        if run.len() == RUN_LEN {
            visit(&run);
            run.clear();
        }
    }
    visit(&run);
}
