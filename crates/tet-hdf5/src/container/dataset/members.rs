//! Members of structures, as parts of their dataset: `rows.t` is the member `t` of the dataset `rows`.

use std::sync::Arc;

use crate::{Class, Datatype, StoredMember};
use tet_codec::MemberStage;
use tet_query::Dataset;

use super::{Stored, no_numbers};
use crate::container::element::{self, Element};

/// Structures within each other.
const DEPTH_MAX: u32 = 8;

/// The members of a dataset of structures, and the members of these; `None` for more than there is `room` for.
pub(super) fn parts(
    stored: &Stored<'_>,
    name: &str,
    members: &[StoredMember],
    room: usize,
) -> Option<Vec<Dataset>> {
    (count(members, 0) <= room).then(|| nested(stored, name, members, 0, 0))
}

/// The number of members, and of members of these.
fn count(members: &[StoredMember], depth: u32) -> usize {
    let each = members.iter().map(|member| match &member.datatype.class {
        Class::Compound(inner) if is_structure(&member.datatype) && depth < DEPTH_MAX => {
            count(inner, depth + 1)
        }
        _ => 1,
    });
    each.fold(0, usize::saturating_add)
}

/// The members of a structure that begins at byte `start` of an element, and the members of these.
fn nested(
    stored: &Stored<'_>,
    name: &str,
    members: &[StoredMember],
    start: u64,
    depth: u32,
) -> Vec<Dataset> {
    let mut parts = Vec::new();
    for member in members {
        let name = format!("{name}.{}", member.name);
        let at = start.saturating_add(member.offset.into());
        match &member.datatype.class {
            Class::Compound(inner) if is_structure(&member.datatype) && depth < DEPTH_MAX => {
                parts.extend(nested(stored, &name, inner, at, depth + 1));
            }
            _ => parts.push(part(stored, name, at, &member.datatype)),
        }
    }
    parts
}

fn is_structure(datatype: &Datatype) -> bool {
    element::element(datatype).is_none()
}

/// A member that begins at byte `at` of an element.
fn part(stored: &Stored<'_>, name: String, at: u64, datatype: &Datatype) -> Dataset {
    let whole = stored.described.datatype.size.into();
    let inside = MemberStage::new(at, datatype.size.into(), whole);
    if let (Some((texts, axes)), Some(_)) = (element::texts(datatype), inside) {
        return stored.texts(name, texts, axes, inside, false).whole;
    }
    if let (Some(element), Some(_)) = (element::element(datatype), inside) {
        return stored.numbers(name, &Element { member: inside, ..element });
    }
    match inside {
        Some(_) => stored.other(name, datatype, inside),
        None => {
            let dtype_name = element::name(datatype);
            let fault = Some(Arc::new(no_numbers(&name, &dtype_name)));
            Dataset { dtype_name, fault, ..stored.other(name, &stored.described.datatype, None) }
        }
    }
}
