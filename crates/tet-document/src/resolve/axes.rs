//! Axes by name or number -> axes of the dataset.

use tet_query::{Axes, AxisRef, SelectionFault, find_axis};

use super::super::origin::QueryPart;
use super::super::query::QueryReduction;
use super::cells::Cells;
use super::{Placing, document};
use crate::error::Result;

impl Placing<'_> {
    /// The axes that a reduction folds, exactly.
    pub(super) fn folded(&self, asked: &QueryReduction, cells: &Cells) -> Result<Axes> {
        if let Some(window) = &cells.window {
            let mut axes = self.numbered(&asked.axes, QueryPart::Axis)?;
            axes.push(window.axis);
            axes.sort_unstable();
            axes.dedup();
            return Ok(Axes::Some(axes));
        }
        if cells.grouped.is_empty() {
            return self.all_or_some(&asked.axes);
        }
        let mut axes = self.numbered(&asked.axes, QueryPart::Axis)?;
        if let Some(nth) = axes.iter().position(|axis| cells.grouped.contains(axis)) {
            let message = format!(
                "{} cannot be both grouped and reduced: elements of one group are reduced anyway",
                self.axis_text(axes[nth])
            );
            let is_apart = |axis: &usize| cells.grouped.contains(axis) || !axes.contains(axis);
            let dims = &self.dataset.dims;
            let name = |axis: usize| dims.get(axis).cloned().unwrap_or_else(|| axis.to_string());
            let names: Vec<String> = self.kept().filter(is_apart).map(name).collect();
            let hint = match names.len() == cells.grouped.len() {
                true => "leave it out of the axes of the operation".to_owned(),
                false => format!(
                    "to keep the others apart, group by {}, without an axis of the operation",
                    names.join(",")
                ),
            };
            return Err(document(self.wrong(QueryPart::Axis(nth), message).advise(hint)));
        }
        if axes.is_empty() {
            axes.extend(self.kept().filter(|axis| !cells.grouped.contains(axis)));
        }
        axes.sort_unstable();
        Ok(Axes::Some(axes))
    }

    /// The axes of a reduction or a transform without windows and groups.
    ///
    /// All axes that are left after the selection are all axes: the result is one cell, exact where
    /// a whole selection is exact.
    pub(super) fn all_or_some(&self, asked: &[AxisRef]) -> Result<Axes> {
        let mut axes = self.numbered(asked, QueryPart::Axis)?;
        axes.sort_unstable();
        let all = self.kept().all(|axis| axes.contains(&axis));
        Ok(if axes.is_empty() || all { Axes::All } else { Axes::Some(axes) })
    }

    /// The axes that the selection leaves.
    fn kept(&self) -> impl Iterator<Item = usize> {
        let axes = self.slab.axes();
        (0..axes.len()).filter(|&axis| axes[axis].is_kept())
    }

    /// Axes by number, each once, in the order they are listed.
    pub(super) fn numbered(
        &self,
        asked: &[AxisRef],
        part: fn(usize) -> QueryPart,
    ) -> Result<Vec<usize>> {
        let mut axes: Vec<usize> = Vec::with_capacity(asked.len());
        for (nth, name) in asked.iter().enumerate() {
            let axis = self.one_axis(name, part(nth))?;
            if axes.contains(&axis) {
                let axis = self.axis_text(axis);
                let fault = SelectionFault::AxisTwice { axis };
                return Err(self.query.fault(part(nth), fault.into()));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// One axis by number.
    pub(super) fn one_axis(&self, asked: &AxisRef, part: QueryPart) -> Result<usize> {
        let rank = self.slab.axes().len();
        let found = find_axis(asked, &self.dataset.dims, rank);
        found.map_err(|fault| self.query.fault(part, fault.with_dims_of(self.labels)))
    }

    /// An axis that the selection drops has nothing to be cut into.
    pub(super) fn check_kept(&self, axis: usize, part: QueryPart) -> Result<()> {
        if self.slab.axes()[axis].is_kept() {
            return Ok(());
        }
        let message = format!("the selection takes one position of {}", self.axis_text(axis));
        let hint = "select a range of it, or leave it out here";
        Err(document(self.wrong(part, message).advise(hint)))
    }
}
