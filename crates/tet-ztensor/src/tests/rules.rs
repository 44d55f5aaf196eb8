//! The rules in the code are the rules in the document.

use std::collections::BTreeSet;

use crate::{Severity, rule};

const DOCUMENT: &str = include_str!("../../../../docs/spec/ztensor.md");

/// The rows of the rule tables: id, text, and what becomes of a breach where the table says so.
fn rows() -> Vec<(String, String)> {
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| ZT-"));
    let cells = rows.map(|row| row.trim_end_matches('|').split(" | ").map(str::trim));
    cells
        .map(|mut cells| {
            let id = format!("ZT-{}", cells.next().unwrap());
            (id, cells.next().unwrap().to_owned())
        })
        .collect()
}

#[test]
fn the_document_has_every_rule_word_for_word() {
    let found: BTreeSet<(String, String)> = rows().into_iter().collect();
    let wanted: BTreeSet<(String, String)> =
        rule::ALL.iter().map(|rule| (rule.id.to_owned(), rule.text.to_owned())).collect();
    assert_eq!(found, wanted);
    assert_eq!(rows().len(), rule::ALL.len(), "each once");
}

#[test]
fn ids_are_unique_and_severities_follow_them() {
    let ids: BTreeSet<&str> = rule::ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rule::ALL.len());
    for rule in rule::ALL {
        assert!(!rule.text.contains(['|', '\n']) && !rule.text.ends_with('.'), "{}", rule.id);
        let is_note = rule.id.starts_with("ZT-N");
        assert_eq!(rule.severity != Severity::Error, is_note, "{}", rule.id);
    }
}
