//! Hostile Tensogram files, and what is no file, given to every command that reads one.

use std::process::Command;
use std::{fs, path::Path};

use tet_tests::program;
use tet_tests::tgm::{Fate, animals};

use super::acts;

/// Commands that read a file; the first three read nothing but its structure.
const COMMANDS: [&str; 9] = [
    r#""$tet" info "$f" --all"#,
    r#""$tet" info "$f" --json"#,
    r#""$tet" verify "$f""#,
    r##""$tet" cat "$f" "#0""##,
    r##""$tet" cat "$f" "#0" -o out.raw -f"##,
    r##""$tet" query "$f" "#0" --sum --json"##,
    r##""$tet" explain "$f" "#0" --mean"##,
    r#""$tet" stats "$f""#,
    r#""$tet" verify "$f" --deep --json"#,
];

/// Output and exit code of each command.
fn run(folder: &Path, name: &str) -> (String, Vec<i32>) {
    // Behind an `echo`, `$?` is that of the `echo`.
    let line = |command: &str| format!("{command} </dev/null; code=$?; echo; echo \"== $code\"\n");
    let lines: String = COMMANDS.iter().map(|command| line(command)).collect();
    let script = format!("ulimit -v 524288; ulimit -t 5; exec 2>&1; f={name}\n{lines}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("tet", program::tet()).current_dir(folder);
    let said = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let codes = said.lines().filter_map(|line| line.strip_prefix("== ")?.parse().ok()).collect();
    (said, codes)
}

#[test]
fn no_tensogram_animal_harms_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for animal in animals() {
        fs::write(folder.path().join("x.tgm"), &animal.bytes).unwrap();
        let (said, codes) = run(folder.path(), "x.tgm");
        let [info, json, verify, cat, raw, .., deep] = codes[..] else { panic!("{said}") };
        // Nothing of it is read, or some of it, or it is read and named, or it is sound. Where a part
        // is lost, or what is said of it, the rest is listed with the exit code of a damaged file.
        let is_listed = [0, 3].contains(&info) && info == json;
        let is_right = match animal.fate {
            Fate::Closed(_) => [info, json, cat, raw] == [3; 4] && [verify, deep] == [1; 2],
            Fate::Unreadable("TGM-L6") => {
                [info, json] == [0; 2] && [cat, raw].iter().all(|it| matches!(it, 3 | 4))
            }
            // A codec, or a method of masks, that is not known.
            Fate::Unreadable("TGM-C1" | "TGM-K5") => is_listed && [cat, raw] == [6; 2],
            Fate::Unreadable(_) => is_listed && [cat, raw] == [3; 2],
            Fate::Named(_) => is_listed && [cat, raw] == [0; 2],
            Fate::Harmless => [info, json, cat, raw] == [0; 4],
        };
        if !is_right
            || codes.len() != COMMANDS.len()
            || codes.iter().any(|it| !(0..=6).contains(it))
        {
            wrong.push(format!("{}: {:?}, and {codes:?}", animal.name, animal.fate));
        }
        if let Some(it) = said.chars().find(|&it| acts(it)) {
            wrong.push(format!("{}: {it:?} is said", animal.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.tgm")).unwrap();
    let made = Command::new("mkfifo").arg(folder.path().join("pipe.tgm")).status().unwrap();
    assert!(made.success());
    for (name, kind) in [("folder.tgm", "directory"), ("pipe.tgm", "pipe"), ("/dev/zero", "device")]
    {
        let (said, codes) = run(folder.path(), name);
        assert_eq!(codes, [5; COMMANDS.len()], "{said}");
        assert!(said.contains(kind), "{said}");
    }
}
