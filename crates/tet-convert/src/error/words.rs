//! Words of messages that follow from what they are about.

use std::path::{Path, PathBuf};

use tet_format::ForeignFault;

use crate::sniff::Format;

pub(super) fn advice(path: &Path, format: Format) -> String {
    match format {
        Format::Npy | Format::Npz => format!(": convert it first ({})", conversion(path)),
        Format::Empty | Format::Unknown | Format::Tet => String::new(),
        _ => ", which this build does not read".to_owned(),
    }
}

/// What is wrong with a file of another container.
pub(super) fn broken(fault: &ForeignFault) -> String {
    if fault.rule.id != tet_ztensor::rule::OTHER_VERSION.id {
        return format!("and damaged: {fault}");
    }
    let version = if fault.found.to_le_bytes().starts_with(b"ZTEN1") { "1" } else { "2" };
    let rule = fault.rule.id;
    format!("of version {version}, which this build does not read: only 0.1.0 is read [{rule}]")
}

/// The command that makes a `.tet` file of this one, as a shell takes it.
pub(super) fn conversion(path: &Path) -> String {
    let output = path.with_extension("tet");
    format!("tet convert {} {}", word(path), word(&output))
}

/// A path as one word of a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |next: char| next.is_alphanumeric() || "/._-+,:@%=".contains(next);
    let dash = if text.starts_with('-') { "./" } else { "" };
    if !text.is_empty() && text.chars().all(is_plain) {
        return format!("{dash}{text}");
    }
    format!("'{dash}{}'", text.replace('\'', "'\\''"))
}

pub(super) fn of_member(member: Option<&str>) -> String {
    member.map_or_else(String::new, |name| format!(", member {name:?}"))
}

pub(super) fn folders(roots: &[PathBuf]) -> String {
    if roots.is_empty() {
        return "no folder is".to_owned();
    }
    roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ")
}

pub(super) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversion_is_a_command_for_a_shell() {
        for (path, wanted) in [
            ("x.npy", "tet convert x.npy x.tet"),
            ("a/b.c.npz", "tet convert a/b.c.npz a/b.c.tet"),
            ("my run's.npy", "tet convert 'my run'\\''s.npy' 'my run'\\''s.tet'"),
            ("-x.npy", "tet convert ./-x.npy ./-x.tet"),
        ] {
            assert_eq!(conversion(Path::new(path)), wanted);
        }
    }
}
