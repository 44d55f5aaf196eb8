//! Hostile files, and broken ones, given to every command: with little memory and time, an exit code
//! of the table, and nothing on the terminal that acts on it.

#![cfg(target_os = "linux")]

mod bombs;
mod tgm;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tet_tests::{accept, program, reject, zoo};

/// Every command that reads a `.tet` file. `$f` is the file.
const COMMANDS: [&str; 19] = [
    r#""$tet" info "$f" --all"#,
    r#""$tet" info "$f" --json"#,
    r##""$tet" cat "$f" "#0""##,
    r##""$tet" cat "$f" "#0" -o out.npy -f"##,
    r##""$tet" query "$f" "#0" --sum --digests always --json"##,
    r##""$tet" query "$f" "#0" --median --io pread"##,
    r##""$tet" explain "$f" "#0" --mean"##,
    r##""$tet" plot "$f" "#0""##,
    r##""$tet" plot "$f" "#0" --kind histogram -o out.png -f"##,
    r#""$tet" stats "$f""#,
    r#""$tet" diff "$f" "$f" --digests always"#,
    r#""$tet" verify "$f""#,
    r#""$tet" verify "$f" --deep --json"#,
    r#""$tet" dump "$f""#,
    r#""$tet" dump "$f" --json"#,
    r#""$tet" repair "$f""#,
    r#""$tet" repair "$f" --all -o mended.tet -f"#,
    r#""$tet" edit repack "$f" --digests -o added.tet -f"#,
    r#""$tet" digest create "$f" sum -f"#,
];

/// Runs all commands on the file, one after the other; each says how it ended after a line of its
/// own.
fn run(folder: &Path) -> Output {
    // Behind an `echo`, `$?` is that of the `echo`.
    let line = |command: &str| format!("{command} </dev/null; code=$?; echo; echo \"== $code\"\n");
    let lines: String = COMMANDS.iter().map(|command| line(command)).collect();
    let script = format!("ulimit -v 524288; ulimit -t 5; exec 2>&1; f=x.tet\n{lines}");
    Command::new("sh")
        .args(["-c", &script])
        .env("tet", program::tet())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Characters that act on a terminal or turn text around.
fn acts(it: char) -> bool {
    let turns =
        matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    turns || it.is_control() && !matches!(it, '\n' | '\t')
}

fn check(name: &str, bytes: &[u8], folder: &Path, wrong: &mut Vec<String>) {
    fs::write(folder.join("x.tet"), bytes).unwrap();
    let output = run(folder);
    let said = String::from_utf8(output.stdout);
    let Ok(said) = said else {
        return wrong.push(format!("{name}: what is said is no text"));
    };
    if let Some(it) = said.chars().find(|&it| acts(it)) {
        wrong.push(format!("{name}: {it:?} is said"));
    }
    let codes: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    assert_eq!(codes.len(), COMMANDS.len(), "{name}: {said}");
    for (code, command) in codes.iter().zip(COMMANDS) {
        if !matches!(*code, "0" | "1" | "2" | "3" | "4" | "5" | "6") {
            wrong.push(format!("{name}: {command} ends with {code}"));
        }
    }
    if fs::read(folder.join("x.tet")).unwrap() != bytes {
        wrong.push(format!("{name}: it was changed"));
    }
}

#[test]
fn no_animal_of_the_zoo_harms_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let animals = zoo::animals();
    let names: BTreeSet<&str> = animals.iter().map(|animal| animal.name).collect();
    assert!(names.len() >= 100 && names.len() == animals.len(), "{}", names.len());
    let mut wrong = Vec::new();
    for animal in animals {
        check(animal.name, &animal.bytes, folder.path(), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_broken_file_harms_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for case in reject::cases() {
        check(case.name, &case.bytes, folder.path(), &mut wrong);
    }
    for case in accept::cases().iter().step_by(4) {
        check(case.name, &case.bytes, folder.path(), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
