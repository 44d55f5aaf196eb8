//! Names and comments that a reader has to decode, in all Rust files, private items and tests included.

use std::path::PathBuf;

use anyhow::Result;

use super::Findings;

/// Nouns with several meanings: no type has one of them for its whole name.
const VAGUE_NAMES: [&str; 13] = [
    "Found", "Place", "Part", "State", "Held", "Asked", "Job", "Step", "Answer", "Row", "Kept",
    "Run", "Task",
];

/// Words before the keyword of an item.
const QUALIFIERS: [&str; 6] = ["const", "unsafe", "async", "extern", "\"C\"", "default"];

/// Numbers of vague words of each kind: bounds that may fall and not rise.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    types: usize,
    functions: usize,
    comments: usize,
    tuples: usize,
}

const BOUNDS: Counts = Counts { types: 15, functions: 7, comments: 1, tuples: 0 };

/// Counts, and compares with the bounds.
pub(super) fn check(files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let mut counts = Counts::default();
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        counts.add(&std::fs::read_to_string(path)?);
    }
    let compared = [
        ("types have a vague name", counts.types, BOUNDS.types),
        ("functions are called `of`", counts.functions, BOUNDS.functions),
        ("comments begin with `What` or `The same`", counts.comments, BOUNDS.comments),
        ("parameters are nameless tuples", counts.tuples, BOUNDS.tuples),
    ];
    for (kind, count, bound) in compared {
        findings.ratchet(kind, count, bound);
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, source: &str) {
        for line in source.lines().map(str::trim_start) {
            self.comments += usize::from(is_vague_comment(line));
            match item(line) {
                Some(("fn", name)) => self.functions += usize::from(name == "of"),
                Some((_, name)) => self.types += usize::from(VAGUE_NAMES.contains(&name)),
                None => {}
            }
        }
        self.tuples += signatures(source).map(tuple_count).sum::<usize>();
    }
}

fn is_vague_comment(line: &str) -> bool {
    let text = line.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start());
    let is_word = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let heads = ["What", "The same"];
    text.is_some_and(|text| heads.iter().any(|head| text.strip_prefix(head).is_some_and(is_word)))
}

/// The keyword and the name of the function or type that a line declares.
fn item(line: &str) -> Option<(&str, &str)> {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.starts_with("pub") || QUALIFIERS.contains(word));
    let keyword = words.next().filter(|it| ["fn", "struct", "enum", "trait", "type"].contains(it));
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some((keyword?, name))
}

/// The text after the `fn` of each function.
fn signatures(source: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    source.split_inclusive('\n').filter_map(move |line| {
        let start = at + line.find("fn ").unwrap_or(0);
        at += line.len();
        item(line.trim_start()).filter(|(keyword, _)| *keyword == "fn").map(|_| &source[start..])
    })
}

/// The number of parameters of a function whose type is a tuple.
fn tuple_count(signature: &str) -> usize {
    let (mut angles, mut depth, mut count) = (0_i32, 0_i32, 0);
    let (mut last, mut is_type_start) = (' ', false);
    for (at, c) in signature.char_indices() {
        let is_tuple = || !["()", "(dyn "].iter().any(|head| signature[at..].starts_with(head));
        count += usize::from(is_type_start && c == '(' && is_tuple());
        is_type_start &= c.is_whitespace() || c == '&';
        match c {
            '<' => angles += 1,
            '>' if last != '-' => angles -= 1,
            '(' | '[' if angles == 0 => depth += 1,
            ')' | ']' if angles == 0 => depth -= 1,
            ':' => is_type_start = depth == 1 && angles == 0,
            _ => {}
        }
        if c == ')' && depth == 0 && angles == 0 {
            break;
        }
        last = c;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        let source = "/// What a\npub(crate) struct Found {\n    // The same.\n  pub const fn of(x: u8) {\nWhatever";
        let mut counts = Counts::default();
        counts.add(source);
        assert_eq!(counts, Counts { types: 1, functions: 1, comments: 2, tuples: 0 });
    }

    #[test]
    fn tuples_of_signatures_are_counted() {
        let count = |text| signatures(text).map(tuple_count).sum::<usize>();
        assert_eq!(count("fn a(x: u8, y: impl Fn((u8, u8)) -> u8) -> (u8, u8) {}"), 0);
        assert_eq!(count("fn a(x: &(dyn Fn(u8) + Sync), y: ()) {}"), 0);
        assert_eq!(count("pub fn a<F: Fn(u8) -> u8>(x: (u8, F)) {}"), 1);
        assert_eq!(
            count("fn a(\n    &self,\n    x: &(u8, u8),\n    y: u8) {}\nfn b(y: (u8, u8)) {}"),
            2
        );
    }
}
