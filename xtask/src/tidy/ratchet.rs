//! Counts of what prose and names still lack. A count may fall and not rise: whoever lowers one lowers
//! its bound here too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Findings;

/// Public types whose name another public type of the workspace has too.
const SHARED_NAMES: usize = 111;
/// Public types without an example in their documentation.
const NO_EXAMPLE: usize = 525;
/// Words in the pages that have a plainer one.
const WORDS: usize = 0;

/// Names that a type of every crate has, by custom.
const CUSTOMARY: [&str; 3] = ["Error", "Result", "ReadmeDoctests"];

/// Words for which the pages use another one.
const REPLACED: &[(&str, &str)] = &[
    ("at hand", "available"),
    ("by turns", "alternately"),
    ("comes by", "receives"),
    ("heal", "repair"),
    ("kin of", "related to"),
    ("letter by letter", "verbatim"),
    ("mend", "repair"),
    ("nobody", "no one, or name who"),
    ("whoever", "name who"),
];

/// Counts, and compares with the bounds.
pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    let (mut bare, mut words) = (0, 0);
    for path in files {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let is_source = name.starts_with("crates/") && name.contains("/src/");
        if is_source && name.ends_with(".rs") {
            for (of, has_example) in public_types(&std::fs::read_to_string(path)?) {
                bare += usize::from(!has_example);
                *types.entry(of).or_default() += 1;
            }
        } else if name.ends_with(".md") && (name.starts_with("docs/") || name == "README.md") {
            words += replaced(&std::fs::read_to_string(path)?);
        }
    }
    let shared =
        types.iter().filter(|(name, count)| 1 < **count && !CUSTOMARY.contains(&name.as_str()));
    let shared = shared.map(|(_, count)| count).sum();
    let counts = [
        ("public types share a name", shared, SHARED_NAMES),
        ("public types have no example", bare, NO_EXAMPLE),
        ("words of the pages have a plainer one", words, WORDS),
    ];
    for (what, count, bound) in counts {
        if bound < count {
            findings.fault("workspace", format!("{count} {what}; there were {bound}"));
        } else if count < bound {
            findings.warn("workspace", format!("{count} {what}; lower the bound of {bound}"));
        }
    }
    Ok(())
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

/// How many words of a page have a plainer one; what is code does not count.
fn replaced(page: &str) -> usize {
    let mut count = 0;
    for (nth, part) in page.split("```").enumerate() {
        let text = part.to_lowercase();
        let is_word = |at: usize, len: usize| {
            let before = text[..at].chars().next_back();
            let after = text[at + len..].chars().next();
            [before, after].iter().all(|c| c.is_none_or(|c| !c.is_alphanumeric() && c != '`'))
        };
        for (word, _) in REPLACED.iter().filter(|_| nth % 2 == 0) {
            count += text.match_indices(word).filter(|(at, _)| is_word(*at, word.len())).count();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_words_are_counted() {
        let source = "/// A.\n///\n/// ```\n/// ```\n#[derive(Debug)]\npub struct A;\n\n/// B.\npub enum B {}\n";
        assert_eq!(public_types(source), [("A".to_owned(), true), ("B".to_owned(), false)]);
        assert_eq!(replaced("Whoever mends nobody\n```\nnobody\n```\nat hand `mend`"), 3);
    }
}
