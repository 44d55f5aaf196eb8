//! Documents of every sort are answered as `NumPy` answers them.
//!
//! `TET_ORACLE_CASES` names another file of cases than the one that is kept here; a report is
//! printed then. `cargo xtask oracle` makes such files.

#![allow(clippy::print_stdout, reason = "a report is for the person who asked for it")]

use std::path::{Path, PathBuf};

use tet_query::{Method, Op};
use tet_tests::oracle::{Tally, check};

/// Mismatches that are shown.
const SHOWN_MAX: usize = 20;

#[test]
fn documents_are_answered_as_numpy_answers_them() {
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/oracle/cases.jsonl");
    match std::env::var_os("TET_ORACLE_CASES").map(PathBuf::from) {
        Some(path) => {
            let tally = check(&std::fs::read_to_string(&path).unwrap());
            println!("{tally}");
            report(&path, &tally);
        }
        None => {
            let tally = check(&std::fs::read_to_string(&kept).unwrap());
            assert_eq!(shown(&tally), "");
            assert_eq!(without_a_case(&tally), [""; 0]);
            assert!(tally.agreed() >= 2000, "{} cases are kept", tally.agreed());
        }
    }
}

fn shown(tally: &Tally) -> String {
    let mut shown = String::new();
    for mismatch in tally.mismatches.iter().take(SHOWN_MAX) {
        shown += &format!("{}\n\n", mismatch.text);
    }
    shown
}

/// Operations and methods that no case is about.
fn without_a_case(tally: &Tally) -> Vec<&'static str> {
    let ops = Op::ALL.iter().map(|op| op.name());
    let names = ops.chain(Method::ALL.iter().map(|method| method.name()));
    names.filter(|&name| !tally.by_op.contains_key(name)).collect()
}

/// Shows some mismatches and writes them all, with some of the files, beside the cases.
fn report(path: &Path, tally: &Tally) {
    let texts: Vec<&str> = tally.mismatches.iter().map(|it| it.text.as_str()).collect();
    let list = path.with_extension("mismatches");
    std::fs::write(&list, texts.join("\n\n")).unwrap();
    for mismatch in tally.mismatches.iter().take(SHOWN_MAX) {
        let file = path.with_extension(format!("{}.tet", mismatch.line));
        std::fs::write(&file, &mismatch.file).unwrap();
        println!("{}\n  in {}\n", mismatch.text, file.display());
    }
    assert!(tally.mismatches.is_empty(), "all mismatches are listed in {}", list.display());
}
