//! `tet verify` and `tet repair` of Tensogram files.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use tet_cli::{Exit, Streams};

/// A directory of files, and the schema of the plans.
struct Env {
    folder: tempfile::TempDir,
    validator: Validator,
}

impl Env {
    fn new() -> Env {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/reference/schema/tet.repair.1.json");
        let schema: Value =
            serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema that compiles");
        Env { folder: tempfile::tempdir().expect("a folder"), validator }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join(name), bytes).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    /// The output of a command that must end with this exit code.
    fn output(&self, exit: Exit, args: &[&str]) -> String {
        let (mut streams, out, err) = Streams::captured(b"");
        streams.env.base = self.folder.path().to_path_buf();
        let all = std::iter::once("tet").chain(args.iter().copied()).map(OsString::from);
        let found = tet_cli::run(all, &mut streams);
        let printed = format!("{}{}", out.text(), err.text());
        assert_eq!(found, exit, "{args:?}: {printed}");
        printed
    }

    /// The plan of a command; it must match the schema.
    fn plan(&self, exit: Exit, args: &[&str]) -> Value {
        let out = self.output(exit, args);
        let value: Value = serde_json::from_str(&out).expect("JSON");
        let faults: Vec<String> =
            self.validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{args:?}\n{faults:#?}\n{out}");
        value
    }
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    fs::read(folder.join(name)).expect("a sample")
}

#[test]
fn a_sound_file_needs_nothing() {
    let env = Env::new();
    env.write("a.tgm", &sample("multi_message_3.tgm"));
    assert!(env.output(Exit::Done, &["repair", "a.tgm", "--all"]).contains("nothing to repair"));
    let plan = env.plan(Exit::Done, &["repair", "a.tgm", "--json"]);
    assert_eq!((&plan["whole"], plan["edits"].as_array().unwrap().len()), (&true.into(), 0));
    env.output(Exit::Done, &["verify", "a.tgm"]);
}

/// A file after an interrupted append: complete messages stay the same byte for byte.
#[test]
fn a_truncated_message_at_the_end_is_dropped() {
    let env = Env::new();
    let whole = sample("multi_message_3.tgm");
    let other = sample("dt_float32_be.tgm");
    let bytes = [&whole[..], &other[..other.len() / 2]].concat();
    env.write("cut.tgm", &bytes);
    env.output(Exit::No, &["verify", "cut.tgm"]);
    let plan = env.plan(Exit::No, &["repair", "cut.tgm", "--json"]);
    assert_eq!(plan["edits"][0]["applied"], false);
    assert_eq!(env.read("cut.tgm"), bytes, "a plan changes nothing");
    assert_eq!(plan["edits"][0]["withheld"], true);
    let printed = env.output(Exit::No, &["repair", "cut.tgm", "--all", "-o", "repaired.tgm"]);
    assert!(printed.contains("--salvage"), "{printed}");
    assert!(!env.folder.path().join("repaired.tgm").exists(), "nothing is lost without --salvage");
    env.output(Exit::No, &["repair", "cut.tgm", "--all", "--salvage", "-o", "repaired.tgm"]);
    assert_eq!(env.read("cut.tgm"), bytes);
    assert!(env.read("repaired.tgm").starts_with(&whole));
    env.output(Exit::Done, &["verify", "repaired.tgm"]);
    env.output(Exit::Usage, &["repair", "cut.tgm", "--all", "--salvage", "-o", "repaired.tgm"]);
    env.write("cut.tgm.bak", b"an older one");
    env.output(Exit::No, &["repair", "cut.tgm", "--all", "--salvage"]);
    assert_eq!(env.read("cut.tgm.bak"), b"an older one");
    assert_eq!(env.read("cut.tgm.bak.1"), bytes, "the damaged file is copied");
    env.output(Exit::Done, &["repair", "cut.tgm"]);
}

/// Damaged elements are dropped only with --salvage; a flipped bit is restored.
#[test]
fn damaged_objects_are_dropped_with_salvage() {
    let env = Env::new();
    let bytes = sample("multi_object_mixed.tgm");
    let mut bad = bytes.clone();
    let at = bad.windows(4).rposition(|it| it == b"ENDF").unwrap() - 60;
    bad[at] ^= 0x10;
    env.write("bit.tgm", &bad);
    let plan = env.plan(Exit::Done, &["repair", "bit.tgm", "--all", "--json"]);
    assert_eq!(plan["edits"][0]["proof"], "digest");
    env.output(Exit::Done, &["verify", "bit.tgm"]);
    bad[at..at + 8].fill(0xA5);
    env.write("more.tgm", &bad);
    let printed = env.output(Exit::No, &["verify", "more.tgm"]);
    assert!(printed.contains("TGM-F10"), "{printed}");
    let printed = env.output(Exit::Format, &["repair", "more.tgm"]);
    assert!(printed.contains("--salvage"), "{printed}");
    let plan =
        env.plan(Exit::No, &["repair", "more.tgm", "--salvage", "--all", "--no-backup", "--json"]);
    assert!(plan["backup"].is_null() && !env.folder.path().join("more.tgm.bak").exists());
    env.output(Exit::Done, &["verify", "more.tgm"]);
}

/// A file that has lost its first bytes is recognized by its first frame.
#[test]
fn a_lost_magic_is_written_anew() {
    let env = Env::new();
    let mut bytes = sample("dt_float32_be.tgm");
    let whole = bytes.clone();
    bytes[..8].fill(1);
    env.write("headless.tgm", &bytes);
    env.output(Exit::Done, &["repair", "headless.tgm", "--all"]);
    env.output(Exit::Done, &["verify", "headless.tgm"]);
    assert_eq!(env.read("headless.tgm")[..24], whole[..24]);
}

#[test]
fn options_without_effect_are_refused() {
    let env = Env::new();
    let bytes = sample("dt_float32_be.tgm");
    env.write("cut.tgm", &bytes[..bytes.len() - 9]);
    env.output(Exit::Usage, &["repair", "cut.tgm", "-o", "b.tgm"]);
    env.output(Exit::Usage, &["repair", "cut.tgm", "--from", "b.tgm", "--all"]);
    env.output(Exit::Usage, &["repair", "cut.tgm", "--apply", "TGM-K1"]);
    env.write("nothing.tgm", b"TENSOGRM\0\x03\0\0");
    let printed = env.output(Exit::Format, &["repair", "nothing.tgm", "--all"]);
    assert!(printed.contains("cannot be repaired"), "{printed}");
}
