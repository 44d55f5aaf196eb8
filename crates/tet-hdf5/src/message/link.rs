//! Links, and where the links and attributes of an object are that do not fit its header (section IV.A.2.c,
//! IV.A.2.g and IV.A.2.v).

use crate::error::{Result, fault};
use crate::reader::Fields;
use crate::rule;

/// A link of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) name: String,
    /// Its number in the order of making, where that is kept.
    pub(crate) order: Option<u64>,
    pub(crate) target: Target,
    /// Where it is in the file.
    pub(crate) at: u64,
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To the object at an address.
    Object(u64),
    /// To a path.
    Path(String),
    /// To another file.
    Elsewhere,
}

/// Reads a link.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Link> {
    let at = fields.at();
    let version = fields.byte()?;
    if version != 1 {
        return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 1));
    }
    let flags = fields.byte()?;
    let kind = if flags & 8 == 0 { 0 } else { fields.byte()? };
    let order = if flags & 4 == 0 { None } else { Some(fields.uint(8)?) };
    if flags & 16 != 0 {
        fields.take(1)?;
    }
    let len = fields.uint(1 << (flags & 3))?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let name = String::from_utf8_lossy(fields.take(len)?).into_owned();
    let target = match kind {
        0 => {
            let address = fields.address()?;
            Target::Object(address.ok_or_else(|| fault(&rule::LINK, at, u64::MAX, 0))?)
        }
        1 => {
            let len = usize::from(fields.u16()?);
            Target::Path(String::from_utf8_lossy(fields.take(len)?).into_owned())
        }
        _ => Target::Elsewhere,
    };
    Ok(Link { name, order, target, at })
}

/// Links or attributes in a heap, found by a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dense {
    pub(crate) heap: u64,
    pub(crate) names: u64,
}

/// Where links are that are not in the header; `None` where all are.
pub(crate) fn link_info(fields: &mut Fields<'_>) -> Result<Option<Dense>> {
    dense(fields, 8)
}

/// As [`link_info`], for attributes.
pub(crate) fn attribute_info(fields: &mut Fields<'_>) -> Result<Option<Dense>> {
    dense(fields, 2)
}

fn dense(fields: &mut Fields<'_>, order_width: usize) -> Result<Option<Dense>> {
    let at = fields.at();
    let version = fields.byte()?;
    if version != 0 {
        return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 0));
    }
    if fields.byte()? & 1 != 0 {
        fields.take(order_width)?;
    }
    let heap = fields.address()?;
    let names = fields.address()?;
    Ok(heap.zip(names).map(|(heap, names)| Dense { heap, names }))
}
