//! The columns of a table that is written: datasets of one axis and the same length, and the labels of the axis.

use std::ops::Range;

use tet_format::{DType, Integrity, Shape};
use tet_query::{AxisSlice, Dataset, Execution, Hyperslab, LazyArray};

use super::cell::Kinds;
use tet_container::model::attributes::is_scalar;
use tet_container::write::array::Encoding;
use tet_container::write::csv::Quotes;
use tet_container::write::{stream, text};
use tet_container::{Error, Result};

/// The axis of a dataset that has one.
const ONLY_AXIS: usize = 0;
/// Memory of a text, about.
const TEXT_LEN: u64 = 128;
/// Texts that are read at once to learn what they would be read as.
const PROBE_COUNT: u64 = 1 << 12;

/// A column that can be written.
pub(super) struct Column<'c> {
    pub(super) name: String,
    source: ColumnSource<'c>,
}

/// Where the values of a column come from.
enum ColumnSource<'c> {
    Numbers(Box<LazyArray>),
    Texts(&'c Dataset),
    Labels(&'c [String]),
}

/// The values of a column in a band of lines.
pub(super) enum Values<'c> {
    Numbers { dtype: DType, size: usize, bytes: Vec<u8> },
    Texts(Vec<String>),
    Labels(&'c [String]),
}

/// Checks that datasets are columns of a table; returns these, and the number of their rows.
pub(super) fn columns<'c>(
    datasets: &[&'c Dataset],
    encoding: Encoding,
) -> Result<(Vec<Column<'c>>, u64)> {
    let none = Error::NoDatasets { encoding: encoding.name() };
    let first = *datasets.first().ok_or(none)?;
    let row_count = first.shape().first().copied().unwrap_or(0);
    let mut columns = Vec::new();
    for dataset in datasets {
        if !is_column(dataset) || dataset.shape() != [row_count] {
            let odd = if is_column(first) { *dataset } else { first };
            let other = datasets.iter().find(|it| it.name != odd.name).unwrap_or(&first);
            let of = |it: &Dataset| (it.name.clone(), it.shape().to_vec());
            let ((dataset, shape), (other, other_shape)) = (of(odd), of(other));
            let encoding = encoding.name();
            return Err(Error::Columns { encoding, dataset, shape, other, other_shape });
        }
        columns.push(Column::of_dataset(dataset, encoding)?);
    }
    // A dataset with the name of the axis labels it, and is first, where a reader looks for labels.
    let own = datasets.iter().position(|it| it.dims.first() == Some(&it.name));
    if let Some(head) = own.and_then(|own| columns.get_mut(..=own)) {
        head.rotate_right(1);
    }
    let labels = labels(datasets, encoding)?;
    let labels = labels.filter(|it| columns.iter().all(|column| column.name != it.name));
    columns.splice(0..0, labels);
    check_names(columns.iter().map(|column| column.name.as_str()), encoding)?;
    Ok((columns, row_count))
}

/// Whether a dataset has one axis.
pub(super) fn is_column(dataset: &Dataset) -> bool {
    match dataset.shape() {
        [1] => !is_scalar(dataset),
        shape => shape.len() == 1,
    }
}

/// Checks that a line of these names is read as one.
pub(super) fn check_names<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    encoding: Encoding,
) -> Result<()> {
    let is_number = |name: &&str| Kinds::from_field(name.as_bytes()).is_number();
    let odd = names.clone().find(is_number).or_else(|| {
        let first = names.clone().next();
        first.filter(|_| !Kinds::are_names(names.clone().map(str::as_bytes)))
    });
    let Some(odd) = odd else { return Ok(()) };
    Err(Error::ColumnName { encoding: encoding.name(), dataset: odd.to_owned() })
}

/// The labels of the axis of datasets, as a column.
fn labels<'c>(datasets: &[&'c Dataset], encoding: Encoding) -> Result<Option<Column<'c>>> {
    let labeled = datasets.iter().filter_map(|it| Some((*it, it.coords.get(&ONLY_AXIS)?)));
    let mut labeled = labeled.peekable();
    let Some((first, labels)) = labeled.peek().copied() else { return Ok(None) };
    if let Some((other, _)) = labeled.find(|(_, others)| *others != labels) {
        let (dataset, other) = (first.name.clone(), other.name.clone());
        return Err(Error::ColumnLabels { encoding: encoding.name(), dataset, other });
    }
    let name = first.dims.first().cloned().unwrap_or_else(|| "label".to_owned());
    Ok(Some(Column { name, source: ColumnSource::Labels(labels) }))
}

impl<'c> Column<'c> {
    fn of_dataset(dataset: &'c Dataset, encoding: Encoding) -> Result<Column<'c>> {
        let name = dataset.name.clone();
        if dataset.is_text() {
            return Ok(Column { name, source: ColumnSource::Texts(dataset) });
        }
        let lazy = stream::whole(dataset)?;
        let dtype = lazy.dtype();
        if !text::is_known(dtype) {
            return Err(Error::NoDType { dataset: name, dtype, encoding: encoding.name() });
        }
        Ok(Column { name, source: ColumnSource::Numbers(Box::new(lazy)) })
    }

    pub(super) fn array(&self) -> Option<&LazyArray> {
        if let ColumnSource::Numbers(lazy) = &self.source { Some(lazy) } else { None }
    }

    /// Bytes of a value in memory.
    pub(super) fn value_len(&self) -> u64 {
        match &self.source {
            ColumnSource::Numbers(lazy) => lazy.dtype().size().unwrap_or(1),
            ColumnSource::Texts(_) => TEXT_LEN,
            ColumnSource::Labels(_) => 0,
        }
    }

    /// Values of a chunk.
    pub(super) fn chunk_count(&self) -> Option<u64> {
        match &self.source {
            ColumnSource::Numbers(lazy) => lazy.chunk_shape().first().copied(),
            ColumnSource::Texts(dataset) => dataset.grid.chunk_shape().first().copied(),
            ColumnSource::Labels(_) => None,
        }
    }

    /// Reads the values of a band; `add` takes the integrity of texts.
    pub(super) fn read(
        &self,
        rows: Range<u64>,
        execution: &Execution,
        add: &mut dyn FnMut(Integrity),
    ) -> Result<Values<'c>> {
        let memory_budget = execution.memory_budget - execution.memory_budget / 4;
        let how = Execution { memory_budget, ..execution.silent() };
        match &self.source {
            ColumnSource::Numbers(lazy) => {
                let (dtype, mut bytes) = (lazy.dtype(), Vec::new());
                stream::read(lazy, &part(lazy.shape(), &self.name, rows)?, &how, &mut bytes)?;
                execution.progress.advance(bytes.len() as u64)?;
                let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
                Ok(Values::Numbers { dtype, size, bytes })
            }
            ColumnSource::Texts(dataset) => {
                let part = part(dataset.grid.shape(), &self.name, rows)?;
                let answer = dataset.read_texts(&part, &how)?;
                add(dataset.chunks.integrity().and(answer.integrity));
                Ok(Values::Texts(answer.value))
            }
            ColumnSource::Labels(labels) => {
                let [start, stop] =
                    [rows.start, rows.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                Ok(Values::Labels(labels.get(start..stop).unwrap_or_default()))
            }
        }
    }

    /// Which of its texts are between quotes: all where the column would be read as numbers or truths without.
    pub(super) fn quotes(&self, row_count: u64, execution: &Execution) -> Result<Quotes> {
        let mut kinds = Kinds::default();
        let mut add = |texts: &[String]| {
            kinds = texts.iter().map(|it| Kinds::from_field(it.as_bytes())).fold(kinds, Kinds::and);
            kinds.dtype().is_some()
        };
        let is_value = match &self.source {
            ColumnSource::Numbers(_) => false,
            ColumnSource::Labels(labels) => !labels.is_empty() && add(labels),
            ColumnSource::Texts(dataset) => {
                let (mut start, mut is_value) = (0, row_count != 0);
                while start < row_count && is_value {
                    let stop = start.saturating_add(PROBE_COUNT).min(row_count);
                    let part = part(dataset.grid.shape(), &self.name, start..stop)?;
                    is_value = add(&dataset.read_texts(&part, &execution.silent())?.value);
                    start = stop;
                }
                is_value
            }
        };
        Ok(if is_value { Quotes::All } else { Quotes::Needed })
    }

    /// The dataset of a column of texts.
    pub(super) fn texts(&self) -> Option<&'c Dataset> {
        if let ColumnSource::Texts(dataset) = self.source { Some(dataset) } else { None }
    }
}

/// A range of rows.
fn part(shape: &Shape, name: &str, rows: Range<u64>) -> Result<Hyperslab> {
    let axis = Default::default();
    let slice = AxisSlice { start: rows.start, stop: rows.end, step: 1, axis };
    let misfit = || tet_query::Error::Misfit { dataset: name.to_owned(), shape: shape.clone() };
    Ok(Hyperslab::new(vec![slice], shape).ok_or_else(misfit)?)
}
