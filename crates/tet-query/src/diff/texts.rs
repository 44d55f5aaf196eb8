//! Texts of two datasets, compared.

use tet_format::Integrity;

use super::element_diff::{DiffValue, DifferingElement, ElementDiff};
use super::tally::position_in;
use crate::answer::WithIntegrity;
use crate::budget::Execution;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::selection::Hyperslab;

/// Texts that are read together.
const BLOCK_COUNT: u64 = 1 << 16;

/// Compares the selected texts of two datasets; the selections have one shape.
pub(super) fn diff_texts(
    datasets: [(&Dataset, &Hyperslab); 2],
    how: &Execution,
) -> Result<WithIntegrity<ElementDiff>> {
    let slab = datasets[0].1;
    let count = slab.element_count().unwrap_or(u64::MAX);
    let mut found = ElementDiff { count, ..ElementDiff::default() };
    let mut integrity: Option<Integrity> = None;
    let axis = slab.axes().iter().position(|axis| axis.is_kept());
    let rows = axis.map_or(1, |axis| slab.axes()[axis].count());
    let block = (BLOCK_COUNT / (count / rows.max(1)).max(1)).max(1);
    let mut linear = 0;
    let mut first = 0;
    while first < rows && count > 0 {
        how.progress.check()?;
        let end = rows.min(first.saturating_add(block));
        let [left, right] = datasets.map(|(dataset, slab)| {
            let mut axes = slab.axes().to_vec();
            if let Some(axis) = axes.iter_mut().find(|axis| axis.is_kept()) {
                *axis = axis.part(first..end);
            }
            let part = Hyperslab::new(axes, dataset.shape());
            dataset.read_texts(&part.ok_or_else(|| Error::misfit(dataset))?, how)
        });
        let (left, right) = (left?, right?);
        integrity =
            integrity.into_iter().chain([left.integrity, right.integrity]).reduce(Integrity::and);
        for (left, right) in left.value.iter().zip(&right.value) {
            if left != right {
                found.differing += 1;
                found.first.get_or_insert_with(|| DifferingElement {
                    position: position_in(linear, slab),
                    values: [left, right].map(|text| DiffValue::Text(text.clone())),
                });
            }
            linear += 1;
        }
        first = end;
    }
    Ok(WithIntegrity { value: found, integrity: integrity.unwrap_or(Integrity::Unprotected) })
}
