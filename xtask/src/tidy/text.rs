//! Words and characters that a line of text may not have.

use super::Findings;

/// Lines after which a source file should be two nouns, and must be.
const LINES_WARN: usize = 400;
const LINES_MAX: usize = 600;

/// Words that may stand in no source and no document, with what to do instead.
///
/// The check knows upper from lower case only where the word does.
const BANNED: &[(&str, &str)] = &[
    ("manager", "name it after what it is"),
    ("utils", "name it after what it is"),
    ("helper", "name it after what it is"),
    ("todo!", "finish it"),
    ("unimplemented!", "finish it"),
    ("TODO", "finish it, or write it down elsewhere"),
    ("FIXME", "finish it"),
    ("XXX:", "finish it"),
    ("#[ignore", "a test runs or is not there"),
    ("```ignore", "an example compiles"),
    ("```rust,ignore", "an example compiles"),
    ("subagent", "the project speaks of itself alone"),
    ("coding agent", "the project speaks of itself alone"),
    ("language model", "the project speaks of itself alone"),
    ("this session", "the project speaks of itself alone"),
    ("previous session", "the project speaks of itself alone"),
    ("the lead ", "the project speaks of itself alone"),
    ("/work/", "no path of one machine"),
    ("/home/", "no path of one machine"),
    ("/root/", "no path of one machine"),
    ("/tmp/design", "no path of one machine"),
];

/// Names of other packages that have such a word in them.
const OF_OTHERS: [&str; 2] = ["torch.utils", "format_utils"];

/// Words that no page for users has, with the plainer one.
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

/// The files that may hold `unsafe`.
const UNSAFE: [&str; 5] = [
    "crates/tet-io/src/mmap.rs",
    "crates/tet-io/src/lease.rs",
    "crates/tet-python/src/buffer.rs",
    "tests/memory/counting.rs",
    "tests/threads.rs",
];

/// The file that lists the banned words.
const SELF: &str = "xtask/src/tidy/text.rs";

/// Whether a file of this name is text of ours.
pub(super) fn is_read(name: &str) -> bool {
    let ours = [".rs", ".toml", ".md", ".sh", ".yml"].iter().any(|suffix| name.ends_with(suffix));
    ours && !name.starts_with("tests/data/")
}

/// Checks one file.
pub(super) fn check(name: &str, text: &str, findings: &mut Findings) {
    let source = name.ends_with(".rs");
    if source {
        let count = text.lines().count();
        if count > LINES_MAX {
            findings.fault(name, format!("{count} lines are more than {LINES_MAX}: split by noun"));
        } else if count > LINES_WARN {
            findings.warn(name, format!("{count} lines are more than {LINES_WARN}"));
        }
    }
    for (line, number) in text.lines().zip(1..) {
        let place = format!("{name}:{number}");
        if !line.is_ascii() && (source || name.ends_with(".toml")) {
            findings.fault(&place, "not ASCII; write it as an escape");
        }
        if name != SELF {
            banned(&place, line, findings);
        }
        if is_page(name) {
            replaced(&place, line, findings);
        }
        if source && is_unsafe(line) && !UNSAFE.contains(&name) && name != SELF {
            findings.fault(
                &place,
                "`unsafe` lives in tet-io's mmap.rs and lease.rs and tet-python's buffer.rs alone",
            );
        }
    }
}

fn banned(place: &str, line: &str, findings: &mut Findings) {
    let lower = line.to_ascii_lowercase();
    let lower = OF_OTHERS.iter().fold(lower, |line, name| line.replace(name, ""));
    for (word, advice) in BANNED {
        let exact = word.bytes().any(|byte| byte.is_ascii_uppercase());
        let found = if exact { line.contains(word) } else { lower.contains(word) };
        if found {
            findings.fault(place, format!("`{word}`: {advice}"));
        }
    }
}

/// Whether a file is a page for users.
fn is_page(name: &str) -> bool {
    name.ends_with(".md") && (name.starts_with("docs/") || name == "README.md")
}

fn replaced(place: &str, line: &str, findings: &mut Findings) {
    let lower = line.to_lowercase();
    for (word, plainer) in REPLACED {
        let is_whole = |(at, _): (usize, &str)| {
            let ends = [lower[..at].chars().next_back(), lower[at + word.len()..].chars().next()];
            ends.iter().all(|end| end.is_none_or(|c| !c.is_alphanumeric()))
        };
        if lower.match_indices(word).any(is_whole) {
            findings.fault(place, format!("`{word}`: {plainer}"));
        }
    }
}

/// Whether the code of the line, its comment aside, opens something unsafe.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait", "unsafe(", "unsafe\t"]
        .iter()
        .any(|opening| code.contains(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, text: &str) -> usize {
        let mut findings = Findings::default();
        check(name, text, &mut findings);
        findings.faults.len()
    }

    #[test]
    fn long_files_fail() {
        assert_eq!(faults("a.rs", &"//\n".repeat(LINES_MAX)), 0);
        assert_eq!(faults("a.rs", &"//\n".repeat(LINES_MAX + 1)), 1);
    }

    #[test]
    fn sources_are_ascii_and_documents_need_not_be() {
        assert_eq!(faults("a.rs", "// \u{e9}"), 1);
        assert_eq!(faults("a.md", "\u{e9}"), 0);
    }

    #[test]
    fn banned_words_are_found_in_any_case() {
        assert_eq!(faults("a.rs", "struct ChunkManager;"), 1);
        assert_eq!(faults("a.md", "see /home/me"), 1);
        assert_eq!(faults("a.rs", "    todo!()"), 1);
    }

    #[test]
    fn pages_have_the_plainer_word() {
        assert_eq!(faults("docs/a.md", "Whoever mends recommends"), 1);
        assert_eq!(faults("README.md", "it is at hand, and nobody\nheals; mend."), 3);
        assert_eq!(faults("a.rs", "// nobody"), 0);
    }

    #[test]
    fn unsafe_has_its_places() {
        assert_eq!(faults("crates/tet-io/src/mmap.rs", "unsafe { x }"), 0);
        assert_eq!(faults("crates/tet-io/src/source.rs", "unsafe { x }"), 1);
        assert_eq!(faults("a.rs", "#![forbid(unsafe_code)] // unsafe { x }"), 0);
    }
}
