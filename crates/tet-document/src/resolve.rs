//! A query and a catalog -> the dataset, the hyperslab and what is computed from it.

mod axes;
mod cells;
mod keys;

use tet_query::{
    Alignment, Array, AxisPositions, Catalog, CatalogLabels, Choice, Dataset, Execution, Filter,
    Hyperslab, LazyArray, NanPolicy, Op, Params, Reduced, Reduction, Selected, SelectionError,
    SelectionFault, SelectionNote, Transform, WithIntegrity, axis_text, fill_of, find_axis,
};

use super::check;
use super::error::DocumentError;
use super::origin::QueryPart;
use super::query::{Query, QueryAlign, QueryReduction, QueryTransform};
use crate::error::{Error, Result};

/// A query with every name and label looked up.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The catalog that the dataset is one of: where positions are taken one by one, all its datasets have only those.
    pub catalog: Catalog,
    /// The dataset.
    pub dataset: Dataset,
    /// The resolved selection.
    pub slab: Hyperslab,
    /// The positions along each axis of the dataset of the file.
    pub positions: Vec<AxisPositions>,
    /// Assumptions of the selection and of the reduction.
    pub notes: Vec<SelectionNote>,
    /// The computation.
    pub ask: Ask,
}

/// A computation on the selected elements.
#[derive(Clone, Debug)]
pub enum Ask {
    /// The values.
    Values(Choice),
    /// A reduction of them.
    Reduce(Reduction),
    /// Every value transformed.
    Transform(Choice, Transform),
    /// How the axes compare with those of another dataset: nothing is left to be computed.
    Align(Alignment),
}

impl Resolved {
    /// The reduction, if there is one.
    #[must_use]
    pub const fn reduction(&self) -> Option<&Reduction> {
        match &self.ask {
            Ask::Reduce(reduction) => Some(reduction),
            _ => None,
        }
    }
}

/// Result of a query.
#[derive(Clone, Debug)]
pub enum Answered {
    /// An array.
    Array(WithIntegrity<Array>),
    /// The values of a reduction.
    Reduced(WithIntegrity<Reduced>),
    /// How axes compare.
    Alignment(Alignment),
}

impl Resolved {
    /// Computes the answer; an array is held in memory, within the bounds of `how`.
    ///
    /// # Errors
    ///
    /// A touched chunk is damaged, the file changed, or a bound is passed.
    pub fn answer(&self, how: &Execution) -> Result<Answered> {
        let (choice, transform) = match &self.ask {
            Ask::Reduce(reduction) => {
                return Ok(Answered::Reduced(self.dataset.reduce(&self.slab, reduction, how)?));
            }
            Ask::Align(alignment) => return Ok(Answered::Alignment(alignment.clone())),
            Ask::Values(choice) => (choice.clone(), None),
            Ask::Transform(choice, transform) => (choice.clone(), Some(transform.clone())),
        };
        let lazy = LazyArray::new(&self.dataset, &self.slab, choice, transform, how)?;
        let value = lazy.read(&Hyperslab::whole(lazy.shape()), how)?;
        Ok(Answered::Array(WithIntegrity { value, integrity: lazy.integrity() }))
    }
}

impl Query {
    /// Looks up the dataset, the axes, the labels and the fill value in `catalog`; `how` says how
    /// coordinate datasets are read.
    ///
    /// # Errors
    ///
    /// No such dataset, axis or label, a selection out of extent, or parts that do not fit each
    /// other or the dataset; a query that was read from a document points at the place. Labels that
    /// have to be read may fail as any read may.
    pub fn resolve(&self, catalog: &Catalog, how: &Execution) -> Result<Resolved> {
        check::combinations(self).map_err(document)?;
        let dataset = catalog.find(&self.dataset)?;
        let selected = self.selection.select(catalog, dataset, how);
        let selected = selected.map_err(|error| self.placed(error))?;
        let Selected { catalog: view, dataset: taken, slab, labels, mut notes, positions, .. } =
            selected;
        if let Some(align) = &self.align {
            let ask = Ask::Align(self.alignment(align, catalog, how, dataset)?);
            return Ok(Resolved { catalog: view, dataset: taken, slab, positions, notes, ask });
        }
        let (query, dataset) = (self, &taken);
        let place = Placing { query, catalog: &view, dataset, slab: &slab, labels: &labels, how };
        let ask = match (&self.reduction, &self.transform) {
            (Some(reduction), _) => Ask::Reduce(place.reduction(reduction)?),
            (None, Some(transform)) => Ask::Transform(place.choice()?, place.transform(transform)?),
            (None, None) => {
                place.check_replaced()?;
                Ask::Values(place.choice()?)
            }
        };
        if let Ask::Reduce(reduction) = &ask {
            notes.extend(SelectionNote::of_reduction(reduction, &slab, &taken.dims, &labels));
        }
        Ok(Resolved { catalog: view, dataset: taken, slab, positions, notes, ask })
    }

    fn alignment(
        &self,
        align: &QueryAlign,
        catalog: &Catalog,
        how: &Execution,
        dataset: &Dataset,
    ) -> Result<Alignment> {
        let with_part = QueryPart::Member("align", "with");
        let with = catalog.find(&align.with).map_err(|error| {
            if !self.origin.has(with_part) {
                return error.into();
            }
            document(self.origin.wrong(with_part, error.to_string()))
        })?;
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for (nth, asked) in align.axes.iter().enumerate() {
            let part = QueryPart::AlignAxis(nth);
            let find = |of: &Dataset| {
                find_axis(asked, &of.dims, of.shape().len()).map_err(|fault| {
                    let message = format!("{fault} in dataset {:?}", of.name);
                    document(self.origin.wrong(part, message).with_hint(fault.hint()))
                })
            };
            let pair = [find(dataset)?, find(with)?];
            if pairs.iter().any(|before| before[0] == pair[0] || before[1] == pair[1]) {
                let axis = axis_text(pair[0], &dataset.dims);
                return Err(self.fault(part, SelectionFault::AxisTwice { axis }.into()));
            }
            pairs.push(pair);
        }
        Ok(Alignment::compare([(catalog, dataset), (catalog, with)], &pairs, how)?)
    }

    /// A wrong selection as an error at its place in the document, if there is one.
    fn placed(&self, error: tet_query::Error) -> Error {
        let tet_query::Error::Selection(error) = error else { return error.into() };
        let SelectionError { entry, fault } = *error;
        let part = entry.map(QueryPart::Entry).filter(|&part| self.origin.has(part));
        let part = part.unwrap_or(QueryPart::Key("selection"));
        if self.origin.has(part) {
            self.fault(part, fault)
        } else {
            SelectionError { entry, fault }.into()
        }
    }

    /// A fault at the place of a part in the document, or as it is without one.
    fn fault(&self, part: QueryPart, fault: Box<SelectionFault>) -> Error {
        if !self.origin.has(part) {
            return fault.of_all().into();
        }
        document(self.origin.wrong(part, fault.to_string()).with_hint(fault.hint()))
    }
}

/// A query that is brought to a dataset.
struct Placing<'a> {
    query: &'a Query,
    catalog: &'a Catalog,
    dataset: &'a Dataset,
    slab: &'a Hyperslab,
    labels: &'a CatalogLabels,
    how: &'a Execution,
}

impl Placing<'_> {
    fn wrong(&self, part: QueryPart, message: impl Into<String>) -> DocumentError {
        self.query.origin.wrong(part, message)
    }

    fn axis_text(&self, axis: usize) -> String {
        axis_text(axis, &self.dataset.dims)
    }

    fn reduction(&self, asked: &QueryReduction) -> Result<Reduction> {
        if matches!(asked.op, Op::Covariance | Op::Correlation) {
            self.check_matrix(asked)?;
        }
        let picks = self.picks()?;
        let cells = self.cells(&picks)?;
        Ok(Reduction {
            op: asked.op,
            axes: self.folded(asked, &cells)?,
            nan: self.nan(asked.op),
            params: self.params(asked)?,
            filter: self.filter(),
            picks,
            groups: cells.groups,
            window: cells.window,
        })
    }

    /// Treatment of NaN: masked values are skipped, unless the query sets the treatment or asks for them.
    fn nan(&self, op: Op) -> NanPolicy {
        let is_of_two = matches!(op, Op::Covariance | Op::Correlation);
        let is_asked_for = self.query.filter.as_ref().is_some_and(|filter| filter.is_null);
        let usual = if self.dataset.is_masked() && !is_of_two && !is_asked_for {
            NanPolicy::Skip
        } else {
            NanPolicy::Propagate
        };
        self.query.nan.unwrap_or(usual)
    }

    fn transform(&self, asked: &QueryTransform) -> Result<Transform> {
        let nan = self.query.nan.unwrap_or_default();
        Ok(Transform { method: asked.method, axes: self.all_or_some(&asked.axes)?, nan })
    }

    fn choice(&self) -> Result<Choice> {
        Ok(Choice { filter: self.filter(), picks: self.picks()? })
    }

    /// The filter with the fill value, which it treats as null.
    fn filter(&self) -> Option<Filter> {
        let filter = self.query.filter.clone()?;
        Some(Filter { fill: fill_of(self.dataset), ..filter })
    }

    /// The parameters of the operation; without a fill value, that of the dataset is used.
    fn params(&self, asked: &QueryReduction) -> Result<Params> {
        let mut params = asked.params.clone();
        if asked.op == Op::NullCount && params.fill.is_none() {
            params.fill = fill_of(self.dataset);
            if params.fill.is_none() {
                let message = format!("dataset {:?} says no fill value", self.dataset.name);
                let hint = "write {\"fill\": -9999}; \"nan_count\" counts NaN";
                return Err(document(self.wrong(QueryPart::Op, message).advise(hint)));
            }
        }
        Ok(params)
    }

    /// A matrix is made of two axes.
    fn check_matrix(&self, asked: &QueryReduction) -> Result<()> {
        let kept = self.slab.axes().iter().filter(|slice| slice.is_kept()).count();
        let name = asked.op.name();
        if kept != 2 {
            let message = format!("{name:?} takes 2 axes, and the selection leaves {kept}");
            let hint = "select one position of the others, such as {\"index\": 0}";
            return Err(document(self.wrong(QueryPart::Op, message).advise(hint)));
        }
        let axis = self.one_axis(&asked.axes[0], QueryPart::Axis(0))?;
        self.check_kept(axis, QueryPart::Axis(0))
    }

    /// Elements that fail a filter become NaN, or the fill value in an array without NaN.
    fn check_replaced(&self) -> Result<()> {
        let Some(dtype) = self.dataset.dtype.filter(|dtype| !dtype.is_float()) else {
            return Ok(());
        };
        let fill = fill_of(self.dataset);
        if self.query.filter.is_none() || fill.is_some_and(|fill| fill.fits(dtype)) {
            return Ok(());
        }
        let message = format!(
            "elements that fail the filter cannot be shown: {} holds no NaN, and the dataset has \
             no fill value of that type",
            dtype.name()
        );
        let hint = "add a reduction, or give the dataset the attribute \"_FillValue\"";
        Err(document(self.wrong(QueryPart::Key("filter"), message).advise(hint)))
    }
}

/// An error of the document as one of the crate.
fn document(error: DocumentError) -> Error {
    Error::Document(Box::new(error))
}

#[cfg(test)]
mod tests;
