//! The rules in the code are the rules in the document.

use std::collections::BTreeSet;

use tet_format::Severity;

use crate::rule;

const DOCUMENT: &str = include_str!("../../../../docs/spec/tensogram.md");

/// The rows of the rule tables: id and text.
fn rows() -> Vec<(String, String)> {
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| TGM-"));
    let cells = rows.map(|row| row.trim_end_matches('|').split(" | ").map(str::trim));
    let rows = cells.map(|mut cells| {
        let id = format!("TGM-{}", cells.next().unwrap());
        (id, cells.next().unwrap().to_owned())
    });
    rows.collect()
}

#[test]
fn the_document_has_every_rule_word_for_word() {
    let rules = rule::ALL.iter();
    let wanted: BTreeSet<(String, String)> =
        rules.map(|rule| (rule.id.to_owned(), rule.text.to_owned())).collect();
    let found: BTreeSet<(String, String)> = rows().into_iter().collect();
    assert_eq!(found, wanted);
    assert_eq!(rows().len(), wanted.len(), "each once");
}

#[test]
fn ids_are_unique_and_notes_are_no_errors() {
    let ids: BTreeSet<&str> = rule::ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rule::ALL.len());
    for rule in rule::ALL {
        assert!(!rule.text.contains(['|', '\n']) && !rule.text.ends_with('.'), "{}", rule.id);
        let is_note = rule.id.starts_with("TGM-N");
        assert_eq!(rule.severity != Severity::Error, is_note, "{}", rule.id);
    }
}
