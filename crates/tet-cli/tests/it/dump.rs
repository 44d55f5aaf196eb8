//! `tet dump` on files of all kinds: every object matches the schema, also for damaged files.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use tet_cli::Exit;

use crate::fixtures;

fn validator() -> Validator {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema/tet.dump.1.json");
    let text = std::fs::read_to_string(path).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::validator_for(&schema).expect("a schema that compiles")
}

fn objects(validator: &Validator, out: &str) -> Vec<Value> {
    let object = |line| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let faults: Vec<String> =
            validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{faults:#?}\n{line}");
        value
    };
    out.lines().map(object).collect()
}

#[test]
fn objects_are_what_the_schema_says_and_tile_a_sound_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let validator = validator();
    let number = |object: &Value, key: &str| object[key].as_u64().expect("a number");
    for (file, want) in [
        ("climate.tet", Exit::Done),
        ("numbers.tet", Exit::Done),
        ("hostile.tet", Exit::Done),
        ("rotten.tet", Exit::Done),
        ("truncated.tet", Exit::Format),
        ("headless.tet", Exit::Format),
        ("footless.tet", Exit::Format),
        ("notes.txt", Exit::Format),
    ] {
        let (exit, out, err) = fixtures::tet_in(folder.path(), &["dump", file, "--json"]);
        assert_eq!(exit, want, "{file}: {err}");
        let file_len = std::fs::metadata(folder.path().join(file)).expect("a file").len();
        let mut reach = 0;
        for object in objects(&validator, &out) {
            if file != "truncated.tet" {
                assert_eq!(number(&object, "offset"), reach, "{file}: {object}");
                reach += number(&object, "len");
            }
        }
        assert!(file == "truncated.tet" || reach == file_len, "{file}: {reach} of {file_len}");
        for at in (0..file_len).step_by(499) {
            let at = at.to_string();
            let args = ["dump", file, "--json", "--at", &at];
            let (exit, out, err) = fixtures::tet_in(folder.path(), &args);
            assert_eq!(exit, want, "{file}: {err}");
            let object = objects(&validator, &out).remove(0);
            assert_eq!(object["at"]["offset"].to_string(), at);
        }
    }
}

/// Every truncation and every changed byte of a small file.
#[test]
fn any_damage_is_dumped() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let validator = validator();
    let bytes = std::fs::read(folder.path().join("numbers.tet")).expect("a file");
    let look = |bytes: &[u8], at: usize| {
        std::fs::write(folder.path().join("x.tet"), bytes).expect("a file");
        let (exit, out, err) = fixtures::tet_in(folder.path(), &["dump", "x.tet"]);
        assert!(matches!(exit, Exit::Done | Exit::Format | Exit::Limit), "byte {at}: {err}");
        assert!(exit == Exit::Done || err.starts_with("error: x.tet: "), "byte {at}: {err}");
        let harmless = |c: char| c == '\n' || !c.is_control();
        assert!(out.chars().all(harmless), "byte {at}: {out:?}");
        let asked = at.to_string();
        let args = ["dump", "x.tet", "--json", "--at", &asked];
        let (exit, out, _) = fixtures::tet_in(folder.path(), &args);
        assert!(exit != Exit::Usage || bytes.len() <= at, "byte {at}");
        objects(&validator, &out);
    };
    for at in 0..bytes.len() {
        look(&bytes[..at], at / 2);
        for flip in [0x01, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            look(&damaged, at);
        }
    }
}

#[test]
fn only_requested_parts_are_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let validator = validator();
    let fields = |args: &[&str]| {
        let args = [&["dump", "numbers.tet", "--json"], args].concat();
        let (exit, out, err) = fixtures::tet_in(folder.path(), &args);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""), "{args:?}");
        objects(&validator, &out)
    };
    let index = fields(&["--only", "index"]);
    assert_eq!(index.len(), 7 + 6 * 7);
    assert!(index.iter().all(|object| object["region"] == "index"));
    assert_eq!(fields(&["--only", "index", "-n", "2"]).len(), 7 + 2 * 7);
    assert_eq!(fields(&["--only", "index", "-d", "large"]).len(), 7);
    let payloads = fields(&["--only", "payloads", "-d", "#0"]);
    assert_eq!(payloads.len(), 4);
    assert!(payloads.iter().all(|object| object["name"] == "grid" && object["codec"] == "raw"));
    assert_eq!(fields(&["--only", "superblock,payloads"]).len(), 6 + 8);
}
