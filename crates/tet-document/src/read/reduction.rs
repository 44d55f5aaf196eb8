//! A reduction or a transform: `true`, `[]`, an axis, a list of axes, or an object.

use tet_query::{AxisRef, Method, Op, Params};

use super::super::keys;
use super::super::origin::{Origin, QueryPart};
use super::super::query::{QueryReduction, QueryTransform};
use super::super::tree::Value;
use super::cursor::Member;
use super::{Cursor, Result, axes};

/// Forms of the axes, for messages.
const AXES: &str = "an axis, a list of axes, or `true` for all";

/// Reads the value of a reduction key.
pub(super) fn read(at: &Cursor<'_>, op: Op, origin: &mut Origin) -> Result<QueryReduction> {
    let mut params = Params::for_op(op);
    let axes = match &at.node.value {
        Value::Bool(true) => Vec::new(),
        Value::Table(_) => object(at, op, &mut params, origin)?,
        _ => axes::list(at, AXES, QueryPart::Axis, origin)?,
    };
    if op == Op::Quantile && params.q.is_empty() {
        return Err(at.missing("q").advise("write {\"q\": 0.95}, or \"median\""));
    }
    Ok(QueryReduction { op, axes, params })
}

/// Reads the value of `transform`.
pub(super) fn transform(at: &Cursor<'_>, origin: &mut Origin) -> Result<QueryTransform> {
    let (mut method, mut axes) = (None, None);
    for member in at.members("a transform", keys::TRANSFORM)? {
        match member.key {
            "method" => method = Some(method_of(&member.value)?),
            _ => over(&member, &mut axes, origin)?,
        }
    }
    let method = method.ok_or_else(|| {
        at.missing("method").advise("write what is computed, such as {\"method\": \"zscore\"}")
    })?;
    Ok(QueryTransform { method, axes: axes.unwrap_or_default() })
}

fn method_of(at: &Cursor<'_>) -> Result<Method> {
    let words: Vec<(&'static str, Method)> =
        Method::ALL.iter().map(|&method| (method.name(), method)).collect();
    at.word(&words)
}

/// An object that holds the axes and the numbers of the operation.
fn object(
    at: &Cursor<'_>,
    op: Op,
    params: &mut Params,
    origin: &mut Origin,
) -> Result<Vec<AxisRef>> {
    let mut axes = None;
    let (mut min, mut max) = (None, None);
    let members = at.members("a reduction", keys::of_op(op))?;
    if members.is_empty() && op != Op::Quantile {
        return Err(at
            .wrong("\"axis\" or \"axes\" is missing")
            .advise("write `true` for all axes"));
    }
    for member in &members {
        let value = &member.value;
        origin.mark(QueryPart::Param(member.key), &value.node.span, &value.path);
        match member.key {
            "ddof" => params.ddof = ddof(value, op)?,
            "q" => quantiles(value, params)?,
            "bins" => params.bins = value.integer(1, Params::BINS_MAX.into())?,
            "min" => min = Some(value.finite()?),
            "max" => max = Some(value.finite()?),
            "fill" => params.fill = Some(value.number()?),
            _ => over(member, &mut axes, origin)?,
        }
    }
    params.range = match (min, max) {
        (Some(min), Some(max)) if max < min => {
            return Err(at.wrong(format!("\"min\" is {min}, which is above \"max\", {max}")));
        }
        (Some(min), Some(max)) => Some((min, max)),
        (None, None) => None,
        (min, _) => {
            let (given, missing) = if min.is_some() { ("min", "max") } else { ("max", "min") };
            let message = format!("{given:?} needs {missing:?} too");
            return Err(at
                .wrong(message)
                .advise("give both, or none for the range of the elements"));
        }
    };
    Ok(axes.unwrap_or_default())
}

/// Delta degrees of freedom, subtracted from the count; 0 is the default and allowed in every
/// reduction.
fn ddof(at: &Cursor<'_>, op: Op) -> Result<u32> {
    let ddof = at.integer(0, u32::MAX.into())?;
    if ddof == 0 || keys::takes_ddof(op) {
        return Ok(ddof);
    }
    let message = format!("{:?} takes nothing off a count, so its \"ddof\" is 0", op.name());
    Err(at.wrong(message).advise("leave it out; \"var\", \"std\" and \"covariance\" take others"))
}

/// The axes under `axis` or `axes`.
fn over(member: &Member<'_>, axes: &mut Option<Vec<AxisRef>>, origin: &mut Origin) -> Result<()> {
    if axes.is_some() {
        return Err(member.wrong("\"axis\" and \"axes\" mean the same; give one of them"));
    }
    *axes = Some(match member.value.node.value {
        Value::Bool(true) => Vec::new(),
        _ => axes::list(&member.value, AXES, QueryPart::Axis, origin)?,
    });
    Ok(())
}

/// One number from 0 to 1, or a list of them.
fn quantiles(at: &Cursor<'_>, params: &mut Params) -> Result<()> {
    let one = |at: &Cursor<'_>| {
        let q = at.finite()?;
        if (0.0..=1.0).contains(&q) { Ok(q) } else { Err(at.wanted("a number from 0 to 1")) }
    };
    params.one_q = true;
    params.q = match &at.node.value {
        Value::List(items) => {
            if items.is_empty() || Params::Q_MAX < items.len() {
                let (most, found) = (Params::Q_MAX, items.len());
                return Err(at.wrong(format!("1 to {most} numbers are wanted, not {found}")));
            }
            params.one_q = false;
            at.items(items).map(|item| one(&item)).collect::<Result<_>>()?
        }
        _ => vec![one(at)?],
    };
    Ok(())
}
