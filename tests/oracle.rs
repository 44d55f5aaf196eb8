//! Documents of every sort are answered as `NumPy` answers them.
//!
//! `TET_ORACLE_CASES` names another file of cases than the one that is kept here; a report is
//! printed then. `cargo xtask oracle` makes such files.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::path::PathBuf;

use tet_query::{Method, Op};
use tet_tests::oracle::check;

/// Mismatches that are printed.
const SHOWN_MAX: usize = 40;

#[test]
fn documents_are_answered_as_numpy_answers_them() {
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/oracle/cases.jsonl");
    let other = std::env::var_os("TET_ORACLE_CASES").map(PathBuf::from);
    let path = other.as_ref().unwrap_or(&kept);
    let tally = check(&std::fs::read_to_string(path).unwrap());
    if other.is_some() {
        println!("{tally}");
    }
    let shown = tally.mismatches.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
    assert!(tally.mismatches.is_empty(), "{tally}\nof {}\n{shown}", path.display());
    if other.is_none() {
        let missing: Vec<&str> = Op::ALL
            .iter()
            .map(|op| op.name())
            .chain(Method::ALL.iter().map(|method| method.name()))
            .filter(|&name| !tally.by_op.contains_key(name))
            .collect();
        assert_eq!(missing, [""; 0], "every operation has its cases");
        assert!(tally.agreed() >= 2000, "{} cases are kept", tally.agreed());
    }
}
