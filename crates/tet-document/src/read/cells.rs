//! Parts of a document about positions and cells: groups, windows, labels, a second dataset.

use tet_query::WindowAlign;

use super::super::keys;
use super::super::origin::{Origin, QueryPart};
use super::super::query::{GroupBy, LabelFilter, Pad, QueryAlign, QueryWindow};
use super::super::tree::Value;
use super::{Cursor, Result, axes};

/// How messages ask for one axis.
const AXIS: &str = "an axis by name or number";

/// Reads the value of `group_by`: axes, or an object that says what they are grouped by.
pub(super) fn group_by(at: &Cursor<'_>, origin: &mut Origin) -> Result<GroupBy> {
    let Value::Table(_) = &at.node.value else {
        return Ok(GroupBy::Axes(axes::some(at, QueryPart::GroupAxis, origin)?));
    };
    let (mut by, mut axes) = (None, None);
    for member in at.members("what is grouped", keys::GROUP)? {
        if member.key == "by" {
            by = Some(member.value.word(&[("labels", ())])?);
        } else if axes.is_some() {
            return Err(member.wrong("\"axis\" and \"axes\" mean the same; give one of them"));
        } else {
            axes = Some(axes::some(&member.value, QueryPart::GroupAxis, origin)?);
        }
    }
    let hint = "write {\"by\": \"labels\", \"axes\": [...]}, or a list of axes for their positions";
    by.ok_or_else(|| at.missing("by").advise(hint))?;
    Ok(GroupBy::Labels(axes.ok_or_else(|| at.missing("axes").advise(hint))?))
}

/// Reads the value of `window`.
pub(super) fn window(at: &Cursor<'_>, origin: &mut Origin) -> Result<QueryWindow> {
    let most = i128::from(QueryWindow::SIZE_MAX);
    let (mut axis, mut size, mut mode) = (None, None, None);
    let (mut step, mut min_count) = (None, None);
    let (mut pad, mut align) = (Pad::None, WindowAlign::Start);
    for member in at.members("a window", keys::WINDOW)? {
        let (value, part) = (&member.value, QueryPart::Member("window", member.key));
        origin.mark(part, &value.node.span, &value.path);
        match member.key {
            "axis" => axis = Some(axes::one(value, AXIS, part, origin)?),
            "size" => size = Some(value.integer(1, most)?),
            "mode" => mode = Some(value.word(keys::MODE)?),
            "step" => step = Some(value.integer(1, most)?),
            "pad" if value.node.value == Value::Integer(0) => pad = Pad::Zero,
            "pad" => pad = value.word(keys::PAD)?,
            "align" => align = value.word(keys::WINDOW_ALIGN)?,
            _ => min_count = Some(value.integer(1, most)?),
        }
    }
    let hint = "a window is written as {\"axis\": \"time\", \"size\": 3, \"mode\": \"bins\"}";
    Ok(QueryWindow {
        axis: axis.ok_or_else(|| at.missing("axis").advise(hint))?,
        size: size.ok_or_else(|| at.missing("size").advise(hint))?,
        mode: mode.ok_or_else(|| at.missing("mode").advise(hint))?,
        step,
        pad,
        align,
        min_count,
    })
}

/// Reads the value of `label_filter`.
pub(super) fn label_filter(at: &Cursor<'_>, origin: &mut Origin) -> Result<LabelFilter> {
    let (mut axis, mut eq) = (None, None);
    for member in at.members("a filter by label", keys::LABEL_FILTER)? {
        let (value, part) = (&member.value, QueryPart::Member("label_filter", member.key));
        origin.mark(part, &value.node.span, &value.path);
        match member.key {
            "axis" => axis = Some(axes::one(value, AXIS, part, origin)?),
            _ => eq = Some(value.text("a label in quotes")?.to_owned()),
        }
    }
    let hint = "a filter by label is written as {\"axis\": \"station\", \"eq\": \"nyc\"}";
    Ok(LabelFilter {
        axis: axis.ok_or_else(|| at.missing("axis").advise(hint))?,
        eq: eq.ok_or_else(|| at.missing("eq").advise(hint))?,
    })
}

/// Reads the value of `align`.
pub(super) fn align(at: &Cursor<'_>, origin: &mut Origin) -> Result<QueryAlign> {
    let (mut with, mut axes) = (None, None);
    for member in at.members("a comparison with another dataset", keys::ALIGN)? {
        let (value, part) = (&member.value, QueryPart::Member("align", member.key));
        origin.mark(part, &value.node.span, &value.path);
        match member.key {
            "with" => with = Some(value.named("a dataset's name")?),
            _ => axes = Some(axes::some(value, QueryPart::AlignAxis, origin)?),
        }
    }
    let hint = "a comparison is written as {\"with\": \"other\", \"axes\": [\"time\", \"lat\"]}";
    Ok(QueryAlign {
        with: with.ok_or_else(|| at.missing("with").advise(hint))?,
        axes: axes.ok_or_else(|| at.missing("axes").advise(hint))?,
    })
}
