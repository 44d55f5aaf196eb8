//! Counts of what names and documentation still lack. A count may fall and not rise; its bound here
//! falls with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Findings;

/// Public types whose name another public type of the workspace has too.
const SHARED_NAMES: usize = 113;
/// Public types without an example in their documentation, but for the customary ones: an example asserts or shows a
/// result, and none is better than one that does neither.
const NO_EXAMPLE: usize = 555;

/// Files outside of the containers' folder that name a container: others compare by the table alone, and a
/// new container touches none of them.
const CONTAINER_NAMES: usize = 5;

/// Names that a type of every crate has, by custom.
const CUSTOMARY: [&str; 3] = ["Error", "Result", "ReadmeDoctests"];

/// Counts, and compares with the bounds.
pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    let (mut bare, mut naming) = (0, 0);
    for path in files {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let is_source = name.starts_with("crates/") && name.contains("/src/");
        if is_source && name.ends_with(".rs") {
            let source = std::fs::read_to_string(path)?;
            naming += usize::from(!is_of_container(&name) && names_container(&source));
            for (of, has_example) in public_types(&source) {
                bare += usize::from(!has_example && !CUSTOMARY.contains(&of.as_str()));
                *types.entry(of).or_default() += 1;
            }
        }
    }
    let shared =
        types.iter().filter(|(name, count)| 1 < **count && !CUSTOMARY.contains(&name.as_str()));
    let shared = shared.map(|(_, count)| count).sum();
    let counts = [
        ("public types share a name", shared, SHARED_NAMES),
        ("public types have no example", bare, NO_EXAMPLE),
        ("files name a container", naming, CONTAINER_NAMES),
    ];
    for (kind, count, bound) in counts {
        findings.ratchet(kind, count, bound);
    }
    Ok(())
}

/// Whether a file is of a container: in a family crate, or in the folder of one.
fn is_of_container(name: &str) -> bool {
    name.starts_with("crates/containers/")
        || name.contains("/container/")
        || name.ends_with("/container.rs")
}

/// Whether a source names a container of the table.
fn names_container(source: &str) -> bool {
    let is_name = |rest: &str| {
        let name = rest.split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or_default();
        name.len() > 1 && !["EMPTY", "UNKNOWN"].contains(&name)
    };
    source.split("Format::").skip(1).any(is_name)
}

/// The public types of a source, and whether their documentation has an example.
fn public_types(source: &str) -> Vec<(String, bool)> {
    let (mut types, mut has_example) = (Vec::new(), false);
    for line in source.lines() {
        let is_about = line.starts_with("///") || line.starts_with("#[");
        has_example |= line.starts_with("/// ```");
        let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
        if let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            types.push((name.unwrap_or_default().to_owned(), has_example));
        }
        has_example &= is_about;
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_containers_are_found() {
        assert!(names_container("if format == Format::NPY {"));
        assert!(!names_container("Format::UNKNOWN | Format::EMPTY, Format::new(\"x\")"));
    }

    #[test]
    fn public_types_are_counted() {
        let source = "/// A.\n///\n/// ```\n/// ```\n#[derive(Debug)]\npub struct A;\n\n/// B.\npub enum B {}\n";
        assert_eq!(public_types(source), [("A".to_owned(), true), ("B".to_owned(), false)]);
    }
}
