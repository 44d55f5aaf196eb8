//! `tet tgm`: JSON lines, and outputs that replace the input.

mod fixtures;

use std::fs;
use std::path::Path;

use fixtures::tet_in;
use serde_json::Value;
use tet_cli::Exit;

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

#[test]
fn lines_are_what_the_schema_says() {
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema/tet.tgm.1.json");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema that compiles");
    let folder = folder();
    let asked = "-p mars.param,shape,_reserved_.uuid,nothing";
    for line in ["tgm ls -j mixed.tgm old.tgm stream.tgm", &format!("tgm ls -j {asked} mixed.tgm")]
    {
        let out = done(folder.path(), line);
        assert!(out.lines().count() >= 5);
        for line in out.lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            assert!(validator.is_valid(&row), "{line}");
        }
    }
    let out = done(folder.path(), "tgm ls -j mixed.tgm -w object=0");
    let row: Value = serde_json::from_str(&out).expect("one line");
    assert_eq!(row["metadata"]["mars"]["param"], "2t");
    assert_eq!(row["extra"]["run"], 20_260_424, "numbers are numbers");
}

#[test]
fn an_output_replaces_its_input_and_no_other_file() {
    let folder = folder();
    let path = folder.path().join("forecast.tgm");
    let before = fs::read(&path).expect("is there");
    let args = ["tgm", "copy", "forecast.tgm", "forecast.tgm", "--force"];
    assert_eq!(tet_in(folder.path(), &args).0, Exit::Usage);
    assert!(fs::read(&path).expect("is there") == before);
    done(folder.path(), "tgm set -s units=K forecast.tgm forecast.tgm");
    done(folder.path(), "tgm reshuffle stream.tgm -o stream.tgm");
    let args = ["tgm", "merge", "forecast.tgm", "old.tgm", "-o", "old.tgm", "--force"];
    assert_eq!(tet_in(folder.path(), &args).0, Exit::Usage);
    done(folder.path(), "tgm merge forecast.tgm old.tgm -o new.tgm");
    assert_eq!(done(folder.path(), "tgm get -p units new.tgm -w object!=3"), "K\nK\nK\n");
    let args = ["tgm", "copy", "stream.tgm", "forecast.tgm"];
    assert_eq!(tet_in(folder.path(), &args).0, Exit::Usage);
    done(folder.path(), "tgm copy stream.tgm forecast.tgm --force");
    // No file is written if one of the outputs exists.
    fs::write(folder.path().join("x_0003.tgm"), b"mine").expect("a file");
    let (exit, _, err) = tet_in(folder.path(), &["tgm", "split", "mixed.tgm", "-o", "x.tgm"]);
    assert_eq!(exit, Exit::Usage, "{err}");
    assert!(!folder.path().join("x_0000.tgm").exists());
    assert_eq!(fs::read(folder.path().join("x_0003.tgm")).expect("is there"), b"mine");
}

#[test]
fn the_same_edit_at_the_same_time_is_the_same_file() {
    let folder = folder();
    for out in ["a.tgm", "b.tgm"] {
        done(folder.path(), &format!("tgm set -s units=K mixed.tgm {out}"));
    }
    let read = |name| fs::read(folder.path().join(name)).expect("is there");
    assert!(read("a.tgm") == read("b.tgm"));
    let time = done(folder.path(), "tgm get -p _reserved_.time -w object=0 a.tgm");
    assert_eq!(time, "2023-11-14T22:13:20Z\n");
    done(folder.path(), "tgm set -s units=K mixed.tgm c.tgm --no-provenance");
    let (exit, _, _) = tet_in(folder.path(), &["tgm", "get", "-p", "_reserved_.time", "c.tgm"]);
    assert_eq!(exit, Exit::Usage);
    done(folder.path(), "tgm set -s units=K mixed.tgm d.tgm --provenance keep");
    let uuid = |name: &str| done(folder.path(), &format!("tgm get -p _reserved_.uuid {name}"));
    assert_eq!(uuid("mixed.tgm"), uuid("d.tgm"));
}

#[test]
fn a_file_of_no_bytes_is_damage_as_elsewhere() {
    let folder = folder();
    for len in [0, 1, 8, 23] {
        let head = &b"TENSOGRM\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..len];
        fs::write(folder.path().join("short.tgm"), head).expect("a file");
        for line in [
            "tgm ls short.tgm",
            "tgm set -s a=1 short.tgm o.tgm",
            "tgm copy short.tgm o.tgm",
            "tgm append forecast.tgm short.tgm",
            "info short.tgm",
        ] {
            let args: Vec<&str> = line.split_whitespace().collect();
            let (exit, _, err) = tet_in(folder.path(), &args);
            assert_eq!(exit, Exit::Format, "{line}, {len} bytes: {err}");
        }
    }
    assert!(!folder.path().join("o.tgm").exists());
}

#[test]
fn a_damaged_frame_is_refused_by_every_verb() {
    let folder = folder();
    let path = folder.path().join("forecast.tgm");
    let mut bytes = fs::read(&path).expect("is there");
    // The length of the first frame, after a preamble of 24 bytes.
    bytes[24 + 9] = 1;
    fs::write(folder.path().join("bent.tgm"), bytes).expect("a file");
    for line in [
        "copy bent.tgm o.tgm",
        "copy -w message=2 bent.tgm o.tgm",
        "append bent.tgm old.tgm",
        "append bent.tgm old.tgm --in-place",
        "append old.tgm bent.tgm",
        "set -s a=1 bent.tgm o.tgm",
        "merge bent.tgm -o o.tgm",
        "split bent.tgm -o o.tgm",
        "reshuffle bent.tgm -o o.tgm",
    ] {
        let args: Vec<&str> = ["tgm"].into_iter().chain(line.split_whitespace()).collect();
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
    done(folder.path(), &format!("tgm set -s n=[{integers}] mixed.tgm a.tgm"));
    done(folder.path(), "tgm reshuffle --provenance none a.tgm -o b.tgm");
    done(folder.path(), "convert b.tgm c.tgm");
    for name in ["a.tgm", "b.tgm", "c.tgm"] {
        let found = done(folder.path(), &format!("tgm get -p n -w object=0 {name}"));
        assert_eq!(found, format!("[{integers}]\n"), "{name}");
    }
}

#[test]
fn reshuffle_records_the_requested_encoder() {
    let folder = folder();
    let uuid = |name: &str| {
        let (_, out, _) =
            tet_in(folder.path(), &["tgm", "get", "-p", "_reserved_.uuid", "-w", "object=0", name]);
        out
    };
    for (which, name) in [("keep", "a.tgm"), ("new", "b.tgm"), ("none", "c.tgm")] {
        done(folder.path(), &format!("tgm reshuffle --provenance {which} mixed.tgm -o {name}"));
    }
    assert!(!uuid("mixed.tgm").is_empty() && uuid("mixed.tgm") == uuid("a.tgm"));
    assert!(!uuid("b.tgm").is_empty() && uuid("mixed.tgm") != uuid("b.tgm"));
    assert_eq!(uuid("c.tgm"), "");
}
