//! Words of messages that follow from what they are about.

use std::path::PathBuf;

use tet_format::ForeignFault;

use super::Error;
use crate::Format;

pub(super) fn advice(format: Format) -> &'static str {
    match format {
        Format::EMPTY | Format::UNKNOWN => "",
        _ => ", which this build does not read",
    }
}

/// The fault of a file of another container than `.tet`, for a message.
pub(super) fn broken(fault: &ForeignFault) -> String {
    if fault.rule.is_limit() {
        return format!("beyond a limit: {fault}");
    }
    format!("and damaged: {fault}")
}

pub(super) fn of_member(member: Option<&str>) -> String {
    member.map_or_else(String::new, |name| format!(", member {name:?}"))
}

pub(super) fn folders(roots: &[PathBuf]) -> String {
    if roots.is_empty() {
        return "no folder is".to_owned();
    }
    roots.iter().map(|root| tet_io::shown(root)).collect::<Vec<_>>().join(", ")
}

/// The axes that there are, after the one that is not.
pub(super) fn axes_of(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(": the axes are {}", known.join(", ")) }
}

/// The level of a codec, if there is one.
pub(super) fn of_level(level: Option<i32>) -> String {
    level.map(|level| format!(" at level {level}")).unwrap_or_default()
}

/// Members of an archive that are shown.
const MEMBERS_SHOWN: usize = 8;

/// The first members of an archive: those that can be opened once they are unpacked, or else any.
pub(super) fn members_of(members: &[String], readable: &[String]) -> String {
    let (verb, names) = match readable.is_empty() {
        true => ("it has ", members),
        false => ("unpack it, then open ", readable),
    };
    let shown: Vec<String> = names.iter().take(MEMBERS_SHOWN).map(|it| format!("{it:?}")).collect();
    let more = if shown.len() < names.len() { ", ..." } else { "" };
    if shown.is_empty() { String::new() } else { format!(": {verb}{}{more}", shown.join(", ")) }
}

/// The errors of several datasets, one after the other.
pub(super) fn listed(faults: &[Error]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
