//! The axes of a reduction: `true`, `[]`, an axis, a list of them, or an object that holds one.

use super::super::keys;
use super::super::query::{Origin, QueryReduction};
use super::super::tree::Value;
use super::{Cursor, Result};
use crate::op::Op;
use crate::selection::{AXES_MAX, AxisRef};

/// Reads the value of a reduction key.
pub(super) fn reduction(at: &Cursor<'_>, op: Op, origin: &mut Origin) -> Result<QueryReduction> {
    let axes = match &at.node.value {
        Value::Bool(true) => Vec::new(),
        Value::Table(entries) => {
            let mut axes = None;
            for entry in entries {
                if !keys::REDUCTION.contains(&entry.key.as_str()) {
                    return Err(at.unknown_key(entry, keys::REDUCTION));
                }
                if axes.is_some() {
                    let message = "\"axis\" and \"axes\" mean the same; give one of them";
                    return Err(at.child(entry).wrong_at(&entry.key_span, message));
                }
                axes = Some(list(&at.child(entry), origin)?);
            }
            axes.ok_or_else(|| at.wrong("\"axis\" or \"axes\" is missing"))?
        }
        _ => list(at, origin)?,
    };
    Ok(QueryReduction::new(op, axes))
}

/// One axis or a list of axes.
fn list(at: &Cursor<'_>, origin: &mut Origin) -> Result<Vec<AxisRef>> {
    let Value::List(items) = &at.node.value else {
        return Ok(vec![one(at, "an axis, a list of axes, or `true` for all", origin)?]);
    };
    if AXES_MAX < items.len() {
        return Err(at.wrong(format!("at most {AXES_MAX} axes are allowed")));
    }
    let cursors = items.iter().enumerate().map(|(place, item)| at.item(place, item));
    cursors.map(|item| one(&item, "an axis by name or number", origin)).collect()
}

fn one(at: &Cursor<'_>, wanted: &str, origin: &mut Origin) -> Result<AxisRef> {
    let axis = match &at.node.value {
        Value::Text(name) => AxisRef::Name(name.clone()),
        Value::Integer(_) => AxisRef::Number(at.integer(i64::MIN.into(), i64::MAX.into())?),
        _ => return Err(at.wanted(wanted)),
    };
    origin.axes.push((at.node.span.clone(), at.path.clone()));
    Ok(axis)
}
