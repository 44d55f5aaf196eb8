//! Groups, windows and picked positions of a dataset's axes.

use std::collections::HashMap;

use tet_query::{
    AxisGroups, AxisPicks, Labels, Number, SelectionFault, Window, WindowMode, fill_of,
    unknown_label,
};

use super::super::origin::QueryPart;
use super::super::query::{GroupBy, Pad, QueryWindow};
use super::keys::GroupKey;
use super::{Placing, document};
use crate::error::Result;

/// Axes along which a reduction has several cells.
#[derive(Default)]
pub(super) struct Cells {
    /// The axes of `group_by`, whatever they are grouped by.
    pub(super) grouped: Vec<usize>,
    /// Those that are grouped by label.
    pub(super) groups: Vec<AxisGroups>,
    /// The windows.
    pub(super) window: Option<Window>,
}

impl Placing<'_> {
    pub(super) fn cells(&self, picks: &[AxisPicks]) -> Result<Cells> {
        let mut cells = Cells::default();
        if let Some(window) = &self.query.window {
            let window = self.window(window)?;
            if picks.iter().any(|picks| picks.axis == window.axis) {
                let axis = self.axis_text(window.axis);
                let message = format!("{axis} has windows, so positions cannot be picked of it");
                let part = QueryPart::Member("label_filter", "axis");
                return Err(document(self.wrong(part, message).advise("use two queries")));
            }
            cells.window = Some(window);
        }
        let Some(group_by) = &self.query.group_by else { return Ok(cells) };
        for (nth, asked) in group_by.axes().iter().enumerate() {
            let part = QueryPart::GroupAxis(nth);
            let key = self.key(asked, part)?;
            let axis = key.axis;
            if cells.grouped.contains(&axis) {
                let fault = SelectionFault::AxisTwice { axis: self.axis_text(axis) };
                return Err(self.query.fault(part, fault.into()));
            }
            self.check_kept(axis, part)?;
            cells.grouped.push(axis);
            // Values of another dataset are no positions.
            if matches!(group_by, GroupBy::Labels(_)) || key.by.is_some() {
                let picks = picks.iter().find(|picks| picks.axis == axis);
                cells.groups.push(self.groups(&key, part, picks)?);
            }
        }
        Ok(cells)
    }

    /// The selected positions of an axis, grouped by label; those that are not picked have none.
    fn groups(
        &self,
        key: &GroupKey,
        part: QueryPart,
        picks: Option<&AxisPicks>,
    ) -> Result<AxisGroups> {
        let axis = key.axis;
        let slice = self.slab.axes()[axis];
        let labels = self.labels_of(key, part, "group by position with a list of axes")?;
        let mut group_of = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        for nth in 0..slice.count() {
            let position = usize::try_from(slice.start + nth * slice.step).ok();
            let Some(label) = position.and_then(|at| label_text(&labels, at)) else {
                let message = format!(
                    "{} has labels for its first {} positions only",
                    self.axis_text(axis),
                    labels.len()
                );
                return Err(document(self.wrong(part, message)));
            };
            if picks.is_some_and(|picks| picks.positions.binary_search(&nth).is_err()) {
                group_of.push(AxisGroups::NONE);
                continue;
            }
            let next = u32::try_from(names.len()).ok().filter(|&next| next != AxisGroups::NONE);
            let group = match (known.get(&label), next) {
                (Some(&group), _) => group,
                (None, Some(next)) => {
                    names.push(label.clone());
                    known.insert(label, next);
                    next
                }
                (None, None) => AxisGroups::NONE,
            };
            group_of.push(group);
        }
        let by = key.by.as_ref().map(|by| by.name.as_str().into());
        Ok(AxisGroups { axis, group_of: group_of.into(), labels: names.into(), by })
    }

    /// The selected positions that have the label of `label_filter`.
    pub(super) fn picks(&self) -> Result<Vec<AxisPicks>> {
        let Some(filter) = &self.query.label_filter else { return Ok(Vec::new()) };
        let part = |key| QueryPart::Member("label_filter", key);
        let key = self.key(&filter.axis, part("axis"))?;
        let axis = key.axis;
        self.check_kept(axis, part("axis"))?;
        let labels = self.labels_of(&key, part("axis"), "select by position instead")?;
        let equal = labels.all_equal(&filter.eq);
        if equal.is_empty() {
            let extent = self.dataset.shape().get(axis).copied().unwrap_or_default();
            let fault = unknown_label(self.key_text(&key), extent, &filter.eq, &labels);
            return Err(self.query.fault(part("eq"), fault));
        }
        let slice = self.slab.axes()[axis];
        let selected = |position: u64| {
            let inside = slice.start <= position && position < slice.stop;
            let past = position.checked_sub(slice.start).filter(|_| inside)?;
            (past.checked_rem(slice.step)? == 0).then(|| past / slice.step)
        };
        let positions =
            equal.into_iter().filter_map(|at| u64::try_from(at).ok()).filter_map(selected);
        Ok(vec![AxisPicks { axis, positions: positions.collect() }])
    }

    fn window(&self, asked: &QueryWindow) -> Result<Window> {
        let part = QueryPart::Member("window", "axis");
        let axis = self.one_axis(&asked.axis, part)?;
        self.check_kept(axis, part)?;
        let step = match asked.mode {
            WindowMode::Bins => asked.size,
            WindowMode::Rolling => asked.step.unwrap_or(1),
        };
        Ok(Window {
            axis,
            size: asked.size,
            step,
            mode: asked.mode,
            pad: self.pad(asked.pad)?,
            align: asked.align,
            min_count: asked.min_count,
        })
    }

    /// The value that pads, which must be one of the dataset's type.
    fn pad(&self, pad: Pad) -> Result<Option<Number>> {
        let wrong = |message: String, hint: &str| {
            document(self.wrong(QueryPart::Member("window", "pad"), message).advise(hint))
        };
        let dtype = self.dataset.dtype;
        match pad {
            Pad::None => Ok(None),
            Pad::Zero => Ok(Some(Number::Int(0))),
            Pad::Nan => match dtype.filter(|dtype| !dtype.is_float()) {
                None => Ok(Some(Number::Float(f64::NAN))),
                Some(dtype) => {
                    let message = format!("{} holds no NaN to pad with", dtype.name());
                    Err(wrong(message, "write \"0\", \"fill\" or \"none\""))
                }
            },
            Pad::Fill => {
                let name = &self.dataset.name;
                let hint = "write \"0\", or give the dataset the attribute \"_FillValue\"";
                let Some(fill) = fill_of(self.dataset) else {
                    return Err(wrong(format!("dataset {name:?} says no fill value"), hint));
                };
                match dtype.filter(|&dtype| !fill.fits(dtype)) {
                    None => Ok(Some(fill)),
                    Some(dtype) => {
                        let (fill, dtype) = (fill.to_f64(), dtype.name());
                        let message =
                            format!("the fill value {fill} of dataset {name:?} is no {dtype}");
                        Err(wrong(message, hint))
                    }
                }
            }
        }
    }
}

/// The label at a position as the name of a group; zeros are equal whatever their sign.
fn label_text(labels: &Labels<'_>, at: usize) -> Option<String> {
    match labels {
        Labels::Floats { values, .. } if values.get(at) == Some(&0.0) => Some("0".to_owned()),
        _ => labels.text(at),
    }
}
