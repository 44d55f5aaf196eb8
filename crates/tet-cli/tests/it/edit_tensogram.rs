//! `tet edit` and `tet info --keys` of Tensogram files.

use std::fs;
use std::path::Path;

use crate::fixtures::tet_in;
use serde_json::Value;
use tet_cli::Exit;

use crate::fixtures;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    folder
}

fn done(folder: &Path, line: &str) -> String {
    let args: Vec<&str> = line.split_whitespace().collect();
    let (exit, out, err) = tet_in(folder, &args);
    assert_eq!((exit, err.as_str()), (Exit::Done, ""), "{line}");
    out
}

/// The value of a key of the first dataset.
fn value(folder: &Path, file: &str, key: &str) -> String {
    let out = done(folder, &format!("info {file} #0 --json --keys {key}"));
    let info: Value = serde_json::from_str(&out).expect("JSON");
    // Integers of any width are exact in the text.
    let mut lines =
        out.lines().map(str::trim).filter(|line| line.starts_with(&format!("{key:?}:")));
    assert!(info["datasets"][0]["keys"].as_object().is_some_and(|keys| keys.contains_key(key)));
    lines.next_back().expect("a line").to_owned()
}

#[test]
fn the_same_edit_at_the_same_time_is_the_same_file() {
    let folder = folder();
    for out in ["a.tgm", "b.tgm"] {
        done(folder.path(), &format!("edit set mixed.tgm t2m:units=K -o {out} -q"));
    }
    let read = |name| fs::read(folder.path().join(name)).expect("is there");
    assert!(read("a.tgm") == read("b.tgm"));
    assert_eq!(value(folder.path(), "a.tgm", "units"), "\"units\": \"K\"");
}

#[test]
fn keys_with_dots_are_set_and_listed() {
    let folder = folder();
    done(folder.path(), "edit set mixed.tgm t2m:mars.param=10u t2m:mars.levels=[850,500] -q");
    done(folder.path(), "edit set mixed.tgm t2m:mars.levels.1=700 -q");
    let out =
        done(folder.path(), "info mixed.tgm t2m --keys mars.param,mars.levels,mars.levels.1,run");
    let row: Vec<&str> = out.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row, ["10u", "[850,700]", "700", "20260424"]);
    done(folder.path(), "edit set mixed.tgm --unset t2m:mars.levels -q");
    let args = ["info", "mixed.tgm", "--keys", "mars.levels"];
    assert_eq!(tet_in(folder.path(), &args).0, Exit::Usage, "no dataset has it");
}

#[test]
fn a_file_of_no_bytes_is_damage_as_elsewhere() {
    let folder = folder();
    for len in [0, 1, 8, 23] {
        let head = &b"TENSOGRM\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..len];
        fs::write(folder.path().join("short.tgm"), head).expect("a file");
        for line in ["info short.tgm --keys name", "edit set short.tgm #0:a=1 -o o.tgm"] {
            let args: Vec<&str> = line.split_whitespace().collect();
            let (exit, _, err) = tet_in(folder.path(), &args);
            assert_eq!(exit, Exit::Format, "{line}, {len} bytes: {err}");
        }
    }
    assert!(!folder.path().join("o.tgm").exists());
}

#[test]
fn a_damaged_frame_is_refused_by_every_edit() {
    let folder = folder();
    let path = folder.path().join("forecast.tgm");
    let mut bytes = fs::read(&path).expect("is there");
    // The length of the first frame, after a preamble of 24 bytes.
    bytes[24 + 9] = 1;
    fs::write(folder.path().join("bent.tgm"), bytes).expect("a file");
    for line in [
        "edit set bent.tgm #2:a=1 -o o.tgm",
        "edit rename bent.tgm #2=other -o o.tgm",
        "edit repack bent.tgm --codec zstd -o o.tgm",
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        let (exit, _, err) = tet_in(folder.path(), &args);
        assert_eq!(exit, Exit::Format, "{line}: {err}");
        assert!(err.contains("bent.tgm") && err.contains("TGM-F3"), "{line}: {err}");
    }
    assert!(!folder.path().join("o.tgm").exists());
}

#[test]
fn integers_of_every_width_go_through_edits_and_conversion() {
    let folder = folder();
    let wide = ["-18446744073709551616", "-9223372036854775809", "18446744073709551615"];
    let integers = wide.join(",");
    done(folder.path(), &format!("edit set mixed.tgm #0:n=[{integers}] -o a.tgm -q"));
    done(folder.path(), "convert a.tgm b.tgm -q");
    for name in ["a.tgm", "b.tgm"] {
        assert_eq!(value(folder.path(), name, "n.2"), format!("\"n.2\": {}", wide[2]), "{name}");
        for (key, integer) in [("n.0", wide[0]), ("n.1", wide[1])] {
            let wanted = format!("{key:?}: {{\"$int\":\"{integer}\"}}");
            assert_eq!(value(folder.path(), name, key), wanted, "{name}");
        }
    }
}
