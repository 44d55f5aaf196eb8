//! Axes: one by name or number, or a list of them.

use tet_query::{AXES_MAX, AxisRef};

use super::super::origin::{Origin, QueryPart};
use super::super::tree::Value;
use super::{Cursor, Result};

/// One axis or a list of axes; `part` says what the one at a position is to the query.
pub(super) fn list(
    at: &Cursor<'_>,
    wanted: &str,
    part: fn(usize) -> QueryPart,
    origin: &mut Origin,
) -> Result<Vec<AxisRef>> {
    let Value::List(items) = &at.node.value else {
        return Ok(vec![one(at, wanted, part(0), origin)?]);
    };
    if AXES_MAX < items.len() {
        return Err(at.wrong(format!("at most {AXES_MAX} axes are allowed")));
    }
    let axis = |(place, item): (usize, Cursor<'_>)| {
        one(&item, "an axis by name or number", part(place), origin)
    };
    at.items(items).enumerate().map(axis).collect()
}

/// One axis or a list of at least one.
pub(super) fn some(
    at: &Cursor<'_>,
    part: fn(usize) -> QueryPart,
    origin: &mut Origin,
) -> Result<Vec<AxisRef>> {
    let axes = list(at, "an axis or a list of axes", part, origin)?;
    if axes.is_empty() { Err(at.wrong("at least one axis is wanted")) } else { Ok(axes) }
}

/// One axis.
pub(super) fn one(
    at: &Cursor<'_>,
    wanted: &str,
    part: QueryPart,
    origin: &mut Origin,
) -> Result<AxisRef> {
    let axis = match &at.node.value {
        Value::Text(name) => AxisRef::Name(name.clone()),
        Value::Integer(_) => AxisRef::Number(at.integer(i64::MIN.into(), i64::MAX.into())?),
        _ => return Err(at.wanted(wanted)),
    };
    origin.mark(part, &at.node.span, &at.path);
    Ok(axis)
}
