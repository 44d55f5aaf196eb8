//! By what positions of an axis are told apart: its labels, or the values of another dataset along it.

use tet_query::{AxisRef, Dataset, LabelLookup, Labels, SelectionFault, find_axis};

use super::super::origin::QueryPart;
use super::{Placing, document};
use crate::error::Result;

/// An axis, and by what its positions are told apart.
pub(super) struct GroupKey {
    pub(super) axis: usize,
    /// The dataset whose values are taken, in place of the labels of the axis.
    pub(super) by: Option<Dataset>,
}

impl Placing<'_> {
    /// An axis by name or number; or the one along which a dataset of this name has a value for each position.
    pub(super) fn key(&self, asked: &AxisRef, part: QueryPart) -> Result<GroupKey> {
        let fault = match find_axis(asked, &self.dataset.dims, self.slab.axes().len()) {
            Ok(axis) => return Ok(GroupKey { axis, by: None }),
            Err(fault) => fault,
        };
        let (AxisRef::Name(name), SelectionFault::NoSuchAxis { .. }) = (asked, &*fault) else {
            return Err(self.query.fault(part, fault));
        };
        match self.catalog.values_along(self.dataset, name) {
            Some((axis, by)) => Ok(GroupKey { axis, by: Some(by) }),
            None if self.catalog.has(name) => {
                let message = format!(
                    "{name:?} is no axis of {:?}, and has no value for each position of one",
                    self.dataset.name
                );
                let hint = "a dataset along one of its axes is wanted, or the axis itself";
                Err(document(self.wrong(part, message).advise(hint)))
            }
            None if self.is_part_of_dates(name) => {
                let message = format!("{name:?} is a part of dates, which are not grouped by");
                let hint = "parts are selected, as time.month=6:8; xarray groups by them: \
                            open_dataset(FILE, engine=\"tet\")[DATASET].groupby(\"time.month\")";
                Err(document(self.wrong(part, message).advise(hint)))
            }
            None => Err(self.query.fault(part, fault)),
        }
    }

    /// Whether a name is that of an axis and a part of dates, as `time.month`.
    fn is_part_of_dates(&self, name: &str) -> bool {
        const PARTS: [&str; 10] = [
            "year",
            "quarter",
            "season",
            "month",
            "week",
            "dayofyear",
            "day",
            "hour",
            "minute",
            "second",
        ];
        let is_axis = |axis: &str| self.dataset.dims.iter().any(|dim| dim == axis);
        name.rsplit_once('.').is_some_and(|(axis, part)| is_axis(axis) && PARTS.contains(&part))
    }

    /// The axis, or the dataset, as messages name it.
    pub(super) fn key_text(&self, key: &GroupKey) -> String {
        match &key.by {
            Some(by) => format!("{:?}", by.name),
            None => self.axis_text(key.axis),
        }
    }

    /// The labels or values by which positions of an axis are grouped; there must be some.
    pub(super) fn labels_of(
        &self,
        key: &GroupKey,
        part: QueryPart,
        hint: &str,
    ) -> Result<Labels<'_>> {
        let extent = self.dataset.shape().get(key.axis).copied().unwrap_or_default();
        let labels = match &key.by {
            Some(by) => by.as_labels(self.how)?,
            None => self.labels.labels(key.axis)?,
        };
        let Some(labels) = labels else {
            let message = match &key.by {
                Some(by) => format!("{:?} has neither texts nor real numbers", by.name),
                None => format!("{} has no labels", self.axis_text(key.axis)),
            };
            return Err(document(self.wrong(part, message).advise(hint)));
        };
        Ok(labels.first(usize::try_from(extent).unwrap_or(usize::MAX)))
    }
}
